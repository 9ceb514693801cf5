"""Samples the items of the map: a few item collections of each kind, with item counts. Reads up to a few thousand items
of a local table, but only a few hundred items of a remote table, because their reads are billed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keyplan.client.conversations import Request
from keyplan.model.declared.indexes import Index
from keyplan.studio.items import Item
from keyplan.studio.subject import Subject

LOCAL_ITEMS = 4000
SEGMENTS = 8
SEGMENT_ITEMS = 40
"""Items per segment of a remote table: about 40 read units for items of 1 KB."""
ROWS = 7
"""Maximum number of items of an item collection that are shown at first."""
COUNT_PAGES = 8
"""Maximum number of pages (of 1 MB) that are counted in a local table. In a remote table, only one page is counted."""
_ROLES = ("entity", "claim", "none", "prefix")
"""The roles of items, in their order on the map."""
GROUPS = ((4, 3), (10, 2))
"""Pairs: maximum number of kinds of collections, and collections shown of each kind. If there are more kinds, one."""


@dataclass(frozen=True, slots=True)
class Count:
    """A number of items: exact, or a lower bound."""

    items: int
    exact: bool

    def __str__(self) -> str:
        return f"{self.items:,}" if self.exact else f"over {self.items:,}"


@dataclass(frozen=True)
class CollectionPart:
    """The first items of an item collection, in order. ``apart`` has other items; ``count`` is None if unknown."""

    items: Sequence[Item]
    apart: Sequence[Item]
    count: Count | None


@dataclass
class Sample:
    """The items that were read, and the chosen collections. ``complete``: whether the whole table was read."""

    items: list[Item] = field(default_factory=list[Item])
    complete: bool = True
    stretches: list[CollectionPart] = field(default_factory=list[CollectionPart])


def sample(subject: Subject, rows: int = ROWS, each: int | None = None) -> Sample:
    """Read up to ``rows`` items of ``each`` item collections of each kind. Raises DynamoDBError, StoreError."""
    result = Sample()
    _look(subject, result, LOCAL_ITEMS * (each or 1))
    partition = subject.table.partition.name
    by_partition: dict[str, list[Item]] = {}
    for item in result.items:
        by_partition.setdefault(str(item.get(partition)), []).append(item)
    for chosen in _chosen(subject, list(by_partition.values()), each):
        result.stretches.append(stretch(subject, chosen[0][partition], rows, chosen))
    return result


def _look(subject: Subject, result: Sample, most: int) -> None:
    """Read the first items of a local table, or some items of each segment of a remote table."""
    base: dict[str, Any] = {"TableName": subject.table_name}
    if subject.local:
        base["Limit"] = LOCAL_ITEMS
        while len(result.items) < most:
            answer = subject.transport.call("Scan", base)
            result.items += answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return
            base["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        result.complete = False
        return
    base |= {"Limit": SEGMENT_ITEMS, "TotalSegments": SEGMENTS}
    scans = [Request("Scan", {**base, "Segment": number}) for number in range(SEGMENTS)]
    for answer in subject.transport.call_all(scans):
        result.items += answer["Items"]
        result.complete = result.complete and "LastEvaluatedKey" not in answer


def _chosen(subject: Subject, collections: Sequence[list[Item]], each: int | None) -> Iterator[list[Item]]:
    """For each kind, choose the collections with the most kinds of items and the most values in common with others."""
    groups: dict[str, list[list[Item]]] = {}
    for items in collections:
        groups.setdefault(_shape(subject, items[0]), []).append(items)
    each = each or next((number for most, number in GROUPS if len(groups) <= most), 1)
    seen: set[str] = set()
    for shape in sorted(groups, key=lambda text: _rank(subject, groups[text])):
        left = [_Candidate(subject, items) for items in sorted(groups[shape], key=_name)]
        for _ in range(min(each, len(left))):
            best = max(left, key=lambda candidate: candidate.worth(seen))
            left.remove(best)
            seen |= _values(best.items)
            yield best.items


def _shape(subject: Subject, item: Item) -> str:
    """The shape of an item's partition key. Item collections with the same shape are of one kind."""
    kind = subject.kind_of(item)
    if kind.key is None:
        return kind.label.partition(" · ")[0]
    return re.sub(r"\{[^}]*\}", "{}", str(kind.key.partition[0][1]))


def _rank(subject: Subject, group: Sequence[list[Item]]) -> tuple[int, int, str]:
    names = [entity.name for entity in subject.compiled.entities.values()] if subject.compiled is not None else []
    kind = subject.kind_of(group[0][0])
    position = len(names) if kind.entity is None else names.index(kind.entity.name)
    return _ROLES.index(kind.role), position, kind.label


class _Candidate:
    """An item collection that may be shown, its kinds of items, and its strings, which other collections may share."""

    def __init__(self, subject: Subject, items: list[Item]) -> None:
        self.items = items
        self.kinds = {subject.kind_of(item).label for item in items[:200]}
        self.values = _values(items[:50])

    def worth(self, seen: set[str]) -> int:
        """The benefit of showing this item collection in addition to collections with the values ``seen``."""
        return len(self.kinds) * 10 + min(len(self.items), ROWS) + min(len(self.values & seen), 12) * 2


def _values(items: Iterable[Item]) -> set[str]:
    """The strings in items. If two item collections share strings, they are probably related."""
    return {text for item in items for value in item.values() if len(text := str(value.get("S", ""))) > 4}


def _name(items: Sequence[Item]) -> str:
    return str(sorted(items[0].items(), key=lambda pair: pair[0])[:2])


# One collection


def stretch(subject: Subject, partition: Mapping[str, Any], rows: int, known: Sequence[Item] = ()) -> CollectionPart:
    """The first items of an item collection, and an item of each other kind in ``known``. Raises KeyplanError."""
    request = _query(subject, [partition], None)
    answer = subject.transport.call("Query", {**request, "Limit": rows})
    items: list[Item] = answer["Items"]
    labels = {subject.kind_of(item).label for item in items}
    apart: dict[str, Item] = {}
    for element in known:
        label = subject.kind_of(element).label
        if label not in labels:
            apart.setdefault(label, element)
    more = "LastEvaluatedKey" in answer
    total = count(subject, [partition]) if more else Count(len(items), exact=True)
    ordered = sorted(apart.values(), key=lambda item: [str(value) for value in subject.key_of(item).values()])
    return CollectionPart(items, ordered, total)


def counter(subject: Subject, made: Sample) -> Callable[[str, Sequence[Mapping[str, Any]]], Count | None]:
    """A function that counts items by index name (empty: the table) and partition key; None for large remote tables."""
    indexes: dict[str, Index | None] = {"": None, **{index.name: index for index in subject.table.indexes}}
    totals: Counter[tuple[str, str]] = Counter()
    if made.complete:
        for name, index in indexes.items():
            partition, sort = subject.key_attributes(index)
            for item in made.items:
                if all(attribute.name in item for attribute in (*partition, *sort)):
                    totals[name, str([item[attribute.name] for attribute in partition])] += 1

    def counted(name: str, value: Sequence[Mapping[str, Any]]) -> Count | None:
        if made.complete:
            return Count(totals[name, str(list(value))], exact=True)
        return count(subject, value, indexes[name]) if subject.local else None

    return counted


def count(subject: Subject, partition: Sequence[Mapping[str, Any]], index: Index | None = None) -> Count:
    request = {**_query(subject, partition, index), "Select": "COUNT"}
    number, pages = 0, COUNT_PAGES if subject.local else 1
    for _ in range(pages):
        answer = subject.transport.call("Query", request)
        number += answer["Count"]
        if "LastEvaluatedKey" not in answer:
            return Count(number, exact=True)
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
    return Count(number, exact=False)


def _query(subject: Subject, partition: Sequence[Mapping[str, Any]], index: Index | None) -> dict[str, Any]:
    attributes, _ = subject.key_attributes(index)
    return {
        "TableName": subject.table_name,
        **({} if index is None else {"IndexName": index.name}),
        "KeyConditionExpression": " AND ".join(f"#k{number} = :k{number}" for number in range(len(attributes))),
        "ExpressionAttributeNames": {f"#k{number}": each.name for number, each in enumerate(attributes)},
        "ExpressionAttributeValues": {f":k{number}": value for number, value in enumerate(partition)},
    }
