"""Which model a command uses: the one that is set, or that of the key that is there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wayfare.errors import ConfigError, ModelAuthError
from wayfare.settings import ModelChoice, Settings

if TYPE_CHECKING:
    from wayfare.clock import Clock
    from wayfare.events import Watched
    from wayfare.model import Model, Prices
    from wayfare.providers.keys import Lookup
    from wayfare.providers.model_settings import ModelSettings

BY_KEY: Final[Mapping[str, str]] = {
    "ANTHROPIC_API_KEY": "anthropic:claude-sonnet-5",
    "OPENAI_API_KEY": "openai:gpt-6.2-sol",
}
"""The model of a provider that is taken when nothing else is said: its middle one, fit for tools
and not the dearest."""


def chosen_model(
    settings: Settings,
    environ: Mapping[str, str] | None = None,
    keyring: Lookup | None = None,
) -> str:
    """The name of the model to use: what is set, else the first of `BY_KEY` whose key is there.

    Raises:
        ModelAuthError: nothing is set and there is no key; three lines that say what to do.
    """
    if settings.model.name:
        return settings.model.name
    from wayfare.providers.keys import find_key

    environ = os.environ if environ is None else environ
    for variable, name in BY_KEY.items():
        if find_key((variable,), environ, keyring) is not None:
            return name
    raise ModelAuthError(first_steps(settings))


def first_steps(settings: Settings) -> str:
    """Three lines for somebody who has no key yet."""
    from wayfare.errors import ConfigError
    from wayfare.providers.local_install import packaged_model

    try:
        packaged_model(models_folder(settings))
        offline = "Without key or network, the small model on this machine: wayfare -m local"
    except ConfigError:
        offline = "Without key or network: wayfare local install (93 MB), then: wayfare -m local"
    return (
        "no model yet: set a key, such as export ANTHROPIC_API_KEY=… or OPENAI_API_KEY=…\n"
        "Or name a model and its server: wayfare -m ollama:MODEL (wayfare doctor shows more)\n"
        f"{offline}"
    )


def models_folder(settings: Settings) -> Path | None:
    """Where local models are installed; None: the user's data folder."""
    return Path(settings.folders.models).expanduser() if settings.folders.models else None


def model_settings(choice: ModelChoice, settings: Settings) -> ModelSettings:
    """The settings of one model as its provider takes them.

    Raises:
        ConfigError: `prices` has a field that prices do not have.
    """
    from wayfare.providers.model_settings import ModelSettings

    given = {f.name: getattr(choice, f.name) for f in fields(choice) if f.name != "name"}
    given["prices"] = None if choice.prices is None else _prices(choice.prices)
    return ModelSettings(**given, models_folder=models_folder(settings))


def _prices(table: Mapping[str, object]) -> Prices:
    from wayfare.model import Prices

    known = {f.name: f.type for f in fields(Prices)}
    for name, value in table.items():
        if name not in known:
            text = f"model.prices has no {name}; it has {', '.join(known)}"
            raise ConfigError(text, setting=f"model.prices.{name}")
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (isinstance(value, str) if name == "currency" else number):
            kind = "text" if name == "currency" else "a number"
            text = f"model.prices.{name} must be {kind}, not {value!r}"
            raise ConfigError(text, setting=f"model.prices.{name}", value=value)
    return Prices(**table)  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of a model before it is opened; 0 tokens: nothing is."""

    name: str
    window_tokens: int = 0
    currency: str = ""


def known_choice(settings: Settings) -> Known:
    """The model that would be opened, refused early where its name or key will not do.

    Raises:
        ConfigError: no such model, or no such file.
        ModelAuthError: it needs a key, and there is none.
    """
    from wayfare.providers.known_models import known_model
    from wayfare.providers.registry import check_spec

    name = chosen_model(settings)
    check_spec(name, model_settings(settings.model, settings))
    provider, _, model = name.partition(":")
    if provider in ("local", "scripted"):
        _check_file(provider, model, settings)
        return Known(name=name, window_tokens=settings.model.window_tokens or 0)
    known = known_model(provider.partition("-")[0], model)
    window_tokens = settings.model.window_tokens or known.window_tokens
    return Known(name=name, window_tokens=window_tokens, currency=known.prices.currency)


def _check_file(provider: str, path: str, settings: Settings) -> None:
    if not path:
        from wayfare.providers.local_install import packaged_model

        packaged_model(models_folder(settings))
    elif not Path(path).expanduser().is_file():
        raise ConfigError(f"{provider}:{path}: no such file", setting="model", value=path)


def open_model(
    settings: Settings, *, clock: Clock, watch: Watched, name: str = "", side: bool = False
) -> Model:
    """The model, as one that repeats what waiting cures; nothing is connected yet.

    Args:
        settings: What is set.
        clock: Time and chance.
        watch: Told of waits.
        name: Another model than the one set.
        side: The model for side queries, where one is set.

    Raises:
        ConfigError: no such model, or a setting of it that is not valid.
        ModelAuthError: it needs a key, and there is none.
    """
    from wayfare.providers.registry import model_from
    from wayfare.providers.retry import Retrying
    from wayfare.providers.retry import RetrySettings as Patience

    own = side and bool(settings.side_model.name)
    choice = settings.side_model if own else settings.model
    spec = name or choice.name or chosen_model(settings)
    model = model_from(spec, model_settings(choice, settings), clock=clock)
    retry = settings.retry
    patience = Patience(**{f.name: getattr(retry, f.name) for f in fields(retry)})
    return Retrying(model, clock=clock, settings=patience, watch=watch)
