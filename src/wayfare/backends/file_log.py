"""A log as one local file: a line per entry, `\\n` and nothing else as line end."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import msgspec
from anyio.lowlevel import checkpoint

from wayfare.backends.disk import Disk, Held, OpenFile, reading, storing
from wayfare.backends.durable import (
    Sync,
    SyncPolicy,
    in_thread,
    write_all,
    write_whole,
)
from wayfare.backends.line_index import MARK_BYTES, LineIndex
from wayfare.backends.os_disk import OsDisk
from wayfare.backends.process import read_note, this_process
from wayfare.backends.store_folder import StoreFolder
from wayfare.clock import Clock, SystemClock
from wayfare.errors import LeaseHeld, WriteFailed
from wayfare.json_text import UNREADABLE
from wayfare.store import Line, Log, Opened

_LONG_READ_BYTES = 1_048_576
_INLINE_WRITE_BYTES = 1_048_576


def is_json_line(line: bytes) -> bool:
    """Whether a line is one whole JSON value, as a power cut in the middle of a write may deny."""
    try:
        msgspec.json.decode(line)
    except UNREADABLE:
        return False
    return True


class FileLog:
    """A log in one file, with one writing process and any number of readers.

    Reading needs no `open()`: a log that is only read takes no lock, writes nothing and simply
    stops before a torn tail.

    Args:
        path: The file; its folder is made (mode 0700) when the log is opened.
        sync: When an append is flushed; `"always"` means: before it returns.
        sync_interval_seconds: With `"interval"`, an append that comes later than this after the
            last flush flushes everything; closing does too.
        is_whole: Whether the last line is one (`is_json_line` for JSON lines); a last line that is
            not counts as torn even though it has its line end. None: a line end is enough.
        lock_name: The lock's file beside the log; names the process that writes.
        inside: The folder the log must stand in when every link is followed; None: no check.
        gitignore_in: A folder on the way that gets a `.gitignore` of `*` when it is first made.
    """

    def __init__(
        self,
        path: Path,
        *,
        disk: Disk | None = None,
        sync: Sync = "always",
        sync_interval_seconds: float = 1.0,
        is_whole: Callable[[bytes], bool] | None = None,
        lock_name: str = ".lock",
        inside: Path | None = None,
        gitignore_in: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.path = path
        self._disk = disk or OsDisk()
        self._clock = clock or SystemClock()
        self._policy = SyncPolicy(sync, sync_interval_seconds, self._clock)
        self._is_whole = is_whole
        self._lock_path = path.with_name(lock_name)
        self._folder = StoreFolder(
            path.parent,
            disk=self._disk,
            clock=self._clock,
            inside=inside,
            ignored=gitignore_in,
            flush=sync != "never",
        )
        self._index = LineIndex()
        self._file: OpenFile | None = None
        self._lock: Held | None = None
        self._overhang = False
        self._turn = anyio.Lock(fast_acquire=True)
        # A task cancelled from outside anyio leaves its thread writing while the next one starts.
        self._writing = threading.Lock()

    async def open(self) -> Opened:
        """Take the right to write, set a torn tail aside, count the lines.

        Raises:
            LeaseHeld: another process (or another `FileLog`) writes this log; the message names it.
            WriteFailed: the folder or the file cannot be written.
        """
        async with self._turn:
            if self._file is not None:
                return Opened(lines=self._index.lines)
            return await in_thread(self._open)

    async def append(self, lines: Sequence[bytes]) -> None:
        """Append whole lines in one write; see `Log.append`.

        Cancelling waits until the write is done: lines are never written half knowingly.

        Raises:
            WriteFailed: the log ends where it ended before.
            ValueError: a line holds a line end.
        """
        if not lines:
            return
        content = b"\n".join(lines) + b"\n"
        if content.count(b"\n") != len(lines):
            raise ValueError("a log line must not hold a line end")
        async with self._turn:
            due = self._policy.due()
            if due or len(content) > _INLINE_WRITE_BYTES:
                await in_thread(self._append, content, due)
            else:
                self._append(content, due)

    async def read(self, first: int = 1, last: int | None = None) -> AsyncIterator[Line]:
        """The lines `first` to `last` that stand whole when reading begins.

        Raises:
            NotFound: the file is there and cannot be read.
        """
        with reading(self.path):
            self._catch_up()
        end = self._index.lines if last is None else min(last, self._index.lines)
        first = max(first, 1)
        offset, number = self._index.near(first)
        held: list[bytes] = []
        length = MARK_BYTES
        while number <= end and first <= end:
            with reading(self.path):
                chunk = self._disk.read(self.path, offset, length)
            if not chunk:
                return
            offset += len(chunk)
            *whole, rest = chunk.split(b"\n")
            for piece in whole:
                if number > end:
                    return
                if held:
                    piece = b"".join((*held, piece))
                    held.clear()
                if number >= first:
                    yield Line(number=number, content=piece)
                number += 1
            if rest:
                held.append(rest)
            if length == _LONG_READ_BYTES:
                await checkpoint()
            length = min(2 * length, _LONG_READ_BYTES)

    async def size(self) -> int:
        """Bytes of the file, a torn tail that nobody has set aside yet included."""
        if self._file is not None:
            return self._index.whole_bytes
        with reading(self.path):
            found = self._disk.stat(self.path)
        return found.size if found else 0

    async def close(self) -> None:
        """Flush (unless the policy is `"never"`), close, give the right to write back."""
        with anyio.CancelScope(shield=True):
            async with self._turn:
                if self._file is not None:
                    await in_thread(self._close)

    def _open(self) -> Opened:
        with storing(self.path):
            self._folder.ready()
            self._lock = self._take_lock()
            try:
                file = self._disk.open(self.path)
                try:
                    if self._policy.mode != "never":
                        self._disk.sync_folder(self.path.parent)
                    opened = self._set_torn_tail_aside(file)
                except BaseException:
                    file.close()
                    raise
            except BaseException:
                self._lock.release()
                self._lock = None
                raise
            self._file = file
            self._overhang = False
            return opened

    def _take_lock(self) -> Held:
        note = this_process().note(round(self._clock.now(), 3))
        held = self._disk.lock(self._lock_path, note)
        if held is not None:
            return held
        with suppress(OSError):
            note = self._disk.read(self._lock_path, 0, 4_096)
        holder, since = read_note(note)
        raise LeaseHeld(
            f"{self.path} is being written by {holder}{since}; "
            "end that process, or open the log for reading only",
            holder=holder,
        )

    def _set_torn_tail_aside(self, file: OpenFile) -> Opened:
        self._index = LineIndex()
        self._scan()
        end = self._end_of_whole_lines()
        torn = self._disk.read(self.path, end) if end < self._index.scanned_bytes else b""
        if not torn:
            return Opened(lines=self._index.lines)
        number = 1
        taken = self._disk.entries(self.path.parent)
        while f"{self.path.name}.torn-{number}" in taken:
            number += 1
        aside = self.path.with_name(f"{self.path.name}.torn-{number}")
        # The copy is durable before the cut, which the next flush makes durable: a crash in between
        # leaves the tail in both places, and it is set aside once more.
        write_whole(self._disk, aside, torn, clock=self._clock, sync=self._policy.mode != "never")
        file.truncate(end)
        if self._index.whole_bytes != end or self._index.scanned_bytes != end:
            self._index = LineIndex()
            self._scan()
        return Opened(lines=self._index.lines, torn_bytes=len(torn), torn_path=str(aside))

    def _end_of_whole_lines(self) -> int:
        end = self._index.whole_bytes
        if self._is_whole is None:
            return end
        number = self._index.lines
        while number > 0:
            offset, at = self._index.near(number)
            lines = self._disk.read(self.path, offset, end - offset).split(b"\n")
            line = lines[number - at]
            if self._is_whole(line):
                break
            end -= len(line) + 1
            number -= 1
        return end

    def _scan(self) -> None:
        """Feed what the file holds beyond what the index has seen."""
        while chunk := self._disk.read(self.path, self._index.scanned_bytes, MARK_BYTES):
            self._index.feed(chunk)

    def _catch_up(self) -> None:
        """For reading: an open writer's index is exact, any other looks at the file again."""
        if self._file is not None:
            return
        found = self._disk.stat(self.path)
        size = found.size if found else 0
        if size < self._index.whole_bytes:
            self._index = LineIndex()
        if size > self._index.whole_bytes:
            # The bytes after the last line end may be cut off and written anew by the writer.
            self._index.forget_tail()
            self._scan()

    def _append(self, content: bytes, flush: bool) -> None:
        with self._writing:
            self._append_next(content, flush)

    def _append_next(self, content: bytes, flush: bool) -> None:
        file = self._file
        if file is None:
            reason = "the log is not open"
            raise WriteFailed(
                f"cannot write {self.path}: {reason}", path=str(self.path), reason=reason
            )
        with storing(self.path):
            if self._overhang:
                file.truncate(self._index.whole_bytes)
                self._overhang = False
            try:
                write_all(file, content)
                if flush:
                    file.sync()
                    self._policy.done()
            except OSError:
                self._overhang = True
                with suppress(OSError):  # if this fails too, the next append tries again first
                    file.truncate(self._index.whole_bytes)
                    self._overhang = False
                raise
        self._index.feed(content)

    def _close(self) -> None:
        file, lock = self._file, self._lock
        self._file = self._lock = None
        try:
            with storing(self.path):
                if file is not None:
                    try:
                        if self._overhang:
                            file.truncate(self._index.whole_bytes)
                        if self._policy.mode == "interval":
                            file.sync()
                    finally:
                        file.close()
        finally:
            if lock is not None:
                lock.release()


if TYPE_CHECKING:
    _: Log = FileLog(Path())
