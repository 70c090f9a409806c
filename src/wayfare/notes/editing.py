"""The sub-agent that writes session notes: a context of its own and one tool, which edits them.

It never touches the file: what it writes is collected section by section and merged by the keeper,
which holds every budget. A model that knows no tools answers with the sections; that counts alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from wayfare.context.patience import answered
from wayfare.errors import EmptyReply, ModelRefused
from wayfare.messages import Message, ToolCall, ToolResult, result, results
from wayfare.model import Model, Reply, Request, ToolSpec, Usage
from wayfare.notes.template import HEADINGS, heading_of, parsed
from wayfare.redaction import scrub

EDIT: Final = ToolSpec(
    name="edit_notes",
    description="Replace one section of the session notes by a new text, whole and up to date.",
    schema={
        "type": "object",
        "properties": {
            "section": {"type": "string", "enum": list(HEADINGS)},
            "text": {"type": "string", "description": "All of the section, without its heading."},
        },
        "required": ["section", "text"],
        "additionalProperties": False,
    },
)
STEPS: Final = 9
"""Model calls of one update at most: a section each, for a model that makes one call a reply."""


async def written(
    model: Model,
    request: Request,
    *,
    idle_seconds: float,
    spent: Callable[[Usage], None],
) -> dict[str, str]:
    """The sections a model writes, by heading; `request.max_output_tokens` is for all of its replies together.

    A provider that takes no tools is asked once more without them.

    Raises:
        ModelError: the model failed before it wrote anything.
    """
    sections: dict[str, str] = {}
    left = request.max_output_tokens
    asked = replace(request, tools=(EDIT,))
    for step in range(STEPS):
        try:
            reply = await answered(model, asked, idle_seconds=idle_seconds)
        except ModelRefused:
            if step or not asked.tools:
                raise
            asked = request
            reply = await answered(model, asked, idle_seconds=idle_seconds)
        except EmptyReply:
            if not sections:
                raise
            break
        spent(reply.usage)
        if not reply.calls:
            sections |= _sections(reply)
            break
        answers = [_edited(call, sections) for call in reply.calls]
        left -= reply.usage.output_tokens
        if left <= 0 or reply.stop in ("length", "refused"):
            break
        messages: tuple[Message, ...] = (*asked.messages, reply.message, results(*answers))
        asked = replace(asked, messages=messages, max_output_tokens=left)
    return sections


def _edited(call: ToolCall, sections: dict[str, str]) -> ToolResult:
    """Take one edit; what is wrong with it is said to the model."""
    if call.name != EDIT.name:
        text = f"There is no tool {call.name}; there is {EDIT.name} alone."
        return result(call.id, text, is_error=True)
    given: Mapping[str, object] = call.input
    section, text = given.get("section"), given.get("text")
    heading = heading_of(section) if isinstance(section, str) else None
    if heading is None:
        text = f"There is no such section; there are: {', '.join(HEADINGS)}."
        return result(call.id, text, is_error=True)
    if not isinstance(text, str) or not text.strip():
        return result(call.id, f"The text of {heading} is missing.", is_error=True)
    # What looks like a heading within a section would be one the next time.
    lines = [line for line in text.strip().splitlines() if heading_of(line) is None]
    sections[heading] = scrub("\n".join(lines))[0]
    return result(call.id, f"{heading} is written.")


def _sections(reply: Reply) -> dict[str, str]:
    """The sections of an answer in words; none of one that was cut off."""
    if reply.stop in ("length", "refused"):
        return {}
    found = parsed(reply.message.text)
    return {heading: scrub(text)[0] for heading, text in found.items() if text}
