"""Waiting for a side query as long as something comes: an idle time-out, never a total one."""

from __future__ import annotations

from dataclasses import dataclass

import anyio

from wayfare.errors import ModelError, ModelTimeout, WayfareError
from wayfare.model import Model, Reply, Request


async def answered(model: Model, request: Request, *, idle_seconds: float) -> Reply:
    """The reply, while pieces keep coming.

    Raises:
        ModelTimeout: nothing came for `idle_seconds`.
        ModelError: what the model raises; what its library raises becomes one, since a side
            query that fails must not end what it was asked for.
    """
    with anyio.move_on_after(idle_seconds) as scope:
        try:
            return await model.complete(request, _Alive(scope, idle_seconds))
        except WayfareError:
            raise
        except Exception as error:
            raise ModelError(f"{type(error).__name__}: {error}") from error
    raise ModelTimeout(f"nothing came for {idle_seconds:g} seconds", timeout_seconds=idle_seconds)


@dataclass(frozen=True, slots=True)
class _Alive:
    """A watcher that moves the deadline on with every piece."""

    scope: anyio.CancelScope
    seconds: float

    def text(self, piece: str) -> None:
        self._moved()

    def thinking(self, piece: str) -> None:
        self._moved()

    def call(self, name: str) -> None:
        self._moved()

    def _moved(self) -> None:
        self.scope.deadline = anyio.current_time() + self.seconds
