"""What stands in the context for text that left it: previews, one-line stubs, archive markers.

Every form carries the address that leads back to the exact bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from wayfare.context.facts import error_line
from wayfare.context.tool_use import ToolUse
from wayfare.messages import Block, Media, Opaque, Text, ToolResult
from wayfare.store import Ref

_KEEP_ARGUMENT_CHARS: Final = 80
REPLACED_KEYS: Final = frozenset(
    ("old_string", "old_str", "oldText", "old_text", "oldString", "search")
)
"""Where edit tools are given the text they replace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """Where the texts of this session stand, as printed addresses from the workspace root."""

    transcript: str
    contents: str
    unsaved: str = ""
    """Why nothing can be saved, for a session that lives in memory alone; addresses then say so
    instead of naming a file that is not there."""

    def where(self, entry: int, refs: Mapping[int, Ref]) -> Where:
        """Where the texts of one entry stand whose results have these files, by block."""
        return Where(addresses=self, entry=entry, refs=refs)

    def entry(self, entry: int) -> str:
        """The address of an entry."""
        return self._saved(f"{self.transcript}#{entry}")

    def run(self, first: int, last: int) -> str:
        """The address of a run of entries."""
        return self._saved(f"{self.transcript}#{first}-{last}")

    def file(self, ref: Ref) -> str:
        """The address of a file."""
        return self._saved(str(ref))

    def _saved(self, address: str) -> str:
        return f"(nowhere: {self.unsaved})" if self.unsaved else address


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Where the texts of one entry stand."""

    addresses: Addresses
    entry: int
    refs: Mapping[int, Ref]

    @property
    def entry_address(self) -> str:
        """The address of the whole entry."""
        return self.addresses.entry(self.entry)

    def block(self, number: int) -> str:
        """The address of one block, by its original number: its file, or the entry."""
        ref = self.refs.get(number)
        return self.entry_address if ref is None else self.addresses.file(ref)

    def brief(self, number: int) -> str:
        """The shorter address of the two where the entry holds no other file."""
        longer, shorter = self.block(number), self.entry_address
        return shorter if len(self.refs) <= 1 and len(shorter) < len(longer) else longer


SILENT: Final = "(no output)"


def preview(address: str, text: str, chars: int) -> str:
    """The stand-in for a large result: its address and how it begins (0: its address alone)."""
    if not chars:
        return f"[saved at {address}]"
    return (
        f"<persisted-output>\nFull output: {address}\nPreview:\n"
        f"{cut(text, chars)}\n</persisted-output>"
    )


def preview_of(shown: str) -> str:
    """The preview inside a stand-in that `preview` made; any other stand-in as it is."""
    _, found, rest = shown.partition("\nPreview:\n")
    return rest.removesuffix("\n</persisted-output>") if found else shown


def cut(text: str, chars: int) -> str:
    """The first `chars` characters, never through a pair that makes one visible sign."""
    if len(text) <= chars:
        return text
    end = chars
    while end > max(chars - 16, 0) and _joins(text, end):
        end -= 1
    return text[:end]


def _joins(text: str, at: int) -> bool:
    here, before = text[at], text[at - 1]
    return (
        here in "\u200d\ufe0f\u20e3"
        or before == "\u200d"
        or "\u0300" <= here <= "\u036f"
        or "\U0001f3fb" <= here <= "\U0001f3ff"
        or ("\udc00" <= here <= "\udfff" and "\ud800" <= before <= "\udbff")
    )


def head_and_tail(text: str, address: str, chars: int, *, whole: bool = True) -> str:
    """A long text: how it begins, how it ends, and where all of it stands.

    Where it is not `whole`, it is what this function left of it before, to be cut further.
    """
    if not whole:
        frame = re.compile(
            rf"\n\[… ([\d,]+) characters left out; all of it: {re.escape(address)} …\]\n"
        )
        found = frame.search(text)
        if found is not None:
            head, tail = text[: found.start()], text[found.end() :]
            left_out = int(found[1].replace(",", ""))
            return _framed(head, tail, left_out + len(head) + len(tail), address, chars)
    if len(text) <= chars:
        return text or f"[… left out; all of it: {address} …]"
    return _framed(text, text, len(text), address, chars)


def _framed(head: str, tail: str, whole_chars: int, address: str, chars: int) -> str:
    half = max(min(chars // 2, len(head), len(tail)), 1)
    left_out = whole_chars - 2 * half
    return (
        f"{cut(head, half)}\n[… {left_out:,} characters left out; all of it: {address} …]\n"
        f"{tail[-half:]}"
    )


def result_text(blocks: Sequence[Block]) -> str:
    """A result as preview text; what is no text is named by its kind."""
    parts: list[str] = []
    for block in blocks:
        match block:
            case Text():
                parts.append(block.text)
            case Media():
                parts.append(f"[{block.kind} {block.media_type}]")
            case Opaque():
                parts.append(f"[{block.kind}]")
            case _:
                parts.append("")
    return "\n".join(parts)


def stub(use: ToolUse | None, result: ToolResult, address: str, *, whole: bool) -> str:
    """One line that says what a consumed result was, and where it stands.

    `whole` says that the result is still shown as it was, so that its size is known.
    """
    what = f"{use.name} {use.main}".strip() if use is not None else "result"
    text = result_text(result.content)
    size = f"{len(text):,} characters, " if whole else ""
    if result.is_error:
        said = error_line(text if whole else preview_of(text))
        return f"[{what}: failed; {said}; {size}saved at {address}]"
    return f"[{what}: {size}saved at {address}]"


def short_input(
    call_input: Mapping[str, Any], address: str, over_chars: int, *, replaced: bool = False
) -> dict[str, Any] | None:
    """The input of a consumed call with its long strings shortened, or None if none is long.

    The shape stays, so the call is still valid for the tool's schema. `replaced` shortens only
    the text an edit took out of its file: that is nowhere to be found again.
    """
    changed = False

    def shorter(value: Any, key: str) -> Any:
        nonlocal changed
        if isinstance(value, str):
            if len(value) <= over_chars or (replaced and key not in REPLACED_KEYS):
                return value
            changed = True
            head = cut(value, _KEEP_ARGUMENT_CHARS)
            if replaced:
                return f"{head} [… replaced, {len(value):,} characters]"
            return f"{head} [… {len(value):,} characters, saved at {address}]"
        if isinstance(value, dict):
            return {k: shorter(v, str(k)) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if isinstance(value, list):
            return [shorter(v, key) for v in value]  # pyright: ignore[reportUnknownVariableType]
        return value

    shortened = {key: shorter(value, key) for key, value in call_input.items()}
    return shortened if changed else None
