"""`wayfare notes`: where was I; the notes of a session."""

from __future__ import annotations

from pathlib import Path

from wayfare.cli.addresses import chosen_session
from wayfare.cli.printing import put, say
from wayfare.notes.keeper import NAME
from wayfare.notes.seed import last_work, seeded
from wayfare.notes.template import covers, rendered, without_empty
from wayfare.session import Places, file_transcript, looked_at, run_sync
from wayfare.session.compacting import notes_address, notes_docs

_MOST_TOKENS = 8_000


def run(session: str, root: Path) -> None:
    """Print the notes of a session; where there is no file yet, what code alone knows.

    Raises:
        NotFound: there is no such session.
    """
    places = Places(workspace=root.resolve())
    name = chosen_session(places, session)
    text, told = run_sync(notes_text, places, name)
    put(text.rstrip("\n") + "\n")
    say(told)


async def notes_text(places: Places, session: str) -> tuple[str, str]:
    """The notes and a line on where they come from."""
    from wayfare.clock import SystemClock

    content = await notes_docs(places, session).read(NAME)
    transcript = file_transcript(places, session, clock=SystemClock())
    governor = await looked_at(transcript)
    newest = transcript.last_id
    if content is not None:
        text = content.decode("utf-8", "replace")
        reached = covers(text)
        upto = f"a model wrote them up to entry {reached} of {newest}" if reached else "by code"
        return without_empty(text), f"{notes_address(places, session)}: {upto}"
    sections = seeded(
        {"Current State": last_work(governor.ledger)},
        governor.ledger,
        count=governor.meter.text,
        most_tokens=_MOST_TOKENS,
    )
    return without_empty(rendered(sections, 0)), f"{session}: no notes yet; made from the log"
