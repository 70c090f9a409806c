"""What the settings of a workspace that is not trusted may still do: forbid more, never allow."""

from __future__ import annotations

from typing import Any, Final

_MODES: Final = ("read-only", "ask", "accept-edits", "full")
_SANDBOX: Final = ("required", "auto", "off")
_ORDERED: Final = {"permissions.mode": _MODES, "permissions.sandbox": _SANDBOX}
"""From the strictest on."""
_ADDED: Final = frozenset({"permissions.ask", "permissions.deny"})
_OFF_IS_STRICTER: Final = frozenset({"memory.enabled", "permissions.sandbox_network"})


def narrows(key: str, offered: Any, current: Any) -> bool:
    """True when `offered` takes something away that `current` allows, and gives nothing.

    Args:
        key: The setting's dotted name.
        offered: What the workspace wants.
        current: What holds without it.
    """
    if key in _ADDED:
        return True
    if key in _ORDERED:
        order = _ORDERED[key]
        return order.index(offered) < order.index(current)
    if key in _OFF_IS_STRICTER:
        return offered is False
    if key.startswith("limits."):
        return offered is not None and (current is None or offered < current)
    return False
