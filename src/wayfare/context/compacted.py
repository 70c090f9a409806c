"""The message that stands for what was compacted: request, summary, facts, restored state, address.

Its text blocks keep their places, so that a later compaction finds the summary's own words again
without reading anything out of a text: the first says what it is, the second is the summary.
"""

from __future__ import annotations

from typing import Final

from wayfare.context.stubs import Addresses, cut
from wayfare.messages import Message, Origin, Text

REFERENCE: Final = "Conversation summary (reference only):"
REQUEST_CHARS: Final = 2_000
LEAST_REQUEST_CHARS: Final = 300
"""So much of the request is shown however little room there is: what an agent is at."""


def compacted(
    *,
    prose: str,
    request: str,
    facts: str = "",
    restored: str = "",
    last_entry: int,
    addresses: Addresses,
    reactive: bool = False,
    request_chars: int = REQUEST_CHARS,
) -> Message:
    """The message; `request` is the user's present wish, which stands in full below it."""
    head = [
        "[Reactive compact]" if reactive else "[Compacted]",
        "Current user request:",
        request_shown(request, request_chars),
        REFERENCE,
    ]
    rest = [part for part in (facts, restored) if part]
    rest.append(
        f"Full transcript: {addresses.run(1, last_entry)} (table of contents: {addresses.contents})"
    )
    blocks = ("\n".join(head), prose, "\n".join(rest))
    return Message(
        role="user", blocks=tuple(Text(text=text) for text in blocks), origin=Origin.SUMMARY
    )


def request_shown(request: str, chars: int) -> str:
    """The request, or how it begins where it is long; all of it stands further down."""
    shown = cut(request, chars)
    return shown if len(shown) == len(request) else f"{shown}\n[… in full below]"


def prose_of(message: Message) -> str:
    """The summary's own words in a message of `compacted`; empty in any other."""
    if message.origin is not Origin.SUMMARY or len(message.blocks) != 3:
        return ""
    block = message.blocks[1]
    return block.text if isinstance(block, Text) else ""
