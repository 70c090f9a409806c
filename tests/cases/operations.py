"""The operations of cases, carried out by the real runtime."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from tests.cases import memory_ops
from tests.cases.compact_ops import compact, compact_exit_resume, session_note
from tests.cases.outcome import NotYet, Outcome, snapshot
from tests.cases.react import classify_case
from tests.cases.run_ops import run
from tests.cases.sessions import budget_of, format_of, see

from wayfare.backends import OsDisk
from wayfare.clock import MovableClock
from wayfare.events import Event
from wayfare.formats import codec
from wayfare.session import Begun, Places, open_session
from wayfare.testing.read_only_disk import ReadOnlyDisk
from wayfare.tokens import TokenMeter
from wayfare.transcript import entries as en

Operation = Callable[[dict[str, Any], Path], Coroutine[Any, Any, Outcome]]


async def _open(setup: dict[str, Any], outcome: Outcome, session: str = "") -> Begun:
    fault = setup.get("fault") or {}
    disk = ReadOnlyDisk(OsDisk()) if fault.get("kind") == "readonly_dir" else None

    def watch(event: Event) -> None:
        outcome.events.append(f"{event.name}: {event.text}")

    outcome.calls["open_session"] = outcome.calls.get("open_session", 0) + 1
    return await open_session(
        Places(workspace=outcome.root),
        session,
        budget=budget_of(setup),
        clock=MovableClock(),
        format=format_of(setup),
        watch=watch,
        disk=disk,
    )


async def _finish(begun: Begun, outcome: Outcome, setup: dict[str, Any]) -> None:
    """Take the request and what the session left on disk into the outcome."""
    prepared = await begun.governor.prepare()
    await begun.governor.transcript.close()
    await see(begun.governor, list(prepared.messages), outcome, setup)


async def prepare(case: dict[str, Any], root: Path) -> Outcome:
    """Run the pipeline before a model call and look at the request."""
    setup, given = case["setup"], case["input"]
    messages = given.get("messages", given.get("items", []))
    outcome = Outcome(root=root, input_messages=messages)
    outcome.calls["summary"] = 0
    own = codec(format_of(setup))
    meter = TokenMeter()
    outcome.estimates = {
        f"messages[{at}]": meter.message(own.decode(m)).tokens for at, m in enumerate(messages)
    }
    begun = await _open(setup, outcome)
    await begun.governor.add([own.decode(message) for message in messages])
    await _finish(begun, outcome, setup)
    return outcome


async def estimate(case: dict[str, Any], root: Path) -> Outcome:
    """Estimate a text, or each variant of a message."""
    meter = TokenMeter()
    given = case["input"]
    outcome = Outcome(root=root)
    if "text" in given:
        outcome.estimates = {"text": meter.text(given["text"])}
    own = codec(format_of(case["setup"]))
    for name, message in given.get("variants", {}).items():
        outcome.estimates[name] = meter.message(own.decode(message)).tokens
    return outcome


async def resume(case: dict[str, Any], root: Path) -> Outcome:
    """Open a session that an earlier process left, append, prepare; then open it once more."""
    setup = case["setup"]
    outcome = Outcome(root=root)
    name = setup.get("session_id", "earlier")
    lines = setup.get("session_files", {}).get("transcript.jsonl")
    if lines is not None:
        _leave(root, name, lines, format_of(setup))
    begun = await _open(setup, outcome, name)
    outcome.outcome = "fresh_session" if begun.how == "fresh" else begun.how
    outcome.calls.update(tool=0, summary=0)
    added = case["input"].get("append")
    if added is None:
        await begun.governor.transcript.close()
        return outcome
    await begun.governor.add([codec(format_of(setup)).decode(added)])
    await _finish(begun, outcome, setup)
    again = Outcome(root=root, before=snapshot(root))
    second = await _open(setup, again, name)
    await second.governor.prepare()
    await second.governor.transcript.close()
    outcome.again = again
    return outcome


def _leave(root: Path, name: str, lines: str, format: str) -> None:
    """Write the transcript that a process before us left, its last line torn where the case's is."""
    log = Places(workspace=root).log(name)
    log.parent.mkdir(parents=True)
    head = en.MarkEntry(v=1, id=1, time=1.0, name="session", detail={"format": format})
    written = [en.encode(head)]
    for number, line in enumerate(lines.split("\n"), 2):
        if not line:
            continue
        try:
            message = codec(format).decode(json.loads(line))
        except ValueError:
            torn = en.encode(
                en.MarkEntry(v=1, id=number, time=1.0, name="cut", detail={"text": line})
            )
            log.write_bytes(b"\n".join(written) + b"\n" + torn[: len(torn) // 2])
            return
        entry = en.MessageEntry(v=1, id=number, time=1.0, origin=message.origin, wire=message.wire)
        written.append(en.encode(entry))
    log.write_bytes(b"\n".join(written) + b"\n")


async def react(case: dict[str, Any], root: Path) -> Outcome:
    """Classify an error; the runtime's next step follows from it."""
    outcome = Outcome(root=root)
    outcome.calls["summary"] = 0
    found = classify_case(case)
    outcome.reaction, outcome.limit_read = str(found.reaction), found.limit_tokens
    outcome.wait_seconds = found.retry_after_seconds
    return outcome


OPERATIONS: dict[str, Operation] = {
    "prepare": prepare,
    "estimate": estimate,
    "resume": resume,
    "react": react,
    "run": run,
    "compact": compact,
    "compact_exit_resume": compact_exit_resume,
    "session_note": session_note,
}


async def run_operation(case: dict[str, Any], root: Path) -> Outcome:
    """Carry out a case's operation; an error that leaves the runtime is noted, not raised.

    Raises:
        NotYet: the runtime cannot do that yet.
    """
    operation = OPERATIONS.get(case["setup"]["op"])
    if operation is not None:
        return await operation(case, root)
    if case["setup"]["op"] in memory_ops.OPERATIONS:
        return Outcome(root=root, **await memory_ops.run_memory_case(case, root))
    raise NotYet(case["setup"]["op"])
