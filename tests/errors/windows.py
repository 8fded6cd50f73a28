"""Windows: convolutions, pooling, resizing and other functions of images that do not fit."""

import numpy as np
import realta
from realta import F, Tensor, nn

from tests.errors.catalogue import Place, wrong


def zeros(*shape: int) -> Tensor:
    return realta.zeros(shape)


IMAGES = (1, 5, 5, 4)
FILTER = (3, 3, 4, 6)


@wrong("a convolution of what has no batch")
def _(place: Place) -> object:
    return F.conv2d(zeros(5, 5, 4), zeros(*FILTER))


@wrong("a filter of too few axes")
def _(place: Place) -> object:
    return F.conv2d(zeros(*IMAGES), zeros(3, 4, 6))


@wrong("channels that do not fit the filter")
def _(place: Place) -> object:
    return F.conv2d(zeros(1, 4, 5, 5), zeros(*FILTER))


@wrong("results that do not divide into the groups")
def _(place: Place) -> object:
    return F.conv2d(zeros(*IMAGES), zeros(3, 3, 2, 5), groups=2)


@wrong("a negative stride")
def _(place: Place) -> object:
    return F.conv2d(zeros(*IMAGES), zeros(*FILTER), stride=-1)


@wrong("a negative padding")
def _(place: Place) -> object:
    return F.conv2d(zeros(*IMAGES), zeros(*FILTER), padding=(0, 0, -1, 0))


@wrong("three sizes of padding")
def _(place: Place) -> object:
    return F.conv2d(zeros(*IMAGES), zeros(*FILTER), padding=(1, 1, 1))


@wrong("a window that does not fit")
def _(place: Place) -> object:
    return F.conv2d(zeros(1, 2, 5, 4), zeros(*FILTER), dilation=2)


@wrong("a layout that there is not")
def _(place: Place) -> object:
    return F.conv2d(zeros(*IMAGES), zeros(*FILTER), input_layout="HWCN")


@wrong("a bias of another length")
def _(place: Place) -> object:
    return F.conv2d(zeros(*IMAGES), zeros(*FILTER), bias=zeros(5))


@wrong("a transposed convolution with too much padding")
def _(place: Place) -> object:
    return F.conv2d_transpose(zeros(*IMAGES), zeros(3, 3, 6, 4), padding=5)


@wrong("an output padding as large as the stride")
def _(place: Place) -> object:
    return F.conv2d_transpose(zeros(*IMAGES), zeros(3, 3, 6, 4), stride=2, output_paddings=2)


@wrong("a convolution layer with groups that do not fit")
def _(place: Place) -> object:
    return nn.Conv2d(3, 4, 6, num_groups=4)


@wrong("a pool larger than the image")
def _(place: Place) -> object:
    return F.max_pool2d(zeros(*IMAGES), 6)


@wrong("pooling with more padding than half a window")
def _(place: Place) -> object:
    return F.avg_pool2d(zeros(*IMAGES), 2, padding=2)


@wrong("columns that make no image")
def _(place: Place) -> object:
    return F.fold(zeros(1, 4, 5), 3, 2)


@wrong("a resize of too few extents")
def _(place: Place) -> object:
    return F.resize_linear(zeros(2, 3), (4,))


@wrong("a resize to a negative extent")
def _(place: Place) -> object:
    return F.resize(zeros(1, 1, 2, 2), (1, 1, -4, 4))


@wrong("a coordinate mode that there is not")
def _(place: Place) -> object:
    return F.resize_nearest(zeros(2, 3), (4, 3), 4)


@wrong("boxes of four numbers")
def _(place: Place) -> object:
    return F.roi_align(zeros(1, 8, 8, 2), zeros(3, 4), 2, 2)


@wrong("boxes of another image")
def _(place: Place) -> object:
    boxes = np.array([[3, 0, 0, 4, 4]], np.float32)
    return F.roi_align(zeros(1, 8, 8, 2), boxes, 2, 2, sampling_ratio=1).numpy()


@wrong("channels that do not divide into groups to normalize")
def _(place: Place) -> object:
    return F.group_norm(zeros(2, 5, 3), num_groups=2)


@wrong("pairs that are no pairs")
def _(place: Place) -> object:
    return F.irfft(zeros(4, 5), input_is_complex=True)


@wrong("repeats for another number of elements")
def _(place: Place) -> object:
    return F.repeat_interleave(zeros(3), [1, 2])


@wrong("a shape asserted in vain")
def _(place: Place) -> object:
    return F.rebind(zeros(2, 3), (2, 4), "a row of four")
