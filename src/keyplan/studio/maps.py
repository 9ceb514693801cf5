"""The map for the page, with the drawing, the items of its rows, and the highlighted access pattern."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from keyplan.analysis.explain.wording import key_condition
from keyplan.client.conversations import Request
from keyplan.errors import Refused
from keyplan.formatting.results import error_json
from keyplan.model.compiled.compiled_design import WritePattern
from keyplan.studio.collections import Picture, collection_id, picture, template_picture
from keyplan.studio.drawing import colour_of, picture_json
from keyplan.studio.items import Item, attribute_text
from keyplan.studio.paths import Path, Step, example_arguments, read_path, write_path
from keyplan.studio.sampling import ROWS, CollectionPart, Sample, counter, sample, stretch
from keyplan.studio.subject import Subject

ITEMS_MAX = 200
"""Maximum number of items of one response that are sent to the page."""
LIT_ROWS = 14
"""Maximum number of items of a result that are added to the map."""
TRIES = 6
"""Maximum number of example calls until one finds several items. In a remote store, only one call is sent."""
SEARCH_PAGES = 20
"""Maximum number of pages (of 1 MB) that a search for partition keys reads."""
FOUND_MAX = 20
FOUND_ENOUGH = 2
"""If an example call finds more items than this, no other example is tried."""


def map_json(
    subject: Subject,
    question: str | None = None,
    arguments: Mapping[str, Any] | None = None,
    *,
    rows: int = ROWS,
    each: int | None = None,
    partition: Mapping[str, Any] | None = None,
    seen: dict[str, Item] | None = None,
) -> dict[str, Any]:
    """The map of items, with the path of the access pattern ``question``, and the item collection of ``partition``."""
    made = sample(subject, rows, each)
    name = subject.table.partition.name
    if partition is not None and all(partition != part.items[0][name] for part in made.stretches):
        added = stretch(subject, partition, rows)
        made.stretches += [added] if added.items else []
    path = Path({}) if question is None else question_path(subject, question, arguments, made)
    drawn = lit_picture(subject, made, path)
    if question is not None:
        drawn.name = f"{drawn.name}: {question}"
    if seen is not None:
        seen.update(drawn.items)
    more = {"path": None if question is None else path_json(subject, question, path)}
    return {**_drawn_json(drawn), "looked_at": len(made.items), "complete": made.complete, **more}


def templates_json(subject: Subject) -> dict[str, Any]:
    """The map of a design's key templates. The member ``empty`` is true if the table has no items."""
    if subject.compiled is None:
        raise Refused("this table was opened without a design", hint="show items instead of templates")
    empty = not subject.transport.call("Scan", {"TableName": subject.table_name, "Limit": 1})["Items"]
    return {**_drawn_json(template_picture(subject.name, subject.compiled)), "empty": empty, "path": None}


def _drawn_json(drawn: Picture) -> dict[str, Any]:
    return {
        **picture_json(drawn),
        "symbolic": drawn.symbolic,
        "collections": [
            {"id": collection.id, "title": "".join(piece.text for piece in collection.partition), "place": place.index}
            for place in drawn.places
            for collection in place.collections
        ],
    }


def partitions_json(subject: Subject, text: str) -> list[dict[str, Any]]:
    name = subject.table.partition.name
    found: dict[str, dict[str, Any]] = {}
    start: dict[str, Any] = {}
    for _ in range(SEARCH_PAGES if subject.local and text else 0):
        request = {
            "TableName": subject.table_name,
            "ProjectionExpression": "#p",
            "FilterExpression": "contains(#p, :t)",
            "ExpressionAttributeNames": {"#p": name},
            "ExpressionAttributeValues": {":t": {"S": text}},
        }
        answer = subject.transport.call("Scan", {**request, **start})
        for item in answer["Items"]:
            value = dict(item[name])
            found.setdefault(collection_id(value), {"title": attribute_text(value), "value": value})
        if "LastEvaluatedKey" not in answer or len(found) >= FOUND_MAX:
            break
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    return [{"id": name, **value} for name, value in list(found.items())[:FOUND_MAX]]


def path_json(subject: Subject, question: str, path: Path) -> dict[str, Any]:
    return {
        "question": question,
        "arguments": path.arguments,
        "steps": [_step_json(subject, step) for step in path.steps],
        "answer": path.answer,
        "error": None if path.error is None else error_json(path.error)["error"],
        "cut": path.cut,
        "milliseconds": path.milliseconds,
    }


def _step_json(subject: Subject, step: Step) -> dict[str, Any]:
    return {
        **step.as_json(),
        "condition": _condition(step),
        "index": step.parameters.get("IndexName"),
        "items": [_found_json(subject, item) for item in step.items[:ITEMS_MAX]],
        "touched": [{**_found_json(subject, element), "mark": mark} for mark, element in step.touched],
    }


def _found_json(subject: Subject, item: Item) -> dict[str, Any]:
    kind = subject.kind_of(item)
    return {"id": subject.identity_of(item), "kind": kind.label, "colour": colour_of(subject, kind), "item": item}


def question_path(subject: Subject, question: str, arguments: Mapping[str, Any] | None, made: Sample) -> Path:
    """Call an access pattern with the given arguments, or with arguments that find items. A write is a dry run."""
    design = subject.design
    if design is None:
        return Path({})
    pattern = design.compiled.pattern(question)
    if isinstance(pattern, WritePattern):
        return Path({}) if arguments is None else write_path(design, question, arguments, send=False)
    if arguments is not None:
        return read_path(design, pattern, arguments)
    shown = [item for part in made.stretches for item in part.items]
    best = Path({})
    examples = example_arguments(design.compiled, pattern, [*shown, *made.items])
    for element in islice(examples, TRIES if subject.local else 1):
        path = read_path(design, pattern, element)
        if not best.steps or (path.error is None and _found(path) > _found(best)):
            best = path
        if _found(best) > FOUND_ENOUGH:
            break
    return best


def _found(path: Path) -> int:
    return sum(len(step.items) for step in path.steps)


def lit_picture(subject: Subject, made: Sample, path: Path) -> Picture:
    design = subject.compiled
    if not made.stretches and design is not None and not path.steps:
        return template_picture(subject.name, design)
    stretches = _with(subject, made.stretches, _path_items(path))
    focus = {subject.identity_of(item) for item in _path_items(path)}
    drawn = picture(subject.name, subject.table, design, stretches, focus=focus)
    counts = counter(subject, made)
    for place in drawn.places:
        for collection in place.collections:
            if collection.count is None and collection.partition_value:
                collection.count = counts(place.index, collection.partition_value)
    _light(subject, drawn, path)
    return drawn


def _path_items(path: Path) -> list[Item]:
    result = [item for step in path.steps for item in step.items]
    return result[:LIT_ROWS] + [item for step in path.steps for _, item in step.touched][:LIT_ROWS]


def _with(subject: Subject, stretches: Sequence[CollectionPart], items: Iterable[Item]) -> list[CollectionPart]:
    partition = subject.table.partition.name
    result = {str(part.items[0][partition]): part for part in stretches if part.items}
    for item in items:
        held = result.get(str(item[partition]))
        if held is None:
            result[str(item[partition])] = CollectionPart([item], [], None)
        elif all(subject.key_of(item) != subject.key_of(each) for each in (*held.items, *held.apart)):
            result[str(item[partition])] = replace(held, apart=[*held.apart, item])
    return list(result.values())


# Highlighting


def _light(subject: Subject, drawn: Picture, path: Path) -> None:
    """Number the items of a result, mark the items that a write would change, and add the key conditions."""
    collections = [collection for place in drawn.places for collection in place.collections]
    entries = {entry.id: (each, at) for each in collections for at, entry in enumerate(each.entries)}
    number = 0
    for step in path.steps:
        index = subject.index(step.parameters.get("IndexName"))
        place = "t" if index is None else f"x{subject.table.indexes.index(index)}"
        condition = _condition(step)
        for item in step.items:
            number += 1
            collection, at = entries.get(f"{place}-{subject.identity_of(item)}", (None, 0))
            if collection is not None:
                if step.operation == "BatchGetItem":  # each item has its own key
                    condition = key_condition(Request("GetItem", {"Key": subject.key_of(item)}))
                collection.condition = condition
                entry = collection.entries[at]
                collection.entries[at] = replace(entry, badge=entry.badge or number)
        for mark, item in step.touched:
            collection, at = entries.get(f"t-{subject.identity_of(item)}", (None, 0))
            if collection is not None:
                collection.entries[at] = replace(collection.entries[at], mark=mark)


def _condition(step: Step) -> str:
    if step.operation in {"Query", "GetItem", "BatchGetItem"}:
        return key_condition(Request(step.operation, step.parameters))
    return "reads all entries" if step.operation == "Scan" else ""
