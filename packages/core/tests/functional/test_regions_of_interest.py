"""roi_align: against a loop over samples, adaptive and fixed, borders, modes, refusals."""

import math

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import ArgumentError, IndexBoundsError, RealizationError, ShapeError

IMAGES = np.random.default_rng(0).normal(size=(2, 9, 12, 3))
BOXES = np.array([[0, 1, 1, 6, 5], [1, 0.5, 2.25, 11, 8.5], [1, -3, -2, 4, 3], [0, 5, 5, 5.2, 5.1],
                  [1, 9, 7, 20, 15]])  # fmt: skip


def sample(image, y, x):
    height, width = image.shape[:2]
    if y < -1 or y > height or x < -1 or x > width:
        return np.zeros(image.shape[2])
    y, x = max(y, 0.0), max(x, 0.0)
    y0, x0 = min(int(y), height - 1), min(int(x), width - 1)
    y1, x1 = min(y0 + 1, height - 1), min(x0 + 1, width - 1)
    dy, dx = (0.0 if y0 == y1 else y - y0), (0.0 if x0 == x1 else x - x0)
    upper = image[y0, x0] * (1 - dx) + image[y0, x1] * dx
    lower = image[y1, x0] * (1 - dx) + image[y1, x1] * dx
    return upper * (1 - dy) + lower * dy


def definition(images, boxes, bins, scale, ratio, aligned, mode):
    out = np.zeros((len(boxes), *bins, images.shape[3]))
    for m, (index, *corners) in enumerate(boxes):
        x1, y1, x2, y2 = (c * scale - 0.5 * aligned for c in corners)
        least = 0 if aligned else 1
        sides = max(y2 - y1, least), max(x2 - x1, least)
        counts = [ratio or math.ceil(side / n) for side, n in zip(sides, bins, strict=True)]
        for i, j in np.ndindex(*bins):
            values = [
                sample(
                    images[int(index)],
                    y1 + (i + (a + 0.5) / counts[0]) * sides[0] / bins[0],
                    x1 + (j + (b + 0.5) / counts[1]) * sides[1] / bins[1],
                )
                for a in range(counts[0])
                for b in range(counts[1])
            ]
            if values:
                out[m, i, j] = np.mean(values, 0) if mode == "AVG" else np.max(values, 0)
    return out


@pytest.mark.parametrize("mode", ["AVG", "MAX"])
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("ratio", [0, 1, 3])
def test_it_is_the_mean_or_largest_of_samples(ratio, aligned, mode):
    options = {"spatial_scale": 0.75, "sampling_ratio": ratio, "aligned": aligned, "mode": mode}
    found = F.roi_align(Tensor(IMAGES), Tensor(BOXES), 2, 3, **options).numpy()
    expected = definition(IMAGES, BOXES, (2, 3), 0.75, ratio, aligned, mode)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("each_device")
def test_modes_agree_where_the_number_of_samples_is_given(modes):
    found = modes(
        lambda x, b: F.roi_align(x, b, 2, 2, sampling_ratio=2.0),
        IMAGES.astype(np.float32),
        BOXES.astype(np.float32),
    )
    expected = definition(IMAGES, BOXES, (2, 2), 1.0, 2, False, "AVG")
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_adaptive_samples_are_read_from_the_boxes():
    x, boxes = Tensor(IMAGES), Tensor(BOXES)
    expected = F.roi_align(x, boxes, 2, 2).numpy()
    with realta.lazy():
        pending = F.roi_align(x, boxes, 2, 2)
    np.testing.assert_array_equal(pending.numpy(), expected)
    np.testing.assert_array_equal(F.roi_align(x, BOXES, 2, 2).numpy(), expected)
    with pytest.raises((TypeError, RealizationError)):
        realta.compile(lambda a, b: F.roi_align(a, b, 2, 2))(x.type, boxes.type)


def test_half_precision_and_integers():
    half = Tensor(IMAGES.astype(np.float16))
    found = F.roi_align(half, BOXES, 2, 2)
    single = F.roi_align(Tensor(IMAGES.astype(np.float16).astype(np.float32)), BOXES, 2, 2)
    np.testing.assert_array_equal(found.numpy(), single.numpy().astype(np.float16))
    assert F.roi_align(half, BOXES[:0], 2, 2).shape == (0, 2, 2, 3)


@pytest.mark.parametrize(
    ("error", "shapes", "bins", "options", "message"),
    [
        (ShapeError, ((9, 12, 3), (2, 5)), (2, 2), {}, "takes an input of 4 axes (NHWC)"),
        (ShapeError, ((1, 9, 12, 3), (2, 4)), (2, 2), {}, "takes boxes of shape (n, 5)"),
        (ArgumentError, ((1, 9, 12, 3), (2, 5)), (0, 2), {}, "0 by 2 bins"),
        (ArgumentError, ((1, 9, 12, 3), (2, 5)), (2, 2), {"mode": "MEAN"}, "no mode 'MEAN'"),
        (
            ArgumentError, ((1, 9, 12, 3), (2, 5)), (2, 2), {"sampling_ratio": -1.0},
            "sampling_ratio=-1.0",
        ),
    ],
)  # fmt: skip
def test_refusals(error, shapes, bins, options, message):
    x, boxes = (Tensor(np.zeros(s, np.float32)) for s in shapes)
    with pytest.raises(error) as found:
        F.roi_align(x, boxes, *bins, **options)
    assert message in str(found.value)
    assert found.value.fix


def test_boxes_that_cannot_be_right():
    boxes = np.array([[0, 0, 0, 1e9, 5]], np.float32)
    with pytest.raises(ArgumentError, match="samples a bin side"):
        F.roi_align(Tensor(IMAGES), boxes, 2, 2)
    boxes = np.array([[2, 0, 0, 4, 5]], np.float32)
    with pytest.raises(IndexBoundsError):
        F.roi_align(Tensor(IMAGES), boxes, 2, 2, sampling_ratio=1).numpy()
