"""The contract of tools: what one declares, what it is handed, what it gives back.

A tool is a typed function, sync or async, with a docstring:

    @tool(read_only=True, kind="search", main_argument="pattern")
    async def grep(pattern: str, path: ReadPath = ".", *, context: ToolContext) -> str:
        \"\"\"Search files for a regular expression.

        Args:
            pattern: What to look for.
            path: Where to look.
        \"\"\"

`tool` (`wayfare.agent.tool_function`) makes its schema from the signature and the `Args` of the
docstring. A parameter annotated `ToolContext` is filled by the loop and not shown to the model. A
sync function runs in a thread. A failure the model can act on is returned as `failure("…")`; an
exception becomes an error result.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

from wayfare.agent.ports import CompactionRequests, History, Kept, Sight, Subagents
from wayfare.clock import Clock
from wayfare.context.tool_use import Kind, Traits
from wayfare.events import Watched, ignore
from wayfare.messages import Block
from wayfare.model import ToolSpec

TIMEOUT_SECONDS: Final = 600.0
"""How long a tool may run unless it says otherwise; longer than any build step people wait for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """Marks a parameter with what its value means for permissions."""

    what: Literal["read", "write", "command", "url"]


ReadPath: TypeAlias = Annotated[str, Touch(what="read")]
"""A path, or a folder, that the tool reads; relative to the workspace."""
WritePath: TypeAlias = Annotated[str, Touch(what="write")]
"""A path that the tool creates, changes or removes."""
Command: TypeAlias = Annotated[str, Touch(what="command")]
"""A line for the shell."""
Url: TypeAlias = Annotated[str, Touch(what="url")]
"""An address that the tool asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Touches:
    """What one call touches, as its tool declares it: permissions judge these.

    `files` says that the tool works on files even where a call names none.
    """

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    files: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a tool is handed beside its input.

    Args:
        workspace: The root; relative paths start here.
        session: The session's name.
        session_folder: Where the session keeps its own files (log, notes).
        results_folder: Where full outputs are spooled; what stands there has an address the
            model can read (its path from the workspace).
        clock: Time and chance.
        watch: Told what happens.
        history: Reads the session's log and archive.
        sight: What the model still has before it, and the task list.
        subagents: Starts sub-agents.
        compaction: Where a compaction is asked for.
        kept: Objects that live as long as the session, one of a class.
        call_id: The call that is being answered.
        progress: Lines for people while the tool runs; not seen by the model.
        judged: Where the paths of this call led, links followed, when the call was allowed. A
            tool that writes looks again and refuses a path that leads elsewhere by now.
        may_read: For tools that go through many files: whether reading this one, which the call
            does not name, needs nobody's word.
    """

    workspace: Path
    session: str
    session_folder: Path
    results_folder: Path
    clock: Clock
    history: History
    sight: Sight
    subagents: Subagents
    watch: Watched = ignore
    compaction: CompactionRequests = field(default_factory=CompactionRequests)
    kept: Kept = field(default_factory=Kept)
    call_id: str = ""
    progress: Callable[[str], None] = lambda line: None
    judged: Mapping[str, str] = field(default_factory=dict[str, str])
    may_read: Callable[[str], bool] = lambda path: True


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """What a tool gives back.

    Args:
        text: What the model reads.
        is_error: Whether the call failed; the text says what the model can do about it.
        blocks: Images or documents that follow the text.
        brief: One line for people; empty: made from the text.
    """

    text: str = ""
    is_error: bool = False
    blocks: tuple[Block, ...] = ()
    brief: str = ""


def failure(text: str, *, brief: str = "") -> ToolOutput:
    """A result that says what went wrong and what the model can do."""
    return ToolOutput(text=text, is_error=True, brief=brief)


class InvalidInput(ValueError):
    """The input of a call does not fit the tool; its text says what is valid."""


Runs: TypeAlias = Callable[[Mapping[str, Any], ToolContext], Awaitable[ToolOutput]]
Parses: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]
Declares: TypeAlias = Callable[[Mapping[str, Any]], Touches]


def _as_given(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return given


def _nothing(given: Mapping[str, Any]) -> Touches:
    return Touches()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool. Made from a function by `tool`; built directly for tools that come from elsewhere.

    Args:
        name: What the model calls it.
        description: What it is for.
        schema: JSON schema of its input.
        run: Does it. Gets what `parse` returned; may raise, which becomes an error result.
        parse: Checks an input and fills in defaults; raises `InvalidInput`.
        touches: Which paths, commands and addresses a call touches.
        read_only: Changes nothing, so that calls of one batch may run side by side.
        kind: What sort of work it is; decides how old results are shortened.
        compactable: Whether old results may be shortened.
        max_result_chars: A longer result is archived at once and shown as a preview; None: the
            budget's own limit. More than the budget's is heeded too, up to a quarter of the window.
        main_argument: The argument that names a call best, for lines about it.
        timeout_seconds: After so long the call gets a result that says so; None: never.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    run: Runs
    parse: Parses = _as_given
    touches: Declares = _nothing
    read_only: bool = False
    kind: Kind = "other"
    compactable: bool = True
    max_result_chars: int | None = None
    main_argument: str = ""
    timeout_seconds: float | None = TIMEOUT_SECONDS

    @property
    def spec(self) -> ToolSpec:
        """As the model sees it."""
        return ToolSpec(name=self.name, description=self.description, schema=self.schema)

    @property
    def traits(self) -> Traits:
        """As the governor sees it."""
        return Traits(
            kind=self.kind,
            compactable=self.compactable,
            main_argument=self.main_argument,
            max_result_chars=self.max_result_chars,
        )


def for_call(
    context: ToolContext,
    call_id: str,
    progress: Callable[[str], None],
    *,
    judged: Mapping[str, str],
    may_read: Callable[[str], bool],
) -> ToolContext:
    """The context of one call."""
    return replace(context, call_id=call_id, progress=progress, judged=judged, may_read=may_read)
