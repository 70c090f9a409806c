"""Starting, sharing and stopping the process that serves a local model. All of it blocks."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from wayfare.errors import ModelUnreachable

_STOPPING_SECONDS: Final = 5.0
_TAIL_BYTES: Final = 2_000
_ASKING_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What is served, and how.

    Attributes:
        path: of the GGUF file.
        window_tokens: the window to load it with.
        threads: processors it may use.
    """

    path: Path
    window_tokens: int
    threads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where it is served, and whether its chat template knows tools."""

    base_url: str
    takes_tools: bool


class LocalProcess:
    """One server process, shared by all models of this process that want the same.

    It starts when it is first needed, and again when it died; it stops when the last user
    leaves.
    """

    _all: Final[dict[Served, LocalProcess]] = {}
    _lock: Final = threading.RLock()

    def __init__(self, served: Served) -> None:
        self._served = served
        self._users: set[int] = set()
        self._process: subprocess.Popen[str] | None = None
        self._log: IO[bytes] | None = None
        self._address: Address | None = None

    @classmethod
    def of(cls, served: Served) -> LocalProcess:
        """The process that serves this, started or not."""
        with cls._lock:
            return cls._all.setdefault(served, cls(served))

    @property
    def is_running(self) -> bool:
        """Whether it can be asked."""
        return self._process is not None and self._process.poll() is None

    def join(self, user: object) -> Address:
        """Start it if it does not run, and count `user` among its users.

        Raises:
            ModelUnreachable: it did not start; the text has the last lines it wrote.
        """
        with self._lock:
            self._users.add(id(user))
            if self._address is None or not self.is_running:
                self._stop()
                self._address = self._start()
            return self._address

    def leave(self, user: object) -> None:
        """Stop it if `user` was the last one."""
        with self._lock:
            self._users.discard(id(user))
            if not self._users:
                self._stop()
                self._all.pop(self._served, None)

    def _start(self) -> Address:
        served = self._served
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process runs
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-P", "-m", "wayfare.providers.local_server"),
                *(str(served.path), str(served.window_tokens), str(served.threads)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            start_new_session=True,  # an interrupt from the terminal is for the session alone
        )
        base_url = self._read_address()
        props = _get(f"{base_url}/props")
        takes_tools = bool(props.get("chat_template_caps", {}).get("supports_tools"))
        return Address(base_url=f"{base_url}/v1", takes_tools=takes_tools)

    def _read_address(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith('{"address"'):
                return str(json.loads(line)["address"])
        self._process.wait()
        said = self._tail()
        self._stop()
        raise ModelUnreachable(
            f"local:{self._served.path}: the model could not be loaded: {said}", provider="local"
        )

    def _tail(self) -> str:
        """The last lines it wrote, an import error among them."""
        if self._log is None:
            return ""
        size = self._log.seek(0, 2)
        self._log.seek(max(0, size - _TAIL_BYTES))
        lines = self._log.read().decode("utf-8", "replace").split("\n")
        return "\n".join(line for line in lines[-6:] if line.strip())

    def _stop(self) -> None:
        process, self._process, self._address = self._process, None, None
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
            try:
                process.wait(_STOPPING_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        log, self._log = self._log, None
        if log is not None:
            log.close()


def _get(url: str) -> dict[str, Any]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=_ASKING_SECONDS) as answer:
        return json.loads(answer.read())
