"""The sizes an overflow names: limit, input, output, overshoot.

Numbers are read by the words around them (what was sent, what was reserved, what is allowed), then
checked against each other: a limit is below what broke it. A number nobody names is no number:
error codes, ids and statuses are never taken for a window.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wayfare.providers.answers import Reading
from wayfare.providers.numbers import Form, first_number, plain, read_number

LEAST_WINDOW_TOKENS = 512
"""No model in use has a smaller window; a smaller number is a status, a count or a part of a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """What a refusal says about sizes, in tokens; None where it says nothing.

    `total_tokens` is input and output together where the text does not part them;
    `is_lower_bound`: the server stopped counting, the input may be larger.
    """

    limit_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    overshoot_tokens: int | None = None
    is_lower_bound: bool = False


_FULL_FORMS = tuple(
    Form(pattern)
    for pattern in (
        r"N=input \+ N=output ?> ?N=limit",
        r"\(N=output ?> ?N=limit - N=input\)",
        r"N=input ?(?:tokens?)? ?> ?N=limit",
        r"n_keep: ?N=input ?>= ?n_ctx: ?N=limit",
        r"input length and `?max_tokens`? exceed context limit: N=input \+ N=output ?> ?N=limit",
    )
)
"""Forms that give several numbers by their place; the first that fits wins."""

_COUNTED_FORMS = tuple(
    Form(pattern)
    for pattern in (
        r"(?:messages|prompt|input|request) (?:resulted in|contains?|has|have|is)(?: at least| about)? "
        r"N=input(?: (?:input |prompt )?tokens?)?",
        r"N=input `?inputs?`? tokens?\b",
    )
)
"""Forms that say outright that this is the input; the number may equal the limit."""

_INPUT_FORMS = tuple(
    Form(pattern)
    for pattern in (
        r"(?:inputs?|prompts?|requests?|messages?)(?: \w+)? \(N=input(?: tokens?)?\)",
        r"(?:input|prompt|request|message)s?(?: token)? (?:length|count|size|tokens?)(?: of)? ?\(?N=input",
        r"(?:prompt|input)_tokens ?\(N=input\)",
        r"too (?:long|large)\W+(?:about )?N=input(?: tokens?)?",
        r"\(requested:? N=input\)",
        r"\b(?:received|given:?|supplied|got) N=input(?: (?:tokens?|`inputs?`)|$|[.,)])",
        r"current length is N=input",
        r"requested tokens \(N=input\)",
        r"decoder prompt \(length N=input\)",
        r"(?:first|has) N=input (?:input )?tokens?",
        r"prompt of length N=input",
        r"input tokens length is N=input",
        r"`?inputs?`? must have less than N tokens?\. given:? N=input",
        r"(?:输入|提示词|请求|消息|上下文)[^\d。]{0,12}?(?:长度|tokens?|总数|数)?[^\d。]{0,6}N=input ?(?:个)? ?"
        r"(?:tokens?)?[^\d]{0,6}(?:超|大于)",
    )
)
_OUTPUT_FORMS = tuple(
    Form(pattern)
    for pattern in (
        r"N=output (?:tokens )?(?:in|for|of) the (?:completion|output|response|generation)",
        r"N=output (?:output|completion|`?max_new_tokens`?|`?max_tokens`?)(?: tokens)?\b",
        r"max_(?:completion_)?tokens'?\"? is too large: N=output",
        r"requested N=output to generate",
        r"output tokens length is N=output",
        r"max_(?:completion_|new_)?tokens[=: (]+N=output",
    )
)
_TOTAL_FORMS = tuple(
    Form(pattern)
    for pattern in (
        r"requested(?: about| a total of)? N=total ?tokens?",
        r"(?:max_total_tokens|total tokens?|input and (?:maximum )?output tokens?) ?\(N=total\)",
        r"for a total of(?: at least)? N=total tokens?",
        r"(?:prompt and prediction\)|total number of tokens)[^\d]{0,30}N - received N=total",
        r"you requested N=total\b",
    )
)
_PART = Form(
    r"N=part (?:tokens )?(?:of|in|from) (?:the |your )?"
    r"(?:text input|tool input|image input|audio input|video input|input messages?|messages?|prompt"
    r"|functions?|tools?|system(?: prompt)?|input)\b"
)
"""One share of the input; the shares are added: (7911 in the messages, 2150 in the functions)."""

_OVERSHOOT = Form(
    r"exceed(?:ed|s)?(?: \w+){0,6} by N=over tokens?|N=above tokens? (?:over|above|beyond)"
    r"|over by N=extra"
)
_LIMIT_FORMS = tuple(
    Form(pattern)
    for pattern in (
        r"total length should be less than or equal to N=limit",
        r"\bmax(?:imum)?(?: (?!output|completion)[\w'-]+){0,6}?(?: is| of|:| =)?(?: only)? ?\(?N=limit(?! (?:output|compl))",
        r"(?:is|of|:|>|with) \(?N=limit (?:tokens? )?max(?:imum)?\b",
        r"context (?:length|window|size|limit)s?(?: limit)?(?: is| of|:| =)?(?: only)? ?\(?N=limit",
        r"(?:model|input|prompt|token|configured|available)(?: [\w'-]+){0,2} "
        r"(?:limit|window|size|length|maximum|budget)s?(?: is| of|:| =)?(?: only)? ?\(?N=limit",
        r"\b(?:limit|budget)(?: is| of|:)? N=limit",
        r"budget \(N=limit",
        r"(?:must be|should be|has to be) (?:<=?|≤|less than(?: or equal to)?|at most|below|under)"
        r"(?: \w+)? ?\(?N=limit",
        r"must have (?:less|fewer) than N=limit tokens?",
        r"(?:can ?not exceed|no more than|up to) N=limit",
        r"range of input length should be \[ ?\d+ ?, ?N=limit ?\]",
        r"(?:n_ctx|max_seq_len|max_prompt_tokens|max_model_len|context_length|num_ctx|max_position_embeddings|max_length)\W{1,3}N=limit",
        r"(?:context|token|tokens) (?:length )?exceeded\W{1,3}N=limit",
        r"(?:最大|上限|限制|窗口|不超过|不能超过|不得超过|最多|至多)[^\d。]{0,14}?N=limit",
        r"(?:超过|超出|超)[^\d。]{0,16}?N=limit",
    )
)
_NAMED_LIMITS = [
    "n_ctx",
    "max_context_length",
    "context_length",
    "context_window",
    "max_prompt_tokens",
    "max_input_tokens",
    "maxinputtokens",
    "max_model_len",
    "max_seq_len",
    "contextwindow",
    "max_context_tokens",
]
_NAMED_INPUTS = [
    "n_prompt_tokens",
    "prompt_tokens",
    "input_tokens",
    "num_prompt_tokens",
    "prompttokencount",
    "token_count",
    "num_tokens",
]
_BARE_CODE = re.compile(r"context window exceeds limit ?\(\d+\)", re.IGNORECASE)
"""MiniMax ends its text with its own error number (2013): no size.

Source: https://github.com/MiniMax-AI/MiniMax-M2/issues/119
"""
_LOWER_BOUND = re.compile(r"at least", re.IGNORECASE)
_TOKEN_NUMBER = Form(r"N=any(?=\)? ?tokens?\b)|\(N=paren\)")


def read_sizes(reading: Reading) -> Sizes:
    """Read limit, input and output of an overflow."""
    text = _BARE_CODE.sub("context window exceeds limit", plain(reading.text))
    found: dict[str, int] = {}
    for form in _FULL_FORMS:
        if match := form.search(text):
            found = {name: read_number(value) for name, value in match.groupdict().items() if value}
            break
    limit = found.get("limit") or _first_count(reading.counts, _NAMED_LIMITS)
    sent = found.get("input") or _first_count(reading.counts, _NAMED_INPUTS)
    output = found.get("output") or first_number(text, _OUTPUT_FORMS, "output")
    parts = [read_number(match["part"]) for match in _PART.finditer(text)]
    if sent is None and parts:
        sent = sum(dict.fromkeys(parts))
    if limit is None:
        limit = first_number(text, _LIMIT_FORMS, "limit")
    if sent is None:
        sent = first_number(text, _COUNTED_FORMS, "input")
    if sent is None:
        sent = first_number(text, _INPUT_FORMS, "input", reject=lambda number: number == limit)
    total = first_number(text, _TOTAL_FORMS, "total", reject=lambda number: number == output)
    over = _OVERSHOOT.search(text)
    overshoot = read_number(next(value for value in over.groups() if value)) if over else None
    if overshoot is not None and overshoot in (limit, sent):
        limit = None if limit == overshoot else limit
        sent = None if sent == overshoot else sent
    if sent is not None or total is None:
        limit, sent = _from_pair(text, limit, sent, output)
    return Sizes(
        limit_tokens=limit,
        input_tokens=sent,
        output_tokens=output,
        total_tokens=total if total != sent or output is not None else None,
        overshoot_tokens=overshoot,
        is_lower_bound=bool(_LOWER_BOUND.search(text)) and output is not None,
    )


def _from_pair(
    text: str, limit: int | None, sent: int | None, output: int | None
) -> tuple[int | None, int | None]:
    """Where the words leave one number open, take the other token number of the text.

    With two numbers the larger is what was sent. A pair the wrong way round is turned.
    """
    if limit is not None and sent is not None:
        if sent < limit and output is None and _is_swapped(text, limit, sent):
            return sent, limit
        return limit, sent
    numbers = list(
        dict.fromkeys(
            read_number(next(value for value in match.groups() if value))
            for match in _TOKEN_NUMBER.finditer(text)
        )
    )
    numbers = [number for number in numbers if number >= 128 and number != output]
    if limit is None and sent is not None:
        lower = [number for number in numbers if number < sent]
        return (lower[0] if len(lower) == 1 else None), sent
    if limit is not None:
        higher = [number for number in numbers if number > limit]
        return limit, (higher[0] if len(higher) == 1 else None)
    if len(numbers) == 2:
        return min(numbers), max(numbers)
    return None, None


_SPEAKS_OF_INPUT = re.compile(
    r"\btokens?\b|\blength\b|\bcontext\b|\bprompt\b|\bsequence\b|\bwindow\b|input_ids",
    re.IGNORECASE,
)
_SPEAKS_OF_LIMIT = re.compile(
    r"max(?:imum)?\b|max_|limit|only|supports?|up to|at most|allowed|longer than|capacity|exceed|over"
    r"|>",
    re.IGNORECASE,
)
_SPEAKS_OF_ELSE = re.compile(
    r"output|completion|generat|max_\w*tokens|image|pixel|\bMB\b|bytes|characters|schema|tool|\bm?s\b|second"
    r"|minute|hour|\bday\b|\btime"
    r"|function|\bid\b|rate|quota|credit|price",
    re.IGNORECASE,
)
_HYPHENATED = re.compile(r"[\w.]*-[\w.:-]*\d[\w.:-]*")
"""Dates, versions and names of models: their numbers are no sizes."""

_ANY_NUMBER = Form(r"N=any")


def sizes_by_numbers(reading: Reading) -> Sizes | None:
    """The sizes of a wording nobody knows, when its numbers alone give it away.

    One sentence that speaks of the input and of a limit, of nothing else, with exactly two numbers
    of a size that windows have: the larger was sent, the smaller is allowed.
    """
    for part in re.split(r"\n|(?<=[a-z)])[.] ", plain(reading.text)):
        if _SPEAKS_OF_ELSE.search(part) or not _SPEAKS_OF_INPUT.search(part):
            continue
        bare = _HYPHENATED.sub(" ", part)
        numbers = {read_number(match["any"]) for match in _ANY_NUMBER.finditer(bare)}
        numbers = {number for number in numbers if number >= LEAST_WINDOW_TOKENS}
        if len(numbers) == 2 and _SPEAKS_OF_LIMIT.search(part):
            return Sizes(limit_tokens=min(numbers), input_tokens=max(numbers))
    return None


def _is_swapped(text: str, limit: int, sent: int) -> bool:
    return re.search(rf"{limit}[^.]{{0,40}}(?:exceed|longer than|>|larger than)", text) is not None


def _first_count(counts: Mapping[str, int], names: Iterable[str]) -> int | None:
    return next((counts[name] for name in names if counts.get(name)), None)
