"""Send everything, always."""

from __future__ import annotations

from collections.abc import Sequence

from bench.policy import Setting
from bench.wire import Wire


class NoGovernance:
    """The history as it is."""

    def __init__(self, setting: Setting) -> None:
        del setting

    def prepare(self, history: Sequence[Wire]) -> list[Wire]:
        """Everything."""
        return list(history)
