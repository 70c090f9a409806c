"""A slot: one message of the view, with where it comes from and what was done to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wayfare.context.rendering import Shown
from wayfare.context.tool_use import ToolUse
from wayfare.messages import Message, Origin
from wayfare.store import Ref
from wayfare.tokens import Load


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One message of the view.

    `entry` is the number of its message entry, or of the edit that made it (`made`). `uses` says
    what its calls are about, or the calls its results answer, by call id. `shortened` are the
    numbers of blocks that show a stand-in of ours. `index` holds, once blocks were dropped or
    moved, the original number of each block that is left.
    """

    entry: int
    time: float
    message: Message
    load: Load
    step: int
    refs: Mapping[int, Ref] = field(default_factory=dict[int, Ref])
    uses: Mapping[str, ToolUse] = field(default_factory=dict[str, ToolUse])
    edits: tuple[int, ...] = ()
    shortened: frozenset[int] = frozenset()
    index: tuple[int, ...] | None = None
    made: bool = False
    stands_for: tuple[int, int] | None = None
    """First and last entry that a message of ours stands for, where it stands for any."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The original numbers of the blocks shown."""
        return self.index if self.index is not None else tuple(range(len(self.message.blocks)))

    @property
    def shown(self) -> Shown:
        """The message as it is shown."""
        return Shown(message=self.message, index=self.index, shortened=self.shortened)

    @property
    def is_prompt(self) -> bool:
        """Whether it is a system prompt that travels in the list."""
        return self.message.role in ("system", "developer")

    @property
    def is_users(self) -> bool:
        """Whether it holds words of the user, beside results or alone."""
        return self.message.origin is Origin.USER and not self.made

    def tokens_of(self, chars: int, media_tokens: int = 0) -> int:
        """Tokens of so many of its characters: their share of its load, so that no text is
        measured twice. `media_tokens` are those of its images and the like, which are no text."""
        text_tokens = self.load.tokens - media_tokens
        return int(text_tokens * min(chars / max(self.load.chars, 1), 1.0))

    def block_number(self, position: int) -> int:
        """The original number of the block now at `position`."""
        return position if self.index is None else self.index[position]
