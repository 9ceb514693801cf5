"""The difference of two designs as JSON data and as Markdown for pull requests, and the changes of the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from keyplan.analysis.diff.changes import Change, Severity, breaking, migration, safe
from keyplan.analysis.diff.entity_changes import entity_changes
from keyplan.analysis.diff.pattern_changes import pattern_changes
from keyplan.formatting.markdown import cell, code, markdown_table
from keyplan.model.compiled.compiled_design import CompiledDesign, patterns_of_index
from keyplan.model.declared.indexes import Index, KeyAttribute

HEADINGS = {
    Severity.BREAKING: "breaks deployed data",
    Severity.MIGRATION: "requires a migration",
    Severity.API: "changes the API",
    Severity.SAFE: "safe",
}
_COUNTED = {
    Severity.BREAKING: "breaking",
    Severity.MIGRATION: "needing migration",
    Severity.API: "changing the API",
    Severity.SAFE: "safe",
}


@dataclass(frozen=True)
class Difference:
    """All changes, highest severity first. ``old`` and ``new`` are the designs' names."""

    old: str
    new: str
    changes: tuple[Change, ...]

    def of(self, severity: Severity) -> list[Change]:
        return [change for change in self.changes if change.severity is severity]

    def reaches(self, severity: Severity) -> bool:
        return any(change.severity.rank <= severity.rank for change in self.changes)

    @property
    def summary(self) -> str:
        """The number of changes by severity, such as ``1 breaking, 2 safe``."""
        counts = Counter(change.severity for change in self.changes)
        shown = [f"{counts[severity]} {text}" for severity, text in _COUNTED.items() if counts[severity]]
        return ", ".join(shown) or "no changes"

    def as_json(self) -> dict[str, Any]:
        counts = {severity.value: len(self.of(severity)) for severity in Severity}
        changes = [change.as_json() for change in self.changes]
        return {"old": self.old, "new": self.new, "counts": counts, "changes": changes}

    def markdown(self) -> str:
        lines = [f"### {cell(self.new)}: {self.summary}"]
        if self.changes:
            rows = [
                [
                    each.severity.value,
                    code(each.place),
                    *(cell(text) or "–" for text in (each.what, each.effect, each.action)),
                ]
                for each in self.changes
            ]
            lines += ["", markdown_table(["", "where", "what", "effect", "to do"], rows)]
        return "\n".join(lines) + "\n"


def difference(old: CompiledDesign, new: CompiledDesign) -> Difference:
    changes = [*table_changes(old, new), *entity_changes(old, new), *pattern_changes(old, new)]
    return Difference(old.name, new.name, tuple(sorted(changes, key=lambda change: change.severity.rank)))


NEW_TABLE = "create a table with another name, read each item with the old design and write it with the new design"


def table_changes(old: CompiledDesign, new: CompiledDesign) -> Iterator[Change]:
    place = f"{new.name}.table"
    before, after = old.table, new.table
    if before.name != after.name:
        what = f"the table name was {before.name}, and is now {after.name}"
        effect = "the new design opens another table, which doesn't contain the existing items"
        action = f"pass the old name when you open the design (dynamodb://REGION/{before.name}), or copy the items"
        yield breaking("table-renamed", place, what, effect, action)
    keys = [(table.partition, *([table.sort] if table.sort else [])) for table in (before, after)]
    if keys[0] != keys[1]:
        what = f"the table's primary key was {_attributes(keys[0])}, and is now {_attributes(keys[1])}"
        effect = "the primary key of a table can't be changed"
        yield breaking("table-key-changed", place, what, effect, NEW_TABLE)
    yield from _expiry(place, old.ttl_attribute, new.ttl_attribute)
    yield from _indexes(old, new)


def _expiry(place: str, before: str | None, after: str | None) -> Iterator[Change]:
    if before == after:
        return
    if before is None:
        what = f"time to live is now declared on the attribute {after}"
        effect = "existing items that lack the attribute don't expire"
        action = "run keyplan create to enable time to live"
        yield safe("expiry-added", place, what, effect, action)
    elif after is None:
        what = f"time to live is no longer declared on the attribute {before}"
        effect = "existing items with the attribute still expire while time to live is enabled"
        action = "disable time to live with UpdateTimeToLive"
        yield migration("expiry-removed", place, what, effect, action)
    else:
        what = f"the time to live attribute was {before}, and is now {after}"
        effect = f"existing items have only {before}, so they never expire"
        action = f"disable time to live, enable it for {after} an hour later, and write {after} to existing items"
        yield migration("expiry-changed", place, what, effect, action)


def _indexes(old: CompiledDesign, new: CompiledDesign) -> Iterator[Change]:
    before = {element.name: element for element in old.table.indexes}
    after = {element.name: element for element in new.table.indexes}
    served = patterns_of_index(old)
    for name, index in before.items():
        place = f"{new.name}.{name}"
        if name not in after:
            patterns = ", ".join(served[name])
            severity = Severity.BREAKING if index.local else Severity.SAFE
            what = f"the {_kind(index)} is removed"
            effect = f"old code queries the index for {patterns}" if patterns else "no access pattern used the index"
            action = "delete the index after the new code is deployed everywhere; until then, index writes are billed"
            action = NEW_TABLE if index.local else action
            yield Change(severity, "index-removed", place, what, effect, action)
        elif _schema(index) != _schema(after[name]):
            yield _altered(place, index, after[name])
    for name, index in after.items():
        if name not in before:
            yield _added(f"{new.name}.{name}", index)


def _added(place: str, index: Index) -> Change:
    attributes = _attributes((*index.partition, *index.sort))
    if index.local:
        effect = "a local index can only be created with its table"
        action = f"declare a global index instead, or {NEW_TABLE}"
        return breaking("index-added", place, f"a new local index on {attributes}", effect, action)
    what = f"a new global index on {attributes}"
    effect = "reads of the index fail until it's ACTIVE; DynamoDB adds the existing items that have its key attributes"
    action = "run keyplan create to add the index, and deploy the new code when the index is ACTIVE"
    return migration("index-added", place, what, effect, action)


def _altered(place: str, before: Index, after: Index) -> Change:
    parts: list[str] = []
    if before.local is not after.local:
        parts.append(f"the index was a {_kind(before)}, and is now a {_kind(after)}")
    if (before.partition, before.sort) != (after.partition, after.sort):
        keys = [_attributes((*index.partition, *index.sort)) for index in (before, after)]
        parts.append(f"the index key was {keys[0]}, and is now {keys[1]}")
    if before.projection != after.projection:
        parts.append(f"the index projected {_projection(before)}, and now projects {_projection(after)}")
    action = NEW_TABLE
    if not before.local and not after.local:
        action = "create an index with another name, and delete the old index when no access pattern uses it"
    effect = "the type, the key and the projection of an existing index can't be changed"
    return breaking("index-changed", place, "; ".join(parts), effect, action)


def _schema(index: Index) -> tuple[object, ...]:
    projected = frozenset(index.projection) if isinstance(index.projection, tuple) else index.projection
    return index.partition, index.sort, projected, index.local


def _kind(index: Index) -> str:
    return "local index" if index.local else "global index"


def _projection(index: Index) -> str:
    if isinstance(index.projection, tuple):
        return f"the keys and {', '.join(index.projection)}"
    return "all attributes" if index.projection == "ALL" else "only the keys"


def _attributes(attributes: Sequence[KeyAttribute]) -> str:
    return ", ".join(f"{attribute.name} ({attribute.type})" for attribute in attributes)
