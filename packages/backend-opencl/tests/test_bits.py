"""Equal bits of the whole op table: eager, fused with its neighbours, and a kernel for each op."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.functional.arguments import apply_many
from realta.functional.operation import operation
from realta.ops import OpKind, all_ops
from realta.plugins import close_devices
from realta.types import DTYPES, bool_, float32

NO_CALLS = {OpKind.CONTROL, OpKind.EFFECT}
APART = {"check_bounds", "constant", "guard", "transfer"}
"""What no function of the library is: core writes these itself."""
TABLE = [
    op
    for op in all_ops()
    if op.kind not in NO_CALLS and op.samples and "." not in op.name and op.name not in APART
]
PACK = 12
"""Ops of one graph: so many that work on several tensors shares kernels."""


def dtype_of(op, wanted):
    """The dtype an op is tried with: that float where it takes it, else the first it does take."""
    return wanted if wanted in op.dtypes else next(d for d in DTYPES if d in op.dtypes)


def array(rng, domain, dtype, shape):
    """Values of a domain of samples."""
    if dtype is bool_:
        return rng.random(shape) < 0.5
    if dtype.is_integer:
        low, high = (1, 5) if domain in ("positive", "nonzero", "probability") else (0, 3)
        return np.zeros(shape, dtype.numpy) if domain == "indices" else (
            rng.integers(low, high, shape).astype(dtype.numpy)
        )  # fmt: skip
    low, high = {
        "positive": (0.2, 4), "nonzero": (0.3, 3), "unit": (-1, 1), "probability": (0.01, 0.99),
    }.get(domain, (-3, 3))  # fmt: skip
    found = rng.uniform(low, high, shape)
    return (np.sort(found) if domain == "sorted" else found).astype(dtype.numpy)


class Call:
    """An op on a sample, between work that may share its kernel: what compilers like to contract.

    Attributes:
        arrays: its operands, each followed by zeros that are added to it.
    """

    def __init__(self, op, wanted):
        self.op, self.dtype = op, dtype_of(op, wanted)
        self._function = None
        sample = max(self.fitting(), key=lambda s: sum(np.prod(shape) for shape in s.shapes))
        self.attrs = op.make_attrs(sample.attrs_for(self.dtype))
        if "device" in self.attrs:
            del self.attrs["device"]
        rng = np.random.default_rng(sum(map(ord, op.name)))
        domains = sample.domain
        if isinstance(domains, str):
            domains = (domains,) * len(sample.shapes)
        fixed = sample.dtypes or (None,) * len(sample.shapes)
        self.arrays = []
        for shape, domain, given in zip(sample.shapes, domains, fixed, strict=True):
            self.arrays.append(array(rng, domain, given or self.dtype, shape))
            self.arrays.append(np.zeros_like(self.arrays[-1]))

    def fitting(self):
        """The samples whose attributes and dtypes go with the dtype."""
        for sample in self.op.samples:
            try:
                self.op.make_attrs(sample.attrs_for(self.dtype))
            except realta.errors.RealtaError:
                continue
            yield sample

    def function(self, device):
        """The op as a function of the library, which runs at once outside of any context."""
        if self._function is None:
            attrs = {**self.attrs, "device": device} if "device" in self.op.attrs else self.attrs

            def body(*operands):
                return apply_many(self.op.name, *operands, **attrs)

            self._function = operation(body)
        return self._function

    def run(self, device, tensors):
        """What the op gives, and what follows it, as tensors."""
        operands = [
            x + zero if x.dtype.is_float else x
            for x, zero in zip(tensors[::2], tensors[1::2], strict=True)
        ]
        found = self.function(device)(*operands)
        return [*found, *[y * y + y for y in found if y.dtype.is_float]]


def packs(wanted):
    """The calls of the table, in packs."""
    calls = [Call(op, wanted) for op in TABLE]
    return [calls[n : n + PACK] for n in range(0, len(calls), PACK)]


def test_the_table_is_the_registry():
    assert len(TABLE) > 110
    assert {op.name for op in TABLE} >= {"exp", "sum", "softmax", "sort", "attention", "gather"}


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["cpu", "gpu"])
def test_every_op_has_the_same_bits_eager_fused_and_alone(found, monkeypatch, profile):
    monkeypatch.setenv("REALTA_OPENCL_PROFILE", profile)
    close_devices("opencl")
    device = f"opencl:{found.info.index}"
    wrong = []
    for calls in packs(float32):
        given = [[Tensor(x, device=device) for x in call.arrays] for call in calls]

        def table(*groups, calls=calls):
            return [call.run(device, group) for call, group in zip(calls, groups, strict=True)]

        forms = {
            "eager": table(*given),
            "fused": realta.compile(table)(*[[x.type for x in g] for g in given])(*given),
            "alone": F.functional(fuse="never")(table)(*given),
        }
        eager, *others = [
            [[x.numpy().tobytes() for x in results] for results in form] for form in forms.values()
        ]
        wrong += [
            (call.op.name, name)
            for name, other in zip(list(forms)[1:], others, strict=True)
            for call, a, b in zip(calls, eager, other, strict=True)
            if a != b
        ]
    close_devices("opencl")
    assert not wrong
