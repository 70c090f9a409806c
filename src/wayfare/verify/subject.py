"""Who and what is verified: a model, the settings a session of it has, and what is switched off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from wayfare.agent.hooks import Hook
from wayfare.agent.limits import Limits
from wayfare.clock import Clock, SystemClock
from wayfare.context.budget import Budget
from wayfare.memory.gate import Check, judge
from wayfare.memory.limits import MemoryLimits
from wayfare.model import Model, Request
from wayfare.settings.context_group import Number

WINDOW_TOKENS: Final = 16_000
"""The window the experiments work in where the model's own is larger: what governs a context does
not depend on it, and what a run costs does."""
REPLY_TOKENS: Final = 4_000
"""The longest reply: what is asked for is short, and a model may think before it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Mechanisms switched off for a trial, each by a value that is handed in; none by default.

    Attributes:
        budget: Other numbers for the context.
        memory: Other numbers for memory.
        asks_model: Whether memory may ask the model.
        gate: Decides what may become a record.
        has_memory: Whether there is a memory at all.
        request: Changes every request on its way to the model.
        after_session: What befalls the workspace after each session, which it is told the name of.
        hooks: Hung onto events.
    """

    budget: Mapping[str, Number] = field(default_factory=dict[str, Number])
    memory: Mapping[str, Any] = field(default_factory=dict[str, Any])
    asks_model: bool = True
    gate: Check = judge
    has_memory: bool = True
    request: Callable[[Request], Request] | None = None
    after_session: Callable[[Path, str], None] | None = None
    hooks: tuple[Hook, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Who and what is verified: a model, and the settings a session of it would have.

    Attributes:
        model: Who answers.
        side_model: Who answers side queries; None: `model`.
        window_tokens: The window the experiments work in, at most the model's own.
        reply_tokens: The longest reply, at most the model's own.
        preset: Preset of the budget.
        numbers: Numbers of the budget that differ from the preset.
        summaries: Whether a model is asked for summaries.
        memory: The settings of memory.
        limits: How far turns go; the experiments have limits of their own beside them.
        clock: Time and chance.
        changes: What is switched off.
    """

    model: Model
    side_model: Model | None = None
    window_tokens: int = WINDOW_TOKENS
    reply_tokens: int = REPLY_TOKENS
    preset: str = "window"
    numbers: Mapping[str, Number] = field(default_factory=dict[str, Number])
    summaries: bool = True
    memory: MemoryLimits = field(default_factory=MemoryLimits)
    limits: Limits = field(default_factory=Limits)
    clock: Clock = field(default_factory=SystemClock)
    changes: Changes = field(default_factory=Changes)

    @property
    def budget(self) -> Budget:
        """The context's numbers."""
        window = min(self.window_tokens, self.model.window_tokens)
        most = min(self.reply_tokens, self.model.max_output_tokens)
        made = Budget.named(self.preset, window, max_output_tokens=most)
        return made.with_(**self.numbers).with_(**self.changes.budget)
