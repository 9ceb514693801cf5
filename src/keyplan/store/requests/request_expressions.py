"""Parts that requests share: bound expressions and the requested consumed capacity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keyplan.dynamodb.capacity import ConsumedByTable
from keyplan.dynamodb.expressions import (
    BoundCondition,
    BoundProjection,
    Placeholders,
    bind_condition,
    bind_projection,
    project_attributes,
)
from keyplan.dynamodb.service_errors import RequestFault
from keyplan.store.tables.item_keys import check_names

_NAMES = "ExpressionAttributeNames"
_VALUES = "ExpressionAttributeValues"

Request = Mapping[str, Any]
Answer = dict[str, Any]


def placeholders(request: Request, expressions: tuple[str, ...], projection: str | None = None) -> Placeholders | None:
    """The placeholders of a request; None if it has no expressions. ``expressions`` are the members that can contain
    expressions with values, in AWS's order; ``projection`` is the member whose expression has only names. Raises
    RequestFault if the request has placeholders but no expressions.
    """
    for member in expressions:
        if request.get(member) is not None:
            return Placeholders(request.get(_NAMES), request.get(_VALUES))
    check_needed(request, expressions, projection)
    if projection is not None and request.get(projection) is not None:
        return Placeholders(request.get(_NAMES))
    return None


def check_needed(request: Request, expressions: tuple[str, ...], projection: str | None = None) -> None:
    """Reject placeholders that no expression can use, before values are checked. Raises RequestFault."""
    if _NAMES not in request and _VALUES not in request:
        return
    for member in expressions:
        if request.get(member) is not None:
            return
    if request.get(_NAMES) is not None and (projection is None or request.get(projection) is None):
        raise RequestFault(f"{_NAMES} can only be specified when using expressions")
    if request.get(_VALUES) is not None and expressions:
        verb = "is" if len(expressions) == 1 else "are"
        fault = f"{_VALUES} can only be specified when using expressions"
        raise RequestFault(fault, f"{fault}: {' and '.join(expressions)} {verb} null")


def condition_of(request: Request, given: Placeholders, member: str) -> BoundCondition | None:
    text = request.get(member)
    return None if text is None else bind_condition(text, given, member)


def projection_of(request: Request, given: Placeholders) -> BoundProjection | None:
    text = request.get("ProjectionExpression")
    return None if text is None else bind_projection(text, given)


def only_projection(request: Request) -> BoundProjection | None:
    given = placeholders(request, (), "ProjectionExpression")
    if given is None:
        return attributes_to_get(request)
    projection = projection_of(request, given)
    given.check_unused()
    return projection


def attributes_to_get(request: Request) -> BoundProjection | None:
    wanted: Sequence[str] | None = request.get("AttributesToGet")
    if wanted is None:
        return None
    check_names(wanted)
    seen: set[str] = set()
    for name in wanted:
        if name in seen:
            raise RequestFault(f"One or more parameter values were invalid: Duplicate value in attribute name: {name}")
        seen.add(name)
    return project_attributes(wanted)


def wants_capacity(request: Request) -> str | None:
    """TOTAL or INDEXES if the response must have ConsumedCapacity; otherwise None."""
    level: str | None = request.get("ReturnConsumedCapacity")
    return None if level is None or level == "NONE" else level


def consumed_capacity(request: Request, units: ConsumedByTable, *, by_direction: bool = False) -> Answer:
    """The ``ConsumedCapacity`` member of an operation on several tables; empty if it wasn't requested."""
    level = wants_capacity(request)
    if level is None:
        return {}
    return {"ConsumedCapacity": [each.as_json(level, by_direction=by_direction) for each in units.values()]}


def old_or_none(request: Request) -> bool:
    """Whether a put or delete returns the old item. Raises RequestFault if ReturnValues isn't ALL_OLD or NONE."""
    wanted = request.get("ReturnValues")
    if wanted is None or wanted == "NONE":
        return False
    if wanted != "ALL_OLD":
        raise RequestFault("ReturnValues can only be ALL_OLD or NONE")
    return True
