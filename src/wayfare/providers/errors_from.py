"""The one seam where foreign errors become ours.

An SDK's exception, a failing transport or an unreadable stream is read into an `Answer`,
classified, and turned into the typed error that says what cures it. SDKs are not imported here:
their exceptions are known by what they carry, and those that carry nothing by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from wayfare.errors import (
    ModelAuthError,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelTimeout,
    ModelUnreachable,
    OutputTooLarge,
    PromptTooLong,
)
from wayfare.providers.classify import Answer, Classified, Kind, Reaction, classify

_SDKS: Final = frozenset({"anthropic", "openai"})
_TRANSPORTS: Final = frozenset({"httpx2", "httpx", "httpcore2", "httpcore"})

Fate = Literal["answer", "timeout", "unreachable", "garbled", "auth", "refused"]

FATES: Final[Mapping[str, Fate]] = {
    # both SDKs
    "APITimeoutError": "timeout",
    "APIConnectionError": "unreachable",
    "APIResponseValidationError": "garbled",
    "StreamAlreadyConsumed": "garbled",
    "MissingDependencyError": "refused",
    "MutuallyExclusiveAuthError": "auth",
    # anthropic
    "RetryableError": "unreachable",
    "CredentialsError": "auth",
    "WorkloadIdentityError": "auth",
    "APIWebhookValidationError": "refused",
    # openai
    "OAuthError": "auth",
    "SubjectTokenProviderError": "auth",
    "LengthFinishReasonError": "garbled",
    "ContentFilterFinishReasonError": "refused",
    "InvalidWebhookSignatureError": "refused",
    "WebSocketConnectionClosedError": "unreachable",
    "WebSocketQueueFullError": "unreachable",
    # both again: what carries an answer, and what is left
    "APIStatusError": "answer",
    "APIError": "answer",
    "AnthropicError": "refused",
    "OpenAIError": "refused",
}
"""What an SDK's exception class means, for a class or the nearest of its parents."""

_BARE: Final = frozenset({"AnthropicError", "OpenAIError"})
"""Raised as such by the clients themselves, when a key is missing or malformed."""


class Garbled(Exception):
    """An answer that cannot be read; `body` is what could be kept of it.

    `failed` says that the body is a failure that the server reported inside of a stream.
    """

    def __init__(self, message: str, *, body: object = None, failed: bool = False) -> None:
        super().__init__(message)
        self.body = body
        self.failed = failed


def _nothing() -> int | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is known of the request an answer belongs to.

    Attributes:
        provider: the model's name, put before every message.
        window_tokens: the window we believe in.
        reserve_tokens: the output limit that was sent.
        idle_seconds: the idle time-out in force.
        estimate: our own count of the request; only asked when something failed.
        key_hint: where the key came from, for the one who must mend it; never the key.
    """

    provider: str
    window_tokens: int | None = None
    reserve_tokens: int | None = None
    idle_seconds: float = 0.0
    estimate: Callable[[], int | None] = _nothing
    key_hint: str = ""


@contextmanager
def translated(asked: Asked) -> Generator[None]:
    """Raise what fails inside as one of our errors; what is no foreign error passes.

    Raises:
        ModelError: the subclass that says what cures it.
    """
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        ours = model_error(error, asked)
        if ours is None:
            raise
        raise ours from error


def fate_of(kind: type[BaseException]) -> Fate | None:
    """What an exception class means, None for one that comes from neither SDK nor transport."""
    if kind.__name__ in _BARE:
        return "auth"
    for parent in kind.__mro__:
        origin = parent.__module__.partition(".")[0]
        if origin in _SDKS and parent.__name__ in FATES:
            return FATES[parent.__name__]
        if origin in _TRANSPORTS:
            return "timeout" if "Timeout" in kind.__name__ else "unreachable"
    if issubclass(kind, Garbled):
        return "garbled"
    if issubclass(kind, json.JSONDecodeError | UnicodeError):  # the SDKs let these out of a stream
        return "garbled"
    if issubclass(kind, OSError):
        return "unreachable"
    return None


def model_error(error: BaseException, asked: Asked) -> ModelError | None:
    """Our error for a foreign one, None if it is neither an SDK's nor the transport's."""
    fate = fate_of(type(error))
    if fate is None:
        return None
    if isinstance(error, Garbled):
        if error.failed:
            return error_from(_answer(asked, status=None, body=error.body), asked)
        return _garbled(str(error), asked)
    request_id = _request_id(error)
    where: dict[str, Any] = {"provider": asked.provider, "request_id": request_id}
    said = _first_line(error)
    match fate:
        case "answer":
            return error_from(
                _answer(asked, status=_status(error), body=_body(error), headers=_headers(error)),
                asked,
                request_id=request_id,
            )
        case "timeout":
            if _failed_to_connect(error):
                return ModelUnreachable(
                    f"{asked.provider}: no connection to {_host(error)} in time", **where
                )
            return ModelTimeout(
                f"{asked.provider}: nothing arrived for {asked.idle_seconds:g} seconds",
                timeout_seconds=asked.idle_seconds,
                **where,
            )
        case "unreachable":
            return ModelUnreachable(f"{asked.provider}: {_breakdown(error)}", **where)
        case "garbled":
            return _garbled(said, asked, request_id=request_id)
        case "auth":
            return ModelAuthError(_with_key_hint(f"{asked.provider}: {said}", asked), **where)
        case "refused":
            return ModelRefused(f"{asked.provider}: {said}", **where)


def error_from(answer: Answer, asked: Asked, *, request_id: str | None = None) -> ModelError:
    """Our error for a provider's answer that is a failure, and for a reply with no room for it."""
    found = classify(answer)
    status = answer.status
    text = f"{asked.provider}: {found.message}"
    if status is not None and status >= 400:
        text = f"{text} (HTTP {status})"
    where: dict[str, Any] = {
        "provider": asked.provider,
        "status": status,
        "request_id": request_id,
    }
    match found.reaction:
        case Reaction.COMPACT:
            return PromptTooLong(
                text, sent_tokens=found.sent_tokens, limit_tokens=found.limit_tokens, **where
            )
        case Reaction.LOWER_OUTPUT:
            return OutputTooLarge(
                text,
                output_limit_tokens=found.output_limit_tokens,
                sent_tokens=found.sent_tokens,
                limit_tokens=found.limit_tokens,
                **where,
            )
        case Reaction.WAIT_AND_RETRY | Reaction.RETRY_SAME:
            return _curable_by_waiting(found, text, where)
        case _:
            return _lasting(found, text, asked, answer.body, where)


def _curable_by_waiting(found: Classified, text: str, where: Mapping[str, Any]) -> ModelError:
    if found.kind in (Kind.RATE_LIMIT, Kind.QUOTA, Kind.MINUTE_CAP):
        return ModelRateLimited(text, retry_after_seconds=found.retry_after_seconds, **where)
    return ModelUnreachable(text, retry_after_seconds=found.retry_after_seconds, **where)


def _lasting(
    found: Classified, text: str, asked: Asked, body: object, where: Mapping[str, Any]
) -> ModelError:
    if found.kind is Kind.AUTH:
        return ModelAuthError(_with_key_hint(text, asked), **where)
    repairable = found.reaction is Reaction.REPAIR_REQUEST
    return ModelRefused(text, body=body, repairable=repairable, **where)


def _garbled(said: str, asked: Asked, *, request_id: str | None = None) -> ModelUnreachable:
    return ModelUnreachable(
        f"{asked.provider}: the answer cannot be read: {said}",
        provider=asked.provider,
        request_id=request_id,
    )


def _with_key_hint(text: str, asked: Asked) -> str:
    return f"{text}\nThe key was taken from: {asked.key_hint}" if asked.key_hint else text


def _answer(
    asked: Asked, *, status: int | None, body: object, headers: Mapping[str, str] | None = None
) -> Answer:
    """A status below 400 is that of a stream which failed after it began."""
    failed_later = status is None or status < 400
    return Answer(
        status=None if failed_later else status,
        body=body,
        headers=headers or {},
        request_tokens=asked.estimate(),
        window_tokens=asked.window_tokens,
        reserve_tokens=asked.reserve_tokens,
        streamed=failed_later,
    )


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _body(error: BaseException) -> object:
    """The body, or the message where the SDK kept none (a body that is no JSON)."""
    body: object = getattr(error, "body", None)
    return str(error) if body is None or body == "" else body


def _headers(error: BaseException) -> Mapping[str, str]:
    headers: object = getattr(getattr(error, "response", None), "headers", None)
    if not isinstance(headers, Mapping):
        return {}
    return {str(k): str(v) for k, v in cast("Mapping[object, object]", headers).items()}


def _request_id(error: BaseException) -> str | None:
    found = getattr(error, "request_id", None)
    if isinstance(found, str):
        return found
    headers = {name.lower(): value for name, value in _headers(error).items()}
    return headers.get("request-id") or headers.get("x-request-id")


def _host(error: BaseException) -> str:
    """Where the request went, without path and credentials."""
    try:
        url = cast("Any", error).request.url
    except (AttributeError, RuntimeError):  # httpx raises when no request was set
        return "the server"
    return f"{url.scheme}://{url.netloc.decode().rpartition('@')[2]}"


def _failed_to_connect(error: BaseException) -> bool:
    named = {type(error).__name__, type(error.__cause__).__name__}
    return bool(named & {"ConnectTimeout", "PoolTimeout"})


def _breakdown(error: BaseException) -> str:
    """What happened to the connection, from the transport's own words where there are any."""
    told = error.__cause__ or error
    happened = "cannot connect to" if "Connect" in type(told).__name__ else "lost the connection to"
    return f"{happened} {_host(error)}: {_first_line(told)}"


def _first_line(error: BaseException) -> str:
    text = str(error).strip()
    return (text.splitlines()[0] if text else type(error).__name__)[:300]
