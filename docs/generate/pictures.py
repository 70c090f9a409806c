"""Pictures of a context before and after each pass, from sessions run through the runtime."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import anyio

from docs.generate.drawing import Block, Part, Picture, Stack, drawn
from docs.generate.recorded import WINDOW_TOKENS, Sent, Step, rungs, steps, summary
from docs.generate.restored import first_request, parts
from docs.generate.wording import LANGUAGES, wording
from wayfare.context.budget import Budget
from wayfare.context.groups import open_step
from wayfare.context.slot import Slot
from wayfare.context.view import View
from wayfare.messages import Message, Origin, Thinking
from wayfare.model import Request
from wayfare.replay.reading import read_recordings
from wayfare.replay.recording import Recording
from wayfare.tokens import TokenMeter

RECORDING: Final = Path("recordings", "pi-large-session.json")
_PASSES: Final[Mapping[str, str]] = {
    "repair": "window",
    "offload": "window",
    "microcompact": "window",
    "digest": "window",
    "summary": "window",
    "notes": "window",
    "signed": "window",
    "snip": "classic",
    "fit": "classic",
}
"""The budget under which each pass is shown."""
_FEWEST, _MOST = 8, 26
"""Messages of a context that can be read in a picture."""
_LABEL_CHARS: Final = 30
_METER: Final = TokenMeter()
Say = Callable[[str], str]


def write_pictures(folder: Path) -> None:
    """Draw every picture in every language into `folder`."""
    root = Path(__file__).resolve().parents[2]
    (recording, *_) = read_recordings(root / RECORDING)
    chosen = anyio.run(_chosen, recording)
    sent = anyio.run(rungs, recording)
    request = anyio.run(first_request, recording, summary)
    for language in LANGUAGES:
        say = wording(language)
        (folder / language).mkdir(parents=True, exist_ok=True)
        pictures = {by: _picture(step, say) for by, step in chosen.items()}
        pictures["reactive"] = _ladder(sent, say)
        pictures["restore"] = _restore(request, say)
        for name, picture in pictures.items():
            (folder / language / f"{name}.svg").write_text(drawn(picture, say), "utf-8")


async def _chosen(recording: Recording) -> dict[str, Step]:
    """For each pass the step that shows it best: many messages gone or shortened, few in sight."""
    best: dict[str, Step] = {}
    window, classic = Budget.window(WINDOW_TOKENS), Budget.classic(WINDOW_TOKENS)
    runs = [
        steps(recording, window),
        steps(recording, window, summaries=True),
        steps(recording, window, summaries=True, notes=True),
        steps(recording, window, signed=True),
        steps(recording, classic),
    ]
    names = ["window", "window", "window", "window", "classic"]
    for run, name, only in zip(runs, names, ("", "", "notes", "signed", ""), strict=True):
        async for step in run:
            if _PASSES.get(step.by) != name or (only and step.by != only):
                continue
            if step.by not in best or _shows(step) > _shows(best[step.by]):
                best[step.by] = step
    return {by: best[by] for by in _PASSES}


def _shows(step: Step) -> tuple[bool, bool, int]:
    readable = _FEWEST <= len(step.before) <= _MOST
    if step.by == "repair":
        return readable, True, len(step.after) - len(step.before)
    if step.by == "signed":
        # Best seen where some reasoning stays, in front and in the open step, and some goes.
        kept = {slot.entry for slot in step.after if _reasoning(slot)}
        dropped = sum(1 for s in step.after if s.entry not in kept and _was_signed(s, step.before))
        slots = step.after.slots()
        still_open = any(_reasoning(slot) for slot in slots[open_step(slots) :])
        return readable, still_open and dropped > 0, min(len(kept), dropped)
    saved = step.before.total.tokens - step.after.total.tokens
    return readable, step.after.total.tokens <= step.limit_tokens, saved


def _was_signed(slot: Slot, before: View) -> bool:
    return any(s.entry == slot.entry and _reasoning(s) for s in before)


def _reasoning(slot: Slot) -> int:
    """Tokens of the signed reasoning of a message."""
    thoughts = [b for b in slot.message.blocks if isinstance(b, Thinking) and b.bound]
    if not thoughts:
        return 0
    message = Message(role="assistant", blocks=tuple(thoughts), origin=Origin.ASSISTANT)
    empty = Message(role="assistant", blocks=(), origin=Origin.ASSISTANT)
    return _METER.message(message).tokens - _METER.message(empty).tokens


def _picture(step: Step, say: Say) -> Picture:
    apart = step.by == "signed"
    was = {slot.entry for slot in step.before}
    made = [slot.entry for slot in step.after if slot.made and slot.entry not in was]
    notes = made[0] if step.by == "notes" else -1
    before = list(_blocks(step.before, step.after, say, apart=apart))
    after = list(_blocks(step.after, step.before, say, apart=apart, notes=notes))
    stacks = (Stack(name="before", blocks=before), Stack(name="after", blocks=after))
    return Picture(title=step.by, stacks=stacks, limit_tokens=step.limit_tokens)


def _ladder(sent: Sequence[Sent], say: Say) -> Picture:
    """Every request of the ladder; what the next rung touches has the edge."""
    following = [*(one.view for one in sent[1:]), sent[-1].view]
    stacks = [
        Stack(
            name=one.by,
            blocks=list(_blocks(one.view, after, say)),
            said="taken" if one.taken else "refused",
        )
        for one, after in zip(sent, following, strict=True)
    ]
    return Picture(title="reactive", stacks=stacks, touched="touched by the next rung")


def _restore(request: Request, say: Say) -> Picture:
    """The first request after a compaction, the message that holds the live state taken apart."""
    opened, found = parts(request)
    blocks = [
        Block(
            origin=str(message.origin),
            tokens=_METER.message(message).tokens,
            label=_short(_said(message, say)),
            changed=message is opened,
        )
        for message in request.messages
    ]
    told = [Part(name=p.name, tokens=_METER.text(p.text), begins=p.begins) for p in found]
    stacks = (Stack(name="first request after it", blocks=blocks),)
    return Picture(title="restore", stacks=stacks, parts=told, touched="opened on the right")


def _blocks(
    view: View, other: View, say: Say, *, apart: bool = False, notes: int = -1
) -> Iterator[Block]:
    """The messages of a view; `changed` are those that stand otherwise in the other one.

    With `apart` signed reasoning is a block of its own. `notes` is the entry that holds notes.
    """
    there = {slot.entry: slot for slot in other}
    for slot in view:
        twin = there.get(slot.entry)
        label = _label(slot, say, notes)
        origin, tokens = str(slot.message.origin), slot.load.tokens
        thought = _reasoning(slot) if apart else 0
        if not thought:
            changed = twin != slot if not apart else _rest(twin) != _rest(slot)
            yield Block(origin=origin, tokens=tokens, label=label, changed=changed)
            continue
        gone = twin is None or not _reasoning(twin)
        yield Block(origin="reasoning", tokens=thought, label=say("signed reasoning"), changed=gone)
        changed = _rest(twin) != _rest(slot)
        rest = max(tokens - thought, 1)
        yield Block(origin=origin, tokens=rest, label=label, changed=changed, goes_on=True)


def _rest(slot: Slot | None) -> object:
    """What a message says beside its reasoning."""
    if slot is None:
        return None
    return [block for block in slot.message.blocks if not isinstance(block, Thinking)]


def _label(slot: Slot, say: Say, notes: int) -> str:
    message = slot.message
    ids = [c.id for c in message.calls] + [r.call_id for r in message.results]
    uses = [slot.uses[id] for id in ids if id in slot.uses]
    if slot.made and message.origin is Origin.TOOL:
        return _short(say("made by repair"))
    if uses:
        return _short(f"{uses[0].name} {uses[0].main}".strip())
    if slot.entry == notes:
        return _short(f"{_said(message, say)} {say('session notes')}")
    return _short(_said(message, say))


def _said(message: Message, say: Say) -> str:
    """What a message is, in a few words."""
    if message.origin is Origin.SUMMARY:
        return message.text.partition("\n")[0]
    uses = [f"{call.name} {next(iter(call.input.values()), '')}" for call in message.calls]
    return uses[0] if uses else say(str(message.origin))


def _short(label: str) -> str:
    return label if len(label) <= _LABEL_CHARS else label[: _LABEL_CHARS - 1] + "…"
