"""The group `memory`: what is kept across sessions, every number of it by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """What is kept across sessions, and how it comes back.

    Attributes:
        enabled: Whether memory is used at all. Default true.
        name_chars: Characters of a record's name. Default 200.
        description_chars: Characters of a record's description. Default 1,000.
        body_chars: Characters of a record's body; a longer one is refused. Default 20,000.
        index_lines: Lines of the index. Default 200.
        index_bytes: Bytes of the index. Default 25,600.
        index_description_chars: Characters of a description in the index. Default 300.
        manifest_records: Records a selection sees. Default 200.
        manifest_chars: Characters of what it sees. Default 12,000.
        manifest_description_chars: Characters of each description there. Default 240.
        recall_records: Records a turn gets at most. Default 5.
        recall_body_lines: Lines of each. Default 200.
        recall_body_bytes: Bytes of each. Default 4,096.
        recall_turn_chars: Characters of all of a turn. Default 20,000.
        recall_session_bytes: Bytes of all of a session. Default 61,440.
        recall_query_turns: Turns that say what is looked for. Default 3.
        recall_query_chars: Characters of them. Default 4,000.
        recall_reply_tokens: Tokens of the selecting reply. Default 200.
        recall_wait_seconds: Seconds a turn waits; what is later comes at the next step. Default 1.5.
        extract_mode: `query`, one question a batch (default), or `agent`, a sub-agent that may look
            into the records before it answers.
        extract_batch_chars: Characters of user messages one extraction reads. Default 8,000.
        extract_context_messages: Messages around each. Default 12.
        extract_context_chars: Characters of each of those. Default 400.
        extract_reply_tokens: Tokens of its reply. Default 2,000.
        extract_steps: Steps of its sub-agent. Default 5.
        extract_agent_seconds: Seconds of its sub-agent in all. Default 120.
        extract_exit_seconds: Seconds an exit waits for it. Default 10.
        consolidate_from_records: Fewer records are left alone. Default 10.
        consolidate_batch_chars: Characters of records one consolidation reads. Default 20,000.
        consolidate_results: Records it may give back. Default 30.
        consolidate_loss: Share of text that may vanish. Default 0.25.
        consolidate_reply_tokens: Tokens of its reply. Default 8,000.
        dream_hours: Hours between two dreams. Default 24.
        dream_scan_minutes: Minutes between two looks whether one is due. Default 10.
        dream_sessions: Sessions touched since the last. Default 5.
        dream_holder_minutes: Minutes after which a silent dreamer is taken over from. Default 60.
        lease_seconds: Seconds a writer's right lasts without renewal. Default 60.
        lease_wait_seconds: Seconds another writer waits for it. Default 10.
    """

    enabled: bool = True

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

    extract_mode: Literal["query", "agent"] = "query"
    extract_batch_chars: int = 8_000
    extract_context_messages: int = 12
    extract_context_chars: int = 400
    extract_reply_tokens: int = 2_000
    extract_steps: int = 5
    extract_agent_seconds: float = 120.0
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
