"""Frame: the loops of a kernel, as few as possible, and where each value lies along them.

A group computes over the axes of its shape. Axes that a reshape in front of it cuts are cut in the
loops as well; axes of extent 1 are left out, and neighbours along which every value lies as if they
were one are merged. What is kept by reductions and what they take away are separate loops.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from math import prod
from typing import Final, Literal

from realta.codegen.indices import Axis, Index, Number, Quotient, Remainder, parts, substitute
from realta.codegen.lower_maps import (
    VIEWS,
    Coordinates,
    flat_of,
    operand_coordinates,
    unravel,
)
from realta.fusion import Group
from realta.graph import Node, Value
from realta.records import Record

__all__ = [
    "Frame", "IndexMap", "Place", "Read", "Span", "make_frame", "map_of_read",
    "map_of_store", "place_of", "source_of",
]  # fmt: skip

Span = Literal["full", "row"]
Read = tuple[Value, Span]
"""A stored value or an index map over one, and the loops it is read in."""
IndexMap = Callable[[Coordinates], Index]
"""The number of an element from the coordinates of a group's shape."""
_TURNS: Final = 8
"""Most rounds of cutting axes; each goes one reshape deeper."""


class Place(Record):
    """Where a value lies along the loops of a frame.

    Args:
        index: number of the element, over the axes `Frame.symbols`.
        offset: the element at the start of all loops, if the rest is known.
        strides: elements from one turn of each loop to the next; None if there is no such number.
    """

    __slots__ = ("index", "offset", "strides")

    index: Index
    offset: int
    strides: tuple[int, ...] | None

    def __init__(self, index: Index, offset: int, strides: tuple[int, ...] | None) -> None:
        self._set(index, offset, strides)


class Frame(Record):
    """The loops of a kernel.

    Args:
        kept: extents of loops over what reductions keep, outermost first.
        reduced: extents of loops over what they take away, in row-major order.
        places: where what is read and written lies.
    """

    __slots__ = ("kept", "places", "reduced")

    kept: tuple[int, ...]
    reduced: tuple[int, ...]
    places: dict[Hashable, Place]

    def __init__(
        self, kept: tuple[int, ...], reduced: tuple[int, ...], places: dict[Hashable, Place]
    ) -> None:
        self._set(kept, places, reduced)

    @property
    def rows(self) -> int:
        """Number of rows: elements that reductions keep."""
        return prod(self.kept)

    @property
    def terms(self) -> int:
        """Elements of a row: terms of each reduction."""
        return prod(self.reduced)

    def at(self, place: Place, kept: Sequence[Index], reduced: Sequence[Index] = ()) -> Index:
        """The number of the element at some turns of the loops."""
        turns = (*kept, *reduced)
        if place.strides is not None:
            found: Index = Number(place.offset)
            for turn, stride in zip(turns, place.strides, strict=False):
                found = found + turn * stride
            return found
        names = [_symbol("k", n) for n in range(len(self.kept))]
        names += [_symbol("r", n) for n in range(len(self.reduced))]
        return substitute(place.index, dict(zip(names, turns, strict=False)))

    def at_flat(self, place: Place, flat: Index) -> Index:
        """The number of the element at one turn of all kept loops taken as one."""
        if place.strides is None:
            return self.at(place, unravel(flat, self.kept))
        found: Index = Number(place.offset)
        inner = prod(self.kept)
        runs = _runs(self.kept, place.strides[: len(self.kept)])
        for n, (extent, stride) in enumerate(runs):
            inner //= extent
            turn = flat // inner
            found = found + (turn if n == 0 else turn % extent) * stride
        return found


def _runs(extents: Sequence[int], strides: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbouring loops merged where a value lies along them as along one."""
    runs: list[tuple[int, int]] = []
    for extent, stride in zip(extents, strides, strict=True):
        if runs and runs[-1][1] == stride * extent:
            runs[-1] = (runs[-1][0] * extent, stride)
        else:
            runs.append((extent, stride))
    return runs


def _symbol(kind: str, number: int) -> str:
    return f"{kind}{number}"


def source_of(value: Value, group: Group) -> tuple[Value, list[Node]]:
    """The stored value or constant that an operand shows, and the index maps, the outermost first.

    Index maps over members of the group are not followed.
    """
    chain: list[Node] = []
    while isinstance(value, Node) and value.op.name in VIEWS and group.levels.get(value) == "view":
        chain.append(value)
        value = value.operands[0]
    return value, chain


def place_of(value: Value, coordinates: Coordinates, group: Group) -> Index:
    """The number of the element of its source that a value shows at some coordinates."""
    source, chain = source_of(value, group)
    for view in chain:
        coordinates = operand_coordinates(view, coordinates)
    return flat_of(coordinates, source.type.static_shape)


def map_of_read(read: Read, group: Group) -> IndexMap:
    """Where a value that is read finds its elements."""
    value, span = read

    def index(full: Coordinates) -> Index:
        return place_of(value, _coordinates(value, span, full, group), group)

    return index


def map_of_store(read: Read, group: Group) -> IndexMap:
    """Where the elements of what is made in some loops are stored: densely."""
    value, span = read

    def index(full: Coordinates) -> Index:
        return flat_of(_coordinates(value, span, full, group), value.type.static_shape)

    return index


def _coordinates(value: Value, span: Span, full: Coordinates, group: Group) -> Coordinates:
    """The coordinates of a value in some loops, from those of the group's shape."""
    shape, loops = value.type.static_shape, group.shape
    if span == "row":
        if len(shape) == len(full):
            return tuple(Number(0) if n in group.axes else c for n, c in enumerate(full))
        full = tuple(c for n, c in enumerate(full) if n not in group.axes)
        loops = group.row_shape
    if shape == loops:
        return full
    # A stored reshape has its elements in the order of the loops.
    extents = tuple(d for d in loops if isinstance(d, int))
    return unravel(flat_of(full, extents), shape)


class _Atom(Record):
    """A part of an axis: `extent` turns that are `stride` elements of the axis apart."""

    __slots__ = ("axis", "extent", "name", "stride")

    axis: int
    extent: int
    name: str
    stride: int

    def __init__(self, axis: int, extent: int, stride: int) -> None:
        self._set(axis, extent, f"a{axis}_{stride}", stride)

    @property
    def symbol(self) -> Index:
        return Axis(self.name, self.extent) if self.extent > 1 else Number(0)


class _Axes:
    """The axes of a group while they are cut and merged."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.shape = tuple(d for d in group.shape if isinstance(d, int))
        self.atoms = [_Atom(n, d, 1) for n, d in enumerate(self.shape) if d != 1]

    def coordinates(self) -> list[Index]:
        """The coordinates of the group's shape, over the symbols of its parts."""
        found: list[Index] = [Number(0)] * len(self.shape)
        for atom in self.atoms:
            found[atom.axis] = found[atom.axis] + atom.symbol * atom.stride
        return found

    def cut(self, indices: Iterable[Index]) -> bool:
        """Cuts axes where index maps divide them; False if there is nothing to cut."""
        by_name = {atom.name: atom for atom in self.atoms}
        for index in indices:
            for part in parts(index):
                if not isinstance(part, (Quotient, Remainder)) or not isinstance(part.of, Axis):
                    continue
                atom = by_name.get(part.of.name)
                if atom is not None and atom.extent % part.divisor == 0:
                    self._split(atom, part.divisor)
                    return True
        return False

    def _split(self, atom: _Atom, inner: int) -> None:
        at = self.atoms.index(atom)
        self.atoms[at : at + 1] = [
            _Atom(atom.axis, atom.extent // inner, atom.stride * inner),
            _Atom(atom.axis, inner, atom.stride),
        ]


def _affine(index: Index, atoms: Sequence[_Atom]) -> tuple[int, tuple[int, ...]] | None:
    """An index as an offset and a stride per part; None if it is nothing of the kind."""
    strides = dict.fromkeys((atom.name for atom in atoms), 0)
    offset = 0
    for term in getattr(index, "terms", (index,)):
        factor, of = getattr(term, "factor", 1), getattr(term, "of", term)
        if isinstance(term, Number):
            offset += term.value
        elif isinstance(of, Axis) and (term is of or hasattr(term, "factor")):
            strides[of.name] += factor
        else:
            return None
    return offset, tuple(strides.values())


class _Loops:
    """Merges parts of axes into loops."""

    def __init__(self, axes: _Axes, indices: Sequence[Index]) -> None:
        self.atoms = axes.atoms
        self.affine = [_affine(index, axes.atoms) for index in indices]
        self.fixed: set[str] = set()
        for index, affine in zip(indices, self.affine, strict=True):
            if affine is None:
                self.fixed |= {p.name for p in parts(index) if isinstance(p, Axis)}

    def merged(self, numbers: Sequence[int]) -> list[list[int]]:
        """Runs of parts, given by number, that every value sees as one."""
        runs: list[list[int]] = []
        for number in numbers:
            if runs and self._joins(runs[-1][-1], number):
                runs[-1].append(number)
            else:
                runs.append([number])
        return runs

    def _joins(self, outer: int, inner: int) -> bool:
        if {self.atoms[outer].name, self.atoms[inner].name} & self.fixed:
            return False
        extent = self.atoms[inner].extent
        strides = [found[1] for found in self.affine if found is not None]
        return all(s[outer] == s[inner] * extent for s in strides)


def make_frame(group: Group, maps: Mapping[Hashable, IndexMap]) -> Frame:
    """The frame of a group whose shape has no extent of 0.

    Args:
        group: its shape, and the axes of it that are reduced.
        maps: where all that is read and written lies.
    """
    axes = _Axes(group)
    for _ in range(_TURNS):
        coordinates = tuple(axes.coordinates())
        found = [index(coordinates) for index in maps.values()]
        if not axes.cut(found):
            break
    loops = _Loops(axes, found)
    reduced = [n for n, atom in enumerate(axes.atoms) if atom.axis in group.axes]
    kept = [n for n, atom in enumerate(axes.atoms) if atom.axis not in group.axes]
    runs = (loops.merged(kept), loops.merged(reduced))
    extents = [tuple(prod(axes.atoms[n].extent for n in run) for run in part) for part in runs]
    names = _replacements(axes.atoms, runs)
    places: list[Place] = []
    for index, affine in zip(found, loops.affine, strict=True):
        offset, strides = affine or (0, None)
        if strides is not None:
            strides = tuple(strides[run[-1]] for part in runs for run in part)
        places.append(Place(substitute(index, names), offset, strides))
    return Frame(extents[0], extents[1], dict(zip(maps, places, strict=True)))


def _replacements(
    atoms: Sequence[_Atom], runs: tuple[list[list[int]], list[list[int]]]
) -> dict[str, Index]:
    """What the symbols of parts are in those of the loops."""
    found: dict[str, Index] = {}
    for kind, part in zip("kr", runs, strict=True):
        for number, run in enumerate(part):
            extents = [atoms[n].extent for n in run]
            loop = Axis(_symbol(kind, number), prod(extents))
            turns = unravel(loop, extents)
            found |= {atoms[n].name: turn for n, turn in zip(run, turns, strict=True)}
    return found
