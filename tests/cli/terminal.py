"""A terminal for tests: a pseudo-terminal, and the picture that what is written to it makes.

Only what line editors use is understood: cursor moves, erasing, scrolling, wrapping on and off.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
import unicodedata
from pathlib import Path

GIVE_UP_SECONDS = 30.0
_SEQUENCE = re.compile(r"\x1b(?:\[([?>]?)([\d;]*)([@-~])|\][^\x07]*\x07|[()][A-Z0-9]|[=>78])")


class Picture:
    """What a terminal of so many columns and rows shows, and what scrolled out above."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.lines: list[list[str]] = [[]]
        self.row = self.column = 0
        self.wraps = True
        self.wrapped = 0
        self._rest = ""

    @property
    def text(self) -> str:
        """All lines, scrolled out ones included."""
        return "\n".join("".join(line).rstrip() for line in self.lines)

    @property
    def top(self) -> int:
        """The first line in sight."""
        return max(len(self.lines) - self.rows, 0)

    def feed(self, text: str) -> None:
        """Draw what was written."""
        text, self._rest = self._rest + text, ""
        at = 0
        while at < len(text):
            letter = text[at]
            if letter == "\x1b":
                found = _SEQUENCE.match(text, at)
                if found is None:
                    if len(text) - at < 64:
                        self._rest = text[at:]
                        return
                    at += 1
                    continue
                self._sequence(found)
                at = found.end()
                continue
            at += 1
            if letter == "\r":
                self.column = 0
            elif letter == "\n":
                self._down()
            elif letter == "\b":
                self.column = max(self.column - 1, 0)
            elif letter >= " ":
                self._put(letter)

    def _sequence(self, found: re.Match[str]) -> None:
        private, given, kind = found[1], found[2], found[3]
        if kind is None:
            return
        numbers = [int(n) if n else 0 for n in given.split(";")] if given else [0]
        count = max(numbers[0], 1)
        if private:
            if numbers[0] == 7:
                self.wraps = kind == "h"
        elif kind == "A":
            self.row = max(self.row - count, self.top)
        elif kind == "B":
            self.row = min(self.row + count, self.top + self.rows - 1)
        elif kind == "C":
            self.column = min(self.column + count, self.columns - 1)
        elif kind == "D":
            self.column = max(self.column - count, 0)
        elif kind == "H":
            row, column = [*numbers, 1, 1][:2] if given else [1, 1]
            self.row, self.column = self.top + max(row, 1) - 1, max(column, 1) - 1
        elif kind == "J":
            self._erase_below() if numbers[0] == 0 else self._erase_all()
        elif kind == "K":
            self._line()[self.column :] = []

    def _line(self) -> list[str]:
        while len(self.lines) <= self.row:
            self.lines.append([])
        return self.lines[self.row]

    def _down(self) -> None:
        self.row += 1
        self._line()

    def _put(self, letter: str) -> None:
        wide = 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if self.column + wide > self.columns:
            if not self.wraps:
                return
            self.wrapped += 1
            self.column = 0
            self._down()
        line = self._line()
        line += [" "] * (self.column + wide - len(line))
        line[self.column] = letter
        if wide == 2:
            line[self.column + 1] = ""
        self.column += wide

    def _erase_below(self) -> None:
        self._line()[self.column :] = []
        del self.lines[self.row + 1 :]

    def _erase_all(self) -> None:
        del self.lines[self.top :]
        self.lines += [[] for _ in range(self.rows)]


class Terminal:
    """A command on a terminal."""

    def __init__(
        self,
        argv: list[str],
        *,
        cwd: Path,
        environ: dict[str, str],
        columns: int = 80,
        rows: int = 24,
    ) -> None:
        self.picture = Picture(columns, rows)
        self.raw = ""
        self.status: int | None = None
        self._bytes = b""
        self._pid, self._fd = pty.fork()
        if not self._pid:
            os.chdir(cwd)
            os.execve(argv[0], argv, environ)
        self.resize(columns, rows)

    def resize(self, columns: int, rows: int) -> None:
        """Make the terminal another size; the kernel tells the command."""
        self.picture.columns, self.picture.rows = columns, rows
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, size)

    def type(self, text: str) -> None:
        """Press keys; `\\r` is Enter."""
        os.write(self._fd, text.encode())

    def wait_for(self, *texts: str) -> str:
        """Read until the picture holds all of these; returns it."""
        self._read_until(lambda: all(text in self.picture.text for text in texts), texts)
        return self.picture.text

    def wait_until_gone(self, text: str) -> str:
        """Read until the picture does not hold this any more; returns it."""
        self._read_until(lambda: text not in self.picture.text, (f"no {text!r}",))
        return self.picture.text

    def wait_for_end(self) -> int:
        """Read until the command is over; its exit status."""
        self._read_until(lambda: self.status is not None, ("the end",))
        assert self.status is not None
        return self.status

    def _read_until(self, done: object, wanted: tuple[str, ...]) -> None:
        assert callable(done)
        end = time.monotonic() + GIVE_UP_SECONDS
        while not done():
            if self.status is not None or time.monotonic() > end:
                raise AssertionError(
                    f"never seen: {wanted}; the terminal shows\n{self.picture.text}"
                )
            self._read()

    def _read(self) -> None:
        ready, _, _ = select.select([self._fd], [], [], 0.5)
        if not ready:
            return
        try:
            chunk = os.read(self._fd, 65_536)
        except OSError:
            chunk = b""
        if not chunk:
            _, status = os.waitpid(self._pid, 0)
            self.status = os.waitstatus_to_exitcode(status)
            return
        self._bytes += chunk
        text = self._bytes.decode("utf-8", "ignore")
        whole = text.encode()
        text = self._bytes[: len(whole)].decode("utf-8", "replace")
        self._bytes = self._bytes[len(whole) :]
        self.raw += text
        self.picture.feed(text)

    def end(self) -> None:
        """End the command, if it still runs, and let go of the terminal."""
        if self.status is None:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            self.status = -9
        os.close(self._fd)
