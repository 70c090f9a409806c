"""Where memory stands: the stores one `MemoryStore` is made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from wayfare.store import Docs, Leases, Log

RewriteJournal: TypeAlias = Callable[[bytes], Awaitable[None]]
"""Replaces the whole journal, closed at that moment, in one step, and removes what crashes left
beside it and beside the records. Only redaction asks for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStorage:
    """The stores of one memory.

    `records` are the record files, by name without suffix, the index excluded; `index` is the same
    folder with the index in it (name `MEMORY`). `pages` are the index's further pages, `quarantine`
    and `inbox` what waits for the owner, `state` small JSON texts that are derived or counters.
    Without `rewrite_journal` nothing can be redacted.
    """

    journal: Log
    records: Docs
    index: Docs
    pages: Docs
    quarantine: Docs
    inbox: Docs
    state: Docs
    leases: Leases
    rewrite_journal: RewriteJournal | None = None
