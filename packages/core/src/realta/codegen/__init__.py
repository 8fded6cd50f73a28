"""The kernel toolkit: kernel IR, its interpreter, schedules, lowering and rendering.

Provisional until 1.0: a removal is announced one minor version ahead.
"""
