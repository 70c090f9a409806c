"""A long session on the packaged local model: real requests, real refusals, real summaries.

The model gets every request over HTTP, reads it and answers a few words; what is done next is
scripted, since its own words are of no use. The session believes in a larger window than the
server has, so that the window is learned from a refusal. Summaries are the model's own.
"""

from __future__ import annotations

import shutil
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from bench.judges.validity import violations
from bench.wire import leaves
from wayfare import Session
from wayfare.agent.limits import Limits
from wayfare.errors import PromptTooLong
from wayfare.events import Event
from wayfare.formats import codec
from wayfare.messages import Message, ToolCall, assistant
from wayfare.model import Model, Prices, Reply, Request, Watcher
from wayfare.providers.keys import NO_KEY
from wayfare.providers.local import LocalModel
from wayfare.providers.model_settings import ModelSettings
from wayfare.providers.openai import OpenAIChatModel

FORMAT: Final = "openai-chat"
BELIEVED_TOKENS: Final = 2
"""Times the window of the server, as large the session believes it to be at first."""
STEPS_A_TURN: Final = 20
SUMMARY_TOKENS: Final = 600
_WORDS_TOKENS: Final = 4
_RULE: Final = "Never change anything below tests/."


@dataclass(slots=True, kw_only=True)
class Ran:
    """What came of it."""

    steps: int = 0
    asked: int = 0
    invalid: list[str] = field(default_factory=list[str])
    refused: int = 0
    ended: list[str] = field(default_factory=list[str])
    summaries: list[float] = field(default_factory=list[float])
    events: Counter[str] = field(default_factory=Counter[str])
    failures: Counter[str] = field(default_factory=Counter[str])
    edits: Counter[str] = field(default_factory=Counter[str])
    window_tokens: int = 0
    largest_tokens: int = 0
    read_tokens: int = 0
    rule_shown: bool = False
    seconds: float = 0.0

    @property
    def median_summary_seconds(self) -> float:
        """Of the calls for a summary."""
        return statistics.median(self.summaries) if self.summaries else 0.0


class Judged:
    """A model whose every request is judged before it is sent.

    Args:
        model: Who really gets it.
        ran: What is noted.
        steer: The calls to answer with in place of the model's own words; None: its own.
    """

    def __init__(self, model: Model, ran: Ran, steer: Iterator[ToolCall | str] | None) -> None:
        self._model = model
        self._ran = ran
        self._steer = steer
        self._unsaid: ToolCall | str | None = None
        self.format = FORMAT

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def window_tokens(self) -> int:
        return self._model.window_tokens

    @property
    def max_output_tokens(self) -> int:
        return self._model.max_output_tokens

    @property
    def prices(self) -> Prices:
        return self._model.prices

    async def complete(self, request: Request, watcher: Watcher | None = None) -> Reply:
        """The reply; raises as the model does."""
        ran = self._ran
        ran.asked += 1
        ran.invalid += violations({"messages": codec(FORMAT).encode(request.messages)}, FORMAT)
        try:
            if self._steer is None:
                return await self._summary(request, watcher)
            # What a refused request was to be answered with is said to the next one.
            self._unsaid = self._unsaid or next(self._steer)
            reply = await self._steered(request, self._unsaid)
            self._unsaid = None
            return reply
        except PromptTooLong:
            ran.refused += 1
            raise

    async def _summary(self, request: Request, watcher: Watcher | None) -> Reply:
        began = perf_counter()
        try:
            return await self._model.complete(request, watcher)
        finally:
            self._ran.summaries.append(perf_counter() - began)

    async def _steered(self, request: Request, said: ToolCall | str) -> Reply:
        short = replace(request, max_output_tokens=_WORDS_TOKENS)
        usage = (await self._model.complete(short)).usage
        ran = self._ran
        ran.steps += 1
        ran.read_tokens += usage.prompt_tokens - usage.cache_read_tokens
        ran.largest_tokens = max(ran.largest_tokens, usage.prompt_tokens)
        message = assistant(said) if isinstance(said, str) else assistant("", said)
        return Reply(message=message, usage=usage, stop="end" if message.text else "tools")


def calls(files: Sequence[str], *, lines: int) -> Iterator[ToolCall | str]:
    """A scripted agent: reads, searches and writes with the tools that the smallest window is
    offered, too; a word ends each turn."""
    for step in count(1):
        path = files[step * 7 % len(files)]
        offset = 1 + step * 11 % 60
        ways: tuple[tuple[str, dict[str, Any]], ...] = (
            ("read_file", {"path": path, "offset": offset, "limit": lines}),
            ("bash", {"command": f"grep -n 'def ' {path} | head -{lines // 2}"}),
            ("write_file", {"path": f"notes/step_{step}.md", "content": f"# {path}\nlooked at\n"}),
            ("read_file", {"path": f"missing/{step}.py"}),
            ("read_file", {"path": path, "offset": offset + lines, "limit": lines}),
        )
        # The second time, too: the errors of a turn are handed back to the model once.
        if step > 1 and step % STEPS_A_TURN < 2:
            yield f"Looked at {path} in step {step}."
        else:
            name, given = ways[step % len(ways)]
            yield ToolCall(id=f"call_{step}", name=name, input=given)


async def ran(
    path: Path,
    repository: Path,
    workspace: Path,
    *,
    steps: int,
    window_tokens: int,
    lines: int = 24,
    summary_tokens: int = SUMMARY_TOKENS,
) -> Ran:
    """Work through a copy of a repository for so many steps.

    Args:
        path: The model's file.
        repository: Whose Python files are copied.
        workspace: An empty folder, where they are copied to.
        window_tokens: Of the server.
        lines: Of a file, so many a read.
    """
    found = Ran()
    files = _copied(repository, workspace)
    local = LocalModel(path, settings=ModelSettings(window_tokens=window_tokens))
    began = perf_counter()
    address = local.process.join(local).base_url

    def through_the_sdk(output_tokens: int, **asked: Any) -> OpenAIChatModel:
        settings = ModelSettings(
            window_tokens=window_tokens * BELIEVED_TOKENS,
            max_output_tokens=output_tokens,
            extra_body={"temperature": 0.0, **asked},
            extra_headers={"Connection": "close"},
        )
        return OpenAIChatModel("local", key=NO_KEY, settings=settings, base_url=address)

    # Its first word would often be its last, and an empty reply tells no usage.
    main, side = through_the_sdk(256, ignore_eos=True), through_the_sdk(summary_tokens)
    try:
        await _worked(main, side, files, workspace, found, steps, lines)
    finally:
        await main.close()
        await side.close()
        local.process.leave(local)
    found.seconds = perf_counter() - began
    return found


async def _worked(
    main: Model,
    side: Model,
    files: Sequence[str],
    workspace: Path,
    found: Ran,
    steps: int,
    lines: int,
) -> None:
    def watch(event: Event) -> None:
        found.events[event.name] += 1
        if event.name == "compaction.failed":
            found.failures[str(event.fields["kind"])] += 1

    script = calls(files, lines=lines)
    async with Session.open(
        workspace,
        model=Judged(main, found, script),
        side_model=Judged(side, found, None),
        role="You are a coding agent.",
        mode="full",
        limits=Limits(steps_per_turn=STEPS_A_TURN + 10, repeats_told=50, repeats_ended=99),
        watch=watch,
    ) as session:
        while found.steps < steps:
            asked = f"{_RULE} Go on with part {len(found.ended) + 1}."
            found.ended.append((await session.run(asked)).how)
            if found.ended[-1] != "done":
                break
        found.window_tokens = session.governor.budget.window_tokens
        found.rule_shown = _RULE in _shown(session.messages)
        async for entry in session.governor.transcript.entries():
            found.edits[getattr(entry, "by", "")] += 1
    del found.edits[""]


def _shown(messages: Sequence[Message]) -> str:
    return "\n".join(leaves(codec(FORMAT).encode(messages)))


def _copied(repository: Path, workspace: Path) -> list[str]:
    made: list[str] = []
    for file in sorted(repository.rglob("*.py")):
        target = workspace / file.relative_to(repository)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
        made.append(str(file.relative_to(repository)))
    return made
