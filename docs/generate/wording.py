"""The words of the generated pages in each language.

English texts come from the code. `docs/zh/reference/words.toml` holds their Chinese, by the English
text; what is not in it yet stands in English, so a new setting never blocks its author.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

LANGUAGES: Final = ("en", "zh")
_WORDS: Final = Path(__file__).resolve().parents[1] / "zh" / "reference" / "words.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """One language.

    Attributes:
        language: `en` or `zh`.
        words: The text of that language by the English one.
    """

    language: str
    words: Mapping[str, str] = field(default_factory=dict[str, str])

    def __call__(self, text: str) -> str:
        """`text` in this language."""
        return self.words.get(text, text)


def wording(language: str) -> Wording:
    """The words of a language."""
    if language == "en":
        return Wording(language="en")
    tables = tomllib.loads(_WORDS.read_text("utf-8"))
    words = {english: said for table in tables.values() for english, said in table.items()}
    return Wording(language=language, words=words)


def cell(text: str) -> str:
    """A text as it may stand in a table's cell."""
    return " ".join(text.split()).replace("|", "\\|")


def row(*cells: str) -> str:
    """A table's row."""
    return "| " + " | ".join(map(cell, cells)) + " |"


def head(*cells: str) -> str:
    """A table's first two lines."""
    return row(*cells) + "\n|" + "---|" * len(cells)
