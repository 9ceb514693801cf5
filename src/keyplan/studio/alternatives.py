"""Plans side by side, as the page shows them: a row for each thing that can differ, a cell for each plan.

``module_process.py`` computes the plans, ``module_runs.py`` runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from keyplan.errors import UnknownDesign
from keyplan.planner import Plan, PlannedKey, rewritten

__all__ = ["side_by_side"]

Cell = Mapping[str, Any] | None


def side_by_side(
    plans: Sequence[Plan], text: str, *, spare: Sequence[str] = (), refused: Sequence[tuple[Plan, str]] = ()
) -> dict[str, Any]:
    """Plans as columns. ``text``: the module that they are for. ``spare``: the indexes that no access pattern needs.
    ``refused``: plans that gave a wrong result, each with it.

    A cell has its text, a line below it (``note``), the plan's notes about it (``noted``), and whether the design lacks
    it (``new``); it is None if a plan lacks it. A row has whether it is the ``same`` in all plans.
    """
    return {
        "plans": [_head(number, plan, text) for number, plan in enumerate(plans, 1)],
        "groups": [
            {"title": "What it weighs", "of": "", "rows": list(_weights(plans))},
            {"title": "Indexes", "of": "", "rows": list(_indexes(plans))},
            *_keys(plans),
            {"title": "Access patterns", "of": "questions", "rows": list(_patterns(plans))},
            *_further(plans),
        ],
        "spare": list(spare),
        "refused": [answer for _, answer in refused],
    }


def _head(number: int, plan: Plan, text: str) -> dict[str, Any]:
    """The head of a plan's column, and its change of the module."""
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
    """What plans weigh; no row for what is nothing in all of them."""

    def row(label: str, value: Callable[[Plan], float | None], shown: Callable[[Plan], str]) -> dict[str, Any] | None:
        values = [value(plan) for plan in plans]
        known = [each for each in values if each is not None]
        if not any(known):
            return None
        cells = [{"text": shown(plan), "least": each == min(known)} for plan, each in zip(plans, values, strict=True)]
        return {**_row(label, cells), "same": len(set(values)) == 1}

    rows = [
        row("Indexes", lambda plan: plan.weight.indexes, lambda plan: str(plan.weight.indexes)),
        row("Claims", lambda plan: plan.weight.copies, lambda plan: str(plan.weight.copies)),
        row("Filtered reads", lambda plan: plan.weight.filtered, lambda plan: str(plan.weight.filtered)),
        row("USD a month", lambda plan: plan.weight.usd_a_month, lambda plan: _usd(plan.weight.usd_a_month)),
        row("USD a million calls", lambda plan: plan.weight.usd_per_million, lambda p: _usd(p.weight.usd_per_million)),
        row("Hottest key", lambda plan: round(plan.weight.heat, 3) if plan.weight.hot else None, _hottest),
    ]
    yield from (made for made in rows if made is not None)


def _usd(value: float | None) -> str:
    return "" if value is None else f"${value:,.2f}"


def _hottest(plan: Plan) -> str:
    hottest = plan.weight.hottest
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
            note = "all attributes" if held == "ALL" else "the keys alone" if isinstance(held, str) else ", ".join(held)
            new = not any(key.where == name and not key.new for key in plan.keys)
            cells.append({"text": attributes, "note": f"holds {note}", "new": new})
        yield _row(name, cells)


def _keys(plans: Sequence[Plan]) -> Iterator[dict[str, Any]]:
    """A group for each entity, a row for each key that any plan gives it."""
    both = [(plan, {key.place: key for key in plan.keys}) for plan in plans]
    places = dict.fromkeys(key.place for plan in plans for key in plan.keys)
    entities = dict.fromkeys(place.partition(".")[0] for place in places)
    for entity in entities:
        own = [place for place in places if place.partition(".")[0] == entity]
        rows = [
            _row(place.partition(".")[2], [_key(plan, keys[place]) if place in keys else None for plan, keys in both])
            for place in own
        ]
        yield {"title": entity, "of": "keys", "rows": rows}


def _key(plan: Plan, key: PlannedKey) -> Cell:
    return {"text": key.text, "note": key.sentence, "noted": _noted(plan, key.place), "new": key.new}


def _patterns(plans: Sequence[Plan]) -> Iterator[dict[str, Any]]:
    answers = [{answer.question: answer for answer in plan.answers} for plan in plans]
    for name, answer in answers[0].items():
        cells: list[Cell] = []
        for plan, own in zip(plans, answers, strict=True):
            given, place = own[name], f"{plan.design.__name__}.{name}"
            declared = [f"declared with {plan.reworded[place]}"] if place in plan.reworded else []
            note = "; ".join([given.proof, *declared])
            cells.append({"text": f"{given.operation} by {given.key}", "note": note, "noted": _noted(plan, place)})
        yield _row(name, cells, id=answer.id)


def _noted(plan: Plan, place: str) -> list[str]:
    """What a plan notes about a key, or an access pattern."""
    return [note.removeprefix(f"{place}: ") for note in plan.notes if note.startswith(f"{place}: ")]


def _further(plans: Sequence[Plan]) -> Iterator[dict[str, Any]]:
    """The notes that are about neither a key nor a read."""
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
