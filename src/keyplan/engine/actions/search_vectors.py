"""SearchVectors."""

from __future__ import annotations

import heapq
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from keyplan.engine.database import Database
from keyplan.engine.effort import UNKNOWN_BYTES, spend
from keyplan.engine.items import decode
from keyplan.engine.requests import Answer, Request, placeholders, projection_of, wants_capacity
from keyplan.engine.storage.layouts import KeyText
from keyplan.engine.storage.transactions import Reader
from keyplan.engine.storage.vectors import Candidate
from keyplan.engine.tables import Table, VectorIndex
from keyplan.engine.vectors import Scale, shown_of, vector_of
from keyplan.expressions import BoundProjection, ExpressionFault, Placeholders, parse_condition, tree
from keyplan.values import check_item, item_size, key_text
from keyplan.wire.errors import ValidationException, one_or_more
from keyplan.wire.limits import SEARCH_BYTES_MAX, SEARCH_RESULTS_MAX

_CONDITION = "SearchConditionExpression"
_EXAMINED_BY_STEP = 16
_SPARE = 64
"""Candidates more than are wanted, so that those equally near are told apart by their keys."""

Wanted = list[tuple[int, KeyText]]
Item = dict[str, Any]


def search_vectors(database: Database, request: Request) -> Answer:
    """The items whose vectors are nearest to one. Every vector that fulfils the condition is compared."""
    components = check_item({"SearchVector": {"L": request["SearchVector"]}})["SearchVector"]["L"]
    given = placeholders(request, (_CONDITION,), "ProjectionExpression") or Placeholders(None, None)
    condition = _parsed(request)
    projection = projection_of(request, given)
    terms = _terms(condition, given)
    given.check_unused()
    count: int = request["TopK"]
    if count > SEARCH_RESULTS_MAX:
        raise ValidationException(
            f"Provided TopK value '{count}' is out of valid range. "
            f"The value must be between 1 and {SEARCH_RESULTS_MAX} inclusive"
        )
    table = database.table(request["TableName"])
    index = _index(table, request["IndexName"])
    wanted = _wanted(index, terms)
    if len(components) != index.dimensions:
        raise ValidationException(
            f"Input search vector dimension {len(components)} does not match vector index dimension {index.dimensions}"
        )
    target = vector_of(components)
    if target is None:
        raise ValidationException(
            "Search vector contains invalid values. "
            "All values in the search vector must be a 32-bit floating-point number attribute"
        )
    missing = sorted(projection.attributes - index.projected - {index.attribute}) if projection else []
    if missing and index.projected:
        raise one_or_more(f"Vector index {index.name} does not project [{', '.join(missing)}]")
    scale = Scale(index.function, target)
    spend(UNKNOWN_BYTES)
    result = database.storage.read(lambda reader: _nearest(reader, table, index, wanted, scale, target, count))
    results, returned_bytes = _results(index, result, projection)
    answer: Answer = {"SearchResults": results}
    if wants_capacity(request) is not None:
        entries = database.counts.vectors(table, index.number)
        answer["ConsumedCapacity"] = {"VectorSearchRequestBytes": _examined(index, entries, count) + returned_bytes}
    return answer


def _parsed(request: Request) -> tree.Condition | None:
    text = request.get(_CONDITION)
    if text is None:
        return None
    try:
        return parse_condition(text)
    except ExpressionFault as fault:
        raise ExpressionFault(f"Invalid {_CONDITION}: {fault.message}") from None


def _terms(condition: tree.Condition | None, given: Placeholders) -> dict[str, Mapping[str, Any]]:
    """The attributes and their values that a condition asks for.

    Raises:
        ValidationException: it is something else than equalities of attributes, joined by AND.
    """
    terms: dict[str, Mapping[str, Any]] = {}
    stack = [] if condition is None else [condition]
    while stack:
        match stack.pop():
            case tree.And(inner):
                stack.extend(inner)
            case tree.Compare("=", tree.Path((str(part),)), tree.Value(name)):
                terms[given.name(part)] = given.value(name)
            case tree.Compare("=", tree.Value(name), tree.Path((str(part),))):
                terms[given.name(part)] = given.value(name)
            case _:
                raise ExpressionFault(f"Invalid {_CONDITION}: Invalid comparator used in {_CONDITION}")
    return terms


def _index(table: Table, name: str) -> VectorIndex:
    for index in table.vector_indexes:
        if index.name == name:
            return index
    raise ValidationException(f"The table does not have the specified index: {name}")


def _wanted(index: VectorIndex, terms: Mapping[str, Mapping[str, Any]]) -> Wanted:
    """The texts to look for, each with its number."""
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
        if index.schema[number].type not in value:
            raise one_or_more("Condition parameter type does not match schema type")
        wanted.append((number, key_text(dict(value))))
    return wanted


def _nearest(
    reader: Reader, table: Table, index: VectorIndex, wanted: Wanted, scale: Scale, target: bytes, count: int
) -> list[tuple[float, bytes, bytes]]:
    """The score, the vector and the JSON of the nearest items, the nearest first; those as near by their keys."""
    where = (table.stored.layout.id, index.number, wanted)
    candidates = reader.vectors.nearest(*where, (target, index.function), count + _SPARE)
    if candidates is None:
        candidates = reader.vectors.candidates(*where)
    chosen = heapq.nsmallest(count + _SPARE, _scored(candidates, scale), key=lambda each: scale.order(each[0]))
    scores = {candidate.row: (score, candidate.vector) for score, candidate in chosen}
    if not scores:
        return []
    items = sorted(
        reader.vectors.items(table.stored, list(scores)),
        key=lambda item: (scale.order(scores[item[0]][0]), *map(_sortable, item[1:3])),
    )
    return [(*scores[row], body) for row, _, _, body in items[:count]]


def _scored(candidates: Iterator[Candidate], scale: Scale) -> Iterator[tuple[float, Candidate]]:
    return ((scale.score(candidate.vector), candidate) for candidate in candidates)


def _sortable(text: KeyText) -> bytes:
    return text if isinstance(text, bytes) else str(text).encode()


def _results(
    index: VectorIndex, result: Sequence[tuple[float, bytes, bytes]], projection: BoundProjection | None
) -> tuple[list[Answer], int]:
    """The results, as many as an answer holds, and the size of their items."""
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
    """The shortest decimal that is this float of 32 bits."""
    texts = (f"{single:.{digits}g}" for digits in range(1, 10))
    packed = struct.pack("<f", single)
    return repr(next(float(text) for text in texts if struct.pack("<f", float(text)) == packed))


def _examined(index: VectorIndex, entries: int, count: int) -> float:
    """The bytes of the vectors that a search examines: AWS says that they grow with the logarithm of the index, and
    not how.
    """
    examined = min(entries, count + int(_EXAMINED_BY_STEP * math.log2(entries + 1)))
    return float(examined * index.dimensions * 4)
