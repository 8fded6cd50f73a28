"""KernelText: what the renderings of a kernel share, whatever its lanes are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from realta.codegen.dialect import CDialect
from realta.codegen.index_width import index_bits
from realta.codegen.indices import axes_of
from realta.codegen.instructions import COMBINATIONS
from realta.codegen.ir import (
    GROUP,
    Allocate,
    Apply,
    Assign,
    Barrier,
    Buffer,
    Declare,
    Expr,
    Fold,
    If,
    Kernel,
    Let,
    Load,
    Loop,
    Statement,
    Store,
    Var,
)
from realta.codegen.preamble import Preamble
from realta.codegen.preamble_conversions import bits_type
from realta.codegen.preamble_trace import V, select
from realta.codegen.profile import DeviceProfile
from realta.codegen.render_expressions import Code, Expressions, bare
from realta.codegen.render_indices import IndexText
from realta.codegen.render_scope import Scopes
from realta.codegen.uniformity import varying_names
from realta.codegen.walking import all_expressions, defined_names, statements
from realta.types import DType, bool_, int32, int64

__all__ = ["KernelText", "combined", "conjunction"]

_UNROLLED: Final = 64
"""Most turns of a loop that are written out."""
_FEW: Final = 8
"""Turns that a compiler may write out as it likes."""


def conjunction(where: Expr | None) -> list[Expr]:
    """The conditions that must hold together for a predicate to hold."""
    found: list[Expr] = []
    stack = [] if where is None else [where]
    while stack:
        part = stack.pop()
        if isinstance(part, Apply) and part.op == "bitwise_and" and part.dtype is bool_:
            stack.extend(reversed(part.operands))
        else:
            found.append(part)
    return found


def combined(combine: str, names: Sequence[tuple[Var, Var]]) -> list[Expr]:
    """What a fold makes of two values, or of two pairs of a value and its index."""
    (x, y), *rest = names
    if not rest:
        return [Apply(COMBINATIONS[combine], (x, y), x.dtype)]
    value, other = V(x), V(y)
    index, other_index = (V(var) for var in rest[0])
    beats = other > value if combine == "argmax" else other < value
    ties = other.equals(value)
    if x.dtype.is_float:  # NaN beats all but NaN
        beats = beats | (other.is_nan() & ~value.is_nan())
        ties = ties | (other.is_nan() & value.is_nan())
    second = beats | (ties & (other_index < index))
    return [select(second, other, value).expr, select(second, other_index, index).expr]


def _axes_of_lane_arrays(kernel: Kernel, exprs: Iterable[Expr]) -> frozenset[object]:
    """Loop variables that choose an element of an array that a lane has for itself.

    Such an array lies in registers only if each of its elements is known where code is compiled.
    """
    found: set[object] = set()
    for statement in statements(kernel.body):
        if isinstance(statement, Store) and statement.buffer.space == "lane":
            found |= axes_of(statement.index)
    for expr in exprs:
        if isinstance(expr, Load) and expr.buffer.space == "lane":
            found |= axes_of(expr.index)
    return frozenset(found)


class KernelText(Expressions):
    """Renders one kernel.

    Args:
        kernel: a verified kernel.
        dialect: the language.
        profile: the device's profile.
        preamble: collects the helpers.
        lanes: length of vectors; 1 where there are none.
        axes: the loop variables that are defined at the beginning.
    """

    def __init__(
        self,
        kernel: Kernel,
        dialect: CDialect,
        profile: DeviceProfile,
        preamble: Preamble,
        lanes: int = 1,
        axes: Iterable[str] = (GROUP,),
        notes: bool = False,
    ) -> None:
        library = max(profile.lanes, 1) if profile.realization == "vector" else 1
        super().__init__(dialect, preamble, lanes, library)
        self.kernel = kernel
        self.profile = profile
        self.preamble = preamble
        self.notes = notes
        given = [b.name for b in kernel.buffers]
        given += [name for s in statements(kernel.body) for name in defined_names(s)]
        self.scopes = Scopes(axes, [*given, "group", "lane", "lanes"])
        exprs = all_expressions(kernel.body)
        self.dtypes = {b.dtype for b in kernel.buffers} | {expr.dtype for expr in exprs}
        self.index = int32 if index_bits(kernel, exprs) == 32 else int64
        self.indices = IndexText(dialect, self.index, self.scopes, self.position)
        self.varying = varying_names(kernel) if kernel.lanes > 1 else frozenset()
        self.in_registers = _axes_of_lane_arrays(kernel, exprs)

    # -- the kernel -------------------------------------------------------------------------------

    def render(self) -> str:
        """The kernel's text, helpers apart."""
        self.note_types()
        self.begin()
        self.body(self.kernel.body)
        words = {"index": self.dialect.types[self.index], "groups": self.kernel.groups}
        enter = [*self.alignments(), *[line.format(**words) for line in self.dialect.enter]]
        leave = [line.format(**words) for line in self.dialect.leave]
        inner = self.scopes.root.lines(2 if leave else 1)
        lines = [
            *(f"// {note}" for note in self.kernel.notes),
            self.head(),
            "{",
            *("    " + line for line in enter),
            *inner,
            *("    " + line for line in leave),
            "}",
        ]
        return "\n".join(lines) + "\n"

    def head(self) -> str:
        """The kernel's signature."""
        parameters = [
            self.dialect.parameter.format(
                const="const " if b.role == "input" else "",
                type=self.dialect.types[b.dtype],
                name=self.scopes.name(b.name),
            )
            for b in self.kernel.buffers
        ]
        parameters += self.dialect.parameters_after
        return self.dialect.kernel.format(
            name=self.kernel.name, parameters=", ".join(parameters), items=self.items
        )

    def alignments(self) -> list[str]:
        """Lines that say how buffers are aligned, where lanes move several elements at once."""
        nbytes = self.profile.vector_bytes
        if not nbytes or not self.dialect.aligned:
            return []
        return [
            self.dialect.aligned.format(
                const="const " if b.role == "input" else "",
                type=self.dialect.types[b.dtype],
                name=self.scopes.name(b.name),
                nbytes=nbytes,
            )
            for b in self.kernel.buffers
        ]

    @property
    def items(self) -> int:
        """Work-items of a group."""
        return 1

    def begin(self) -> None:
        """Lines at the beginning of the kernel."""

    def note_types(self) -> None:
        """Tells the preamble which types the kernel uses."""
        for dtype in self.dtypes:
            self.preamble.uses(dtype)

    # -- statements -------------------------------------------------------------------------------

    def body(self, body: Sequence[Statement]) -> None:
        """Statements in order."""
        for statement in body:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        """One statement."""
        match statement:
            case Let():
                self.let(statement)
            case Declare():
                self.define("", statement.var, self.code(statement.value))
            case Assign():
                self.assign(statement)
            case Store():
                self.store(statement)
            case Loop():
                with self.scopes.nested(self.loop_head(statement), axes=(statement.axis.name,)):
                    self.body(statement.body)
            case If():
                condition = bare(self.scalar(self.code(statement.condition)).text)
                with self.scopes.nested(f"if ({condition}) {{"):
                    self.body(statement.body)
            case Fold():
                self.fold(statement)
            case Allocate():
                self.allocate(statement.buffer)
            case Barrier():
                self.barrier()

    def let(self, statement: Let) -> None:
        """A value that gets a name, below what it is for if that is wanted."""
        if self.notes and statement.note:
            self.scopes.add(f"// {statement.note}")
        self.define("const ", statement.var, self.code(statement.value))

    def define(self, const: str, var: Var, value: Code) -> None:
        """A line that starts a name."""
        wide = self.is_wide(var)
        value = self.widen(value) if wide else value
        type = self.dialect.register(var.dtype, self.lanes if wide else 1)
        self.scopes.add(f"{const}{type} {self.scopes.name(var.name)} = {bare(value.text)};")

    def assign(self, statement: Assign) -> None:
        """A line that changes a variable."""
        value = self.code(statement.value)
        value = self.widen(value) if self.is_wide(statement.var) else value
        self.scopes.add(f"{self.scopes.name(statement.var.name)} = {bare(value.text)};")

    def loop_head(self, loop: Loop) -> str:
        """The line that opens a loop, after the pragma that it may need."""
        name, type = self.scopes.name(loop.axis.name), self.dialect.types[self.index]
        head = f"for ({type} {name} = 0; {name} < {loop.axis.extent}; ++{name}) {{"
        pragma, turns, inner = "", loop.axis.extent, statements(loop.body)
        in_registers = bool(self.dialect.rolled) and turns <= _FEW
        if (loop.unroll and turns <= _UNROLLED) or (
            in_registers and loop.axis in self.in_registers
        ):
            pragma = self.dialect.unroll
        elif turns > _FEW and not any(isinstance(s, Loop) for s in inner):
            pragma = self.dialect.rolled
        return f"{pragma}\n{head}" if pragma else head

    def store(self, statement: Store) -> None:
        """Lines that write an element of each lane."""
        raise NotImplementedError

    def fold(self, statement: Fold) -> None:
        """Lines that combine lanes."""
        raise NotImplementedError

    def allocate(self, buffer: Buffer) -> None:
        """Declares memory of the group or of the lanes."""
        line = self.dialect.arrays[buffer.space].format(
            type=self.dialect.types[bits_type(buffer.dtype)], name=self.scopes.name(buffer.name),
            size=buffer.size,
        )  # fmt: skip
        self.place(buffer, line)

    def place(self, buffer: Buffer, line: str) -> None:
        """Adds a declaration: group memory at the beginning, since some languages want it there."""
        if buffer.space == "group":
            self.scopes.root.head.insert(0, line)
        else:
            self.scopes.add(line)

    def barrier(self) -> None:
        """The line at which all lanes wait; nothing where one work-item has all lanes."""

    # -- values -----------------------------------------------------------------------------------

    def is_wide(self, var: Var) -> bool:
        """Whether a name stands for a vector."""
        return self.lanes > 1 and var.name in self.varying

    def scalar(self, value: Code) -> Code:
        """A value that is the same in all lanes, as a number."""
        if not value.wide:
            return value
        first = self.component(self.named(value, "same"), [0])
        return Code(f"({first} & 1)" if value.dtype is bool_ else first, value.dtype)

    def named(self, value: Code, name: str) -> str:
        """A value's text as a name, which is made if it is none."""
        if value.text.isidentifier():
            return value.text
        fresh = self.scopes.fresh(name)
        type = self.dialect.register(value.dtype, self.lanes if value.wide else 1)
        self.scopes.add(f"const {type} {fresh} = {bare(value.text)};")
        return fresh

    def position(self, value: Expr) -> str:
        """A value that is an index, as a number."""
        return self.as_index(self.scalar(self.code(value)).text, value.dtype)

    def as_index(self, text: str, dtype: DType) -> str:
        """A number as an index."""
        return text if dtype is self.index else f"({self.dialect.types[self.index]}){text}"

    def guarded(self, where: Sequence[Code]) -> str:
        """Conditions that are numbers, as one."""
        return " && ".join(bare(code.text) if len(where) == 1 else code.text for code in where)

    def values(self, done: Mapping[int, Code], exprs: Iterable[Expr]) -> list[Code]:
        """Rendered expressions, by those that are done already."""
        return [done[id(e)] if id(e) in done else self.code(e) for e in exprs]
