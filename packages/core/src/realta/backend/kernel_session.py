"""KernelSession: tier 2 of the contract: a dialect, a profile, build, launch; core does the rest.

A subclass says how memory is held, how a source is built and how a kernel is launched. Planning of
kernels, their lowering, the sources, the memory inside a run and the runs are inherited.

What a subclass may rely on: `launch` is called with the session's lock held, in the order in which
work has to happen. What it must do: run launches, copies and writes in the order of the calls, each
seeing all that the earlier ones wrote.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from realta import fusion
from realta.backend.kernel_capabilities import KernelOps, kernel_composites
from realta.backend.kernel_executable import KernelExecutable
from realta.backend.kernel_host import HOST_SCHEDULE, host_contraction
from realta.backend.kernel_memory import Workspace
from realta.codegen.dialect import CDialect
from realta.codegen.ir import Kernel
from realta.codegen.lowering import fitted, lower
from realta.codegen.profile import DeviceProfile
from realta.codegen.rendering import KernelSignature, render, translation_unit
from realta.codegen.rules import kernel_rules
from realta.errors import UnsupportedOp
from realta.fusion import Code, Group
from realta.fusion.limits import Limits
from realta.graph import Graph, Node
from realta.runtime.contract import Capabilities, Handle, Numerics, Options, Refusal
from realta.types import DTYPES, DType, TensorType

__all__ = ["GENERATOR", "KernelSession", "KernelSignature"]

Module = Any
"""What a session made of a source; opaque to core."""
Dim3 = tuple[int, int, int]
"""Extents of a launch along three axes."""
GENERATOR: Final = "1"
"""Version of the code generator, part of the key of every kernel kept on disk."""
_MODULES: Final = 512
"""Built sources that a session remembers beside those its executables hold."""


class KernelSession:
    """A session that runs generated kernels.

    Args:
        dialect: the language of the sources.
        profile: what schedules are made from; cut down to the limits.
        limits: device limits.
        fingerprint: tells the device and its compiler from all others.
        storage: dtypes that can be held; None for all.
        numerics: promises about bits.
        features: as in `Capabilities`.

    Attributes:
        lock: held while work is given to the device.
        fusion_rules: the rules by which kernels are planned; `explain` plans by them too.
    """

    can_slice: ClassVar[bool] = False
    """Whether `slice` can be called."""
    executable: ClassVar[type[KernelExecutable]] = KernelExecutable
    """What `compile` makes."""
    host_memory: bool = False
    """Whether `view` has every handle's memory, so that host routines may compute on it."""

    def __init__(
        self,
        dialect: CDialect,
        profile: DeviceProfile,
        *,
        limits: Limits = Limits(),  # noqa: B008  immutable
        fingerprint: str = "",
        storage: frozenset[DType] | None = None,
        numerics: Numerics | None = None,
        features: frozenset[str] = frozenset(),
    ) -> None:
        self.dialect = dialect
        host = profile.host_contractions and self.host_memory
        self.profile = fitted(profile, limits).replace(host_contractions=host)
        self.limits = limits
        self.fingerprint = fingerprint or dialect.name
        self.lock = threading.RLock()
        self.fusion_rules = kernel_rules(self.profile)
        held = frozenset(DTYPES) if storage is None else storage
        self.capabilities = Capabilities(
            storage=held,
            ops=KernelOps(held),
            composites=kernel_composites(held, host_contractions=host),
            limits=limits,
            numerics=numerics or Numerics(),
            features=features,
        )
        self.workspace = Workspace(self)
        self._modules: OrderedDict[str, Module] = OrderedDict()

    # -- what a subclass provides -----------------------------------------------------------------

    def build(self, source: str, kernels: Sequence[KernelSignature]) -> Module:
        """Compiles a source.

        Raises:
            CompilationError: with the log and the source.
        """
        raise NotImplementedError

    def launch(
        self,
        module: Module,
        kernel: str,
        grid: Dim3,
        group: Dim3,
        args: Sequence[Handle | np.generic[Any]],
        local_bytes: int,
    ) -> None:
        """Gives a kernel to the device; may return before it is done.

        Args:
            module: what `build` made.
            kernel: name of the kernel.
            grid: number of groups along three axes.
            group: work-items of a group along three axes.
            args: its arguments.
            local_bytes: bytes of group memory that the kernel declares itself.

        Raises:
            DeviceFault: it could not be launched.
        """
        raise NotImplementedError

    def allocate(self, nbytes: int) -> Handle:
        """A new buffer; 0 is legal. Raises OutOfMemory."""
        raise NotImplementedError

    def free(self, handle: Handle) -> None:
        """Gives a buffer back, once what was launched so far is done; never raises or blocks."""

    def write(self, dst: Handle, type: TensorType, src: memoryview) -> None:
        """Copies bytes in; ``src`` is reusable on return."""
        raise NotImplementedError

    def read(self, src: Handle, type: TensorType, dst: memoryview) -> None:
        """Copies bytes out; waits for ``src``."""
        raise NotImplementedError

    def copy(self, src: Handle, dst: Handle, type: TensorType) -> None:
        """Copies one tensor on the device."""
        raise NotImplementedError

    def view(self, handle: Handle, type: TensorType) -> memoryview | None:
        """Host-visible memory of the tensor, or None."""
        return None

    def wait(self, handle: Handle | None = None) -> None:
        """Waits for one buffer or for all work. Raises DeviceFault."""

    # -- what a subclass may provide --------------------------------------------------------------

    def slice(self, handle: Handle, offset: int, nbytes: int) -> Handle:
        """A handle for a part of a buffer; with `can_slice`, in place of a buffer for each part."""
        raise NotImplementedError

    def prepare(self, module: Module, kernel: KernelSignature) -> Callable[..., None]:
        """A kernel made ready to be launched many times: called with its handles in order."""
        launch, name, local_bytes = self.launch, kernel.name, kernel.local_bytes
        grid, group = (kernel.groups, 1, 1), (kernel.items, 1, 1)

        def call(*handles: Handle) -> None:
            launch(module, name, grid, group, handles, local_bytes)

        return call

    def flush(self) -> None:
        """Called when all launches of a run are given."""

    @property
    def host_contractions(self) -> bool:
        """Whether contractions are the host's work."""
        return self.profile.host_contractions

    # -- what it inherits -------------------------------------------------------------------------

    def supports(self, node: Node) -> Refusal | None:
        """Refuses tensors with more axes than the device takes.

        One that is too large is no reason to compute elsewhere: it is out of memory when it is
        allocated.
        """
        types = [*[value.type for value in node.operands], *node.types]
        if max([type.rank for type in types], default=0) > self.limits.rank:
            return Refusal(
                f"tensors have at most {self.limits.rank} axes here", "merge axes by reshape"
            )
        return None

    def buffer_bytes(self, type: TensorType) -> int:
        """Bytes of the elements."""
        return type.nbytes

    def compile(self, graph: Graph, options: Options) -> KernelExecutable:
        """Plans the kernels, writes and builds their source.

        Raises:
            UnsupportedOp: an op has no kernel.
            FusionError: a region that must be one kernel cannot be.
            CompilationError: the source could not be built.
        """
        self._check_ops(graph)
        plan = fusion.plan(graph, self.limits, rules=self.fusion_rules)
        return self.executable(self, plan, options)

    def _check_ops(self, graph: Graph) -> None:
        known = self.capabilities
        for node in graph.nodes:
            if node.op.name not in (known.ops if node.op.primitive else known.composites):
                raise UnsupportedOp(
                    f"there are no generated kernels for {node.op.name}",
                    where=f"dialect {self.dialect.name}",
                    fix="ask the session's capabilities before compiling",
                )

    def module(self, kernels: Sequence[Kernel], signatures: Sequence[KernelSignature]) -> Module:
        """The built module of some kernels; one that was built lately is used again."""
        source = self.source(kernels)
        with self.lock:
            found = self._modules.get(source)
            if found is not None:
                self._modules.move_to_end(source)
                return found
        # Not under the lock: building takes long, and what runs meanwhile needs it.
        found = self.build(source, signatures)
        with self.lock:
            self._modules[source] = found
            if len(self._modules) > _MODULES:
                self._modules.popitem(last=False)
        return found

    def source(self, kernels: Sequence[Kernel]) -> str:
        """The text that is built for some kernels."""
        return translation_unit(kernels, self.dialect, self.profile)

    def describe(self, group: Group) -> Code:
        """The schedule and the code of a fusion group, for `explain`; builds nothing."""
        host = host_contraction(self, group)
        if host is not None:
            return Code(HOST_SCHEDULE)
        if all(node.op.name == "constant" for node in group.nodes):
            return Code("kept in memory")
        lowered = lower(group, self.profile, self.limits)
        sources = tuple([self.text(launch.kernel) for launch in lowered.launches])
        return Code(lowered.schedule, self.profile.name, sources)

    def text(self, kernel: Kernel) -> str:
        """The text of one kernel, for reports."""
        return render(kernel, self.dialect, self.profile)

    def close(self) -> None:
        """Frees what is kept between runs."""
        with self.lock:
            self._modules.clear()
            self.workspace.clear()
