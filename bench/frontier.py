"""Cost against what stays visible: who is beaten by whom, and the picture of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

SHARES = ("needed_files", "needed_identifiers", "needed_content")
TITLES = {
    "needed_files": "file names needed next, visible",
    "needed_identifiers": "identifiers needed next, visible",
    "needed_content": "text to be replaced next, visible",
}
PANEL_WIDTH, PANEL_HEIGHT = 360, 300
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 34, 44
COLOURS = (
    "#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5",
    "#9c6b4e", "#9498a0",
)  # fmt: skip


# A policy refused more often than this saved its cost by not being heard.
MOST_REFUSED = 0.01


def often_refused(row: Mapping[str, Any]) -> bool:
    """Whether a summed row had more than `MOST_REFUSED` of its requests refused."""
    return row.get("refused", 0) > MOST_REFUSED * row.get("requests", 0)


def beaten_by(
    totals: Mapping[str, Mapping[str, Any]], shares: Sequence[str] = SHARES
) -> dict[str, list[str]]:
    """For each strategy the others that cost less and show more of everything.

    `totals` maps a strategy to its summed row (`cost`, `requests`, `refused` and the shares). A
    strategy that is often refused beats nobody: what was not sent cost nothing.
    """

    def beats(other: Mapping[str, Any], one: Mapping[str, Any]) -> bool:
        return (
            not often_refused(other)
            and other["cost"] < one["cost"]
            and all((other[s] or 0.0) > (one[s] or 0.0) for s in shares)
        )

    return {
        name: [other for other, row in totals.items() if other != name and beats(row, one)]
        for name, one in totals.items()
    }


def picture(totals: Mapping[str, Mapping[str, Any]], title: str) -> str:
    """An SVG with one panel per share: cost (logarithmic) to the right, share upwards.

    Hollow marks were often refused. Names stand in a legend below, in the order of `totals`.
    """
    names = list(totals)
    costs = [max(float(row["cost"]), 1.0) for row in totals.values()]
    low, high = math.log10(min(costs)) - 0.08, math.log10(max(costs)) + 0.08
    rows = math.ceil(len(names) / 4)
    width = PANEL_WIDTH * len(SHARES)
    height = PANEL_HEIGHT + 30 + 20 * rows
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="16" font-size="13" fill="#222222">{escape(title)}</text>',
    ]
    for number, key in enumerate(SHARES):
        parts += _panel(number * PANEL_WIDTH, key, totals, low, high)
    for number, name in enumerate(names):
        x = LEFT + (number % 4) * (width - LEFT) / 4
        y = PANEL_HEIGHT + 26 + 20 * (number // 4)
        parts.append(_mark(x, y - 4, number, totals[name]))
        parts.append(f'<text x="{x + 10:.0f}" y="{y}" fill="#222222">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(
    left: int, key: str, totals: Mapping[str, Mapping[str, Any]], low: float, high: float
) -> list[str]:
    """One share: axes, then a mark for each strategy."""
    x0, x1 = left + LEFT, left + PANEL_WIDTH - RIGHT
    y0, y1 = PANEL_HEIGHT - BOTTOM, TOP + 10

    def at_x(cost: float) -> float:
        return x0 + (math.log10(max(cost, 1.0)) - low) / (high - low) * (x1 - x0)

    def at_y(share: float) -> float:
        return y0 - share * (y0 - y1)

    parts = [f'<text x="{x0}" y="{TOP}" fill="#444444">{TITLES[key]}</text>']
    for tenth in range(0, 11, 2):
        y = at_y(tenth / 10)
        parts.append(f'<line x1="{x0}" y1="{y:.1f}" x2="{x1}" y2="{y:.1f}" stroke="#e4e4e4"/>')
        parts.append(
            f'<text x="{x0 - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#666666">'
            f"{tenth * 10}%</text>"
        )
    for step in range(math.ceil(low * 2), math.floor(high * 2) + 1):
        cost = 10 ** (step / 2)
        x = at_x(cost)
        parts.append(f'<line x1="{x:.1f}" y1="{y0}" x2="{x:.1f}" y2="{y1}" stroke="#f0f0f0"/>')
        parts.append(
            f'<text x="{x:.1f}" y="{y0 + 16}" text-anchor="middle" fill="#666666">'
            f"{_amount(cost)}</text>"
        )
    parts.append(
        f'<text x="{(x0 + x1) / 2:.0f}" y="{y0 + 34}" text-anchor="middle" fill="#666666">'
        "cache-adjusted cost, units</text>"
    )
    for number, row in enumerate(totals.values()):
        parts.append(_mark(at_x(float(row["cost"])), at_y(row[key] or 0.0), number, row))
    return parts


def _mark(x: float, y: float, number: int, row: Mapping[str, Any]) -> str:
    colour = COLOURS[number % len(COLOURS)]
    fill = "#ffffff" if often_refused(row) else colour
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{fill}" stroke="{colour}" '
        'stroke-width="2"/>'
    )


def _amount(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"
