"""The HTML report of a replay: one self-contained file."""

from __future__ import annotations

from collections.abc import Sequence

from wayfare.replay.replay import Result


def report(results: Sequence[Result]) -> str:
    """The report as HTML."""
    raise NotImplementedError
