"""Chat completions: OpenAI's own, and every server that speaks the format, through the SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from wayfare.clock import Clock, SystemClock
from wayfare.formats import codec
from wayfare.model import Closes, Model, Prices, Reply, Request, ToolSpec, Watcher
from wayfare.providers.keys import Key
from wayfare.providers.model_settings import ModelSettings
from wayfare.providers.openai_chat_stream import ChatAssembly
from wayfare.providers.openai_endpoint import Endpoint
from wayfare.providers.replying import checked, schema_object

_STOPS: Final[Mapping[str, str]] = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "length",
    "content_filter": "refused",
    "model_context_window_exceeded": "length",
}
_REASONING: Final = ("reasoning_content", "reasoning", "reasoning_details")


class OpenAIChatModel:
    """A model behind a chat completions endpoint.

    Args:
        model: the server's name of it.
        key: what authenticates.
        settings: see `ModelSettings`.
        base_url: the address with its version, e.g. `http://127.0.0.1:8000/v1`; empty for
            OpenAI's own.
        name: how people and the log call it; `openai:<model>` by default.
        provider: whose table of known models to look in.
        clock: gives ids to calls that come without one.
    """

    def __init__(
        self,
        model: str,
        *,
        key: Key,
        settings: ModelSettings | None = None,
        base_url: str = "",
        name: str = "",
        provider: str = "openai",
        clock: Clock | None = None,
    ) -> None:
        self._at = Endpoint(
            provider,
            model,
            key=key,
            settings=settings or ModelSettings(),
            base_url=base_url,
            name=name or f"openai:{model}",
        )
        self._clock = clock or SystemClock()
        self._codec = codec("openai-chat")

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
        """Answer; see `Model.complete`.

        Raises:
            ModelError: as the protocol says.
            ConfigError: the SDK is not installed.
        """
        assembly, message = await self._at.send(
            "/chat/completions",
            request,
            lambda with_schema: self._body(request, with_schema),
            lambda: ChatAssembly(watcher, self._fresh_id),
            ChatAssembly.message,
        )
        reason = assembly.finish_reason or "stop"
        stop = _STOPS.get(reason, "end")
        if message.get("tool_calls") and stop == "end":
            stop = "tools"
        if message.get("refusal"):
            stop = "refused"
        reply = Reply(
            message=self._codec.decode(message),
            stop=stop,
            usage=assembly.usage,
            model=assembly.model or self._at.model,
        )
        return checked(reply, self._at.asked(request), stop_reason=reason)

    async def close(self) -> None:
        """Close the connections."""
        await self._at.channel.close()

    def _fresh_id(self) -> str:
        return f"call_{self._clock.token()}{self._clock.token()}"

    def _body(self, request: Request, with_schema: bool) -> dict[str, Any]:
        at, settings = self._at, self._at.settings
        messages = self._codec.encode(request.messages)
        if not settings.keep_reasoning:
            messages = [_without(message, _REASONING) for message in messages]
        if request.system:
            messages.insert(0, {"role": "system", "content": request.system})
        body: dict[str, Any] = {
            "model": at.model,
            "messages": messages,
            self._limit_field(): at.output_tokens(request),
        }
        if settings.stream_usage:
            body["stream_options"] = {"include_usage": True}
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        if settings.reasoning_effort:
            body["reasoning_effort"] = settings.reasoning_effort
        if settings.cache_key:
            body["prompt_cache_key"] = settings.cache_key
        if with_schema and request.schema is not None:
            schema = {"name": "reply", "schema": schema_object(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    def _limit_field(self) -> str:
        wanted = self._at.settings.output_limit_field
        if wanted != "auto":
            return wanted
        return "max_completion_tokens" if self._at.is_official else "max_tokens"


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.schema),
    }
    return {"type": "function", "function": function}


def _without(message: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    if not any(key in message for key in keys):
        return message
    return {key: value for key, value in message.items() if key not in keys}


if TYPE_CHECKING:
    _model: type[Model] = OpenAIChatModel
    _closes: type[Closes] = OpenAIChatModel
