"""Saboteurs: backends broken on purpose to test the suite."""
