"""Attention on machines: the kernel rendered gets what the reference does."""

import numpy as np
import pytest
from realta.codegen.singles import SINGLES
from realta.fusion import Limits
from realta.graph import Input, Node
from realta.ops import get_op
from realta.types import TensorType, as_dtype, float16, float32


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("dtype", "bound"), [(float32, 2e-6), (float16, 2e-3)])
def test_attention_on_machines(machine, dtype, bound, causal):
    random = np.random.default_rng(0)
    arrays = [
        random.standard_normal(shape).astype(dtype.numpy)
        for shape in ((2, 37, 40), (2, 70, 40), (2, 70, 37))
    ]
    op = get_op("attention")
    operands = tuple(Input(TensorType(as_dtype(a.dtype), a.shape)) for a in arrays)
    node = Node(op, operands, op.make_attrs({"scale": 0.25, "causal": causal}))
    (launch,) = SINGLES["attention"](node, machine.profile, Limits()).launches
    memory = {x: a.reshape(-1) for x, a in zip(operands, arrays, strict=True)}
    out = memory[node] = np.zeros(node.type.size, dtype.numpy)
    machine.run([launch.kernel], [[memory[argument] for argument in launch.arguments]])
    wanted = op.reference(*arrays, scale=0.25, causal=causal).reshape(-1)
    np.testing.assert_allclose(
        out.astype(np.float64), wanted.astype(np.float64), rtol=0, atol=bound
    )
