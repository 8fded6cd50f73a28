from realta.codegen.indices import Axis, Position, greatest, least
from realta.codegen.ir import (
    Allocate,
    Apply,
    Barrier,
    Buffer,
    Const,
    FromIndex,
    If,
    Kernel,
    Let,
    Load,
    Store,
    Var,
)
from realta.codegen.ir import Compare as Less
from realta.codegen.printer import expr_text, index_text, print_kernel
from realta.types import bool_, float16, float32, int64, uint8


def test_a_kernel_reads_like_a_small_program(column_sums):
    assert print_kernel(column_sums) == (
        "kernel sums: 2 groups of 4 lanes\n"
        "  ; each group sums 24 elements\n"
        "  input x0: f16[37]\n"
        "  output y0: f32[2]\n"
        "  var acc0: f32 = f32(-0.0)\n"
        "  for chunk0 in 0..6:\n"
        "    x1: f32 = x0[group*24 + chunk0*4 + lane] where (group*24 + chunk0*4 + lane < 37) "
        "else f32(0.0)\n"
        "    acc0 := add(acc0, x1)\n"
        "  total0: f32 = fold add(acc0) across 4 lanes\n"
        "  y0[group] <- total0 where lane < 1 streaming"
    )


def test_memory_and_barriers(staged_reverse):
    assert print_kernel(staged_reverse) == (
        "kernel reverse: 3 groups of 8 lanes\n"
        "  input x0: i32[24]\n"
        "  output y0: i32[24]\n"
        "  group memory stage0: i32[8]\n"
        "  x1: i32 = x0[group*8 + lane]\n"
        "  stage0[lane] <- x1\n"
        "  barrier\n"
        "  x2: i32 = stage0[7 - lane]\n"
        "  y0[group*8 + lane] <- x2"
    )


def test_conditions_allocations_and_single_lanes():
    i = Axis("group", 1)
    memory = Buffer("m", uint8, 2, "lane", "temporary")
    body = (
        If(Less(i, 1), (Allocate(memory), Barrier(), Store(memory, i, Const(3, uint8)))),
        Let(Var("b", bool_), Const(True, bool_)),
    )
    assert print_kernel(Kernel("k", (), 1, 1, body)) == (
        "kernel k: 1 group of 1 lane\n"
        "  if group < 1:\n"
        "    lane memory m: u8[2]\n"
        "    barrier\n"
        "    m[group] <- u8(3)\n"
        "  b: bool = true"
    )


def test_expressions():
    x, n = Var("x", float32), Var("n", int64)
    i = Axis("i", 8)
    buffer = Buffer("b", float16, 100)
    inner = Load(buffer, i, Less(i, 5), Const(float("-inf"), float32))
    shown = {
        "cast(x, dtype=i64)": Apply("cast", (x,), int64),
        "round_to(x, target=f16)": Apply("round_to", (x,), float32, float16),
        "i64(i*2)": FromIndex(i * 2, int64),
        "add(x, (b[i] where (i < 5) else f32(-inf)))": Apply("add", (x, inner), float32),
        "b[position(n, 10)*8 + i]": Load(buffer, Position(n, 10) * 8 + i),
        "f32(nan)": Const(float("nan"), float32),
        "f32(0.1)": Const(0.1, float32),
    }
    for text, expr in shown.items():
        assert expr_text(expr) == text


def test_indices_in_plain_arithmetic():
    i, j = Axis("i", 80), Axis("j", 9)
    shown = {
        "i*9 + j": i * 9 + j,
        "79 - i": 79 - i,
        "i - j*2 - 3": i - j * 2 - 3,
        "(i + j)//7": (i + j) // 7,
        "(i//5)*9 + i%5": i // 5 * 9 + i % 5,
        "min(i, 7) + max(j, 2)": least(i, 7) + greatest(j, 2),
        "(i%5)//2": i % 5 // 2,
    }
    for text, index in shown.items():
        assert index_text(index) == text
