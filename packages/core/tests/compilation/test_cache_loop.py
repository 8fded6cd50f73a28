"""A decode loop with a key-value cache: one compile for all positions, the bits of eager calls."""

import math

import numpy as np
import pytest
import realta
from realta import F, Tensor, TensorType
from realta.errors import IndexBoundsError
from realta.plugins import open_device
from realta.testing import assert_same_bits

HEADS, LONGEST, SIZE = 2, 16, 8
WIDTH = HEADS * SIZE


class Decoder:
    """One layer of attention with a cache of keys and values as state."""

    def __init__(self, device):
        draws = np.random.default_rng(0)

        def weight(rows, columns):
            values = draws.normal(size=(rows, columns)) / math.sqrt(rows)
            return Tensor(values.astype(np.float32), device=device)

        self.project, self.out = weight(WIDTH, 3 * WIDTH), weight(WIDTH, WIDTH)
        empty = np.zeros((HEADS, LONGEST, SIZE), np.float32)
        self.keys, self.values = Tensor(empty, device=device), Tensor(empty, device=device)

    def __call__(self, x, position):
        """The output for one token, which is stored in the cache at its position."""
        parts = F.chunk(x @ self.project, 3, axis=-1)
        query, key, value = [F.permute(F.reshape(p, (1, HEADS, SIZE)), (1, 0, 2)) for p in parts]
        for cache, new in ((self.keys, key), (self.values, value)):
            F.buffer_store(cache, F.dynamic_update_slice(cache, new, (0, position, 0)))
        scores = F.matmul(query, F.permute(self.keys, (0, 2, 1))) * (1 / math.sqrt(SIZE))
        known = F.arange(LONGEST, dtype="int64", device=x.device) <= position
        weights = F.softmax(F.where(known, scores, -math.inf))
        mixed = F.permute(F.matmul(weights, self.values), (1, 0, 2))
        return F.reshape(mixed, (1, WIDTH)) @ self.out


def tokens(device):
    draws = np.random.default_rng(1)
    return [
        Tensor(draws.normal(size=(1, WIDTH)).astype(np.float32), device=device)
        for _ in range(LONGEST)
    ]


def wanted(device):
    """Outputs and cache by NumPy in float64."""
    model = Decoder(device)
    project, out = model.project.numpy().astype(float), model.out.numpy().astype(float)
    inputs = np.concatenate([t.numpy() for t in tokens(device)]).astype(float)
    query, key, value = np.split(inputs @ project, 3, axis=-1)
    found = []
    for n in range(LONGEST):
        row = []
        for h in range(HEADS):
            part = slice(h * SIZE, (h + 1) * SIZE)
            scores = query[n, part] @ key[: n + 1, part].T / math.sqrt(SIZE)
            weights = np.exp(scores - scores.max())
            row.append(weights / weights.sum() @ value[: n + 1, part])
        found.append(np.concatenate(row) @ out)
    return np.array(found)


@pytest.mark.parametrize("device", ["reference:0", "numpy:0"])
def test_a_compiled_step_serves_every_position_with_the_bits_of_eager(device):
    eager, model = Decoder(device), Decoder(device)
    compiled = realta.compile(model.__call__, name="step")(
        TensorType("float32", (1, WIDTH), device), TensorType("int64", (), device)
    )
    assert not model.keys.numpy().any()  # tracing leaves the cache as it was
    programs = open_device(device).programs
    inputs = tokens(device)
    found = []
    for position, x in enumerate(inputs):
        place = Tensor(position, device=device)
        plain = eager(x, place)
        before = programs.stats().misses
        found.append(compiled(x, place))
        assert programs.stats().misses == before
        assert_same_bits(found[-1], plain)
        assert_same_bits(model.keys, eager.keys)
        assert_same_bits(model.values, eager.values)
    result = np.concatenate([t.numpy() for t in found])
    np.testing.assert_allclose(result, wanted(device), rtol=2e-5, atol=2e-6)


def test_a_bad_position_poisons_that_call_and_names_the_line():
    device = "reference:0"
    model = Decoder(device)
    compiled = realta.compile(model.__call__, name="step")(
        TensorType("float32", (1, WIDTH), device), TensorType("int64", (), device)
    )
    found = compiled(tokens(device)[0], Tensor(LONGEST, device=device))
    with pytest.raises(IndexBoundsError, match=rf"index {LONGEST} is out of bounds") as caught:
        found.numpy()
    assert "test_cache_loop.py" in str(caught.value)


@pytest.mark.parametrize("device", ["reference:0", "numpy:0"])
def test_the_whole_loop_compiles_too(device):
    model, eager = Decoder(device), Decoder(device)
    prompt = F.concat(tokens(device), axis=0)

    def decode(prompt, count):
        def body(position, outputs):
            x = F.reshape(F.gather(prompt, position), (1, WIDTH))
            new = model(x, position)
            return position + 1, F.dynamic_update_slice(outputs, new, (position, 0))

        start = F.full((), 0, dtype="int64", device=device)
        return F.while_loop((start, prompt * 0), lambda n, _: n < count, body)[1]

    compiled = realta.compile(decode)(prompt.type, TensorType("int64", (), device))
    found = compiled(prompt, Tensor(LONGEST - 2, device=device))
    for position, x in enumerate(tokens(device)[:-2]):
        assert_same_bits(found[position : position + 1], eager(x, Tensor(position, device=device)))
    assert_same_bits(model.keys, eager.keys)
    assert not found.numpy()[-2:].any()


def test_the_cache_is_written_in_place():
    cache = F.zeros((2000, 1000), device="numpy").realize()
    address = cache.numpy().__array_interface__["data"][0]

    @realta.compile
    def step(cache, new, position):
        F.buffer_store(cache, F.dynamic_update_slice(cache, new, (position, 0)))
        return F.sum(new)

    new = Tensor(np.ones((1, 1000), np.float32), device="numpy")
    place = Tensor(0, device="numpy")
    call = step(cache.type, new.type, place.type)
    for position in range(3):
        call(cache, new, Tensor(position, device="numpy"))
        assert cache.numpy().__array_interface__["data"][0] == address
    assert cache.numpy()[:4, 0].tolist() == [1, 1, 1, 0]
    held = cache.numpy()
    call(cache, new * 2, place)
    assert held[0, 0] == 1
    assert cache.numpy()[0, 0] == 2
