"""How mechanisms are switched off: requests changed on their way, files between two sessions, a gate
that is open, and models with one fault each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from wayfare.memory.candidate import Candidate, Verdict
from wayfare.memory.gate import Existing, GateContext
from wayfare.memory.slug import name_key
from wayfare.messages import Block, Message, Origin, Text, ToolCall, ToolResult
from wayfare.model import Request
from wayfare.providers.script import Line
from wayfare.verify import stage, this_once
from wayfare.verify.recorder import kind_of
from wayfare.verify.stand_in import answer


def without_results(request: Request) -> Request:
    """The receipt of `compact` never reaches the model."""
    compacts = {c.id for m in request.messages for c in m.calls if c.name == "compact"}

    def kept(block: Block) -> bool:
        return not (isinstance(block, ToolResult) and block.call_id in compacts)

    messages = (m.with_blocks(b for b in m.blocks if kept(b)) for m in request.messages)
    return replace(request, messages=tuple(m for m in messages if m.blocks))


def blanked(request: Request) -> Request:
    """Results are cut before the model saw them."""

    def cut(block: Block) -> Block:
        if not isinstance(block, ToolResult):
            return block
        return ToolResult(call_id=block.call_id, content=(Text(text="[cleared]"),))

    messages = (m.with_blocks(map(cut, m.blocks)) if m.results else m for m in request.messages)
    return replace(request, messages=tuple(messages))


def _with_texts(request: Request, change: Callable[[Message, str], str]) -> Request:
    """The request with the texts of its messages changed."""

    def changed(message: Message) -> Message:
        return message.with_blocks(
            Text(text=change(message, b.text)) if isinstance(b, Text) else b for b in message.blocks
        )

    return replace(request, messages=tuple(map(changed, request.messages)))


def aimless(request: Request) -> Request:
    """What stands for the history says nothing of the task."""

    def change(message: Message, text: str) -> str:
        return text.replace(stage.LINE, "…") if message.origin is Origin.SUMMARY else text

    return _with_texts(request, change)


def speechless(request: Request) -> Request:
    """Nothing stands for the history, the request of the user included."""
    if not any(m.origin is Origin.SUMMARY for m in request.messages):
        return request
    return _with_texts(request, lambda message, text: "…" if message.role == "user" else text)


def overruled(request: Request) -> Request:
    """Memory in place of what the user asks for now."""
    return _with_texts(request, lambda message, text: text.replace(this_once.WISH, ""))


def truncate_archive(workspace: Path, session: str) -> None:
    """The second half of every archived result is lost."""
    for path in (workspace / ".task_outputs").rglob("*.txt"):
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])


def file_sessions(workspace: Path, session: str) -> None:
    """The transcript of a session is filed as a memory."""
    folder = workspace / ".memory"
    folder.mkdir(exist_ok=True, mode=0o700)
    log = workspace / ".transcripts" / session / "transcript.jsonl"
    text = f"---\nname: session\ndescription: what was done\ntype: project\n---\n{log.read_text()}"
    (folder / "session.md").write_text(text, encoding="utf-8")


def drop_index(workspace: Path, session: str) -> None:
    """The index of the memory is lost."""
    (workspace / ".memory" / "MEMORY.md").unlink(missing_ok=True)


def lose_files(workspace: Path, session: str) -> None:
    """A file that was written is lost."""
    (workspace / "again.py").unlink(missing_ok=True)


def open_gate(candidate: Candidate, existing: Existing, context: GateContext) -> Verdict:
    """Everything may be written."""
    file = existing.by_name.get(name_key(candidate.name), "")
    outcome = "update" if file else "accept"
    return Verdict(outcome=outcome, candidate=candidate, file=file)


def stop(payload: object) -> dict[str, str]:
    """Every compaction is stopped."""
    return {"decision": "block", "reason": "switched off"}


def forgetful(request: Request) -> Line:
    """Says it will remember, and names nothing when asked what to keep."""
    return '{"memories": []}' if kind_of(request) == "extraction" else answer(request)


def incurious(request: Request) -> Line:
    """Chooses no record."""
    return '{"selected": []}' if kind_of(request) == "selection" else answer(request)


def headstrong(request: Request) -> Line:
    """Writes tabs whatever it is asked for."""
    line = answer(request)
    if isinstance(line, ToolCall) and line.name == "write_file":
        content = re.sub(r"^ {4}", "\t", str(line.input["content"]), flags=re.MULTILINE)
        return ToolCall(id=line.id, name=line.name, input={**line.input, "content": content})
    return line


def lazy(request: Request) -> Line:
    """Calls no tool and says that all is done."""
    return answer(request) if kind_of(request) != "step" else "All of it is done."


def paraphrasing(request: Request) -> Line:
    """Offers a wish for one session as a lasting one, in words of its own."""
    return _with_body(request, "The user does not want files to be created.")


def inventive(request: Request) -> Line:
    """Offers what nobody said."""
    return _with_body(request, "The user's memory is a list of lines that are not deleted.")


def _with_body(request: Request, body: str) -> Line:
    line = answer(request)
    if kind_of(request) != "extraction":
        return line
    found = json.loads(str(line))
    for one in found["memories"]:
        one["body"] = body
    return json.dumps(found)
