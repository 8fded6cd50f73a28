"""Kernel sources: writes docs/reference/kernel-sources.md, ten patterns in OpenCL C and CUDA C++.

Both are rendered from the same kernel IR; a test compares the page with what is generated.
"""

from __future__ import annotations

import sys
from pathlib import Path

from realta.codegen import DeviceProfile, Kernel, translation_unit
from realta.codegen.dialects import CUDA, OPENCL
from realta.codegen.rules import kernel_rules
from realta_cuda.device import device_limits, device_profile

from tools.cuda_static import UNITS
from tools.kernel_patterns import PATTERNS, Pattern, kernels_of

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "kernel-sources.md"
HEAD = """# Kernel sources

What is generated for ten graphs, each of a schedule of its own: the same kernel IR, made with the
profile of a GPU, as OpenCL C and as CUDA C++. This page is written by `tools/gen_kernels.py`, and a
test compares it with what the generator writes.

Helper functions that both languages have alike are left out; a kernel's source begins with those
that it calls. [How a kernel is made](../explain/kernels.md) explains what one sees.
"""


def page() -> str:
    """The text of the page."""
    return "\n".join([HEAD, *[_section(pattern) for pattern in PATTERNS]])


def _section(pattern: Pattern) -> str:
    profile = device_profile(UNITS)
    kernels = kernels_of(pattern, profile, device_limits(), kernel_rules(profile))
    operands = ", ".join(f"{dtype}{list(shape)}" for dtype, shape in pattern.types)
    parts = [f"## {pattern.name}", "", f"Of {operands}: {pattern.about}.", ""]
    for title, language, text in (
        ("OpenCL C", "c", _source(kernels, "opencl", profile)),
        ("CUDA C++", "cpp", _source(kernels, "cuda", profile)),
    ):
        parts += [f"### {pattern.name} in {title}", "", f"```{language}", text, "```", ""]
    return "\n".join(parts)


def _source(kernels: list[Kernel], dialect: str, profile: DeviceProfile) -> str:
    """The kernels without their helpers."""
    known = {"opencl": OPENCL, "cuda": CUDA}[dialect]
    mark = {"opencl": "__kernel ", "cuda": 'extern "C" '}[dialect]
    texts = []
    for kernel in kernels:
        text = translation_unit([kernel], known, profile)
        texts.append(text[text.index(mark) :].rstrip())
    return "\n\n".join(texts)


def main() -> int:
    """Writes the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: {len(PATTERNS)} patterns")
    return 0


if __name__ == "__main__":
    sys.exit(main())
