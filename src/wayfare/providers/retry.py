"""Waiting for what waiting cures: a model that tries again.

Busy servers, lost connections, broken streams and silence pass; everything else is raised at
once: a request that does not fit, a wrong key or a refusal will not change by being repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wayfare.clock import Clock, SystemClock
from wayfare.errors import EmptyReply, ModelError, ModelRateLimited, ModelTimeout, ModelUnreachable
from wayfare.events import Event, Watched, ignore
from wayfare.model import Closes, Model, Prices, Reply, Request, Watcher, format_of
from wayfare.providers.waiting import Sleep, sleep


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrySettings:
    """How patiently a call is repeated.

    Attributes:
        attempts: calls made at most, the first included.
        empty_attempts: the same for replies without a word: once more often helps, more do not.
        first_seconds: the longest wait before the second call; it doubles with every further one.
        most_seconds: the longest wait at all, where the provider asks for none.
        longest_seconds: a provider that asks to wait longer is not waited for: the error is
            raised at once, with the time it asked for.
    """

    attempts: int = 6
    empty_attempts: int = 2
    first_seconds: float = 1.0
    most_seconds: float = 30.0
    longest_seconds: float = 120.0


class Retrying:
    """A model that repeats what waiting cures.

    Waits are drawn evenly between nothing and the bound ("full jitter"), so that many sessions
    that failed together do not return together. The time a provider asks for is kept to.

    Args:
        model: the model that is asked.
        clock: gives the chance in the waits.
        sleep: how to wait.
        settings: how patiently.
        watch: told of every wait (`model.retry`) and of giving up (`model.gave_up`).
    """

    def __init__(
        self,
        model: Model,
        *,
        clock: Clock | None = None,
        sleep: Sleep = sleep,
        settings: RetrySettings | None = None,
        watch: Watched = ignore,
    ) -> None:
        self.model = model
        self._clock = clock or SystemClock()
        self._sleep = sleep
        self._settings = settings or RetrySettings()
        self._watch = watch

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def window_tokens(self) -> int:
        return self.model.window_tokens

    @property
    def max_output_tokens(self) -> int:
        return self.model.max_output_tokens

    @property
    def prices(self) -> Prices:
        return self.model.prices

    @property
    def format(self) -> str:
        """The wire format of its replies."""
        return format_of(self.model)

    async def complete(self, request: Request, watcher: Watcher | None = None) -> Reply:
        """Answer, as often as it takes; see `Model.complete`.

        What a failed attempt streamed was told to `watcher`; `model.retry` says so, in its field
        `streamed_chars`, so that it can be taken back.

        Raises:
            ModelError: that of the last attempt, or one that waiting does not cure.
        """
        attempt = 0
        while True:
            attempt += 1
            heard = _Heard(watcher)
            try:
                return await self.model.complete(request, heard)
            except (ModelRateLimited, ModelUnreachable, ModelTimeout, EmptyReply) as error:
                seconds = self._wait(error, attempt)
                if seconds is None:
                    raise
                self._tell(error, attempt, seconds, heard.chars)
            await self._sleep(seconds)

    async def count(self, request: Request) -> int:
        """Tokens of a request, by the model's own count.

        Raises:
            NotImplementedError: the model cannot count.
        """
        count = getattr(self.model, "count", None)
        if count is None:
            raise NotImplementedError(f"{self.name} does not count")
        return await count(request)

    async def close(self) -> None:
        """Close the model, where it can be closed."""
        close = getattr(self.model, "close", None)
        if close is not None:
            await close()

    def _wait(self, error: ModelError, attempt: int) -> float | None:
        """Seconds to wait before the next attempt, None to give up."""
        settings = self._settings
        most = settings.empty_attempts if isinstance(error, EmptyReply) else settings.attempts
        asked: float | None = getattr(error, "retry_after_seconds", None)
        if attempt >= most or (asked is not None and asked > settings.longest_seconds):
            if attempt > 1 or asked is not None:
                fields = {"attempts": attempt, "retry_after_seconds": asked}
                self._watch(Event(name="model.gave_up", text=str(error), fields=fields))
            return None
        bound = min(settings.most_seconds, settings.first_seconds * 2 ** (attempt - 1))
        return (asked or 0.0) + bound * self._clock.random()

    def _tell(self, error: ModelError, attempt: int, seconds: float, streamed_chars: int) -> None:
        self._watch(
            Event(
                name="model.retry",
                text=f"{error}; attempt {attempt + 1} in {seconds:.1f} s",
                fields={
                    "attempt": attempt,
                    "attempts": self._settings.attempts,
                    "delay_seconds": seconds,
                    "error": type(error).__name__,
                    "status": error.status,
                    "streamed_chars": streamed_chars,
                },
            )
        )


class _Heard:
    """Passes on what streams in, and knows how much came."""

    def __init__(self, watcher: Watcher | None) -> None:
        self._watcher = watcher
        self.chars = 0

    def text(self, piece: str) -> None:
        self.chars += len(piece)
        if self._watcher is not None:
            self._watcher.text(piece)

    def thinking(self, piece: str) -> None:
        self.chars += len(piece)
        if self._watcher is not None:
            self._watcher.thinking(piece)

    def call(self, name: str) -> None:
        self.chars += len(name)
        if self._watcher is not None:
            self._watcher.call(name)


if TYPE_CHECKING:
    _model: type[Model] = Retrying
    _closes: type[Closes] = Retrying
