"""Compaction on request: hooks before and after, never while a call is open."""

from __future__ import annotations

from wayfare.agent.kit import Kit
from wayfare.transcript import EditEntry


async def compact(kit: Kit, *, focus: str = "", trigger: str = "manual") -> tuple[EditEntry, ...]:
    """Make the context smaller now.

    Args:
        focus: What matters, in the words of whoever asked.
        trigger: `manual` for a person, `model` for the tool.

    Returns:
        The edits; none when a hook stopped it or there was nothing to gain, which events say.

    Raises:
        WriteFailed: what had to leave the context could not be archived; nothing changed.
    """
    payload = {**kit.payload, "trigger": trigger, "custom_instructions": focus}
    said = await kit.hooks.run("PreCompact", payload)
    if said.blocked:
        kit.tell("compaction.stopped", f"a hook stopped the compaction: {said.reason}")
        return ()
    focus = "\n".join(filter(None, (focus, *said.additional_context)))
    before = kit.governor.tokens
    edits = tuple(await kit.compactor(kit.governor, focus=focus))
    after = kit.governor.tokens
    if not edits:
        kit.tell("compaction.nothing", "nothing to compact: what is there stays as it is")
        return ()
    text = f"compacted: {before:,} → {after:,} tokens"
    kit.tell("compaction.done", text, before_tokens=before, after_tokens=after, trigger=trigger)
    payload = {**kit.payload, "trigger": trigger, "summary": _shown(kit)}
    await kit.hooks.run("PostCompact", payload)
    return edits


def _shown(kit: Kit) -> str:
    """The text that stands for what was compacted."""
    return next((slot.message.text for slot in kit.governor.view if slot.made), "")
