"""What a session is opened with; `Session.open` says what each means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wayfare.agent.consent import Ask
from wayfare.agent.hooks import Hook
from wayfare.agent.limits import Limits
from wayfare.agent.permissions import Mode, Policy
from wayfare.agent.ports import AfterTurn, Attachments
from wayfare.agent.registry import ToolLike
from wayfare.backends import Sync
from wayfare.backends.disk import Disk
from wayfare.clock import Clock
from wayfare.context.budget import Budget
from wayfare.events import Watched
from wayfare.model import Model
from wayfare.session.places import Places

if TYPE_CHECKING:
    from wayfare.agent.builtin import Shell
    from wayfare.session.memory_wanted import MemoryWanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Everything `Session.open` was told."""

    workspace: Path
    model: Model | str
    side_model: Model | str | None
    summaries: bool
    session: str
    tools: Iterable[ToolLike] | None
    shell: Shell | None
    budget: Budget | None
    policy: Policy | None
    mode: Mode
    ask: Ask | None
    hooks: Sequence[Hook]
    limits: Limits
    role: str
    prompt_sections: Sequence[str]
    attachments: Attachments | None
    after_turn: AfterTurn
    memory: MemoryWanted | None
    places: Places | None
    watch: Watched
    clock: Clock
    disk: Disk | None
    sync: Sync
