"""What a command prints: every byte into a file, and a text of it for the model.

A thread moves the bytes from the command's pipe into the file. A file instead of the pipe would
do without it, but a command that writes to /dev/stderr would then empty the file.
"""

from __future__ import annotations

import fcntl
import os
import re
import select
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wayfare.context.stubs import cut

_PIPE_BYTES = 1 << 20
_ESCAPE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-Z\\-~]"
)
_CONTROLS = dict.fromkeys([*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F], "\ufffd")


class Spool(threading.Thread):
    """A file that takes what a command prints.

    Args:
        path: The file; it must not exist. Made with mode 0600.
        address: How the model can read it.

    Raises:
        OSError: it cannot be made.
    """

    def __init__(self, path: Path, address: str) -> None:
        super().__init__(name=f"spool {path.name}", daemon=True)
        self.path = path
        self.address = address
        self.size = 0
        self.failed = ""
        """Why not all of it could be kept; empty when it was."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.open(path, flags, 0o600)
        self._source, self.input = os.pipe()
        self._stop, self._stopped = os.pipe()
        self._lock = threading.Lock()
        self._open = True
        os.set_blocking(self._source, False)
        with suppress(OSError, AttributeError):
            fcntl.fcntl(self._source, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def begin(self) -> None:
        """The command has the pipe's other end now: let go of ours and move what comes."""
        os.close(self.input)
        self.start()

    def run(self) -> None:
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        poll.register(self._stop, select.POLLIN)
        while all(ready != self._stop for ready, _ in poll.poll()):
            with self._lock:
                if self._move() == 0:
                    break
        with self._lock:
            self._open = False
            for descriptor in (self._file, self._source, self._stop):
                os.close(descriptor)
            # Nobody may ever ask about a background command that has ended: a session of days
            # must not run out of handles.
            self._let_go()

    def drain(self) -> None:
        """Return when all that was printed until now is in the file."""
        with self._lock:
            while self._open and self._move():
                pass

    def _move(self) -> int | None:
        """Move what is there: so many bytes, None for none yet, 0 when none will come any more."""
        try:
            content = os.read(self._source, _PIPE_BYTES)
        except BlockingIOError:
            return None
        left = memoryview(content)
        try:
            while left and not self.failed:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            self.failed = error.strerror or str(error)
        self.size += len(content) - len(left)
        return len(content)

    def abandon(self) -> None:
        """The command did not start: leave nothing behind."""
        for descriptor in (self.input, self._source, self._stop, self._file):
            os.close(descriptor)
        self.close()
        self.discard()

    def close(self) -> None:
        """Stop, whoever may still hold the other end."""
        with self._lock:
            self._let_go()

    def _let_go(self) -> None:
        if self._stopped >= 0:
            os.close(self._stopped)
            self._stopped = -1

    def discard(self) -> None:
        """Remove the file: all of it stands elsewhere."""
        self.path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Output as the model sees it; `exact` when it is the very bytes, all of them."""

    text: str
    exact: bool


def output(path: Path, address: str, *, start: int, end: int, most_chars: int) -> Shown:
    """Bytes `start` to `end` of a spool file as text: all of it, or its beginning and its end.

    Escape sequences and what a progress line overwrote are left out; bytes that are no UTF-8 and
    control characters are shown as U+FFFD. Then `exact` is False and the file says more.
    """
    size = end - start
    half_bytes = most_chars * 2
    with path.open("rb") as file:
        file.seek(start)
        if size <= 2 * half_bytes:
            raw = file.read(size)
            text = raw.decode("utf-8", "replace")
            clean = cleaned(text)
            if len(clean) <= most_chars:
                return Shown(text=clean, exact=clean == text and text.encode() == raw)
            head = tail = clean
        else:
            head = cleaned(file.read(half_bytes).decode("utf-8", "replace"))
            file.seek(end - half_bytes)
            tail = cleaned(file.read(half_bytes).decode("utf-8", "replace"))
    first, last = _head(head, most_chars // 2), _tail(tail, most_chars // 2)
    left = size - len(first.encode("utf-8", "replace")) - len(last.encode("utf-8", "replace"))
    gap = f"[… about {left:,} of {size:,} bytes left out; all of it: {address} …]"
    return Shown(text=f"{first}\n{gap}\n{last}", exact=False)


def cleaned(text: str) -> str:
    """A terminal's text without what only moves its cursor or colours it."""
    text = text.replace("\r\n", "\n")
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return text.translate(_CONTROLS)


def _head(text: str, chars: int) -> str:
    kept = cut(text, chars)
    end = kept.rfind("\n")
    return kept[:end] if end > chars // 2 else kept


def _tail(text: str, chars: int) -> str:
    kept = text[-chars:]
    start = kept.find("\n")
    return kept[start + 1 :] if 0 <= start < chars // 2 else kept
