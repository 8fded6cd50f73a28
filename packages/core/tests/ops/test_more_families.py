"""Families loaded late: core's ops are all there whoever asks first, and their names are taken."""

import subprocess
import sys

import pytest

ASKING = {
    "get_op": "from realta.ops import get_op\nassert get_op('sort').name == 'sort'",
    "all_ops": "from realta.ops import all_ops\nassert 'sort' in {op.name for op in all_ops()}",
    "undefine": (
        "from realta.ops import find_op, undefine\nundefine('sort')\nassert find_op('sort') is None"
    ),
    "define": (
        "from realta.errors import ArgumentError\nfrom realta.ops import define\n"
        "try:\n    define('sort', rule=lambda x: x, reference=lambda x: x, doc='Mine.')\n"
        "except ArgumentError as error:\n    assert 'already defined' in error.what\n"
        "else:\n    raise SystemExit('the name was free')"
    ),
    "a family": "import realta.ops.draws\nassert realta.ops.find_op('sort').name == 'sort'",
}


@pytest.mark.parametrize("first", ASKING)
def test_late_families_are_there_when_asked_for(first: str) -> None:
    check = "import sys, realta\nassert 'realta.ops.sorting' not in sys.modules\n" + ASKING[first]
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
