"""A model that behaves: it answers the agent, the selection and the extraction from what it is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.flow.opened import Watching

from wayfare.clock import MovableClock
from wayfare.memory.side_query import prompt_text
from wayfare.model import Request
from wayfare.providers.script import Line
from wayfare.session.memory_wanted import MemoryWanted

Answer = Callable[[Request], Line]
Found = Callable[[str, int], list[dict[str, Any]]]

SELECT = prompt_text("memory_select")
EXTRACT = prompt_text("memory_extract")
CONSOLIDATE = prompt_text("memory_consolidate")


def words_of(request: Request) -> str:
    """All text of a request's messages."""
    return "\n".join(m.text for m in request.messages)


class Mind:
    """Replies computed from requests.

    Args:
        works: Answers the agent.
        finds: The records a line of the user's holds, from its text and its number.
    """

    def __init__(self, works: Answer, finds: Found) -> None:
        self._works = works
        self._finds = finds
        self.selections: list[Request] = []
        self.extractions: list[Request] = []
        self.consolidations: list[Request] = []
        self.asked: list[Request] = []

    def __call__(self, request: Request) -> Line:
        if request.system == SELECT:
            self.selections.append(request)
            listed = re.findall(r"^\[(\d+)\]", words_of(request), re.MULTILINE)
            return json.dumps({"selected": [int(n) for n in listed][:5]})
        if request.system == EXTRACT:
            self.extractions.append(request)
            return json.dumps({"memories": self._found(words_of(request))})
        if request.system == CONSOLIDATE:
            self.consolidations.append(request)
            return json.dumps({"operations": [{"op": "keep", "files": ["none.md"]}]})
        self.asked.append(request)
        return self._works(request)

    def _found(self, text: str) -> list[dict[str, Any]]:
        lines = re.findall(r"^\[(\d+)\] USER: (.*)$", text, re.MULTILINE)
        return [one for number, said in lines for one in self._finds(said, int(number))]


def record(number: int, name: str, body: str, **more: Any) -> dict[str, Any]:
    """A candidate as the extractor's model writes it."""
    return {
        "name": name,
        "type": "user",
        "scope": "persistent",
        "description": body,
        "body": body,
        "evidence": [number],
        **more,
    }


class Project(Watching):
    """A workspace with a memory of its own, and a mind."""

    def __init__(
        self,
        workspace: Path,
        mind: Answer,
        *,
        clock: MovableClock | None = None,
        model: dict[str, Any] | None = None,
        **wanted: Any,
    ) -> None:
        workspace.mkdir(parents=True, exist_ok=True)
        super().__init__(workspace, [], model={"always": mind, **(model or {})}, clock=clock)
        self.wanted = MemoryWanted.of(workspace, **wanted)

    def open(self, **options: Any) -> Any:
        """A session with memory, and no summaries unless asked for."""
        return super().open(**({"memory": self.wanted, "summaries": False} | options))

    @property
    def records(self) -> dict[str, str]:
        """The records as they stand on disk, by file."""
        folder = self.wanted.project
        return {
            path.name: path.read_text("utf-8")
            for path in sorted(folder.glob("*.md"))
            if path.name != "MEMORY.md"
        }

    def lines(self, *names: str) -> Sequence[str]:
        """What was told under these names."""
        return [event.text for event in self.events if event.name in names]
