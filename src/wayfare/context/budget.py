"""Budgets: every number of context governance, in two presets of one type."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from wayfare.errors import ConfigError
from wayfare.tokens import Load

SMALLEST_WINDOW_TOKENS: Final = 3_000
_CHARS_A_TOKEN: Final = 2.0
"""Fewest characters a token that logs, the densest common text, have; for limits in both units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a context may take, where shrinking starts and stops, and what stays.

    Build one with `Budget.window` or `Budget.classic`; change single numbers with `with_`.
    """

    name: str
    window_tokens: int
    """The provider's window."""
    reserve_tokens: int
    """Kept free for the reply."""
    buffer_tokens: int
    """Kept free for what an estimate can be off."""
    limit_chars: int | None
    """Characters of the messages above which passes start; None: only tokens count."""
    limit_bytes: int
    """Bytes on the wire above which passes start."""
    target_share: float
    """Share of the limit at which passes stop."""
    target_tokens: int
    """Tokens at which they stop at most: in a wide window every token kept is read again on every
    call, and what is older than so much is hardly ever needed as text."""
    preview_share: float
    """Share of the limit a preview takes at most, at three characters a token."""
    batch_chars: int
    """The newest batch of tool results may hold so many characters together."""
    batch_floor_chars: int
    """Only results over this take part in shrinking a batch."""
    batch_window_share: float
    """The newest batch may hold this share of the window, in tokens, together."""
    single_chars: int
    """A single result may hold so many characters when it is produced."""
    single_window_share: float
    """A single result may hold this share of the window, in tokens, when it is produced."""
    file_window_share: float
    """The same for a result that is text of files, which was read to be worked on."""
    preview_chars: int
    """What stays of an offloaded result."""
    fit_preview_chars: int
    """What stays of a result that had to be cut to fit."""
    snip_messages: int | None
    """More messages than this: the middle is archived; None: never by count."""
    snip_head_messages: int
    snip_tail_messages: int
    keep_results: int
    """So many of the newest consumed results are not shortened."""
    keep_steps: int
    """Results of so many of the newest steps are not shortened."""
    shorten_over_chars: int
    """Consumed results over this are worth shortening (0: measured in tokens)."""
    shorten_over_tokens: int
    """Consumed results over this are worth shortening (0: measured in characters)."""
    keep_user_words: bool
    """Whether earlier user messages stay verbatim up to their share."""
    at_once: bool
    """Whether edits are committed without asking whether they pay."""
    user_share: float = 0.1
    """Share of the limit for earlier user messages, verbatim, newest first."""
    tail_share: float = 0.25
    """Share of the limit for the recent tail that a digest or summary leaves as it is."""
    restore_share: float = 0.2
    """Share of the limit for restored state after a compaction."""
    notes_share: float = 0.25
    """Share of the limit at which session notes begin to be kept, at most."""
    memory_share: float = 0.15
    """Share of the limit for the memory index and recalled records."""
    request_share: float = 0.5
    """The active request stands verbatim while it takes at most this share of the limit."""
    file_name_chars: int = 400
    """Room for file names in the index of names an archive marker carries."""
    identifier_chars: int = 1_500
    """Room for identifiers in that index."""
    digest_chars: int = 1_000
    """Room for the rest of a digest: task list, errors, requests, files, commands."""
    digest_share: float = 0.062
    """Share of the limit that a digest takes at most, its index of names included."""
    patience: float = 1.2
    """How many times the price of a cut reading on may cost before the cut is made though the
    limit does not force it; 1 is the cheapest rhythm, more keeps more in sight."""
    cold_share: float = 0.6
    """Share of the limit from which a cut is made when the cache is cold anyway."""
    least_cut_share: float = 0.25
    """A cut that the limit does not force takes out at least this share of the context."""
    reactive_keep_messages: int = 5
    """Messages a reactive compaction leaves as they are, about; pairs stay whole."""
    reactive_keep_tokens: int = 20_000
    summary_input_chars: int | None = None
    """Longest input of a summary; None: the summary model's own window minus the reserve."""
    summary_output_tokens: int = 20_000
    summary_failures: int = 3
    """Consecutive failures that open the breaker."""
    sends_a_call: int = 4
    """How often one call may be sent when it is refused as too long."""

    @classmethod
    def window(
        cls,
        window_tokens: int = 200_000,
        *,
        max_output_tokens: int = 20_000,
        reserve_tokens: int | None = None,
        buffer_tokens: int | None = None,
    ) -> Budget:
        """The default: counted in tokens, one deep cut rather than many shallow ones.

        Args:
            window_tokens: The model's window, from 3,000 up.
            max_output_tokens: The longest reply the model can give.
            reserve_tokens: Free for the reply; min(max output, 20,000, window / 4) by default.
            buffer_tokens: Free for estimate errors; min(13,000, window / 10) by default.

        Raises:
            ConfigError: a window under 3,000 tokens.
        """
        _check_window(window_tokens)
        if reserve_tokens is None:
            reserve_tokens = min(max_output_tokens, 20_000, window_tokens // 4)
        if buffer_tokens is None:
            buffer_tokens = min(13_000, window_tokens // 10)
        return cls(
            name="window",
            window_tokens=window_tokens,
            reserve_tokens=reserve_tokens,
            buffer_tokens=buffer_tokens,
            limit_chars=None,
            limit_bytes=20_000_000,
            target_share=0.44,
            target_tokens=43_000,
            preview_share=0.035,
            batch_chars=200_000,
            batch_floor_chars=0,
            batch_window_share=0.3,
            single_chars=50_000,
            single_window_share=0.1,
            file_window_share=0.25,
            preview_chars=2_000,
            fit_preview_chars=1_000,
            snip_messages=None,
            snip_head_messages=3,
            snip_tail_messages=46,
            keep_results=0,
            keep_steps=1,
            shorten_over_chars=0,
            shorten_over_tokens=200,
            keep_user_words=True,
            at_once=False,
        )

    @classmethod
    def classic(
        cls,
        window_tokens: int = 200_000,
        *,
        max_output_tokens: int = 20_000,
        limit_chars: int = 50_000,
        reserve_tokens: int | None = None,
        buffer_tokens: int | None = None,
    ) -> Budget:
        """Counted in characters of the messages: the rules many agents of the first days use.

        The window still holds: where `limit_chars` would not fit in it, its own limit is used.

        Raises:
            ConfigError: a window under 3,000 tokens.
        """
        sized = cls.window(
            window_tokens,
            max_output_tokens=max_output_tokens,
            reserve_tokens=reserve_tokens,
            buffer_tokens=buffer_tokens,
        )
        return replace(
            sized,
            name="classic",
            limit_chars=limit_chars,
            target_share=0.8,
            target_tokens=10**9,
            preview_share=1.0,
            batch_floor_chars=30_000,
            batch_window_share=1.0,
            single_chars=10**12,
            single_window_share=1.0,
            file_window_share=1.0,
            snip_messages=50,
            keep_results=3,
            keep_steps=0,
            shorten_over_chars=120,
            shorten_over_tokens=0,
            keep_user_words=False,
            at_once=True,
            summary_input_chars=80_000,
            summary_output_tokens=2_000,
            sends_a_call=2,
            reactive_keep_tokens=10**9,
        )

    @classmethod
    def named(cls, name: str, window_tokens: int, *, max_output_tokens: int = 20_000) -> Budget:
        """A preset by name.

        Raises:
            ConfigError: no such preset; the text names the two there are.
        """
        presets = {"window": cls.window, "classic": cls.classic}
        if name not in presets:
            known = ", ".join(presets)
            raise ConfigError(
                f"unknown budget {name!r}; known: {known}", setting="budget", value=name
            )
        return presets[name](window_tokens, max_output_tokens=max_output_tokens)

    @property
    def limit_tokens(self) -> int:
        """Tokens of the whole request above which passes start."""
        return self.window_tokens - self.reserve_tokens - self.buffer_tokens

    @property
    def stop_share(self) -> float:
        """Share of the limit at which passes stop: the smaller of the two targets."""
        return min(self.target_share, self.target_tokens / max(self.limit_tokens, 1))

    @property
    def shown_chars(self) -> int:
        """What stays of an offloaded result in this window."""
        return min(self.preview_chars, int(self.limit_tokens * self.preview_share * 3))

    def share(self, share: float) -> int:
        """A share of the limit, in tokens."""
        return int(self.limit_tokens * share)

    def with_(self, **numbers: Any) -> Budget:
        """The same budget with some numbers changed.

        Raises:
            ConfigError: no such setting.
        """
        try:
            return replace(self, **numbers)
        except TypeError as error:
            raise ConfigError(str(error), setting=", ".join(numbers)) from error


def _check_window(window_tokens: int) -> None:
    if window_tokens < SMALLEST_WINDOW_TOKENS:
        raise ConfigError(
            f"a window of {window_tokens} tokens is too small to govern; "
            f"use at least {SMALLEST_WINDOW_TOKENS}",
            setting="window_tokens",
            value=window_tokens,
        )


Unit = Literal["tokens", "chars"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What a view may weigh, in the raw units of its own load: where passes start and stop."""

    limit: Load
    target: Load

    def over(self, load: Load) -> bool:
        """Above the limit."""
        return not _within(load, self.limit)

    def without_chars(self) -> Goal:
        """The same for tokens and bytes alone."""
        far = 1 << 62
        return Goal(limit=replace(self.limit, chars=far), target=replace(self.target, chars=far))

    def met(self, load: Load) -> bool:
        """At the target or below."""
        return _within(load, self.target)


def _within(load: Load, most: Load) -> bool:
    return load.tokens <= most.tokens and load.chars <= most.chars and load.bytes <= most.bytes


def goal(budget: Budget, *, total: Load, now_tokens: int, fixed_tokens: int, ratio: float) -> Goal:
    """The goal for a view of raw load `total` that is believed to take `now_tokens` in all.

    Args:
        total: Raw load of the messages.
        now_tokens: What the whole request is believed to take: anchor and calibrated tail.
        fixed_tokens: What system prompt and tools take of that.
        ratio: Actual tokens for a raw one.
    """
    room = max(budget.limit_tokens - fixed_tokens, 0)
    spare = budget.limit_tokens - now_tokens
    limit_raw = total.tokens + int(spare / ratio)
    target_raw = limit_raw - int(room * (1 - budget.stop_share) / ratio)
    far = 1 << 62
    chars = budget.limit_chars if budget.limit_chars is not None else far
    return Goal(
        limit=Load(limit_raw, chars, budget.limit_bytes),
        target=Load(
            target_raw,
            int(chars * budget.stop_share) if chars < far else far,
            int(budget.limit_bytes * budget.stop_share),
        ),
    )
