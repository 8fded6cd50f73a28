"""The minimal backend: the smallest thing that can be certified."""
