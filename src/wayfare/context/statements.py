"""Statements: sentences whose form says that they must not get lost, found by code alone.

What a user lays down (`directives`), the numbers, versions and tickets a user gives (`figures`),
and what an assistant says it decided or how it cured an error (`conclusions`). A sentence is
quoted as it stands; nothing here rewords.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_LOOKED_AT_CHARS: Final = 4_000
"""How much of a long text is looked at from each end: pasted logs hold numbers by the thousand."""
_LONGEST_CHARS: Final = 300
_LEAST_REMARK_CHARS: Final = 12
_SHORT_REMARK_CHARS: Final = 160
_LEAST_ASIDE_CHARS: Final = 12
_LONGEST_ASIDE_CHARS: Final = 160
FIRM: Final = 2
_SENTENCE: Final = re.compile(r"[^\n。！？!?]+?(?:[。！？]|[.!?](?=\s|$)|$|(?=\n))", re.M)
_DIRECTIVE: Final = re.compile(
    r"\b(?:must|always|never|do not|don't|only|should|shall|have to|need to|make sure|ensure|"
    r"avoid|prefer|keep|use|require[sd]?|forbidden|not allowed|no longer|instead of|stick to|"
    r"remember|rule|from now on|without|at (?:most|least))\b"
    r"|不要|不得|不能|必须|务必|始终|总是|永远|只能|只用|应该|请用|请勿|禁止|避免|保持|规则|记住|从现在起",
    re.I,
)
_STRONG: Final = re.compile(
    r"\b(?:must|always|never|do not|don't|forbidden|not allowed|from now on|no longer|rule|only|"
    r"require[sd]?)\b|不要|不得|不能|必须|务必|始终|总是|永远|只能|只用|禁止|规则|从现在起",
    re.I,
)
_TALK: Final = (
    r"(?:i|you|it|this|that|there|what|why|how|who|where|when|which|ok|okay|no|yes|hm|wait|alright|"
    r"well|and|but|so|can|could|do|does|did|is|are|was|now|we|let)\b(?!\s+(?:must|never|not\b|always|want)|['’]d\s+(?:like|rather|prefer))"
)
_TALKS: Final = re.compile(_TALK, re.I)
_STANDS: Final = re.compile(
    rf"^(?!{_TALK})"
    r"[^?]{3,160}\b(?:is|are|ends?|begins?|starts?|stays?|goes|go|lives?|belongs?|listens?|runs? on)\b"
    r"[^?]{3,}$",
    re.I,
)
_CONCLUSION: Final = re.compile(
    r"\b(?:decided|decision|we chose|i chose|chosen|agreed|root cause|the cause|caused by|because|"
    r"cured by|fixed by|the fix|fixed it|solved by|resolved by|the solution|turned out|workaround|"
    r"(?:works?|pass(?:es)?|builds?|runs?) (?:now|again)|(?:go|going|went) with|settled? on|opt(?:ed)? for)\b"
    r"|决定|原因是|根因|解决办法|修复了|已修复|改为",
    re.I,
)
_FIGURE: Final = re.compile(
    r"(?<![\w.])(?:v?\d+(?:\.\d+)+(?:[-+][\w.]+)?|[A-Z][A-Z0-9]+-\d+|#\d+|"
    r"\d[\d,_]*(?:\.\d+)?\s?(?:%|[kMGT]?i?B|ms|s|seconds?|minutes?|hours?|days?|tokens?|px|requests?|"
    r"rows?|users?|files?|lines?|times|€|EUR|USD)(?![\w])|\d{2,})(?![\w])"
)
_INTENT: Final = re.compile(
    r"^\W*(?:let me|let['’]?s|i['’]?ll|i will|i['’]?m going|i am going|i need to|now|first|next|"
    r"sorry|thanks?|thank you|great|perfect|got it|sure|ok(?:ay)?|noted|我来|让我|接下来|现在)\b",
    re.I,
)
_PASTED: Final = re.compile(r"^\s*(?:[+\-@|>]|at\s+\S)")
_HEADING: Final = re.compile(r"^#+\s|[:：]\W*$")
"""What only announces what follows: it lays nothing down by itself."""
_FENCED: Final = re.compile(r"```.*?(?:```|\Z)", re.S)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text's beginning and end, code fences left out, blanks joined."""
    text = _FENCED.sub("\n", text)
    if len(text) > 2 * _LOOKED_AT_CHARS:
        text = f"{text[:_LOOKED_AT_CHARS]}\n{text[-_LOOKED_AT_CHARS:]}"
    for found in _SENTENCE.finditer(text):
        sentence = " ".join(found[0].split())
        if sentence:
            yield sentence[:_LONGEST_CHARS]


def directives(text: str) -> Iterator[str]:
    """Sentences that lay something down, in order; of a short text the whole."""
    whole = " ".join(text.split())
    if len(whole) <= _LONGEST_CHARS:
        if _DIRECTIVE.search(whole) or _STANDS.match(whole):
            yield whole
        return
    for sentence in sentences(text):
        if _DIRECTIVE.search(sentence) and not _HEADING.search(sentence):
            yield sentence


def aside(text: str) -> str:
    """A short statement of the user that no form marks as laid down, as it stands: a wish in words
    nobody foresaw looks like this, too. Empty for questions, for what is long, and for a word or
    two."""
    whole = " ".join(text.split())
    if not _LEAST_ASIDE_CHARS <= len(whole) <= _LONGEST_ASIDE_CHARS or whole.endswith(("?", "？")):
        return ""
    return "" if _DIRECTIVE.search(whole) or _STANDS.match(whole) else whole


def talks(text: str) -> bool:
    """Whether a text begins as talk of the moment does ("ok, …", "that is …")."""
    return _TALKS.match(text) is not None


def strength(directive: str) -> int:
    """How firmly a directive holds: `FIRM` (2) a rule, 1 a statement that stands, 0 a wish of the
    moment."""
    if _STRONG.search(directive) and not _TALKS.match(directive) and "?" not in directive:
        return FIRM
    return 1 if _STANDS.match(directive) else 0


def in_passing(directive: str) -> bool:
    """Whether a directive is talk of the moment ("hm, we need to …"), not laid down for later."""
    if strength(directive):
        return False
    return "?" in directive or _TALKS.match(directive) is not None


def conclusions(text: str) -> Iterator[str]:
    """Sentences that say what was decided or what cured an error, in order."""
    if not _CONCLUSION.search(text):
        return
    for sentence in sentences(text):
        if _CONCLUSION.search(sentence):
            yield sentence


def remark(text: str) -> str:
    """What says something of what went before, not what is to be done next: of a short text all
    such sentences, else the first; empty where there is none."""
    found = [one for one in sentences(text) if not _INTENT.search(one) and not one.endswith(":")]
    short = len(text) <= _SHORT_REMARK_CHARS
    said = " ".join(found) if short else next(iter(found), "")
    return said if len(said) >= _LEAST_REMARK_CHARS else ""


def is_question(text: str) -> bool:
    """Whether a short text asks something."""
    text = text.strip()
    return len(text) <= _LONGEST_CHARS and text.endswith(("?", "？"))


def given(figure: str, around: str) -> bool:
    """Whether a figure was said by itself: not a part of a path, of a pasted trace or of a diff."""
    if _PASTED.match(around):
        return False
    return any(figure in word and "/" not in word and "\\" not in word for word in around.split())


def figures(text: str) -> Iterator[tuple[str, str]]:
    """Versions, tickets and numbers, each with the words around it, in order."""
    for sentence in sentences(text):
        for found in _FIGURE.finditer(sentence):
            start = max(found.start() - 60, 0)
            yield found[0].strip(), sentence[start : found.end() + 40].strip()
