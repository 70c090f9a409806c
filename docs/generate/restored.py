"""A session that is compacted while a task list, a running command and open files are its state."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from wayfare import Session
from wayfare.clock import MovableClock
from wayfare.formats import codec
from wayfare.messages import Message, Origin, ToolCall
from wayfare.model import Request
from wayfare.providers.script import Turn
from wayfare.providers.scripted import ScriptedModel
from wayfare.replay.recording import Recording

WINDOW_TOKENS: Final = 16_000
_FILES: Final = 6
_LEAST_CHARS, _MOST_CHARS = 2_000, 9_000
"""Of a file the session reads: more than nothing, and a few of them fit the window."""
_REQUEST: Final = (
    "Read the files of the package; then port the tests. Never touch the vendor folder."
)
_TODOS: Final = (
    {"id": "1", "content": "read the files of the package", "status": "completed"},
    {"id": "2", "content": "port the tests", "status": "in_progress"},
    {"id": "3", "content": "run them all", "status": "pending"},
)
_MARKS: Final = {
    "From the log, with entry numbers:": "facts the summary forgot",
    "File names:": "names in use",
    "Task list:": "task list",
    "Permission mode:": "permission mode",
    "Commands in the background:": "running commands",
    "Session notes:": "session notes",
    "Instruction files, changed since the session began:": "instructions",
    "Files used last, as they are on disk now:": "recent files from disk",
    "Full transcript:": "address of all of it",
}
"""How each part of the message begins, and what it is called in the picture."""
_HEADS: Final = ("[Compacted]", "Current user request:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A piece of the message that stands for what was compacted: what it is, and its text."""

    name: str
    text: str

    @property
    def begins(self) -> str:
        """Its first words behind the title."""
        text = re.sub(r"<file path=\"([^\"]+)\">.*?</file>", r"\1 ", self.text, flags=re.S)
        for mark in (*_HEADS, *_MARKS):
            text = text.removeprefix(mark).lstrip()
        lines = [line.strip("- ") for line in text.splitlines() if not line.startswith("#")]
        return " · ".join(line for line in lines if line)


async def first_request(recording: Recording, summary: Callable[[Request], str]) -> Request:
    """The first request after a compaction on demand, in a real session on real files."""
    files = _written(recording)
    script: list[Turn] = [_asked("todo_write", todos=list(_TODOS))]
    script += [_asked("bash", command="sleep 600", background=True)]
    script += [_asked("read_file", path=path) for path in files]
    script += ["All read.", "The tests come next.", "Porting the first test."]
    model = ScriptedModel(script, window_tokens=WINDOW_TOKENS, max_output_tokens=1_000)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8")
        opening = Session.open(
            root,
            model=model,
            side_model=ScriptedModel(always=summary, window_tokens=WINDOW_TOKENS),
            mode="full",
            role="You are an agent.",
            clock=MovableClock(1.7e9),
            sync="never",
        )
        async with opening as session:
            await session.run(_REQUEST)
            (root / "AGENTS.md").write_text("Tests are written with node:test from now on.\n")
            await session.compact()
            await session.run("Go on.")
    return model.requests[-1]


def parts(request: Request) -> tuple[Message, list[Part]]:
    """The message of a request that stands for what was compacted, and what it is made of."""
    message = next(m for m in request.messages if m.origin is Origin.SUMMARY)
    head, prose, rest = (getattr(block, "text", "") for block in message.blocks)
    found = [Part(name="the user's request", text=head)]
    found.append(Part(name="summary", text=prose))
    marks = "|".join(map(re.escape, _MARKS))
    for piece in re.split(rf"(?m)^(?=(?:{marks}))", rest):
        name = next((name for mark, name in _MARKS.items() if piece.startswith(mark)), "")
        text = piece.replace("State as it is now:", "").strip()
        if text:
            found.append(Part(name=name, text=text))
    return message, found


def _asked(name: str, **given: object) -> ToolCall:
    return ToolCall(
        id=f"{name}-{sha256(repr(given).encode()).hexdigest()[:8]}", name=name, input=given
    )


def _written(recording: Recording) -> dict[str, str]:
    """A few files as the recorded session read them, by path."""
    decode = codec(recording.format).decode
    paths: dict[str, str] = {}
    files: dict[str, str] = {}
    for message in map(decode, recording.messages):
        for call in message.calls:
            if call.name == "read" and "offset" not in call.input and "limit" not in call.input:
                paths[call.id] = str(call.input.get("path", ""))
        for result in message.results:
            path = paths.get(result.call_id, "")
            if path and _LEAST_CHARS <= len(result.text) <= _MOST_CHARS:
                files.setdefault(Path(path).name, result.text)
        if len(files) >= _FILES:
            break
    return files
