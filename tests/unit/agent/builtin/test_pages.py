"""Pages of a text agree with a plain reading of it, whatever the text."""

from __future__ import annotations

import io
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayfare.agent.builtin.pages import page, piece

texts = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\ufeff")))


def numbered(text: str) -> list[str]:
    """The lines of a text as a page shows them, all of them."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [f"{at}\t{line}" for at, line in enumerate(lines, 1)]


@given(texts, st.booleans(), st.integers(-20, 20), st.integers(1, 20))
def test_a_page_is_the_lines_it_says(parts: list[str], ended: bool, first: int, count: int) -> None:
    text = "\n".join(parts) + ("\n" if ended and parts else "")
    all_lines = numbered(text)
    found = page(io.BytesIO(text.encode()), first=first, count=count, most_chars=10**9)
    start = max(first, 1) - 1 if first >= 0 else max(len(all_lines) + first, 0)
    assert found.lines == len(all_lines)
    assert found.text == "\n".join(all_lines[start : start + count])
    if found.first:
        assert (found.first, found.last) == (start + 1, min(start + count, len(all_lines)))


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r")), st.data())
def test_pieces_of_a_line_put_together_are_the_line(line: str, data: st.DataObject) -> None:
    stream = io.BytesIO(f"first\n{line}\nlast".encode())
    column, together = 1, ""
    while True:
        found = piece(stream, line=2, column=column, most_chars=data.draw(st.integers(1, 7)))
        together += found.text
        assert found.left_chars == len(line) - len(together)
        if not found.left_chars:
            break
        column += len(found.text)
    assert together == line


def test_a_page_ends_before_it_is_too_long_and_shows_one_line_always() -> None:
    stream = io.BytesIO(b"a" * 50 + b"\n" + b"b" * 50 + b"\n")
    found = page(stream, first=1, count=10, most_chars=60)
    assert (found.first, found.last, found.lines) == (1, 1, 2)
    assert page(stream, first=2, count=10, most_chars=10).text.startswith(
        "2\tbbbbbbbbbb [… 40 more"
    )


def test_a_long_line_is_cut_and_says_how_much_is_left() -> None:
    found = page(
        io.BytesIO(("ä" * 3_000 + "\nshort\n").encode()), first=1, count=5, most_chars=9_999
    )
    assert found.text == "1\t" + "ä" * 2_000 + " [… 1,000 more characters]\n2\tshort"
    assert found.cut_lines == (1,)


def test_beyond_the_end_there_is_nothing() -> None:
    found = page(io.BytesIO(b"one\n"), first=2, count=5, most_chars=100)
    assert (found.first, found.lines, found.text) == (0, 1, "")


class Counted(io.BytesIO):
    """A stream that remembers the largest piece that was read of it."""

    largest = 0

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        self.largest = max(self.largest, len(found))
        return found

    def readline(self, size: int | None = -1, /) -> bytes:
        found = super().readline(size)
        self.largest = max(self.largest, len(found))
        return found


@pytest.mark.parametrize("content", [b"x" * 20_000_000, b"line\n" * 4_000_000])
def test_a_huge_text_is_never_held_whole(content: bytes) -> None:
    stream: BinaryIO = Counted(content)
    page(stream, first=-1, count=1, most_chars=1_000)
    assert isinstance(stream, Counted)
    assert stream.largest <= 1 << 20
