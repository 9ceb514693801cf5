"""Runs a design's module in a child process of the studio. The process reads one line of JSON from standard input, and
writes lines of ``progress`` and the result. When the input closes, the process returns the best plan so far.

Limits of CPU time and memory stop an endless loop, but aren't a sandbox: the module has the user's permissions.
"""

from __future__ import annotations

import _thread
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

from pydantic_core import SchemaError

from keyplan.analysis.traffic.traffic_file import Traffic, traffic_from
from keyplan.errors import DesignError, ErrorDetail, KeyplanError, UnknownDesign, is_interrupt
from keyplan.formatting.results import error_json, json_text
from keyplan.model.deferral import deferred
from keyplan.planner import Plan, provisional_design, rewritten, spare_indexes
from keyplan.planner import plan as find_plans
from keyplan.planner.plans import Weight
from keyplan.session.design import Design
from keyplan.studio.changing import Source, change_made, loaded

Cell = Mapping[str, Any] | None


def side_by_side(
    plans: Sequence[Plan], text: str, *, spare: Sequence[str] = (), refused: Sequence[tuple[Plan, str]] = ()
) -> dict[str, Any]:
    """A table with a column for each plan. A cell has ``text``, ``note``, the plan's notes (``noted``) and ``new``.
    ``same``: whether a row's cells are equal. ``spare``: unneeded indexes. ``refused``: plans with wrong results.
    """
    return {
        "plans": [_head(number, plan, text) for number, plan in enumerate(plans, 1)],
        "groups": [
            {"title": "Criteria", "of": "", "rows": list(_weights(plans))},
            {"title": "Indexes", "of": "", "rows": list(_indexes(plans))},
            *_keys(plans),
            {"title": "Access patterns", "of": "questions", "rows": list(_patterns(plans))},
            *_further(plans),
        ],
        "spare": list(spare),
        "refused": [answer for _, answer in refused],
    }


def _head(number: int, plan: Plan, text: str) -> dict[str, Any]:
    try:
        change = rewritten(plan, text)
    except UnknownDesign:
        change = None
    return {
        "number": number,
        "summary": plan.summary,
        "best": plan.best,
        "why": plan.why,
        "stopped": plan.stopped,
        "verified": None if plan.verified is None else plan.verified.as_json(),
        "limits": list(plan.limits),
        "new": any(key.new for key in plan.keys),
        "patch": None if change is None else change.diff,
        "module": None if change is None else change.after,
    }


def _row(label: str, cells: Sequence[Cell], **more: Any) -> dict[str, Any]:
    return {"label": label, "cells": list(cells), "same": all(cell == cells[0] for cell in cells), **more}


def _weights(plans: Sequence[Plan]) -> Iterator[dict[str, Any]]:
    """A row for each weight of the plans, except weights that are zero in all plans."""
    weights = [plan.weight for plan in plans]
    rows: dict[str, list[tuple[float | None, str]]] = {
        "Indexes": [(each.indexes, str(each.indexes)) for each in weights],
        "Claims": [(each.copies, str(each.copies)) for each in weights],
        "Filtered reads": [(each.filtered, str(each.filtered)) for each in weights],
        "USD a month": [(each.usd_a_month, _usd(each.usd_a_month)) for each in weights],
        "USD per million calls": [(each.usd_per_million, _usd(each.usd_per_million)) for each in weights],
        "Hottest key": [(round(each.heat, 3) if each.hot else None, _hottest(each)) for each in weights],
    }
    for label, pairs in rows.items():
        known = [value for value, _ in pairs if value is not None]
        if any(known):
            cells = [{"text": text, "least": value == min(known)} for value, text in pairs]
            yield {**_row(label, cells), "same": len({value for value, _ in pairs}) == 1}


def _usd(value: float | None) -> str:
    return "" if value is None else f"${value:,.2f}"


def _hottest(weight: Weight) -> str:
    hottest = weight.hottest
    return "" if hottest is None else f"{hottest}: {hottest.share:.0%}"


def _indexes(plans: Sequence[Plan]) -> Iterator[dict[str, Any]]:
    names = dict.fromkeys(index.name for plan in plans for index in plan.indexes)
    for name in names:
        cells: list[Cell] = []
        for plan in plans:
            index = next((index for index in plan.indexes if index.name == name), None)
            if index is None:
                cells.append(None)
                continue
            attributes = ", ".join(f"{each.name} ({each.type})" for each in (*index.partition, *index.sort))
            held = index.projection
            note = "all attributes" if held == "ALL" else "only the keys" if isinstance(held, str) else ", ".join(held)
            new = not any(key.where == name and not key.new for key in plan.keys)
            cells.append({"text": attributes, "note": f"projects {note}", "new": new})
        yield _row(name, cells)


def _keys(plans: Sequence[Plan]) -> Iterator[dict[str, Any]]:
    """A group of rows for each entity, with a row for each key of the plans."""
    cells = [
        {
            key.place: {"text": key.text, "note": key.sentence, "noted": _noted(plan, key.place), "new": key.new}
            for key in plan.keys
        }
        for plan in plans
    ]
    groups: dict[str, list[dict[str, Any]]] = {}
    for place in dict.fromkeys(place for own in cells for place in own):
        entity, _, name = place.partition(".")
        groups.setdefault(entity, []).append(_row(name, [own.get(place) for own in cells]))
    for entity, rows in groups.items():
        yield {"title": entity, "of": "keys", "rows": rows}


def _patterns(plans: Sequence[Plan]) -> Iterator[dict[str, Any]]:
    answers = [{answer.pattern: answer for answer in plan.answers} for plan in plans]
    for name, answer in answers[0].items():
        cells: list[Cell] = []
        for plan, own in zip(plans, answers, strict=True):
            given, place = own[name], f"{plan.design.__name__}.{name}"
            declared = [f"declared with {plan.reworded[place]}"] if place in plan.reworded else []
            note = "; ".join([given.proof, *declared])
            cells.append({"text": f"{given.operation} by {given.key}", "note": note, "noted": _noted(plan, place)})
        yield _row(name, cells, id=answer.id)


def _noted(plan: Plan, place: str) -> list[str]:
    return [note.removeprefix(f"{place}: ") for note in plan.notes if note.startswith(f"{place}: ")]


def _further(plans: Sequence[Plan]) -> Iterator[dict[str, Any]]:
    """A row with the plans' notes that concern neither a key nor a read."""
    shown = [
        {*(f"{plan.design.__name__}.{name}" for name in plan.compiled.reads), *(key.place for key in plan.keys)}
        for plan in plans
    ]
    rest = [
        [note for note in plan.notes if note.partition(": ")[0] not in own]
        for plan, own in zip(plans, shown, strict=True)
    ]
    if any(rest):
        cells: list[Cell] = [{"text": "", "noted": notes} if notes else None for notes in rest]
        yield {"title": "Other notes", "of": "", "rows": [_row("", cells)]}


Tell = Callable[[Mapping[str, Any]], None]

CPU_SECONDS = {"change": 30, "plan": 240}
"""Maximum CPU time of each task."""
MEMORY_BYTES = 4 << 30
"""Maximum address space of the process."""


def main() -> None:
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # redirect the module's output to standard error

    def tell(answer: Mapping[str, Any]) -> None:
        out.write(f"{json_text(answer)}\n".encode())
        out.flush()

    request = json.loads(sys.stdin.readline())
    limit(CPU_SECONDS[request["task"]], MEMORY_BYTES)
    planning = threading.Event()
    threading.Thread(target=_stop_at_end, args=(sys.stdin, planning, tell), daemon=True).start()
    try:
        if request["task"] == "change":
            tell(change_made(_source(request), request["opened"], request["text"]))
            return
        design = read(request)
        if not isinstance(design, type):
            tell({"error": design})
            return
        planning.set()
        tell(answered(design, request, tell))
    except (KeyboardInterrupt, SchemaError) as error:
        if not is_interrupt(error):
            raise
        tell(_STOPPED)
    except BrokenPipeError:  # the studio's process has ended
        os._exit(0)


def limit(cpu_seconds: int, memory_bytes: int) -> None:
    """Limit this process's CPU time and memory. Windows has no such limits, and macOS ignores the memory limit."""
    try:
        import resource  # noqa: PLC0415 - missing on Windows
    except ModuleNotFoundError:
        return
    for name, soft, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1),
        (resource.RLIMIT_AS, memory_bytes, memory_bytes),
    ):
        with suppress(OSError, ValueError):  # a lower limit is already set
            resource.setrlimit(name, (soft, hard))


_STOPPED: Mapping[str, Any] = {
    "error": {"message": "the run was stopped before it returned a result", "hint": None, "line": None, "errors": []}
}


def _stop_at_end(given: TextIO, planning: threading.Event, tell: Tell) -> None:
    given.read()
    if planning.is_set():  # an interrupt makes the planner return the best plans so far
        _thread.interrupt_main()
    else:  # the module's own code could catch an interrupt
        with suppress(OSError):
            tell(_STOPPED)
        os._exit(0)


def _source(request: Mapping[str, Any]) -> Source:
    return Source(Path(request["path"]), request["class_name"], request["package"])


def read(request: Mapping[str, Any]) -> type[Design] | dict[str, Any]:
    with deferred():
        return loaded(_source(request), request["text"])


def answered(design: type[Design], request: Mapping[str, Any], tell: Tell) -> Mapping[str, Any]:
    def report(what: str, done: int, whole: int | None) -> None:
        tell({"progress": {"what": what, "done": done, "whole": whole}})

    try:
        return {"made": _made(design, request, report)}
    except DesignError as error:
        faults = [_fault(fault, request["text"]) for fault in error.errors]
        return {"error": {**error_json(error)["error"], "message": error.message, "hint": error.hint, "errors": faults}}
    except KeyplanError as error:
        return error_json(error)


def _made(
    design: type[Design], request: Mapping[str, Any], report: Callable[[str, int, int | None], None]
) -> dict[str, Any]:
    report("choosing keys", 0, None)
    traffic = _traffic(request["traffic"], design)
    wanted = {name: request[name] for name in ("ignore_existing", "attributes")}
    plans = find_plans(design, traffic, **wanted, progress=report)
    refused: list[tuple[Plan, str]] = []
    if not plans[0].stopped and find_spec("hypothesis") is not None:
        from keyplan.testing.verifying import verified  # noqa: PLC0415 - requires an extra

        outcome = verified(plans, progress=lambda done, whole: report("verifying", done, whole))
        plans, refused = outcome.plans, outcome.refused
    spare = [] if request["ignore_existing"] or any(key.new for key in plans[0].keys) else spare_indexes(design)
    return side_by_side(plans, request["text"], spare=spare, refused=refused)


def _traffic(given: Mapping[str, Any] | None, design: type[Design]) -> Traffic | None:
    """The studio's traffic, without access patterns and entities that the module no longer has."""
    if given is None:
        return None
    compiled = provisional_design(design)
    known = {"patterns": compiled.patterns.keys(), "entities": compiled.by_name.keys()}
    document = {name: {key: value for key, value in given[name].items() if key in known[name]} for name in known}
    return traffic_from({**document, "table": given["table"]}, compiled, source="the studio's traffic")


def _fault(fault: ErrorDetail, text: str) -> dict[str, Any]:
    """An error with the line of its access pattern or class."""
    owner, _, name = (fault.place or "").rpartition(".")
    words = (f"def {name}(", f"class {name}(") if owner else (f"class {name}(",)
    lines = (number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith(words))
    return {"place": fault.place, "message": fault.message, "hint": fault.hint, "line": next(lines, None)}


if __name__ == "__main__":
    main()
