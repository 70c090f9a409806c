"""Recorded sessions, and feeding them through the real runtime again."""
