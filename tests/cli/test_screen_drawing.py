"""What events, answers and the status look like: pure functions, no terminal."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayfare.cli.screen.lines import QUIET, duration, lines_of
from wayfare.cli.screen.live import Answer, Live, Thought
from wayfare.cli.screen.markdown import last_lines, rendered, split
from wayfare.cli.screen.spans import (
    Line,
    ansi_of,
    cut,
    cut_middle,
    fitted,
    harmless,
    line_width,
    neutral,
    one_line,
    text_of,
    width_of,
    wrapped,
)
from wayfare.cli.screen.status import Status, bar, money, status_line
from wayfare.cli.screen.terminal import is_dumb, shows_color
from wayfare.events import Event
from wayfare.model import Usage

ANY_TEXT = st.text(max_size=200)
COLUMNS = st.integers(min_value=10, max_value=220)


def told(name: str, text: str = "", **fields: Any) -> Event:
    """An event."""
    return Event(name=name, text=text, fields=fields)


def ended(tool: str = "bash", text: str = "ok", **fields: Any) -> Event:
    """A call that ended."""
    given: dict[str, Any] = {"call_id": "1", "is_error": False, "seconds": 0.0, "chars": 12}
    return told("tool.ended", text, tool=tool, **{**given, **fields})


def seen(lines: list[Line]) -> list[str]:
    """Lines without their styles."""
    return [text_of(line) for line in lines]


# What others write into a terminal.


@given(ANY_TEXT)
def test_no_text_of_a_stranger_steers_a_terminal(text: str) -> None:
    for made in (harmless(text), neutral(text), one_line(text)):
        left = set(made) - {"\n", "\t"}
        assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in left)
        assert not left & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")
    assert "\n" not in one_line(text)
    assert "\t" not in neutral(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1;2|payload\x1b\\text", "text"),
        ("\x9b31mred", "red"),
        ("a\r\nb", "a\nb"),
        ("half \x1b", "half \ufffd"),
    ],
)
def test_sequences_go_whole(text: str, left: str) -> None:
    assert harmless(text) == left


def test_a_line_drawn_over_and_over_shows_its_last_drawing() -> None:
    assert one_line("10 %\r50 %\r100 %\n") == "100 %"
    assert one_line("first\nsecond\rthird") == "first second third"


# Widths.


@given(ANY_TEXT, COLUMNS)
def test_what_is_cut_fits(text: str, columns: int) -> None:
    text = one_line(text)
    assert width_of(cut(text, columns)) <= columns
    assert width_of(cut_middle(text, columns)) <= columns
    assert line_width(fitted((("bold", text), ("", text)), columns)) <= columns
    assert all(line_width(line) <= columns for line in wrapped(text, columns))


def test_wide_characters_take_two_columns() -> None:
    assert width_of("中文") == 4
    assert cut("中文字符", 5) == "中文…"
    assert width_of("✓ · █░ …") == len("✓ · █░ …")


def test_the_end_of_a_path_is_kept() -> None:
    assert cut_middle("src/wayfare/cli/screen/spans.py", 20) == "src/way…een/spans.py"


# One event, its lines.

EVENTS = [
    ended(main="python -m pytest -q tests/unit/test_settings.py", chars=12_345, seconds=12.3),
    ended("read_file", main="中文/文件.txt", chars=5),
    ended(main="rm -rf build", text="denied: bash may change something", is_error=True),
    ended("edit_file", text="old_string is not in a.txt " * 9, is_error=True, main="a.txt"),
    told("context.microcompact", "x", edits=12, before_tokens=123_456, after_tokens=50_000),
    told("context.rung", "x", rung="digest", before_tokens=9_000, after_tokens=1_000),
    told("compaction.nothing", "nothing to compact: what is there stays as it is"),
    told("model.retry", "anthropic:x: overloaded; attempt 2 in 1.2 s", attempt=1),
    told("transcript.torn", "the last line was torn and set aside " * 4),
    told("turn.ended", "stopped at the limit steps_per_turn: 3", ended="steps_per_turn"),
    told("memory.stored", "2 records stored"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
@pytest.mark.parametrize("columns", [20, 33, 40, 80, 200])
def test_every_line_fits_any_terminal(event: Event, columns: int) -> None:
    lines = lines_of(event, columns)
    assert lines
    assert all(line_width(line) <= columns for line in lines)


@given(
    st.sampled_from(EVENTS),
    ANY_TEXT,
    ANY_TEXT,
    COLUMNS,
)
def test_lines_fit_whatever_a_tool_says(event: Event, text: str, main: str, columns: int) -> None:
    strange = Event(name=event.name, text=text, fields={**event.fields, "main": main, "tool": text})
    assert all(line_width(line) <= columns for line in lines_of(strange, columns))


def test_a_tool_line_has_name_argument_size_time_and_how_it_went() -> None:
    event = ended(main="pytest -q", text="3 passed", chars=12_345, seconds=12.34)
    (line,) = seen(lines_of(event, 200))
    assert line == "✓ bash pytest -q  12.3k chars · 12 s"
    (line,) = seen(lines_of(event, 60))
    assert line.startswith("✓ bash pytest -q ")
    assert line.endswith(" 12.3k chars · 12 s")
    assert len(line) == 60
    (line,) = seen(lines_of(event, 20))
    assert line == "✓ bash pytest -q"
    failed = ended(main="make", text="exit code 2", is_error=True, seconds=65.0)
    assert seen(lines_of(failed, 200)) == ["✗ bash make  exit code 2  1 min 05 s"]


def test_a_compaction_is_one_line_with_its_sizes() -> None:
    event = told("context.offload", "x", edits=3, before_tokens=171_000, after_tokens=60_500)
    assert seen(lines_of(event, 80)) == ["▾ offload ×3  171k → 60.5k tokens"]


def test_what_moves_and_what_others_say_leaves_no_line() -> None:
    for name in QUIET - {"turn.ended"}:
        assert lines_of(told(name, "text"), 80) == []
    assert lines_of(told("turn.ended", "done", ended="done"), 80) == []
    assert lines_of(told("hook.message", "  "), 80) == []


def test_an_alarm_is_shown_whole() -> None:
    text = "cannot write /a/very/long/path: the session goes on in memory alone and is not saved"
    lines = seen(lines_of(told("session.write_failed", text), 30))
    assert " ".join(line[2:] for line in lines) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (9.94, "9.9 s"), (59.4, "59 s"), (65, "1 min 05 s"), (7_800, "2 h 10 min")],
)
def test_a_time_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text


# The status line.

FULL = Status(
    model="anthropic:claude-sonnet-5", mode="accept-edits", window_tokens=200_000,
    context_tokens=76_000, cost=0.1234, currency="USD", prompt_tokens=1_000, cached_tokens=870,
)  # fmt: skip


def test_the_status_shows_model_context_cost_cache_and_mode() -> None:
    assert text_of(status_line(FULL, 200)) == (
        "anthropic:claude-sonnet-5 · ████░░░░░░ 38% of 200k · $0.123 · cache 87% · accept-edits"
    )


@pytest.mark.parametrize("columns", range(10, 120))
def test_the_status_fits_and_keeps_what_matters_most(columns: int) -> None:
    for note in ("", "⠋ 12 s"):
        line = status_line(FULL, columns, note=note)
        assert line_width(line) <= columns
        assert "38%" in text_of(line)


def test_ratios_are_no_money() -> None:
    assert money(1.5, "") == ""
    assert money(0.0123, "USD") == "$0.012"
    assert money(12.5, "CHF") == "12.50 CHF"


def test_a_bar_is_never_empty_when_something_is_in() -> None:
    assert (bar(0.0, 4), bar(0.01, 4), bar(1.0, 4), bar(2.0, 4)) == ("░░░░", "█░░░", "████", "████")


def test_the_status_follows_the_events_of_the_session() -> None:
    usage = Usage(input_tokens=100, cache_read_tokens=300, output_tokens=9)
    status = FULL.after(told("step.replied", usage=usage, context_tokens=5_000, cost=0.5))
    assert (status.context_tokens, status.cost) == (5_000, 0.5)
    assert (status.prompt_tokens, status.cached_tokens) == (1_400, 1_170)
    assert status.after(told("context.fit", after_tokens=2_000)).context_tokens == 2_000
    assert status.after(told("model.changed", model="x:y")).model == "x:y"
    assert status.after(told("tool.ended")) == status


# Markdown as it streams in.

TEXT = """# Title

Some *text* that
goes on.

1. one

2. two
   more of two

   still two

```python
def f():

    return 1
```
After the code.

| a | b |
|---|---|
| 1 | 2 |
"""


@given(st.lists(st.integers(min_value=1, max_value=len(TEXT)), max_size=12))
def test_pieces_however_cut_make_the_same_blocks(cuts: list[int]) -> None:
    """Nothing is lost or drawn twice, and no block is broken."""
    edges = [0, *sorted(set(cuts)), len(TEXT)]
    done, rest = "", ""
    for first, last in zip(edges, edges[1:], strict=False):
        ready, rest = split(rest + TEXT[first:last])
        done += ready
        assert done.count("```") % 2 == 0
        assert "2. two" not in done or "still two" in done
    assert done + rest == TEXT


def test_a_growing_code_block_is_drawn_as_code_from_its_middle() -> None:
    text = "```python\n" + "".join(f"line_{n} = {n}\n" for n in range(50))
    shown = last_lines(text, 3)
    assert shown.splitlines() == ["```python", "line_47 = 47", "line_48 = 48", "line_49 = 49"]
    assert last_lines("```\ncode\n```\n\nprose\nmore\n", 2) == "prose\nmore"
    assert last_lines("short", 5) == "short"


@pytest.mark.parametrize("columns", [20, 80, 200])
def test_markdown_fits_and_ends_with_one_line_end(columns: int) -> None:
    shown = rendered(TEXT, columns, color=True)
    assert shown.endswith("\n")
    assert not shown.endswith("\n\n")
    assert not shown.startswith("\n")
    plain = harmless(shown)
    assert all(width_of(line) <= columns for line in plain.splitlines())
    assert "Title" in plain
    assert "#" not in plain
    assert "```" not in plain


def test_without_colour_markdown_stays_as_it_was_written() -> None:
    assert rendered("**a**\x1b[31m\n", 80, color=False) == "**a**\n"


def test_links_show_where_they_lead() -> None:
    shown = rendered("[safe](http://evil.example)", 80, color=True)
    assert "http://evil.example" in shown
    assert "\x1b]8" not in shown


# What is under way.


def fold(live: Live, *events: Event) -> list[Any]:
    """All pieces of these events."""
    return [piece for event in events for piece in live.take(event, 0.0)]


def test_an_answer_comes_in_whole_blocks_and_ends_with_its_step() -> None:
    live = Live()
    pieces = fold(live, told("turn.begun"), *(told("stream.text", c) for c in "One.\n\nTwo.\nmore"))
    assert pieces == [Answer(text="One.\n\n")]
    assert live.growing(5) == "Two.\nmore"
    pieces = fold(live, told("stream.text", "\n\nThree"), told("stream.text", ".\n"))
    assert pieces == [Answer(text="Two.\nmore\n\n")]
    assert fold(live, told("step.replied")) == [Answer(text="Three.\n")]
    assert live.growing(5) == ""


def test_a_broken_stream_begins_anew() -> None:
    live = Live()
    retry = told("model.retry", "again in 1 s")
    pieces = fold(live, told("stream.text", "Half an"), retry, told("stream.text", "All of it"))
    assert seen([p for p in pieces if not isinstance(p, Answer)]) == ["· again in 1 s"]
    assert fold(live, told("step.replied")) == [Answer(text="All of it")]


def test_reasoning_is_shown_when_it_is_wanted() -> None:
    events = (told("stream.thinking", "Hm, "), told("stream.thinking", "so."),
              told("stream.text", "Yes."), told("step.replied"))  # fmt: skip
    assert fold(Live(), *events) == [Answer(text="Yes.")]
    assert fold(Live(thinking=True), *events) == [Thought(text="Hm, so."), Answer(text="Yes.")]


def test_running_tools_have_a_line_each_until_they_end() -> None:
    live = Live(columns=60)
    live.take(told("turn.begun"), 0.0)
    assert seen(live.tail(0.0, 5)) == ["⠋ waiting for the model"]
    live.take(told("stream.call", "bash"), 0.0)
    assert seen(live.tail(0.0, 5)) == ["⠋ bash"]
    live.take(told("tool.begun", "bash make", call_id="1", tool="bash"), 1.0)
    live.take(told("tool.begun", "grep x", call_id="2", tool="grep"), 1.0)
    live.take(told("tool.progress", "50 %", call_id="1", tool="bash"), 2.0)
    assert seen(live.tail(13.0, 5)) == ["⠋ bash make  50 %  12 s", "⠋ grep x  12 s"]
    live.take(ended(call_id="1"), 14.0)
    assert len(live.tail(14.0, 5)) == 1
    assert live.note(14.0) == "⠋ 14 s"
    live.take(told("turn.ended", ended="done"), 15.0)
    assert live.tail(15.0, 5) == []
    assert live.note(15.0) == ""


def test_a_sub_agent_is_set_off_and_says_nothing_itself() -> None:
    live = Live(columns=120)
    live.take(told("turn.begun"), 0.0)
    pieces = fold(
        live,
        told("turn.begun", agent=1),
        told("stream.text", "inner words", agent=1),
        ended("read_file", main="a.txt", agent=1),
        told("turn.ended", "stopped", ended="steps_per_turn", agent=1),
    )
    assert seen(pieces) == ["  │ ✓ read_file a.txt  12 chars"]
    assert live.busy
    assert live.growing(3) == ""


@given(st.lists(st.sampled_from(EVENTS)), COLUMNS)
def test_whatever_runs_fits(events: list[Event], columns: int) -> None:
    live = Live(columns=columns)
    live.take(told("turn.begun"), 0.0)
    for event in events:
        name = str(event.fields.get("tool", "x"))
        live.take(told("tool.begun", f"{name} {event.text}", call_id=name, tool=name), 0.0)
        live.take(told("tool.progress", event.text, call_id=name, tool=name), 0.0)
        assert all(line_width(line) <= columns for line in live.tail(500.0, 8))


# The terminal itself.


class Stream:
    """A stream that is, or is not, a terminal."""

    def __init__(self, terminal: bool) -> None:
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.mark.parametrize(
    ("terminal", "wanted", "environ", "color"),
    [
        (True, "auto", {"TERM": "xterm"}, True),
        (False, "auto", {"TERM": "xterm"}, False),
        (True, "auto", {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (True, "auto", {"TERM": "xterm", "NO_COLOR": ""}, True),
        (True, "auto", {"TERM": "dumb"}, False),
        (True, "never", {"TERM": "xterm"}, False),
        (False, "always", {"NO_COLOR": "1"}, True),
    ],
)
def test_colours_only_where_they_are_shown_and_wanted(
    terminal: bool, wanted: str, environ: dict[str, str], color: bool
) -> None:
    stream: Any = Stream(terminal)
    assert shows_color(stream, wanted=wanted, environ=environ) is color


def test_a_terminal_without_a_name_is_taken_for_dumb() -> None:
    assert is_dumb({})
    assert not is_dumb({"TERM": "xterm-256color"})


def test_styles_are_sequences_around_the_text_alone() -> None:
    assert ansi_of((("bold", "a"), ("", "b"))) == "\x1b[1ma\x1b[0mb"
