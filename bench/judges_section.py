"""That the judges catch what they must: planted bad requests."""

from __future__ import annotations

from bench.judges import planted
from bench.report import Section, table


def section(command: str) -> Section:
    """Every planted request and what the judges said."""
    results = planted.results()
    missed = [r for r in results if not r.caught]
    rows = [(r.name, r.format, r.judge, r.expected, r.said or "passes") for r in results]
    text = (
        f"{len(results)} requests, {len(missed)} judged wrongly: originals must pass, spoiled ones "
        f"must be caught.\n\n{table(('planted', 'format', 'judge', 'must be', 'was'), rows)}"
    )
    return Section(key="judges", title="The judges, judged", command=command, text=text)
