"""The status line: model, context as a bar, cost, share of the cache; a fold over events."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from wayfare.cli.printing import percent, short
from wayfare.cli.screen.spans import Line, Span, cut_middle, line_width, width_of
from wayfare.events import Event

_BAR_COLUMNS: Final = 10
_FULL: Final = 0.9
_HIGH: Final = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What the line shows.

    Attributes:
        model: Its name.
        mode: The permission mode.
        window_tokens: The model's window; 0: not known yet.
        context_tokens: What the context takes.
        cost: Of the session so far, in `currency`.
        currency: Empty: the prices are ratios, and no cost is shown.
        prompt_tokens: Sent in all calls so far.
        cached_tokens: Of them, read from the provider's cache.
    """

    model: str = ""
    mode: str = "ask"
    window_tokens: int = 0
    context_tokens: int = 0
    cost: float = 0.0
    currency: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0

    def after(self, event: Event) -> Status:
        """The status once an event of the session itself was told."""
        fields = event.fields
        if event.name == "step.replied":
            usage = fields.get("usage")
            return replace(
                self,
                context_tokens=int(fields.get("context_tokens", self.context_tokens)),
                cost=float(fields.get("cost", self.cost)),
                prompt_tokens=self.prompt_tokens + int(getattr(usage, "prompt_tokens", 0)),
                cached_tokens=self.cached_tokens + int(getattr(usage, "cache_read_tokens", 0)),
            )
        if event.name.startswith(("context.", "compaction.")):
            after = fields.get("after_tokens")
            return replace(self, context_tokens=after) if isinstance(after, int) else self
        if event.name == "model.changed":
            return replace(self, model=str(fields.get("model", self.model)))
        return self

    @property
    def share(self) -> float:
        """Of the window, what the context takes."""
        return min(self.context_tokens / self.window_tokens, 1.0) if self.window_tokens else 0.0


def money(cost: float, currency: str) -> str:
    """A cost for people; empty where prices are ratios and cost no money."""
    if not currency:
        return ""
    sign = {"USD": "$", "EUR": "€"}.get(currency, "")
    digits = 2 if cost >= 0.995 or cost == 0 else 3
    amount = f"{cost:.{digits}f}"
    return f"{sign}{amount}" if sign else f"{amount} {currency}"


def bar(share: float, columns: int) -> str:
    """A share of 0 to 1 as a bar."""
    filled = min(round(share * columns), columns)
    if share > 0 and not filled:
        filled = 1
    return "█" * filled + "░" * (columns - filled)


def status_line(status: Status, columns: int, *, note: str = "") -> Line:
    """The line in at most so many columns; what matters least goes first.

    Args:
        status: What it shows.
        columns: Its room.
        note: What is going on right now; comes first.
    """
    style = "bad" if status.share >= _FULL else "warn" if status.share >= _HIGH else "good"
    used = percent(status.share)
    spent = money(status.cost, status.currency)
    cached = status.cached_tokens / status.prompt_tokens if status.prompt_tokens else 0.0
    context: list[Span] = [(style, used)]
    with_bar: list[Span] = [(style, bar(status.share, _BAR_COLUMNS)), ("", " "), *context]
    of_window = f" of {short(status.window_tokens)}" if status.window_tokens else ""
    parts: list[tuple[int, list[Span]]] = [
        (0, [("", note)] if note else []),
        (2, [("bold", status.model)] if status.model else []),
        (1, [*with_bar, ("dim", of_window)]),
        (3, [("", spent)] if spent else []),
        (4, [("dim", f"cache {percent(cached)}")] if status.prompt_tokens else []),
        (5, [("dim", status.mode)]),
    ]
    kept = [(rank, spans) for rank, spans in parts if spans]
    while len(kept) > 1 and _wide(kept) > columns:
        worst = max(rank for rank, _ in kept)
        if worst <= 2:
            break
        kept = [(rank, spans) for rank, spans in kept if rank != worst]
    if _wide(kept) > columns:
        kept = _squeezed(kept, status, context, columns)
    return _row(kept)


def _squeezed(
    kept: list[tuple[int, list[Span]]], status: Status, context: list[Span], columns: int
) -> list[tuple[int, list[Span]]]:
    """Where even the main parts are too wide: no bar, then a shorter name, then no name."""
    kept = [(rank, context if rank == 1 else spans) for rank, spans in kept]
    over = _wide(kept) - columns
    if over > 0:
        room = width_of(status.model) - over
        named: list[Span] = [("bold", cut_middle(status.model, room))]
        kept = [(r, named if r == 2 else s) for r, s in kept if r != 2 or room >= 6]
    return [(r, s) for r, s in kept if r != 0] if _wide(kept) > columns else kept


def _wide(kept: list[tuple[int, list[Span]]]) -> int:
    return line_width(_row(kept))


def _row(kept: list[tuple[int, list[Span]]]) -> Line:
    spans: list[Span] = []
    for _, part in kept:
        if spans:
            spans.append(("dim", " · "))
        spans += part
    return tuple(spans)
