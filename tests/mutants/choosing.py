"""Which tests are run for a planted fault: those that ran its line when all were recorded, nearest and quickest first.

What each test runs is recorded once and kept in ``.cache/mutants``. Where a module has changed
since, all tests that ran any of it are taken.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.mutants.marking import HITS, Blocks, marked_tree
from tests.mutants.planting import Mutant
from tests.mutants.recording import RECORD

__all__ = ["Ran", "chosen_tests", "record", "recorded", "recorded_tests", "stages"]

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / ".cache" / "mutants"
LEFT_OUT = {"browser", "mutants", "typing", "wheels", "repository", "foreign"}
"""Rooms whose tests run no line that the others don't, or take minutes."""
FILE_S = 0.5
"""What it costs to begin with another test file, as CPU time."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A test that ran a line, and the CPU time that it took."""

    test: str
    seconds: float

    @property
    def file(self) -> str:
        """The file that it stands in."""
        return self.test.partition("::")[0]


def recorded() -> bool:
    """Whether anything is recorded."""
    return any(KEPT.glob("*.json"))


@cache
def recorded_tests() -> frozenset[str]:
    """The names of all tests that are recorded."""
    return frozenset(
        test for kept in KEPT.glob("*.json") for test in json.loads(kept.read_text(encoding="utf-8"))["tests"]
    )


def record(rooms: Sequence[str] = ()) -> None:
    """Run the tests of these rooms, or of all, on a marked copy of the library, and keep what each of them ran."""
    KEPT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="marked-") as folder:
        Path(folder).chmod(0o755)  # a test is nobody for a while
        tree, marks = Path(folder) / "src", Path(folder) / "marks"
        blocks, number = marked_tree(ROOT, tree)
        for room in rooms or sorted(_rooms()):
            marks.write_bytes(bytes(number))
            part = Path(folder) / "ran.json"
            environment = {
                **os.environ,
                HITS: str(marks),
                RECORD: str(part),
                "PYTHONPATH": f"{tree}:{ROOT / 'systems/src'}",
                "PYTHONDONTWRITEBYTECODE": "1",
            }
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.mutants.recording"]
            subprocess.run([*command, f"tests/{room}"], cwd=ROOT, env=environment, check=False)
            _keep(part, KEPT / f"{room.replace('/', '-')}.json", blocks)


def _rooms() -> set[str]:
    return {path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").rglob("test_*.py")} - LEFT_OUT


def _keep(part: Path, kept: Path, blocks: Blocks) -> None:
    """Keep a record together with what its marks mean, at once: who reads meanwhile finds the one before."""
    whole = json.loads(part.read_text(encoding="utf-8"))
    digests = {path: _digest((ROOT / path).read_text(encoding="utf-8")) for path in blocks}
    part.write_text(json.dumps({**whole, "blocks": blocks, "digests": digests}), encoding="utf-8")
    shutil.copyfile(part, kept.with_suffix(".new"))
    kept.with_suffix(".new").replace(kept)


def _digest(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def chosen_tests(mutants: Iterable[Mutant]) -> dict[Mutant, list[Ran]]:
    """The tests that run each fault's line."""
    result: dict[Mutant, list[Ran]] = {mutant: [] for mutant in mutants}
    for kept in sorted(KEPT.glob("*.json")):
        whole = json.loads(kept.read_text(encoding="utf-8"))
        masks = {mutant: _mask(_marks_of(mutant, whole["blocks"], whole["digests"])) for mutant in result}
        imported = {file: _unpacked(packed) for file, packed in whole["files"].items()}
        for test, (seconds, packed) in whole["tests"].items():
            ran = _unpacked(packed) | imported.get(test.partition("::")[0], 0)
            for mutant, mask in masks.items():
                if ran & mask:
                    result[mutant].append(Ran(test, seconds))
    return result


def _unpacked(packed: str) -> int:
    """The marks that were left, a byte each, as one number: so that many are compared at once."""
    return int.from_bytes(zlib.decompress(base64.b85decode(packed)), "little")


def _mask(marks: Iterable[int]) -> int:
    return sum(1 << (8 * mark) for mark in marks)


def _marks_of(mutant: Mutant, blocks: Mapping[str, Mapping[str, int]], digests: Mapping[str, str]) -> set[int]:
    """The block of a fault's line, by a record as JSON has it; all of the module's where the line runs at import, or
    the module has changed; all of its users' where it has none.
    """
    known = blocks.get(mutant.path, {})
    if not known:  # tables alone: who imports them shows what is wrong with them
        return {mark for path in _users(mutant.path) for mark in blocks.get(path, {}).values()}
    source = (ROOT / mutant.path).read_text(encoding="utf-8")
    line = str(mutant.line)
    if digests.get(mutant.path) == _digest(source) and line in known:
        return {known[line]}
    return set(known.values())


@cache
def _users(path: str) -> frozenset[str]:
    """The modules that import one, and those that import these where they have no function themselves."""
    users: set[str] = set()
    looked_for = [path]
    while looked_for:
        package, _, name = (
            looked_for.pop().removeprefix("src/").removesuffix(".py").removesuffix("/__init__").rpartition("/")
        )
        dotted = package.replace("/", ".")
        asked = re.compile(rf"from {dotted}\.{name} import|from {dotted} import .*\b{name}\b")
        for other in sorted((ROOT / "src").rglob("*.py")):
            source = other.read_text(encoding="utf-8")
            found = other.relative_to(ROOT).as_posix()
            if found not in users and asked.search(source):
                users.add(found)
                if "def " not in source:
                    looked_for.append(found)
    return frozenset(users)


def stages(tests: Sequence[Ran], near: Sequence[str], seconds_max: float) -> Iterator[list[str]]:
    """The tests in the order to run them in: at first some of each file, the nearest and the quickest; then others, up
    to so many seconds of CPU time in all; at last what is left of the module's own room, whatever it takes.
    """
    by_file: dict[str, list[Ran]] = defaultdict(list)
    for ran in sorted(tests, key=lambda ran: ran.seconds):
        by_file[ran.file].append(ran)
    files = sorted(by_file, key=lambda file: (not file.startswith(tuple(near)), by_file[file][0].seconds, file))
    for share, whole in ((seconds_max / 30, seconds_max / 4), (seconds_max, seconds_max)):
        stage: list[str] = []
        left = whole
        for file in files:
            of_file = share
            while by_file[file] and left > 0 and by_file[file][0].seconds <= of_file:
                ran = by_file[file].pop(0)
                left -= ran.seconds + (0 if stage and stage[-1].startswith(f"{file}::") else FILE_S)
                of_file -= ran.seconds
                stage.append(ran.test)
        if stage:
            yield stage
    own = [ran.test for file in files if file.startswith(f"{near[0]}/") for ran in by_file[file]]
    if own:
        yield own
