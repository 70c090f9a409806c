"""Writes the reference pages from the code: `python -m docs.generate`, `--check` compares."""
