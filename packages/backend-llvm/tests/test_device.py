"""The device through the whole library: modes, threads, names, reports, files."""

import os
import subprocess
import sys

import numpy as np
import pytest
import realta
from realta import F, Tensor, TensorType
from realta.plugins import close_devices
from realta.runtime import num_threads, resolve_device, set_num_threads

DEVICE = "llvm:0"


@pytest.fixture(autouse=True)
def opened():
    yield
    close_devices("llvm")


def block(x, w, b):
    """A layer with a norm: rows, a contraction, chains."""
    h = F.gelu(x @ w + b)
    return F.softmax(h, axis=-1), F.sum(h, axis=0)


def arrays():
    rng = np.random.default_rng(3)
    return [rng.standard_normal(shape).astype(np.float32) for shape in ((17, 33), (33, 50), (50,))]


def bits(tensors):
    return [tensor.numpy().tobytes() for tensor in tensors]


def test_every_mode_gives_the_same_bits():
    given = arrays()
    eager = bits(block(*[Tensor(x, device=DEVICE) for x in given]))
    with realta.lazy():
        lazy = block(*[Tensor(x, device=DEVICE) for x in given])
    tensors = [Tensor(x, device=DEVICE) for x in given]
    compiled = realta.compile(block)(*[t.type for t in tensors])(*tensors)
    assert bits(lazy) == eager
    assert bits(compiled) == eager
    assert bits(F.functional(block)(*tensors)) == eager


def test_values_are_right():
    x, w, b = arrays()
    rows, columns = block(*[Tensor(a, device=DEVICE) for a in (x, w, b)])
    host_rows, host_columns = block(*[Tensor(a, device="reference") for a in (x, w, b)])
    assert np.allclose(rows.numpy(), host_rows.numpy(), atol=1e-6)
    assert np.allclose(columns.numpy(), host_columns.numpy(), atol=1e-4)


def test_any_number_of_threads_gives_the_same_bits():
    """Large enough for work to be shared: elementwise, rows, columns, all of it, a scan."""
    rng = np.random.default_rng(0)
    x = Tensor(rng.standard_normal((700, 1030)).astype(np.float32), device=DEVICE)

    def work(x):
        return (
            F.exp(x) * 2.0, F.softmax(x, axis=-1), F.sum(x, axis=0), F.sum(x), F.mean(x, axis=1),
            F.cumsum(x, axis=1), F.permute(x, (1, 0)) + 1.0, F.argmax(x, axis=0),
        )  # fmt: skip

    compiled = realta.compile(work)(x.type)
    before, found = num_threads(), []
    try:
        for count in (1, 2, 5):
            set_num_threads(count)
            found.append(bits(compiled(x)))
    finally:
        set_num_threads(before)
    assert found[0] == found[1] == found[2]


def test_cpu_is_this_device():
    assert Tensor([1.0], device="cpu").device == Tensor([1.0], device=DEVICE).device


def test_small_calls_take_the_direct_way():
    type = TensorType("float32", (64,), DEVICE)
    program = realta.runtime.program_for(
        realta.compile(lambda x, y: x + y)(type, type).graph,
        realta.runtime.Options(),
        resolve_device(DEVICE),
    )
    assert program.direct is not None
    x, y = np.arange(64, dtype=np.float32), np.ones(64, np.float32)
    total = Tensor(x, device=DEVICE) + Tensor(y, device=DEVICE)
    assert (total.numpy() == x + y).all()


def test_results_are_views_of_memory():
    x = Tensor(np.ones(1000, np.float32), device=DEVICE) + 1
    assert np.shares_memory(x.numpy(), x.numpy())


@pytest.mark.parametrize("shape", [(1,), (0,), (), (5,)])
def test_small_shapes(shape):
    x = np.ones(shape, np.float32)
    found = F.exp(Tensor(x * 2, device=DEVICE) + 1).numpy()
    assert found.shape == shape
    assert np.allclose(found, np.exp(3.0), rtol=1e-6)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="there is no procfs")
def test_calls_leave_nothing_behind():
    x, y = (Tensor(np.ones(64, np.float32), device=DEVICE) for _ in range(2))

    def pages():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1])

    for _ in range(2000):
        x + y
    before = pages()
    for _ in range(50_000):
        x + y
    assert pages() - before < 64  # a byte a call would be 12 pages; a handle, thousands


def test_the_source_is_llvm_ir():
    compiled = realta.compile(lambda x: F.sqrt(x) * 2.0)(TensorType("float32", (40,), DEVICE))
    text = realta.explain(compiled).text(source=True)
    width = resolve_device(DEVICE).session.width
    assert "define void @" in text
    assert f"call <{width} x float> @llvm.sqrt.v{width}f32" in text
    assert "contract" not in text
    assert "fast" not in text


def test_dumps_hold_the_source(tmp_path, monkeypatch):
    monkeypatch.setenv("REALTA_DUMP", str(tmp_path))
    compiled = realta.compile(lambda x: F.sqrt(x) * 2.0)(TensorType("float32", (41,), DEVICE))
    compiled(Tensor(np.ones(41, np.float32), device=DEVICE))
    sources = [path for path in tmp_path.rglob("*.source") if "define void" in path.read_text()]
    assert sources


def test_importing_loads_no_llvm():
    code = "import realta, realta_llvm, sys; assert 'llvmlite' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_computes():
    """Kernels are code of the process and the pool starts anew, so a child may go on."""
    code = f"""
import os, numpy as np
from realta import F, Tensor
x = Tensor(np.ones((700, 1030), np.float32), device="{DEVICE}")
before = F.sum(F.exp(x)).numpy().tobytes()
pid = os.fork()
if pid == 0:
    same = F.sum(F.exp(x)).numpy().tobytes() == before
    more = float(F.sum(x * 2.0).numpy()) == 2.0 * 700 * 1030
    os._exit(0 if same and more else 1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
