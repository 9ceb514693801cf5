"""Plant faults in the library one after another, and report which ones no test notices: ``make mutants``.

    python -m tests.mutants [--number 300] [--seed 0] [--only src/keyplan/engine/lag.py] [--jobs 2] [--json FILE]

Each fault is planted in a copy of ``src``. The tests of the module's folder run first, then what uses it from afar. A
fault that changes nothing anyone could see stands in ``equal.txt`` with its reason, and isn't planted again.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from random import Random

import click
from rich.console import Console
from rich.progress import Progress

from tests.mutants.named import named_mutants
from tests.mutants.planting import Mutant, mutants_of

ROOT = Path(__file__).resolve().parents[2]
EQUAL = Path(__file__).with_name("equal.txt")
ENOUGH = 0.9
"""The share of faults that tests are to notice."""
PATIENCE_S = 900
"""How long the tests of one fault may run: a fault can make a loop endless. One that does is noticed."""
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
    "": ("client", "cli", "repository"),
}
"""What is run for a module, by the folder it is in, nearest first."""
LEFT_OUT = ("_version.py", "cost/renew.py", "plain/", "telemetry.py", "cost/words.py")
"""What says no more than words."""


@click.command()
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
def main(number: int, seed: int, only: tuple[str, ...], jobs: int, output: Path | None) -> None:
    """Plant faults, and report those that no test notices."""
    drawn = [element for element in named_mutants(ROOT) if not only or element.path.startswith(only)]
    drawn += _drawn(only, number, seed)
    console = Console(stderr=True)
    outcomes: dict[Mutant, str] = {}
    with Progress(console=console) as progress, _Trees(jobs) as trees, ThreadPoolExecutor(jobs) as pool:
        task = progress.add_task("Faults planted", total=len(drawn))
        running = {pool.submit(_outcome, mutant, trees): mutant for mutant in drawn}
        for each in as_completed(running):
            mutant = running[each]
            outcomes[mutant] = each.result()
            progress.advance(task)
            if outcomes[mutant] == "survived":
                progress.console.print(_shown(mutant), highlight=False, markup=False)
            if not console.is_terminal and len(outcomes) % 10 == 0:
                click.echo(f"{len(outcomes)} of {len(drawn)} planted", err=True)
            if output is not None:
                output.write_text(_listed(outcomes))
    counts = Counter(outcomes.values())
    noticed = len(outcomes) - counts["survived"]
    click.echo(f"{noticed} of {len(outcomes)} faults were noticed, {counts['endless']} of them by the clock.")
    if noticed < ENOUGH * len(outcomes):
        raise click.exceptions.Exit(1)


def _listed(outcomes: Mapping[Mutant, str]) -> str:
    return json.dumps([{**asdict(mutant), "outcome": outcome} for mutant, outcome in outcomes.items()], indent=1)


def _drawn(only: tuple[str, ...], number: int, seed: int) -> list[Mutant]:
    """Faults drawn evenly from all that can be planted."""
    equal = _equal()
    every: list[Mutant] = []
    for path in sorted((ROOT / "src/keyplan").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        inside = name.removeprefix("src/keyplan/")
        if inside.startswith(LEFT_OUT) or (only and not name.startswith(only)):
            continue
        source = path.read_text(encoding="utf-8")
        every += [
            mutant
            for mutant in mutants_of(name, source)
            if (mutant.path, mutant.kind, _line(mutant, source)) not in equal
        ]
    return Random(seed).sample(every, min(number, len(every)))


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
        self.free: queue.Queue[Path] = queue.Queue()
        for each in range(number):
            tree = Path(self._folder.name) / str(each)
            shutil.copytree(ROOT / "src", tree)
            self.free.put(tree)

    def __enter__(self) -> queue.Queue[Path]:
        return self.free

    def __exit__(self, *raised: object) -> None:
        self._folder.cleanup()


def _outcome(mutant: Mutant, trees: queue.Queue[Path]) -> str:
    """Plant it, and run tests until one fails: ``noticed``, ``survived``, or ``endless``."""
    tree = trees.get()
    path = tree / Path(mutant.path).relative_to("src")
    source = (ROOT / mutant.path).read_text(encoding="utf-8")
    try:
        path.write_text(mutant.planted(source), encoding="utf-8")
        for folder in _folders(mutant.path):
            command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", f"tests/{folder}"]
            environment = {**os.environ, "PYTHONPATH": f"{tree}:systems/src", "PYTHONDONTWRITEBYTECODE": "1"}
            try:
                ended = subprocess.run(
                    command, cwd=ROOT, env=environment, timeout=PATIENCE_S, capture_output=True, check=False
                )
            except subprocess.TimeoutExpired:
                return "endless"
            if ended.returncode not in {0, 5}:
                return "noticed"
        return "survived"
    finally:
        path.write_text(source, encoding="utf-8")
        trees.put(tree)


def _folders(path: str) -> Iterator[str]:
    inside = Path(path).relative_to("src/keyplan").parent.as_posix()
    while inside not in TESTS:
        inside = "" if inside == "." or "/" not in inside else inside.rpartition("/")[0]
    yield from TESTS[inside]


if __name__ == "__main__":
    main()
