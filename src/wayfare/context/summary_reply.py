"""What a summary reply must be before anything is replaced by it.

A reply that is no summary is a failure with a reason, and a failure changes nothing. What a good
one claims about the user without a source in the log is left out: user authority comes from
quotations alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from wayfare.context.facts import Ledger
from wayfare.context.must_keep import Fact, alike, flat, share_mentioned, words
from wayfare.model import Reply
from wayfare.redaction import scrub
from wayfare.tokens import Meter

HEADINGS: Final[Mapping[str, re.Pattern[str]]] = {
    "Goal and standing constraints": re.compile(r"goal|standing constraint|constraints"),
    "Decisions": re.compile(r"decision"),
    "Files and functions": re.compile(r"files?\b"),
    "Errors and corrections": re.compile(r"error|correction"),
    "State of work": re.compile(r"state|status|progress"),
    "Next step": re.compile(r"next"),
    "Open questions": re.compile(r"open question|questions|open points"),
}
_LEAST_HEADINGS: Final = 4
LEAST_FACTS_SHARE: Final = 0.05
_LEAST_WORDS: Final = 6
_LEAST_SHARE: Final = 0.01
_LEAST_LINE_CHARS: Final = 40
_AT_WORK: Final = ("State of work", "Next step")
"""What of a summary is needed first to go on."""
_TITLE: Final = re.compile(
    r"^\s{0,3}(?:#{1,6}\s+(.+?)\s*#*|\*\*(.+?)\*\*:?|([A-Z][\w ,/&]{2,40}):)\s*$"
)
_ANALYSIS: Final = re.compile(r"<analysis>.*?(?:</analysis>|\Z(?!.*<summary>))", re.S | re.I)
_SUMMARY: Final = re.compile(r"<summary>(.*?)(?:</summary>|\Z)", re.S | re.I)
_NOTHING: Final = re.compile(
    r"\b(?:none|n/?a|nothing|no prior history|no history|not applicable|unknown|empty|captured|yet|"
    r"so far|to report|available|provided|no|to do|tbd)\b|[-*.:#—–]",
    re.I,
)
_REFUSAL: Final = re.compile(
    r"^\W*(?:i['’]?m (?:sorry|unable)|i am (?:sorry|unable)|sorry|i can(?:no|['’])t|as an ai|"
    r"error\b|internal server error|抱歉|对不起)",
    re.I,
)
_OF_THE_USER: Final = re.compile(
    r"\b(?:user|customer|they)(?:['’]s)?\b.{0,40}\b(?:said|says|wants?|wanted|asked|asks|require[sd]?|"
    r"insist\w*|prefer\w*|told|demand\w*|must|always|never|allow\w*|approv\w*|authori[sz]\w*|"
    r"confirm\w*|forb\w+|constraint|agreed?|permission|rules?)\b|用户.{0,10}(?:要求|希望|说|同意|允许|批准)",
    re.I,
)
_GRANTS: Final = re.compile(
    r"\b(?:approv\w*|allow\w*|permi(?:t\w*|ssion\w*)|authori[sz]\w*|agree[sd]?|confirm\w*|"
    r"consent\w*|may)\b|同意|允许|批准",
    re.I,
)
_YES: Final = re.compile(r"\b(?:yes|ok(?:ay)?|sure|go ahead|fine|can|please)\b|可以|好的", re.I)
_FORBIDS: Final = re.compile(
    r"\b(?:not|never|no|cannot|without|forb\w+|until|unless|only|before)\b|n['’]t\b|不|禁", re.I
)
_OVERRIDE: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:user|instructions?|previous|rules?|above|"
    r"everything)\b",
    re.I,
)
_OWN_MARK: Final = re.compile(
    r"^\s*(?:\[Compacted\]|\[Reactive compact\]|Current user request:|Full transcript:|"
    r"Conversation summary \(reference only\):|</?(?:summary|analysis|history|facts)>)"
)
_SOURCE: Final = re.compile(r"\(#\d+(?:[^)]*)\)|#\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A checked summary: its prose, and how many lines about the user had no source."""

    prose: str
    unsourced_lines: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """No summary: why, in one word for machines and one line for people."""

    kind: str
    text: str


def checked(
    reply: Reply,
    *,
    facts: Sequence[Fact],
    ledger: Ledger,
    meter: Meter,
    most_tokens: int,
    replaced_tokens: int,
) -> Summary | Failed:
    """The reply as a summary of at most `most_tokens`, or why it is none.

    Args:
        facts: The must-keep facts.
        ledger: What the user said, for the sources of claims.
        replaced_tokens: What the summary is to replace; it must be smaller.
    """
    if reply.calls:
        return Failed(kind="tool_call", text="the summary model called a tool instead of answering")
    if reply.stop == "refused":
        return Failed(kind="refused", text="the summary model refused")
    if reply.stop == "length":
        return Failed(kind="cut", text="the summary was cut off by the output limit")
    prose = _prose(reply.message.text)
    if not prose:
        return Failed(kind="empty", text="the summary is empty")
    failed = _shape(prose)
    if failed is not None:
        return failed
    if meter.text(prose) >= replaced_tokens:
        return Failed(kind="larger", text="the summary is larger than what it would replace")
    share = share_mentioned(facts, prose)
    if share < LEAST_FACTS_SHARE:
        text = f"the summary holds {share:.0%} of {len(facts)} facts that must be kept"
        return Failed(kind="facts", text=text)
    prose, unsourced = _sourced(scrub(prose)[0], ledger)
    return Summary(prose=bounded(prose, meter.text, most_tokens), unsourced_lines=unsourced)


def _prose(text: str) -> str:
    """The summary without its analysis; of a reply without tags the whole."""
    tagged = [found[1] for found in _SUMMARY.finditer(text)]
    if tagged:
        return max(tagged, key=len).strip()
    return _ANALYSIS.sub("", text).strip()


def _shape(prose: str) -> Failed | None:
    if _REFUSAL.match(prose) and len(prose) < 600:
        return Failed(kind="refused", text="the summary model refused or answered with an error")
    found = {title for title, _ in sections(prose) if title}
    body = " ".join(line for _, lines in sections(prose) for line in lines)
    if found and len(words(_NOTHING.sub(" ", body))) < _LEAST_WORDS:
        return Failed(kind="placeholder", text="the summary says nothing")
    if len(found) < _LEAST_HEADINGS:
        text = f"the summary has {len(found)} of {len(HEADINGS)} sections asked for"
        return Failed(kind="shape", text=text)
    return None


def sections(prose: str) -> list[tuple[str, list[str]]]:
    """The parts of a summary, each under its canonical heading; what comes first under none."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in prose.splitlines():
        title = heading(line)
        if title is not None:
            found.append((title, []))
        elif line.strip():
            found[-1][1].append(line.rstrip())
    return [(title, lines) for title, lines in found if title or lines]


def heading(line: str) -> str | None:
    """The canonical heading a line is, or None when it is no heading that was asked for."""
    match = _TITLE.match(line)
    if match is None:
        return None
    said = next(group for group in match.groups() if group).lower()
    return next((title for title, form in HEADINGS.items() if form.search(said)), None)


def _sourced(prose: str, ledger: Ledger) -> tuple[str, int]:
    """The prose without what it claims about the user and has no source for."""
    every = (ledger.requests, ledger.rules, ledger.clauses)
    said = [one.text for kind in every for one in kind.values()]
    sources = [frozenset(words(text)) for text in said]
    granting = [frozenset(words(text)) for text in said if _grants(text)]
    quoted = [flat(text) for text in said]
    lost = 0
    lines: list[str] = []
    for title, own in sections(prose):
        kept: list[str] = []
        for line in own:
            if _OWN_MARK.match(line):
                continue
            if _OVERRIDE.search(line) or (
                _claims(title, line)
                and not _supported(line, granting if _permits(line) else sources, quoted)
            ):
                lost += 1
                continue
            kept.append(line)
        if title:
            lines.append(f"## {title}")
        lines += kept or (["-"] if title else [])
    return "\n".join(lines), lost


def _claims(title: str, line: str) -> bool:
    """Whether a line says what the user lays down; bare marks and empty ones do not."""
    if not words(_NOTHING.sub(" ", line)):
        return False
    return title == "Goal and standing constraints" or _OF_THE_USER.search(line) is not None


def _permits(line: str) -> bool:
    """Whether a line claims a permission: words shared with what forbids it are no source of it."""
    return _GRANTS.search(line) is not None and _FORBIDS.search(line) is None


def _grants(said: str) -> bool:
    return (_GRANTS.search(said) or _YES.search(said)) is not None


def _supported(line: str, sources: Iterable[frozenset[str]], quoted: Sequence[str]) -> bool:
    bare = flat(_SOURCE.sub("", line)).strip("-* \"'“”.:")
    if any(bare and bare in quote for quote in quoted):
        return True
    said = _SOURCE.sub("", _OF_THE_USER.sub(" ", line))
    return alike(said, sources)


def bounded(prose: str, count: Callable[[str], int], most: int) -> str:
    """The prose within `most` by a count of ours: sections that say nothing go first, then every
    section gives the same share from its end, the state of work and the next step last."""
    whole = count(prose)
    if whole <= most:
        return prose
    parts = [(title, lines) for title, lines in sections(prose) if _says(lines)]
    share = most / max(whole, 1)
    while share >= _LEAST_SHARE:
        text = "\n".join(_cut(parts, share))
        if count(text) <= most:
            return text
        share *= 0.85
    text = "\n".join(line for title, lines in parts if title in _AT_WORK for line in lines)
    text = text or prose
    while text and count(text) > most:
        text = text[: len(text) * 3 // 4]
    return text


def _says(lines: Sequence[str]) -> bool:
    return bool(words(_NOTHING.sub(" ", " ".join(lines))))


def _cut(parts: Sequence[tuple[str, list[str]]], share: float) -> Iterator[str]:
    for title, lines in parts:
        if title:
            yield f"## {title}"
        own = min(share * 2, 1.0) if title in _AT_WORK else share
        room = int(sum(len(line) + 1 for line in lines) * own)
        for line in lines:
            if room <= 0:
                break
            yield line[: max(room, _LEAST_LINE_CHARS)]
            room -= len(line) + 1
