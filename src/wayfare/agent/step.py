"""A step: one model call and the tools it asked for."""

from __future__ import annotations

from wayfare.agent.compaction import compact
from wayfare.agent.kit import Kit
from wayfare.agent.limits import reached
from wayfare.agent.model_call import ask
from wayfare.agent.run_tools import Batch, run_batch
from wayfare.agent.turn import Continue, Done, Outcome, Stopped, Turn, admit, append, system_words
from wayfare.agent.unfinished import open_ends
from wayfare.errors import EmptyReply
from wayfare.messages import user
from wayfare.model import Reply

GO_ON = "[wayfare] Your reply was cut by the output limit. Go on exactly where it ended."
SAY_SOMETHING = "[wayfare] Your last reply was empty. Go on with the task, or say in a sentence that it is done."


async def step(kit: Kit, turn: Turn) -> Outcome:
    """Let the model answer once; run what it calls, or see whether the turn may end.

    Raises:
        ModelError, CannotFit, WriteFailed: see `model_call.ask`; the log is as it was before.
    """
    over = reached(
        kit.limits,
        kit.totals,
        steps=turn.steps,
        seconds=kit.clock.monotonic() - turn.began,
    )
    if over is not None:
        return Stopped(reason=over.limit, text=over.text)
    await _attach(kit, turn)
    turn.steps += 1
    try:
        reply = await ask(kit)
    except EmptyReply as error:
        return await _after_silence(kit, turn, error)
    turn.empties_in_a_row = 0
    await append(kit, reply.message, usage=reply.usage)
    kit.tell("step.replied", "", stop=reply.stop, calls=len(reply.calls), **_usage(kit, reply))
    if reply.calls:
        return await _answer(kit, turn, reply)
    after = _after_a_cut if reply.stop == "length" else _stop
    outcome = await after(kit, turn, reply)
    await _grant(kit)
    return outcome


async def _attach(kit: Kit, turn: Turn) -> None:
    """What the port before a turn found: waited for before the first step, taken later if late."""
    if turn.pending is None:
        return
    found = await turn.pending.ready(wait=turn.steps == 0)
    if found:
        await append(kit, *found)


def _usage(kit: Kit, reply: Reply) -> dict[str, object]:
    return {
        "usage": reply.usage,
        "context_tokens": kit.governor.tokens,
        "cost": kit.totals.cost,
    }


async def _answer(kit: Kit, turn: Turn, reply: Reply) -> Outcome:
    """Run the calls; whatever happens, append one result for each, then what was typed meanwhile."""
    turn.used_tools = True
    turn.stops_in_a_row = turn.cuts_in_a_row = 0
    batch = Batch(calls=reply.calls, cut=reply.stop == "length")
    try:
        await run_batch(kit, batch)
        repeating = _repeats(kit, turn, batch)
    finally:
        await append(kit, *batch.messages())
    outcome = await _after_batch(kit, batch, repeating)
    await _grant(kit)
    return outcome


async def _after_batch(kit: Kit, batch: Batch, repeating: str) -> Outcome:
    if batch.ended:
        return Stopped(reason="hook", text=batch.ended)
    if repeating:
        return Stopped(reason="repeating", text=repeating)
    return await _take_typed(kit) or Continue()


async def _grant(kit: Kit) -> None:
    """Compact if somebody wished it; no call is open here."""
    wish = kit.context.compaction.take()
    if wish is not None:
        await compact(kit, focus=wish.focus, trigger=wish.trigger)


def _repeats(kit: Kit, turn: Turn, batch: Batch) -> str:
    """Say to the model that it repeats itself; what is returned ends the turn."""
    ended = ""
    for call, result in zip(batch.calls, batch.results(), strict=True):
        repeat = turn.detector.seen(call, result)
        if repeat.times >= kit.limits.repeats_ended:
            ended = (
                f"stopped: {call.name} was called {repeat.times} times with the same input and the "
                "same result. Say what to do differently to go on."
            )
        elif repeat.times >= kit.limits.repeats_told:
            batch.notes.append(f"[wayfare] {repeat.text}")
            kit.tell("loop.repeating", repeat.text, tool=call.name, times=repeat.times)
    return ended


async def _take_typed(kit: Kit) -> Stopped | None:
    """Append what was typed meanwhile."""
    for text in kit.inbox.take():
        taken = await admit(kit, user(text))
        if isinstance(taken, Stopped):
            return taken
        await append(kit, *taken)
    return None


async def _after_silence(kit: Kit, turn: Turn, error: EmptyReply) -> Outcome:
    turn.empties_in_a_row += 1
    if turn.empties_in_a_row > kit.limits.empty_replies_in_a_row:
        raise error
    await append(kit, system_words(SAY_SOMETHING))
    return Continue()


async def _after_a_cut(kit: Kit, turn: Turn, reply: Reply) -> Outcome:
    turn.cuts_in_a_row += 1
    if turn.cuts_in_a_row > kit.limits.length_stops_in_a_row:
        text = f"stopped: {turn.cuts_in_a_row} replies in a row were cut by the output limit"
        return Stopped(reason="length", text=text)
    await append(kit, system_words(GO_ON))
    return Continue()


async def _stop(kit: Kit, turn: Turn, reply: Reply) -> Outcome:
    """The model called nothing: what was typed meanwhile and Stop hooks may send it on."""
    turn.cuts_in_a_row = 0
    if len(kit.inbox):
        turn.stops_in_a_row = 0
        return await _take_typed(kit) or Continue()
    done = Done(text=reply.message.text)
    if reply.stop == "refused" or turn.stops_in_a_row >= kit.limits.stop_hooks_in_a_row:
        return done
    said = await _handed_back(kit, turn)
    if isinstance(said, Stopped) or not said:
        return said or done
    turn.stops_in_a_row += 1
    kit.tell("turn.handed_back", said)
    await append(kit, system_words(said))
    return Continue()


async def _handed_back(kit: Kit, turn: Turn) -> str | Stopped:
    """What the Stop hooks hand back; empty when the turn may end."""
    if turn.used_tools and not turn.handed_back:
        unfinished = open_ends(kit.governor.ledger, since_entry=turn.since_entry)
        if unfinished:
            turn.handed_back = True
            return f"[wayfare] {unfinished}"
    payload = {**kit.payload, "stop_hook_active": turn.stops_in_a_row > 0}
    said = await kit.hooks.run("Stop", payload)
    for line in said.messages:
        kit.tell("hook.message", line)
    if said.end_turn:
        return Stopped(reason="hook", text=said.reason or "a hook ended the turn")
    return f"[hook] {said.reason}" if said.blocked else ""
