"""A made-up coding session of any length, for what recordings are too short for.

Seeded and reproducible. Sizes and order follow what some 400 real sessions show: about three
quarters of the characters of tool results are file reads (here a median of 3,200 characters, 90 %
under 9,300, 99 % under 55,000), most reads repeat a path, shell outputs have a median of 340
characters, edits replace text that was read before, and a request keeps to a handful of files,
some of them known from earlier ones. The words are made up; the shape is what matters.
"""

from __future__ import annotations

import random
from typing import Any

from bench.recordings import Recording
from bench.wire import Wire

STEPS = 5_000
FILES = 400
READ_MU, READ_SIGMA = 8.1, 1.4  # log-normal over whole files: median 3,300 characters
SHELL_MU, SHELL_SIGMA = 5.8, 1.75  # median 330, 90 % under 3,100
MOST_READ_CHARS = 60_000
STEPS_PER_REQUEST = 40
NOUN_LIST = (
    "account batch buffer cache channel chunk client cursor digest entry event field filter frame "
    "header index journal key layer ledger limit loader marker message metric mirror node offset "
    "packet parser path pattern policy queue range record region report route schema segment "
    "session shard signal snapshot socket source stream table target token tracker tree window"
)
NOUNS = NOUN_LIST.split()
VERB_LIST = (
    "add apply bind build check clear close collect compare copy create decode drop emit encode "
    "expand fetch find flush format join load lock map match merge move open pack parse plan pull "
    "push read reduce render replay reset resolve restore scan send shift sort split store sync "
    "trim update verify visit walk write"
)
VERBS = VERB_LIST.split()


class _Project:
    """The files of the made-up project: their text changes when the session edits them."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._idents = sorted({self._ident() for _ in range(3_000)})
        self.texts: dict[str, list[str]] = {}
        self.own: dict[str, list[str]] = {}
        for _ in range(FILES):
            self.add(self._idents)

    def _ident(self) -> str:
        dice = self._dice
        verb, noun, other = dice.choice(VERBS), dice.choice(NOUNS), dice.choice(NOUNS)
        return dice.choice(
            (f"{verb}_{noun}", f"{verb}_{noun}_{other}", f"{noun.title()}{other.title()}",
             f"{verb}{noun.title()}", f"{noun.upper()}_{other.upper()}")
        )  # fmt: skip

    def add(self, idents: list[str]) -> str:
        """A new file that talks about 40 of the identifiers given; its path."""
        dice = self._dice
        size = min(int(dice.lognormvariate(READ_MU, READ_SIGMA)), MOST_READ_CHARS)
        suffix = dice.choice(("py", "py", "py", "ts", "go", "md"))
        stem = f"{dice.choice(NOUNS)}_{dice.choice(NOUNS)}_{len(self.texts)}"
        path = f"src/{dice.choice(NOUNS)}/{stem}.{suffix}"
        lines: list[str] = []
        chars = 0
        own = dice.sample(idents, min(40, len(idents)))
        while chars < size:
            line = self.line(own)
            lines.append(line)
            chars += len(line) + 1
        self.texts[path] = lines
        self.own[path] = own
        return path

    def line(self, idents: list[str]) -> str:
        """One line of code."""
        dice = self._dice
        one, two, three = (dice.choice(idents) for _ in range(3))
        indent = "    " * dice.randrange(4)
        return indent + dice.choice(
            (f"{one} = {two}({three}, {dice.randrange(1000)})", f"if {one}.{two} is not None:",
             f"return {one}[{two}]", f"def {one}(self, {two}, {three}):", "",
             f'raise ValueError(f"{one} of {two} is {{{three}}}")', f"# {one} before {two}")
        )  # fmt: skip


def _numbered(lines: list[str], start: int) -> str:
    return "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, start + 1))


class _Session:
    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.project = _Project(self.dice)
        self.messages: list[Wire] = []
        self.recent: list[str] = []
        self.working: list[str] = []
        self.read_spans: dict[str, tuple[int, int]] = {}
        self.calls = 0

    def line(self) -> str:
        """One line of code about what is being worked on."""
        return self.project.line(self.project.own[self.dice.choice(self.working)])

    def request(self, number: int) -> Wire:
        """A new request; it moves the work to other files, some of them known from before."""
        dice = self.dice
        known = dice.sample(self.recent, min(3, len(self.recent)))
        new = dice.sample(list(self.project.texts), 5 - len(known) + dice.randrange(2))
        self.working = list(dict.fromkeys([*known, *new]))
        text = (
            f"Task {number}: {dice.choice(VERBS)} the {dice.choice(NOUNS)} in {self.working[0]} so "
            f"that `{self.line().strip() or 'it'}` holds; keep "
            f"{self.working[1].rpartition('/')[2]} as it is. "
        )
        return {"role": "user", "content": text + "Details: " + "see above. " * dice.randrange(40)}

    def path(self) -> str:
        """A path to work on: mostly of the task at hand, sometimes of an earlier one."""
        kind = self.dice.random()
        if kind < 0.85:
            return self.working[min(int(self.dice.expovariate(0.6)), len(self.working) - 1)]
        if kind < 0.95 and self.recent:
            return self.dice.choice(self.recent)
        return self.dice.choice(list(self.project.texts))

    def touch(self, path: str) -> None:
        """Note that a file was worked on."""
        self.recent = [path, *(p for p in self.recent if p != path)][:60]

    def call(self) -> tuple[str, dict[str, Any], str, bool]:
        """Name, input and result of one tool call, and whether it failed."""
        kind = self.dice.random()
        path = self.path()
        if kind < 0.38:
            return self._read(path)
        if kind < 0.58 and path in self.read_spans:
            return self._edit(path)
        if kind < 0.60:
            return self._write()
        if kind < 0.75:
            return self._search()
        return self._shell(path)

    def _read(self, path: str) -> tuple[str, dict[str, Any], str, bool]:
        lines = self.project.texts[path]
        self.touch(path)
        if len(lines) > 200 and self.dice.random() < 0.5:
            start = self.dice.randrange(len(lines) - 100)
            stop = min(start + self.dice.randrange(60, 200), len(lines))
            wanted = {"file_path": path, "offset": start + 1, "limit": stop - start}
        else:
            start, stop, wanted = 0, len(lines), {"file_path": path}
        self.read_spans[path] = (start, stop)
        return "Read", wanted, _numbered(lines[start:stop], start), False

    def _edit(self, path: str) -> tuple[str, dict[str, Any], str, bool]:
        lines = self.project.texts[path]
        self.touch(path)
        start, stop = self.read_spans[path]
        stop = min(stop, len(lines))
        length = min(self.dice.randrange(2, 9), max(stop - start, 1))
        first = self.dice.randrange(start, max(stop - length, start) + 1)
        old = lines[first : first + length]
        new = [
            self.project.line(self.project.own[path])
            for _ in range(self.dice.randrange(1, length + 4))
        ]
        wanted = {
            "file_path": path,
            "old_string": "\n".join(old),
            "new_string": "\n".join(new),
        }
        if not "".join(old).strip():
            return "Edit", wanted, f"String to replace not found in {path}", True
        lines[first : first + length] = new
        shown = _numbered(lines[max(first - 3, 0) : first + len(new) + 3], max(first - 3, 0))
        return "Edit", wanted, f"The file {path} has been updated.\n{shown}", False

    def _write(self) -> tuple[str, dict[str, Any], str, bool]:
        path = self.project.add(self.project.own[self.dice.choice(self.working)])
        self.touch(path)
        self.working[-1] = path
        text = "\n".join(self.project.texts[path])[:8_000]
        self.project.texts[path] = text.split("\n")
        return "Write", {"file_path": path, "content": text}, f"File created: {path}", False

    def _search(self) -> tuple[str, dict[str, Any], str, bool]:
        dice = self.dice
        pattern = self.line().strip().split("(")[0] or "TODO"
        others = dice.sample(list(self.project.texts), 8)
        hits = [
            f"{path}:{dice.randrange(1, 400)}:{self.line()}"
            for path in dice.choices([*self.working * 3, *others], k=dice.randrange(1, 30))
        ]
        return "Grep", {"pattern": pattern, "output_mode": "content"}, "\n".join(hits), False

    def _shell(self, path: str) -> tuple[str, dict[str, Any], str, bool]:
        dice = self.dice
        size = min(int(dice.lognormvariate(SHELL_MU, SHELL_SIGMA)), 30_000)
        command = dice.choice(
            (f"pytest -q tests/test_{path.rpartition('/')[2]}", "git status --short",
             f"git diff {path}", f"python -m compileall {path}", "make check")
        )  # fmt: skip
        failed = dice.random() < 0.15
        lines: list[str] = []
        while sum(map(len, lines)) < size:
            lines.append(f"{path}:{dice.randrange(900)}: {self.line().strip()}")
        text = "\n".join(lines)[:size]
        return "Bash", {"command": command}, text + ("\nexit status 1" if failed else ""), failed

    def step(self) -> None:
        dice = self.dice
        content: list[dict[str, Any]] = []
        if dice.random() < 0.3:
            content.append(
                {"type": "thinking", "thinking": f"Next: {self.line().strip()}. " * 4,
                 "signature": f"sig-{len(self.messages)}"}
            )  # fmt: skip
        if dice.random() < 0.5 or not content:
            content.append({"type": "text", "text": f"I look at {self.path()} now."})
        answers: list[dict[str, Any]] = []
        for _ in range(dice.choice((1, 1, 1, 1, 2, 3))):
            self.calls += 1
            id = f"toolu_{self.calls:06}"
            name, wanted, text, failed = self.call()
            content.append({"type": "tool_use", "id": id, "name": name, "input": wanted})
            answer: dict[str, Any] = {"type": "tool_result", "tool_use_id": id, "content": text}
            if failed:
                answer["is_error"] = True
            answers.append(answer)
        self.messages.append({"role": "assistant", "content": content})
        self.messages.append({"role": "user", "content": answers})


def session(steps: int = STEPS, seed: int = 7) -> Recording:
    """A session of `steps` model calls with tools, in Anthropic form."""
    made = _Session(seed)
    requests = 0
    for number in range(steps):
        if number % STEPS_PER_REQUEST == 0:
            requests += 1
            if made.messages:
                made.messages.append(
                    {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
                )
            made.messages.append(made.request(requests))
        made.step()
    return Recording(
        name=f"generated-{steps}", format="anthropic", messages=made.messages,
        system="You are a coding agent. Use the tools.",
    )  # fmt: skip
