"""`Agent`: a model with tools, for those who want an answer and not a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from wayfare.agent.registry import ToolLike
from wayfare.agent.turn import Ended
from wayfare.model import Model
from wayfare.session.opening import run_sync
from wayfare.session.session import Session


class Agent:
    """A model with tools, in one session:

        agent = Agent("anthropic:claude-…", tools=[lookup])
        print(agent.run("Which orders are late?").text)

    A second `run` goes on in the same session; `Agent(…, session=agent.session)` does so another
    day. Tools given here are the caller's own code, so they run without being asked about
    (`mode="full"`) unless a mode, a policy or `ask` says otherwise.

    Args:
        model: A model, or the name of one.
        tools: Typed functions with docstrings, or tools.
        role: The system prompt's first section; None: wayfare's own.
        workspace: Where the session is kept and the tools work.
        session: Goes on with that one; empty: a fresh one at the first run.
        options: Whatever else `Session.open` takes.
    """

    def __init__(
        self,
        model: Model | str,
        *,
        tools: Iterable[ToolLike] = (),
        role: str = "",
        workspace: Path | str = ".",
        session: str = "",
        **options: Any,
    ) -> None:
        if not options.keys() & {"mode", "policy", "ask"}:
            options["mode"] = "full"
        self._open: dict[str, Any] = {
            **options,
            "workspace": workspace,
            "model": model,
            "tools": list(tools),
            "role": role,
        }
        self.session = session

    def run(self, task: str) -> Ended:
        """Run one turn to its end; `.text` is the answer, `.how` says whether it was `done`.

        For callers without an event loop; with one, `await agent.run_async(task)`.

        Raises:
            WayfareError: as `Session.open` and `Session.run` do.
        """
        return run_sync(self.run_async, task)

    async def run_async(self, task: str) -> Ended:
        """Run one turn to its end; raises as `run` does."""
        async with Session.open(session=self.session, **self._open) as session:
            self.session = session.name
            return await session.run(task)
