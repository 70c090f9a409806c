"""Keys: from the environment or the keyring, nowhere else; never printed, never stored."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

KEYRING_SERVICE = "wayfare"

Lookup = Callable[[str], str | None]
"""Gives the secret of a name, or None."""


class Key:
    """A secret that does not show: `str` and `repr` give its source, `reveal()` the text."""

    __slots__ = ("_secret", "source")

    def __init__(self, secret: str, source: str) -> None:
        self._secret = secret
        self.source = source

    def reveal(self) -> str:
        """The secret itself, for the SDK alone."""
        return self._secret

    def __repr__(self) -> str:
        return f"<key from {self.source}>"

    def __reduce__(self) -> Any:
        raise TypeError("a key is not written anywhere")


NO_KEY = Key("no-key-needed", "nowhere")
"""What servers on this machine get: the SDKs insist on a key, these servers do not."""


def find_key(
    variables: tuple[str, ...], environ: Mapping[str, str], keyring: Lookup | None = None
) -> Key | None:
    """The first key found: each variable in the environment, then each in the keyring.

    Args:
        variables: names of environment variables; the keyring entry has the same name, under the
            service `wayfare`.
        environ: the environment.
        keyring: how to ask the keyring; None asks the `keyring` package where it is installed.
    """
    for name in variables:
        secret = environ.get(name, "").strip()
        if secret:
            return Key(secret, f"environment variable {name}")
    ask = keyring or _ask_keyring
    for name in variables:
        secret = (ask(name) or "").strip()
        if secret:
            return Key(secret, f"keyring entry {name}")
    return None


def _ask_keyring(name: str) -> str | None:
    try:
        from keyring import get_password  # pyright: ignore
    except ImportError:
        return None
    try:
        return cast("str | None", get_password(KEYRING_SERVICE, name))
    except Exception:  # a keyring may fail in any way (locked, no session bus): then it has no key
        return None


def is_on_this_machine(base_url: str) -> bool:
    """Whether an address leads to a server on this machine."""
    host = (urlsplit(base_url).hostname or "").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
