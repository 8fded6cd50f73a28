import pytest
from realta.graph import Region
from realta.ops import Attributes
from realta.passes import CommonSubexpressions
from realta.passes.cse import bits_of


def test_sharing_without_memo_would_be_exponential(write):
    b, x = write(f32=(4,))
    left = right = x
    for _ in range(200):
        left, right = b.add(left, right), b.add(left, right)
    result = CommonSubexpressions().run(b.finish(left, right))
    assert len(result) == 200
    assert result.outputs[0] is result.outputs[1]


def test_operand_order_counts_unless_the_op_is_commutative(write):
    b, x = write(f32=(4,))
    y = b.exp(x)
    results = [b.add(x, y), b.add(y, x), b.sub(x, y), b.sub(y, x)]
    outputs = CommonSubexpressions().run(b.finish(*results)).outputs
    assert outputs[0] is outputs[1]
    assert outputs[2] is not outputs[3]


def test_work_in_different_regions_stays_apart_but_constants_are_shared(write):
    b, x = write(f32=(4,))
    made = []
    for name in ("a", "b"):
        b.region = Region(name)
        made.append(b.mul(x, b.const(3.0, like=x)))
    result = CommonSubexpressions().run(b.finish(*made))
    assert result.outputs[0] is not result.outputs[1]
    assert sum(n.op.name == "constant" for n in result.nodes) == 1


def test_all_results_of_equal_nodes_are_shared(write):
    b, x = write(f32=(5,))
    one, other = b.top_k(x, k=2, axis=0), b.top_k(x, k=2, axis=0)
    result = CommonSubexpressions().run(b.finish(one[1], other[1], other[0]))
    assert len(result) == 1
    assert result.outputs[0] is result.outputs[1]
    assert result.outputs[2] is result.nodes[0].outputs[0]


@pytest.mark.parametrize(("one", "other"), [(0.0, -0.0), (1, True), (1, 1.0)])
def test_attributes_that_python_calls_equal_stay_apart(one, other):
    assert one == other
    assert bits_of(Attributes(a=one)) != bits_of(Attributes(a=other))


def test_an_attribute_that_is_nan_equals_itself():
    one, other = float("nan"), float("nan")
    assert bits_of(Attributes(a=one)) == bits_of(Attributes(a=other))
