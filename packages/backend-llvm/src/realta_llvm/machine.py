"""Machine: the processor of this process, what LLVM makes for it, and where that is loaded."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import cache
from itertools import count
from typing import Any, Final

import llvmlite
import llvmlite.binding as llvm
from realta.backend import ArgumentError, CompilationError

__all__ = ["Library", "Machine", "converts_halves", "host_width", "this_machine"]

WIDTH_VARIABLE: Final = "REALTA_LLVM_WIDTH"
WIDTHS: Final = (4, 8, 16)


@cache
def host_features() -> dict[str, bool]:
    """What the processor has, by LLVM's names."""
    return dict(llvm.get_host_cpu_features())


def converts_halves() -> bool:
    """Whether the processor converts float16; LLVM calls a library that is not there otherwise."""
    features = host_features()
    return bool(features.get("f16c")) or "sse2" not in features


def host_width() -> int:
    """Float32 lanes of a vector: what the variable says, else the most that the processor has.

    Raises:
        ArgumentError: the variable is none of the widths.
    """
    given = os.environ.get(WIDTH_VARIABLE, "").strip()
    if given:
        if given not in map(str, WIDTHS):
            raise ArgumentError(
                f"{WIDTH_VARIABLE} is 4, 8 or 16, got {given!r}",
                where=f"environment variable {WIDTH_VARIABLE}",
                fix="unset it for the widest vectors of this processor",
            )
        return int(given)
    features = host_features()
    if features.get("avx512f") and features.get("avx512dq") and features.get("avx512bw"):
        return 16
    return 8 if features.get("avx2") else 4


class Library:
    """Loaded machine code; unloaded when nothing refers to it any more.

    Args:
        tracker: LLVM's handle of it.
    """

    def __init__(self, tracker: Any) -> None:
        self._tracker = tracker

    def address(self, name: str) -> int:
        """Where a function is."""
        return int(self._tracker[name])


class Machine:
    """LLVM for one processor.

    Args:
        triple: the system; None for this one.
        cpu: the processor; None for this one.
        features: what it has and has not, as ``+avx2,-avx512f``; None for this one's.
    """

    def __init__(
        self, triple: str | None = None, cpu: str | None = None, features: str | None = None
    ) -> None:
        self.triple = triple or llvm.get_process_triple()
        self.cpu = llvm.get_host_cpu_name() if cpu is None else cpu
        given = llvm.get_host_cpu_features().flatten() if features is None else features
        self.features: str = given
        target = llvm.Target.from_triple(self.triple)
        self._target = target.create_target_machine(
            cpu=self.cpu, features=given, opt=2, reloc="pic", codemodel="small", jit=True
        )
        self.layout = str(self._target.target_data)
        self._lock = threading.Lock()
        self._jit: Any = None
        self._numbers = count()

    @property
    def fingerprint(self) -> str:
        """All that machine code depends on beside its source."""
        version = ".".join(map(str, llvm.llvm_version_info))
        compiler = f"llvmlite {llvmlite.__version__} LLVM {version}"
        return f"{compiler} {self.triple} {self.cpu} {self.features}"

    def compile(self, source: str) -> bytes:
        """The object file of a module's text.

        Raises:
            CompilationError: LLVM does not take it.
        """
        with self._lock:  # LLVM's global context is not made for several threads at once
            try:
                module = llvm.parse_assembly(source)
                module.triple = self.triple
                module.data_layout = self.layout
                self._improve(module, source)
                return bytes(self._target.emit_object(module))
            except RuntimeError as error:
                raise CompilationError(
                    "LLVM does not take a generated module",
                    log=str(error),
                    source=source,
                    fix="this is a fault of the kernel generator; report it with the source",
                ) from error

    def _improve(self, module: Any, source: str) -> None:
        """The few passes that pay: arrays of lanes become registers."""
        if "alloca" not in source:
            return
        builder = llvm.create_pass_builder(self._target, llvm.create_pipeline_tuning_options(1))
        passes = llvm.create_new_function_pass_manager()
        passes.add_sroa_pass()
        for function in module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

    def assembly(self, source: str) -> str:
        """The module as the processor's assembly language, for whoever looks into it."""
        with self._lock:
            module = llvm.parse_assembly(source)
            module.triple = self.triple
            module.data_layout = self.layout
            self._improve(module, source)
            return str(self._target.emit_assembly(module))

    def load(self, code: bytes, names: Sequence[str]) -> Library:
        """Loads an object file.

        Raises:
            CompilationError: it cannot be linked.
        """
        with self._lock:
            if self._jit is None:
                self._jit = llvm.create_lljit_compiler(
                    llvm.Target.from_triple(self.triple).create_target_machine(
                        cpu=self.cpu, features=self.features, opt=2, jit=True
                    )
                )
            builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
            for name in names:
                builder.export_symbol(name)
            try:
                return Library(builder.link(self._jit, f"realta{next(self._numbers)}"))
            except RuntimeError as error:
                raise CompilationError(
                    "a compiled module cannot be loaded",
                    log=str(error),
                    fix="this is a fault of the kernel generator; report it",
                ) from error


@cache
def this_machine() -> Machine:
    """LLVM for this process's processor."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return Machine()
