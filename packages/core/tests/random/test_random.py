"""Random numbers: the bits of Philox4x32-10, ranges, moments, streams, and equality of modes."""

import math

import numpy as np
import pytest
import realta
from realta import F, Tensor, random
from realta.errors import ArgumentError, DTypeError, ShapeError
from realta.functional.arguments import apply
from realta.functional.operation import operation
from realta.testing import assert_same_bits
from realta.types import BY_NAME, INTEGERS

VECTORS = [
    # counter, key, result: the known answers of Random123's kat_vectors for philox4x32-10
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    (
        (0xFFFFFFFF,) * 4,
        (0xFFFFFFFF,) * 2,
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def philox(counter, key):
    """Philox4x32-10 in Python integers (Salmon et al. 2011), the second implementation."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        first, second = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (
            (second >> 32) ^ c1 ^ k0, second & 0xFFFFFFFF,
            (first >> 32) ^ c3 ^ k1, first & 0xFFFFFFFF,
        )  # fmt: skip
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c0, c1, c2, c3


def lanes(key: int, draw: int, count: int) -> list[int]:
    """The 32-bit lanes of a draw: words 0 and 1 count blocks, 2 and 3 are the draw's number."""
    found: list[int] = []
    for block in range(-(-count // 4)):
        counter = (block, 0, draw & 0xFFFFFFFF, draw >> 32)
        found.extend(philox(counter, (key & 0xFFFFFFFF, key >> 32)))
    return found[:count]


@operation
def bits(state, shape, dtype):
    """`philox_bits` as a function, for its bits."""
    return apply("philox_bits", state, shape=shape, dtype=realta.types.as_dtype(dtype))


class TestBits:
    def test_the_second_implementation_knows_the_answers(self):
        for counter, key, result in VECTORS:
            assert philox(counter, key) == result

    def test_the_first_vector_through_the_api(self):
        # Key 0, draw 0: the four lanes of block 0, as 32-bit and as 64-bit elements.
        words = VECTORS[0][2]
        state = Tensor(np.zeros(4, np.uint32))
        assert bits(state, (4,), "uint32").tolist() == list(words)
        assert bits(state, (2,), "uint64").tolist() == [
            words[0] | words[1] << 32, words[2] | words[3] << 32,
        ]  # fmt: skip
        realta.set_seed(0)
        drawn = random.randint(0, 2**32, (4,), dtype="uint32")
        assert drawn.tolist() == list(words)

    @pytest.mark.parametrize("key", [0, 1, 2**32 + 5, 2**64 - 1])
    def test_draws_count_on(self, key):
        realta.set_seed(key)
        for draw in range(3):
            drawn = random.randint(0, 2**32, (3, 7), dtype="uint32")
            assert drawn.numpy().reshape(-1).tolist() == lanes(key, draw, 21)
        assert realta.seed().tolist() == [key, 3]

    def test_the_other_vectors_reach_the_words_of_key_and_draw(self):
        # The API sets words 2 and 3 (draw) and the key; words 0 and 1 count blocks from 0.
        for counter, key, _ in VECTORS[1:]:
            state = Tensor(np.array([*counter[2:], *key], np.uint32))
            expected = philox((0, 0, *counter[2:]), key) + philox((1, 0, *counter[2:]), key)
            assert bits(state, (8,), "uint32").tolist() == list(expected)

    def test_elements_depend_on_their_flat_index_only(self):
        long = random.Generator(3).randint(0, 2**32, (12,), dtype="uint32").numpy()
        short = random.Generator(3).randint(0, 2**32, (5,), dtype="uint32").numpy()
        square = random.Generator(3).randint(0, 2**32, (3, 4), dtype="uint32").numpy()
        assert_same_bits(short, long[:5])
        assert_same_bits(square.reshape(-1), long)


class TestUniform:
    @pytest.mark.parametrize(("dtype", "kept"), [("float16", 11), ("bfloat16", 8), ("float32", 24)])
    def test_values_are_the_upper_bits(self, dtype, kept):
        realta.set_seed(9)
        drawn = random.uniform((33,), dtype=dtype).numpy().astype(np.float64)
        assert drawn.tolist() == [(w >> 32 - kept) * 2.0**-kept for w in lanes(9, 0, 33)]

    def test_float64_takes_53_bits_of_two_lanes(self):
        realta.set_seed(9)
        drawn = random.uniform((5,), dtype="float64").tolist()
        words = lanes(9, 0, 10)
        pairs = [words[2 * n] | words[2 * n + 1] << 32 for n in range(5)]
        assert drawn == [(p >> 11) * 2.0**-53 for p in pairs]

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
    @pytest.mark.parametrize(
        "range", [(0, 1), (-1, 1), (2, 3.5), (-3, -2.9), (0, 1e-3), (-0.1, 0.3)]
    )
    def test_range(self, dtype, range):
        drawn = random.uniform((5000,), range, dtype=dtype).numpy()
        assert drawn.dtype == BY_NAME[dtype].numpy
        wide = drawn.astype(np.float64)
        low = float(np.asarray(range[0]).astype(drawn.dtype).astype(np.float64))
        assert wide.min() >= low
        assert wide.max() < range[1]
        middle = (range[0] + range[1]) / 2
        spread = range[1] - range[0]
        assert abs(wide.mean() - middle) < spread * 0.05

    def test_a_b_by_two_roundings(self):
        realta.set_seed(1)
        unit = random.uniform((100,)).numpy()
        realta.set_seed(1)
        drawn = random.uniform((100,), (-0.3, 0.7)).numpy()
        expected = unit * np.float32(0.7 - -0.3) + np.float32(-0.3)
        assert_same_bits(drawn, np.minimum(expected, np.nextafter(np.float32(0.7), np.float32(-1))))

    def test_the_end_is_never_reached(self):
        # 1 + u rounds to 2 for the largest u of bfloat16's eight bits.
        drawn = random.uniform((20000,), (256, 257), dtype="bfloat16").numpy()
        assert drawn.astype(np.float32).max() < 257

    @pytest.mark.parametrize(
        "range", [(1, 0), (1, 1), (0,), (0, 1, 2), (0, math.inf), (math.nan, 1)]
    )
    def test_ranges_are_checked(self, range):
        with pytest.raises(ArgumentError, match="empty or no range") as caught:
            random.uniform((2,), range)
        assert "test_random.py" in caught.value.where
        assert realta.seed().tolist() == [0, 0]

    def test_ranges_that_the_dtype_cannot_tell_apart(self):
        for range, dtype in (((-6e4, 6e4), "float16"), ((1001, 1001.5), "bfloat16")):
            with pytest.raises(ArgumentError, match=f"cannot be drawn from in {dtype}"):
                random.uniform((2,), range, dtype=dtype)


class TestNormal:
    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
    def test_box_and_muller(self, dtype):
        realta.set_seed(4)
        drawn = random.normal((33,), dtype=dtype).numpy().astype(np.float64)
        words = lanes(4, 0, 68) if dtype != "float64" else lanes(4, 0, 136)
        expected = []
        for pair in range(17):
            if dtype == "float64":
                a, b, c, d = words[4 * pair : 4 * pair + 4]
                first, second = ((a | b << 32) >> 11, (c | d << 32) >> 11)
                u, v = (first + 1) * 2.0**-53, second * 2.0**-53
            else:
                u, v = (words[2 * pair] + 1) * 2.0**-32, words[2 * pair + 1] * 2.0**-32
            radius = math.sqrt(-2 * math.log(u))
            expected += [radius * math.cos(2 * math.pi * v), radius * math.sin(2 * math.pi * v)]
        eps = {"float16": 2.0**-10, "bfloat16": 2.0**-7}.get(
            dtype, 1e-12 if dtype == "float64" else 3e-6
        )
        np.testing.assert_allclose(drawn, expected[:33], rtol=eps, atol=2 * eps)

    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    def test_moments(self, dtype):
        drawn = random.normal((20001,), 2.0, 0.5, dtype=dtype).numpy().astype(np.float64)
        z = (drawn - 2.0) / 0.5
        assert abs(z.mean()) < 0.03
        assert abs(z.std() - 1) < 0.03
        assert abs((z**3).mean()) < 0.1
        assert abs((z**4).mean() - 3) < 0.2
        assert np.isfinite(drawn).all()

    def test_mean_and_deviation_may_change_in_every_call(self):
        realta.set_seed(2)
        unit = random.normal((4,)).numpy()
        for mean, deviation in ((0.0, 3.0), (50.0, 3.0), (-7.25, 0.0), (1.0, 1.0)):
            realta.set_seed(2)
            found = random.normal((4,), mean, deviation).numpy()
            assert_same_bits(found, unit * np.float32(deviation) + np.float32(mean))

    def test_a_negative_deviation_is_refused_also_the_second_time(self):
        random.normal((2,), 0.0, 3.0)
        for _ in range(2):
            with pytest.raises(ArgumentError, match=r"deviation of -3\.0"):
                random.normal((2,), 0.0, -3.0)
        assert realta.seed().tolist() == [0, 1]

    def test_names(self):
        assert random.gaussian is random.normal
        assert random.gaussian_like is random.normal_like


class TestRandint:
    @pytest.mark.parametrize("dtype", sorted(d.name for d in INTEGERS))
    def test_spans_of_every_dtype(self, dtype):
        info = np.iinfo(dtype)
        spans = [
            (0, 1),
            (0, 10),
            (int(info.min), int(info.max) + 1),
            (int(info.max), int(info.max) + 1),
        ]
        if info.min:
            spans += [(-5, 5), (int(info.min), int(info.min) + 3), (-1, 1)]
        for low, high in spans:
            drawn = random.randint(low, high, (300,), dtype=dtype).numpy()
            assert drawn.dtype == np.dtype(dtype)
            assert low <= int(drawn.min())
            assert int(drawn.max()) < high
            if high - low <= 10:
                assert set(drawn.tolist()) == set(range(low, high))

    @pytest.mark.parametrize("span", [3, 1000, 2**31 + 1, 2**32])
    def test_multiply_high(self, span):
        realta.set_seed(6)
        drawn = random.randint(-7, -7 + span, (9,)).tolist()
        assert drawn == [(w * span >> 32) - 7 for w in lanes(6, 0, 9)]

    @pytest.mark.parametrize("low", [-(2**63), -5, 0])
    @pytest.mark.parametrize("span", [2**32 + 1, 2**40 + 12345, 2**63 - 1])
    def test_multiply_high_of_64_bits(self, low, span):
        realta.set_seed(6)
        drawn = random.randint(low, low + span, (9,)).tolist() if low + span <= 2**63 else None
        words = lanes(6, 0, 18)
        pairs = [words[2 * n] | words[2 * n + 1] << 32 for n in range(9)]
        assert drawn == [(p * span >> 64) + low for p in pairs]

    @pytest.mark.parametrize(
        ("low", "high", "dtype"),
        [
            (5, 5, "int64"),
            (6, 5, "int64"),
            (0, 257, "uint8"),
            (-1, 5, "uint8"),
            (0, 2**63 + 1, "int64"),
        ],
    )
    def test_ranges_are_checked(self, low, high, dtype):
        with pytest.raises(
            ArgumentError, match=f"there is no {dtype} from {low} to {high}"
        ) as caught:
            random.randint(low, high, (2,), dtype=dtype)
        assert "test_random.py" in caught.value.where
        # A call that fails draws nothing.
        assert realta.seed().tolist() == [0, 0]

    def test_dtypes_are_checked(self):
        with pytest.raises(DTypeError, match="randint draws integers"):
            random.randint(0, 5, dtype="float32")
        with pytest.raises(DTypeError, match="uniform and normal draw"):
            random.uniform(dtype="int32")
        with pytest.raises(DTypeError, match="not float8_e5m2"):
            random.normal(dtype="float8_e5m2")


class TestShapes:
    def test_any_shape(self):
        for shape in ((), 3, (2, 0), (1, 2, 3)):
            wanted = (shape,) if isinstance(shape, int) else shape
            assert random.uniform(shape).shape == wanted
            assert random.normal(shape).shape == wanted
            assert random.randint(0, 5, shape).shape == wanted
        for call in (random.uniform, random.normal, lambda s: random.randint(0, 5, s)):
            with pytest.raises(ShapeError, match="negative"):
                call((-1,))

    def test_like(self):
        like = F.zeros((2, 3), dtype="float64")
        for drawn in (random.uniform_like(like, (2, 3)), random.normal_like(like, 1.0)):
            assert drawn.type is like.type
        with pytest.raises(DTypeError):
            random.normal_like(Tensor([1]))


class TestStreams:
    def test_seeds(self):
        assert realta.seed().tolist() == [0, 0]
        assert realta.seed().dtype is realta.uint64
        realta.set_seed(2**64 - 1)
        assert realta.seed().tolist() == [2**64 - 1, 0]
        for wrong in (-1, 2**64, 1.0, True, "1"):
            with pytest.raises(ArgumentError, match="random key is an integer"):
                realta.set_seed(wrong)
        assert realta.seed().tolist() == [2**64 - 1, 0]

    def test_the_same_seed_gives_the_same_numbers(self):
        realta.set_seed(5)
        first = [random.normal((3,)).numpy(), random.uniform((3,)).numpy()]
        realta.set_seed(5)
        assert_same_bits(random.normal((3,)), first[0])
        assert_same_bits(random.uniform((3,)), first[1])
        # The second draw of one seed is not the first of the next.
        realta.set_seed(6)
        assert random.uniform((3,)).tolist() != first[1].tolist()

    def test_generators_are_streams_of_their_own(self):
        realta.set_seed(1)
        expected = [random.uniform((2,)).tolist() for _ in range(3)]
        a, b = random.Generator(1), random.Generator(1)
        realta.set_seed(9)
        assert a.uniform((2,)).tolist() == expected[0]
        realta.set_seed(7)
        assert a.uniform((2,)).tolist() == expected[1]
        assert b.uniform((2,)).tolist() == expected[0]
        assert random.uniform((2,), generator=a).tolist() == expected[2]
        assert a.seed().tolist() == [1, 3]
        assert realta.seed().tolist() == [7, 0]
        assert a.randint(0, 10, (4,)).shape == (4,)
        assert a.normal((4,), 1.0, dtype="float64").dtype is realta.float64
        with pytest.raises(ArgumentError):
            random.Generator(-1)

    def test_other_ops_leave_the_stream_alone(self):
        F.exp(F.ones((3,)))
        assert realta.seed().tolist() == [0, 0]


class TestModes:
    def body(self):
        return (
            random.uniform((33,)), random.normal((33,)), random.randint(0, 100, (33,)),
            random.uniform((3, 5), (-0.25, 0.5), dtype="bfloat16"), random.normal((7,), 1.5, 0.5),
            random.randint(-(2**40), 2**40, (5,)), random.normal((5,), dtype="float64"),
        )  # fmt: skip

    def test_every_mode_gives_the_same_bits(self):
        realta.set_seed(3)
        eager = [t.numpy() for t in self.body()]

        def lazily():
            with realta.lazy():
                found = self.body()
            realta.set_seed(100)  # a draw has its counter since it was recorded
            return [f.numpy() for f in reversed(found)][::-1]

        ways = {
            "again": self.body,
            "lazy": lazily,
            "region": lambda: F.functional(self.body)(),
            "compiled": lambda: realta.compile(self.body)()(),
        }
        for mode, way in ways.items():
            realta.set_seed(3)
            for result, wanted in zip(way(), eager, strict=True):
                try:
                    assert_same_bits(result, wanted)
                except AssertionError as error:
                    raise AssertionError(f"{mode}: {error}") from None

    def test_a_compiled_function_draws_anew_in_every_call(self):
        compiled = realta.compile(lambda x: x + random.uniform((2,)))(Tensor([0.0, 0.0]).type)
        assert realta.seed().tolist() == [0, 0]
        realta.set_seed(8)
        found = [compiled(Tensor([0.0, 0.0])).tolist() for _ in range(5)]
        assert len({tuple(f) for f in found}) == 5
        realta.set_seed(8)
        assert [(Tensor([0.0, 0.0]) + random.uniform((2,))).tolist() for _ in range(5)] == found

    def test_draws_in_a_lazy_block_take_their_counters_there(self):
        realta.set_seed(0)
        expected = [random.uniform((2,)).tolist() for _ in range(2)]
        realta.set_seed(0)
        with realta.lazy():
            first = random.uniform((2,))
            second = random.uniform((2,))
        assert realta.seed().tolist() == [0, 2]
        assert [second.tolist(), first.tolist()] == expected[::-1]
