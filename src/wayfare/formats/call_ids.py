"""Call ids of one provider, made fit for another one that is stricter about them."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256

_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


@lru_cache(maxsize=4096)
def fitting_call_id(call_id: str, limit_chars: int) -> str:
    """`call_id` itself where it is fit, else a fit one that is the same for the same id.

    Fit is what all providers take: 1 to `limit_chars` letters, digits, `_` and `-` of ASCII.
    Eight hexadecimal digits of its sha256 keep apart ids that only differ in what was replaced.
    """
    if call_id and len(call_id) <= limit_chars and not _FOREIGN.search(call_id):
        return call_id
    mark = sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_FOREIGN.sub('_', call_id)[: limit_chars - 9]}_{mark}"
