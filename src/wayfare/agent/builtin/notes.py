"""Remarks of the runtime at the end of a tool's text."""

from __future__ import annotations

from collections.abc import Iterable


def noted(text: str, notes: Iterable[str]) -> str:
    """The text with each note on a line of its own, in brackets."""
    for note in notes:
        text += ("" if not text or text.endswith("\n") else "\n") + f"[{note}]"
    return text
