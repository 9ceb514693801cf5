"""From the write actions of a request to ``Write`` objects: bound expressions, checked keys and items.

A transaction's ``Put`` has the members of a ``PutItem``, and so on, so that the same functions serve both.
"""

from __future__ import annotations

from typing import Any

from keyplan.engine.keys import check_names, key_of_item, key_of_request
from keyplan.engine.requests import Request, condition_of, placeholders
from keyplan.engine.tables import Table
from keyplan.engine.writes import Change, Item, Write, prepare_put
from keyplan.expressions import BoundCondition, BoundUpdate, bind_update
from keyplan.values import check_item

CONDITION = ("ConditionExpression",)
UPDATE = ("UpdateExpression", "ConditionExpression")


def _condition(request: Request) -> BoundCondition | None:
    given = placeholders(request, CONDITION)
    if given is None:
        return None
    condition = condition_of(request, given, "ConditionExpression")
    given.check_unused()
    return condition


def _tells(request: Request) -> bool:
    return request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"


def put(table: Table, request: Request, *, wants_old: bool = False) -> Write:
    """The write of a Put or PutItem."""
    condition = _condition(request)
    item = check_item(request["Item"])
    check_names(item)
    key = key_of_item(table, item)
    made = prepare_put(table, item)
    return Write(table, key, condition, put=made, wants_old=wants_old, tells_item=_tells(request))


def delete(table: Table, request: Request, *, wants_old: bool = False) -> Write:
    """The write of a Delete or DeleteItem."""
    condition = _condition(request)
    key = key_of_request(table, request["Key"])
    return Write(table, key, condition, removes=True, wants_old=wants_old, tells_item=_tells(request))


def condition_check(table: Table, request: Request) -> Write:
    """The write of a ConditionCheck, which writes nothing."""
    condition = _condition(request)
    return Write(table, key_of_request(table, request["Key"]), condition, tells_item=_tells(request))


def update(table: Table, request: Request) -> tuple[Write, BoundUpdate | None]:
    """The write of an Update or UpdateItem, and the bound update, which knows the attributes it touches."""
    given = placeholders(request, UPDATE)
    bound: BoundUpdate | None = None
    condition: BoundCondition | None = None
    if given is not None:
        text: str | None = request.get("UpdateExpression")
        if text is not None:
            bound = bind_update(text, given, key_names=[attribute.name for attribute in table.keys])
        condition = condition_of(request, given, "ConditionExpression")
        given.check_unused()
    key = key_of_request(table, request["Key"])
    key_item: dict[str, Any] = check_item(request["Key"])

    def apply(old: Item | None) -> Item:
        base = old if old is not None else dict(key_item)
        return base if bound is None else bound.apply(base)

    change = Change(apply, bound.attributes if bound is not None else frozenset())
    return Write(table, key, condition, change=change, tells_item=_tells(request)), bound
