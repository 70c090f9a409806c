"""One question for a summary: smaller where it is refused, and what a refusal taught.

A window that a refusal names is smaller than the model's settings say; every later question keeps
to it, so that it is learned once and not at each compaction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from wayfare.context.must_keep import listed, must_keep
from wayfare.context.patience import answered
from wayfare.context.pipeline import Governor
from wayfare.context.span import Span, earlier
from wayfare.context.summary_reply import Failed, Summary, checked
from wayfare.context.summary_request import ask_for, for_summary
from wayfare.errors import (
    BrokenView,
    OutputTooLarge,
    PromptTooLong,
    WayfareError,
    WriteFailed,
)
from wayfare.model import Model, Usage
from wayfare.tokens import total

PROSE_SHARE: Final = 0.1
"""Of the limit, as much the prose of a summary takes at most."""
CHARS_A_TOKEN: Final = 3
_REFUSALS: Final = 3
_LEFT_AFTER_REFUSAL: Final = 2 / 3
_LEAST_OUTPUT_TOKENS: Final = 64

Spent: TypeAlias = Callable[[Usage, Model], None]


@dataclass(slots=True)
class Learned:
    """What refusals taught of one model: most tokens of a request by our count, most of output;
    0 while nothing is known."""

    room_tokens: int = 0
    output_tokens: int = 0


@dataclass(slots=True, kw_only=True)
class SummaryQuery:
    """Asks one model for summaries.

    Args:
        model: Who summarizes.
        idle_seconds: How long a reply may go without a piece.
        spent: Told what a call used.
    """

    model: Model
    idle_seconds: float
    spent: Spent
    learned: Learned = field(default_factory=Learned)

    async def __call__(self, governor: Governor, span: Span, focus: str) -> Summary | Failed:
        """Ask, at most three times smaller when refused as too long, and check the answer.

        Raises:
            WriteFailed: the log refused.
            BrokenView: a bug; nothing was sent.
        """
        model, budget, learned = self.model, governor.budget, self.learned
        facts = must_keep(governor.ledger)
        most_tokens = max(
            min(budget.summary_output_tokens, int(budget.limit_tokens * PROSE_SHARE)), 200
        )
        output = min(model.max_output_tokens, max(2 * most_tokens, 1_024), model.window_tokens // 4)
        output = min(output, learned.output_tokens or output)
        room = int((model.window_tokens * 0.9 - output) / max(governor.calibration.ratio, 0.5))
        room = min(room, learned.room_tokens or room)
        told, shown_facts = listed(facts, room_chars=room // 4 * CHARS_A_TOKEN)
        replaced = {slot.entry for slot in span.older}
        material = for_summary(
            # As the view holds them before anything is shortened in passing.
            [slot for slot in governor.view if slot.entry in replaced],
            facts=told,
            earlier=earlier(span.older),
            focus=focus,
            most_tokens=most_tokens,
        )
        for attempt in range(_REFUSALS + 1):
            asked = ask_for(
                material,
                addresses=governor.addresses,
                meter=governor.meter,
                room_tokens=room,
                room_chars=budget.summary_input_chars,
                output_tokens=output,
            )
            if asked is None:
                return Failed(kind="no_room", text="what is to be summarized does not fit")
            try:
                reply = await answered(model, asked.request, idle_seconds=self.idle_seconds)
            except PromptTooLong as error:
                room, output = self._smaller(error, min(room, asked.tokens), output)
                if attempt == _REFUSALS or room <= 0:
                    return Failed(kind="too_long", text=f"the summary model refuses: {error}")
                continue
            except OutputTooLarge as error:
                output = learned.output_tokens = error.output_limit_tokens or output // 2
                if attempt == _REFUSALS or output < _LEAST_OUTPUT_TOKENS:
                    return Failed(kind="too_long", text=f"the summary model refuses: {error}")
                continue
            except (WriteFailed, BrokenView):
                raise
            except WayfareError as error:
                kind = type(error).__name__
                return Failed(kind=kind, text=f"the summary model failed: {error}")
            await governor.transcript.add_usage("summary", model.name, reply.usage)
            self.spent(reply.usage, model)
            return checked(
                reply,
                facts=shown_facts,
                ledger=governor.ledger,
                meter=governor.meter,
                most_tokens=most_tokens,
                # A reply as long as all it was shown is a copy, whatever it would replace.
                replaced_tokens=min(total(slot.load for slot in span.gone).tokens, asked.tokens),
            )
        raise AssertionError("unreachable")

    def _smaller(self, error: PromptTooLong, sent_tokens: int, output: int) -> tuple[int, int]:
        """Room for the next try and its output; a third less than was refused, and within the
        window that the refusal names."""
        limit = error.limit_tokens or self.model.window_tokens
        output = min(output, max(limit // 4, _LEAST_OUTPUT_TOKENS))
        # What the refused request took by the model's own count, where the refusal says it.
        ratio = max((error.sent_tokens or sent_tokens) / max(sent_tokens, 1), 1.0)
        within = int((limit - output) * 0.9 / ratio)
        room = min(int(sent_tokens * _LEFT_AFTER_REFUSAL), within)
        self.learned.room_tokens = max(within if error.limit_tokens else room, 1)
        self.learned.output_tokens = output
        return room, output
