"""Calendar dates in a text, whatever their notation."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from wayfare.lexical.english import stem

_MONTH_NAMES = """
january jan, february feb, march mar, april apr, may, june jun, july jul, august aug,
september sept sep, october oct, november nov, december dec
"""
_MONTHS = {
    name: number
    for number, names in enumerate(_MONTH_NAMES.split(","), start=1)
    for name in names.split()
}
_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_NUMERIC = re.compile(
    r"(?<![\d.])(?P<year>(?:19|20)\d\d)(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)"
    r"(?P<day>\d{1,2})(?!\d)"
)
_EAST_ASIAN = re.compile(
    r"(?:(?P<year>\d{4})\s?[年년]\s?)?(?<!\d)(?P<month>\d{1,2})\s?[月월]\s?"
    r"(?P<day>\d{1,2})\s?[日号號일]"
)
_NAMED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_MONTH}\s+{_DAY}\b(?:,?\s+(?P<year>(?:19|20)\d\d)\b)?",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+(?P<year>(?:19|20)\d\d)\b)?",
    )
)
_YEAR_AND_MONTH = re.compile(rf"\b{_MONTH},?\s+(?P<year>(?:19|20)\d\d)\b", re.IGNORECASE)
_WHEN = re.compile(
    r"\bwhen\b|\bwhat (?:time|date|day|month|year)\b|\bwhich (?:date|day|month|year)\b"
    r"|\bhow long ago\b|什么时候|何时|哪天|哪一天|几号|几月|哪年|何年|いつ|何日|何月|언제|며칠",
    re.IGNORECASE,
)
_MONTH_STEMS = frozenset(stem(word) for word in _MONTHS if word != "may")
_TIME_NAMES = """
yesterday today tonight tomorrow ago week weekend month year fortnight
monday tuesday wednesday thursday friday saturday sunday
昨天 今天 明天 前天 后天 昨晚 今晚 上周 下周 本周 周末 去年 今年 明年
昨日 今日 明日 先週 来週 今週 週末 先月 来月 来年 어제 오늘 내일 지난 다음 주말 작년 올해 내년
"""
_TIME_WORDS = _MONTH_STEMS.union(
    stem(word) if word.isascii() else word for word in _TIME_NAMES.split()
)
TIME = "@time"
"""Word of every text that says when; a question that asks when looks for it."""


def asks_when(query: str) -> bool:
    """Whether a question wants a time for an answer."""
    return _WHEN.search(query) is not None


def says_when(words: Iterable[str]) -> bool:
    """Whether the words of a text name a time: a month, a weekday, yesterday, last week."""
    return not _TIME_WORDS.isdisjoint(words)


def dates(text: str, words: Collection[str]) -> list[str]:
    """Every date of a text as words that do not depend on its notation.

    `8 May 2023`, `May 8th, 2023`, `2023-05-08` and `2023年5月8日` all give `@05-08`,
    `@2023-05-08` and `@2023-05`; without a year only the first; `May 2023` only the last.

    Args:
        text: The text.
        words: Its words otherwise, which tell what need not be looked for.
    """
    patterns = [_NUMERIC]
    if "月" in text or "월" in text:
        patterns.append(_EAST_ASIAN)
    # `may` is a stop word and not among the words.
    named = "May" in text or not _MONTH_STEMS.isdisjoint(words)
    if named:
        patterns += _NAMED
    found: list[str] = []
    for pattern in patterns:
        for match in pattern.finditer(text):
            month, day = match["month"].lower(), int(match["day"])
            number = _MONTHS[month] if month in _MONTHS else int(month)
            if not (1 <= number <= 12 and 1 <= day <= 31):
                continue
            found.append(f"@{number:02}-{day:02}")
            if year := match["year"]:
                found += [f"@{year}-{number:02}-{day:02}", f"@{year}-{number:02}"]
    if named:
        for match in _YEAR_AND_MONTH.finditer(text):
            found.append(f"@{match['year']}-{_MONTHS[match['month'].lower()]:02}")
    return found
