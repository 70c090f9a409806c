"""The table of contents of an archive: one line an entry, and one for each file it has."""

from __future__ import annotations

from typing import Final

from wayfare.context.stubs import cut
from wayfare.context.tool_use import Declared, ToolUse, tool_use
from wayfare.messages import Message
from wayfare.transcript import Entered, MessageEntry, Transcript

_MAIN_CHARS: Final = 40


async def contents_lines(
    transcript: Transcript, first: int, last: int, declared: Declared | None = None
) -> list[str]:
    """Lines `entry, kind, tool, main argument, size in characters, address`, tab-separated.

    A result says what it answers only where its message holds several: else the call's own line
    stands right above.
    """
    lines: list[str] = []
    uses: dict[str, ToolUse] = {}
    async for entry in transcript.entries(first, last):
        if isinstance(entry, MessageEntry):
            entered = await transcript.entered(entry)
            lines += _lines(transcript, entered, uses, declared)
    return lines


def _lines(
    transcript: Transcript,
    entered: Entered,
    uses: dict[str, ToolUse],
    declared: Declared | None,
) -> list[str]:
    message = entered.message
    for call in message.calls:
        uses[call.id] = tool_use(call, declared)
    filed = set(entered.refs)
    lines: list[str] = []
    for at, ref in entered.refs.items():
        block = message.blocks[at]
        call = uses.get(getattr(block, "call_id", "")) if len(filed) > 1 else None
        lines.append(_line(entered.id, "result", call, ref.bytes, str(ref)))
    if filed != set(range(len(message.blocks))):
        use = uses.get(message.calls[0].id) if message.calls else None
        address = str(transcript.address(entered.id))
        lines.append(_line(entered.id, str(message.origin), use, _size(message), address))
    return lines


def _size(message: Message) -> int:
    return len(message.text) + sum(len(r.text) for r in message.results)


def _line(entry: int, kind: str, use: ToolUse | None, size: int, address: str) -> str:
    name = use.name if use else ""
    main = cut(use.main, _MAIN_CHARS) if use else ""
    return "\t".join((str(entry), kind, _flat(name), _flat(main), str(size), address))


def _flat(text: str) -> str:
    return " ".join(text.split())
