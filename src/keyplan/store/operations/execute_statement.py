"""ExecuteStatement: execute one PartiQL statement."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from keyplan.dynamodb.capacity import Consumed
from keyplan.dynamodb.limits import PAGE_BYTES_MAX, READ_UNIT_BYTES
from keyplan.dynamodb.service_errors import RequestFault, ValidationException
from keyplan.store.database import Database
from keyplan.store.items.item_writes import add_units, perform
from keyplan.store.queries import Item, PageQuery, answer_page, checked_start, start_of
from keyplan.store.requests.request_expressions import Answer, Request, wants_capacity
from keyplan.store.statements.single_item_statements import get_of, written_of
from keyplan.store.statements.statement_plans import Given, Read, given_of, read_of
from keyplan.store.storage.key_layouts import Bounds

_RANGES_OF_A_PAGE = 10
"""Number of ranges per page. Source: the developer guide, "PartiQL operators": the values of IN are returned in pages
of ten items. For ``WHERE pk IN`` on a table with a sort key, we assume ten partitions.
"""


def execute_statement(database: Database, request: Request) -> Answer:
    get = get_of(request["Statement"])
    answer = None if get is None else get.answer(database, request)
    if answer is not None:
        return answer
    given = given_of(request["Statement"], request.get("Parameters"))
    return _read(database, request, given) if given.reads else _write(database, request, given)


def _write(database: Database, request: Request, given: Given) -> Answer:
    returns_item = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
    if given.is_check:
        raise RequestFault("EXISTS can only be used in ExecuteTransaction write requests.")
    written = written_of(database, request["Statement"], given, returns_item=returns_item)
    write = written.write
    outcome = database.write(lambda writer: perform(writer, write, database.charge))
    item = written.returned(outcome)
    answer: Answer = {"Items": [item] if item else []}
    level = wants_capacity(request)
    if level is not None:
        consumed = Consumed(write.table.name, "Write")
        add_units(consumed, write.table, outcome)
        answer["ConsumedCapacity"] = consumed.as_json(level)
    return answer


# --- pages --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Position:
    """The start of a page: the range of the statement and the key in it."""

    range: int = 0
    key: Item | None = None


def _read(database: Database, request: Request, given: Given) -> Answer:
    read = read_of(database, given, consistent=bool(request.get("ConsistentRead")))
    position = _position(request, read)
    limit: int | None = request.get("Limit")
    level = wants_capacity(request)
    scanned, units = 0, 0.0
    answer: Answer = {"Items": []}
    units_max = PAGE_BYTES_MAX / READ_UNIT_BYTES / (1 if request.get("ConsistentRead") else 2)
    for number in range(position.range, len(read.bounds)):
        key = position.key if number == position.range else None
        page = _page(database, request, read, read.bounds[number], key, None if limit is None else limit - scanned)
        answer["Items"] += page["Items"]
        consumed = page["ConsumedCapacity"]
        answer["ConsumedCapacity"] = _sum(answer.get("ConsumedCapacity"), consumed)
        scanned += page["ScannedCount"]
        units += consumed["CapacityUnits"]
        last: Item | None = page.get("LastEvaluatedKey")
        if last is not None:
            answer["NextToken"] = _token(request, _Position(number, last))
            break
        is_full = units >= units_max or (limit is not None and scanned >= limit)
        is_full = is_full or number + 1 - position.range >= _RANGES_OF_A_PAGE
        if is_full and number + 1 < len(read.bounds):
            answer["NextToken"] = _token(request, _Position(number + 1))
            break
    if level is None:
        answer.pop("ConsumedCapacity", None)
    return answer


def _page(
    database: Database, request: Request, read: Read, bounds: Bounds, key: Item | None, limit: int | None
) -> Answer:
    members = {
        "ConsistentRead": request.get("ConsistentRead"),
        "Limit": limit,
        "ReturnConsumedCapacity": wants_capacity(request) or "TOTAL",
    }
    if key is not None:
        bounds = _after(read, bounds, key)
    return answer_page(database, PageQuery(read.target, bounds, read.filter, read.projection, read.fetches), members)


def _after(read: Read, bounds: Bounds, key: Item) -> Bounds:
    try:
        start = start_of(read.target, checked_start({"ExclusiveStartKey": key}))
    except ValidationException:
        start = None
    if start is None or start[: len(bounds.partition)] != bounds.partition:
        raise _invalid_token()
    return replace(bounds, after=start)


def _sum(value: Any, other: Any) -> Any:
    if value is None or isinstance(other, str):
        return other
    if isinstance(other, Mapping):
        return {name: _sum(value.get(name), other[name]) for name in other}
    return value + other


def _invalid_token() -> RequestFault:
    return RequestFault("Invalid NextToken")


def _digest(request: Request) -> str:
    content = [request["Statement"], request.get("Parameters")]
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


def _token(request: Request, position: _Position) -> str:
    content = {"of": _digest(request), "range": position.range, "key": position.key}
    return base64.urlsafe_b64encode(orjson.dumps(content)).decode()


def _position(request: Request, read: Read) -> _Position:
    token: str | None = request.get("NextToken")
    if token is None:
        return _Position()
    try:
        content = orjson.loads(base64.b64decode(token.encode(), b"-_", validate=True))
        digest, number, key = content["of"], content["range"], content["key"]
    except (ValueError, KeyError, TypeError):
        raise _invalid_token() from None
    if not isinstance(number, int) or not (key is None or isinstance(key, dict)):
        raise _invalid_token()
    if digest != _digest(request):
        raise RequestFault("NextToken does not match request")
    if not 0 <= number < len(read.bounds):
        raise _invalid_token()
    return _Position(number, key)
