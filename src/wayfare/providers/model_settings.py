"""What can be set about a model; everything has a default that works."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from wayfare.model import Prices

IDLE_SECONDS: Final = 300.0
"""Longer than any provider is silent while it works: hosted ones send pings, and a local server
reads a long prompt for two to four minutes before its first token."""

CONNECT_SECONDS: Final = 10.0
"""A host that does not take a connection in this time is down or not there."""


def _nothing() -> dict[str, Any]:
    return {}


def _no_headers() -> dict[str, str]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Settings of one model.

    Attributes:
        base_url: where the provider's API is, e.g. `http://127.0.0.1:11434/v1`. Empty: the
            provider's own address, or the one in its environment variable.
        key_variable: environment variable (and keyring entry) of the key. Empty: the provider's
            own. A `base_url` that is not on this machine needs it said, so that no key is sent
            to a host it was not made for.
        window_tokens: the window. None: the known one, else 200,000 (8,192 for a local model).
        max_output_tokens: longest reply. None: the known one, else 16,384 (2,048 for local).
        prices: None: the known ones, else ratios.
        idle_seconds: a call fails when nothing at all arrives for so long.
        connect_seconds: the same for making the connection.
        thinking: Anthropic's `thinking` object, e.g. `{"type": "adaptive"}`. None: the model's
            default.
        reasoning_effort: OpenAI's reasoning effort. Empty: the model's default.
        cache_lifetime: lifetime of Anthropic's cache breakpoints; `off` places none.
        cache_key: OpenAI's `prompt_cache_key`, the same for calls that share a prefix.
        context_editor: who edits the context. `provider` switches the server's own compaction on
            (Anthropic); then the governor should leave its budget wide. Never both.
        output_limit_field: how the output limit is called. `auto`: `max_completion_tokens` at
            OpenAI itself, `max_tokens` anywhere else.
        stream_usage: ask for usage at the end of a stream; a few servers refuse the option.
        keep_reasoning: send `reasoning_content` of earlier replies back to the server it came
            from.
        schemas: send `Request.schema` as a response format. A server that refuses it is
            remembered, and asked without.
        tools: for local models: `native` leaves tools to the chat template, `schema` offers them
            as a JSON schema, `auto` asks the template.
        threads: for local models. None: as many as there are processors, 8 at most.
        models_folder: where local models are installed. None: the user's data folder.
        extra_body: fields added to every request, over ours.
        extra_headers: headers added to every request.
    """

    base_url: str = ""
    key_variable: str = ""
    window_tokens: int | None = None
    max_output_tokens: int | None = None
    prices: Prices | None = None
    idle_seconds: float = IDLE_SECONDS
    connect_seconds: float = CONNECT_SECONDS
    thinking: Mapping[str, Any] | None = None
    reasoning_effort: str = ""
    cache_lifetime: Literal["5m", "1h", "off"] = "5m"
    cache_key: str = ""
    context_editor: Literal["wayfare", "provider"] = "wayfare"
    output_limit_field: Literal["auto", "max_tokens", "max_completion_tokens"] = "auto"
    stream_usage: bool = True
    keep_reasoning: bool = True
    schemas: bool = True
    tools: Literal["auto", "native", "schema"] = "auto"
    threads: int | None = None
    models_folder: Path | None = None
    extra_body: Mapping[str, Any] = field(default_factory=_nothing)
    extra_headers: Mapping[str, str] = field(default_factory=_no_headers)
