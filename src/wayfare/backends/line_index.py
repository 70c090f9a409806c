"""Where the lines of a growing file begin: roughly, so that it stays small."""

from __future__ import annotations

from bisect import bisect_right

MARK_BYTES = 65_536
"""One mark for every so many bytes: a 1 GB log costs 16,000 marks, and reading any line of it costs
one read of about this size."""


class LineIndex:
    """Counts lines and remembers where some of them start; built as the file is read or grows."""

    def __init__(self) -> None:
        self._starts = [0]
        self._before = [0]
        self.lines = 0
        """Whole lines seen, that is line ends."""
        self.scanned_bytes = 0
        """Bytes seen."""
        self.whole_bytes = 0
        """Bytes up to and including the last line end."""

    def feed(self, content: bytes) -> None:
        """Take the next bytes of the file in."""
        for at in range(0, len(content), MARK_BYTES):
            self._feed(content[at : at + MARK_BYTES])

    def _feed(self, chunk: bytes) -> None:
        count = chunk.count(b"\n")
        if count:
            start = self.scanned_bytes + chunk.index(b"\n") + 1
            if start - self._starts[-1] >= MARK_BYTES:
                self._starts.append(start)
                self._before.append(self.lines + 1)
            self.lines += count
            self.whole_bytes = self.scanned_bytes + chunk.rindex(b"\n") + 1
        self.scanned_bytes += len(chunk)

    def forget_tail(self) -> None:
        """Go back to the last line end: what follows it is to be fed again."""
        self.scanned_bytes = self.whole_bytes

    def near(self, number: int) -> tuple[int, int]:
        """A place to start reading for line `number`: (byte offset, number of the line there)."""
        at = bisect_right(self._before, max(number - 1, 0)) - 1
        return self._starts[at], self._before[at] + 1
