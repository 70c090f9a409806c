"""A provider's HTTP interface through its official SDK: one streamed request, closed in the end.

The SDK brings connections, authentication, the event stream and its errors. Requests and events
pass as plain JSON objects, past its typed models: a block that this version of the SDK does not
know, or a signed one, must come through byte for byte. Retries are ours, so the SDK's are off.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, Protocol, cast

import anyio
import anyio.lowlevel
import anyio.to_thread
import msgspec

from wayfare import json_text
from wayfare.errors import ConfigError
from wayfare.providers.errors_from import Garbled
from wayfare.providers.keys import Key
from wayfare.providers.model_settings import ModelSettings

_CLIENTS: Final = {"anthropic": "AsyncAnthropic", "openai": "AsyncOpenAI"}
_CLOSING_SECONDS: Final = 2.0
"""A server that does not take the end of a connection in this time is left to the system."""


class Assembly(Protocol):
    """Puts a reply together."""

    def take(self, event: Mapping[str, Any]) -> None:
        """Take one event of the stream."""
        ...

    def take_whole(self, body: Mapping[str, Any]) -> None:
        """Take a reply that came in one piece, from a server that does not stream."""
        ...


class Channel:
    """Where one model's requests go.

    Args:
        sdk: `anthropic` or `openai`.
        settings: time-outs and headers.
        key: what authenticates.
        base_url: the address; empty for the SDK's own.
    """

    def __init__(self, sdk: str, *, settings: ModelSettings, key: Key, base_url: str = "") -> None:
        self._sdk = sdk
        self._settings = settings
        self._key = key
        self._base_url = base_url
        self._opened: tuple[object, Any] | None = None

    @property
    def key_source(self) -> str:
        """Where the key came from."""
        return self._key.source

    async def stream(
        self,
        path: str,
        body: Mapping[str, Any],
        assembly: Assembly,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Send a request and hand every event to `assembly`; closed whatever happens.

        Raises:
            Exception: the SDK's, the transport's, or `Garbled`; `translated` knows them.
        """
        client = await self._client()
        module = import_module(self._sdk)
        stream = await client.post(
            path,
            content=encoded({**body, "stream": True, **self._settings.extra_body}),
            cast_to=object,
            stream=True,
            stream_cls=module.AsyncStream[object],
            options=_options(headers),
        )
        try:
            kind = str(stream.response.headers.get("content-type", "")).lower()
            if "json" in kind or "html" in kind:
                assembly.take_whole(_object(await stream.response.aread()))
                return
            async for event in stream:
                if not isinstance(event, Mapping):
                    raise Garbled(f"an event of the stream is no object: {str(event)[:80]}")
                assembly.take(cast("Mapping[str, Any]", event))
        finally:
            with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
                await stream.close()

    async def post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send a request that is answered in one piece."""
        client = await self._client()
        answer: object = await client.post(
            path, content=encoded(body), cast_to=object, options=_options(None)
        )
        if not isinstance(answer, Mapping):
            raise Garbled(f"the answer is no object: {str(answer)[:80]}")
        return cast("Mapping[str, Any]", answer)

    async def close(self) -> None:
        """Close the connections."""
        opened, self._opened = self._opened, None
        if opened is not None and opened[0] == anyio.lowlevel.current_token():
            with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
                await opened[1].close()

    async def _client(self) -> Any:
        """The SDK's client; another one in another event loop, to which connections are bound."""
        if self._sdk not in sys.modules:
            # Seconds of work, in a thread so that a terminal stays alive.
            await anyio.to_thread.run_sync(_import, self._sdk)
        here = anyio.lowlevel.current_token()
        if self._opened is None or self._opened[0] != here:
            self._opened = (here, self._make_client())
        return self._opened[1]

    def _make_client(self) -> Any:
        import httpx2

        settings = self._settings
        make = getattr(_import(self._sdk), _CLIENTS[self._sdk])
        return make(
            api_key=self._key.reveal(),
            base_url=self._base_url or None,
            max_retries=0,
            timeout=httpx2.Timeout(settings.idle_seconds, connect=settings.connect_seconds),
            default_headers=dict(settings.extra_headers),
        )


def _import(sdk: str) -> Any:
    try:
        return import_module(sdk)
    except ImportError as error:
        raise ConfigError(
            f"the {sdk} models need the {sdk} SDK: pip install 'wayfare[{sdk}]'",
            setting="model",
            value=sdk,
        ) from error


def _options(headers: Mapping[str, str] | None) -> dict[str, Any]:
    return {"headers": {"Content-Type": "application/json", **(headers or {})}}


def _object(raw: bytes) -> Mapping[str, Any]:
    try:
        body: object = json_text.loads(raw)
    except ValueError:
        body = None
    if not isinstance(body, Mapping):
        text = raw[:2_000].decode("utf-8", "replace")
        raise Garbled("the answer is no JSON object", body=text, failed=bool(text.strip()))
    return cast("Mapping[str, Any]", body)


def encoded(body: Mapping[str, Any]) -> bytes:
    """The JSON of a request, without the lone surrogates that no provider takes."""
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:
        return msgspec.json.encode(_clean(body))


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {_clean(key): _clean(inner) for key, inner in items}
    if isinstance(value, list | tuple):
        return [_clean(inner) for inner in cast("list[Any]", value)]
    return value
