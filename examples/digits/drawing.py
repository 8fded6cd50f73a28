"""The drawing of a plan: a box for each kernel and a row for each op in it, as SVG."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from typing import Final

from realta.fusion import Explanation
from realta.fusion.explain import KernelText, Member

__all__ = ["fusion_drawing"]

_WIDTH: Final = 372
_LEFT: Final = 8
_RIGHT: Final = 322
_ROW: Final = 30
_CHIP: Final = 22
_CHARACTER: Final = 7.3
_NAMES: Final = re.compile(r"%\w+")
_TYPE: Final = re.compile(r"(\w+\[[^\]]*\])")


@dataclass(slots=True)
class _Canvas:
    """The drawing so far: its shapes, the next free line, and where each value was made."""

    y: int = 8
    boxes: list[str] = field(default_factory=list)
    chips: list[str] = field(default_factory=list)
    flows: list[str] = field(default_factory=list)
    made: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By value: the number of its row and the middle of it."""
    rows: int = 0
    lanes: list[int] = field(default_factory=list)
    """By lane right of the boxes: down to where it is taken."""

    def connect(self, value: str, row: int, y: int) -> None:
        """An arrow from the row that made a value: straight down, or around the rows between."""
        source, top = self.made[value]
        if source == row - 1:
            edge = y - _CHIP // 2
            self.arrow(f"M 60 {top + _CHIP // 2} V {edge - 5}", 60, edge, "down")
            return
        lane = next((n for n, end in enumerate(self.lanes) if end <= top), len(self.lanes))
        self.lanes[lane : lane + 1] = [y]
        # Leaving below the middle and arriving above it keeps one arrow's end off the next one's
        # beginning.
        start, end = top + 5, y - 5
        x, edge = _RIGHT + 10 + 8 * lane, _RIGHT - 10
        path = f"M {edge} {start} H {x - 5} q 5 0 5 5 V {end - 5} q 0 5 -5 5 H {edge + 5}"
        self.arrow(path, edge, end, "left")

    def arrow(self, path: str, x: int, y: int, way: str) -> None:
        """A line and its tip."""
        sides = "-4 -6 h 8" if way == "down" else "6 -4 v 8"
        self.flows.append(
            f'<path class="flow" d="{path}"/><path class="tip" d="M {x} {y} l {sides} z"/>'
        )


def fusion_drawing(explanation: Explanation, label: str) -> str:
    """The kernels of a plan in order, the ops in each, and what flows between them.

    Args:
        explanation: the plan.
        label: what it is, for those who cannot see it.
    """
    canvas = _Canvas()
    for number, kernel in enumerate(explanation.kernels):
        _draw_inputs(canvas, kernel)
        _draw_kernel(canvas, number, kernel)
    shapes = "".join([*canvas.boxes, *canvas.flows, *canvas.chips])
    return (
        f'<svg class="plan" viewBox="0 0 {_WIDTH} {canvas.y}" role="img" '
        f'aria-label="{escape(label)}">{shapes}</svg>'
    )


def _draw_inputs(canvas: _Canvas, kernel: KernelText) -> None:
    """A pill for each tensor that no kernel made."""
    given = [read for read in kernel.reads if read.name not in canvas.made]
    if not given:
        return
    x = _LEFT + 4.0
    for read in given:
        text = _type(read.type)
        width = len(text) * _CHARACTER + 14
        canvas.chips.append(
            f'<rect class="input" x="{x:.0f}" y="{canvas.y}" width="{width:.0f}" height="20" '
            f'rx="10"/><text class="quiet" x="{x + 7:.0f}" y="{canvas.y + 14}">{text}</text>'
        )
        middle = int(x + width / 2)
        bottom = canvas.y + 34
        canvas.arrow(f"M {middle} {canvas.y + 20} V {bottom - 5}", middle, bottom, "down")
        x += width + 8
    canvas.y += 34


def _draw_kernel(canvas: _Canvas, number: int, kernel: KernelText) -> None:
    members = [m for m in kernel.members if m.role != "literal"]
    height = 26 + _ROW * len(members)
    title = f"kernel {number}: {kernel.kind}"
    canvas.boxes.append(
        f'<g class="{kernel.kind}"><rect class="kernel" x="{_LEFT}" y="{canvas.y}" '
        f'width="{_RIGHT - _LEFT}" height="{height}" rx="8"/></g>'
    )
    canvas.chips.append(f'<text class="title" x="{_LEFT + 80}" y="{canvas.y + 17}">{title}</text>')
    y = canvas.y + 26 + _CHIP // 2
    for member in members:
        _draw_member(canvas, kernel.kind, member, y)
        y += _ROW
    canvas.y += height + 22


def _draw_member(canvas: _Canvas, kind: str, member: Member, y: int) -> None:
    made, _, call = member.text.partition(" = ")
    canvas.rows += 1
    for value in dict.fromkeys(_NAMES.findall(call)):
        if value in canvas.made:
            canvas.connect(value, canvas.rows, y)
    for value in _NAMES.findall(made.partition(":")[0]):
        canvas.made[value] = (canvas.rows, y)
    shape = "map" if member.role == "index map" else "op"
    quiet = ' class="quiet"' if shape == "map" else ""
    kept = _type(made.partition(": ")[2])
    canvas.chips.append(
        f'<g class="{kind}"><rect class="{shape}" x="{_LEFT + 10}" y="{y - _CHIP // 2}" '
        f'width="{_RIGHT - _LEFT - 20}" height="{_CHIP}" rx="5"/></g>'
        f'<text{quiet} x="{_LEFT + 20}" y="{y + 4}">{member.op}</text>'
        f'<text class="quiet" x="{_RIGHT - 20}" y="{y + 4}" text-anchor="end">{kept}</text>'
    )


def _type(text: str) -> str:
    """A type without its device: ``f32[360, 128]``."""
    found = _TYPE.match(text)
    return escape((found[1] if found else text).replace(", ", ","))
