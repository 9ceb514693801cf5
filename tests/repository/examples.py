"""Finds and runs the examples of a page: its fenced blocks of Python and of console commands.

A block marked ``python`` is a program. A block marked ``python continues`` continues the program of the previous block.
A block marked ``python file=NAME`` is a file of that name, which later commands use. A block marked ``text`` directly
after a program is the program's output. In a block marked ``console``, the tests run the lines that start with
``$ keyplan``, and with ``$ python`` and the name of such a file or ``-m pytest``. The lines below a command are its
output, where ``...`` matches anything. Other commands are only shown.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import shlex
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

FENCE = re.compile(r"^```(\w*)([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _keeps_running(words: list[str]) -> bool:
    """Return whether a command runs until it is stopped. The tests don't run such commands."""
    return words[0] in {"serve", "studio"} or (words[0] == "dynamodb" and "check" not in words)


@dataclass(frozen=True)
class Block:
    """A fenced block. ``follows``: only blank lines separate the block from the previous block."""

    language: str
    words: tuple[str, ...]
    text: str
    line: int
    follows: bool

    @property
    def file(self) -> str | None:
        """The name of the file that the block contains, or None."""
        return next((word.removeprefix("file=") for word in self.words if word.startswith("file=")), None)


@dataclass
class Program:
    """Consecutive blocks of Python that run in the same namespace."""

    line: int
    steps: list[tuple[int, str, str | None]] = field(default_factory=list[tuple[int, str, "str | None"]])
    """The line, the code, and its output, if shown."""

    def run(self, page: str) -> Iterator[tuple[int, str, str]]:
        """Run the program. For each step with output, yield its line, the actual and the shown output."""
        module = types.ModuleType(f"example_{self.line}")
        sys.modules[module.__name__] = module
        source = ""
        try:
            for line, code, shown in self.steps:
                printed = io.StringIO()
                source += "\n" * (line - source.count("\n")) + code + "\n"
                linecache.cache[page] = (len(source), None, source.splitlines(keepends=True), page)  # for the analysis
                with contextlib.redirect_stdout(printed):
                    exec(compile("\n" * line + code, page, "exec"), vars(module))
                if shown is not None:
                    yield line, printed.getvalue(), shown
        finally:
            del sys.modules[module.__name__]


@dataclass(frozen=True)
class Command:
    """A command of a console block, and the output that the page shows for it."""

    line: int
    words: list[str]
    shown: str


@dataclass(frozen=True)
class File:
    """A file that the page shows, for later commands."""

    name: str
    text: str


def blocks_of(path: Path) -> list[Block]:
    """Return the fenced blocks of a page."""
    text = path.read_text(encoding="utf-8")
    blocks: list[Block] = []
    end = 0
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        follows = bool(blocks) and not text[end : match.start()].strip()
        blocks.append(Block(match.group(1), tuple(match.group(2).split()), match.group(3), line, follows))
        end = match.end()
    return blocks


def programs_of(path: Path) -> list[Program]:
    """Return the Python programs of a page."""
    programs: list[Program] = []
    for block, after in pairwise([*blocks_of(path), None]):
        if block is None or block.language != "python" or block.file:
            continue
        if "continues" not in block.words:
            programs.append(Program(block.line))
        shown = after.text if after is not None and after.language == "text" and after.follows else None
        programs[-1].steps.append((block.line, block.text, shown))
    return programs


def _runs(words: list[str], files: set[str]) -> bool:
    if words[0] == "python":
        return words[1] in files or words[1:3] == ["-m", "pytest"]
    return words[0] == "keyplan" and not _keeps_running(words[1:])


def commands_of(path: Path) -> Iterator[Command | File]:
    """Return the commands of a page that are run, and the files that they use, in order."""
    files: set[str] = set()
    for block in blocks_of(path):
        if block.file:
            files.add(block.file)
            yield File(block.file, block.text)
        if block.language != "console":
            continue
        for match in re.finditer(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block.text, re.MULTILINE):
            words = shlex.split(match.group(1), comments=True)
            if _runs(words, files):
                yield Command(block.line, words, match.group(2))


def matches(output: str, shown: str) -> bool:
    """Return whether an output matches the shown output, where ``...`` matches any text. Ignores trailing spaces."""
    text = "\n".join(line.rstrip() for line in output.splitlines()).strip("\n")
    parts = [re.escape(part) for part in re.split(r"\n?\.\.\.\n?", shown.strip("\n"))]
    return re.fullmatch("(?:.*)".join(parts), text, re.DOTALL) is not None
