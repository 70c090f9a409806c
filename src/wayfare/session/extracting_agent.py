"""Extraction by a sub-agent that may look into memory before it answers, and into nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import anyio

from wayfare.agent.registry import Registry
from wayfare.agent.tools import InvalidInput, Tool, ToolContext, ToolOutput, failure
from wayfare.errors import ModelError
from wayfare.memory import SideQuery
from wayfare.messages import Message, ToolCall, result, results, user
from wayfare.model import Model, Request
from wayfare.session.side_query import Spent

RULE: Final = (
    "Before you answer you may look into the records with the tools, to see what a record says "
    "that you would update. They only read. Your last message is the JSON and nothing else."
)
LAST: Final = "That was the last look; answer with the JSON now."


class AgentQuery:
    """A side query whose model may search and read memory a few times first.

    It leaves no transcript, and what it wants written is in its answer, which passes the same gate
    as every other. Where its model knows no tools, or never comes to an end, `otherwise` is asked.

    Args:
        models: Who answers; the first one is asked.
        tools: What it may use; those that do not only read are left out.
        context: What tools are handed.
        steps: How often it may be asked.
        seconds: How long it may take in all; it is then given up, and `otherwise` asked.
        spent: Told what each answer used.
        otherwise: Asked once where this comes to nothing.
    """

    def __init__(
        self,
        models: Callable[[], Sequence[Model]],
        tools: Sequence[Tool],
        context: ToolContext,
        *,
        steps: int,
        seconds: float,
        spent: Spent,
        otherwise: SideQuery,
    ) -> None:
        self._models = models
        self._tools = Registry(tool for tool in tools if tool.read_only)
        self._context = context
        self._steps = steps
        self._seconds = seconds
        self._spent = spent
        self._otherwise = otherwise

    async def __call__(
        self, system: str, prompt: str, schema: Mapping[str, Any] | None, max_tokens: int
    ) -> str:
        """The text of its last answer.

        Raises:
            ModelError: neither this way nor the other gave an answer.
        """
        text = ""
        with suppress(ModelError), anyio.move_on_after(self._seconds):
            text = await self._looked(f"{system}\n\n{RULE}", prompt, max_tokens)
        return text or await self._otherwise(system, prompt, schema, max_tokens)

    async def _looked(self, system: str, prompt: str, max_tokens: int) -> str:
        models = self._models()
        if not models:
            return ""
        model = models[0]
        messages: list[Message] = [user(prompt)]
        for step in range(1, self._steps + 1):
            reply = await model.complete(
                Request(
                    messages=tuple(messages),
                    system=system,
                    tools=self._tools.specs(),
                    max_output_tokens=min(max_tokens, model.max_output_tokens),
                )
            )
            self._spent(reply.usage, model)
            if not reply.calls:
                return reply.message.text
            found = [await self._run(call) for call in reply.calls]
            if step == self._steps - 1:
                found = [(id, f"{text}\n{LAST}", bad) for id, text, bad in found]
            answers = [result(id, text, is_error=bad) for id, text, bad in found]
            messages += [reply.message, results(*answers)]
        return ""

    async def _run(self, call: ToolCall) -> tuple[str, str, bool]:
        tool = self._tools.get(call.name)
        try:
            if tool is None:
                output = failure(
                    f"There is no tool {call.name}; there are {', '.join(self._tools)}."
                )
            else:
                output = await tool.run(tool.parse(call.input), self._context)
        except InvalidInput as error:
            output = ToolOutput(text=str(error), is_error=True)
        return call.id, output.text, output.is_error


if TYPE_CHECKING:
    _query: type[SideQuery] = AgentQuery
