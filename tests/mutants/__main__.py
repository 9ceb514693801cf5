"""Plant faults in the library one after another, and report which ones no test notices: ``make mutants``.

    python -m tests.mutants [--number 300] [--seed 0] [--only src/keyplan/engine/lag.py] [--jobs 2] [--json FILE]
    python -m tests.mutants --record [ROOM...]

Each fault is planted where the tests of its folder have been collected once (``forking.py``); what isn't noticed there,
in a copy of ``src``. The tests that run its line are run, those of its folder first, until one fails; which ones they
are has been recorded before (``choosing.py``). A fault that changes nothing anyone could see stands in ``equal.txt``
with its reason, and isn't planted again.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from subprocess import DEVNULL
from threading import Lock

import click
from rich.console import Console
from rich.progress import Progress

from tests.mutants.choosing import Ran, chosen_tests, record, recorded, recorded_tests, stages
from tests.mutants.forking import ANSWERS, ASKED, Asked
from tests.mutants.named import named_mutants
from tests.mutants.planting import Mutant, compiles, mutants_of
from tests.mutants.running import CHOSEN

ROOT = Path(__file__).resolve().parents[2]
EQUAL = Path(__file__).with_name("equal.txt")
ENOUGH = 0.9
"""The share of faults that tests are to notice."""
SECONDS_MAX = 60.0
"""The CPU time of the tests that are run for one fault at most, as it was when they were recorded."""
PATIENCE_S = 120
"""How long one test may run: a fault can make a loop endless. One that does is noticed."""
STAGE_S = PATIENCE_S + 10 * SECONDS_MAX
"""How long the tests that are run together may take."""
TESTS: dict[str, tuple[str, ...]] = {
    "values": ("values", "expressions"),
    "expressions": ("expressions", "engine/test_scenarios.py"),
    "wire": ("wire", "engine", "transports"),
    "partiql": ("partiql", "engine/test_partiql.py"),
    "engine": ("engine", "contract", "server"),
    "server": ("server",),
    "client/transports": ("transports",),
    "client": ("client", "contract", "testing"),
    "design": ("design", "client", "contract"),
    "check": ("check",),
    "rehearsal": ("rehearsal", "explain", "check"),
    "cost": ("cost",),
    "explain": ("explain",),
    "export": ("export",),
    "diff": ("diff",),
    "planner": ("planner",),
    "workbench": ("workbench",),
    "testing": ("testing",),
    "web": ("web",),
    "studio": ("studio",),
    "cli": ("cli",),
    "": ("client", "cli", "repository", "transports/test_opening.py"),
}
"""Where the tests of a module stand that are run first, by the folder it is in."""
LEFT_OUT = ("_version.py", "cost/renew.py", "plain/", "telemetry.py", "cost/words.py")
"""What says no more than words."""


@click.command()
@click.argument("rooms", nargs=-1)
@click.option("--record", "recording", is_flag=True, help="Record what the tests run, of these rooms or of all.")
@click.option("--number", default=300, show_default=True, help="How many faults to draw, besides the named ones.")
@click.option("--seed", default=0, show_default=True, help="Which ones are drawn.")
@click.option("--only", multiple=True, help="A file or folder to plant in; may be repeated.")
@click.option("--jobs", default=2, show_default=True, help="How many run at the same time.")
@click.option(
    "--json",
    "output",
    type=click.Path(path_type=Path),
    help="Write each fault with its outcome there, as the run goes on.",
)
def main(
    rooms: tuple[str, ...],
    recording: bool,
    number: int,
    seed: int,
    only: tuple[str, ...],
    jobs: int,
    output: Path | None,
) -> None:
    """Plant faults, and report those that no test notices."""
    if recording or not recorded():
        record(rooms)
    if not recording:
        plant(number, seed, only, jobs, output)


def plant(number: int, seed: int, only: tuple[str, ...], jobs: int, output: Path | None) -> None:
    """Plant so many faults, besides the named ones; exit with 1 where too few are noticed."""
    drawn = [element for element in named_mutants(ROOT) if _is_wanted(element.path, only)]
    drawn += _drawn(only, number, seed)
    tests = chosen_tests(drawn)
    outcomes = _Outcomes(len(drawn), output)
    with outcomes.progress, _Trees(jobs) as trees, ThreadPoolExecutor(jobs) as pool:
        for room in [pool.submit(_forked, near, tests_of, outcomes) for near, tests_of in _by_room(tests)]:
            room.result()
        left = [mutant for mutant in drawn if mutant not in outcomes]
        running = {pool.submit(_outcome, mutant, tests[mutant], trees): mutant for mutant in left}
        for each in as_completed(running):
            outcomes.add(running[each], each.result())
    counts = Counter(outcomes.values())
    noticed = counts["noticed"] + counts["endless"]
    click.echo(f"{noticed} of {len(outcomes)} faults were noticed, {counts['endless']} of them by the clock.")
    if noticed < ENOUGH * len(outcomes):
        raise click.exceptions.Exit(1)


def _by_room(tests: Mapping[Mutant, list[Ran]]) -> list[tuple[tuple[str, ...], dict[Mutant, list[Ran]]]]:
    """The faults whose tests stand in the same place, the most of them first."""
    rooms: dict[tuple[str, ...], dict[Mutant, list[Ran]]] = defaultdict(dict)
    for mutant, ran in tests.items():
        rooms[_near(mutant.path)][mutant] = ran
    return sorted(rooms.items(), key=lambda room: -len(room[1]))


def _listed(outcomes: Mapping[Mutant, str]) -> str:
    return json.dumps([{**asdict(mutant), "outcome": outcome} for mutant, outcome in outcomes.items()], indent=1)


class _Outcomes(dict[Mutant, str]):
    """How each fault ended, shown and written as it becomes known."""

    def __init__(self, total: int, output: Path | None) -> None:
        super().__init__()
        console = Console(stderr=True)
        self.progress = Progress(console=console)
        self._task = self.progress.add_task("Faults planted", total=total)
        self._is_terminal = console.is_terminal
        self._total = total
        self._output = output
        self._lock = Lock()

    def add(self, mutant: Mutant, outcome: str) -> None:
        with self._lock:
            self[mutant] = outcome
            self.progress.advance(self._task)
            if outcome == "survived":
                self.progress.console.print(_shown(mutant), highlight=False, markup=False)
            if not self._is_terminal and len(self) % 10 == 0:
                click.echo(f"{len(self)} of {self._total} planted", err=True)
            if self._output is not None:
                self._output.write_text(_listed(self), encoding="utf-8")


def _drawn(only: tuple[str, ...], number: int, seed: int) -> list[Mutant]:
    """Faults drawn evenly from all that can be planted."""
    equal = _equal()
    every: list[Mutant] = []
    for path in sorted((ROOT / "src/keyplan").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        inside = name.removeprefix("src/keyplan/")
        if inside.startswith(LEFT_OUT) or not _is_wanted(name, only):
            continue
        source = path.read_text(encoding="utf-8")
        every += [
            mutant
            for mutant in mutants_of(name, source)
            if (mutant.path, mutant.kind, _line(mutant, source)) not in equal
        ]
    Random(seed).shuffle(every)
    return list(islice((mutant for mutant in every if compiles(mutant.planted(_source(mutant.path)))), number))


def _is_wanted(path: str, only: Sequence[str]) -> bool:
    """Whether a file is one of those, or in one of those folders; all are when none is named."""
    return not only or any(Path(path).is_relative_to(each) for each in only)


@cache
def _source(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def _equal() -> set[tuple[str, str, str]]:
    """Faults that change nothing: path, kind and line, then the reason."""
    lines = [line.split("\t") for line in EQUAL.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    return {(path, kind, text.strip()) for path, kind, text, _ in lines}


def _line(mutant: Mutant, source: str) -> str:
    return source.split("\n")[mutant.line - 1].strip()


def _shown(mutant: Mutant) -> str:
    source = (ROOT / mutant.path).read_text(encoding="utf-8")
    return f"{mutant.path}:{mutant.line} {mutant.kind}: {_line(mutant, source)} -> {mutant.text}"


class _Trees:
    """A copy of ``src`` for each that runs at the same time."""

    def __init__(self, number: int) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="mutants-")
        Path(self._folder.name).chmod(0o755)  # a test is nobody for a while
        self.free: queue.Queue[Path] = queue.Queue()
        for each in range(number):
            tree = Path(self._folder.name) / str(each)
            shutil.copytree(ROOT / "src", tree)
            self.free.put(tree)

    def __enter__(self) -> queue.Queue[Path]:
        return self.free

    def __exit__(self, *raised: object) -> None:
        self._folder.cleanup()


def _forked(near: Sequence[str], tests: Mapping[Mutant, Sequence[Ran]], outcomes: _Outcomes) -> None:
    """Plant these where the tests of their rooms are collected; those that aren't noticed have no outcome yet."""
    faults = [(mutant, {each.test: each.seconds for each in ran}) for mutant, ran in tests.items()]
    reading, writing = os.pipe()
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as asked:
        asked.write(Asked(faults, recorded_tests()).written())
        asked.flush()
        environment = {
            **os.environ,
            ASKED: asked.name,
            ANSWERS: str(writing),
            "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'systems/src'}",
        }
        command = [sys.executable, "-m", "pytest", "-q", "--timeout", str(PATIENCE_S)]
        command += ["-p", "no:cacheprovider", "-p", "tests.mutants.forking"]
        with subprocess.Popen(
            [*command, *near], cwd=ROOT, env=environment, pass_fds=[writing], stdout=DEVNULL, stderr=DEVNULL
        ):
            os.close(writing)
            with os.fdopen(reading, encoding="utf-8") as answers:
                for (mutant, _), line in zip(faults, answers, strict=False):  # a process that was killed says fewer
                    if outcome := line.strip():
                        outcomes.add(mutant, outcome)


def _outcome(mutant: Mutant, tests: Sequence[Ran], trees: queue.Queue[Path]) -> str:
    """Plant it, and run tests until one fails: ``noticed``, ``survived``, ``endless``, or ``not run``."""
    tree = trees.get()
    path = tree / Path(mutant.path).relative_to("src")
    source = (ROOT / mutant.path).read_text(encoding="utf-8")
    try:
        path.write_text(mutant.planted(source), encoding="utf-8")
        end = "not run"
        for stage in stages(tests, _near(mutant.path), SECONDS_MAX):
            end = _end(tree, stage)
            if end != "survived":
                break
        return end
    finally:
        path.write_text(source, encoding="utf-8")
        trees.put(tree)


def _end(tree: Path, tests: Sequence[str]) -> str:
    """Run these tests on that tree."""
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--timeout", str(PATIENCE_S)]
    command += ["-p", "no:cacheprovider", "-p", "tests.mutants.running"]
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as chosen:
        chosen.write("\n".join(tests))
        chosen.flush()
        environment = {
            **os.environ,
            CHOSEN: chosen.name,
            "PYTHONPATH": f"{tree}:{ROOT / 'systems/src'}",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        try:
            ended = subprocess.run(
                [*command, *files],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                timeout=STAGE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:  # a test was stopped, and a thread that it left is waited for
            return "endless"
    if ended.returncode in {0, 5}:
        return "survived"
    return "endless" if b"Failed: Timeout" in ended.stdout else "noticed"


def _near(path: str) -> tuple[str, ...]:
    inside = Path(path).relative_to("src/keyplan").parent.as_posix()
    while inside not in TESTS:
        inside = "" if inside == "." or "/" not in inside else inside.rpartition("/")[0]
    return tuple(f"tests/{room}" for room in TESTS[inside])


if __name__ == "__main__":
    main()
