"""Draws two stacks of messages side by side as an SVG that suits light and dark pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

_WIDTH, _STACK, _GAP, _TOP = 760, 330, 40, 64
_HEIGHT: Final = 460
"""Of the taller stack; both share the scale, so areas can be compared."""
_LEAST: Final = 3.0
_LABEL_FROM: Final = 13.0
_ORIGINS: Final = ("user", "assistant", "tool", "summary", "system")
_STYLE: Final = """\
svg { font: 12px system-ui, "Noto Sans CJK SC", sans-serif; }
.page { fill: #ffffff; } .ink { fill: #1f2328; } .soft { fill: #59636e; }
.block { stroke: #ffffff; stroke-width: 1; } .changed { stroke: #cf222e; stroke-width: 2; }
.user { fill: #7fb2f0; } .assistant { fill: #d5d9de; } .tool { fill: #f3c678; }
.summary { fill: #9ad7a4; } .system { fill: #cdb6ee; }
.limit { stroke: #cf222e; stroke-dasharray: 5 4; } .mark { fill: #cf222e; }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117; } .ink { fill: #f0f3f6; } .soft { fill: #9ea7b3; }
.block { stroke: #0d1117; } .changed { stroke: #ff7b72; }
.user { fill: #1f5fae; } .assistant { fill: #4a525c; } .tool { fill: #8a5a10; }
.summary { fill: #2b7a3b; } .system { fill: #6e4fb0; }
.limit { stroke: #ff7b72; } .mark { fill: #ff7b72; }
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One message: who authored it, its size, a few words, whether the pass touched it."""

    origin: str
    tokens: int
    label: str
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A context before and after."""

    title: str
    before: Sequence[Block]
    after: Sequence[Block]
    limit_tokens: int


def drawn(picture: Picture, say: Callable[[str], str]) -> str:
    """The picture as SVG; `say` gives the words of a language."""
    sums = [sum(b.tokens for b in side) for side in (picture.before, picture.after)]
    scale = _HEIGHT / max(*sums, 1)
    left, right = (_WIDTH - 2 * _STACK - _GAP) / 2, (_WIDTH + _GAP) / 2
    stacks = [
        (picture.before, left, "before", sums[0]),
        (picture.after, right, "after", sums[1]),
    ]
    parts: list[str] = []
    lowest = 0.0
    for blocks, x, name, tokens in stacks:
        head = f"{say(name)}: {len(blocks)} {say('messages')}, {tokens:,} {say('tokens')}"
        parts.append(f'<text class="ink" x="{x:g}" y="{_TOP - 12}">{escape(head)}</text>')
        for line, bottom in _stack(blocks, x, scale):
            parts.append(line)
            lowest = max(lowest, bottom)
    limit_y = _TOP + picture.limit_tokens * scale
    if limit_y < lowest:
        parts.extend(_limit(limit_y, left, right + _STACK, picture.limit_tokens, say))
    height = lowest + 50
    alt = f"{picture.title}: {sums[0]:,} → {sums[1]:,} {say('tokens')}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" '
            f'width="{_WIDTH}" height="{height:.0f}" role="img" aria-label="{escape(alt)}">',
            f"<style>\n{_STYLE}\n</style>",
            f'<rect class="page" width="{_WIDTH}" height="{height:.0f}"/>',
            f'<text class="ink" x="{left:g}" y="24" font-size="15" font-weight="600">'
            f"{escape(picture.title)}</text>",
            *parts,
            *_legend(left, height - 16, say),
            "</svg>\n",
        ]
    )


def _stack(blocks: Sequence[Block], x: float, scale: float) -> Iterator[tuple[str, float]]:
    """The lines of a stack, each with where it ends."""
    y = float(_TOP)
    for block in blocks:
        height = max(block.tokens * scale, _LEAST)
        changed = " changed" if block.changed else ""
        inset = 1 if block.changed else 0
        yield (
            f'<rect class="block {block.origin}{changed}" x="{x + inset:g}" y="{y + inset:.1f}" '
            f'width="{_STACK - 2 * inset}" height="{max(height - 2 * inset, 1.5):.1f}"/>',
            y + height,
        )
        if height >= _LABEL_FROM:
            at = y + height / 2 + 4
            label = f'<text class="ink" x="{x + 8:g}" y="{at:.1f}">{escape(block.label)}</text>'
            tokens = (
                f'<text class="ink" x="{x + _STACK - 8:g}" y="{at:.1f}" text-anchor="end">'
                f"{block.tokens:,}</text>"
            )
            yield label + tokens, y + height
        y += height


def _limit(
    y: float, left: float, right: float, tokens: int, say: Callable[[str], str]
) -> list[str]:
    words = f"{say('limit')} {tokens:,}"
    return [
        f'<line class="limit" x1="{left - 8:g}" y1="{y:.1f}" x2="{right + 8:g}" y2="{y:.1f}"/>',
        f'<text class="mark" x="{right:g}" y="{y + 14:.1f}" text-anchor="end">{words}</text>',
    ]


def _legend(x: float, y: float, say: Callable[[str], str]) -> Iterator[str]:
    for origin in _ORIGINS:
        yield f'<rect class="{origin}" x="{x:g}" y="{y - 10:g}" width="11" height="11"/>'
        yield f'<text class="soft" x="{x + 16:g}" y="{y:g}">{escape(say(origin))}</text>'
        x += 100
    yield f'<rect class="page changed" x="{x:g}" y="{y - 10:g}" width="11" height="11"/>'
    yield f'<text class="soft" x="{x + 16:g}" y="{y:g}">{escape(say("touched by the pass"))}</text>'
