"""What every provider does with a request and a reply, whatever its wire format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from wayfare import json_text
from wayfare.errors import EmptyReply, ModelRefused
from wayfare.model import Reply, Request
from wayfare.providers.classify import Answer, Reaction, classify
from wayfare.providers.errors_from import Asked, error_from
from wayfare.tokens import TokenMeter

_SCHEMA_WORDS: Final = re.compile(
    r"response_format|output_config|output_format|json_schema|structured output|text\.format"
    r"|\bschema\b|\bgrammar\b",
    re.IGNORECASE,
)


def estimated_tokens(request: Request) -> int:
    """Our own estimate of a request, for refusals that name no number."""
    meter = TokenMeter()
    tokens = meter.text(request.system) + sum(meter.message(m).tokens for m in request.messages)
    for tool in request.tools:
        tokens += meter.text(f"{tool.name} {tool.description}")
        tokens += meter.text(json_text.dumps(dict(tool.schema)).decode("utf-8"))
    return tokens


def checked(reply: Reply, asked: Asked, *, stop_reason: str) -> Reply:
    """The reply, if it is one.

    A reply cut because the input left no room, or because the window ended, is an overflow that
    the provider did not call by its name. A whole reply is kept even where its usage is above the
    window we believed in: the belief was wrong, not the reply.

    Raises:
        PromptTooLong: the input filled the window.
        EmptyReply: no word, no call.
    """
    if reply.stop == "length":
        answer = Answer(
            status=200,
            body={
                "usage": {
                    "prompt_tokens": reply.usage.prompt_tokens,
                    "completion_tokens": reply.usage.output_tokens,
                }
            },
            stop_reason=stop_reason,
            window_tokens=asked.window_tokens,
            reserve_tokens=asked.reserve_tokens,
        )
        if classify(answer).reaction is Reaction.COMPACT:
            raise error_from(answer, asked)
    says_nothing = not reply.message.text.strip() and not reply.calls
    if says_nothing and reply.stop in ("end", "tools") and not _has_other(reply):
        raise EmptyReply(
            f"{asked.provider}: the model stopped without a word and without a call",
            provider=asked.provider,
        )
    return reply


def _has_other(reply: Reply) -> bool:
    """Whether it holds what is neither text, thinking nor call: a block only the provider reads,
    such as its own compaction."""
    return any(
        block.wire is not None and block.wire.get("type") == "compaction"
        for block in reply.message.blocks
    )


def is_refused_schema(error: ModelRefused) -> bool:
    """Whether a refusal is about the response format, so that the request may go without it."""
    return bool(_SCHEMA_WORDS.search(f"{error} {error.body}"))


_BOUNDS: Final = frozenset({"maxItems", "minItems", "maxLength", "minLength"})


def schema_object(schema: Mapping[str, Any], *, bounds: bool = True) -> dict[str, Any]:
    """A JSON schema as hosted providers want it: every object closed to further properties.

    Both refuse an open object in a response format (their guides to structured outputs).

    Args:
        schema: As it is wanted.
        bounds: Whether bounds on lengths stay; one provider refuses a schema that has them.
    """
    return cast("dict[str, Any]", _closed(schema, bounds))


def _closed(value: object, bounds: bool) -> object:
    if isinstance(value, Mapping):
        fields = {
            key: _closed(inner, bounds)
            for key, inner in cast("Mapping[str, object]", value).items()
            if bounds or key not in _BOUNDS
        }
        if fields.get("type") == "object" and "additionalProperties" not in fields:
            fields["additionalProperties"] = False
        return fields
    if isinstance(value, list | tuple):
        return [_closed(inner, bounds) for inner in cast("list[object]", value)]
    return value
