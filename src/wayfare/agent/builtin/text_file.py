"""A text file in memory: its text, and what must stay as it is when it is written again."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Encoding: TypeAlias = Literal["utf-8", "utf-16-le", "utf-16-be"]
Newline: TypeAlias = Literal["\n", "\r\n", "\r"]

_MARKS: tuple[tuple[bytes, Encoding], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BINARY_BEGINNINGS = (b"%PDF-", b"PK\x03\x04", b"\x1f\x8b", b"\x7fELF", b"\xfd7zXZ")
_LOOKED_AT_BYTES = 8_192
"""As much of a file's beginning as git looks at for a zero byte."""
_BARE_NEWLINE = re.compile(r"(?<!\r)\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """A decoded file.

    Attributes:
        text: Without a byte order mark, line ends as they are. Bytes that are no UTF-8 are lone
            surrogates, so that encoding gives them back.
        encoding: Of the bytes.
        mark: The byte order mark it began with, if any.
    """

    text: str
    encoding: Encoding = "utf-8"
    mark: bytes = b""

    @property
    def newline(self) -> Newline:
        """The line end most of its lines have; LF where there is none."""
        crlf = self.text.count("\r\n")
        lf = self.text.count("\n") - crlf
        cr = self.text.count("\r") - crlf
        if crlf > lf:
            return "\r\n"
        return "\r" if cr and not lf and not crlf else "\n"

    @property
    def valid(self) -> bool:
        """Whether all of it could be decoded."""
        return not any("\udc80" <= sign <= "\udcff" for sign in self.text)

    def encoded(self, text: str) -> bytes:
        """Another text as this file would hold it.

        Raises:
            ValueError: the text has half of a surrogate pair; says where.
        """
        errors = "surrogateescape" if self.encoding == "utf-8" else "strict"
        try:
            return self.mark + text.encode(self.encoding, errors)
        except UnicodeEncodeError as error:
            raise ValueError(f"character {error.start + 1} is half of a surrogate pair") from None


def decoded(raw: bytes) -> TextFile:
    """Read bytes as text; bytes that are no UTF-8 are kept for writing."""
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            errors = "surrogateescape" if encoding == "utf-8" else "replace"
            return TextFile(
                text=raw[len(mark) :].decode(encoding, errors), encoding=encoding, mark=mark
            )
    return TextFile(text=raw.decode("utf-8", "surrogateescape"))


def looks_binary(beginning: bytes) -> bool:
    """Whether a file that begins so is no text."""
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    return beginning.startswith(_BINARY_BEGINNINGS) or b"\0" in beginning[:_LOOKED_AT_BYTES]


def with_newline(text: str, newline: Newline) -> str:
    """The text with its bare LF line ends as the file has them; CRLF in it stays."""
    return text if newline == "\n" else _BARE_NEWLINE.sub(newline, text)


def lone_surrogate(text: str) -> int | None:
    """Where a text holds half of a surrogate pair, which no file can hold; None: nowhere."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return error.start
    return None
