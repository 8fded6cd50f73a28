"""Benchmarks: Realta beside its peers, measured in one run on one machine."""
