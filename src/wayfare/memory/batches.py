"""What extraction reads: every new word of the user, in batches, with a little around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wayfare.formats.json_reply import without_surrogates
from wayfare.memory.index import shortened
from wayfare.memory.likeness import Utterance
from wayfare.memory.limits import DEFAULT_LIMITS, MemoryLimits

_HIDDEN = {
    "tool": "tool result",
    "memory": "notes from memory",
    "notes": "session notes",
    "summary": "summary of earlier work",
    "system": "system text",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Some of the user's messages in order, with what stands around them.

    `said` are the user's own messages, the only evidence there is; `around` everything of the
    batch, oldest first; `last_entry` is where the cursor goes when it is done.
    """

    said: tuple[Utterance, ...]
    around: tuple[Utterance, ...]
    last_entry: int

    def text(self, limits: MemoryLimits = DEFAULT_LIMITS) -> str:
        """The batch as the extractor reads it. What tools, memory and summaries said is named,
        never shown: what is not read cannot be taken for the user's wish."""
        new = {id(u) for u in self.said}
        spoken = [u for u in self.around if u.text.strip()]
        return without_surrogates("\n".join(_line(u, id(u) in new, limits) for u in spoken))


def plan_batches(
    utterances: Sequence[Utterance], cursor: int, limits: MemoryLimits = DEFAULT_LIMITS
) -> list[Batch]:
    """Everything the user said after the cursor, oldest first; nothing is skipped.

    A message longer than a batch is read in pieces.

    Args:
        utterances: The transcript, oldest first, with entries before the cursor as context.
        cursor: The last entry that was read before.
        limits: Characters of a batch, messages around, characters of those.
    """
    pieces: list[tuple[int, Utterance]] = []
    for at, said in enumerate(utterances):
        if said.origin == "user" and said.entry_id > cursor and said.text.strip():
            pieces += [(at, part) for part in _pieces(said, limits.extract_batch_chars)]
    batches: list[Batch] = []
    taken: list[tuple[int, Utterance]] = []
    size = 0
    for at, piece in pieces:
        if taken and size + len(piece.text) > limits.extract_batch_chars:
            batches.append(_batch(utterances, taken, limits))
            taken, size = [], 0
        taken.append((at, piece))
        size += len(piece.text)
    if taken:
        batches.append(_batch(utterances, taken, limits))
    return batches


def _batch(
    utterances: Sequence[Utterance], taken: Sequence[tuple[int, Utterance]], limits: MemoryLimits
) -> Batch:
    positions = {at for at, _ in taken}
    half = limits.extract_context_messages // 2
    near = {
        other
        for at in positions
        for other in range(max(at - half, 0), min(at + half + 1, len(utterances)))
    }
    order: list[tuple[int, int, Utterance]] = [
        (other, 0, utterances[other]) for other in near - positions
    ]
    order += [(at, n, piece) for n, (at, piece) in enumerate(taken)]
    order.sort(key=lambda item: item[:2])
    return Batch(
        said=tuple(piece for _, piece in taken),
        around=tuple(u for _, _, u in order),
        last_entry=max(piece.entry_id for _, piece in taken),
    )


def _pieces(said: Utterance, chars: int) -> list[Utterance]:
    text = without_surrogates(said.text)
    if len(text) <= chars:
        return [said if text == said.text else replace(said, text=text)]
    pieces: list[Utterance] = []
    while text:
        cut = len(text)
        if cut > chars:
            cut = (
                max(text.rfind("\n", 0, chars) + 1, text.rfind(" ", chars // 2, chars) + 1) or chars
            )
        pieces.append(replace(said, text=text[:cut]))
        text = text[cut:]
    return pieces


def _line(said: Utterance, new: bool, limits: MemoryLimits) -> str:
    if said.origin in _HIDDEN:
        return f"[{said.entry_id}] ({_HIDDEN[said.origin]}, {len(said.text)} characters, not shown)"
    if new:
        return f"[{said.entry_id}] USER: {said.text.strip()}"
    shown = shortened(" ".join(said.text.split()), limits.extract_context_chars)
    who = "user, read before" if said.origin == "user" else said.origin
    return f"[{said.entry_id}] ({who}) {shown}"
