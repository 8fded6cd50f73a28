"""REALTA_DUMP on an OpenCL device: kernel IR and OpenCL C of each kernel, with its lines."""

import realta
from realta import F
from realta.types import TensorType


def test_kernels_are_written_with_their_lines(found, tmp_path, monkeypatch):
    monkeypatch.setenv("REALTA_DUMP", str(tmp_path))

    def blend(x):
        return F.exp(x) * 2.0

    device = f"opencl:{found.info.index}"
    realta.compile(blend)(TensorType("float32", (4, 5), device))
    (folder,) = tmp_path.glob("*-blend")
    (kernel,) = folder.glob("*-exp_mul_0.kernel")
    (source,) = folder.glob("*-exp_mul_0.source")
    assert f" at {__file__}:" in kernel.read_text()
    text = source.read_text()
    assert f"on {device}" in text
    assert f" at {__file__}:" in text
    assert "__kernel" in text


def test_the_schedule_and_the_source_are_explained(found):
    x = TensorType("float32", (4, 5), f"opencl:{found.info.index}")
    explanation = realta.explain(realta.compile(F.exp)(x))
    (kernel,) = explanation.kernels
    assert kernel.code.profile in ("cpu", "gpu")
    assert "__kernel" in explanation.text(source=True)
