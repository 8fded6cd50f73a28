"""Pytest plugin: runs the suite inside a run of pytest, one test for each level and op.

Options: ``--device`` (required), ``--levels``, ``--expectations``, ``--sample``, ``--jobs``.

The suite runs once, in worker processes, whoever asks first: under pytest-xdist the others wait for
its certificate, and there are as many processes as pytest has workers.
"""

from __future__ import annotations

import fcntl
import os
import pickle
from dataclasses import dataclass
from pathlib import Path

import pytest
from realta.plugins import resolve_device_name

from realta_conformance.certification import Certificate, certify, certify_with, with_needs
from realta_conformance.cli.running import jobs_of
from realta_conformance.expectations import read
from realta_conformance.levels import LEVELS, Level
from realta_conformance.opening import is_installed, open_named
from realta_conformance.pool import Pool
from realta_conformance.probes import probes_of
from realta_conformance.running import level_cases

__all__ = ["Group"]


@dataclass(frozen=True, slots=True)
class Group:
    """The outcomes of one op or probe at one level.

    Args:
        level: name of the level.
        op: name of the op, pattern or probe.
    """

    level: str
    op: str

    def check(self, certificate: Certificate) -> None:
        """Fails, or skips, as the outcomes say."""
        result = certificate.result(self.level)
        if result.verdict == "BLOCKED":
            pytest.skip(f"blocked: level {result.blocked_by} does not conform")
        outcomes = [o for o in result.outcomes if o.op == self.op]
        failed = [o for o in outcomes if o.kind == "failed"]
        if failed:
            device = certificate.device.name
            lines = [f"{o.id} ({o.check}): {o.reason}" for o in failed[:5]]
            lines.append(f"replay: realta-conformance replay {failed[0].id} --device {device}")
            pytest.fail("\n".join(lines), pytrace=False)
        if not any(o.kind == "passed" for o in outcomes):
            pytest.skip(next((o.reason for o in outcomes), "nothing to run"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of the suite."""
    group = parser.getgroup("realta-conformance")
    group.addoption("--device", default="", help="device to certify, as in numpy:0")
    group.addoption("--levels", default="", help="levels, separated by commas, and what they need")
    group.addoption("--expectations", default="", help="declared failures, a TOML file")
    group.addoption("--jobs", default="1", help="worker processes of the suite; a number, or auto")
    group.addoption("--sample", action="store_true", help="a third of the cases")


def _levels(config: pytest.Config) -> list[Level]:
    names = [n for n in str(config.getoption("levels")).split(",") if n]
    return with_needs(names or [level.name for level in LEVELS])


def _device_name(config: pytest.Config) -> str:
    return str(config.getoption("device"))


def pytest_configure(config: pytest.Config) -> None:
    """Whoever loads the plugin names a device."""
    if not _device_name(config):
        raise pytest.UsageError("give the device to certify, as in --device numpy:0")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each level and op or probe."""
    if "group" not in metafunc.fixturenames:
        return
    device = open_named(_device_name(metafunc.config))
    groups: list[Group] = []
    for level in _levels(metafunc.config):
        names = [p.name for p in probes_of(level.name)]
        if level.kind == "device":
            names += [c.op for c in level_cases(level.name, device)]
        groups += [Group(level.name, name) for name in dict.fromkeys(names)]
    device.close()
    metafunc.parametrize("group", groups, ids=[f"{g.level}/{g.op}" for g in groups])


@pytest.fixture(scope="session")
def certificate(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Certificate:
    """The run of the suite that all tests look at."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0"))
    if not workers:
        return _certified(pytestconfig, jobs_of(str(pytestconfig.getoption("jobs"))))
    # Each worker has a base folder of its own inside one that all of them share.
    path = tmp_path_factory.getbasetemp().parent / "certificate"
    with (path.parent / "certificate.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            path.write_bytes(pickle.dumps(_certified(pytestconfig, workers)))
    found: Certificate = pickle.loads(path.read_bytes())
    return found


def _certified(config: pytest.Config, jobs: int) -> Certificate:
    path = str(config.getoption("expectations"))
    expectations = read(Path(path)) if path else ()
    sample = bool(config.getoption("sample"))
    name = resolve_device_name(_device_name(config))
    if not is_installed(name):
        device = open_named(name)
        try:
            return certify(device, _levels(config), expectations, sample=sample, integration=True)
        finally:
            device.close()
    with Pool(name, jobs) as pool:
        return certify_with(pool, _levels(config), expectations, sample=sample)
