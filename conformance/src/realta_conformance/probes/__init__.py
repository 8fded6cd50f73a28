"""Probes: checks of the contract that are no computations; each module holds those of one level."""

from realta_conformance.probes import (
    contexts,
    control,
    core,
    manifest,
    manners,
    memory,
    random,
    robust_device,
    robust_processes,
    robust_state,
    robust_threads,
)
from realta_conformance.probes.probe import Finding, Probe, probes_of

__all__ = [
    "Finding",
    "Probe",
    "contexts",
    "control",
    "core",
    "manifest",
    "manners",
    "memory",
    "probes_of",
    "random",
    "robust_device",
    "robust_processes",
    "robust_state",
    "robust_threads",
]
