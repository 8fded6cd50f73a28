"""OpDef and define(): the one place where an op is declared; everything else is derived from it."""

from __future__ import annotations

import enum
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

import numpy as np

from realta.errors import ArgumentError, DTypeError, UnsupportedOp
from realta.ops.constant_data import ConstantData
from realta.types import COMPUTABLE, Dim, DType, TensorType

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Algebra", "Attr", "Emitter", "OpDef", "OpKind", "Sample", "TypeRule",
    "all_ops", "define", "defines_more", "find_op", "get_op", "undefine",
]  # fmt: skip


class OpKind(enum.Enum):
    """What an op does to its index space; the fusion planner and the lowerings read only this."""

    ELEMENTWISE = "elementwise"
    REDUCE = "reduce"
    SCAN = "scan"
    MOVEMENT = "movement"
    CREATION = "creation"
    CONTRACTION = "contraction"
    INDEXING = "indexing"
    SORT = "sort"
    RANDOM = "random"
    CONTROL = "control"
    EFFECT = "effect"
    OPAQUE = "opaque"


class Emitter(Protocol):
    """What a scalar lowering or a decomposition writes with: every op of the registry as a method.

    ``emit.mul(x, y)``, ``emit.reshape(x, shape=(2, 3))``; attributes are keywords. A graph builder
    implements it, and so does a kernel writer for elementwise ops. Values are opaque to the
    lowering except for ``emit.type_of``.
    """

    def __getattr__(self, op: str) -> Callable[..., Any]: ...

    def const(self, value: float, like: Any) -> Any:
        """A constant of ``like``'s dtype and shape."""

    def type_of(self, value: Any) -> TensorType:
        """The type of a value."""


TypeRule = Callable[..., "TensorType | tuple[TensorType, ...]"]
"""``rule(*operand_types, **attrs)``: the result type(s); raises ShapeError or DTypeError without
``where`` (the caller adds it). It never looks at values."""
Reference = Callable[..., Any]
"""``reference(*arrays, **attrs)``: the op in NumPy on arrays of the storage dtypes. May be called
by the reference backend and by exact folding only."""
Lowering = Callable[..., Any]
"""``lower(emit, *values, **attrs)``: the op in simpler ops; returns one value or a tuple."""
Unit = float | Literal["lowest", "highest"] | None


_EMPTY: Final[Mapping[str, Any]] = MappingProxyType({})


class Attr(NamedTuple):
    """An attribute of an op.

    Args:
        kind: how it prints and parses: ``int float bool str dtype ints shape pads type types array
            graph``.
        default: the value printed graphs may leave out; ``...`` marks a required one.
        doc: one sentence.
    """

    kind: Literal[
        "int", "float", "bool", "str", "dtype", "ints", "shape", "pads", "type", "types", "array",
        "graph",
    ]  # fmt: skip
    default: Any = ...
    doc: str = ""


class Algebra(NamedTuple):
    """Algebraic laws that hold bit for bit; canonicalization reads nothing else.

    Units and zeros are by dtype kind, since the float unit of + is -0 and × has no float zero
    (spec 5b). A law without kinds holds for all of them.
    """

    commutative: bool = False
    associative: bool = False
    """Exactly associative (integers, min and max): reductions may be regrouped."""
    left_unit: Mapping[str, float] = _EMPTY
    right_unit: Mapping[str, float] = _EMPTY
    zero: Mapping[str, float] = _EMPTY
    idempotent: bool = False
    """``f(x, x) = x`` for binary ops, ``f(f(x)) = f(x)`` for unary ones."""
    involution: bool = False
    """``f(f(x)) = x``."""


class Sample(NamedTuple):
    """One sample call: operand shapes and attributes; the suite fills in dtypes and values.

    Args:
        shapes: one shape per operand.
        attrs: attributes of the call; a function among them is called with the dtype under test
            (`attrs_for`), for attributes that name a dtype or hold values of it.
        domain: name of a value generator (``any positive unit nonzero small integers indices
            sorted special probability``), one for all operands or one each.
        dtypes: fixed dtypes per operand; ``None`` follows the dtype under test.
        note: what the sample is there to catch.
    """

    shapes: tuple[tuple[int, ...], ...]
    attrs: Mapping[str, Any] = _EMPTY
    domain: str | tuple[str, ...] = "any"
    dtypes: tuple[DType | None, ...] = ()
    note: str = ""

    def attrs_for(self, dtype: DType) -> dict[str, Any]:
        """The attributes of the call where ``dtype`` is the dtype under test."""
        return {name: v(dtype) if callable(v) else v for name, v in self.attrs.items()}


class OpDef:
    """All that is known about an op. Compared by identity; made by `define`, never changed."""

    # Written out: a dataclass of this size takes longer to make than most modules to import.
    __slots__ = (
        "_memo", "algebra", "attrs", "data_operand", "doc", "dtypes", "graphs", "kind", "level",
        "lowering", "name", "operands", "reference", "results", "rule", "samples", "scalar",
        "since", "tolerance", "variadic", "widen",
    )  # fmt: skip

    name: str
    operands: tuple[str, ...]
    kind: OpKind
    rule: TypeRule
    reference: Reference
    attrs: Mapping[str, Attr]
    graphs: tuple[str, ...]
    """The attributes that are graphs: what the op runs itself, once or many times."""
    variadic: bool
    """The last operand may be repeated any number of times (concat)."""
    dtypes: frozenset[DType]
    """Dtypes of the data operand it is defined for; see `data_operand`."""
    data_operand: int
    """The operand whose dtype capabilities and coverage are listed by: 0 for nearly all ops, 1 for
    ``select``, -1 for the result of an op that makes its values itself."""
    lowering: Lowering | None
    """Scalar lowering (elementwise) or decomposition (others); ``None`` marks a primitive."""
    widen: bool
    """Half-precision operands are computed in float32 and rounded once at the end."""
    algebra: Algebra
    samples: tuple[Sample, ...]
    tolerance: str
    """Name of a row of spec 5a; the rows are data in `realta.ops.tolerances`."""
    level: str
    """Conformance level that asks for it."""
    doc: str
    since: str
    scalar: str
    """The scalar instruction a primitive elementwise op is; for reductions and scans the combining
    instruction (``add mul max min logical_and logical_or argmax argmin``)."""
    results: int
    _memo: dict[Any, tuple[TensorType, ...]]

    def __init__(self, **fields: Any) -> None:
        for name, value in fields.items():
            setattr(self, name, value)
        self.graphs = tuple([name for name, a in self.attrs.items() if a.kind == "graph"])
        self._memo = {}

    def __repr__(self) -> str:
        return f"<op {self.signature()}>"

    @property
    def primitive(self) -> bool:
        """Whether a backend must know it, since it has no decomposition."""
        return self.lowering is None

    @property
    def exact(self) -> bool:
        """Whether results are correctly rounded or integers: any path gives the same bits."""
        return self.tolerance == "exact"

    def exact_for(self, dtype: DType) -> bool:
        """Whether results are exact where the data operand has this dtype (integers always are)."""
        return self.exact or not dtype.is_float

    def data_dtype(self, types: Sequence[TensorType], results: Sequence[TensorType]) -> DType:
        """The dtype by which capabilities list a call with these operand and result types."""
        number = self.data_operand
        return types[number].dtype if 0 <= number < len(types) else results[0].dtype

    def result_types(
        self, types: tuple[TensorType, ...], attrs: Attributes
    ) -> tuple[TensorType, ...]:
        """The types of the results for these operand types; memoised for ops that have operands.

        Raises:
            ShapeError, DTypeError, ArgumentError: the operands do not fit; ``where`` is not set.
        """
        key = (types, attrs)
        # A graph is compared by all it holds, so that looking one up would cost as much as asking.
        found = None if self.graphs else self._memo.get(key)
        if found is None:
            self._check_call(types, attrs)
            answer = self.rule(*types, **attrs)
            found = answer if isinstance(answer, tuple) else (answer,)
            if found and not 0 <= self.data_operand < len(types):
                self._check_dtype(found[0].dtype)
            if len(self._memo) >= _MEMO_LIMIT:
                self._memo.clear()
            if types and not self.graphs:  # a constant's key would keep its bytes alive
                self._memo[key] = found
        return found

    def _check_call(self, types: tuple[TensorType, ...], attrs: Mapping[str, Any]) -> None:
        count = len(self.operands) - self.variadic
        if len(types) < count if self.variadic else len(types) != count:
            least = "at least " if self.variadic else ""
            raise ArgumentError(
                f"{self.name} takes {least}{count} operand(s), got {len(types)}",
                fix=f"call it as {self.signature()}",
            )
        for name, attr in self.attrs.items():
            holds, wanted = _ATTR_KINDS[attr.kind]
            if not holds(attrs[name]):
                raise ArgumentError(
                    f"the attribute {name!r} of {self.name} is {wanted}, got {attrs[name]!r}",
                    fix=f"call it as {self.signature()}",
                )
        # A rule may count on it; where the result is listed, that is checked after the rule.
        if 0 <= self.data_operand < len(types):
            self._check_dtype(types[self.data_operand].dtype)

    def _check_dtype(self, dtype: DType) -> None:
        if dtype not in self.dtypes:
            allowed = sorted(d.name for d in self.dtypes)
            raise DTypeError(
                f"{self.name} is not defined for {dtype}",
                fix=f"cast to one of {', '.join(allowed)}",
            )

    def make_attrs(self, given: Mapping[str, Any]) -> Attributes:
        """The attributes in declared order with defaults filled in.

        Raises:
            ArgumentError: an unknown or a missing attribute.
        """
        if not given and not self.attrs:
            return NO_ATTRS
        unknown = [n for n in given if n not in self.attrs]
        if unknown:
            raise ArgumentError(
                f"{self.name} has no attribute {unknown[0]!r}",
                fix=f"its attributes are {', '.join(self.attrs) or 'none'}",
            )
        full = Attributes()
        for name, attr in self.attrs.items():
            value = given.get(name, attr.default)
            if value is ...:
                raise ArgumentError(f"{self.name} needs the attribute {name!r}")
            dict.__setitem__(full, name, tuple(value) if isinstance(value, list) else value)
        return full

    def signature(self) -> str:
        """The op as it prints: ``sum(x, axes)``."""
        last = ["*" + self.operands[-1]] if self.variadic else list(self.operands[-1:])
        shown = [*self.operands[:-1], *last]
        for name, attr in self.attrs.items():
            shown.append(name if attr.default is ... else f"{name}={attr.default!r}")
        return f"{self.name}({', '.join(shown)})"


class Attributes(dict[str, Any]):
    """The attributes of one node: a dict in declared order, never changed, that can be hashed."""

    __slots__ = ("_hash",)
    _hash: int

    def __hash__(self) -> int:  # type: ignore[override]
        try:
            return self._hash
        except AttributeError:
            # True and 1 are equal, and a check that one fails must not be skipped for the other.
            self._hash = hash(tuple([(n, v.__class__, v) for n, v in self.items()]))
            return self._hash


def _is_int(value: Any) -> bool:
    return type(value) is int or isinstance(value, Dim)


def _are_ints(value: Any) -> bool:
    return isinstance(value, tuple) and all(map(_is_int, value))


def _is_shape(value: Any) -> bool:
    return _are_ints(value) and all(type(d) is not int or d >= 0 for d in value)


def _are_types(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(t, TensorType) for t in value)


def _is_graph(value: Any) -> bool:
    # Graphs are of the layer above; attributes hold them without knowing what they are.
    return all(hasattr(value, part) for part in ("inputs", "nodes", "outputs"))


def _are_pads(value: Any) -> bool:
    return isinstance(value, tuple) and all(_are_ints(p) and len(p) == 2 for p in value)


_ATTR_KINDS: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "int": (_is_int, "an integer"),
    "float": (lambda v: type(v) in (int, float), "a number"),
    "bool": (lambda v: type(v) is bool, "True or False"),
    "str": (lambda v: type(v) is str, "a string"),
    "dtype": (lambda v: isinstance(v, DType), "an element type"),
    "ints": (_are_ints, "a tuple of integers"),
    "shape": (_is_shape, "a tuple of extents that are not negative"),
    "pads": (_are_pads, "a tuple of pairs of integers"),
    "type": (lambda v: isinstance(v, TensorType), "a tensor type"),
    "types": (_are_types, "a tuple of tensor types"),
    "array": (lambda v: isinstance(v, ConstantData), "a ConstantData"),
    "graph": (_is_graph, "a graph"),
}
"""By attribute kind: a test of a value, and the words for what it tests."""

NO_ATTRS: Final = Attributes()
_MEMO_LIMIT: Final = 4096
_OPS: Final[dict[str, OpDef]] = {}
_HOMES: Final[dict[str, str]] = {}
"""The module of this package that defines an op."""
_MORE: Final[list[str]] = []
"""Modules that define ops and are imported when a name is not found: few programs need them all."""


def defines_more(module: str) -> None:
    """Notes a module of ops that is to be imported when an op is asked for that is not known."""
    _MORE.append(module)


def _complete() -> None:
    # Importing waits for another thread that does it, and lets what is being imported define ops.
    for module in _MORE:
        importlib.import_module(module)


def define(
    name: str,
    *,
    rule: TypeRule,
    reference: Reference,
    doc: str,
    kind: OpKind = OpKind.ELEMENTWISE,
    operands: Sequence[str] = ("x",),
    attrs: Mapping[str, Attr] | None = None,
    variadic: bool = False,
    dtypes: frozenset[DType] = COMPUTABLE,
    data_operand: int = 0,
    lowering: Lowering | None = None,
    widen: bool = False,
    algebra: Algebra | None = None,
    samples: Sequence[Sample] = (),
    tolerance: str = "exact",
    level: str = "core",
    since: str = "1.0",
    scalar: str = "",
    results: int = 1,
) -> OpDef:
    """Declares an op: the one edit that adds it to graphs, texts, docs, suite and every backend.

    An elementwise op with a ``lowering`` in terms of other elementwise ops runs, fused, on every
    backend at once; without one it is a primitive that backends must know by its ``scalar`` name.
    Names of third parties carry a dot (``vendor.op``); plain names are ours.

    Raises:
        ArgumentError: the name is taken.
    """
    # Modules of this package load in any order, each when something needs it.
    home = sys._getframe(1).f_globals.get("__name__", "")
    ours = home.startswith(f"{__package__}.")
    if (_OPS.get(name) if ours else find_op(name)) is not None:
        raise ArgumentError(
            f"the op {name!r} is already defined",
            where=f"define({name!r})",
            fix="choose another name; a vendor's op carries a dot, as in vendor.op",
        )
    op = OpDef(
        name=name, operands=tuple(operands), kind=kind, rule=rule, reference=reference,
        attrs=dict(attrs or {}), variadic=variadic, dtypes=dtypes, data_operand=data_operand,
        lowering=lowering, widen=widen,
        algebra=algebra or Algebra(), samples=tuple(samples), tolerance=tolerance, level=level,
        doc=doc, since=since, scalar=scalar or name, results=results,
    )  # fmt: skip
    _OPS[name] = op
    if ours:
        _HOMES[name] = home
    return op


def undefine(name: str) -> None:
    """Removes an op that was added at run time; for tests and for unloading a plugin."""
    _complete()  # what is removed does not come back
    _OPS.pop(name, None)


def find_op(name: str) -> OpDef | None:
    """The op of that name, or None."""
    found = _OPS.get(name)
    for module in () if found else _MORE:
        importlib.import_module(module)
        found = _OPS.get(name)
        if found is not None:
            break
    return found


def get_op(name: str) -> OpDef:
    """The op of that name.

    Raises:
        UnsupportedOp: there is none; the message suggests the nearest name.
    """
    op = find_op(name)
    if op is None:
        difflib = importlib.import_module("difflib")  # not worth its import time before
        near = difflib.get_close_matches(name, _OPS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "see `realta ops` for the list"
        raise UnsupportedOp(f"there is no op named {name!r}", fix=hint)
    return op


def all_ops() -> Iterator[OpDef]:
    """Every op: ours by family, whatever was imported first, then those that were defined later."""
    _complete()
    families = [f"{__package__}.{f}" for module in _MORE for f in sys.modules[module].__all__]
    places = {family: n for n, family in enumerate(families)}
    homes = (_HOMES.get(name, "") for name in _OPS)
    ranked = zip((places.get(home, len(places)) for home in homes), _OPS.values(), strict=True)
    return iter([op for _, op in sorted(ranked, key=itemgetter(0))])


def as_arrays(values: Any) -> tuple[NDArray[Any], ...]:
    """The results of a reference as a tuple of arrays; it may return one array or scalar."""
    found = values if isinstance(values, tuple) else (values,)
    return tuple(np.asarray(v) for v in found)
