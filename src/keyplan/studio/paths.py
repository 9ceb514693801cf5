"""Records the path of a call: its requests, and the items in their responses, in order. In a dry run of a write, reads
are sent, and writes are only recorded. Missing arguments are taken from an item that the access pattern finds.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from keyplan.client.conversations import Conversation, Pause, Request, Transport
from keyplan.errors import ItemNotFound, KeyplanError, Refused
from keyplan.formatting.results import answer_json, plain
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.plans import GetPlan, Plan, QueryPlan, ReadPattern, ScanPlan, ThroughPlan
from keyplan.model.compiled.signatures import Parameter, ParameterKind
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.session.design import Design
from keyplan.studio.items import Item, instance_of
from keyplan.web.tracing import bounded_conversation

REQUESTS_MAX = 40
"""Maximum number of requests of one call; further results aren't shown."""
LIMIT = 10
"""The value of a limit parameter that has no default, or a larger one."""
KEY = "$key"
"""The member of an argument that refers to an existing item by its key."""
EACH = 3
"""Number of values for a parameter that accepts several."""
WRITES = {"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"}


@dataclass
class Step:
    """A request with the items of its response. ``touched``: the items that it writes, each with the kind of change."""

    operation: str
    parameters: dict[str, Any]
    items: list[Item] = field(default_factory=list[Item])
    units: float = 0.0
    touched: list[tuple[str, Item]] = field(default_factory=list[tuple[str, Item]])

    def as_json(self) -> dict[str, Any]:
        return {
            "operation": self.operation,
            "parameters": self.parameters,
            "found": len(self.items),
            "units": self.units,
        }


@dataclass
class Path:
    """A call with its steps, and its result or error. ``cut``: whether further requests were omitted."""

    arguments: dict[str, Any]
    steps: list[Step] = field(default_factory=list[Step])
    answer: Any = None
    error: KeyplanError | None = None
    cut: bool = False
    milliseconds: float = 0.0


class _EnoughError(Exception):
    """The maximum number of requests is reached."""


def read_path(design: Design, pattern: ReadPattern, arguments: Mapping[str, Any]) -> Path:
    """Execute a read with these arguments (strings or JSON values). Errors are recorded in the path."""
    path = Path(dict(arguments))
    with _outcome(path):
        conversation = bounded_conversation(design, pattern.name, arguments)
        path.answer = answer_json(followed(conversation, design.store.transport, path, send=True))
    return path


def write_path(design: Design, name: str, arguments: Mapping[str, Any], *, send: bool) -> Path:
    """Execute a write, or only a dry run of the write. Errors are recorded in the path."""
    path = Path(dict(arguments))
    with _outcome(path):
        given = {parameter: _resolved(design, value) for parameter, value in arguments.items()}
        try:
            answer = followed(design.conversation(name, given), design.store.transport, path, send=send)
        except (KeyplanError, _EnoughError):
            raise
        except Exception as error:
            if send:
                raise
            # A dry run sends no writes, so the write's code may fail without their responses
            raise Refused(f"the dry run can't continue: {type(error).__name__}: {error}", place=name) from error
        path.answer = answer_json(answer) if send else None
    return path


@contextmanager
def _outcome(path: Path) -> Generator[None]:
    """Record the duration of a call, and its error if it fails."""
    began = time.perf_counter()
    try:
        yield
    except KeyplanError as error:
        path.error = error
    except _EnoughError:
        path.cut = True
    path.milliseconds = round((time.perf_counter() - began) * 1000, 1)


def _resolved(design: Design, value: Any) -> Any:
    """An argument. If it refers to an item, the item's current fields. Raises ItemNotFound."""
    if not isinstance(value, Mapping) or set(value) != {KEY}:
        return value
    request = {"TableName": design.store.table_name, "Key": value[KEY], "ConsistentRead": True}
    item = design.store.transport.call("GetItem", request).get("Item") or {}
    entity = design.compiled.entity_of(item)
    if entity is None:
        raise ItemNotFound("no item of an entity has this key", hint="choose another item")
    return {name: plain(each) for name, each in entity.own_values(entity.from_item(item)).items()}


def followed(conversation: Conversation[Any], transport: Transport, path: Path, *, send: bool) -> Any:
    """Run a conversation, and record each request with its response. Writes are sent only with ``send``."""
    try:
        step = next(conversation)
        while True:
            try:
                answer = _answered(step, transport, path, send=send)
            except KeyplanError as error:
                step = conversation.throw(error)
            else:
                step = conversation.send(answer)
    except StopIteration as end:
        return end.value
    finally:
        conversation.close()


def _answered(step: Request | list[Request] | Pause, transport: Transport, path: Path, *, send: bool) -> Any:
    if isinstance(step, Pause):
        if send:
            time.sleep(step.seconds)
        return None
    if len(path.steps) >= REQUESTS_MAX and not any(element.operation in WRITES for element in path.steps):
        raise _EnoughError
    if not isinstance(step, Request):
        return [_sent(request, transport, path, send=send) for request in step]
    return _sent(step, transport, path, send=send)


def _sent(request: Request, transport: Transport, path: Path, *, send: bool) -> dict[str, Any]:
    made = Step(request.operation, deepcopy(request.parameters))
    path.steps.append(made)
    if request.operation in WRITES:
        made.touched = list(_touched(request))
        if not send:
            return {"UnprocessedItems": {}} if request.operation == "BatchWriteItem" else {}
    parameters = {**request.parameters, "ReturnConsumedCapacity": "TOTAL"}
    answer = transport.call(request.operation, parameters)
    made.items = list(_items(answer))
    made.units = _units(answer.pop("ConsumedCapacity", None))
    return answer


def _items(answer: Mapping[str, Any]) -> Iterator[Item]:
    if "Item" in answer:
        yield answer["Item"]
    yield from answer.get("Items") or ()
    for result in (answer.get("Responses") or {}).values():
        yield from result


def _units(consumed: Any) -> float:
    if isinstance(consumed, list):
        return sum(_units(value) for value in consumed)
    return float(consumed["CapacityUnits"]) if consumed else 0.0


def actions(operation: str, parameters: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    match operation:
        case "PutItem" | "UpdateItem" | "DeleteItem":
            yield operation.removesuffix("Item"), parameters
        case "BatchWriteItem":
            for value in next(iter(parameters["RequestItems"].values())):
                yield from ((kind.removesuffix("Request"), action) for kind, action in value.items())
        case "TransactWriteItems":
            for item in parameters["TransactItems"]:
                yield from item.items()
        case _:
            pass


def _touched(request: Request) -> Iterator[tuple[str, Item]]:
    """The items that a request writes, with the kind of change: the whole item of a put, otherwise the key."""
    for kind, action in actions(request.operation, request.parameters):
        yield _MARKS[kind], action.get("Item") or action["Key"]


_MARKS = {"Put": "put", "Update": "update", "Delete": "delete", "ConditionCheck": "check"}


# Missing arguments


def example_arguments(design: CompiledDesign, pattern: ReadPattern, items: Sequence[Item]) -> Iterator[dict[str, Any]]:
    """Arguments with which a read finds items, one set for each suitable item."""
    given = [parameter for parameter in pattern.signature.parameters if parameter.condition]
    if not any(value.required for value in given):
        yield _defaults(pattern)
        return
    names = {entity.name for entity in _queried(pattern.plan)}  # not by identity: views have their own CompiledEntity
    seen: set[str] = set()
    for item in items:
        entity = design.entity_of(item)
        if entity is None or entity.name not in names:
            continue
        instance = instance_of(entity, item)
        result = None if instance is None else _arguments(pattern, given, entity.field_values(instance))
        if result is not None and str(result) not in seen:
            seen.add(str(result))
            yield result


def _arguments(pattern: ReadPattern, given: Sequence[Parameter], values: Mapping[str, Any]) -> dict[str, Any] | None:
    result: dict[str, Any] = _defaults(pattern)
    for parameter in given:
        value = values.get(parameter.name)
        in_buckets = pattern.buckets is not None and pattern.buckets.field == parameter.name
        if not parameter.required and not in_buckets:
            continue
        if value is None:
            return None
        result[parameter.name] = _argument(parameter, plain(value))
        if in_buckets:
            result[parameter.name]["le"] = plain(value)  # a time-bucketed range needs both bounds
    return result


def _argument(parameter: Parameter, value: Any) -> Any:
    match parameter.kind:
        case ParameterKind.RANGE:
            return {"ge": value}
        case ParameterKind.PREFIX:
            return str(value)[:1]
        case ParameterKind.EACH:
            return [value]
        case _:
            return value


def _defaults(pattern: ReadPattern) -> dict[str, Any]:
    """The arguments for limit and direction parameters that a call requires."""
    result: dict[str, Any] = {}
    for parameter in pattern.signature.parameters:
        if parameter.kind is ParameterKind.LIMIT and not (
            isinstance(parameter.default, int) and parameter.default <= LIMIT
        ):
            result[parameter.name] = LIMIT
        elif parameter.kind is ParameterKind.DIRECTION and parameter.required:
            result[parameter.name] = True
    return result


def _queried(plan: Plan) -> list[CompiledEntity]:
    """The entities whose fields a plan's parameters correspond to."""
    match plan:
        case QueryPlan():
            return [match.entity for match in plan.matches]
        case ScanPlan():
            return list(plan.entities)
        case ThroughPlan():
            return [*_queried(plan.junction), *([plan.end.entity] if isinstance(plan.end, GetPlan) else [])]
        case _:
            return [plan.entity]
