"""Probes: programs that measure one thing of one process, each run in a fresh one.

All but the bare `cold_*` programs print JSON as their last line.
"""
