"""Pieces to draw as text for a terminal."""

from __future__ import annotations

from wayfare.cli.screen.live import Answer, Piece, Thought
from wayfare.cli.screen.markdown import rendered
from wayfare.cli.screen.spans import joined, wrapped


def drawn(piece: Piece, columns: int, *, color: bool) -> str:
    """A piece as it stays on the screen, with its line ends.

    An answer stands apart by a blank line before it.
    """
    if isinstance(piece, Answer):
        return "\n" + rendered(piece.text, columns, color=color)
    if isinstance(piece, Thought):
        lines = wrapped(piece.text.strip("\n"), columns - 2, style="dim", lead="  ")
        return joined(lines, color=color)
    return joined([piece], color=color)
