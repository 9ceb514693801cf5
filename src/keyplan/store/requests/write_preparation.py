"""Prepare ``Write`` objects from a request's write actions: bound expressions, validated keys and items.

Each action of a transaction has the members of a single write (``Put`` those of ``PutItem``), so both use the same
functions. Errors come in the service's order: attribute values, item size, expressions, a missing table, a key or an
item that doesn't match the table's schema.
"""

from __future__ import annotations

from keyplan.dynamodb.expressions import (
    WRONG_TYPE,
    BoundCondition,
    BoundUpdate,
    ExpressionFault,
    Placeholders,
    UpdateFault,
    bind_update,
    parse_condition,
    parse_update,
    statement_bytes,
)
from keyplan.dynamodb.limits import ITEM_BYTES_MAX
from keyplan.dynamodb.values import check_item
from keyplan.store.database import Database
from keyplan.store.items.write_outcome import Change, Item, Write, checked_size, prepare_put
from keyplan.store.requests import legacy_parameters as legacy
from keyplan.store.requests.request_expressions import Request, check_needed, condition_of, old_or_none, placeholders
from keyplan.store.tables import item_keys
from keyplan.store.tables.table import Table

_OLD = frozenset({"Expected", "AttributeUpdates", "ConditionalOperator"})
_OLD_WRONG_TYPE = "Type mismatch for attribute to update"
"""The error of AttributeUpdates for which expressions report an incorrect operand type."""
_OPERAND_BYTES_MAX = 64
"""Maximum size of a statement's operand besides its name or value."""
CONDITION = ("ConditionExpression",)
UPDATE = ("UpdateExpression", "ConditionExpression")
_USING = (*UPDATE, "ProjectionExpression")
_IDLE = frozenset({"ExpressionAttributeNames", "ExpressionAttributeValues"})


def check_form(request: Request) -> None:
    """Validate the parts of a transaction's action that are checked before values: names and expression syntax. Raises
    RequestFault or ExpressionFault.
    """
    item_keys.check_names(request.get("Item") or {})
    for member in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
        if request.get(member) == {}:
            raise ExpressionFault(f"{member} must not be empty")
    for member, parse in (("UpdateExpression", parse_update), ("ConditionExpression", parse_condition)):
        text = request.get(member)
        if text is not None:
            try:
                parse(text)
            except ExpressionFault as fault:
                raise ExpressionFault(f"Invalid {member}: {fault.message}") from None


def without_idle(action: Request) -> Request:
    """An action of a transaction, without names and values if it has no expressions. The service validates and ignores
    such names and values, but rejects them in other requests.
    """
    if _IDLE.isdisjoint(action) or any(action.get(member) is not None for member in _USING):
        return action
    Placeholders(action.get("ExpressionAttributeNames"), action.get("ExpressionAttributeValues"))
    return {member: value for member, value in action.items() if member not in _IDLE}


def _condition(request: Request) -> BoundCondition | None:
    given = placeholders(request, CONDITION)
    if given is None:
        return None if request.keys().isdisjoint(_OLD) else legacy.expected(request)
    condition = condition_of(request, given, "ConditionExpression")
    given.check_unused()
    return condition


def _returns_item(request: Request) -> bool:
    return request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"


def put(database: Database, request: Request) -> Write:
    check_needed(request, CONDITION)
    item = check_item(request["Item"])
    item_keys.check_names(item)
    wants_old = old_or_none(request)
    size_bytes = checked_size(item)
    condition = _condition(request)
    table = database.table(request["TableName"])
    key = item_keys.key_of_item(table, item)
    made = prepare_put(table, item, size_bytes)
    return Write(table, key, condition, put=made, wants_old=wants_old, returns_item=_returns_item(request))


def delete(database: Database, request: Request) -> Write:
    check_needed(request, CONDITION)
    item_keys.check_key_values(request["Key"])
    wants_old = old_or_none(request)
    condition = _condition(request)
    table = database.table(request["TableName"])
    key = item_keys.key_of_request(table, request["Key"])
    return Write(table, key, condition, removes=True, wants_old=wants_old, returns_item=_returns_item(request))


def condition_check(database: Database, request: Request) -> Write:
    item_keys.check_key_values(request["Key"])
    condition = _condition(request)
    table = database.table(request["TableName"])
    return Write(table, item_keys.key_of_request(table, request["Key"]), condition, returns_item=_returns_item(request))


def update(database: Database, request: Request, *, counts_statement: bool = False) -> tuple[Write, BoundUpdate | None]:
    """The write of an Update or UpdateItem, and the bound update with the attributes that it can change.

    ``counts_statement`` limits the size of the statement's values separately, as only UpdateItem does.
    """
    check_needed(request, UPDATE)
    item_keys.check_key_values(request["Key"])
    given = placeholders(request, UPDATE)
    bound: BoundUpdate | None = None
    condition: BoundCondition | None = None
    if given is None and not request.keys().isdisjoint(_OLD):
        bound = legacy.attribute_updates(request)
        condition = legacy.expected(request)
    elif given is not None:
        text: str | None = request.get("UpdateExpression")
        if text is not None:
            bound = bind_update(text, given)
        condition = condition_of(request, given, "ConditionExpression")
        given.check_unused()
    table = database.table(request["TableName"])
    key = item_keys.key_of_request(table, request["Key"])
    old_words = given is None
    change = change_of(table, bound, check_item(request["Key"]), old_words=old_words)
    if counts_statement and bound is not None and given is not None:
        _check_statement(request["UpdateExpression"], bound, given)
    return Write(table, key, condition, change=change, returns_item=_returns_item(request)), bound


def _check_statement(text: str, bound: BoundUpdate, given: Placeholders) -> None:
    """Reject a statement over 400 KB, which UpdateItem checks before it reads the item."""
    # A placeholder has at least two characters, so this upper bound saves computing the size of most statements.
    if len(text) // 2 * (given.largest_bytes + _OPERAND_BYTES_MAX) > ITEM_BYTES_MAX:
        item_keys.check_size(statement_bytes(bound.actions, bound.paths, given), updating=True)


def change_of(table: Table, bound: BoundUpdate | None, key_item: Item, *, old_words: bool = False) -> Change:
    """The change that a bound update, if any, makes to an item of this table with this key. Raises SchemaFault if the
    change would alter the key, use a path into a key of the table or its indexes, or give an index key attribute
    another type, or ValidationException if it would give an index key attribute an empty value.
    """
    updated = bound.first_of(table.key_names) if bound is not None else None
    if updated is not None:
        raise item_keys.SchemaFault(
            "One or more parameter values were invalid: "
            f"Cannot update attribute {updated}. This attribute is part of the key"
        )
    if bound is not None:
        if table.indexes:
            item_keys.check_assigned(table, bound.assigned())
        item_keys.check_scalars(table, bound.nested)

    def apply(old: Item | None) -> Item:
        base = old if old is not None else dict(key_item)
        if bound is None:
            return base
        try:
            return bound.apply(base)
        except UpdateFault as fault:
            if old_words and fault.message == WRONG_TYPE:
                raise UpdateFault(_OLD_WRONG_TYPE) from None
            raise

    return Change(apply, bound.attributes if bound is not None else frozenset(), bound)
