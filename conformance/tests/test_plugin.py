"""The pytest plugin: the suite inside pytest, from the installed package."""

import subprocess
import sys


def run(*arguments):
    command = [sys.executable, "-m", "pytest", "--pyargs", "realta_conformance.cases",
               "-p", "realta_conformance.plugin", "-q", "--no-header", "-p", "no:cacheprovider",
               "-c", "/dev/null", "--rootdir", "/tmp", *arguments]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_one_test_for_each_level_and_op():
    done = run("--device", "reference:0", "--levels", "memory")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout


def test_the_device_is_required():
    done = run()
    assert done.returncode == 4
    assert "--device numpy:0" in done.stdout + done.stderr
