"""The scanner: walks through a text by patterns and knows where it is when something is wrong."""

from __future__ import annotations

import re
from typing import Final

from realta.errors import ParseError

__all__ = ["Scanner"]

_SPACE: Final = re.compile(r"(?:\s|;[^\n]*)*")
"""White space and comments, which run from a semicolon to the end of the line."""
_BLANK: Final = " \n\t\r\f\v;"
_GRAMMAR: Final = "write it as in: %0: f32[3] = add(%x, %y)"
"""How to mend a text where nothing better is known: an example of a line."""
"""What white space and comments begin with."""


class Scanner:
    """A position in a text.

    Args:
        text: what is read.
        source: name of the file it comes from, for errors.

    Attributes:
        position: where the next piece is looked for.
        start: where the last piece began that was looked for.
    """

    __slots__ = ("_line", "_line_position", "position", "source", "start", "text")

    def __init__(self, text: str, source: str = "") -> None:
        self.text = text
        self.source = source
        self.position = 0
        self.start = 0
        self._line = 1
        self._line_position = 0

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Takes what matches the pattern after white space, or stays and returns None."""
        text, start = self.text, self.position
        if text[start : start + 1] in _BLANK:
            start = _SPACE.match(text, start).end()  # type: ignore[union-attr]
        self.start = start
        found = pattern.match(text, start)
        if found is not None:
            self.position = found.end()
        return found

    def accept(self, literal: str) -> bool:
        """Takes a literal text after white space; False, without moving, if it is not there."""
        text, start = self.text, self.position
        if text[start : start + 1] in _BLANK:
            start = _SPACE.match(text, start).end()  # type: ignore[union-attr]
        self.start = start
        if not text.startswith(literal, start):
            return False
        self.position = start + len(literal)
        return True

    def expect(self, literal: str, after: str) -> None:
        """Takes a literal text.

        Raises:
            ParseError: it is not there; ``after`` says what it should follow.
        """
        if not self.accept(literal):
            what = f"expected {literal!r} after {after}, found {self.found()}"
            raise self.error(what, fix=f"put {literal!r} there")

    def found(self) -> str:
        """What stands at the last place looked at, for errors."""
        piece = re.compile(r'[%#]?[\w.]+|"[^"\n]*"?|.', re.DOTALL).match(self.text, self.start)
        return "the end of the text" if piece is None else repr(piece.group(0))

    def line_at(self, position: int) -> int:
        """The line number of a position; fast if asked in order."""
        if position < self._line_position:
            return self.text.count("\n", 0, position) + 1
        self._line += self.text.count("\n", self._line_position, position)
        self._line_position = position
        return self._line

    def error(self, what: str, *, at: int | None = None, fix: str = "") -> ParseError:
        """An error with line, column and a caret below the place.

        Args:
            what: what is wrong.
            at: the place; the last one looked at if left out.
            fix: how to mend it.
        """
        place = self.start if at is None else at
        line = self.text.count("\n", 0, place) + 1
        begin = self.text.rfind("\n", 0, place) + 1
        end = self.text.find("\n", place)
        shown = self.text[begin : len(self.text) if end < 0 else end].rstrip("\r")
        # A tab stays a tab in the line of the caret, so that the caret stands right.
        lead = re.sub(r"[^\t]", " ", self.text[begin:place])
        head = f"{self.source or 'text'}:{line}:{place - begin + 1}"
        where = f"{head}\n    {shown}\n    {lead}^"
        return ParseError(what, where=where, fix=fix or _GRAMMAR)
