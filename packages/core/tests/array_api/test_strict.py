"""The namespace beside array-api-strict: every name's signature, and result dtypes on a table."""

import inspect
import math

import numpy as np
import pytest
import realta
from realta import Tensor, types
from realta import array_api as xp

strict = pytest.importorskip("array_api_strict")
pytestmark = pytest.mark.filterwarnings("ignore")  # the peer warns of zero divisions

CONSTANTS = {"e", "inf", "nan", "newaxis", "pi", "__array_api_version__"}
DTYPES = {name for name in strict.__all__ if name in types.BY_NAME}
OUTSIDE = {
    "complex64": "complex numbers are not in this version",
    "complex128": "complex numbers are not in this version",
    "fft": "it needs complex numbers",
    "get_array_api_strict_flags": "the peer's own",
    "set_array_api_strict_flags": "the peer's own",
    "reset_array_api_strict_flags": "the peer's own",
    "ArrayAPIStrictFlags": "the peer's own",
    "Device": "the peer's own",
    "ALL_DEVICES": "the peer's own",
    "__version__": "the peer's own",
}
FUNCTIONS = sorted(set(strict.__all__) - CONSTANTS - DTYPES - set(OUTSIDE) - {"linalg"})
REFUSED = {"eig", "eigvals"}  # their results are complex
LINALG = sorted(set(strict.linalg.__all__) - REFUSED)


def test_every_name_is_there():
    missing = set(strict.__all__) - set(xp.__all__) - set(OUTSIDE)
    assert missing == set()
    assert set(LINALG) | REFUSED == set(xp.linalg.__all__)
    assert not set(OUTSIDE) & set(xp.__all__)
    assert xp.__array_api_version__ == strict.__array_api_version__


def kinds(function):
    """Positional parameters' kinds and names by which they may be given, and keyword ones."""
    parameters = [*inspect.signature(function).parameters.values()]
    positional = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
    return positional, {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}


def check_signature(ours, theirs):
    our, our_keywords = kinds(ours)
    their, their_keywords = kinds(theirs)
    assert len(our) >= len(their)
    named = {p.name: p for p in our}
    for mine, peer in zip(our, their, strict=False):
        if peer.kind is peer.VAR_POSITIONAL:
            assert mine.kind is mine.VAR_POSITIONAL
        elif peer.kind is peer.POSITIONAL_OR_KEYWORD:
            assert mine.name == peer.name
            assert mine.kind is mine.POSITIONAL_OR_KEYWORD
        assert peer.default is peer.empty or mine.default is not mine.empty
    for keyword in their_keywords:
        assert keyword in our_keywords or keyword in named


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signature(name):
    check_signature(getattr(xp, name), getattr(strict, name))


@pytest.mark.parametrize("name", LINALG)
def test_linalg_signature(name):
    check_signature(getattr(xp.linalg, name), getattr(strict.linalg, name))


ALL = ("bool", "int8", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64")
NUMBERS, WHOLE, FLOATS = ALL[1:], ALL[1:7], ALL[7:]
BITS = ALL[:7]


def row(dtype, namespace):
    values = [True, False, True] if dtype == "bool" else [1, 0, 2]
    return namespace.asarray(values, dtype=getattr(namespace, dtype))


def square(dtype, namespace):
    return namespace.asarray([[2, 1], [1, 3]], dtype=getattr(namespace, dtype))


def words(text):
    """Names between blanks."""
    return text.split()


UNARY = {
    **dict.fromkeys(words("abs ceil floor negative positive round sign square trunc"), NUMBERS),
    **dict.fromkeys(words("isfinite isinf isnan conj real"), NUMBERS),
    **dict.fromkeys(words("acos acosh asin asinh atan atanh cos cosh exp expm1 log log1p"), FLOATS),
    **dict.fromkeys(words("log2 log10 reciprocal signbit sin sinh sqrt tan tanh"), FLOATS),
    "logical_not": ("bool",),
    "bitwise_invert": BITS,
}
BINARY = {
    **dict.fromkeys(words("add multiply subtract floor_divide remainder pow"), NUMBERS),
    **dict.fromkeys(words("equal not_equal"), ALL),
    **dict.fromkeys(words("less less_equal greater greater_equal maximum minimum"), NUMBERS),
    **dict.fromkeys(words("atan2 copysign divide hypot logaddexp nextafter"), FLOATS),
    **dict.fromkeys(words("bitwise_and bitwise_or bitwise_xor"), BITS),
    **dict.fromkeys(words("bitwise_left_shift bitwise_right_shift"), WHOLE),
    **dict.fromkeys(words("logical_and logical_or logical_xor"), ("bool",)),
}
OTHERS = {
    "all": (lambda n, x: n.all(x), ALL),
    "any": (lambda n, x: n.any(x), ALL),
    "argmax": (lambda n, x: n.argmax(x), NUMBERS),
    "argmin": (lambda n, x: n.argmin(x), NUMBERS),
    "argsort": (lambda n, x: n.argsort(x), NUMBERS),
    "sort": (lambda n, x: n.sort(x, descending=True), NUMBERS),
    "astype": (lambda n, x: n.astype(x, n.float64), ALL),
    "broadcast_arrays": (lambda n, x: n.broadcast_arrays(x, x[:1]), ALL),
    "broadcast_to": (lambda n, x: n.broadcast_to(x, (2, 3)), ALL),
    "clip": (lambda n, x: n.clip(x, 0, 1), NUMBERS),
    "concat": (lambda n, x: n.concat([x, x]), ALL),
    "count_nonzero": (lambda n, x: n.count_nonzero(x), ALL),
    "cumulative_prod": (lambda n, x: n.cumulative_prod(x), NUMBERS),
    "cumulative_sum": (lambda n, x: n.cumulative_sum(x, include_initial=True), NUMBERS),
    "diff": (lambda n, x: n.diff(x, append=x), NUMBERS),
    "expand_dims": (lambda n, x: n.expand_dims(x, axis=1), ALL),
    "flip": (lambda n, x: n.flip(x), ALL),
    "full_like": (lambda n, x: n.full_like(x, 1), NUMBERS),
    "isin": (lambda n, x: n.isin(x, x), WHOLE),
    "max": (lambda n, x: n.max(x), NUMBERS),
    "mean": (lambda n, x: n.mean(x), FLOATS),
    "meshgrid": (lambda n, x: n.meshgrid(x, x[:2]), ALL),
    "min": (lambda n, x: n.min(x), NUMBERS),
    "moveaxis": (lambda n, x: n.moveaxis(x[None, ...], 0, 1), ALL),
    "nonzero": (lambda n, x: n.nonzero(x), ALL),
    "ones_like": (lambda n, x: n.ones_like(x), ALL),
    "permute_dims": (lambda n, x: n.permute_dims(x[None, ...], (1, 0)), ALL),
    "prod": (lambda n, x: n.prod(x), NUMBERS),
    "repeat": (lambda n, x: n.repeat(x, 2), ALL),
    "reshape": (lambda n, x: n.reshape(x, (3, 1)), ALL),
    "roll": (lambda n, x: n.roll(x, 1), ALL),
    "searchsorted": (lambda n, x: n.searchsorted(n.sort(x), x), NUMBERS),
    "squeeze": (lambda n, x: n.squeeze(x[None, ...], 0), ALL),
    "stack": (lambda n, x: n.stack([x, x]), ALL),
    "std": (lambda n, x: n.std(x), FLOATS),
    "sum": (lambda n, x: n.sum(x), NUMBERS),
    "take": (lambda n, x: n.take(x, n.asarray([2, 0])), ALL),
    "take_along_axis": (lambda n, x: n.take_along_axis(x, n.asarray([2, 0])), ALL),
    "tile": (lambda n, x: n.tile(x, (2,)), ALL),
    "tril": (lambda n, x: n.tril(x[None, ...]), ALL),
    "triu": (lambda n, x: n.triu(x[None, ...]), ALL),
    "unique_all": (lambda n, x: n.unique_all(x), ALL),
    "unique_counts": (lambda n, x: n.unique_counts(x), ALL),
    "unique_inverse": (lambda n, x: n.unique_inverse(x), ALL),
    "unique_values": (lambda n, x: n.unique_values(x), ALL),
    "unstack": (lambda n, x: n.unstack(x), ALL),
    "var": (lambda n, x: n.var(x), FLOATS),
    "where": (lambda n, x: n.where(x == x, x, x), ALL),
    "empty_like": (lambda n, x: n.empty_like(x) * 0, NUMBERS),
    "zeros_like": (lambda n, x: n.zeros_like(x), ALL),
    "tensordot": (lambda n, x: n.tensordot(x, x, axes=1), NUMBERS),
    "vecdot": (lambda n, x: n.vecdot(x, x), NUMBERS),
    "outer": (lambda n, x: n.linalg.outer(x, x), NUMBERS),
    "cross": (lambda n, x: n.linalg.cross(x, x), NUMBERS),
    "vector_norm": (lambda n, x: n.linalg.vector_norm(x, ord=3), FLOATS),
}
MATRICES = {
    "matmul": (lambda n, x: n.matmul(x, x), NUMBERS),
    "matrix_transpose": (lambda n, x: n.matrix_transpose(x), ALL),
    "cholesky": (lambda n, x: n.linalg.cholesky(x), FLOATS),
    "det": (lambda n, x: n.linalg.det(x), FLOATS),
    "diagonal": (lambda n, x: n.linalg.diagonal(x, offset=-1), ALL),
    "eigh": (lambda n, x: n.linalg.eigh(x).eigenvalues, FLOATS),
    "eigvalsh": (lambda n, x: n.linalg.eigvalsh(x), FLOATS),
    "inv": (lambda n, x: n.linalg.inv(x), FLOATS),
    "matrix_norm": (lambda n, x: n.linalg.matrix_norm(x, ord="nuc"), FLOATS),
    "matrix_power": (lambda n, x: n.linalg.matrix_power(x, -3), FLOATS),
    "matrix_rank": (lambda n, x: n.linalg.matrix_rank(x), FLOATS),
    "pinv": (lambda n, x: n.linalg.pinv(x), FLOATS),
    "qr": (lambda n, x: n.linalg.qr(x), FLOATS),
    "slogdet": (lambda n, x: n.linalg.slogdet(x), FLOATS),
    "solve": (lambda n, x: n.linalg.solve(x, x[0, :]), FLOATS),
    "svd": (lambda n, x: n.linalg.svd(x).S, FLOATS),
    "svdvals": (lambda n, x: n.linalg.svdvals(x), FLOATS),
    "trace": (lambda n, x: n.linalg.trace(x), NUMBERS),
}
CALLS = {
    **{n: (lambda m, x, n=n: getattr(m, n)(x), d, row) for n, d in UNARY.items()},
    **{n: (lambda m, x, n=n: getattr(m, n)(x, x), d, row) for n, d in BINARY.items()},
    **{n: (*call, row) for n, call in OTHERS.items()},
    **{n: (*call, square) for n, call in MATRICES.items()},
}
PROMOTED = (*BINARY, "concat", "where")
UNCALLED = {
    "__array_namespace_info__", "arange", "asarray", "broadcast_shapes", "can_cast", "empty",
    "eye", "finfo", "from_dlpack", "full", "iinfo", "imag", "isdtype", "linspace", "ones",
    "result_type", "zeros",
}  # fmt: skip


def test_every_name_has_a_row():
    assert set(FUNCTIONS) | set(LINALG) == set(CALLS) | UNCALLED


def leaves(found):
    return list(found) if isinstance(found, (tuple, list)) else [found]


def check_equal(ours, theirs):
    for mine, peer in zip(leaves(ours), leaves(theirs), strict=True):
        assert isinstance(mine, Tensor)
        assert mine.dtype.name == str(np.asarray(peer).dtype)
        assert mine.shape == peer.shape
        np.testing.assert_allclose(mine.numpy(), np.asarray(peer), rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("name", CALLS)
def test_dtypes_shapes_and_values(name):
    function, dtypes, make = CALLS[name]
    for dtype in dtypes:
        check_equal(function(xp, make(dtype, xp)), function(strict, make(dtype, strict)))


@pytest.mark.parametrize("name", sorted(BINARY))
def test_promotion_in_calls(name):
    function, dtypes = getattr(xp, name), BINARY[name]
    for first in dtypes:
        for second in dtypes:
            try:
                theirs = getattr(strict, name)(row(first, strict), row(second, strict))
            except TypeError:
                continue  # the standard leaves it open
            check_equal(function(row(first, xp), row(second, xp)), theirs)


def test_result_type_and_can_cast():
    for first in ALL:
        for second in ALL:
            ours, theirs = ([getattr(n, d) for d in (first, second)] for n in (xp, strict))
            try:
                wanted = strict.result_type(*theirs)
            except TypeError:
                continue
            assert xp.result_type(*ours).name == str(wanted._np_dtype)
            assert xp.can_cast(*ours) == strict.can_cast(*theirs)
    assert xp.result_type(xp.int8, 1) is realta.int8
    assert xp.result_type(xp.asarray([1], dtype=xp.float32), 1.5, xp.float64) is realta.float64


@pytest.mark.parametrize("name", [d for d in ALL if d.startswith("float")])
def test_finfo(name):
    ours, theirs = xp.finfo(getattr(xp, name)), strict.finfo(getattr(strict, name))
    for field in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(ours, field) == getattr(theirs, field)
    assert ours.dtype is getattr(xp, name)


@pytest.mark.parametrize("name", WHOLE)
def test_iinfo(name):
    ours, theirs = xp.iinfo(getattr(xp, name)), strict.iinfo(getattr(strict, name))
    for field in ("bits", "max", "min"):
        assert getattr(ours, field) == getattr(theirs, field)


def test_finfo_of_what_the_peer_lacks():
    assert xp.finfo(xp.bfloat16).eps == 2.0**-7
    assert xp.finfo(realta.ones(2)).bits == 32


@pytest.mark.parametrize(
    "kind",
    ["bool", "signed integer", "unsigned integer", "integral", "real floating", "numeric",
     "complex floating", ("bool", "real floating")],
)  # fmt: skip
def test_isdtype(kind):
    for dtype in ALL:
        wanted = strict.isdtype(getattr(strict, dtype), kind)
        assert xp.isdtype(getattr(xp, dtype), kind) is wanted
    wanted = set(strict.__array_namespace_info__().dtypes(kind=kind)) & DTYPES
    assert set(xp.__array_namespace_info__().dtypes(kind=kind)) == wanted


def test_creation():
    for make in (
        lambda n: n.arange(1, 7, 2),
        lambda n: n.arange(3.0),
        lambda n: n.asarray([[1, 2], [3, 4]]),
        lambda n: n.eye(2, 3, k=1, dtype=n.float64),
        lambda n: n.full((2,), 3),
        lambda n: n.full((2,), True),
        lambda n: n.linspace(0, 1, 5, dtype=n.float64),
        lambda n: n.ones((2, 1), dtype=n.int8),
        lambda n: n.zeros(3, dtype=n.bool),
    ):
        ours, theirs = make(xp), make(strict)
        assert ours.tolist() == np.asarray(theirs).tolist()
        if ours.dtype is not realta.float32:  # the peer's default float is float64
            assert ours.dtype.name == str(np.asarray(theirs).dtype)
    assert xp.empty((2,)).shape == (2,)
    assert xp.broadcast_shapes((2, 1), (3,)) == (2, 3)


def test_constants():
    assert (xp.e, xp.pi, xp.inf) == (math.e, math.pi, math.inf)
    assert math.isnan(xp.nan)
    assert xp.newaxis is None
