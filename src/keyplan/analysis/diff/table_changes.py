"""Changes of the table and of its indexes.

Sources: "UpdateTable" and "UpdateTimeToLive" in DynamoDB's API reference: a table's key schema, a local index, and an
index's key schema and projection are fixed when they are made; one global index is added or removed at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keyplan.analysis.diff.changes import Change, Severity
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.key_usage import patterns_of_index
from keyplan.model.declared.indexes import Index, KeyAttribute

__all__ = ["table_changes"]


def table_changes(old: CompiledDesign, new: CompiledDesign) -> Iterator[Change]:
    """What is different in the table itself, its expiry and its indexes."""
    place = f"{new.name}.table"
    before, after = old.table, new.table
    if before.name != after.name:
        yield Change(
            Severity.BREAKING,
            "table-renamed",
            place,
            f"its name was {before.name}, and is {after.name}",
            "the design opens another table, which doesn't hold the items",
            f"copy them, or go on naming the old one where the design is opened: dynamodb://REGION/{before.name}",
        )
    keys = [(table.partition, *([table.sort] if table.sort else [])) for table in (before, after)]
    if keys[0] != keys[1]:
        yield Change(
            Severity.BREAKING,
            "table-key-changed",
            place,
            f"its key was {_attributes(keys[0])}, and is {_attributes(keys[1])}",
            "a table's key attributes are fixed when it is made",
            "make a new table, and copy every item under its new key",
        )
    yield from _expiry(place, old.ttl_attribute, new.ttl_attribute)
    yield from _indexes(old, new)


def _expiry(place: str, before: str | None, after: str | None) -> Iterator[Change]:
    if before == after:
        return
    if before is None:
        yield Change(
            Severity.SAFE,
            "expiry-added",
            place,
            f"items expire by {after}",
            "items written before have no such attribute, and stay",
            "switch expiry on: keyplan create does it",
        )
    elif after is None:
        yield Change(
            Severity.MIGRATION,
            "expiry-removed",
            place,
            f"items no longer expire by {before}",
            "those that have it go on expiring while the table's setting is on",
            "switch expiry off with UpdateTimeToLive",
        )
    else:
        yield Change(
            Severity.MIGRATION,
            "expiry-changed",
            place,
            f"items expired by {before}, and expire by {after}",
            f"items written before have {before} only, and stay for ever",
            f"switch expiry off, and an hour later on by {after}; write {after} into the items",
        )


def _indexes(old: CompiledDesign, new: CompiledDesign) -> Iterator[Change]:
    before = {element.name: element for element in old.table.indexes}
    after = {element.name: element for element in new.table.indexes}
    served = patterns_of_index(old)
    for name, index in before.items():
        place = f"{new.name}.{name}"
        if name not in after:
            patterns = ", ".join(served[name])
            yield Change(
                Severity.BREAKING if index.local else Severity.SAFE,
                "index-removed",
                place,
                f"the {_kind(index)} is gone",
                f"code of before asks it for {patterns}" if patterns else "no pattern used it",
                "make a new table without it, and copy the items"
                if index.local
                else "deploy the new code everywhere, then delete the index: until then it costs a write each time",
            )
        elif _schema(index) != _schema(after[name]):
            yield _altered(place, index, after[name])
    for name, index in after.items():
        if name not in before:
            yield _added(f"{new.name}.{name}", index)


def _added(place: str, index: Index) -> Change:
    if index.local:
        return Change(
            Severity.BREAKING,
            "index-added",
            place,
            f"a local index on {_attributes((*index.partition, *index.sort))}",
            "a local index can only be made with its table",
            "make a new table, and copy the items; or make it a global index",
        )
    return Change(
        Severity.MIGRATION,
        "index-added",
        place,
        f"a global index on {_attributes((*index.partition, *index.sort))}",
        "patterns that it serves fail until it is there; DynamoDB fills it with the items that have its key attributes",
        "keyplan create adds it; deploy the code when it is ACTIVE",
    )


def _altered(place: str, before: Index, after: Index) -> Change:
    parts: list[str] = []
    if before.local is not after.local:
        parts.append(f"it was a {_kind(before)}, and is a {_kind(after)}")
    if (before.partition, before.sort) != (after.partition, after.sort):
        keys = [_attributes((*index.partition, *index.sort)) for index in (before, after)]
        parts.append(f"its key was {keys[0]}, and is {keys[1]}")
    if before.projection != after.projection:
        parts.append(f"it held {_projection(before)}, and holds {_projection(after)}")
    if before.local or after.local:
        action = "make a new table, and copy the items"
    else:
        action = "declare the new one under another name, add it, move the patterns, then delete this one"
    effect = "an index's key and projection are fixed when it is made"
    return Change(Severity.BREAKING, "index-changed", place, "; ".join(parts), effect, action)


def _schema(index: Index) -> tuple[object, ...]:
    held = frozenset(index.projection) if isinstance(index.projection, tuple) else index.projection
    return index.partition, index.sort, held, index.local


def _kind(index: Index) -> str:
    return "local index" if index.local else "global index"


def _projection(index: Index) -> str:
    if isinstance(index.projection, tuple):
        return f"the keys and {', '.join(index.projection)}"
    return "everything" if index.projection == "ALL" else "the keys only"


def _attributes(attributes: Sequence[KeyAttribute]) -> str:
    return ", ".join(f"{attribute.name} ({attribute.type})" for attribute in attributes)
