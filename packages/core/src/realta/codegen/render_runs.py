"""Runs: the statements of a kernel cut into loops over the lanes and what stands between them.

Lanes meet only where they fold, so statements that each lane does for itself may share one loop
over the lanes. A value that two such loops use becomes an array with an element for each lane.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from realta.codegen.ir import (
    Assign,
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
)
from realta.codegen.uniformity import index_varies, varies
from realta.codegen.walking import expressions, roots, variables
from realta.records import Record

__all__ = ["Run", "Runs"]


class Run(Record):
    """Statements that each lane does for itself, in one loop over the lanes.

    Args:
        number: tells it from the other runs of the kernel.
        statements: `Let`, `Declare`, `Assign` and `Store`.
    """

    __slots__ = ("number", "statements")

    number: int
    statements: tuple[Statement, ...]

    def __init__(self, number: int, statements: tuple[Statement, ...]) -> None:
        self._set(number, statements)


class Runs:
    """The runs of a kernel.

    Args:
        kernel: the kernel.
        varying: names that vary between its lanes.

    Attributes:
        bodies: by ``id`` of a loop or condition (of the kernel for the outermost body), its runs
            and the statements between them.
        crossing: names that more than one run uses.
    """

    def __init__(self, kernel: Kernel, varying: frozenset[str]) -> None:
        self.varying = varying
        self.lanes = kernel.lanes
        self.bodies: dict[int, list[Run | Statement]] = {}
        self._count = 0
        bodies: list[tuple[int, Sequence[Statement]]] = [(id(kernel), kernel.body)]
        for key, body in bodies:  # grows
            self.bodies[key] = self._cut(body)
            bodies += [(id(s), s.body) for s in body if isinstance(s, (Loop, If))]
        self.crossing = frozenset(self._crossing())

    def _cut(self, body: Sequence[Statement]) -> list[Run | Statement]:
        found: list[Run | Statement] = []
        pending: list[Statement] = []
        for statement in body:
            if self._of_each_lane(statement):
                pending.append(statement)
                continue
            if pending and not self._may_go_first(statement):
                found.append(self._run(pending))
                pending = []
            found.append(statement)
        if pending:
            found.append(self._run(pending))
        return found

    def _run(self, statements: Sequence[Statement]) -> Run:
        self._count += 1
        return Run(self._count, tuple(statements))

    def _of_each_lane(self, statement: Statement) -> bool:
        match statement:
            case Let() | Declare() | Assign():
                return statement.var.name in self.varying
            case Store():
                exprs = (statement.value, *([] if statement.where is None else [statement.where]))
                return (
                    any(varies(expr, self.varying) for expr in exprs)
                    or index_varies(statement.index, self.varying)
                    or (statement.buffer.space == "lane" and self.lanes > 1)
                )
        return False

    def _may_go_first(self, statement: Statement) -> bool:
        """Whether a statement that is the same in all lanes may precede the run it stands in."""
        return isinstance(statement, (Let, Declare)) and not any(
            isinstance(expr, Load)
            and not (expr.buffer.space == "global" and expr.buffer.role == "input")
            for expr in expressions(roots(statement))
        )

    def _uses(self) -> Iterator[tuple[str, int]]:
        """Names that vary with the run that uses them; 0 stands for no run."""
        for body in self.bodies.values():
            for part in body:
                number, statements = (
                    (part.number, part.statements) if isinstance(part, Run) else (0, (part,))
                )
                for statement in statements:
                    exprs: tuple[Expr, ...] = roots(statement)
                    yield from ((var.name, number) for var in variables(exprs))
                    if isinstance(statement, (Let, Declare, Assign)):
                        yield statement.var.name, number
                    elif isinstance(statement, Fold):
                        yield from ((var.name, 0) for var in statement.results)

    def _crossing(self) -> Iterator[str]:
        seen: dict[str, int] = {}
        for name, number in self._uses():
            if name in self.varying and seen.setdefault(name, number or -1) != number:
                yield name
