"""Records of CUDA hardware: any that is committed is whole, of this history and of these cases."""

import json
import subprocess

import pytest

from tools import certify_cuda
from tools.certify_cuda import ROOT, complaints

COMMITTED = sorted(certify_cuda.RECORDS.glob("certified-cuda*.json"))


def record(**changes):
    head = subprocess.run(
        ("git", "rev-parse", "HEAD"), cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    return {
        "schema": 1, "gpu": "some GPU (sm_90)", "emulated": False, "driver": 13000,
        "versions": {"realta": "0.1.0"}, "commit": head, "cases": "abc",
        "levels": {"core": {"passed": 5, "failed": 0}}, "worst_ulp": {"exp": 1.0},
        "bandwidth": {"copy_bytes_per_second": 1e12}, "sanitizer": "clean", **changes,
    }  # fmt: skip


def test_a_whole_record_has_nothing_wrong():
    assert complaints(record(), digest="abc") == []


@pytest.mark.parametrize("name", certify_cuda.FIELDS)
def test_a_field_that_is_missing_is_noticed(name):
    broken = record()
    del broken[name]
    assert any(name in text for text in complaints(broken, digest="abc"))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"schema": 2}, "schema 2 is unknown"),
        ({"emulated": True}, "emulated"),
        ({"levels": {"core": {"passed": 5, "failed": 1}}}, "level core: 1 failed"),
        ({"cases": "other"}, "other cases"),
        ({"commit": "0" * 40}, "no ancestor"),
    ],
    ids=["schema", "emulated", "failed", "cases", "commit"],
)
def test_what_is_wrong_with_a_record_is_told(changes, text):
    assert any(text in found for found in complaints(record(**changes), digest="abc"))


def test_committed_records_are_right():
    digest = certify_cuda.case_digest() if COMMITTED else ""
    for path in COMMITTED:
        assert complaints(json.loads(path.read_text(encoding="utf-8")), digest=digest) == [], path
