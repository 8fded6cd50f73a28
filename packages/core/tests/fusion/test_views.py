from realta.fusion import Rules
from realta.fusion.views import Views, chain, is_number_constant
from realta.graph import Region


def test_a_chain_leads_to_what_is_stored(write):
    b, x = write(f32=(2, 3))
    views = Views(Rules())
    nodes = [b.permute(x, axes=(1, 0))]
    nodes.append(b.reshape(nodes[0], shape=(6,)))
    assert all(views.takes(n) and views.add(n) for n in nodes)
    assert views.root(nodes[1]) is x
    assert chain(nodes[1], x) == nodes


def test_a_chain_that_is_too_long_starts_anew_for_what_follows_only(write):
    b, x = write(f32=(2, 3))
    views = Views(Rules(view_chain=1))
    first = b.permute(x, axes=(1, 0))
    second = b.permute(first, axes=(1, 0))
    assert views.add(first)
    assert not views.add(second)
    assert views.root(second) is first
    assert views.root(first) is x


def test_what_is_no_index_map(write):
    b, x = write(f32=(2, 3))
    assert not Views(Rules()).takes(b.exp(x))
    turned = b.permute(x, axes=(1, 0))
    assert not Views(Rules(alone=frozenset({"permute"}))).takes(turned)
    b.region = Region("apart", fuse="never")
    assert not Views(Rules()).takes(b.permute(x, axes=(1, 0)))
    assert Views(Rules()).takes(b.broadcast(x, shape=(4, 2, 3)))


def test_constants_of_one_element_are_literals(write):
    b, x = write(f32=(2,))
    assert is_number_constant(b.constant([[1.0]], x.type))
    assert not is_number_constant(b.constant([1.0, 2.0], x.type))
    assert not is_number_constant(x)
