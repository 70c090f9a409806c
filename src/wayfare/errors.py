"""Everything wayfare raises, as one tree.

```
WayfareError
  ConfigError                      .setting .value
  RecordingError                   .path .line .reason
  ModelError                       .provider .status .request_id
    ModelUnreachable               .retry_after_seconds
    ModelTimeout                   .timeout_seconds
    ModelRateLimited               .retry_after_seconds
    ModelRefused                   .body .repairable
    ModelAuthError
    EmptyReply
    PromptTooLong                  .sent_tokens .limit_tokens (None when the provider does not say)
    OutputTooLarge                 .output_limit_tokens .sent_tokens .limit_tokens (or None)
  ScriptIsOver                     .request
  ContextError
    BrokenView                     .rule .entry_ids
    CannotFit                      .window_tokens .by_part
    SummaryFailed                  .attempts
  StoreError
    NotFound                       .ref
    Conflict                       .expected .found
      RecordConflict               .wanted .present (texts)
    LeaseHeld                      .holder .expires_at
    CorruptLog                     .path .line
    WriteFailed                    .path .reason
  RecordError                      .path .field
```

A failure the model can act on is never raised: it is a tool result with `is_error`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict, Unpack


class WayfareError(Exception):
    """Anything wayfare raises on purpose; its text says what to do."""


class ConfigError(WayfareError):
    """A setting that cannot be used; names it and, where one is near, the right one."""

    def __init__(self, message: str, *, setting: str = "", value: object = None) -> None:
        super().__init__(message)
        self.setting = setting
        self.value = value


class RecordingError(WayfareError):
    """A recorded session that cannot be read at all."""

    def __init__(self, message: str, *, path: str = "", line: int = 0, reason: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.line = line
        self.reason = reason


class Whence(TypedDict, total=False):
    """Where a failed model call went, as far as it is known."""

    provider: str
    status: int | None
    """HTTP status."""
    request_id: str | None
    """The provider's own name for the request, to quote to its support."""


class ModelError(WayfareError):
    """A model call that failed; the subclasses say whether waiting or shrinking can cure it."""

    def __init__(
        self,
        message: str,
        *,
        provider: str = "",
        status: int | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.provider = provider
        self.status = status
        self.request_id = request_id


class ModelUnreachable(ModelError):
    """No connection, a broken stream, or a server that answers 5xx.

    `retry_after_seconds` is None when the server names no time.
    """

    def __init__(
        self, message: str, *, retry_after_seconds: float | None = None, **whence: Unpack[Whence]
    ) -> None:
        super().__init__(message, **whence)
        self.retry_after_seconds = retry_after_seconds


class ModelTimeout(ModelError):
    """Nothing arrived for `timeout_seconds`."""

    def __init__(self, message: str, *, timeout_seconds: float, **whence: Unpack[Whence]) -> None:
        super().__init__(message, **whence)
        self.timeout_seconds = timeout_seconds


class ModelRateLimited(ModelError):
    """Too many requests; `retry_after_seconds` is None when the provider names no time."""

    def __init__(
        self, message: str, *, retry_after_seconds: float | None = None, **whence: Unpack[Whence]
    ) -> None:
        super().__init__(message, **whence)
        self.retry_after_seconds = retry_after_seconds


class ModelRefused(ModelError):
    """The provider says no and will say no again; `body` is what it answered.

    `repairable`: the request breaks a rule of the provider (an unanswered call, a changed signed
    block, an empty text), so a mended request would pass; otherwise only a person can help.
    """

    def __init__(
        self,
        message: str,
        *,
        body: object = None,
        repairable: bool = False,
        **whence: Unpack[Whence],
    ) -> None:
        super().__init__(message, **whence)
        self.body = body
        self.repairable = repairable


class ModelAuthError(ModelError):
    """A missing, wrong or powerless key."""


class EmptyReply(ModelError):
    """The model stopped without a word and without a call."""


class PromptTooLong(ModelError):
    """The request does not fit; either number is None when the provider does not say it."""

    def __init__(
        self,
        message: str,
        *,
        sent_tokens: int | None = None,
        limit_tokens: int | None = None,
        **whence: Unpack[Whence],
    ) -> None:
        super().__init__(message, **whence)
        self.sent_tokens = sent_tokens
        self.limit_tokens = limit_tokens


class OutputTooLarge(ModelError):
    """The input fits, the output asked for does not: ask for at most `output_limit_tokens`.

    Nothing is to be compacted. Any number is None when the provider does not say it.
    """

    def __init__(
        self,
        message: str,
        *,
        output_limit_tokens: int | None = None,
        sent_tokens: int | None = None,
        limit_tokens: int | None = None,
        **whence: Unpack[Whence],
    ) -> None:
        super().__init__(message, **whence)
        self.output_limit_tokens = output_limit_tokens
        self.sent_tokens = sent_tokens
        self.limit_tokens = limit_tokens


class ScriptIsOver(WayfareError):
    """The scripted model was asked once more than its script answers; `request` is that request."""

    def __init__(self, message: str, *, request: object) -> None:
        super().__init__(message)
        self.request = request


class ContextError(WayfareError):
    """The context could not be governed."""


class BrokenView(ContextError):
    """A request breaks a provider's rule: a bug of wayfare, never patched over silently."""

    def __init__(self, message: str, *, rule: str, entry_ids: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.rule = rule
        self.entry_ids = tuple(entry_ids)


class CannotFit(ContextError):
    """What may not be shrunk is larger than the window; `by_part` adds up to the request."""

    def __init__(self, message: str, *, window_tokens: int, by_part: Mapping[str, int]) -> None:
        super().__init__(message)
        self.window_tokens = window_tokens
        self.by_part = dict(by_part)


class SummaryFailed(ContextError):
    """No usable summary after `attempts` tries; nothing was changed."""

    def __init__(self, message: str, *, attempts: int) -> None:
        super().__init__(message)
        self.attempts = attempts


class StoreError(WayfareError):
    """Something on disk, or wherever the stores live, is not as it must be."""


class NotFound(StoreError):
    """An address leads nowhere."""

    def __init__(self, message: str, *, ref: str) -> None:
        super().__init__(message)
        self.ref = ref


class Conflict(StoreError):
    """Compare-and-swap lost: the text is not the one the caller had read."""

    def __init__(self, message: str, *, expected: str | None, found: str | None) -> None:
        super().__init__(message)
        self.expected = expected
        self.found = found


class RecordConflict(Conflict):
    """A record changed since it was read; carries the text to be written and the one there now."""

    def __init__(
        self,
        message: str,
        *,
        expected: str | None,
        found: str | None,
        wanted: str | None,
        present: str | None,
    ) -> None:
        super().__init__(message, expected=expected, found=found)
        self.wanted = wanted
        self.present = present


class LeaseHeld(StoreError):
    """Somebody else holds the right to write; `expires_at` is unix seconds."""

    def __init__(self, message: str, *, holder: str, expires_at: float | None = None) -> None:
        super().__init__(message)
        self.holder = holder
        self.expires_at = expires_at


class CorruptLog(StoreError):
    """A line in the middle of a log cannot be read; `line` counts from 1."""

    def __init__(self, message: str, *, path: str, line: int) -> None:
        super().__init__(message)
        self.path = path
        self.line = line


class WriteFailed(StoreError):
    """The storage refused a write (full, read-only, broken); nothing was replaced."""

    def __init__(self, message: str, *, path: str, reason: str) -> None:
        super().__init__(message)
        self.path = path
        self.reason = reason


class RecordError(WayfareError):
    """A memory record that cannot be written as asked; reading is tolerant and never raises it."""

    def __init__(self, message: str, *, path: str = "", field: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.field = field
