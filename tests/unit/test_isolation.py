"""The house the tests run in: no network but loopback, no home but their own."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest


def test_the_network_is_closed() -> None:
    with socket.socket() as outside, pytest.raises(OSError, match="do not reach the network"):
        outside.connect(("192.0.2.1", 80))
    with pytest.raises(OSError, match="do not reach the network"):
        socket.create_connection(("example.invalid", 80))


def test_loopback_is_open() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(("localhost", server.getsockname()[1])) as client,
    ):
        assert client.getpeername()[0] == "127.0.0.1"


def test_home_is_a_fresh_folder(own_home: Path) -> None:
    assert Path.home() == own_home
    assert list(own_home.iterdir()) == []
    assert os.environ["XDG_CONFIG_HOME"].startswith(str(own_home))
    assert "ANTHROPIC_API_KEY" not in os.environ
