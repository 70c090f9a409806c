"""From a spec such as `anthropic:claude-sonnet-5-5` to a model; keys from environment or keyring."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from wayfare.clock import Clock, SystemClock
from wayfare.errors import ConfigError, ModelAuthError
from wayfare.model import Model
from wayfare.providers.keys import NO_KEY, Key, Lookup, find_key, is_on_this_machine
from wayfare.providers.known_models import PLACES, known_model
from wayfare.providers.model_settings import ModelSettings

_ANTHROPIC_KEYS: Final = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_OPENAI_KEYS: Final = ("OPENAI_API_KEY",)

FORMS: Final[Mapping[str, str]] = {
    "anthropic": "anthropic:MODEL",
    "openai": "openai:MODEL (chat completions, or responses where the model needs it)",
    "openai-chat": "openai-chat:MODEL",
    "openai-responses": "openai-responses:MODEL",
    **{name: f"{name}:MODEL" for name in PLACES},
    "local": "local (the packaged model), or local:/path/to/model.gguf",
    "scripted": "scripted:/path/to/script.json",
}
"""The specs there are, by what stands before the colon."""


def model_from(
    spec: str,
    settings: ModelSettings | None = None,
    *,
    clock: Clock | None = None,
    environ: Mapping[str, str] | None = None,
    keyring: Lookup | None = None,
) -> Model:
    """The model of a spec; nothing is connected, loaded or imported before its first call.

    Args:
        spec: one of `FORMS`.
        settings: see `ModelSettings`.
        clock: time and chance.
        environ: where keys and base addresses are looked up; the process environment by default.
        keyring: how to ask the keyring for a key; the `keyring` package, if installed.

    Raises:
        ConfigError: an unknown spec (names those there are), a file that is not there, an extra
            that is not installed, an address without a key that is meant for it.
        ModelAuthError: no key; says in three lines what to set, where, and what needs none.
    """
    settings = settings or ModelSettings()
    environ = os.environ if environ is None else environ
    clock = clock or SystemClock()
    provider, _, model = spec.strip().partition(":")
    if provider not in FORMS:
        raise _unknown(spec, provider)
    if provider == "local":
        from wayfare.providers.local import LocalModel

        path = Path(model).expanduser() if model else None
        return LocalModel(path, settings=settings, clock=clock)
    if not model:
        raise _no_model(spec, provider)
    if provider == "scripted":
        from wayfare.providers.scripted import ScriptedModel

        return ScriptedModel.from_file(
            Path(model).expanduser(),
            window_tokens=settings.window_tokens,
            max_output_tokens=settings.max_output_tokens,
        )
    if provider == "anthropic":
        from wayfare.providers.anthropic import AnthropicModel

        base_url = settings.base_url or environ.get("ANTHROPIC_BASE_URL", "")
        key = _key(spec, _variables(provider), settings, environ, keyring)
        return AnthropicModel(model, key=key, settings=settings, base_url=base_url, name=spec)
    return _openai(spec, provider, model, settings, clock, environ, keyring)


def check_spec(
    spec: str,
    settings: ModelSettings | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    keyring: Lookup | None = None,
) -> None:
    """Refuse what `model_from` would refuse for its name or its key alone; imports no provider.

    Raises:
        ConfigError, ModelAuthError: as `model_from` does.
    """
    settings = settings or ModelSettings()
    environ = os.environ if environ is None else environ
    provider, _, model = spec.strip().partition(":")
    if provider not in FORMS:
        raise _unknown(spec, provider)
    if provider == "local":
        return
    if not model:
        raise _no_model(spec, provider)
    if provider != "scripted":
        _key(spec, _variables(provider), settings, environ, keyring)


def _variables(provider: str) -> tuple[str, ...]:
    """Where a provider's key is looked for."""
    if provider == "anthropic":
        return _ANTHROPIC_KEYS
    place = PLACES.get(provider)
    if place is None:
        return _OPENAI_KEYS
    return (place.key_variable,) if place.key_variable else ()


def _no_model(spec: str, provider: str) -> ConfigError:
    return ConfigError(
        f"{spec!r} names no model; the form is {FORMS[provider]}", setting="model", value=spec
    )


def _openai(
    spec: str,
    provider: str,
    model: str,
    settings: ModelSettings,
    clock: Clock,
    environ: Mapping[str, str],
    keyring: Lookup | None,
) -> Model:
    from wayfare.providers.openai import OpenAIChatModel
    from wayfare.providers.openai_responses import OpenAIResponsesModel

    place = PLACES.get(provider)
    if place is not None:
        base_url = settings.base_url or place.base_url
    else:
        base_url = settings.base_url or environ.get("OPENAI_BASE_URL", "")
    key = _key(spec, _variables(provider), settings, environ, keyring)
    # at somebody else's address the model may be anybody's: every table is looked through
    table = provider if place is not None else ("" if base_url else "openai")
    wants_responses = provider == "openai-responses" or (
        provider == "openai" and not base_url and known_model(table, model).dialect == "responses"
    )
    if wants_responses:
        return OpenAIResponsesModel(
            model, key=key, settings=settings, base_url=base_url, name=spec, provider=table
        )
    return OpenAIChatModel(
        model,
        key=key,
        settings=settings,
        base_url=base_url,
        name=spec,
        provider=table,
        clock=clock,
    )


def _key(
    spec: str,
    variables: tuple[str, ...],
    settings: ModelSettings,
    environ: Mapping[str, str],
    keyring: Lookup | None,
) -> Key:
    """The key for where the request goes; a key made for one host is not sent to another."""
    if settings.key_variable:
        variables = (settings.key_variable,)
    elif settings.base_url and is_on_this_machine(settings.base_url):
        return NO_KEY
    elif settings.base_url:
        raise ConfigError(
            f"base_url is {settings.base_url}: which key may be sent there? "
            "Name its environment variable in key_variable",
            setting="key_variable",
            value="",
        )
    if not variables:
        return NO_KEY
    key = find_key(variables, environ, keyring)
    if key is None:
        raise _no_key(spec, variables[0])
    return key


def _no_key(spec: str, variable: str) -> ModelAuthError:
    provider = spec.partition(":")[0]
    return ModelAuthError(
        f"{spec} needs a key, and there is none: set {variable}=… in the environment,\n"
        f"or keep it in the keyring: keyring set wayfare {variable}\n"
        "Without any key: wayfare local install, then --model local (works offline)",
        provider=provider,
    )


def _unknown(spec: str, provider: str) -> ConfigError:
    near = get_close_matches(provider, FORMS, n=1)
    if provider.startswith("claude"):
        hint = f"; did you mean anthropic:{spec}?"
    elif provider.startswith(("gpt", "o1", "o3", "o4")):
        hint = f"; did you mean openai:{spec}?"
    elif spec.endswith(".gguf"):
        hint = f"; did you mean local:{spec}?"
    else:
        hint = f"; did you mean {FORMS[near[0]]}?" if near else ""
    known = "\n".join(f"  {form}" for form in FORMS.values())
    return ConfigError(
        f"unknown model {spec!r}{hint}\nKnown forms:\n{known}", setting="model", value=spec
    )
