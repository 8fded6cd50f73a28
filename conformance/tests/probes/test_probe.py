"""Probes: registered with what they promise, left out where they say that they do not apply."""

from realta_conformance.probes import probe as probes
from realta_conformance.probes.probe import Finding, probe, probes_of


def test_a_probe_is_left_out_where_it_does_not_apply(monkeypatch):
    monkeypatch.setattr(probes, "_PROBES", {})

    @probe("core", unless=lambda device: f"{device} has none" if device == "this" else "")
    def something_there(device):
        """Something is there.

        If this fails, look for it.
        """
        yield Finding("tried", f"not on {device}")

    (found,) = probes_of("core")
    assert (found.name, found.promise) == ("something-there", "Something is there.")
    assert list(found.function("this")) == [Finding(skipped="this has none")]
    assert list(found.function("that")) == [Finding("tried", "not on that")]
