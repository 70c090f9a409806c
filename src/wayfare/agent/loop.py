"""The loop: steps until the model is done or the turn is stopped."""

from __future__ import annotations

from contextlib import suppress

import anyio

from wayfare.agent.kit import Kit
from wayfare.agent.step import step
from wayfare.agent.turn import Continue, Ended, Outcome, Stopped, Turn, begin, end
from wayfare.errors import WayfareError
from wayfare.messages import Message

INTERRUPTED = Stopped(reason="interrupted", text="interrupted; say “continue” to go on")


async def run_turn(
    kit: Kit, request: str | Message | None, *, scope: anyio.CancelScope | None = None
) -> Ended:
    """Run one turn: from a request (None: go on with what the log holds) until it ends.

    Cancelling ends it cleanly: processes are ended, every open call gets its result and the mark of
    the end is written. A cancelled `scope` ends the turn as `interrupted`; a cancellation from
    further outside goes on outward.

    Raises:
        WayfareError: what nobody here could handle, such as a wrong key; the session stays valid.
    """
    turn = Turn.starting(kit)
    outcome: Outcome = INTERRUPTED
    try:
        with scope or anyio.CancelScope():
            outcome = await begin(kit, turn, request)
            while isinstance(outcome, Continue):
                outcome = await step(kit, turn)
    except BaseException as error:
        # The error at hand matters more than one that keeps its mark out of the log.
        with suppress(WayfareError):
            await _end(kit, turn, _why(error))
        raise
    return await _end(kit, turn, outcome)


def _why(error: BaseException) -> Stopped:
    if isinstance(error, Exception):
        return Stopped(reason="error", text=str(error) or type(error).__name__)
    return INTERRUPTED


async def _end(kit: Kit, turn: Turn, outcome: Outcome) -> Ended:
    if kit.context.compaction.take() is not None:
        # Granted later, it would surprise whoever has gone on to something else.
        kit.tell("compaction.stopped", "not compacted: the turn was stopped before")
    with anyio.CancelScope(shield=True):
        return await end(kit, turn, outcome if not isinstance(outcome, Continue) else INTERRUPTED)
    raise AssertionError("nobody cancels this scope")
