"""Models on this machine, served by llama.cpp on loopback: no key, no network."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio.to_thread

from wayfare.clock import Clock, SystemClock
from wayfare.errors import ConfigError
from wayfare.messages import Message, Origin
from wayfare.model import Closes, CountsTokens, Model, Prices, Reply, Request, Watcher
from wayfare.providers.channel import Channel
from wayfare.providers.errors_from import Asked, translated
from wayfare.providers.fields import fields_in
from wayfare.providers.keys import NO_KEY
from wayfare.providers.local_install import packaged_model
from wayfare.providers.local_process import Address, LocalProcess, Served
from wayfare.providers.local_tools import ANSWER, chosen, with_tools_told
from wayfare.providers.model_settings import ModelSettings
from wayfare.providers.openai import OpenAIChatModel
from wayfare.providers.replying import checked

WINDOW_TOKENS: Final = 8_192
"""The window of the packaged model, and what a laptop carries of a larger one."""

OUTPUT_TOKENS: Final = 2_048
"""A quarter of that window: a longer reply would leave no room for a conversation."""

_MAX_THREADS: Final = 8
"""More processors than this wait for memory rather than compute."""

_STEADY: Final = {"temperature": 0.0}
"""A small model that chooses a tool by chance chooses badly."""

_FRESH: Final = {"Connection": "close"}
"""The server drops idle connections without a word; on loopback a new one costs nothing."""


class LocalModel:
    """A GGUF file, served by a process of its own that starts with the first request.

    Where its chat template takes no tools, they are offered as a JSON schema (`local_tools`): one
    call a reply, never several.

    Args:
        path: of the file; None for the packaged model, where it is installed.
        settings: see `ModelSettings`.
        clock: gives ids to calls.

    Raises:
        ConfigError: no such file, or the extra is not installed; says what to do.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        settings: ModelSettings | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._settings = settings or ModelSettings()
        self._clock = clock or SystemClock()
        self._path = _found(path, self._settings.models_folder)
        self._name = "local" if path is None else f"local:{path}"
        self._served = Served(
            path=self._path,
            window_tokens=self.window_tokens,
            threads=self._settings.threads or min(os.cpu_count() or 1, _MAX_THREADS),
        )
        self._process: LocalProcess | None = None
        self._at: tuple[Address, OpenAIChatModel] | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def format(self) -> str:
        """The wire format of its replies."""
        return "openai-chat"

    @property
    def window_tokens(self) -> int:
        return self._settings.window_tokens or WINDOW_TOKENS

    @property
    def max_output_tokens(self) -> int:
        return self._settings.max_output_tokens or min(OUTPUT_TOKENS, self.window_tokens // 4)

    @property
    def prices(self) -> Prices:
        return self._settings.prices or Prices()

    @property
    def process(self) -> LocalProcess:
        """The process that serves it, started or not; models of the same file share it."""
        return LocalProcess.of(self._served)

    async def complete(self, request: Request, watcher: Watcher | None = None) -> Reply:
        """Answer; see `Model.complete`. The first call loads the model.

        Raises:
            ModelError: as the protocol says.
        """
        address, model = await self._open()
        if self._native(address):
            return await model.complete(request, watcher)
        told = with_tools_told(request)
        if not request.tools:
            return await model.complete(told, watcher)
        names = tuple(tool.name for tool in request.tools)
        reply = await model.complete(told, _ChoiceWatcher(watcher) if watcher else None)
        fresh_id = f"call_{self._clock.token()}{self._clock.token()}"
        blocks = chosen(reply.message.text, fresh_id, names)
        message = Message(role="assistant", blocks=blocks, origin=Origin.ASSISTANT)
        stop = "tools" if message.calls else reply.stop
        made = Reply(message=message, stop=stop, usage=reply.usage, model=reply.model)
        return checked(made, Asked(provider=self._name), stop_reason=stop)

    async def count(self, request: Request) -> int:
        """Tokens the request takes, counted by the server with the model's own tokenizer.

        Raises:
            ModelError: as for `complete`.
        """
        address, _ = await self._open()
        told = request if self._native(address) else with_tools_told(request)
        messages = [
            {"role": "assistant" if m.role == "assistant" else "user", "content": m.text}
            for m in told.messages
        ]
        body: dict[str, Any] = {"model": "local", "messages": messages}
        if told.system:
            body["system"] = told.system
        channel = Channel("openai", settings=self._settings, key=NO_KEY, base_url=address.base_url)
        try:
            with translated(Asked(provider=self._name)):
                answer = await channel.post("/messages/count_tokens", body)
        finally:
            await channel.close()
        return int(answer.get("input_tokens", 0))

    async def close(self) -> None:
        """Close the connections; the process stops when no model uses it any more."""
        opened, self._at = self._at, None
        process, self._process = self._process, None
        if opened is not None:
            await opened[1].close()
        if process is not None:
            await anyio.to_thread.run_sync(process.leave, self)

    def _native(self, address: Address) -> bool:
        wanted = self._settings.tools
        return address.takes_tools if wanted == "auto" else wanted == "native"

    async def _open(self) -> tuple[Address, OpenAIChatModel]:
        """The server's address and the model behind it; started anew where the server died."""
        if self._at is not None and self._process is not None and self._process.is_running:
            return self._at
        self._process = self.process
        address = await anyio.to_thread.run_sync(self._process.join, self)
        if self._at is None or self._at[0] != address:  # else another call was faster
            self._at = (address, self._model_at(address))
        return self._at

    def _model_at(self, address: Address) -> OpenAIChatModel:
        settings = self._settings
        return OpenAIChatModel(
            "local",
            key=NO_KEY,
            settings=replace(
                settings,
                window_tokens=self.window_tokens,
                max_output_tokens=self.max_output_tokens,
                prices=self.prices,
                extra_body={**_STEADY, **settings.extra_body},
                extra_headers={**_FRESH, **settings.extra_headers},
            ),
            base_url=address.base_url,
            name=self._name,
            clock=self._clock,
        )


class _ChoiceWatcher:
    """Tells a watcher what a choice means while it streams in: the words of an answer, or the
    name of a tool, instead of their JSON."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._raw = ""
        self._told_chars = 0
        self._told_call = False

    def text(self, piece: str) -> None:
        import jiter

        self._raw += piece
        try:
            value: object = jiter.from_json(self._raw.encode(), partial_mode="trailing-strings")
        except ValueError:
            return
        choice = fields_in(value)
        if "input" not in choice:
            return
        if choice.get("tool") == ANSWER:
            said = str(fields_in(choice["input"]).get("text") or "")
            if len(said) > self._told_chars:
                self._watcher.text(said[self._told_chars :])
                self._told_chars = len(said)
        elif not self._told_call:
            self._told_call = True
            self._watcher.call(str(choice.get("tool")))

    def thinking(self, piece: str) -> None:
        self._watcher.thinking(piece)

    def call(self, name: str) -> None:
        self._watcher.call(name)


def _found(path: Path | None, models_folder: Path | None) -> Path:
    if find_spec("xllamacpp") is None or find_spec("openai") is None:
        raise ConfigError(
            "local models need llama.cpp: pip install 'wayfare[local]'",
            setting="model",
            value="local",
        )
    if path is None:
        return packaged_model(models_folder)
    if not path.is_file():
        raise ConfigError(f"no model at {path}", setting="model", value=str(path))
    return path.resolve()


if TYPE_CHECKING:
    _model: type[Model] = LocalModel
    _counts: type[CountsTokens] = LocalModel
    _closes: type[Closes] = LocalModel
