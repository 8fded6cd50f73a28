"""Convolution layers: both layouts, weights and their names, lazy building, refusals."""

import math

import numpy as np
import pytest
import realta
from realta import F, Tensor, nn
from realta.errors import ArgumentError

RANDOM = np.random.default_rng(7)


def drawn(*shape):
    return Tensor(RANDOM.integers(-4, 5, shape).astype(np.float32))


def filled(layer):
    for _, parameter in layer.parameters:
        parameter[...] = drawn(*parameter.shape)
    return layer


LAYERS = {
    "conv1d": (nn.Conv1d, (3, 4, 6), {"padding": (2, 1)}, (2, 9, 4), (3, 2, 6)),
    "conv2d": (nn.Conv2d, ((3, 2), 4, 6), {"padding": 1, "dilation": (1, 2)}, (2, 8, 9, 4),
               (3, 2, 2, 6)),
    "transpose": (nn.ConvTranspose2d, ((3, 2), 4, 6), {"padding": 1, "output_padding": (1, 0)},
                  (2, 5, 6, 4), (3, 2, 3, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_both_layouts_compute_the_same(each_device, name):
    kind, sizes, options, shape, weight = LAYERS[name]
    options = {**options, "stride": 2, "num_groups": 2, "has_bias": True}
    last, first = kind(*sizes, **options), kind(*sizes, **options, permute=True)
    assert list(last.state_dict()) == ["weight", "bias"]
    assert last.weight.shape == weight
    filled(last)
    spatial = len(shape) - 2
    turned = (spatial + 1, spatial, *range(spatial))
    first.load_state_dict(
        {"weight": last.weight.numpy().transpose(turned), "bias": last.bias.numpy()}
    )
    x = drawn(*shape)
    found = last(x).numpy()
    channels_first = (0, spatial + 1, *range(1, spatial + 1))
    other = first(Tensor(x.numpy().transpose(channels_first))).numpy()
    np.testing.assert_array_equal(other, found.transpose(channels_first))


def test_they_are_the_functions():
    layer = filled(nn.Conv2d(3, 4, 6, stride=2, has_bias=True))
    x = drawn(1, 8, 8, 4)
    expected = F.conv2d(x, layer.weight, 2, bias=layer.bias)
    np.testing.assert_array_equal(layer(x).numpy(), expected.numpy())
    assert nn.Conv2d(3, 4, 6).bias is None
    back = filled(nn.ConvTranspose2d(3, 6, 4, stride=2, has_bias=True))
    y = F.conv2d_transpose(layer(x), back.weight, 2, bias=back.bias)
    np.testing.assert_array_equal(back(layer(x)).numpy(), y.numpy())


def test_weights_have_the_spread_of_the_terms_of_a_sum():
    for layer, terms in (
        (nn.Conv2d((3, 5), 8, 64, num_groups=2, has_bias=True), 60),
        (nn.ConvTranspose2d(3, 8, 64, num_groups=2, has_bias=True), 36),
    ):
        for _, parameter in layer.parameters:
            values = np.abs(parameter.numpy())
            assert values.max() <= 1 / math.sqrt(terms)
            assert values.max() > 0.9 / math.sqrt(terms)


def test_building_lazily_draws_nothing():
    with realta.lazy():
        layer = nn.Conv2d(3, 512, 512, device="reference", dtype="float64")
    assert not layer.weight.is_real
    assert str(layer.weight.dtype) == "float64"


def test_a_compiled_layer_gives_the_same_bits():
    layer = filled(nn.Sequential(nn.Conv2d(3, 2, 4, padding=1), nn.Conv2d(1, 4, 3)))
    compiled = layer.compile(realta.TensorType("float32", ("batch", 6, 6, 2)))
    for batch in (1, 3):
        x = drawn(batch, 6, 6, 2)
        np.testing.assert_array_equal(compiled(x).numpy(), layer(x).numpy())


@pytest.mark.parametrize(
    ("kind", "args", "options", "message"),
    [
        (nn.Conv2d, (3, 4, 6), {"num_groups": 4}, "4 and 6 channels in 4 groups"),
        (nn.Conv2d, (3, 4, 6), {"num_groups": 0}, "in 0 groups"),
        (nn.Conv2d, (0, 4, 6), {}, "kernel_size=0 has a number below 1"),
        (nn.Conv1d, ((3, 3), 4, 6), {}, "kernel_size=(3, 3) is not 1 integer(s)"),
        (nn.ConvTranspose2d, (3, 4, 5), {"num_groups": 2}, "4 and 5 channels in 2 groups"),
    ],
)
def test_refusals(kind, args, options, message):
    with pytest.raises(ArgumentError) as found:
        kind(*args, **options)
    assert message in str(found.value)
    assert found.value.fix
