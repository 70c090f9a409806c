"""Where the prompt cache of the Anthropic API is told to end a prefix.

The provider finds a cached prefix only at, or up to 20 blocks before, a breakpoint, and takes at
most four (https://platform.claude.com/docs/en/build-with-claude/prompt-caching). Three are placed:
behind system prompt and tools, which never change; at the end of what the previous request already
held, so that this request reads what that one wrote, however much was added since; and at the end
of this request, which the next one will read. Marks stand on copies for the wire, never in the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

Mark = Mapping[str, str]

_UNMARKABLE: Final = frozenset({"thinking", "redacted_thinking", "compaction"})
"""Blocks that take no breakpoint, or are signed and go back untouched."""


def mark_of(lifetime: str) -> dict[str, str] | None:
    """The breakpoint of a lifetime: five minutes is the provider's default, `off` is none."""
    if lifetime == "off":
        return None
    return {"type": "ephemeral"} if lifetime == "5m" else {"type": "ephemeral", "ttl": lifetime}


def marked_system(system: str, mark: Mark | None) -> list[dict[str, Any]]:
    """The system prompt as one block, with a breakpoint behind it; tools stand before it."""
    block: dict[str, Any] = {"type": "text", "text": system}
    return [{**block, "cache_control": mark} if mark else block]


def marked_tools(tools: list[dict[str, Any]], mark: Mark | None) -> list[dict[str, Any]]:
    """Tools with a breakpoint behind the last, for requests without a system prompt."""
    if not tools or not mark:
        return tools
    return [*tools[:-1], {**tools[-1], "cache_control": mark}]


def marked_messages(
    messages: Sequence[dict[str, Any]], stable: int, mark: Mark | None
) -> list[dict[str, Any]]:
    """Wire messages with breakpoints at the end of the first `stable` ones and at the end.

    Breakpoints that messages bring along (from somebody else's recording) are taken off, so that
    there are never more than four. No message handed in is changed.
    """
    bare = [_without_marks(message) for message in messages]
    if mark is None:
        return bare
    for end in {len(bare), min(stable, len(bare))}:
        for at in range(end - 1, -1, -1):
            if (marked := _marked(bare[at], mark)) is not None:
                bare[at] = marked
                break
    return bare


def common_prefix(whole: Sequence[object], part: Sequence[object]) -> int:
    """How many leading items of `whole` are those of `part`, the encoding of its beginning.

    Only the end of `part` can differ: there, what follows may have been joined to it.
    """
    same = min(len(whole), len(part))
    while same > 0 and whole[same - 1] is not part[same - 1] and whole[same - 1] != part[same - 1]:
        same -= 1
    return same


def _marked(message: dict[str, Any], mark: Mark) -> dict[str, Any] | None:
    """The message with a breakpoint on its last block that takes one, None if none does."""
    content: object = message.get("content")
    if isinstance(content, str):
        if not content.strip():
            return None
        block = {"type": "text", "text": content, "cache_control": mark}
        return {**message, "content": [block]}
    if not isinstance(content, list):
        return None
    blocks = cast("list[Any]", content)
    for at in range(len(blocks) - 1, -1, -1):
        block = blocks[at]
        if not isinstance(block, dict):
            continue
        fields = cast("dict[str, Any]", block)
        is_blank = fields.get("type") == "text" and not str(fields.get("text", "")).strip()
        if fields.get("type") not in _UNMARKABLE and not is_blank:
            marked = {**fields, "cache_control": mark}
            return {**message, "content": [*blocks[:at], marked, *blocks[at + 1 :]]}
    return None


def _without_marks(value: dict[str, Any]) -> dict[str, Any]:
    """A message or block without breakpoints, itself where it has none."""
    content: object = value.get("content")
    if isinstance(content, list):
        blocks = cast("list[Any]", content)
        bare = [_without_marks(cast("Any", b)) if isinstance(b, dict) else b for b in blocks]
        if any(one is not other for one, other in zip(bare, blocks, strict=True)):
            value = {**value, "content": bare}
    if "cache_control" in value:
        value = {key: inner for key, inner in value.items() if key != "cache_control"}
    return value
