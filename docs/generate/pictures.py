"""Pictures of a context before and after each pass, from a recorded session run through the runtime."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from docs.generate.drawing import Block, Picture, drawn
from docs.generate.wording import LANGUAGES, wording
from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.context.pipeline import Governor
from wayfare.context.rendering import Rendering
from wayfare.context.slot import Slot
from wayfare.context.summarizer import Summarizer, due
from wayfare.context.view import View
from wayfare.events import ignore
from wayfare.formats import codec
from wayfare.model import Request
from wayfare.providers.scripted import ScriptedModel
from wayfare.replay.reading import read_recordings
from wayfare.replay.recording import Recording
from wayfare.session import Places, file_transcript, governed
from wayfare.transcript import EditEntry

RECORDING: Final = Path("recordings", "pi-large-session.json")
WINDOW_TOKENS: Final = 12_500
_PASSES: Final[Mapping[str, str]] = {
    "repair": "window",
    "offload": "window",
    "microcompact": "window",
    "digest": "window",
    "summary": "window",
    "snip": "classic",
    "fit": "classic",
}
"""The budget under which each pass is shown."""
_FEWEST, _MOST = 8, 26
"""Messages of a context that can be read in a picture."""
_LABEL_CHARS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one pass did to one context."""

    by: str
    before: View
    after: View
    limit_tokens: int


def write_pictures(folder: Path) -> None:
    """Draw one picture a pass and language into `folder`."""
    root = Path(__file__).resolve().parents[2]
    chosen = anyio.run(_chosen, root / RECORDING)
    for language in LANGUAGES:
        say = wording(language)
        (folder / language).mkdir(parents=True, exist_ok=True)
        for by, step in chosen.items():
            picture = _picture(step, say)
            (folder / language / f"{by}.svg").write_text(drawn(picture, say), "utf-8")


async def _chosen(path: Path) -> dict[str, Step]:
    """For each pass the step that shows it best: many messages gone or shortened, few in sight."""
    (recording, *_) = read_recordings(path)
    best: dict[str, Step] = {}
    for budget in (Budget.window(WINDOW_TOKENS), Budget.classic(WINDOW_TOKENS)):
        for summaries in (False, True):
            if summaries and budget.name != "window":
                continue
            async for step in _steps(recording, budget, summaries=summaries):
                if _PASSES.get(step.by) != budget.name:
                    continue
                if step.by not in best or _shows(step) > _shows(best[step.by]):
                    best[step.by] = step
    return {by: best[by] for by in _PASSES}


def _shows(step: Step) -> tuple[bool, bool, int]:
    readable = _FEWEST <= len(step.before) <= _MOST
    if step.by == "repair":
        return readable, True, len(step.after) - len(step.before)
    saved = step.before.total.tokens - step.after.total.tokens
    return readable, step.after.total.tokens <= step.limit_tokens, saved


async def _steps(recording: Recording, budget: Budget, *, summaries: bool) -> AsyncIterator[Step]:
    """Every pass that changed something while the session is fed through."""
    decode = codec(recording.format).decode
    clock = MovableClock(1.7e9)
    with tempfile.TemporaryDirectory() as folder:
        transcript = file_transcript(
            Places(workspace=Path(folder)),
            "shown",
            clock=clock,
            format=recording.format,
            sync="never",
        )
        governor = await governed(transcript, budget, clock=clock)
        model = ScriptedModel(always=_summary, window_tokens=WINDOW_TOKENS)
        summarizer = Summarizer(model=model, clock=clock, watch=ignore)
        for wire in recording.messages:
            message = decode(wire)
            if message.role == "assistant" and len(governor.view):
                clock.advance(20)
                before = governor.view
                made: tuple[EditEntry, ...] = ()
                if summaries and due(governor):
                    made = await summarizer(governor, trigger="auto")
                made = (*made, *(await governor.prepare()).edits)
                for step in _apart(before, made, governor):
                    yield step
            await governor.add([message])
        await transcript.close()


_HEADINGS: Final = (
    "Goal and standing constraints",
    "Decisions",
    "Files and functions",
    "Errors and corrections",
    "State of work",
    "Next step",
    "Open questions",
)


def _summary(request: Request) -> str:
    """What the picture's scripted model answers: the facts it was shown, as they stand there."""
    facts = request.messages[0].text.partition("<facts>")[2].partition("</facts>")[0].strip()
    lines = (f"## {h}\n{facts if h == 'State of work' else '-'}" for h in _HEADINGS)
    return "<summary>\n" + "\n".join(lines) + "\n</summary>"


def _apart(before: View, edits: tuple[EditEntry, ...], governor: Governor) -> list[Step]:
    """The edits of one request, each pass by itself."""
    rendering = Rendering(addresses=governor.addresses, ledger=governor.ledger)
    steps: list[Step] = []
    view = before
    for entry in edits:
        after = view.edited([entry], rendering)
        steps.append(
            Step(by=entry.by, before=view, after=after, limit_tokens=governor.budget.limit_tokens)
        )
        view = after
    return steps


def _picture(step: Step, say: Callable[[str], str]) -> Picture:
    kept = {slot.entry: slot for slot in step.after}
    was = {slot.entry: slot for slot in step.before}
    before = [_block(s, changed=kept.get(s.entry) != s, say=say) for s in step.before]
    after = [_block(s, changed=was.get(s.entry) != s, say=say) for s in step.after]
    return Picture(title=step.by, before=before, after=after, limit_tokens=step.limit_tokens)


def _block(slot: Slot, *, changed: bool, say: Callable[[str], str]) -> Block:
    origin = str(slot.message.origin)
    uses = [f"{use.name} {use.main}".strip() for use in slot.uses.values()]
    if slot.made and origin == "tool":
        label = say("made by repair")
    elif uses:
        label = uses[0]
    elif slot.made:
        label = slot.message.text.partition("\n")[0]
    else:
        label = say(origin)
    label = label if len(label) <= _LABEL_CHARS else label[: _LABEL_CHARS - 1] + "…"
    return Block(origin=origin, tokens=slot.load.tokens, label=label, changed=changed)
