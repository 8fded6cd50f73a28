"""The public names of spec 8: they are all there, and every one of them is used here once."""

import re

import numpy as np
import pytest
import realta
from realta import F, Tensor, nn
from realta.runtime import num_threads

SPEC_8 = """
    Tensor tensor asarray from_numpy from_dlpack zeros ones full empty eye arange linspace
    zeros_like ones_like full_like empty_like
    bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64
    float8_e4m3fn float8_e5m2
    Device CPU Accelerator devices backends default_device default_dtype defaults
    set_default_device set_num_threads synchronize memory_stats profile explain lazy functional
    compile stage load load_graph save_tensors load_tensors print_options nn random F tree testing
""".split()  # noqa: SIM905
FUNCTIONS = """
    abs neg sign floor ceil trunc round sqrt rsqrt exp expm1 log log1p log2 log10 sin cos tan asin
    acos atan sinh cosh tanh asinh acosh atanh erf logical_not bitwise_not is_nan is_inf is_finite
    signbit add sub mul div floor_div mod pow max min maximum minimum atan2 hypot copysign nextafter
    logaddexp bitwise_and bitwise_or bitwise_xor shift_left shift_right equal not_equal less
    less_equal greater greater_equal where cast bitcast sum prod any all argmax argmin cumsum
    cumprod cummax cummin reshape permute broadcast_to slice_tensor pad concat gather scatter sort
    argsort matmul relu gelu silu sigmoid softmax logsoftmax logsumexp mean var layer_norm rms_norm
    linear clip stack split top_k one_hot attention barrier functional transpose squeeze unsqueeze
""".split()  # noqa: SIM905


@pytest.mark.parametrize("name", SPEC_8)
def test_name(name):
    assert getattr(realta, name) is not None
    assert name in realta.__all__


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name):
    assert callable(getattr(F, name))
    assert name in F.__all__


def sort_key(name):
    """Constants, then classes, then the rest, as isort and ruff have it; numbers by value."""
    group = 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2
    return group, [int(p) if p.isdecimal() else p for p in re.split(r"(\d+)", name)]


def test_all_is_sorted_and_complete():
    assert list(realta.__all__) == sorted(realta.__all__, key=sort_key)
    namespace = {}
    exec("from realta import *", namespace)
    assert set(realta.__all__) <= set(namespace)


def test_the_ten_names_of_contexts():
    from realta import realization_context

    assert realization_context.__all__ == [
        "EagerRealizationContext",
        "GraphRealizationContext",
        "LazyRealizationContext",
        "default_realization_context",
        "ensure_context",
        "in_graph_context",
        "lazy",
        "seed",
        "set_default_realization_context",
        "set_seed",
    ]


def test_tensor_is_callable_and_a_module():
    import realta.tensor as module
    from realta.tensor import RealizationContext, RealizationState, current_realization_context

    assert module is realta.tensor
    assert realta.tensor([1, 2]).tolist() == [1, 2]
    with realta.lazy() as context:
        assert current_realization_context() is context
        assert isinstance(context, RealizationContext)
        pending = realta.zeros((2,)) + 1
    assert isinstance(pending.state, RealizationState)
    assert pending.state.ctx is context


def test_creation():
    like = realta.ones((2, 3), dtype="int16")
    assert realta.zeros((2,)).tolist() == [0.0, 0.0]
    assert realta.full((2,), 7).tolist() == [7, 7]
    assert realta.empty((2, 3)).shape == (2, 3)
    assert realta.eye(2).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert realta.arange(2, 8, 3).tolist() == [2, 5]
    assert realta.linspace(0, 1, 3).tolist() == [0.0, 0.5, 1.0]
    for make in (realta.zeros_like, realta.ones_like, realta.empty_like):
        assert make(like).type == like.type
    assert realta.full_like(like, 3).tolist() == [[3, 3, 3], [3, 3, 3]]


def test_interchange():
    array = np.arange(3, dtype=np.float32)
    assert realta.asarray(array).tolist() == [0.0, 1.0, 2.0]
    assert realta.from_numpy(array).dtype is realta.float32
    assert np.from_dlpack(realta.from_dlpack(array)).tolist() == [0.0, 1.0, 2.0]


def test_dtypes_are_accepted_in_every_spelling():
    for spelling in (realta.int8, "int8", np.int8, np.dtype("int8")):
        assert realta.zeros((1,), dtype=spelling).dtype is realta.int8
    storage = realta.ones((2,)).cast(realta.float8_e4m3fn)
    assert storage.dtype is realta.float8_e4m3fn
    assert storage.cast(realta.float32).tolist() == [1.0, 1.0]


def test_devices():
    names = [device.name for device in realta.devices()]
    assert realta.Device("numpy").name == "numpy:0"
    assert realta.CPU().name in names
    assert "numpy:0" in names
    assert "reference" in [entry.name for entry in realta.backends()]
    accelerators = [d for d in realta.devices() if d.info.kind == "accelerator"]
    if accelerators:
        assert realta.Accelerator(0) in accelerators
    else:
        with pytest.raises(realta.errors.BackendUnavailable):
            realta.Accelerator(0)
    with realta.default_device("reference"), realta.default_dtype("float64"):
        assert realta.defaults() == (realta.float64, realta.Device("reference"))
        assert realta.zeros((1,)).device.name == "reference:0"
    realta.set_default_device("reference")
    assert realta.zeros((1,)).device.name == "reference:0"
    realta.set_default_device(None)
    realta.set_num_threads(num_threads())
    realta.synchronize()
    assert "reference:0" in realta.memory_stats()


def test_running():
    x = Tensor([1.0, 2.0])

    @realta.functional
    def body(x):
        return F.exp(x) + 1.0

    with realta.profile() as events:
        result = body(x)
    assert events
    with realta.lazy():
        pending = body(x)
    assert pending.tolist() == result.tolist()
    compiled = realta.compile(body)(x.type)
    assert compiled(x).tolist() == result.tolist()
    assert "exp" in str(realta.stage(body)(x.type))
    assert "exp" in str(realta.explain(body, x))


def test_files(tmp_path):
    x = Tensor([1.0, 2.0])
    realta.save_tensors({"x": x}, tmp_path / "x.safetensors")
    assert realta.load_tensors(tmp_path / "x.safetensors")["x"].tolist() == [1.0, 2.0]
    realta.graph.save_graph(realta.stage(F.exp)(x.type).graph, tmp_path / "exp.graph")
    assert realta.load_graph(tmp_path / "exp.graph")(x).tolist() == F.exp(x).tolist()


def test_display():
    with realta.print_options(precision=2):
        assert "3.14" in repr(Tensor([3.14159]))
        assert "3.1416" not in repr(Tensor([3.14159]))


def test_packages():
    layers = nn.Sequential(nn.Linear(3, 2))
    assert layers(realta.ones((1, 3))).shape == (1, 2)
    realta.random.set_seed(1)
    first = realta.random.uniform((2,))
    realta.random.set_seed(1)
    realta.testing.assert_same_bits(realta.random.uniform((2,)), first)
    assert realta.tree.leaves({"a": [1, 2], "b": 3}) == [1, 2, 3]
    realta.testing.assert_all_close(F.sqrt(Tensor([4.0])), Tensor([2.0]))
