"""The group `context`: every number of the context's budget, by name."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Literal, TypeAlias

Preset: TypeAlias = Literal["preset"]
Number: TypeAlias = int | float | bool | None


_OWN: Final = ("budget", "summaries")
"""Settings that are no number of a budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSettings:
    """The budget of the context: a preset, and single numbers that differ from it.

    Every number is `preset` by default: what the preset says for the model's window. The window
    itself is `model.window_tokens`.

    Attributes:
        budget: `window` (default): counted in tokens, one deep cut rather than many shallow ones;
            `classic`: counted in characters, as agents of the first days do.
        summaries: Whether a model is asked for summaries; without, a digest made by code stands in
            their place. Default true.
        reserve_tokens: Tokens kept free for the reply.
        buffer_tokens: Tokens kept free for what an estimate can be off.
        limit_chars: Characters of the messages above which passes start; `none`: only tokens count.
        limit_bytes: Bytes on the wire above which passes start.
        target_share: Share of the limit at which passes stop.
        target_tokens: Tokens at which passes stop at most, however wide the window.
        preview_share: Share of the limit a preview takes at most.
        file_window_share: Share of the window a single result that is text of files may hold.
        digest_chars: Characters of a digest beside its two lists of names.
        digest_share: Share of the limit a digest takes at most.
        patience: How long a cut that pays is put off, in times of the cheapest rhythm.
        cold_share: Share of the limit from which a cut is made when the cache is cold anyway.
        least_cut_share: Share of the context a cut that nothing forces takes out at least.
        batch_chars: Characters the newest batch of tool results may hold together.
        batch_floor_chars: Only results over so many characters take part in shrinking a batch.
        batch_window_share: Share of the window the newest batch may hold together.
        single_chars: Characters a single result may hold when it is produced.
        single_window_share: Share of the window a single result may hold when it is produced.
        preview_chars: Characters that stay of an offloaded result.
        fit_preview_chars: Characters that stay of a result that had to be cut to fit.
        snip_messages: More messages than this and the middle is archived; `none`: never by count.
        snip_head_messages: Messages that stay at the head when the middle is archived.
        snip_tail_messages: Messages that stay at the tail.
        keep_results: So many of the newest consumed results are not shortened.
        keep_steps: Results of so many of the newest steps are not shortened.
        shorten_over_chars: Consumed results over so many characters are shortened; 0: by tokens.
        shorten_over_tokens: Consumed results over so many tokens are shortened; 0: by characters.
        keep_user_words: Whether earlier user messages stay verbatim up to their share.
        at_once: Whether edits are made without asking whether they pay.
        user_share: Share of the limit for earlier user messages, newest first.
        tail_share: Share of the limit for the recent tail that a summary leaves as it is.
        restore_share: Share of the limit for restored state after a compaction.
        notes_share: Share of the limit at which session notes begin to be kept, at most.
        memory_share: Share of the limit for the memory index and recalled records.
        request_share: The active request stands verbatim up to this share of the limit.
        file_name_chars: Characters for file names in the index of an archive marker.
        identifier_chars: Characters for identifiers in that index.
        reactive_keep_messages: Messages a reactive compaction leaves as they are, about.
        reactive_keep_tokens: Tokens of them at most.
        summary_input_chars: Characters a summary is made of at most; `none`: what its model takes.
        summary_output_tokens: Tokens a summary may take.
        summary_failures: Failures in a row that switch summaries off for a while.
        sends_a_call: How often one call is sent when it is refused as too long.
    """

    budget: Literal["window", "classic"] = "window"
    summaries: bool = True
    reserve_tokens: int | Preset = "preset"
    buffer_tokens: int | Preset = "preset"
    limit_chars: int | Preset | None = "preset"
    limit_bytes: int | Preset = "preset"
    target_share: float | Preset = "preset"
    target_tokens: int | Preset = "preset"
    preview_share: float | Preset = "preset"
    file_window_share: float | Preset = "preset"
    digest_chars: int | Preset = "preset"
    digest_share: float | Preset = "preset"
    patience: float | Preset = "preset"
    cold_share: float | Preset = "preset"
    least_cut_share: float | Preset = "preset"
    batch_chars: int | Preset = "preset"
    batch_floor_chars: int | Preset = "preset"
    batch_window_share: float | Preset = "preset"
    single_chars: int | Preset = "preset"
    single_window_share: float | Preset = "preset"
    preview_chars: int | Preset = "preset"
    fit_preview_chars: int | Preset = "preset"
    snip_messages: int | Preset | None = "preset"
    snip_head_messages: int | Preset = "preset"
    snip_tail_messages: int | Preset = "preset"
    keep_results: int | Preset = "preset"
    keep_steps: int | Preset = "preset"
    shorten_over_chars: int | Preset = "preset"
    shorten_over_tokens: int | Preset = "preset"
    keep_user_words: bool | Preset = "preset"
    at_once: bool | Preset = "preset"
    user_share: float | Preset = "preset"
    tail_share: float | Preset = "preset"
    restore_share: float | Preset = "preset"
    notes_share: float | Preset = "preset"
    memory_share: float | Preset = "preset"
    request_share: float | Preset = "preset"
    file_name_chars: int | Preset = "preset"
    identifier_chars: int | Preset = "preset"
    reactive_keep_messages: int | Preset = "preset"
    reactive_keep_tokens: int | Preset = "preset"
    summary_input_chars: int | Preset | None = "preset"
    summary_output_tokens: int | Preset = "preset"
    summary_failures: int | Preset = "preset"
    sends_a_call: int | Preset = "preset"

    def numbers(self) -> dict[str, Number]:
        """Those numbers that differ from the preset; for `Budget.with_`."""
        named = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _OWN}
        return {name: value for name, value in named.items() if value != "preset"}
