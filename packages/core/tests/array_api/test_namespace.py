"""The namespace beyond its peer: tensors' side of it, contexts, half types, what is refused."""

import numpy as np
import pytest
import realta
from realta import Tensor, TensorType
from realta import array_api as xp
from realta.backend import OpByOpBackend
from realta.backend.reference import ReferenceKernels
from realta.errors import (
    ArgumentError,
    BackendNotFound,
    DTypeError,
    ExchangeError,
    ExecutionError,
    ShapeError,
    UnsupportedOp,
)
from realta.plugins import close_devices, register_backend, unregister_backend
from realta.runtime import DeviceInfo
from realta.testing import assert_same_bits

A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 2.0]], np.float32)


class TestTensors:
    def test_namespace(self):
        for version in (None, "2021.12", "2024.12", "2025.12"):
            assert Tensor([1]).__array_namespace__(api_version=version) is xp
        with pytest.raises(ArgumentError, match="1999") as caught:
            Tensor([1]).__array_namespace__(api_version="1999.12")
        assert "2025.12" in caught.value.fix
        assert realta.array_api is xp

    def test_to_device(self):
        t = Tensor([1.0])
        assert t.to_device("reference:0").device.name == "reference:0"
        with pytest.raises(UnsupportedOp, match="stream"):
            t.to_device("reference:0", stream=1)

    def test_complex(self):
        assert complex(Tensor(1.5)) == 1.5 + 0j
        with pytest.raises(ArgumentError, match="not one"):
            complex(Tensor([1.0, 2.0]))


LINALG = {
    "cholesky": (xp.linalg.cholesky, np.linalg.cholesky),
    "det": (xp.linalg.det, np.linalg.det),
    "eigvalsh": (xp.linalg.eigvalsh, np.linalg.eigvalsh),
    "inv": (xp.linalg.inv, np.linalg.inv),
    "pinv": (xp.linalg.pinv, np.linalg.pinv),
    "solve": (lambda x: xp.linalg.solve(x, x[:, 0]), lambda x: np.linalg.solve(x, x[:, 0])),
    "svdvals": (xp.linalg.svdvals, lambda x: np.linalg.svd(x, compute_uv=False)),
    "trace": (xp.linalg.trace, np.trace),
    "matrix_rank": (xp.linalg.matrix_rank, np.linalg.matrix_rank),
    "norm": (xp.linalg.matrix_norm, np.linalg.norm),
    "power": (lambda x: xp.linalg.matrix_power(x, 5), lambda x: np.linalg.matrix_power(x, 5)),
}


@pytest.mark.parametrize("name", LINALG)
def test_linalg_in_every_context(name, each_device):
    ours, peer = LINALG[name]
    x = Tensor(A)
    eager = ours(x)
    np.testing.assert_allclose(eager.numpy(), peer(A), rtol=1e-4, atol=1e-5)
    with realta.lazy():
        pending = ours(x)
        assert not pending.is_real
    assert_same_bits(pending, eager)
    compiled = realta.compile(ours)(TensorType("float32", (3, 3)))
    assert_same_bits(compiled(x), eager)


def test_decompositions_put_together_again():
    x = Tensor(np.stack([A, 2 * A + 1]))
    left, values, right = xp.linalg.svd(x, full_matrices=False)
    np.testing.assert_allclose((left * values[:, None, :] @ right).numpy(), x.numpy(), atol=1e-5)
    q, r = xp.linalg.qr(x)
    np.testing.assert_allclose((q @ r).numpy(), x.numpy(), atol=1e-5)
    values, vectors = xp.linalg.eigh(x)
    again = vectors * values[:, None, :] @ xp.matrix_transpose(vectors)
    np.testing.assert_allclose(again.numpy(), x.numpy(), atol=1e-5)
    sign, log = xp.linalg.slogdet(x)
    np.testing.assert_allclose((sign * xp.exp(log)).numpy(), xp.linalg.det(x).numpy(), rtol=1e-5)


def test_half_types_compute_in_float32():
    half = Tensor(A).cast("bfloat16")
    found = xp.linalg.inv(half)
    assert found.dtype is realta.bfloat16
    assert_same_bits(found, xp.linalg.inv(half.cast("float32")).cast("bfloat16"))
    assert xp.linalg.svd(half).S.dtype is realta.bfloat16


def test_integers_become_the_default_float():
    assert xp.linalg.det(Tensor([[1, 2], [3, 4]])).dtype is realta.float32


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 0, 3)])
def test_empty_matrices(shape):
    x = realta.zeros(shape)
    assert xp.linalg.pinv(x).shape == (*shape[:-2], shape[-1], shape[-2])
    assert xp.linalg.matrix_rank(x).tolist() == np.zeros(shape[:-2]).tolist()
    assert xp.linalg.svdvals(x).shape == (*shape[:-2], 0)
    assert xp.linalg.diagonal(x).shape == (*shape[:-2], 0)


def test_singular_matrices_fail_when_they_run():
    with pytest.raises(ExecutionError, match="singular") as caught:
        xp.linalg.inv(realta.zeros((2, 2))).realize()
    assert "linalg.pinv" in caught.value.fix
    with pytest.raises(ExecutionError, match="positive definite"):
        xp.linalg.cholesky(Tensor([[0.0, 1.0], [1.0, 0.0]])).realize()


class Apart(OpByOpBackend):
    """The reference backend as an accelerator."""

    name = "apart"
    kernels = ReferenceKernels()

    def probe(self):
        return [DeviceInfo(0, "apart", kind="accelerator")]


def test_only_hosts_have_lapack():
    register_backend(Apart())
    try:
        x = Tensor(A, device="apart:0")
        for name in ("cholesky", "det", "eigh", "inv", "pinv", "qr", "slogdet", "svd", "svdvals"):
            with pytest.raises(UnsupportedOp, match="LAPACK") as caught:
                getattr(xp.linalg, name)(x)
            assert name in caught.value.what
            assert 't.to("cpu")' in caught.value.fix
        assert xp.linalg.trace(x).device.name == "apart:0"
        np.testing.assert_allclose(xp.linalg.matrix_norm(x).numpy(), np.linalg.norm(A), rtol=1e-6)
    finally:
        close_devices()
        unregister_backend("apart")


def test_offsets_of_diagonals():
    x = np.arange(24).reshape(2, 3, 4)
    for offset in range(-5, 6):
        wanted = np.diagonal(x, offset, -2, -1)
        assert xp.linalg.diagonal(Tensor(x), offset=offset).tolist() == wanted.tolist()
        wanted = np.trace(x, offset, -2, -1)
        assert xp.linalg.trace(Tensor(x), offset=offset).tolist() == wanted.tolist()


def test_isin_takes_equality_by_its_word():
    nan = float("nan")
    found = xp.isin(Tensor([0.0, -0.0, nan, 2.0]), Tensor([-0.0, nan, 5.0]))
    assert found.tolist() == [True, True, False, False]
    assert xp.isin(Tensor([1, 2]), Tensor(np.zeros(0, np.int64))).tolist() == [False, False]
    assert xp.isin(2, Tensor([1, 2])).item() is True
    assert xp.isin(Tensor([True]), Tensor([False]), invert=True).tolist() == [True]


def test_tensordot_and_vecdot():
    x, y = np.arange(24.0).reshape(2, 3, 4), np.arange(12.0).reshape(4, 3)
    for axes in (0, ((2,), (0,)), ((1, 2), (1, 0)), ((-1,), (-2,))):
        found = xp.tensordot(Tensor(x), Tensor(y), axes=axes)
        assert found.tolist() == np.tensordot(x, y, axes=axes).tolist()
    found = xp.vecdot(Tensor(x), Tensor(y.T.copy()))
    assert found.tolist() == (x * y.T).sum(-1).tolist()
    assert xp.vecdot(Tensor(x), Tensor(x[0]), axis=-2).tolist() == (x * x[0]).sum(-2).tolist()


WRONG = {
    "imag": (lambda t: xp.imag(t), UnsupportedOp),
    "eig": (lambda t: xp.linalg.eig(t), UnsupportedOp),
    "eigvals": (lambda t: xp.linalg.eigvals(t), UnsupportedOp),
    "conj of bools": (lambda t: xp.conj(t > 0), DTypeError),
    "not square": (lambda t: xp.linalg.inv(t), ShapeError),
    "no matrix": (lambda t: xp.linalg.qr(t[0]), ShapeError),
    "bools": (lambda t: xp.linalg.svd(t > 0), DTypeError),
    "right side": (lambda t: xp.linalg.solve(Tensor(A), t), ShapeError),
    "qr mode": (lambda t: xp.linalg.qr(t, mode="raw"), ArgumentError),
    "norm": (lambda t: xp.linalg.matrix_norm(t, ord=7), ArgumentError),
    "power": (lambda t: xp.linalg.matrix_power(Tensor(A), 1.5), ArgumentError),
    "cross": (lambda t: xp.linalg.cross(t, t, axis=0), ShapeError),
    "tensordot extents": (lambda t: xp.tensordot(t, t, axes=1), ShapeError),
    "tensordot axes": (lambda t: xp.tensordot(t, t, axes=3), ArgumentError),
    "vecdot": (lambda t: xp.vecdot(t, t[:, :2]), ShapeError),
    "diff": (lambda t: xp.diff(t, n=-1), ArgumentError),
    "diff of 0-d": (lambda t: xp.diff(t[0, 0]), ShapeError),
    "diff of bools": (lambda t: xp.diff(t > 0), DTypeError),
    "meshgrid": (lambda t: xp.meshgrid(t), ShapeError),
    "meshgrid indexing": (lambda t: xp.meshgrid(t[0], indexing="yx"), ArgumentError),
    "unstack": (lambda t: xp.unstack(t[0, 0]), ArgumentError),
    "finfo": (lambda t: xp.finfo(xp.int8), DTypeError),
    "iinfo": (lambda t: xp.iinfo(t), DTypeError),
    "isdtype": (lambda t: xp.isdtype(t.dtype, "real"), ArgumentError),
    "result_type": (lambda t: xp.result_type(1, 2.0), ArgumentError),
    "no common dtype": (lambda t: xp.result_type(xp.int8, xp.uint64), DTypeError),
    "asarray": (lambda t: xp.asarray([1], copy=False), ExchangeError),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_refused_in_three_parts(name):
    use, kind = WRONG[name]
    with pytest.raises(kind) as caught:
        use(realta.ones((2, 3)))
    error = caught.value
    assert error.what
    assert "test_namespace.py" in error.where
    assert error.fix


def test_information():
    info = xp.__array_namespace_info__()
    assert info.default_device() in info.devices()
    assert info.default_dtypes() == {
        "real floating": realta.float32,
        "integral": realta.int64,
        "indexing": realta.int64,
    }
    assert info.capabilities()["data-dependent shapes"] is True
    with pytest.raises(BackendNotFound):
        info.dtypes(device="nowhere:0")
