"""Compare the requests and units in the READMEs of the systems with metered calls, and the results of two stores.

A README's table has a row per access pattern; ``check_rows`` calls each pattern and compares the row with the call.
Items have the same sizes as in the sample, so that the numbers are reproducible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

from keyplan import Design, Entity, Put
from keyplan.formatting.results import answer_json
from keyplan_systems.site.sessions import Session
from tests.seeds import NEW
from tests.systems.support import Recorder, recorded

AMONG: tuple[int, ...] = (0, 100_000) if NEW else (0,)
"""How many items of others stand beside the sample while units are metered; many in a nightly run."""
READS = {"GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems"}


def add_others(design: Design, count: int, made: Callable[[int], Sequence[Entity]]) -> None:
    """Put items that are unrelated to the sample into a store. ``made`` returns the items for a number."""
    if count:
        each = len(made(0))
        design.batch(Put(item) for number in range(count // each) for item in made(number))


def text_of(package: ModuleType) -> str:
    """Return the README of a system as text."""
    assert package.__file__ is not None
    return (Path(package.__file__).parent / "README.md").read_text(encoding="utf-8")


def rows_of(text: str, heading: str) -> list[list[str]]:
    """Return the rows of a section's tables, as lists of cells without code markup. The first row is the header."""
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [
        [cell.strip().replace("`", "") for cell in line.strip("|").split(" | ")]
        for line in section.splitlines()
        if line.startswith("| ")
    ]


def measured(design: Design, call: Callable[[], object]) -> tuple[str, str]:
    """Return the requests and units of a call as text, such as ``Query GSI1`` and ``0.5 + 2 read``."""
    recorder = recorded(design)
    try:
        call()
    finally:
        design.store.transport = recorder.inner
    return cost(recorder)


def cost(recorder: Recorder) -> tuple[str, str]:
    """Return the recorded requests and units as text."""
    names: list[str] = []
    units: dict[str, float] = {}
    for operation, parameters, response in recorder.made:
        names.append(f"{operation} {parameters['IndexName']}" if "IndexName" in parameters else operation)
        kind = "read" if operation in READS else "write"
        consumed = response.get("ConsumedCapacity") or []
        for value in consumed if isinstance(consumed, list) else [consumed]:
            units[kind] = units.get(kind, 0) + value["CapacityUnits"]
    runs = [(name, len(list(group))) for name, group in groupby(names)]
    requests = ", ".join(name if times == 1 else f"{times} × {name}" for name, times in runs)
    return requests, ", ".join(f"{amount:g} {kind}" for kind, amount in sorted(units.items()))


def check_rows(
    design: Design, text: str, heading: str, calls: Mapping[str, Callable[[], object]], more: Mapping[str, Any] = {}
) -> None:
    """Check that each row of the section's table has the cost of its pattern, and that each pattern has a row with the
    cells id, pattern, requests and units.
    """
    shown = {row[0]: (row[1].partition("(")[0], row[2], row[3]) for row in rows_of(text, heading)[1:]}
    patterns = {pattern.id: name for name, pattern in design.compiled.patterns.items()}
    assert calls.keys() == patterns.keys()
    wanted = {identity: (patterns[identity], *measured(design, call)) for identity, call in calls.items()}
    wrong = {identity: row for identity, row in wanted.items() if shown.get(identity) != row}
    lines = "\n".join(
        f"| {identity} | `{name}` | {asked} | {units} |" for identity, (name, asked, units) in wrong.items()
    )
    assert not wrong, f"the README is to say:\n{lines}"
    assert shown.keys() == wanted.keys()


def session_calls(design: Any) -> dict[str, Callable[[], object]]:
    """Return a call of each session pattern, for a system with accounts."""
    session = Session(user_id="ada", mark="0", expires_at=datetime(2030, 1, 1, tzinfo=UTC))
    return {
        "L1": lambda: design.session("ada", session.session_id),
        "L2": lambda: design.sessions("ada"),
        "L3": lambda: design.open_session(session),
        "L4": lambda: design.end_session("ada", session.session_id),
    }


def name_of(design: type[Design], identity: str) -> str:
    """Return the name of the read pattern with this id."""
    return next(pattern.name for pattern in design.compiled.reads.values() if pattern.id == identity)


def assert_same_answers(element: Design, other: Design, calls: Mapping[str, Mapping[str, Any]]) -> None:
    """Check that two stores of a design have equal results. Stores sign cursors, so only their presence is compared."""
    for identity, given in calls.items():
        name = name_of(type(element), identity)
        answer, wanted = (answer_json(getattr(design, name)(**given)) for design in (element, other))
        if isinstance(wanted, dict):
            assert bool(answer.pop("cursor", None)) == bool(wanted.pop("cursor", None)), identity
        assert answer == wanted, identity
