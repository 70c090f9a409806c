"""The transcript: an append-only log of entries, the truth of a session."""

from wayfare.transcript.entries import (
    AsText,
    Clean,
    Collapse,
    DropBlocks,
    Edit,
    EditEntry,
    Entry,
    Insert,
    MarkEntry,
    MessageEntry,
    Omit,
    Op,
    Reorder,
    SetInput,
    SetText,
    UsageEntry,
)
from wayfare.transcript.transcript import Entered, Resumed, Transcript

__all__ = [
    "AsText",
    "Clean",
    "Collapse",
    "DropBlocks",
    "Edit",
    "EditEntry",
    "Entered",
    "Entry",
    "Insert",
    "MarkEntry",
    "MessageEntry",
    "Omit",
    "Op",
    "Reorder",
    "Resumed",
    "SetInput",
    "SetText",
    "Transcript",
    "UsageEntry",
]
