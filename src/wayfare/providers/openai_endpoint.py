"""What the two OpenAI endpoints share: sizes, the connection, sending with or without a schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from wayfare.errors import ModelRefused
from wayfare.model import Prices, Request
from wayfare.providers.channel import Assembly, Channel
from wayfare.providers.errors_from import Asked, translated
from wayfare.providers.keys import Key
from wayfare.providers.known_models import known_model
from wayfare.providers.model_settings import ModelSettings
from wayfare.providers.replying import estimated_tokens, is_refused_schema

_A = TypeVar("_A", bound=Assembly)
_R = TypeVar("_R")


class Endpoint:
    """One model at one address.

    Args:
        provider: whose table of known models to look in, e.g. `openai`.
        model: the server's name of it.
        key: what authenticates.
        settings: see `ModelSettings`.
        base_url: the address; empty for OpenAI's own.
        name: how people and the log call it.
    """

    def __init__(
        self,
        provider: str,
        model: str,
        *,
        key: Key,
        settings: ModelSettings,
        base_url: str,
        name: str,
    ) -> None:
        self.model = model
        self.name = name
        self.settings = settings
        self.is_official = not base_url
        known = known_model(provider, model)
        self.window_tokens = settings.window_tokens or known.window_tokens
        self.max_output_tokens = settings.max_output_tokens or known.max_output_tokens
        self.prices: Prices = settings.prices or known.prices
        self.channel = Channel("openai", settings=settings, key=key, base_url=base_url)
        self._takes_schemas = settings.schemas

    def output_tokens(self, request: Request) -> int:
        """The output limit to send."""
        return max(1, min(request.max_output_tokens, self.max_output_tokens))

    def asked(self, request: Request) -> Asked:
        """What the error seam must know of a request."""
        return Asked(
            provider=self.name,
            window_tokens=self.window_tokens,
            reserve_tokens=self.output_tokens(request),
            idle_seconds=self.settings.idle_seconds,
            estimate=lambda: estimated_tokens(request),
            key_hint=self.channel.key_source,
        )

    async def send(
        self,
        path: str,
        request: Request,
        body: Callable[[bool], Mapping[str, Any]],
        assembly: Callable[[], _A],
        read: Callable[[_A], _R],
    ) -> tuple[_A, _R]:
        """Send a request; where the server refuses its schema, send it again without.

        Args:
            path: of the endpoint.
            request: what the body was made of.
            body: makes the body, with or without the schema.
            assembly: makes what puts the reply together.
            read: takes the reply out of it.

        Raises:
            ModelError: as `Model.complete` says.
        """

        async def once(with_schema: bool) -> tuple[_A, _R]:
            taken = assembly()
            with translated(self.asked(request)):
                await self.channel.stream(path, body(with_schema), taken)
                return taken, read(taken)

        with_schema = request.schema is not None and self._takes_schemas
        try:
            return await once(with_schema)
        except ModelRefused as error:
            if not with_schema or not is_refused_schema(error):
                raise
            self._takes_schemas = False
            return await once(False)
