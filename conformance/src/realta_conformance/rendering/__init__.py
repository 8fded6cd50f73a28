"""Rendering: a report as Markdown, as a page, as a badge."""

from realta_conformance.rendering.badge import badge
from realta_conformance.rendering.markdown import markdown
from realta_conformance.rendering.page import page

__all__ = ["badge", "markdown", "page"]
