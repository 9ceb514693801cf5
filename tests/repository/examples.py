"""The examples of a page: its fenced blocks of Python and of console commands, and running them.

A block marked ``python`` is a program of its own; one marked ``python continues`` goes on where the block before it
ended. A block marked ``python file=NAME`` is a file of that name, which later commands find. A block marked ``text``
right behind a program is what it prints. In a block marked ``console`` the lines with ``$ keyplan`` are run, and
``$ python`` with the name of such a file, or ``-m pytest``; the lines below one are its output; ``...`` stands for
anything. Other commands are only shown.
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


def _goes_on(words: list[str]) -> bool:
    """Whether a command goes on until it is stopped, and so isn't run."""
    return words[0] in {"serve", "studio"} or (words[0] == "dynamodb" and "check" not in words)


@dataclass(frozen=True)
class Block:
    """One fenced block. ``follows`` tells whether only blank lines stand between it and the block before."""

    language: str
    words: tuple[str, ...]
    text: str
    line: int
    follows: bool

    @property
    def file(self) -> str | None:
        """The name of the file that the block is, if it is one."""
        return next((word.removeprefix("file=") for word in self.words if word.startswith("file=")), None)


@dataclass
class Program:
    """Blocks of Python that run one after the other in one namespace."""

    line: int
    steps: list[tuple[int, str, str | None]] = field(default_factory=list[tuple[int, str, "str | None"]])
    """The line, the code, and what it prints, where that is shown."""

    def run(self, page: str) -> Iterator[tuple[int, str, str]]:
        """Run it, in the current folder: for each step with an output its line, what it printed, and what is shown."""
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
    """One command of a console block, and the output shown below it."""

    line: int
    words: list[str]
    shown: str


@dataclass(frozen=True)
class File:
    """A file that the page shows, for the commands after it."""

    name: str
    text: str


def blocks_of(path: Path) -> list[Block]:
    """The fenced blocks of a page."""
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
    """The Python programs of a page."""
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
    return words[0] == "keyplan" and not _goes_on(words[1:])


def commands_of(path: Path) -> Iterator[Command | File]:
    """The commands of a page that are run, and the files that they need, in order."""
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


def as_shown(output: str, shown: str) -> bool:
    """Whether an output is the one shown, where ``...`` stands for anything. Spaces at line ends don't count."""
    text = "\n".join(line.rstrip() for line in output.splitlines()).strip("\n")
    parts = [re.escape(part) for part in re.split(r"\n?\.\.\.\n?", shown.strip("\n"))]
    return re.fullmatch("(?:.*)".join(parts), text, re.DOTALL) is not None
