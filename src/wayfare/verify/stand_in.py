"""A model whose replies are computed from the request alone: the public double of `verify`.

It does what a careful model does with the experiments' tasks, and knows nothing that the request
does not say: it indents with tabs only if the request holds the record about tabs and nothing
against it, and goes on after a compaction from what the summary says is done. As an extractor it is
careless on purpose: whatever sounds like a wish it offers as a lasting one, so that what keeps
one-off wishes out of memory is the gate and not the model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from wayfare.messages import Message, ToolCall
from wayfare.model import Request
from wayfare.providers.script import Line
from wayfare.providers.scripted import ScriptedModel
from wayfare.verify.recorder import kind_of

_READ: Final = re.compile(r"Read these files with read_file.*?: (?P<names>[^\n]+?)\.(?=\s|$)")
_LOG: Final = re.compile(r"Call print_log\b")
_COMPACT: Final = re.compile(r"call compact\b")
_WRITE: Final = re.compile(
    r"[Cc]reate a (?P<python>Python )?file called (?P<name>[\w./-]+\.\w+)"
    r"(?:[^\n]*?exactly this line: (?P<line>[^\n]+?)\.(?=\s|$))?"
)
_ASKS_INDENT: Final = re.compile(r"How do I want Python code indented")
_TABS: Final = re.compile(r"\bindent\w*\b[^.\n]*\btabs\b", re.IGNORECASE)
_SPACES: Final = re.compile(r"\bfour spaces\b", re.IGNORECASE)
_DONE: Final = re.compile(r"^- done: (?P<tool>\w+)(?: (?P<main>\S+))?", re.MULTILINE)
_HISTORY: Final = re.compile(
    r"^#\d+ assistant calls (?P<tool>\w+):(?: path=(?P<path>[^\s,]+)|[^\n]*?\"path\": ?\"(?P<json>[^\"]+)\")?",
    re.MULTILINE,
)
_USER_LINE: Final = re.compile(r"^\[(?P<entry>\d+)\] USER: (?P<said>.*)$", re.MULTILINE)
_WISHES: Final[Mapping[str, re.Pattern[str]]] = {
    "python-indentation": re.compile(r"\b(tabs|spaces)\b", re.IGNORECASE),
    "creating-files": re.compile(r"\bdo not create\b", re.IGNORECASE),
}
_ABOUT: Final[Mapping[str, str]] = {
    "python-indentation": "How the user wants Python code laid out",
    "creating-files": "What the user wants of new files",
}


def stand_in(window_tokens: int = 16_000) -> ScriptedModel:
    """The model.

    Args:
        window_tokens: Its window; requests above it are refused, as a provider does.
    """
    return ScriptedModel(
        always=answer, name="stand-in", window_tokens=window_tokens, max_output_tokens=4_000
    )


def answer(request: Request) -> Line:
    """The reply to a request, computed from what it says."""
    match kind_of(request):
        case "selection":
            return _selection(request)
        case "extraction":
            return _extraction(request)
        case "summary":
            return _summary(request)
        case "notes":
            return "# Current State\nThe task of the user is being worked on, as the worklog says."
        case _:
            return _step(request)


def _step(request: Request) -> Line:
    task = _task(request.messages)
    done = set(_done(request.messages))
    for tool, main, given in _work(task, request):
        if (tool, main) not in done:
            return ToolCall(id=_call_id(request), name=tool, input=given)
    if _ASKS_INDENT.search(task):
        return "With tabs." if _holds_tabs(request) else "I do not know how you want it."
    return "I will remember that." if "Keep that in mind" in task else "All of it is done."


def _work(task: str, request: Request) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The calls a task needs, in order: tool, main argument, input."""
    for found in _READ.finditer(task):
        for name in found["names"].split(", "):
            yield "read_file", name, {"path": name}
    if _LOG.search(task):
        yield "print_log", "", {}
    if _COMPACT.search(task):
        yield "compact", "", {"focus": "what comes next"}
    for found in _WRITE.finditer(task):
        content = f"{found['line']}\n" if found["line"] else _greeting(_indent(task, request))
        yield "write_file", found["name"], {"path": found["name"], "content": content}


def _greeting(indent: str) -> str:
    return f'def greet(name):\n{indent}return f"Hello, {{name}}!"\n'


def _indent(task: str, request: Request) -> str:
    return "\t" if _holds_tabs(request) and not _SPACES.search(task) else "    "


def _holds_tabs(request: Request) -> bool:
    texts = (request.system, *(message.text for message in request.messages))
    return any(_TABS.search(text) for text in texts)


def _task(messages: Sequence[Message]) -> str:
    """What the user asked for last: the last user message with words of a task in it."""
    patterns = (_READ, _LOG, _WRITE, _ASKS_INDENT)
    said = [m.text for m in messages if m.role == "user" and not m.results and m.text]
    tasks = [text for text in said if any(pattern.search(text) for pattern in patterns)]
    asked = [text for text in said if not text.startswith(("<", "["))]
    return (tasks if tasks and (not asked or tasks[-1] in asked) else asked or [""])[-1]


def _done(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """What was done so far: calls that stand in the request, and what a summary says of others."""
    for message in messages:
        for call in message.calls:
            yield call.name, str(call.input.get("path", ""))
        if message.role == "user":
            for found in _DONE.finditer(message.text):
                yield found["tool"], found["main"] or ""


def _call_id(request: Request) -> str:
    """An id no other call of the request has."""
    used = {call.id for message in request.messages for call in message.calls}
    number = len(request.messages)
    while f"call-{number}" in used:
        number += 1
    return f"call-{number}"


def _selection(request: Request) -> str:
    listed = re.findall(r"^\[(\d+)\]", request.messages[-1].text, re.MULTILINE)
    return json.dumps({"selected": [int(number) for number in listed][:5]})


def _extraction(request: Request) -> str:
    found: list[dict[str, Any]] = []
    for line in _USER_LINE.finditer(request.messages[-1].text):
        for sentence in re.split(r"(?<=[.!?])\s+", line["said"]):
            for name, wish in _WISHES.items():
                if wish.search(sentence) and not sentence.endswith("?"):
                    found.append(_candidate(name, sentence, int(line["entry"])))
    return json.dumps({"memories": found})


def _candidate(name: str, sentence: str, entry: int) -> dict[str, Any]:
    return {
        "name": name,
        "type": "user",
        "scope": "persistent",
        "description": _ABOUT[name],
        "body": sentence,
        "evidence": [entry],
    }


def _summary(request: Request) -> str:
    text = request.messages[-1].text
    calls = [(m["tool"], m["path"] or m["json"] or "") for m in _HISTORY.finditer(text)]
    earlier = [(m["tool"], m["main"] or "") for m in _DONE.finditer(text)]
    done = dict.fromkeys([*earlier, *calls])
    facts = "\n".join(re.findall(r"<facts>\n(.*?)\n</facts>", text, re.DOTALL)) or "-"
    lines = "\n".join(f"- done: {tool} {main}".rstrip() for tool, main in done) or "-"
    return (
        f"<summary>\n## Goal and standing constraints\n{facts}\n"
        "## Decisions\n-\n## Files and functions\n-\n## Errors and corrections\n-\n"
        f"## State of work\n{lines}\n## Next step\nWhat the task says comes next.\n"
        "## Open questions\n-\n</summary>"
    )
