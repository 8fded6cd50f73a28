"""What shares a kernel and what does not."""

import numpy as np
import pytest
from realta.errors import FusionError
from realta.fusion import Limits, Rules, plan
from realta.graph import Location, Region, graph_key


def kinds(plan):
    return [g.kind for g in plan.groups]


def members(group):
    return [n.op.name for n in group.nodes if group.levels[n] != "view"]


def sigmoid_chain(b, x, a, c):
    wide = [b.broadcast(v, shape=x.type.shape) for v in (a, c)]
    kept = b.maximum(b.add(b.mul(x, wide[0]), wide[1]), b.const(0.0, like=x))
    return b.sub(b.mul(kept, b.sigmoid(x)), b.const(0.5, like=x))


class TestElementwise:
    def test_a_chain_with_scalars_is_one_group(self, write, planned):
        b, x, a, c = write(f32=(1000,), f64=(), i32=())
        a, c = b.cast(a, dtype=x.type.dtype), b.cast(c, dtype=x.type.dtype)
        plan = planned(b, sigmoid_chain(b, x, a, c))
        assert kinds(plan)[-1] == "elementwise"
        assert len(plan) == 3  # the two casts of scalars, and the chain
        assert plan.groups[-1].shape == (1000,)
        assert len(plan.groups[-1].inputs) == 3
        assert len(plan.groups[-1].outputs) == 1

    def test_a_transposed_operand_is_read_by_an_index_map(self, write, planned):
        b, x, y = write(f32=(32, 64), f64=(64, 32))
        value = b.add(b.permute(x, axes=(1, 0)), b.cast(y, dtype=x.type.dtype))
        (group,) = planned(b, value).groups
        assert group.kind == "elementwise"
        assert members(group) == ["cast", "add"]
        assert [n.op.name for n in group.nodes if group.levels[n] == "view"] == ["permute"]

    def test_a_shared_subexpression_is_computed_once(self, write, planned):
        b, x = write(f32=(8,))
        e = b.exp(x)
        (group,) = planned(b, b.add(b.mul(e, e), b.neg(e))).groups
        assert members(group).count("exp") == 1

    def test_a_value_used_inside_and_outside_is_stored_by_the_same_kernel(self, write, planned):
        b, x = write(f32=(8,))
        e = b.exp(x)
        plan = planned(b, b.neg(e), b.sort(e, axis=0))
        first = plan.groups[0]
        assert members(first) == ["exp", "neg"]
        assert len(first.outputs) == 2

    def test_independent_work_on_one_tensor_shares_a_kernel(self, write, planned):
        b, x = write(f32=(8,))
        assert len(planned(b, b.exp(x), b.neg(x))) == 1
        assert len(planned(b, b.exp(x), b.neg(x), rules=Rules(siblings=False))) == 2

    def test_a_permuted_intermediate_is_stored_and_says_why(self, write, planned):
        b, x = write(f32=(4, 4))
        plan = planned(b, b.neg(b.permute(b.exp(x), axes=(1, 0))))
        assert kinds(plan) == ["elementwise", "elementwise"]
        assert "permute reads elements that other iterations compute" in plan.groups[1].reason

    def test_other_loops_are_another_kernel(self, write, planned):
        b, x = write(f32=(4, 1))
        plan = planned(b, b.neg(b.broadcast(b.exp(x), shape=(4, 9))))
        assert [g.shape for g in plan.groups] == [(4, 1), (4, 9)]
        assert plan.groups[1].boundaries[0].producer == 0

    def test_empty_tensors_are_planned(self, write, planned):
        b, x = write(f32=(0, 3))
        assert kinds(planned(b, b.neg(b.exp(x)))) == ["elementwise"]

    def test_a_hundred_doublings_are_one_kernel(self, write, planned):
        b, x = write(f32=(4,))
        value = x
        for _ in range(100):
            value = b.add(value, value)
        assert len(planned(b, value)) == 1


class TestRows:
    @pytest.mark.parametrize("axis", [0, 1])
    def test_softmax_is_one_row_kernel(self, write, planned, axis):
        b, x = write(f32=(64, 32))
        (group,) = planned(b, b.softmax(x, axis=axis)).groups
        assert (group.kind, group.shape, group.axes) == ("row", (64, 32), (axis,))
        levels = {n.op.name: group.levels[n] for n in group.nodes}
        assert levels["max"] == levels["sum"] == "row"
        assert levels["exp"] == levels["div"] == "full"

    def test_layer_norm_is_one_row_kernel(self, write, planned):
        b, x, w, c = write(f32=(64, 32), f64=(32,), f16=(32,))
        w, c = (b.cast(v, dtype=x.type.dtype) for v in (w, c))
        plan = planned(b, b.layer_norm(x, w, c, eps=1e-5))
        assert kinds(plan)[-1] == "row"
        assert kinds(plan).count("row") == 1
        assert members(plan.groups[-1]).count("sum") == 2

    def test_logsumexp_is_one_row_kernel(self, write, planned):
        b, x = write(f32=(64, 32))
        (group,) = planned(b, b.logsumexp(x, axes=(1,))).groups
        assert group.kind == "row"
        assert group.outputs[0].type.shape == (64,)

    def test_a_reduction_over_all_axes(self, write, planned):
        b, x = write(f32=(4, 8))
        (group,) = planned(b, b.softmax(b.reshape(x, shape=(32,)), axis=0)).groups
        assert (group.kind, group.axes, group.row_shape) == ("row", (0,), ())

    def test_a_mean_with_work_before_and_after_is_a_reduce_kernel(self, write, planned):
        b, x = write(f32=(4, 8))
        (group,) = planned(b, b.sqrt(b.mean(b.mul(x, x), axes=(1,)))).groups
        assert (group.kind, group.axes) == ("reduce", (1,))

    def test_kept_axes_are_stored_by_the_reduction(self, write, planned):
        b, x = write(f32=(4, 8))
        kept = b.reshape(b.sum(x, axes=(1,)), shape=(4, 1))
        (group,) = planned(b, kept).groups
        assert group.kind == "reduce"
        assert group.outputs == (group.nodes[-1],)
        assert group.source(group.outputs[0]).op.name == "sum"

    def test_several_reductions_over_the_same_axes_share_a_kernel(self, write, planned):
        b, x = write(f32=(4, 8))
        results = b.max(x, axes=(1,)), b.min(x, axes=(1,)), b.argmax(x, axis=1)
        (group,) = planned(b, *results).groups
        assert (group.kind, len(group.outputs)) == ("reduce", 3)

    def test_reductions_over_other_axes_do_not(self, write, planned):
        b, x = write(f32=(4, 8))
        e = b.exp(x)
        plan = planned(b, b.sum(e, axes=(0,)), b.sum(e, axes=(1,)))
        assert kinds(plan) == ["reduce", "reduce"]
        assert "it reduces axes [1], the kernel before it axes [0]" in plan.groups[1].reason

    def test_a_reduction_of_reductions_is_another_kernel(self, write, planned):
        b, x = write(f32=(4, 8))
        plan = planned(b, b.sum(b.max(x, axes=(1,)), axes=(0,)))
        assert [(g.shape, g.axes) for g in plan.groups] == [((4, 8), (1,)), ((4,), (0,))]

    def test_rows_too_long_to_be_kept_are_not_read_twice(self, write, planned):
        b, x = write(f32=(2, 100))
        value = b.softmax(x, axis=1)
        assert len(planned(b, value, rules=Rules(row_elements=100))) == 1
        plan = planned(b, value, rules=Rules(row_elements=99))
        assert len(plan) > 1
        assert "rows of 100 elements are too long" in plan.groups[1].reason

    def test_a_value_per_row_from_outside_is_an_input(self, write, planned):
        b, x, s = write(f32=(4, 8), f64=(4,))
        s = b.barrier(b.cast(s, dtype=x.type.dtype))
        wide = b.broadcast(b.reshape(s, shape=(4, 1)), shape=(4, 8))
        plan = planned(b, b.sum(b.mul(x, wide), axes=(1,)))
        assert kinds(plan)[-1] == "reduce"
        assert len(plan.groups[-1].inputs) == 2

    def test_rows_of_one_element(self, write, planned):
        b, x = write(f32=(5, 1))
        assert kinds(planned(b, b.softmax(x, axis=1))) == ["row"]


class TestContractions:
    def test_linear_with_relu_is_one_kernel(self, write, planned):
        b, x, w, c = write(f32=(64, 32), f64=(16, 32), f16=(16,))
        w, c = (b.barrier(b.cast(v, dtype=x.type.dtype)) for v in (w, c))
        y = b.matmul(x, b.permute(w, axes=(1, 0)))
        plan = planned(b, b.relu(b.add(y, b.broadcast(c, shape=(64, 16)))))
        group = plan.groups[-1]
        assert (group.kind, group.shape) == ("contraction", (64, 16))
        assert members(group) == ["dot_general", "add", "maximum"]

    def test_operands_of_a_contraction_are_stored(self, write, planned):
        b, x = write(f32=(4, 4))
        plan = planned(b, b.matmul(b.exp(x), x))
        assert kinds(plan) == ["elementwise", "contraction"]
        assert "reads each operand many times" in plan.groups[1].reason

    def test_a_reduction_after_a_contraction_is_another_kernel(self, write, planned):
        b, x = write(f32=(4, 4))
        plan = planned(b, b.sum(b.neg(b.matmul(x, x)), axes=(1,)))
        assert kinds(plan) == ["contraction", "reduce"]

    def test_a_residual_reads_the_other_branch(self, write, planned):
        b, x = write(f32=(4, 4))
        h = b.exp(x)
        plan = planned(b, b.add(h, b.matmul(h, x)))
        assert kinds(plan) == ["elementwise", "contraction"]
        assert members(plan.groups[1]) == ["dot_general", "add"]

    def test_a_device_without_epilogues(self, write, planned):
        b, x = write(f32=(4, 4))
        rules = Rules(joins=frozenset({("elementwise", "elementwise")}))
        plan = planned(b, b.neg(b.matmul(x, x)), b.sum(b.exp(x), axes=(0,)), rules=rules)
        assert sorted(kinds(plan)) == ["contraction", "elementwise", "elementwise", "reduce"]


class TestCycles:
    def test_a_diamond_with_a_reduction_between(self, write, planned):
        b, x = write(f32=(4, 8))
        e = b.exp(x)
        total = b.sum(b.sum(e, axes=(1,)), axes=(0,))
        plan = planned(b, b.div(e, b.broadcast(total, shape=(4, 8))))
        assert kinds(plan) == ["reduce", "reduce", "elementwise"]

    def test_a_diamond_with_a_sort_between(self, write, planned):
        b, x = write(f32=(8,))
        e = b.exp(x)
        plan = planned(b, b.add(e, b.sort(e, axis=0)))
        assert kinds(plan) == ["elementwise", "single", "elementwise"]

    def test_producers_that_need_each_other_are_not_merged(self, write, planned):
        b, x = write(f32=(8,))
        first = b.exp(x)
        last = b.neg(b.sort(first, axis=0))
        plan = planned(b, b.add(b.sqrt(first), last))
        assert kinds(plan) == ["elementwise", "single", "elementwise"]
        assert members(plan.groups[0]) == ["exp", "sqrt"]
        assert members(plan.groups[2]) == ["neg", "add"]

    def test_a_kernel_moves_behind_what_its_new_member_needs(self, write, planned):
        b, x, y = write(f32=(8,), f64=(8,))
        late = b.sort(b.cast(y, dtype=x.type.dtype), axis=0)
        plan = planned(b, b.add(b.exp(x), b.sort(late, axis=0)))
        assert members(plan.groups[-1]) == ["exp", "add"]

    def test_a_kernel_stays_before_those_that_read_it_through_an_index_map(self, write, planned):
        b, x, y = write(f32=(4, 8), f64=(8, 4))
        first = b.exp(x)
        late = b.sort(b.cast(y, dtype=x.type.dtype), axis=0)
        between = b.add(b.neg(late), b.permute(first, axes=(1, 0)))
        plan = planned(b, b.mul(first, b.permute(between, axes=(1, 0))))
        assert members(plan.groups[-1]) == ["mul"]


class TestRegions:
    def test_ops_of_different_regions_do_not_share_a_kernel(self, write, planned):
        b, x = write(f32=(8,))
        b.region = Region("one")
        value = b.exp(x)
        b.region = Region("two")
        value = b.neg(value)
        b.region = None
        plan = planned(b, b.sqrt(value))
        assert [g.region and g.region.name for g in plan.groups] == ["one", "two", None]
        assert "it is in the region 'two', the kernel before it in the region 'one'" in (
            plan.groups[1].reason
        )

    def test_never_makes_each_op_a_kernel(self, write, planned):
        b, x = write(f32=(4, 8))
        b.region = Region("apart", fuse="never")
        value = b.exp(b.mul(x, b.const(2.0, like=x)))
        value = b.sum(b.permute(value, axes=(1, 0)), axes=(0,))
        plan = planned(b, value)
        assert [members(g) or ["permute"] for g in plan.groups] == [
            ["mul"], ["exp"], ["permute"], ["sum"],
        ]  # fmt: skip
        assert "the region 'apart' has fuse=\"never\"" in plan.groups[1].reason

    def test_must_is_content_with_one_kernel(self, write, planned):
        b, x, y = write(f32=(4, 8), f64=(4, 8))
        b.region = Region("whole", fuse="must")
        plan = planned(b, b.softmax(x, axis=1), b.neg(y), rules=Rules(members=2))
        assert len(plan) == 1

    def test_must_names_the_op_that_splits_and_its_line(self, write, planned):
        b, x = write(f32=(8,))
        b.region = Region("block", fuse="must")
        value = b.exp(x)
        b.where = Location(None, 0, "model.py:12")
        value = b.sort(value, axis=0)
        b.where = Location(None, 0, "model.py:13")
        with pytest.raises(FusionError) as error:
            planned(b, b.neg(value))
        text = str(error.value)
        assert "the region 'block' has fuse=\"must\" but takes 3 kernels" in text
        assert "sort splits it (sort is a kernel of its own)" in text
        assert "sort(f32[8]) at model.py:12" in text
        assert 'fuse="may"' in text

    def test_must_with_unconnected_loops(self, write, planned):
        b, x, y = write(f32=(8,), f64=(9,))
        b.region = Region("block", fuse="must")
        with pytest.raises(FusionError, match="neg splits it"):
            planned(b, b.exp(x), b.neg(y))

    def test_work_around_a_must_region_does_not_disturb_it(self, write, planned):
        b, x = write(f32=(8,))
        before = b.sort(x, axis=0)
        b.region = Region("block", fuse="must")
        value = b.exp(b.neg(before))
        b.region = None
        assert len(planned(b, b.sort(value, axis=0))) == 3

    def test_nothing_is_computed_on_both_sides_of_a_barrier(self, write, planned):
        b, x = write(f32=(8,))
        plan = planned(b, b.neg(b.barrier(b.exp(x))))
        assert [members(g) for g in plan.groups] == [["exp"], ["neg"]]
        assert plan.groups[1].reason == "a barrier stands between them"
        assert plan.groups[1].boundaries[0].node.op.name == "barrier"

    def test_must_with_a_barrier(self, write, planned):
        b, x = write(f32=(8,))
        b.region = Region("block", fuse="must")
        with pytest.raises(FusionError, match="barrier splits it"):
            planned(b, b.neg(b.barrier(b.exp(x))))


class TestStoring:
    def test_outputs_that_are_inputs_take_no_kernel(self, write, planned):
        b, x = write(f32=(8,))
        plan = planned(b, x, b.neg(b.neg(x)))
        assert len(plan) == 0

    def test_an_output_that_is_a_constant_takes_one(self, write, planned):
        b, x = write(f32=())
        assert kinds(planned(b, b.const(2.0, like=x))) == ["single"]

    def test_an_output_that_is_an_index_map_is_stored(self, write, planned):
        b, x = write(f32=(2, 3))
        plan = planned(b, b.permute(x, axes=(1, 0)), b.permute(b.exp(x), axes=(1, 0)))
        assert sorted(kinds(plan)) == ["elementwise", "movement", "movement"]

    def test_a_reshaped_result_is_stored_by_its_kernel(self, write, planned):
        b, x = write(f32=(2, 3))
        (group,) = planned(b, b.reshape(b.exp(x), shape=(6,))).groups
        assert [v.type.shape for v in group.outputs] == [(6,)]

    def test_large_constants_are_inputs_and_listed(self, write, planned):
        b, x = write(f32=(3,))
        table = b.constant(np.array([1.0, 2.0, 3.0]), x.type)
        plan = planned(b, b.add(x, b.mul(table, b.const(2.0, like=x))))
        assert [n.type.shape for n in plan.constants] == [(3,)]
        assert plan.constants[0] in plan.groups[0].inputs

    def test_other_ops_read_stored_operands(self, write, planned):
        b, x = write(f32=(4, 4))
        plan = planned(b, b.sort(b.permute(b.exp(x), axes=(1, 0)), axis=0))
        assert kinds(plan) == ["elementwise", "movement", "single"]
        assert plan.groups[2].nodes[0].operands == plan.groups[2].inputs

    def test_all_results_of_an_op_belong_to_its_group(self, write, planned):
        b, x = write(f32=(5,))
        values, places = b.top_k(x, k=2, axis=0)
        plan = planned(b, values, b.neg(places), keeps=lambda n: n.op.name == "top_k")
        assert kinds(plan) == ["single", "elementwise"]
        assert len(plan.groups[0].outputs) == 2

    def test_concat_and_pad_read_index_maps(self, write, planned):
        b, x = write(f32=(2, 3))
        turned = b.permute(x, axes=(1, 0))
        joined = b.concat(turned, turned, axis=0)
        padded = b.pad(joined, b.constant(1.0, x.type.with_shape(())), low=(0, 1), high=(0, 0))
        plan = planned(b, padded)
        assert kinds(plan) == ["movement", "movement"]
        assert len(plan.groups[1].inputs) == 1


class TestSize:
    def test_a_long_chain_is_cut_at_the_largest_kernel(self, write, planned):
        b, x = write(f32=(2,))
        value = x
        for _ in range(50):
            value = b.sin(b.exp(value))
        plan = planned(b, value, rules=Rules(members=30))
        assert [len(g.nodes) for g in plan.groups] == [30, 30, 30, 10]
        assert plan.groups[1].reason == "a kernel has at most 30 ops"

    @pytest.mark.slow
    def test_300_000_ops_are_planned_without_recursion(self, write):
        b, x = write(f32=(2,))
        value = x
        for _ in range(300_000):
            value = b.sin(value)
        made = plan(b.finish(value))
        assert sum(len(g.nodes) for g in made.groups) == 300_000
        assert max(len(g.nodes) for g in made.groups) == Rules().members

    def test_long_chains_of_index_maps_are_stored_in_between(self, write, planned):
        b, x = write(f32=(2, 3))
        value = x
        for n in range(40):
            value = b.permute(value, axes=(1, 0))
            value = b.reshape(value, shape=(2, 3) if n % 2 else (3, 2))
            value = (
                b.slice(value, start=(1, 0), stop=(-1, value.type.shape[1]), step=(-1, 1))
                if (value.type.shape[0] == 2)
                else value
            )
        made = planned(b, b.neg(value))
        assert max(len(g.nodes) for g in made.groups) <= Rules().view_chain + 1
        assert kinds(made)[-1] == "elementwise"

    def test_what_is_stored_of_a_long_chain_starts_from_what_was_stored(self, write):
        b, x = write(f32=(2, 3))
        value = b.exp(x)
        for _ in range(3):
            value = b.permute(value, axes=(1, 0))
        groups = plan(b.finish(value), rules=Rules(view_chain=1)).groups
        assert [len(g.nodes) for g in groups] == [1, 1, 1, 1]
        assert all(g.boundaries for g in groups[1:])

    @pytest.mark.parametrize("count", [40, 3000])
    @pytest.mark.parametrize("limits", [Limits(arguments=31), Limits(parameter_bytes=256)])
    def test_many_inputs_are_split_under_the_argument_limit(self, write, planned, count, limits):
        b, x = write(f32=(8,))
        inputs = [b.input(x.type) for _ in range(count)]
        value = x
        for other in inputs:
            value = b.add(value, other)
        plan = planned(b, value, limits=limits)
        most = limits.arguments or limits.parameter_bytes // 8
        counts = [len(g.inputs) + len(g.outputs) for g in plan.groups]
        assert max(counts) <= most
        assert len(plan) <= count // (most - 2) + 10
        assert all("arguments" in g.reason or "ops" in g.reason for g in plan.groups[1:])

    def test_many_inputs_in_a_region_that_must_be_one_kernel(self, write, planned):
        b, x = write(f32=(8,))
        inputs = [b.input(x.type) for _ in range(40)]
        b.region = Region("sum", fuse="must")
        value = x
        for number, other in enumerate(inputs):
            b.where = Location(None, 0, f"model.py:{number}")
            value = b.add(value, other)
        assert len(planned(b, value)) == 1
        with pytest.raises(FusionError, match="has at most 31 arguments") as error:
            planned(b, value, limits=Limits(arguments=31))
        assert "model.py:29" in str(error.value)

    @pytest.mark.parametrize("most", [1, 2, 3, 4, 5])
    def test_tiny_limits(self, write, planned, most, assert_plan_computes_the_graph):
        b, x = write(f32=(4, 8))
        value = b.softmax(b.mul(x, b.exp(x)), axis=1)
        plan = planned(b, value, b.sum(value, axes=(1,)), limits=Limits(arguments=most))
        for group in plan.groups:
            arguments = len(group.inputs) + len(group.outputs)
            assert arguments <= max(most, 3) or len(members(group)) == 1
        assert_plan_computes_the_graph(plan, [np.ones((4, 8), np.float32)])

    def test_planning_is_deterministic(self, write, planned):
        texts = []
        for _ in range(2):
            b, x = write(f32=(4, 8))
            plan = planned(b, b.softmax(b.matmul(x, b.permute(x, axes=(1, 0))), axis=1), b.exp(x))
            names = {n: i for i, n in enumerate(plan.graph.nodes)}
            texts.append([[names[n] for n in g.nodes] for g in plan.groups])
            assert graph_key(plan.graph)
        assert texts[0] == texts[1]
