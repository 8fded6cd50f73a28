"""Discovery and device facts, on drivers that are made up: order, names, limits, promises."""

from types import SimpleNamespace

import pytest
from realta.backend import ArgumentError, Unavailable
from realta.types import float32, float64
from realta_opencl import device as facts
from realta_opencl import discovery

CL = SimpleNamespace(
    Error=RuntimeError,
    device_type=SimpleNamespace(CPU=2, GPU=4, ACCELERATOR=8),
    device_fp_config=SimpleNamespace(DENORM=1, CORRECTLY_ROUNDED_DIVIDE_SQRT=128),
)
DEFAULTS = {
    "type": 2, "version": "OpenCL 3.0", "driver_version": "1.2", "vendor": "someone",
    "max_mem_alloc_size": 1 << 30, "mem_base_addr_align": 1024, "max_parameter_size": 1024,
    "local_mem_size": 32768, "max_work_group_size": 256, "global_mem_size": 1 << 32,
    "double_fp_config": 63, "extensions": "cl_khr_fp64", "single_fp_config": 191,
    "max_compute_units": 4,
}  # fmt: skip


def device(name, **fields):
    return SimpleNamespace(name=name, **(DEFAULTS | fields))


def platform(name, *devices, vendor="", version="OpenCL 3.0"):
    made = SimpleNamespace(name=name, vendor=vendor, version=version)
    made.get_devices = lambda: list(devices)
    for one in devices:
        one.platform = made
    return made


@pytest.fixture
def found(monkeypatch):
    def find(*platforms):
        monkeypatch.setattr(discovery, "load_pyopencl", lambda: CL)
        monkeypatch.setattr(discovery, "platforms", lambda: list(platforms))
        return discovery.find_devices()

    return find


def pocl():
    return platform(
        "Portable Computing Language", device("pthread-EPYC"), vendor="The pocl project"
    )


def nvidia(*names):
    devices = [device(name, type=4) for name in names]
    return platform("NVIDIA CUDA", *devices, vendor="NVIDIA Corporation")


def test_gpus_come_first_whatever_the_loader_says(found):
    one = [d.info.name for d in found(pocl(), nvidia("H200", "A100"))]
    other = [d.info.name for d in found(nvidia("H200", "A100"), pocl())]
    assert one == other
    assert one == [
        "A100 (NVIDIA CUDA)", "H200 (NVIDIA CUDA)", "pthread-EPYC (Portable Computing Language)",
    ]  # fmt: skip


def test_numbers_and_aliases(found):
    infos = [d.info for d in found(nvidia("H200"), pocl())]
    assert [info.index for info in infos] == [0, 1]
    assert infos[0].aliases == ("nvidia", "cuda", "h200")
    assert infos[1].aliases[0] == "pocl"
    assert {"portable", "epyc", "pthread"} <= set(infos[1].aliases)
    assert infos[0].memory_bytes == 1 << 32
    assert infos[0].kind == "accelerator"


def test_a_platform_that_fails_does_not_hide_the_others(found):
    broken = platform("Broken")

    def fail():
        raise RuntimeError("DEVICE_NOT_FOUND")

    broken.get_devices = fail
    assert len(found(broken, pocl())) == 1
    none = found(broken)
    assert isinstance(none, Unavailable)
    assert "Broken shows no device (DEVICE_NOT_FOUND)" in none.reason
    assert none.fix


def test_platforms_without_devices_are_no_devices(found):
    none = found(platform("Empty"))
    assert "no OpenCL device was found: 1 platform(s) without a device" in none.reason


def test_what_the_drivers_say_is_passed_on(monkeypatch):
    monkeypatch.setattr(discovery, "platforms", lambda: Unavailable("no", "yes"))
    assert discovery.find_devices() == Unavailable("no", "yes")


@pytest.mark.parametrize(
    "fields", [{"double_fp_config": 0}, {"extensions": "cl_khr_fp16"}], ids=["config", "extension"]
)
def test_without_double_precision_there_is_no_float64(fields):
    assert float64 in facts.storage(device("full"))
    assert float64 not in facts.storage(device("narrow", **fields))
    assert float32 in facts.storage(device("narrow", **fields))


def test_limits_are_the_drivers():
    limits = facts.device_limits(device("x"))
    assert (limits.buffer_bytes, limits.alignment) == (1 << 30, 128)
    assert (limits.parameter_bytes, limits.local_bytes, limits.group_size) == (1024, 32768, 256)


def test_flushed_subnormals_and_loose_division_are_declared():
    gpu = facts.device_numerics(CL, device("gpu", type=4, single_fp_config=6))
    assert gpu.subnormals == "flush"
    assert gpu.ulp[("div", float32)] == 2.5
    full = facts.device_numerics(CL, device("gpu", type=4))
    assert (full.subnormals, full.ulp) == ("keep", {})
    # A processor divides as its instructions do, whatever its driver claims.
    assert facts.device_numerics(CL, device("cpu", single_fp_config=7)).ulp == {}


def test_an_option_that_a_driver_lacks_is_left_out():
    wanted = ("-cl-fp32-correctly-rounded-divide-sqrt", "-cl-other")
    assert facts.options(CL, device("x"), wanted) == (*wanted, "-w")
    assert facts.options(CL, device("x", single_fp_config=7), wanted) == ("-cl-other", "-w")


def test_the_profile_fits_the_device_unless_told(monkeypatch):
    monkeypatch.delenv("REALTA_OPENCL_PROFILE", raising=False)
    cpu = facts.device_profile(CL, device("cpu"))
    assert (cpu.name, cpu.workers) == ("cpu", 4)
    assert facts.device_profile(CL, device("gpu", type=4)).name == "gpu"
    monkeypatch.setenv("REALTA_OPENCL_PROFILE", "gpu")
    assert facts.device_profile(CL, device("cpu")).name == "gpu"
    monkeypatch.setenv("REALTA_OPENCL_PROFILE", "tpu")
    with pytest.raises(ArgumentError, match="there is no profile 'tpu'"):
        facts.device_profile(CL, device("cpu"))


def test_fingerprints_tell_drivers_and_devices_apart():
    def mark(**fields):
        one = device("cpu", **fields)
        platform("P", one)
        return facts.fingerprint(CL, one)

    assert mark() == mark()
    others = [mark(driver_version="1.3"), mark(version="OpenCL 1.2"), mark(extensions="")]
    assert len({mark(), *others}) == 4
