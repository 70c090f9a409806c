"""The session's history as texts with addresses: what `search_history` looks through.

Line numbers are those one gets when the address is read.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Final

from wayfare.agent.ports import History
from wayfare.context.tool_use import tool_use
from wayfare.messages import (
    Block,
    Media,
    Message,
    Opaque,
    Origin,
    Thinking,
    ToolCall,
    ToolResult,
)
from wayfare.transcript import Entered, MessageEntry
from wayfare.transcript.stored import readable

SEARCH: Final = "search_history"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A text of the history.

    Attributes:
        address: Where it stands.
        first: Number of its first line there.
        about: Whose words it is, or the call it belongs to.
        entry: The log's entry that holds it.
        text: All of it.
    """

    address: str
    first: int
    about: str
    entry: int
    text: str


async def pieces(history: History) -> AsyncIterator[Piece]:
    """All of a session, oldest first, but for reasoning and for earlier searches."""
    calls: dict[str, str] = {}
    async for entry in history.entries():
        if isinstance(entry, MessageEntry):
            for piece in _of(await history.entered(entry), history.path, calls):
                yield piece


def _of(entered: Entered, path: str, calls: dict[str, str]) -> Iterator[Piece]:
    line = 1
    for at, block in enumerate(entered.message.blocks):
        text = _readable(block)
        first, line = line, line + text.count("\n") + 1
        about = _about(block, str(entered.message.origin), calls)
        if about == SEARCH or isinstance(block, Thinking) or not text.strip():
            continue
        ref = entered.refs.get(at)
        # Files of other kinds are no text line by line; the entry's own address is.
        own = ref is not None and ref.path.endswith(".txt")
        yield Piece(
            address=str(ref) if own else f"{path}#{entered.id}",
            first=1 if own else first,
            about=about,
            entry=entered.id,
            text=text,
        )


def _about(block: Block, origin: str, calls: dict[str, str]) -> str:
    """Whose words a block is; `calls` are those that have no result yet."""
    if isinstance(block, ToolCall):
        if block.name == SEARCH:
            calls[block.id] = SEARCH
            return SEARCH
        calls[block.id] = f"{block.name} {tool_use(block).main}".strip()
        return f"call of {block.name}"
    if isinstance(block, ToolResult):
        return calls.pop(block.call_id, "result")
    return origin


def _readable(block: Block) -> str:
    """As `readable`, with a word in place of a picture."""
    match block:
        case Media():
            return f"[{block.kind} {block.media_type}]"
        case Opaque():
            return block.text.replace("\n", " ") or f"[{block.kind}]"
        case ToolResult():
            return "\n".join(_readable(inner) for inner in block.content)
        case _:
            return readable(Message(role="user", blocks=(block,), origin=Origin.USER))
