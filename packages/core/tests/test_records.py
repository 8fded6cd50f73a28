"""Records: immutable, compared by value, shown with their fields."""

import copy
import pickle

import pytest
from realta.codegen.indices import Axis, leaves
from realta.codegen.ir import Tree
from realta.graph import Location, Region
from realta.tensor.display import PrintOptions


def test_records_are_equal_by_value_and_class() -> None:
    assert Location(None, 2, "a:1") == Location(None, 2, "a:1")
    assert hash(Location(None, 2, "a:1")) == hash(Location(None, 2, "a:1"))
    assert Location(None, 2, "a:1") != Location(None, 3, "a:1")
    assert Location(None, 2, "a:1") != (None, 2, "a:1")
    assert Location(None, 2) != PrintOptions()


def test_a_region_is_itself_only() -> None:
    one = Region("a")
    assert one == one
    assert one != Region("a")
    assert len({one, Region("a"), one}) == 2


def test_records_do_not_change() -> None:
    options = PrintOptions(precision=2)
    with pytest.raises(AttributeError, match="PrintOptions cannot be changed"):
        options.precision = 3
    with pytest.raises(AttributeError, match="neither can its precision"):
        del options.precision
    assert options.precision == 2


def test_records_show_their_fields_in_the_order_of_arguments() -> None:
    assert repr(Location(None, 2, "a:1")) == "Location(code=None, instruction=2, text='a:1')"
    assert repr(Region("a")) == "Region(name='a', fuse='may', numerics='exact', location=None)"


def test_records_are_copied_and_pickled() -> None:
    options = PrintOptions(linewidth=40)
    assert pickle.loads(pickle.dumps(options)) == options
    assert copy.deepcopy(options) == options


def test_a_record_with_computed_fields_is_pickled_by_its_fields() -> None:
    index = Axis("i", 3) * 4 + 1
    back = pickle.loads(pickle.dumps(index))
    assert back == index
    assert (back.low, back.high) == (1, 9)
    assert pickle.loads(pickle.dumps(Tree(16, 512))) == Tree(16, 512)


def test_what_is_remembered_is_no_field():
    index, same = Axis("i", 3) * 4 + 1, Axis("i", 3) * 4 + 1
    shown = repr(index)
    assert hash(index) == hash(same)
    assert leaves(index) == (Axis("i", 3),)
    assert index == same
    assert repr(index) == shown
    assert pickle.loads(pickle.dumps(index)) == same
