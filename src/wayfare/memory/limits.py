"""The numbers of memory: the settings group `memory`, under the name memory's own code uses."""

from __future__ import annotations

from wayfare.settings.memory_group import MemorySettings as MemoryLimits

__all__ = ["DEFAULT_LIMITS", "MemoryLimits"]

DEFAULT_LIMITS = MemoryLimits()
