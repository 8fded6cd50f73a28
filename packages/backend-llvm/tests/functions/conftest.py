"""Functions compiled into loops over arrays, for every width."""

import ctypes
from functools import cache

import llvmlite.binding as llvm
import numpy as np
import pytest
from realta_llvm.functions import FUNCTIONS
from realta_llvm.functions.exponential import exp_not_positive
from realta_llvm.functions.numbers import function
from realta_llvm.lanes import Lanes
from realta_llvm.text import Body, Module

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

BINARY = {"pow", "atan2", "hypot", "logaddexp", "fmod"}
WRITTEN = {**FUNCTIONS, "exp_not_positive": function(exp_not_positive)}


def loop(module: Module, name: str, bits: int, width: int) -> str:
    """A function over arrays whose lengths are multiples of the width."""
    body = Body(module)
    lanes = Lanes(body, bits, width)
    operands = "xy" if name in BINARY else "x"
    body.lines += ["entry:", "  br label %next"]
    body.start("next")
    head = len(body.lines)
    places = [
        body.value(f"getelementptr {lanes.element}, ptr %{operand}, i64 %i", "ptr")
        for operand in (*operands, "out")
    ]
    given = [
        body.value(f"load {lanes.float_type}, ptr {place.text}, align 4", lanes.float_type)
        for place in places[:-1]
    ]
    found = WRITTEN[name](lanes, *given)
    body.add(f"store {found.type} {found.text}, ptr {places[-1].text}, align 4")
    body.add(f"%j = add i64 %i, {width}")
    body.add("%more = icmp ult i64 %j, %size")
    body.add("br i1 %more, label %next, label %done")
    body.lines.insert(head, f"  %i = phi i64 [ 0, %entry ], [ %j, %{body.label} ]")
    body.start("done")
    body.add("ret void")
    parameters = ", ".join(f"ptr %{operand}" for operand in (*operands, "out"))
    head_line = f"define void @over_{name}({parameters}, i64 %size) {{"
    return "\n".join([head_line, *body.lines, "}"])


@cache
def engine(bits: int, width: int):
    """All functions of a float type and a width, compiled."""
    module = Module()
    texts = [loop(module, name, bits, width) for name in WRITTEN]
    parsed = llvm.parse_assembly("\n".join([*texts, *module.lines()]))
    parsed.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=1
    )
    compiled = llvm.create_mcjit_compiler(parsed, machine)
    compiled.finalize_object()
    return compiled


def evaluate(name, width, *operands):
    """A function at arrays of float32 or float64, in vectors of a width."""
    dtype, size = operands[0].dtype, operands[0].size
    filled = [np.concatenate([x, np.full(-size % width, 0.5, dtype)]) for x in operands]
    out = np.empty_like(filled[0])
    address = engine(8 * dtype.itemsize, width).get_function_address(f"over_{name}")
    types = [*[ctypes.c_void_p] * (len(operands) + 1), ctypes.c_int64]
    call = ctypes.CFUNCTYPE(None, *types)(address)
    call(*[x.ctypes.data for x in (*filled, out)], out.size)
    return out[:size]


@pytest.fixture(name="evaluate")
def evaluate_fixture():
    return evaluate
