"""Whether everything that entered and is no longer visible can be had back from a request.

Only the text of the request is given. Addresses in it are followed with the runtime's own reader,
in at most two reads: to the bytes, or through the table of contents to an address that leads to
them.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from wayfare.messages import Message
from wayfare.replay.needed import leaves, spoken
from wayfare.store import Ref
from wayfare.transcript import MessageEntry, Transcript

_RUN: Final = re.compile(r"[^\s,;()\[\]<>\"'`]+")
_ADDRESS: Final = re.compile(r".+\.(?:jsonl#\d+(?:-\d+)?|tsv|txt|json|png|jpeg|gif|webp)")
_LONGEST_ADDRESS_CHARS: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Reachable:
    """Texts that entered, those visible, those recovered by an address, those that are not."""

    texts: int
    visible: int
    recovered: int
    lost: tuple[int, ...] = ()

    @property
    def share(self) -> float:
        """Share that is visible or can be had back."""
        return 1.0 if not self.texts else (self.visible + self.recovered) / self.texts


async def reachable(transcript: Transcript, request: Sequence[Message]) -> Reachable:
    """Judge one request against the whole log behind it, text by text.

    A text that came in twice is had back where either of the two can be.
    """
    shown = "\n".join(spoken(m) for m in request)
    leads = await _leads(transcript, shown)
    visible = recovered = 0
    missing: list[tuple[int, str]] = []
    async for entry_id, path, text in _texts(transcript):
        if text in shown:
            visible += 1
        elif leads.reach(entry_id, path):
            recovered += 1
        else:
            missing.append((entry_id, text))
    if missing:
        wanted = {text for _, text in missing}
        async for entry_id, path, text in _texts(transcript):
            if text in wanted and leads.reach(entry_id, path):
                wanted.remove(text)
        recovered += sum(text not in wanted for _, text in missing)
        missing = [(entry_id, text) for entry_id, text in missing if text in wanted]
    return Reachable(
        texts=visible + recovered + len(missing),
        visible=visible,
        recovered=recovered,
        lost=tuple(entry_id for entry_id, _ in missing),
    )


async def _texts(transcript: Transcript) -> AsyncIterator[tuple[int, str, str]]:
    """Every text that entered: its entry, the file of its block or "", and itself."""
    async for entry in transcript.entries():
        if not isinstance(entry, MessageEntry):
            continue
        entered = await transcript.entered(entry)
        for number, block in enumerate(entered.message.blocks):
            ref = entered.refs.get(number)
            for text in leaves(block):
                if text.strip():
                    yield entry.id, ref.path if ref is not None else "", text


@dataclass(slots=True, kw_only=True)
class _Leads:
    """Where a request leads: entries it names, entries its table of contents names, and files."""

    entries: set[int]
    listed: set[int]
    paths: set[str]

    def reach(self, entry: int, path: str) -> bool:
        """Whether a text of an entry, in a file of its own or not, is at most two reads away."""
        if entry in self.entries or (path and path in self.paths):
            return True
        return not path and entry in self.listed


async def _leads(transcript: Transcript, shown: str) -> _Leads:
    runs = {found[0] for found in _RUN.finditer(shown)}
    direct = {r for r in runs if len(r) <= _LONGEST_ADDRESS_CHARS and _ADDRESS.fullmatch(r)}
    entries, paths = _led_to(direct, transcript)
    listed: set[int] = set()
    if transcript.contents_path in direct:
        table = (await transcript.read(Ref(path=transcript.contents_path))).decode("utf-8")
        rows = {line.rpartition("\t")[2] for line in table.splitlines() if line}
        listed, more = _led_to(rows, transcript)
        paths |= more
    return _Leads(entries=entries, listed=listed, paths=paths)


def _led_to(addresses: Iterable[str], transcript: Transcript) -> tuple[set[int], set[str]]:
    """Entries of the log, and files, that addresses lead to."""
    entries: set[int] = set()
    paths: set[str] = set()
    for address in addresses:
        ref = Ref.parse(address)
        if ref.path == transcript.path and ref.first is not None:
            entries |= set(range(ref.first, (ref.last or ref.first) + 1))
        else:
            paths.add(ref.path)
    return entries, paths
