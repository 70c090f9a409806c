"""Claude, through the official SDK, and whatever else speaks the Anthropic Messages format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from wayfare.errors import ModelRefused
from wayfare.formats import codec
from wayfare.model import Closes, CountsTokens, Model, Prices, Reply, Request, Watcher
from wayfare.providers.anthropic_marks import (
    common_prefix,
    mark_of,
    marked_messages,
    marked_system,
    marked_tools,
)
from wayfare.providers.anthropic_stream import AnthropicAssembly
from wayfare.providers.channel import Channel
from wayfare.providers.errors_from import Asked, translated
from wayfare.providers.keys import Key
from wayfare.providers.known_models import known_model
from wayfare.providers.model_settings import ModelSettings
from wayfare.providers.replying import checked, estimated_tokens, is_refused_schema, schema_object

_COMPACTION_BETA: Final = "compact-2026-01-12"
"""Header value that switches the server's own compaction on (beta list of the SDK)."""

_COMPACTION: Final = {"edits": [{"type": "compact_20260112"}]}

_LEAST_THINKING_TOKENS: Final = 1_024
"""Smallest thinking budget the provider takes."""

_STOPS: Final[Mapping[str, str]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "length",
    "refusal": "refused",
}
"""Our word for each reason; `pause_turn` asks to be sent back and continued, as a cut reply is."""


class AnthropicModel:
    """A model behind the Anthropic Messages API.

    Args:
        model: the provider's name of it, e.g. `claude-sonnet-5-5`.
        key: what authenticates.
        settings: see `ModelSettings`; sizes and prices come from the table of known models.
        base_url: the address; empty for Anthropic's own.
        name: how people and the log call it; `anthropic:<model>` by default.
    """

    def __init__(
        self,
        model: str,
        *,
        key: Key,
        settings: ModelSettings | None = None,
        base_url: str = "",
        name: str = "",
    ) -> None:
        self._model = model
        self._settings = settings or ModelSettings()
        self._known = known_model("anthropic", model)
        self._name = name or f"anthropic:{model}"
        self._channel = Channel("anthropic", settings=self._settings, key=key, base_url=base_url)
        self._takes_schemas = self._settings.schemas
        self._codec = codec("anthropic")

    @property
    def name(self) -> str:
        return self._name

    @property
    def format(self) -> str:
        """The wire format of its replies: a transcript in it keeps them byte for byte."""
        return self._codec.name

    @property
    def window_tokens(self) -> int:
        return self._settings.window_tokens or self._known.window_tokens

    @property
    def max_output_tokens(self) -> int:
        return self._settings.max_output_tokens or self._known.max_output_tokens

    @property
    def prices(self) -> Prices:
        return self._settings.prices or self._known.prices

    async def complete(self, request: Request, watcher: Watcher | None = None) -> Reply:
        """Answer; see `Model.complete`.

        Raises:
            ModelError: as the protocol says.
            ConfigError: the SDK is not installed.
        """
        body = self._body(request)
        try:
            return await self._send(request, body, watcher)
        except ModelRefused as error:
            if "output_config" not in body or not is_refused_schema(error):
                raise
            self._takes_schemas = False
            return await self._send(request, self._body(request), watcher)

    async def _send(
        self, request: Request, body: Mapping[str, Any], watcher: Watcher | None
    ) -> Reply:
        assembly = AnthropicAssembly(watcher)
        asked = self._asked(request)
        with translated(asked):
            await self._channel.stream(
                "/v1/messages", body, assembly, headers=self._headers(request)
            )
            content = assembly.content()
        return checked(
            Reply(
                message=self._codec.decode({"role": "assistant", "content": content}),
                stop=_stop(assembly, content),
                usage=assembly.usage,
                model=assembly.model or self._model,
            ),
            asked,
            stop_reason=assembly.stop_reason or "",
        )

    async def count(self, request: Request) -> int:
        """Tokens the request would take, counted by the provider; costs nothing.

        Raises:
            ModelError: as for `complete`.
        """
        counted = ("model", "messages", "system", "tools", "thinking", "output_config")
        body = {key: value for key, value in self._body(request).items() if key in counted}
        with translated(self._asked(request)):
            answer = await self._channel.post("/v1/messages/count_tokens", body)
        return int(answer.get("input_tokens", 0))

    async def close(self) -> None:
        """Close the connections."""
        await self._channel.close()

    def _asked(self, request: Request) -> Asked:
        return Asked(
            provider=self._name,
            window_tokens=self.window_tokens,
            reserve_tokens=self._output_tokens(request),
            idle_seconds=self._settings.idle_seconds,
            estimate=lambda: estimated_tokens(request),
            key_hint=self._channel.key_source,
        )

    def _output_tokens(self, request: Request) -> int:
        return max(1, min(request.max_output_tokens, self.max_output_tokens))

    def _headers(self, request: Request) -> dict[str, str]:
        """The beta that compacts on the server, where it is asked for, or was: its signed blocks
        may only be sent back with it."""
        if self._settings.context_editor == "provider" or any(
            block.wire is not None and block.wire.get("type") == "compaction"
            for message in request.messages
            if message.role == "assistant"
            for block in message.blocks
        ):
            return {"anthropic-beta": _COMPACTION_BETA}
        return {}

    def _body(self, request: Request) -> dict[str, Any]:
        mark = mark_of(self._settings.cache_lifetime)
        tools: list[dict[str, Any]] = [
            {"name": t.name, "description": t.description, "input_schema": dict(t.schema)}
            for t in request.tools
        ]
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": self._output_tokens(request),
            "messages": self._messages(request, mark),
        }
        if request.system:
            body["system"] = marked_system(request.system, mark)
            body["tools"] = tools
        else:
            body["tools"] = marked_tools(tools, mark)
        if not tools:
            del body["tools"]
        if (thinking := self._thinking(request)) is not None:
            body["thinking"] = thinking
        if request.schema is not None and self._takes_schemas:
            schema = schema_object(request.schema, bounds=False)
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        if self._settings.context_editor == "provider":
            body["context_management"] = _COMPACTION
        return body

    def _messages(self, request: Request, mark: Mapping[str, str] | None) -> list[dict[str, Any]]:
        whole = self._codec.encode(request.messages)
        stable = 0
        if mark is not None and request.stable_messages:
            stable = common_prefix(
                whole, self._codec.encode(request.messages[: request.stable_messages])
            )
        return marked_messages(whole, stable, mark)

    def _thinking(self, request: Request) -> dict[str, Any] | None:
        """The thinking setting; a budget is kept below the output it is taken from."""
        if self._settings.thinking is None:
            return None
        thinking = dict(self._settings.thinking)
        budget = thinking.get("budget_tokens")
        room = self._output_tokens(request) // 2
        if isinstance(budget, int) and budget > room:
            if room < _LEAST_THINKING_TOKENS:
                return None
            thinking["budget_tokens"] = room
        return thinking


def _stop(assembly: AnthropicAssembly, content: list[dict[str, Any]]) -> str:
    stop = _STOPS.get(assembly.stop_reason or "", "end")
    calls = any(block.get("type") == "tool_use" for block in content)
    return "tools" if stop == "end" and calls else stop


if TYPE_CHECKING:
    _model: type[Model] = AnthropicModel
    _counts: type[CountsTokens] = AnthropicModel
    _closes: type[Closes] = AnthropicModel
