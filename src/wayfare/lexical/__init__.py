"""Words and ranking, without a model and without a network: one code for memory and history.

`Ranking` holds documents in memory, `LexicalIndex` in a derived SQLite file; both rank alike.
"""

from wayfare.lexical.documents import Document, Explanation, Hit, turn
from wayfare.lexical.index import LexicalIndex, Stale
from wayfare.lexical.ranking import Ranking
from wayfare.lexical.search import ABSTAIN_BELOW
from wayfare.lexical.words import tokens

__all__ = [
    "ABSTAIN_BELOW",
    "Document",
    "Explanation",
    "Hit",
    "LexicalIndex",
    "Ranking",
    "Stale",
    "tokens",
    "turn",
]
