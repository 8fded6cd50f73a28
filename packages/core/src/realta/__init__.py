"""Realta: a tensor library in which you decide when a tensor becomes real, and on what."""
