"""CUDA without a GPU: every kernel that the suite generates, compiled and looked at.

NVRTC compiles them for several architectures, which needs no driver. Asked of each kernel: no
spills, no local memory, registers and shared memory within the limits. Asked of each pattern of
`tools.kernel_patterns`: the instructions that its schedule is for, as nvdisasm shows them.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from realta import fusion
from realta.backend import DeviceInfo, KernelSession
from realta.codegen import Kernel, lower, translation_unit
from realta.codegen.dialects import CUDA
from realta_conformance.device import Device
from realta_conformance.levels import LEVELS
from realta_conformance.packing import pack, packs_of
from realta_conformance.running import level_cases
from realta_conformance.selection import select
from realta_cuda.compiler import compile_cubin
from realta_cuda.device import device_limits, device_profile

from tools.kernel_patterns import PATTERNS, Pattern, kernels_of

ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100")
UNITS = 132
"""Multiprocessors of the device that is imagined: those of an H100."""
REGISTERS = 65536
SHARED_BYTES = 48 << 10
RESERVED_BYTES = 1 << 10
"""Shared memory that the system takes of each block from sm_90 on."""
STACK_BYTES = {"sin": 64, "cos": 64, "tan": 64}
"""Ops of float64 whose function in CUDA's library keeps the digits of 2/π for large angles in an
array that is indexed; no other stack is allowed."""
PER_UNIT = 40
_ENTRY = re.compile(
    r"Compiling entry function '(?P<name>\w+)' for '\w+'.*?"
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
    r"(?P<loads>\d+) bytes spill loads.*?Used (?P<registers>\d+) registers(?P<rest>[^\n]*)",
    re.DOTALL,
)
_SHARED = re.compile(r"(\d+) bytes smem")
_OPCODE = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d\s+)?([A-Z][A-Z0-9_.]*)")


class Found(NamedTuple):
    """A kernel and what it is of."""

    kernel: Kernel
    ops: tuple[str, ...]
    level: str

    @property
    def title(self) -> str:
        """Its ops and the dtypes of its buffers."""
        dtypes = ", ".join(buffer.dtype.name for buffer in self.kernel.buffers)
        return f"{self.level}/{'+'.join(self.ops)} ({dtypes})"


class Resources(NamedTuple):
    """What ptxas says that a kernel takes."""

    registers: int
    stack: int
    spilled: int
    shared: int


def static_session() -> KernelSession:
    """A session that plans and writes kernels as one of a GPU does, and runs none."""
    return KernelSession(CUDA, device_profile(UNITS), limits=device_limits())


def suite_kernels(per_op: int | None = None, levels: Iterable[str] = ()) -> list[Found]:
    """The different kernels of the suite's cases.

    Args:
        per_op: so many cases of each op, of different dtypes; all if None.
        levels: only these; all if empty.
    """
    session = static_session()
    device = Device("cuda:0", None, DeviceInfo(0, "none", kind="simulator"), session)  # type: ignore[arg-type]
    wanted = set(levels)
    found: dict[Any, Found] = {}
    for level in LEVELS:
        if level.kind != "device" or (wanted and level.name not in wanted):
            continue
        cases = select(device, level_cases(level.name, device)).taken
        if per_op is not None:
            cases = _some(cases, per_op)
        for portion in packs_of(cases):
            for group, kernel in _kernels(session, pack(device, portion).graph):
                key = (kernel.buffers, kernel.groups, kernel.lanes, kernel.body)
                ops = tuple(node.op.name for node in group.nodes)
                found.setdefault(key, Found(_named(kernel, len(found)), ops, level.name))
    return list(found.values())


def _some(cases: Sequence[Any], count: int) -> list[Any]:
    """Some cases of each op: its dtypes by turns, the largest of each."""
    by_op: dict[str, dict[str, Any]] = {}
    for case in cases:
        known = by_op.setdefault(case.op, {}).get(case.dtype.name)
        if known is None or case.elements > known.elements:
            by_op[case.op][case.dtype.name] = case
    found = []
    for number, dtypes in enumerate(by_op.values()):
        names = list(dtypes)
        found += [dtypes[names[n % len(names)]] for n in range(number, number + count)]
    return list(dict.fromkeys(found))


def _kernels(session: KernelSession, graph: Any) -> Iterator[tuple[fusion.Group, Kernel]]:
    for group in fusion.plan(graph, session.limits, rules=session.fusion_rules).groups:
        if any(node.op.name != "constant" for node in group.nodes):
            for launch in lower(group, session.profile, session.limits).launches:
                yield group, launch.kernel


def _named(kernel: Kernel, number: int) -> Kernel:
    """The kernel under a name that is none of another's in the same source."""
    name = f"kernel_{number}"
    return Kernel(name, kernel.buffers, kernel.groups, kernel.lanes, kernel.body, kernel.notes)


# -- what the compiler says ---------------------------------------------------------------------


def resources(log: str) -> dict[str, Resources]:
    """What each kernel takes, from ptxas's log."""
    found = {}
    for match in _ENTRY.finditer(log):
        shared = _SHARED.search(match["rest"])
        found[match["name"]] = Resources(
            int(match["registers"]), int(match["stack"]),
            int(match["stores"]) + int(match["loads"]), int(shared[1]) if shared else 0,
        )  # fmt: skip
    return found


def complaints(found: Found, taken: Resources | None) -> list[str]:
    """What is wrong with a kernel."""
    if taken is None:
        return ["ptxas says nothing of it"]
    allowed = max((STACK_BYTES.get(op, 0) for op in found.ops), default=0)
    if not any(buffer.dtype.name == "float64" for buffer in found.kernel.buffers):
        allowed = 0
    wrong = []
    if taken.spilled:
        wrong.append(f"{taken.spilled} bytes are spilled")
    if taken.stack > allowed:
        wrong.append(f"{taken.stack} bytes of local memory, {allowed} allowed")
    if taken.registers * found.kernel.lanes > REGISTERS:
        wrong.append(f"{taken.registers} registers for {found.kernel.lanes} threads")
    if taken.shared > SHARED_BYTES + RESERVED_BYTES:
        wrong.append(f"{taken.shared} bytes of shared memory")
    return wrong


def inspect(portion: Sequence[Found], arch: str) -> list[str]:
    """Compiles some kernels for one architecture; what is wrong with them, a line for each."""
    source = translation_unit([f.kernel for f in portion], CUDA, static_session().profile)
    log = compile_cubin(source, arch, CUDA.options, verbose=True).log
    taken = resources(log)
    return [
        f"{arch} {found.title}: {text}"
        for found in portion
        for text in complaints(found, taken.get(found.kernel.name))
    ]


# -- machine code -------------------------------------------------------------------------------


def disassembler() -> Path | None:
    """Nvdisasm of the wheel ``nvidia-cuda-nvdisasm``, if that is installed."""
    spec = importlib.util.find_spec("nvidia")
    for folder in [] if spec is None else spec.submodule_search_locations or []:
        for path in sorted(Path(folder).glob("*/bin/nvdisasm*")):
            return path
    return None


def opcodes(cubin: bytes) -> list[str]:
    """The opcodes of a cubin, in order.

    Raises:
        RuntimeError: nvdisasm is not installed, or does not read it.
    """
    program = disassembler()
    if program is None:
        raise RuntimeError("nvdisasm is missing: pip install nvidia-cuda-nvdisasm")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "code.cubin")
        path.write_bytes(cubin)
        done = subprocess.run(
            [str(program), "-c", str(path)], capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise RuntimeError(f"nvdisasm: {done.stderr.strip()}")
    return _OPCODE.findall(done.stdout)


def inspect_pattern(pattern: Pattern, arch: str) -> list[str]:
    """What is wrong with a pattern's machine code."""
    session = static_session()
    kernels = kernels_of(pattern, session.profile, session.limits, session.fusion_rules)
    source = translation_unit([_named(k, n) for n, k in enumerate(kernels)], CUDA, session.profile)
    compiled = compile_cubin(source, arch, CUDA.options, verbose=True)
    wrong = [
        text
        for n, kernel in enumerate(kernels)
        for text in complaints(
            Found(kernel, (), pattern.name), resources(compiled.log).get(f"kernel_{n}")
        )
    ]
    present = opcodes(compiled.cubin)
    wrong += [
        f"there is no {wanted}"
        for wanted in pattern.wanted
        if not any(code.startswith(wanted) for code in present)
    ]
    wrong += [f"there is {code}" for code in set(present) if code.startswith(("LDL", "STL"))]
    return [f"{arch} {pattern.name}: {text}" for text in wrong]


def main(arguments: Sequence[str]) -> int:
    """Inspects everything; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--per-op", type=int, help="so many cases of each op; all if not given")
    parser.add_argument("--arch", action="append", help="only this one, as sm_90; may be repeated")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    given = parser.parse_args(arguments)
    architectures = given.arch or ARCHITECTURES
    wrong = [line for p in PATTERNS for arch in architectures for line in inspect_pattern(p, arch)]
    found = suite_kernels(given.per_op)
    portions = [found[n : n + PER_UNIT] for n in range(0, len(found), PER_UNIT)]
    with ProcessPoolExecutor(given.jobs) as pool:
        for arch in architectures:
            for lines in pool.map(partial(inspect, arch=arch), portions):
                wrong += lines
    print("\n".join(wrong))
    print(
        f"{len(PATTERNS)} patterns and {len(found)} kernels of the suite for "
        f"{', '.join(architectures)}: {len(wrong)} complaints"
    )
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
