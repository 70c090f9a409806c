"""Compaction, whoever asks for it: hooks before and after, never while a call is open."""

from __future__ import annotations

from wayfare.agent.kit import Kit
from wayfare.context.summarizer import due
from wayfare.transcript import EditEntry


async def compact(kit: Kit, *, focus: str = "", trigger: str = "manual") -> tuple[EditEntry, ...]:
    """Make the context smaller now.

    Args:
        focus: What matters, in the words of whoever asked.
        trigger: `manual` for a person, `model` for the tool, `auto` for the limit, `reactive`
            for a refusal.

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
    began = kit.clock.monotonic()
    cost = kit.totals.cost
    edits = tuple(await kit.compactor(kit.governor, focus=focus, trigger=trigger))
    after = kit.governor.tokens
    if not edits:
        kit.tell("compaction.nothing", "nothing was compacted: what is there stays as it is")
        return ()
    text = f"compacted: {before:,} → {after:,} tokens"
    fields = {
        "before_tokens": before,
        "after_tokens": after,
        "trigger": trigger,
        "by": edits[-1].by,
        "reason": edits[-1].reason,
        "seconds": kit.clock.monotonic() - began,
        "cost": kit.totals.cost - cost,
    }
    kit.tell("compaction.done", text, **fields)
    payload = {**kit.payload, "trigger": trigger, "summary": _shown(kit)}
    await kit.hooks.run("PostCompact", payload)
    return edits


async def compact_if_due(kit: Kit) -> None:
    """Compact before a model call that needs it, where shortening results is not enough.

    A hook that stops it leaves the next call a digest, since the request must fit.

    Raises:
        WriteFailed: what had to leave the context could not be archived; nothing changed.
    """
    if due(kit.governor):
        await compact(kit, trigger="auto")


def _shown(kit: Kit) -> str:
    """The text that stands for what was compacted."""
    return next((slot.message.text for slot in kit.governor.view if slot.made), "")
