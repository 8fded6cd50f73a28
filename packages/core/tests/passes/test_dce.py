import pytest
from realta.ops import OpKind, define, undefine
from realta.passes import DeadCodeElimination


@pytest.fixture
def note():
    op = define(
        "test.note",
        kind=OpKind.EFFECT,
        rule=lambda x: x,
        reference=lambda x: x,
        doc="Writes a note.",
    )
    yield op
    undefine("test.note")


def test_what_no_output_needs_goes_and_inputs_stay(write):
    b, x, y = write(f32=(4,), i32=())
    b.exp(x)
    kept = b.neg(x)
    result = DeadCodeElimination().run(b.finish(kept))
    assert result.nodes == (kept,)
    assert result.inputs == (x, y)


def test_effects_keep_what_they_need(write, note):
    b, x = write(f32=(4,))
    needed = b.exp(x)
    effect = b.add_node(note, (needed,))
    b.log(x)
    assert DeadCodeElimination().run(b.finish(x)).nodes == (needed, effect)


def test_a_graph_without_dead_nodes_is_returned_as_it_is(write):
    b, x = write(f32=(4,))
    graph = b.finish(b.exp(x))
    assert DeadCodeElimination().run(graph) is graph


def test_control_flow_with_an_effect_inside_stays(write):
    def chosen(body):
        b, p, x = write(bool=(), f32=(4,))
        inner, _, y = write(bool=(), f32=(4,))
        inner.inputs = [y]
        body(inner, y)
        graph = inner.finish(y)
        b.cond(p, x, then=graph, otherwise=graph)
        return DeadCodeElimination().run(b.finish(x)).nodes

    assert not chosen(lambda b, x: b.exp(x))
    assert [node.op.name for node in chosen(lambda b, x: b.print(x))] == ["cond"]
