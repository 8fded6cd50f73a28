import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from realta.errors import ParseError
from realta.graph import Builder, parse, print_graph
from realta.types import BY_SHORT, TensorType


def graph_of(body, head="%x: f32[3]", end="return %0"):
    return f"graph f({head}) {{\n  {body}\n  {end}\n}}\n"


def test_the_example_of_the_spec(linear):
    found = parse(str(linear))
    assert found == linear
    assert str(found) == str(linear)
    assert [found.input_name(v) for v in found.inputs] == ["x", "w", "b"]


def test_what_a_person_writes():
    found = parse("""
        ; a graph with names of its own
        graph f ( %x : f32[ 3 ] , %y:f32[3] )
        {   %sum : f32[3]=add( %x,%y )  ; results may be named
            %high, %where: f32[1], i64[1] = top_k(%sum, axis=0, k=1, largest=true)
            return %where, %high }
    """)
    assert str(found) == (
        "graph f(%x: f32[3], %y: f32[3]) {\n"
        "  %0: f32[3] = add(%x, %y)\n"
        "  %1, %2: f32[1], i64[1] = top_k(%0, k=1, axis=0)\n"
        "  return %2, %1\n"
        "}"
    )


def test_names_survive():
    b = Builder("<lambda>")
    for name in ("x", "", "layer.0.weight", 'two "words"', "arg4"):
        b.input(TensorType("float32", (3,)), name)
    found = parse(str(b.finish()))
    assert found.name == "<lambda>"
    assert [v.name for v in found.inputs] == ["x", "", "layer.0.weight", 'two "words"', ""]


def test_locations_survive_and_files_are_named():
    text = graph_of('%0: f32[3] = sin(%x) loc("model.py:12")')
    assert str(parse(text).nodes[0].location) == "model.py:12"
    assert parse(graph_of("%0: f32[3] = sin(%x)")).nodes[0].location is None
    located = parse(graph_of("%0: f32[3] = sin(%x)"), source="f.graph").nodes[0].location
    assert (located.file, located.line) == ("f.graph", 2)


def test_a_region_survives():
    text = graph_of(
        '%0: f32[3] = sin(%x) region=r0(name="a", fuse="never", numerics="fast") loc("m.py:1")\n'
        '  %1: f32[3] = sin(%0) region=r0 loc("m.py:2")'
    )
    graph = parse(text)
    first, second = (n.region for n in graph.nodes)
    assert first is second
    assert (first.name, first.fuse, first.numerics) == ("a", "never", "fast")
    assert print_graph(graph, locations=True) == text.strip()


def test_devices_with_odd_names():
    b = Builder()
    b.input(TensorType("float32", (3,), "opencl:Portable Computing"))
    graph = b.finish()
    assert '@"opencl:Portable Computing"' in str(graph)
    assert parse(str(graph)) == graph


def test_a_constant_that_the_text_does_not_carry():
    b = Builder()
    b.constant(np.arange(17), TensorType("int64", (17,)))
    with pytest.raises(ParseError, match=r"the text does not carry the constant #[0-9a-f]{16}"):
        parse(str(b.finish()))


def test_a_number_attribute_keeps_its_bits():
    b = Builder()
    x = b.input(TensorType("float32", (2, 3)))
    for correction in (0.1, -0.0, 5e-324, math.inf, math.nan, 1):
        b.var(x, axes=(0,), correction=correction)
    graph = b.finish()
    assert parse(str(graph)) == graph


GOLDEN = {
    "unknown_op": (
        graph_of("%0: f32[3] = sine(%x)"),
        (
            "there is no op named 'sine'\n"
            "  where: text:2:16\n"
            "      %0: f32[3] = sine(%x)\n"
            "                   ^\n"
            "  fix: did you mean 'sin'?"
        ),
    ),
    "missing_comma": (
        graph_of("%0: f32[3] = add(%x %x)"),
        (
            "expected ')' after the arguments, found '%x'\n"
            "  where: text:2:23\n"
            "      %0: f32[3] = add(%x %x)\n"
            "                          ^\n"
            "  fix: put ')' there"
        ),
    ),
    "wrong_type": (
        graph_of("%0: f32[4] = add(%x, %x)"),
        (
            "the line says f32[4], but add gives f32[3]\n"
            "  where: text:2:7\n"
            "      %0: f32[4] = add(%x, %x)\n"
            "          ^\n"
            "  fix: write f32[3]"
        ),
    ),
    "undefined_value": (
        graph_of("%0: f32[3] = add(%x, %y)"),
        (
            "%y is not defined before it is used\n"
            "  where: text:2:24\n"
            "      %0: f32[3] = add(%x, %y)\n"
            "                           ^\n"
            "  fix: define it in a line above, or make it an input"
        ),
    ),
    "defined_twice": (
        graph_of("%x: f32[3] = neg(%x)"),
        (
            "%x is defined twice\n"
            "  where: text:2:3\n"
            "      %x: f32[3] = neg(%x)\n"
            "      ^\n"
            "  fix: give every value its own name"
        ),
    ),
    "unknown_attribute": (
        graph_of("%0: f32[] = sum(%x, axis=[0])"),
        (
            "sum has no attribute 'axis'\n"
            "  where: text:2:23\n"
            "      %0: f32[] = sum(%x, axis=[0])\n"
            "                          ^\n"
            "  fix: its attributes are axes"
        ),
    ),
    "operands_do_not_fit": (
        graph_of("%0: f32[3] = add(%x, %y)", "%x: f32[3], %y: f32[4]"),
        (
            "the operands have the shapes (3,) and (4,)\n"
            "  where: text:2:16\n"
            "      %0: f32[3] = add(%x, %y)\n"
            "                   ^\n"
            "  fix: broadcast them to one shape"
        ),
    ),
    "no_graph": (
        "\n{}",
        (
            "expected 'graph', found '{'\n"
            "  where: text:2:1\n"
            "    {}\n"
            "    ^\n"
            "  fix: a graph text begins with: graph name(%x: f32[2, 3]) {"
        ),
    ),
    "cut_short": (
        "graph f(%x: f32[3]) {\n  %0: f32[3] = sin(",
        (
            "expected a value such as %0, found the end of the text\n"
            "  where: text:2:20\n"
            "      %0: f32[3] = sin(\n"
            "                       ^\n"
            "  fix: write it as in: %0: f32[3] = add(%x, %y)"
        ),
    ),
    "tabs": (
        "graph f() {\n\t%0: f33[] = x()\n}",
        (
            "'f33' is no element type\n"
            "  where: text:2:6\n"
            "    \t%0: f33[] = x()\n"
            "    \t    ^\n"
            f"  fix: use one of {', '.join(BY_SHORT)}"
        ),
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_error_texts(name):
    text, message = GOLDEN[name]
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert str(caught.value) == message


def test_errors_name_the_file():
    with pytest.raises(ParseError) as caught:
        parse("graph f {", source="models/f.graph")
    assert caught.value.where.startswith("models/f.graph:1:9\n")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (graph_of("%0: f32[-1] = sin(%x)"), "an extent cannot be negative"),
        (graph_of("%0: f32[3 +] = sin(%x)"), "'3 +' is not an extent"),
        (graph_of("%0: f32[3 = sin(%x)"), "expected a type such as"),
        (graph_of("%0, %1: f32[3] = sin(%x)"), "2 result(s) have 1 type(s)"),
        (graph_of("sin(%x)"), "the line says no result, but sin gives f32[3]"),
        (graph_of("%0: f32[3] = sin(%x) extra"), "there is no op named 'extra'"),
        (graph_of("%0: f32[3] = sin(%x, %x)"), "sin takes 1 operand(s), got 2"),
        (graph_of("%0: f32[] = sum(axes=[0], %x)"), "expected an attribute, found '%x'"),
        (graph_of("%0: f32[] = sum(%x, axes=0)"), "expected '[' after '=', found '0'"),
        (graph_of("%0: f32[] = sum(%x, axes=[0)"), "expected ']' after the list"),
        (graph_of("%0: f32[] = sum(%x, axes=[0], axes=[0])"), "'axes' is given twice"),
        (graph_of("%0: f32[] = sum(%x)"), "sum needs the attribute 'axes'"),
        (graph_of("%0: f32[] = sum(%x, axes=[1])"), "axis 1 is out of range"),
        (graph_of("%0: f32[3] = cumsum(%x, axis=0, reverse=yes)"), "expected true or false"),
        (graph_of("%0: f32[3] = gelu(%x, approximate=tanh)"), "expected a string in double quotes"),
        (graph_of('%0: f32[3] = gelu(%x, approximate="\\q")'), "an escape that JSON does not have"),
        (graph_of("%0: i8[3] = cast(%x, dtype=int8)"), "'int8' is no element type"),
        (graph_of("%0: f32[3] = rms_norm(%x, %x, eps=true)"), "expected a number"),
        (graph_of("%0: u8[] = constant(value=u8[] 256)"), "256 does not fit uint8"),
        (graph_of("%0: u8[] = constant(value=u8[] 1.5)"), "1.5 is not an integer"),
        (graph_of("%0: u8[] = constant(value=u8[] true)"), "true is no value of uint8"),
        (graph_of("%0: bool[] = constant(value=bool[] 1)"), "1 is no value of bool"),
        (graph_of("%0: f32[2] = constant(value=f32[2] [1.0])"), "has 2 element(s), but 1 are"),
        (graph_of("%0: f32[2] = constant(value=f32[2] [1.0 2.0])"), "after the elements"),
        (graph_of("%0: f32[] = constant(value=f32[1000000, 1000000, 1000000] [1.0])"), "but 1 are"),
        (graph_of(f"%0: u8[] = constant(value=u8[] {'9' * 5000})"), "too many digits"),
        (graph_of(f"%0: f32[] = sum(%x, axes=[{'9' * 5000}])"), "too many digits"),
        (graph_of(f"%0: f32[{'9' * 5000}] = sin(%x)"), "is not an extent"),
        (graph_of("%0: f32[1] = constant(value=f32[1] [nan:0x1])"), "are not the bits of a NaN"),
        (graph_of("%0: f32[1] = constant(value=f32[1] [nan:0x7fc0000000])"), "has no such NaN"),
        (graph_of("%0: f32[n] = constant(value=f32[n] [])"), "has integer extents"),
        (graph_of("%0: f32[3] = sin(%x) region=r0"), "the region r0 is not described"),
        (graph_of('%0: f32[3] = sin(%x) region=r0(fuse="yes")'), "is not described rightly"),
        (graph_of("%0: f32[3] = sin(%x) region=r0(fuse=may)"), "expected a string"),
        (graph_of("%0: f32[3] = sin(%x) loc(12)"), "expected a string"),
        (graph_of("%0: f32[3] = sin(%x)", end="return %1"), "%1 is not defined"),
        (graph_of("%0: f32[3] = sin(%x)", end=""), "expected an op, '%' or 'return', found '}'"),
        (graph_of("%0: f32[3] = sin(%x)") + "graph", "expected the end of the text"),
        ("graph f(x: f32[3]) {", "expected an input such as %x"),
        ("graph (%x: f32[3]) {", "expected the name of the graph"),
        ("", "expected 'graph', found the end of the text"),
    ],
    ids=range(41),
)  # fmt: skip
def test_texts_that_do_not_parse(text, what):
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert what in caught.value.what
    lines = caught.value.where.splitlines()
    assert lines[0].startswith("text:")
    assert lines[2].strip() == "^"


@given(st.data())
def test_any_text_parses_or_raises_a_parse_error(data):
    text = graph_of(
        '%0, %1: f32[2], i64[2] = top_k(%x, k=2, axis=0) region=r0(name="a") loc("m.py:1")\n'
        "  %2: f32[2] = constant(value=f32[2] [1.5, nan:0x7fc00001]) ; comment"
    )
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(start + 4, len(text))))
        text = (
            text[:start]
            + data.draw(st.text('%()[]{}=,:;"\\\n .-0x1anr@#\t', max_size=2))
            + text[end:]
        )
    try:
        parse(text)
    except ParseError:
        return
