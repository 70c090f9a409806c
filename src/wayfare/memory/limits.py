"""The numbers of memory, each a named setting with its unit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLimits:
    """What memory keeps to. Defaults are those of the memory specification unless said otherwise.

    Records: `name_chars`, `description_chars`, `body_chars` (a longer one is refused, never cut;
    the largest record people really keep by hand has about 12,000).
    Index: `index_lines`, `index_bytes` (25 KB of 1,024), `index_description_chars`.
    Manifest: `manifest_records`, `manifest_chars`, `manifest_description_chars`.
    Recall: `recall_records` a turn, `recall_body_lines`, `recall_body_bytes` each,
    `recall_turn_chars`, `recall_session_bytes`, `recall_query_turns`, `recall_query_chars`,
    `recall_reply_tokens`, `recall_wait_seconds` (what comes later is attached at the next step).
    Extraction: `extract_batch_chars`, `extract_context_messages` around a user's message,
    `extract_context_chars` of each, `extract_reply_tokens`, `extract_steps` of the sub-agent,
    `extract_exit_seconds` that an exit waits.
    Consolidation: `consolidate_from_records` (fewer are left alone), `consolidate_batch_chars`,
    `consolidate_results` a batch, `consolidate_loss` (share of text that may vanish),
    `consolidate_reply_tokens`.
    Dream: `dream_hours` since the last, `dream_scan_minutes` between two looks, `dream_sessions`
    touched since, `dream_holder_minutes` after which a silent holder's lease is taken over.
    Store: `lease_seconds` a writer's right lasts without renewal, `lease_wait_seconds` another
    writer waits for it.
    """

    name_chars: int = 200
    description_chars: int = 1_000
    body_chars: int = 20_000

    index_lines: int = 200
    index_bytes: int = 25 * 1_024
    index_description_chars: int = 300

    manifest_records: int = 200
    manifest_chars: int = 12_000
    manifest_description_chars: int = 240

    recall_records: int = 5
    recall_body_lines: int = 200
    recall_body_bytes: int = 4_096
    recall_turn_chars: int = 20_000
    recall_session_bytes: int = 60 * 1_024
    recall_query_turns: int = 3
    recall_query_chars: int = 4_000
    recall_reply_tokens: int = 200
    recall_wait_seconds: float = 1.5

    extract_batch_chars: int = 8_000
    extract_context_messages: int = 12
    extract_context_chars: int = 400
    extract_reply_tokens: int = 2_000
    extract_steps: int = 5
    extract_exit_seconds: float = 10.0

    consolidate_from_records: int = 10
    consolidate_batch_chars: int = 20_000
    consolidate_results: int = 30
    consolidate_loss: float = 0.25
    consolidate_reply_tokens: int = 8_000

    dream_hours: float = 24.0
    dream_scan_minutes: float = 10.0
    dream_sessions: int = 5
    dream_holder_minutes: float = 60.0

    lease_seconds: float = 60.0
    lease_wait_seconds: float = 10.0


DEFAULT_LIMITS = MemoryLimits()
