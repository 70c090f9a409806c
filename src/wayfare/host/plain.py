"""A host's own values as plain ones: messages of SDKs as dictionaries, usage as ours."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from wayfare.errors import ConfigError
from wayfare.model import Usage

_sorted: Final = msgspec.json.Encoder(order="sorted")
_MARK: Final = "cache_control"
_WANTED: Final = "a list of objects with role and content, as they are sent"


def plain(value: Any) -> Any:
    """A copy of a value in dictionaries, lists and scalars; texts are shared, not copied.

    Objects of the providers' SDKs are read as what they would send.
    """
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in cast("list[Any]", value)]
    for name, options in (("to_dict", {}), ("model_dump", {"mode": "json", "exclude_unset": True})):
        write = getattr(value, name, None)
        if callable(write):
            return plain(write(**options))
    return plain(msgspec.to_builtins(value, str_keys=True))


def plain_message(value: Any) -> dict[str, Any]:
    """One of a host's messages as a dictionary.

    Raises:
        ConfigError: it is no message.
    """
    try:
        made = plain(value)
    except TypeError:
        made = None
    if isinstance(made, dict):
        return cast("dict[str, Any]", made)
    kind = type(value).__name__
    raise ConfigError(f"a list of messages holds {kind} {value!r:.80}: give {_WANTED}")


def must_be_list(messages: object) -> None:
    """Raise for what a host gives in place of a list of messages.

    Raises:
        ConfigError: this is no list.
    """
    kind = type(messages).__name__
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        raise ConfigError(f"no list of messages but {kind}: give {_WANTED}")


def opening(messages: Any) -> bytes:
    """The digest of the message a list begins with, by which its log is found.

    Raises:
        ConfigError: this is no list, or its first entry no message.
    """
    must_be_list(messages)
    return chained(b"", plain_message(messages[0]) if messages else None)


def chained(before: bytes, message: Any) -> bytes:
    """The running digest of a history with one more plain message.

    The order of keys and marks for the provider's cache, which hosts move from call to call, make
    no difference.
    """
    written = _written(message)
    if _MARK.encode() in written:
        written = _written(_unmarked(message))
    return hashlib.blake2b(before + written, digest_size=16).digest()


def _written(value: Any) -> bytes:
    try:
        return _sorted.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, sort_keys=True).encode("ascii")


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        mapping = cast("dict[str, Any]", value)
        return {k: _unmarked(v) for k, v in mapping.items() if k != _MARK}
    if isinstance(value, list):
        return [_unmarked(v) for v in cast("list[Any]", value)]
    return value


def usage_from(told: Any) -> Usage | None:
    """Usage as a provider's SDK, its JSON or wayfare says it; None when it says nothing."""
    if told is None or isinstance(told, Usage):
        return told
    fields: Mapping[str, Any] = plain(told)
    if "prompt_tokens" in fields:
        within: Mapping[str, Any] = fields.get("prompt_tokens_details") or {}
        cached = int(within.get("cached_tokens") or 0)
        return Usage(
            input_tokens=int(fields["prompt_tokens"]) - cached,
            cache_read_tokens=cached,
            output_tokens=int(fields.get("completion_tokens") or 0),
        )
    read = fields.get("cache_read_input_tokens", fields.get("cache_read_tokens"))
    written = fields.get("cache_creation_input_tokens", fields.get("cache_write_tokens"))
    details: Mapping[str, Any] = fields.get("input_tokens_details") or {}
    inside = int(details.get("cached_tokens") or 0)
    return Usage(
        input_tokens=int(fields.get("input_tokens") or 0) - inside,
        cache_read_tokens=int(read or 0) + inside,
        cache_write_tokens=int(written or 0),
        output_tokens=int(fields.get("output_tokens") or 0),
    )
