"""Boxes that overlap, against the definition applied box by box."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import ArgumentError, RealizationError, ShapeError
from realta.testing import assert_same_bits


def suppressed(boxes, scores, most, iou, above):
    """The boxes that are taken, by comparing each box with those that are taken already."""
    found = []
    for batch in range(scores.shape[0]):
        for group in range(scores.shape[1]):
            taken = []
            line = scores[batch, group]
            for n in sorted(range(line.size), key=lambda n: (-line[n], n)):
                if not line[n] > above or len(taken) == most:
                    continue
                if all(overlap(boxes[batch, n], boxes[batch, m]) <= iou for m in taken):
                    taken.append(n)
            found += [(batch, group, n) for n in taken]
    return np.array(found, np.int64).reshape(-1, 3)


def overlap(a, b):
    low = [max(min(a[n], a[n + 2]), min(b[n], b[n + 2])) for n in range(2)]
    high = [min(max(a[n], a[n + 2]), max(b[n], b[n + 2])) for n in range(2)]
    common = max(high[0] - low[0], 0) * max(high[1] - low[1], 0)
    areas = [abs(x[2] - x[0]) * abs(x[3] - x[1]) for x in (a, b)]
    union = sum(areas) - common
    return common / union if union else 0.0


def problem(seed, batches=2, classes=3, count=12):
    random = np.random.default_rng(seed)
    corners = random.integers(0, 8, (batches, count, 4)) / 2
    scores = random.integers(0, 10, (batches, classes, count)) / 8
    return corners.astype(np.float32), scores.astype(np.float32)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("limits", [(12, 0.25, 0.2), (2, 0.5, 0.0), (3, 0.0, -1.0), (0, 0.5, 0.0)])
def test_against_the_definition(seed, limits):
    boxes, scores = problem(seed)
    expected = suppressed(boxes, scores, *limits)
    assert_same_bits(F.non_maximum_suppression(Tensor(boxes), Tensor(scores), *limits), expected)
    padded, count = F.non_maximum_suppression(
        Tensor(boxes), Tensor(scores), *limits, size=len(expected) + 2
    )
    assert count.item() == len(expected)
    assert_same_bits(padded[: len(expected)], expected)
    assert (padded.numpy()[len(expected) :] == -1).all()


def test_padded_in_modes(modes):
    boxes, scores = problem(7, 1, 2, 6)
    expected = suppressed(boxes, scores, 3, 0.3, 0.1)

    def body(b, s):
        return F.non_maximum_suppression(b, s, 3, 0.3, 0.1, size=4, fill_value=-7)

    rows, count = modes(body, boxes, scores)
    assert int(count) == len(expected)
    wanted = np.full((4, 3), -7)
    wanted[: len(expected)] = expected[:4]
    assert_same_bits(rows, wanted)


@pytest.mark.parametrize("shape", [(0, 2, 3), (1, 0, 3), (1, 2, 0)], ids=str)
def test_nothing_to_take(shape):
    batches, classes, count = shape
    boxes, scores = F.zeros((batches, count, 4)), F.zeros((batches, classes, count))
    assert F.non_maximum_suppression(boxes, scores, 3, 0.5, -1.0).shape == (0, 3)
    rows, found = F.non_maximum_suppression(boxes, scores, 3, 0.5, -1.0, size=2)
    assert rows.tolist() == [[-1] * 3] * 2
    assert found.item() == 0


def test_nan_scores_are_not_taken():
    boxes = Tensor([[[0.0, 0, 1, 1], [2, 2, 3, 3], [4, 4, 5, 5]]])
    scores = Tensor([[[float("nan"), 0.5, float("inf")]]])
    assert F.non_maximum_suppression(boxes, scores, 3, 0.5, 0.0).tolist() == [[0, 0, 2], [0, 0, 1]]
    rows, count = F.non_maximum_suppression(boxes, scores, 3, 0.5, 0.0, size=2)
    assert rows.tolist() == [[0, 0, 2], [0, 0, 1]]
    assert count.item() == 2


def test_errors():
    boxes, scores = (Tensor(a) for a in problem(0))
    with pytest.raises(ShapeError, match=r"boxes of shape \(2, 12, 4\) with scores of shape"):
        F.non_maximum_suppression(boxes, scores[:1], 3, 0.5, 0.0)
    with pytest.raises(ArgumentError, match="-1 boxes for each class") as caught:
        F.non_maximum_suppression(boxes, scores, -1, 0.5, 0.0)
    assert "test_suppression.py" in caught.value.where
    with pytest.raises(
        RealizationError, match="non_maximum_suppression depends on values"
    ) as caught:
        realta.compile(lambda b, s: F.non_maximum_suppression(b, s, 3, 0.5, 0.0))(
            boxes.type, scores.type
        )
    assert "size=" in caught.value.fix
