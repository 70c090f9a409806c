"""The session: the one place that opens the real things and wires them."""

from wayfare.session.opening import (
    Begun,
    file_transcript,
    governed,
    looked_at,
    memory_transcript,
    open_session,
    read_address,
    run_sync,
    session_name,
)
from wayfare.session.places import RESULTS, TRANSCRIPTS, Places, session_names

__all__ = [
    "RESULTS",
    "TRANSCRIPTS",
    "Begun",
    "Places",
    "file_transcript",
    "governed",
    "looked_at",
    "memory_transcript",
    "open_session",
    "read_address",
    "run_sync",
    "session_name",
    "session_names",
]
