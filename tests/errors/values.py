"""Values: shapes, dtypes, scalars, arguments and data that do not fit."""

import numpy as np
import realta
from realta import F, Tensor, nn

from tests.errors.catalogue import Place, wrong


def zeros(*shape: int, dtype: object = "float32") -> Tensor:
    return realta.zeros(shape, dtype=dtype)


@wrong("shapes that do not broadcast")
def _(place: Place) -> object:
    return zeros(2, 3) + zeros(4)


@wrong("a function of shapes that do not broadcast")
def _(place: Place) -> object:
    return F.maximum(zeros(2, 3), zeros(2, 4))


@wrong("matmul of extents that differ")
def _(place: Place) -> object:
    return zeros(2, 3) @ zeros(4, 5)


@wrong("matmul of a 0-d tensor")
def _(place: Place) -> object:
    return zeros() @ zeros(3)


@wrong("linear with a weight that does not fit")
def _(place: Place) -> object:
    return F.linear(zeros(2, 3), zeros(5, 4))


@wrong("a layer that gets the wrong number of features")
def _(place: Place) -> object:
    return nn.Linear(8, 2)(zeros(2, 3))


@wrong("an axis out of range")
def _(place: Place) -> object:
    return F.sum(zeros(2, 3), axis=2)


@wrong("an axis named twice")
def _(place: Place) -> object:
    return F.sum(zeros(2, 3), axis=(0, -2))


@wrong("the maximum of nothing")
def _(place: Place) -> object:
    return F.max(zeros(0, 3), axis=0)


@wrong("a float in the place of an axis")
def _(place: Place) -> object:
    return F.max(zeros(2, 3), 1.0)


@wrong("a reshape of another size")
def _(place: Place) -> object:
    return zeros(2, 3).reshape((4, 2))


@wrong("two unknown extents")
def _(place: Place) -> object:
    return zeros(2, 3).reshape((-1, -1))


@wrong("a broadcast to fewer axes")
def _(place: Place) -> object:
    return F.broadcast_to(zeros(2, 3), (3,))


@wrong("axes that are no permutation")
def _(place: Place) -> object:
    return zeros(2, 3).permute([0, 0])


@wrong("squeezing an axis that is not 1")
def _(place: Place) -> object:
    return F.squeeze(zeros(2, 3), 1)


@wrong("joining tensors of different shapes")
def _(place: Place) -> object:
    return F.concat([zeros(2, 3), zeros(2, 4)], axis=0)


@wrong("joining nothing")
def _(place: Place) -> object:
    return F.concat([])


@wrong("splitting into parts that do not add up")
def _(place: Place) -> object:
    return F.split(zeros(5), [2, 2])


@wrong("more of the largest than there are")
def _(place: Place) -> object:
    return F.top_k(zeros(3), 5)


@wrong("attention of heads that differ")
def _(place: Place) -> object:
    return F.attention(zeros(2, 4, 8), zeros(2, 4, 6), zeros(2, 4, 8))


@wrong("dtypes without a common one")
def _(place: Place) -> object:
    return zeros(3, dtype="uint64") + zeros(3, dtype="int64")


@wrong("minus of a bool")
def _(place: Place) -> object:
    return -zeros(3, dtype="bool")


@wrong("arithmetic on a storage dtype")
def _(place: Place) -> object:
    return zeros(3, dtype="float8_e5m2") + 1.0


@wrong("bits of floats")
def _(place: Place) -> object:
    return zeros(3) & zeros(3)


@wrong("a Python int that does not fit")
def _(place: Place) -> object:
    return zeros(3, dtype="uint8") + 256


@wrong("a negative exponent of integers")
def _(place: Place) -> object:
    return zeros(3, dtype="int32") ** -1


@wrong("an unknown dtype")
def _(place: Place) -> object:
    return Tensor([1.0], dtype="float31")


@wrong("a complex dtype")
def _(place: Place) -> object:
    return Tensor(np.zeros(3, np.complex64))


@wrong("a tensor of text")
def _(place: Place) -> object:
    return Tensor("three")


@wrong("ragged lists")
def _(place: Place) -> object:
    return Tensor([[1, 2], [3]])


@wrong("data that do not fit a dtype")
def _(place: Place) -> object:
    return Tensor([1, 300], dtype="uint8")


@wrong("a negative extent")
def _(place: Place) -> object:
    return zeros(2, -3)


@wrong("an operand that is no tensor")
def _(place: Place) -> object:
    return F.add(zeros(3), "one")


@wrong("no operand that is a tensor")
def _(place: Place) -> object:
    return F.softmax(None)


@wrong("an unknown mode")
def _(place: Place) -> object:
    return F.pad(zeros(3), [(1, 1)], mode="mirror")


@wrong("a range with step 0")
def _(place: Place) -> object:
    return realta.arange(0, 5, 0)


@wrong("the truth of many elements")
def _(place: Place) -> object:
    return bool(zeros(2, 3))


@wrong("one number of many elements")
def _(place: Place) -> object:
    return zeros(2, 3).item()


@wrong("the length of a 0-d tensor")
def _(place: Place) -> object:
    return len(zeros())


@wrong("iterating a 0-d tensor")
def _(place: Place) -> object:
    return iter(zeros())


@wrong("a float tensor as an index")
def _(place: Place) -> object:
    return [1, 2, 3][zeros()]


@wrong("a seed that is no key")
def _(place: Place) -> object:
    return realta.set_seed(-1)


@wrong("a uniform range out of order")
def _(place: Place) -> object:
    return realta.random.uniform((3,), (1, 0))


@wrong("a negative standard deviation")
def _(place: Place) -> object:
    return realta.random.normal((3,), 0.0, -1.0)


@wrong("random integers of a float dtype")
def _(place: Place) -> object:
    return realta.random.randint(0, 3, (3,), dtype="float32")


@wrong("weights that are missing and unknown")
def _(place: Place) -> object:
    return nn.Linear(3, 2).load_state_dict({"weight": zeros(2, 3), "scale": zeros(2)})


@wrong("a weight of another shape")
def _(place: Place) -> object:
    return nn.Linear(3, 2).load_state_dict({"weight": zeros(3, 2), "bias": zeros(2)})


@wrong("a weight of another dtype")
def _(place: Place) -> object:
    return nn.Linear(3, 2).load_state_dict(
        {"weight": zeros(2, 3, dtype="float16"), "bias": zeros(2)}
    )


@wrong("a number of threads that is none")
def _(place: Place) -> object:
    return realta.set_num_threads(0)
