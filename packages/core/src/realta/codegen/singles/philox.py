"""Philox: random bits by counter; each lane computes whole blocks of four words (spec 6)."""

from __future__ import annotations

from typing import Final

from realta.codegen.indices import Index
from realta.codegen.ir import Apply, Const, Expr, FromIndex
from realta.codegen.lower_loops import balanced, vectors_of
from realta.codegen.lowered import Lowered
from realta.codegen.profile import DeviceProfile
from realta.codegen.scalar import cast
from realta.codegen.writer import KernelWriter, inside, not_below
from realta.fusion import Limits
from realta.graph import Node
from realta.types import uint32, uint64

__all__ = ["lower_philox"]

_MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS: Final = (0x9E3779B9, 0xBB67AE85)
_ROUNDS: Final = 10
_WORD: Final = 0xFFFFFFFF
Words = tuple[Expr, Expr, Expr, Expr]


def lower_philox(node: Node, profile: DeviceProfile, limits: Limits) -> Lowered:
    """The kernel of ``philox_bits``."""
    size = int(node.type.size)
    wide = node.type.dtype is uint64
    in_block = 2 if wide else 4
    vectors = vectors_of(-(-size // in_block), profile.lanes)
    cut = balanced(vectors, profile.chunk // (in_block * profile.lanes))
    write = KernelWriter(cut.groups, profile.lanes)
    state = write.argument(node.operands[0], "input", "state")
    bits = write.argument(node, "output", "bits")
    counter = (write.load(state, 0, name="counter"), write.load(state, 1, name="counter"))
    keys = _keys(write, write.load(state, 2, name="key"), write.load(state, 3, name="key"))
    with write.loop(cut.turns, "vector") as turn:
        vector = write.group * cut.turns + turn
        block = vector * profile.lanes + write.lane
        words = _block(write, (*_number(write, block), *counter), keys)
        drawn = [_joined(write, *words[:2]), _joined(write, *words[2:])] if wide else list(words)
        places = [block * in_block + number for number in range(in_block)]

        def store(*, whole: bool) -> None:
            for place, value in zip(places, drawn, strict=True):
                where = None if whole else inside(place, size)
                write.store(bits, place, value, where, streaming=profile.streaming)

        full = size // (in_block * profile.lanes)
        if profile.realization == "items":
            store(whole=False)
        else:
            with write.when(inside(vector, full)):
                store(whole=True)
            if size % (in_block * profile.lanes):
                with write.when(not_below(vector, full)):
                    store(whole=False)
    return Lowered((write.launch("philox"),), f"{size} elements, a block of {in_block} per lane")


def _number(write: KernelWriter, block: Index) -> tuple[Expr, Expr]:
    """The number of a block as two words, the low one first."""
    if block.high <= _WORD:
        return write.let(FromIndex(block, uint32), "block"), Const(0, uint32)
    number = write.let(FromIndex(block, uint64), "block")
    high = Apply("shift_right", (number, Const(32, uint64)), uint64)
    return write.let(cast(number, uint64, uint32)), write.let(cast(high, uint64, uint32))


def _keys(write: KernelWriter, low: Expr, high: Expr) -> list[tuple[Expr, Expr]]:
    """The key of each round."""
    keys = []
    for number in range(_ROUNDS):
        steps = [Const(step * number & _WORD, uint32) for step in _KEY_STEPS]
        pair = zip((low, high), steps, strict=True)
        first, second = (write.let(Apply("add", (k, s), uint32), "key") for k, s in pair)
        keys.append((first, second))
    return keys


def _block(write: KernelWriter, counter: Words, keys: list[tuple[Expr, Expr]]) -> Words:
    """The four words of a block."""
    c0, c1, c2, c3 = counter
    for key in keys:
        mixed = []
        for word, multiplier in zip((c0, c2), _MULTIPLIERS, strict=True):
            product = (word, Const(multiplier, uint32))
            mixed.append(
                (
                    write.let(Apply("mul_high", product, uint32), "high"),
                    write.let(Apply("mul", product, uint32), "low"),
                )
            )
        (high0, low0), (high2, low2) = mixed
        c0 = write.let(_xor(_xor(high2, c1), key[0]), "word")
        c2 = write.let(_xor(_xor(high0, c3), key[1]), "word")
        c1, c3 = low2, low0
    return c0, c1, c2, c3


def _xor(x: Expr, y: Expr) -> Expr:
    return Apply("bitwise_xor", (x, y), uint32)


def _joined(write: KernelWriter, low: Expr, high: Expr) -> Expr:
    """Two words as one of 64 bits."""
    upper = Apply("shift_left", (cast(high, uint32, uint64), Const(32, uint64)), uint64)
    return write.let(Apply("bitwise_or", (upper, cast(low, uint32, uint64)), uint64), "pair")
