"""The minimal backend: NumPy, op by op, for four dtypes; it certifies at level core."""

from functools import partial, reduce
from typing import Any

import numpy as np
from realta.backend import OpByOpBackend, hookimpl
from realta.types import bool_, float32, int32, int64


def _pick(best: Any, low: bool, x: Any, y: Any) -> Any:  # NaN wins, and -0 is below +0
    return np.where(x == y, np.where(np.signbit(x) == low, x, y), best(x, y))


def _fold(pick: Any, x: Any, axes: Any) -> Any:
    return reduce(lambda v, a: reduce(pick, np.moveaxis(v, a, 0)), sorted(axes)[::-1], x)


def _slice(x: Any, start: Any, stop: Any, step: Any) -> Any:  # a stop of -1 is before the first
    return x[tuple(map(slice, start, [None if n < 0 else n for n in stop], step))]


def _cast(x: Any, dtype: Any) -> Any:  # floats beyond the integers saturate, NaN gives 0
    if x.dtype.kind != "f" or not dtype.is_integer:
        return x.astype(dtype.numpy)
    low, y = int(np.iinfo(dtype.numpy).min), np.nan_to_num(x.astype(np.float64))
    return np.where(y >= -low, ~low, np.where(y < low, low, y.astype(dtype.numpy)))


QUIET = np.errstate(all="ignore")
SAME = "abs add equal exp greater greater_equal less less_equal logical_not not_equal reshape sqrt"
TOP, LOW = partial(_pick, np.maximum, False), partial(_pick, np.minimum, True)
OPS: dict[str, Any] = {name: getattr(np, name) for name in SAME.split()}
OPS |= {"div": np.divide, "mul": np.multiply, "neg": np.negative, "sub": np.subtract}
OPS |= {"maximum": TOP, "max": partial(_fold, TOP), "minimum": LOW, "min": partial(_fold, LOW)}
OPS |= {"slice": _slice, "cast": _cast, "broadcast": np.broadcast_to, "permute": np.transpose}
OPS |= {"select": np.where, "concat": lambda *xs, axis: np.concatenate(xs, axis)}
OPS |= {"sum": lambda x, axes: x.sum(axes, "f8" if x.dtype == "f4" else "i8").astype(x.dtype)}


class _Minimal(OpByOpBackend):
    name, dtypes = "minimal", frozenset({bool_, int32, int64, float32})
    kernels = {n: QUIET(lambda node, *xs, f=f: f(*xs, **node.attrs)) for n, f in OPS.items()}


realta_backends = hookimpl(lambda: [_Minimal()])
