"""The op reference: every op once, and the page in the repository is what the registry says."""

import re

from realta.ops import all_ops

from tools import gen_reference


def test_every_op_has_one_section():
    text = gen_reference.ops_page()
    for op in all_ops():
        if "." not in op.name:
            assert len(re.findall(rf"^##+ `?{op.name}`?$", text, re.MULTILINE)) == 1
            assert op.doc in text


def test_composites_show_their_decomposition():
    text = gen_reference.ops_page()
    graph = text.split("graph sigmoid(", 1)[1].split("```", 1)[0]
    assert "exp(" in graph
    assert "sub(" not in graph
