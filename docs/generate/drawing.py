"""Draws stacks of messages side by side as an SVG that suits light and dark pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

_WIDTH, _MARGIN, _TOP = 760, 30, 64
_GAP, _NARROW_GAP = 40, 14
_LINE: Final = 16
_HEIGHT: Final = 460
"""Of the tallest stack; all share the scale, so areas can be compared."""
_LEAST: Final = 3.0
_LABEL_FROM: Final = 15.0
_EDGE_FROM: Final = 6.0
"""Lower blocks get a thin edge, else nothing of their colour would be left."""
_FIGURES_WIDTH: Final = 62
_CHAR_WIDTH: Final = 7
_PART_HEIGHT: Final = 42
_LEGEND_STEP: Final = 92
_ORIGINS: Final = ("user", "assistant", "reasoning", "tool", "summary", "system")
_STYLE: Final = """\
svg { font: 12px system-ui, "Noto Sans CJK SC", sans-serif; }
.page { fill: #ffffff; } .ink { fill: #1f2328; } .soft { fill: #59636e; }
.block { stroke: #ffffff; stroke-width: 1; } .changed { stroke: #cf222e; stroke-width: 2; }
.thin { stroke-width: 0.8; } .part { fill: none; stroke: #d1d9e0; }
.user { fill: #7fb2f0; } .assistant { fill: #d5d9de; } .tool { fill: #f3c678; }
.summary { fill: #9ad7a4; } .system { fill: #cdb6ee; } .reasoning { fill: #f4b0c8; }
.limit { stroke: #cf222e; stroke-dasharray: 5 4; } .mark { fill: #cf222e; }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117; } .ink { fill: #f0f3f6; } .soft { fill: #9ea7b3; }
.block { stroke: #0d1117; } .changed { stroke: #ff7b72; } .part { stroke: #3d444d; }
.user { fill: #1f5fae; } .assistant { fill: #4a525c; } .tool { fill: #8a5a10; }
.summary { fill: #2b7a3b; } .system { fill: #6e4fb0; } .reasoning { fill: #9c3d66; }
.limit { stroke: #ff7b72; } .mark { fill: #ff7b72; }
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One message or a part of it: who authored it, its size, a few words, whether it was touched.

    Attributes:
        goes_on: It belongs to the message of the block in front.
    """

    origin: str
    tokens: int
    label: str
    changed: bool
    goes_on: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A context: its messages, a name above and what is said below their number."""

    name: str
    blocks: Sequence[Block]
    said: str = ""

    @property
    def tokens(self) -> int:
        """Of all of it."""
        return sum(block.tokens for block in self.blocks)

    def head(self, say: Callable[[str], str], *, in_one: bool) -> list[str]:
        """The lines above it."""
        messages = sum(1 for block in self.blocks if not block.goes_on)
        counted = f"{messages} {say('messages')}"
        taken = f"{self.tokens:,} {say('tokens')}"
        if in_one:
            return [f"{say(self.name)}: {counted}, {taken}"]
        return [say(self.name), counted, f"{taken}: {say(self.said)}"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of the touched message, drawn beside it: what it is, its size, how it begins."""

    name: str
    tokens: int
    begins: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Contexts side by side.

    Attributes:
        limit_tokens: Drawn as a line where a stack is higher; 0: none.
        touched: What a red edge means.
        parts: What the touched message is made of, in a column of its own.
    """

    title: str
    stacks: Sequence[Stack]
    limit_tokens: int = 0
    touched: str = "touched by the pass"
    parts: Sequence[Part] = ()


def drawn(picture: Picture, say: Callable[[str], str]) -> str:
    """The picture as SVG; `say` gives the words of a language."""
    columns = len(picture.stacks) + bool(picture.parts)
    gap = _GAP if columns <= 2 else _NARROW_GAP
    width = (_WIDTH - 2 * _MARGIN - gap * (columns - 1)) / columns
    scale = _HEIGHT / max(*(stack.tokens for stack in picture.stacks), 1)
    heads = [stack.head(say, in_one=columns <= 2) for stack in picture.stacks]
    top = float(_TOP + _LINE * (len(heads[0]) - 1))
    parts: list[str] = []
    lowest = 0.0
    for number, (stack, head) in enumerate(zip(picture.stacks, heads, strict=True)):
        x = _MARGIN + number * (width + gap)
        for line, text in enumerate(head):
            y = _TOP - 12 + line * _LINE
            parts.append(f'<text class="ink" x="{x:g}" y="{y:g}">{escape(text)}</text>')
        for line, bottom in _stack(stack.blocks, x, top, width, scale, picture.limit_tokens):
            parts.append(line)
            lowest = max(lowest, bottom)
    if picture.parts:
        lines, bottom = _opened(picture, top, width, scale, say)
        parts += lines
        lowest = max(lowest, bottom)
    limit_y = top + picture.limit_tokens * scale
    if picture.limit_tokens and limit_y < lowest:
        parts.extend(_limit(limit_y, picture.limit_tokens, say))
    height = lowest + 50
    sizes = " → ".join(f"{stack.tokens:,}" for stack in picture.stacks)
    alt = f"{picture.title}: {sizes} {say('tokens')}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" '
            f'width="{_WIDTH}" height="{height:.0f}" role="img" aria-label="{escape(alt)}">',
            f"<style>\n{_STYLE}\n</style>",
            f'<rect class="page" width="{_WIDTH}" height="{height:.0f}"/>',
            f'<text class="ink" x="{_MARGIN}" y="24" font-size="15" font-weight="600">'
            f"{escape(picture.title)}</text>",
            *parts,
            *_legend(picture, height - 16, say),
            "</svg>\n",
        ]
    )


def _stack(
    blocks: Sequence[Block], x: float, top: float, width: float, scale: float, limit_tokens: int
) -> Iterator[tuple[str, float]]:
    """The lines of a stack, each with where it ends; no label stands on the line of the limit."""
    limit_y = top + limit_tokens * scale if limit_tokens else -float(_TOP)
    y = top
    for block in blocks:
        height = _height(block, scale)
        changed = " changed" if block.changed else ""
        if block.changed and height < _EDGE_FROM:
            changed += " thin"
        inset = 1 if block.changed and height >= _EDGE_FROM else 0
        yield (
            f'<rect class="block {block.origin}{changed}" x="{x + inset:g}" y="{y + inset:.1f}" '
            f'width="{width - 2 * inset:g}" height="{max(height - 2 * inset, 1.5):.1f}"/>',
            y + height,
        )
        if height >= _LABEL_FROM:
            at = y + height / 2 + 4
            if abs(at - 4 - limit_y) < _LINE - 4 and height > 3 * _LINE:
                at = limit_y - 8
            said = _cut(block.label, int((width - _FIGURES_WIDTH) / _CHAR_WIDTH))
            label = f'<text class="ink" x="{x + 8:g}" y="{at:.1f}">{escape(said)}</text>'
            tokens = (
                f'<text class="ink" x="{x + width - 8:g}" y="{at:.1f}" text-anchor="end">'
                f"{block.tokens:,}</text>"
            )
            yield label + tokens, y + height
        y += height


def _height(block: Block, scale: float) -> float:
    return max(block.tokens * scale, _LEAST)


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[: chars - 1] + "…"


def _opened(
    picture: Picture, top: float, width: float, scale: float, say: Callable[[str], str]
) -> tuple[list[str], float]:
    """The parts of the touched message in the last column, and lines that lead there from it."""
    blocks = picture.stacks[-1].blocks
    at = next(number for number, block in enumerate(blocks) if block.changed)
    above = top + sum(_height(block, scale) for block in blocks[:at])
    below = above + _height(blocks[at], scale)
    right = _WIDTH - _MARGIN
    x = right - width
    bottom = top + _PART_HEIGHT * len(picture.parts)
    lines = [
        f'<line class="part" x1="{x - _GAP:g}" y1="{start:.1f}" x2="{x:g}" y2="{end:.1f}"/>'
        for start, end in ((above, top), (below, bottom))
    ]
    total = sum(part.tokens for part in picture.parts)
    head = f"{say('what stands in it')}: {total:,} {say('tokens')}"
    lines.append(f'<text class="ink" x="{x:g}" y="{_TOP - 12}">{escape(head)}</text>')
    for number, part in enumerate(picture.parts):
        y = top + number * _PART_HEIGHT
        begins = _cut(part.begins, int((width - 16) / _CHAR_WIDTH))
        lines.append(
            f'<rect class="part" x="{x:g}" y="{y:g}" width="{width:g}" height="{_PART_HEIGHT}"/>'
            f'<text class="ink" x="{x + 8:g}" y="{y + 17:g}">{escape(say(part.name))}</text>'
            f'<text class="ink" x="{right - 8:g}" y="{y + 17:g}" text-anchor="end">'
            f"{part.tokens:,}</text>"
            f'<text class="soft" x="{x + 8:g}" y="{y + 34:g}">{escape(begins)}</text>'
        )
    return lines, bottom


def _limit(y: float, tokens: int, say: Callable[[str], str]) -> list[str]:
    words = f"{say('limit')} {tokens:,}"
    left, right = _MARGIN - 8, _WIDTH - _MARGIN + 8
    return [
        f'<line class="limit" x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>',
        f'<text class="mark" x="{right - 8}" y="{y + 14:.1f}" text-anchor="end">{words}</text>',
    ]


def _legend(picture: Picture, y: float, say: Callable[[str], str]) -> Iterator[str]:
    x = _MARGIN
    there = {block.origin for stack in picture.stacks for block in stack.blocks}
    for origin in _ORIGINS:
        if origin not in there:
            continue
        yield f'<rect class="{origin}" x="{x:g}" y="{y - 10:g}" width="11" height="11"/>'
        yield f'<text class="soft" x="{x + 16:g}" y="{y:g}">{escape(say(origin))}</text>'
        x += _LEGEND_STEP
    yield f'<rect class="page changed" x="{x:g}" y="{y - 10:g}" width="11" height="11"/>'
    yield f'<text class="soft" x="{x + 16:g}" y="{y:g}">{escape(say(picture.touched))}</text>'
