"""Processes: how children are started, so that all peers see the same surroundings."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any

__all__ = ["ROOT", "Failed", "WorkerProcess", "probe", "run", "seconds_until_result"]

ROOT = Path(__file__).resolve().parent.parent
PROBES = ROOT / "benchmarks" / "probes"
# No user has them set. The first two make OpenBLAS choose kernels for another processor; without
# byte code Realta's sources would be compiled at every import, and NumPy's, compiled by pip, would
# not.
UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONDONTWRITEBYTECODE")
ANSWER_SECONDS = 600.0
ERROR_LINE = re.compile(r"[\w.]+: ")


class Failed(Exception):
    """A child that could not measure; its text says why in one line."""


def environment() -> dict[str, str]:
    """Returns the environment of a child."""
    kept = {name: value for name, value in os.environ.items() if name not in UNSET}
    return kept


def complaint(text: str, otherwise: str) -> str:
    """Returns the line that names the error: the last one that reads like ``SomeError: text``."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if ERROR_LINE.match(line)]
    return (named or lines or [otherwise])[-1]


def run(*arguments: str) -> str:
    """Runs Python with some arguments to its end and returns what it printed.

    Raises:
        Failed: it ended with an error or took too long.
    """
    command = [sys.executable, *arguments]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            check=False,
            cwd=ROOT,
            env=environment(),
            text=True,
            timeout=ANSWER_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"no result after {ANSWER_SECONDS:g} s") from None
    if done.returncode != 0:
        raise Failed(complaint(done.stderr, f"exit code {done.returncode}"))
    return done.stdout


def probe(name: str, *arguments: str) -> Any:
    """Runs a program of `probes/` in a fresh process and returns the JSON of its last line.

    Raises:
        Failed: see `run`.
    """
    lines = run("-m", f"benchmarks.probes.{name}", *arguments).splitlines()
    return json.loads(lines[-1])


def seconds_until_result(name: str) -> float:
    """Starts a program of `probes/` bare and measures until it prints its first line.

    Raises:
        Failed: it ended without printing.
    """
    # -P: this folder must not be searched first for every module the program imports.
    command = [sys.executable, "-P", str(PROBES / f"{name}.py")]
    start = time.perf_counter()
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        elapsed = time.perf_counter() - start
        errors = process.stderr.read()
    if not line.strip():
        raise Failed(complaint(errors, f"exit code {process.returncode}"))
    return elapsed


class WorkerProcess:
    """A running worker (see `benchmarks.worker`), seen from outside.

    Args:
        peer: the peer that it measures.
        errors: where what it writes to standard error goes.
    """

    def __init__(self, peer: str, errors: IO[str]) -> None:
        self.peer = peer
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", peer],
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )

    def send(self, request: dict[str, Any]) -> None:
        """Asks for something; `receive` has the answer."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # receive says that it ended
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """Waits for the answer to the oldest request.

        Raises:
            Failed: the worker could not do it, ended, or took too long and was ended.
        """
        assert self.process.stdout is not None
        watchdog = threading.Timer(ANSWER_SECONDS, self.process.kill)
        watchdog.start()
        line = self.process.stdout.readline()
        watchdog.cancel()
        if not line:
            raise Failed(f"the process of {self.peer} ended with {self.process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "failure" in answer:
            raise Failed(answer["failure"].splitlines()[0])
        return answer

    def close(self) -> None:
        """Ends the worker."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
