"""SearchVectors: find the items nearest to a vector. All vectors that match the condition are compared."""

from __future__ import annotations

import heapq
import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keyplan.dynamodb.expressions import BoundProjection, ExpressionFault, Placeholders, parse_condition, tree
from keyplan.dynamodb.limits import SEARCH_BYTES_MAX, SEARCH_RESULTS_MAX
from keyplan.dynamodb.service_errors import ValidationException
from keyplan.dynamodb.values import ValueFault, check_item, item_size, key_text
from keyplan.store.database import Database
from keyplan.store.items.stored_items import decode
from keyplan.store.requests.request_expressions import Answer, Request, placeholders, projection_of, wants_capacity
from keyplan.store.state_delays import check_searchable
from keyplan.store.storage.key_layouts import KeyText
from keyplan.store.storage.sqlite import Storage
from keyplan.store.storage.storage_transactions import Reader
from keyplan.store.storage.vector_rows import Candidate
from keyplan.store.tables.table import Table, VectorIndex
from keyplan.store.vectors import Scale, shown_of, vector_of
from keyplan.store.work_budget import UNKNOWN_BYTES, spend

_CONDITION = "SearchConditionExpression"
_NO_VECTOR = (
    "Search vector contains invalid values. "
    "All values in the search vector must be a 32-bit floating-point number attribute"
)
_EXAMINED_BY_STEP = 16
_BILLED_BYTES_MIN = 1024.0
_SPARE = 64
"""Additional candidates, so that keys order equally near items."""


Wanted = list[tuple[int, KeyText]]
Scored = tuple[float, Candidate]
Item = dict[str, Any]


def search_vectors(database: Database, request: Request) -> Answer:
    components = _components(request)
    given = placeholders(request, (_CONDITION,), "ProjectionExpression") or Placeholders(None, None)
    condition = _parsed(request)
    projection = projection_of(request, given)
    try:
        terms = _terms(condition, given)
    except ExpressionFault as fault:
        raise ExpressionFault(f"Invalid {_CONDITION}: {fault.message}") from None
    given.check_unused()
    count: int = request["TopK"]
    if count > SEARCH_RESULTS_MAX:
        raise ValidationException(
            f"Provided TopK value '{count}' is out of valid range. "
            f"The value must be between 1 and {SEARCH_RESULTS_MAX} inclusive"
        )
    table = database.table(request["TableName"])
    index = _index(table, request["IndexName"])
    database.check_index(table, index.name, check_searchable)
    wanted = _wanted(index, terms)
    target = vector_of(components)
    if target is None:
        raise ValidationException(_NO_VECTOR)
    if len(components) != index.dimensions:
        raise ValidationException(
            f"Input search vector dimension {len(components)} does not match vector index dimension {index.dimensions}"
        )
    scale = Scale(index.function, target)
    spend(UNKNOWN_BYTES)
    result = _nearest(database.storage, table, index, wanted, scale, target, count)
    results, returned_bytes = _results(index, result, projection)
    answer: Answer = {"SearchResults": results}
    if wants_capacity(request) is not None:
        entries = database.counts.vectors(table, index.number)
        read_bytes = _examined(index, entries, count) + returned_bytes
        answer["ConsumedCapacity"] = {"VectorSearchRequestBytes": max(_BILLED_BYTES_MIN, read_bytes)}
    return answer


def _components(request: Request) -> list[Mapping[str, Any]]:
    try:
        components: list[Mapping[str, Any]] = check_item({"SearchVector": {"L": request["SearchVector"]}})[
            "SearchVector"
        ]["L"]
    except ValueFault as fault:
        if any("N" in component for component in request["SearchVector"]):
            raise ValidationException(_NO_VECTOR) from fault
        raise
    return components


def _parsed(request: Request) -> tree.Condition | None:
    text = request.get(_CONDITION)
    if text is None:
        return None
    try:
        return parse_condition(text)
    except ExpressionFault as fault:
        raise ExpressionFault(f"Invalid {_CONDITION}: {fault.message}") from None


def _terms(condition: tree.Condition | None, given: Placeholders) -> dict[str, Mapping[str, Any]]:
    """The attributes and values of a condition. Raises ValidationException."""
    terms: dict[str, Mapping[str, Any]] = {}
    for term in reversed(tree.joined(tree.And, condition)):
        match term:
            case tree.Compare("=", tree.Path((str(part),)), tree.Value(value)) | tree.Compare(
                "=", tree.Value(value), tree.Path((str(part),))
            ):
                name = given.name(part)
                if name in terms:
                    raise ExpressionFault(f"{_CONDITION} must only contain one condition per attribute")
                terms[name] = given.value(value)
            case tree.Compare("=", tree.Path(), tree.Value()) | tree.Compare("=", tree.Value(), tree.Path()):
                raise ExpressionFault(f"{_CONDITION} cannot have conditions on nested attributes")
            case _:
                raise ExpressionFault(f"Invalid comparator used in {_CONDITION}")
    return terms


def _index(table: Table, name: str) -> VectorIndex:
    for index in table.vector_indexes:
        if index.name == name:
            return index
    raise ValidationException(f"The table does not have the specified index: {name}")


def _wanted(index: VectorIndex, terms: Mapping[str, Mapping[str, Any]]) -> Wanted:
    numbers = {attribute.name: number for number, attribute in enumerate(index.schema)}
    for name in terms:
        if name not in numbers:
            raise ValidationException(
                f"{_CONDITION} must not contain any attributes that is not in SearchSchema. Invalid attribute: {name}"
            )
    if index.has_hash and index.schema[0].name not in terms:
        raise ValidationException(f"{_CONDITION} must be provided when SearchSchema has a HASH key")
    wanted: Wanted = []
    for name, value in terms.items():
        number = numbers[name]
        attribute = index.schema[number]
        if attribute.type not in value:
            raise ValidationException(
                f"Type of '{name}' attribute in {_CONDITION} ({next(iter(value))}) "
                f"does not match type in search schema ({attribute.type})"
            )
        if index.has_hash and not number and not value[attribute.type]:
            kind = "binary" if attribute.type == "B" else "string"
            raise ValidationException(
                "One or more parameter values are not valid. "
                f"The AttributeValue for a key attribute cannot contain an empty {kind} value. Key: {name}"
            )
        wanted.append((number, key_text(dict(value))))
    return wanted


def _nearest(
    storage: Storage, table: Table, index: VectorIndex, wanted: Wanted, scale: Scale, target: bytes, count: int
) -> list[tuple[float, bytes, bytes]]:
    """The score, vector and JSON of the nearest items, nearest first; equally near ones by key."""
    where = (table.stored.layout.id, index.number, wanted)
    limit = count + _SPARE

    def work(reader: Reader) -> list[tuple[float, bytes, bytes]]:
        candidates = reader.vectors.nearest(*where, (target, index.function), limit)
        chosen = _chosen(candidates or reader.vectors.candidates(*where), scale, limit)
        scores = {candidate.row: (score, candidate.vector) for score, candidate in chosen}
        if not scores:
            return []
        items = sorted(
            reader.vectors.items(table.stored, list(scores)),
            key=lambda item: (scale.order(scores[item[0]][0]), *map(_sortable, item[1:3])),
        )
        return [(*scores[row], body) for row, _, _, body in items[:count]]

    return storage.read(work)


def _chosen(candidates: Iterable[Candidate], scale: Scale, limit: int) -> list[Scored]:
    scored = ((scale.score(candidate.vector), candidate) for candidate in candidates)
    return heapq.nsmallest(limit, scored, key=lambda each: scale.order(each[0]))


def _sortable(text: KeyText) -> bytes:
    return text if isinstance(text, bytes) else str(text).encode()


def _results(
    index: VectorIndex, result: Sequence[tuple[float, bytes, bytes]], projection: BoundProjection | None
) -> tuple[list[Answer], int]:
    """The results that fit in a response, and the size of their items."""
    results: list[Answer] = []
    size_bytes = 0
    for score, vector, body in result:
        item: Item = shown_of(index, decode(body))
        if projection is not None:
            if index.attribute in projection.attributes:
                item[index.attribute] = {
                    "L": [{"N": _shortest(single)} for (single,) in struct.iter_unpack("<f", vector)]
                }
            item = projection.project(item)
        size_bytes += item_size(item)
        if size_bytes > SEARCH_BYTES_MAX:
            break
        results.append({"Item": item, "Score": score})
    return results, size_bytes


def _shortest(single: float) -> str:
    texts = (f"{single:.{digits}g}" for digits in range(1, 10))
    packed = struct.pack("<f", single)
    return repr(next(float(text) for text in texts if struct.pack("<f", float(text)) == packed))


def _examined(index: VectorIndex, entries: int, count: int) -> float:
    """The bytes that a search examines: AWS states only that they grow with the logarithm of the index size."""
    examined = min(entries, count + int(_EXAMINED_BY_STEP * math.log2(entries + 1)))
    return float(examined * index.dimensions * 4)
