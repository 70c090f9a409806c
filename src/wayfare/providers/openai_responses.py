"""The Responses endpoint of OpenAI, and of servers that speak it, through the SDK.

Nothing is stored on the server: encrypted reasoning comes back with each reply, stands in the log
with it, and goes back as it came.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from wayfare.formats import codec
from wayfare.messages import Opaque
from wayfare.model import Closes, Model, Prices, Reply, Request, ToolSpec, Watcher
from wayfare.providers.keys import Key
from wayfare.providers.model_settings import ModelSettings
from wayfare.providers.openai_endpoint import Endpoint
from wayfare.providers.openai_responses_stream import ResponsesAssembly
from wayfare.providers.replying import checked, schema_object

_STOPS: Final[Mapping[str, str]] = {
    "max_output_tokens": "length",
    "max_messages": "length",
    "content_filter": "refused",
}
"""Our word for the reason of an incomplete response."""


class OpenAIResponsesModel:
    """A model behind a Responses endpoint; arguments as those of `OpenAIChatModel`."""

    def __init__(
        self,
        model: str,
        *,
        key: Key,
        settings: ModelSettings | None = None,
        base_url: str = "",
        name: str = "",
        provider: str = "openai",
    ) -> None:
        self._at = Endpoint(
            provider,
            model,
            key=key,
            settings=settings or ModelSettings(),
            base_url=base_url,
            name=name or f"openai-responses:{model}",
        )
        self._codec = codec("openai-responses")

    @property
    def name(self) -> str:
        return self._at.name

    @property
    def format(self) -> str:
        """The wire format of its replies: a transcript in it keeps them byte for byte."""
        return self._codec.name

    @property
    def window_tokens(self) -> int:
        return self._at.window_tokens

    @property
    def max_output_tokens(self) -> int:
        return self._at.max_output_tokens

    @property
    def prices(self) -> Prices:
        return self._at.prices

    async def complete(self, request: Request, watcher: Watcher | None = None) -> Reply:
        """Answer; see `Model.complete`. The message's wire value is the response, with all items.

        Raises:
            ModelError: as the protocol says.
            ConfigError: the SDK is not installed.
        """
        assembly, output = await self._at.send(
            "/responses",
            request,
            lambda with_schema: self._body(request, with_schema),
            lambda: ResponsesAssembly(watcher),
            ResponsesAssembly.output,
        )
        message = self._codec.decode({"object": "response", "output": output})
        stop = _STOPS.get(assembly.reason, "length") if assembly.status == "incomplete" else "end"
        if message.calls and stop == "end":
            stop = "tools"
        elif stop == "end" and self._reached_the_limit(request, assembly):
            stop = "length"
        if any(isinstance(b, Opaque) and b.kind == "refusal" for b in message.blocks):
            stop = "refused"
        reply = Reply(
            message=message,
            stop=stop,
            usage=assembly.usage,
            model=assembly.model or self._at.model,
        )
        return checked(reply, self._at.asked(request), stop_reason=assembly.reason)

    async def close(self) -> None:
        """Close the connections."""
        await self._at.channel.close()

    def _body(self, request: Request, with_schema: bool) -> dict[str, Any]:
        at, settings = self._at, self._at.settings
        body: dict[str, Any] = {
            "model": at.model,
            "input": self._input(request),
            "max_output_tokens": at.output_tokens(request),
            "store": False,
            "include": ["reasoning.encrypted_content"],
        }
        if request.system:
            body["instructions"] = request.system
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        if settings.reasoning_effort:
            body["reasoning"] = {"effort": settings.reasoning_effort}
        if settings.cache_key:
            body["prompt_cache_key"] = settings.cache_key
        if with_schema and request.schema is not None:
            schema = schema_object(request.schema)
            body["text"] = {"format": {"type": "json_schema", "name": "reply", "schema": schema}}
        return body

    def _reached_the_limit(self, request: Request, assembly: ResponsesAssembly) -> bool:
        """Whether a reply said to be complete was cut: llama.cpp calls every reply complete."""
        at = self._at
        return not at.is_official and assembly.usage.output_tokens >= at.output_tokens(request)

    def _input(self, request: Request) -> list[dict[str, Any]]:
        """The items; at OpenAI itself without reasoning that only a stored response would know
        (it answers 404 to an item without encrypted content when nothing is stored)."""
        items = self._codec.encode(request.messages)
        if not self._at.is_official:
            return items
        return [i for i in items if i.get("type") != "reasoning" or i.get("encrypted_content")]


def _tool(tool: ToolSpec) -> dict[str, Any]:
    """Not strict: a strict schema may have no optional field, and tools of others do."""
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.schema),
        "strict": False,
    }


if TYPE_CHECKING:
    _model: type[Model] = OpenAIResponsesModel
    _closes: type[Closes] = OpenAIResponsesModel
