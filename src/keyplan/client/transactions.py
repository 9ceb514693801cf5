"""Sends compiled writes as one request or one transaction, and explains failures.

The error of a canceled transaction identifies each failed action and its false condition. Conflicts with other
transactions are retried with the same client token, so that the retry is idempotent.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from keyplan.client.conversations import ByToken, Conversation, Idempotent, Pause, Request
from keyplan.client.write_compiler import Operation, no_repeats
from keyplan.dynamodb.limits import ITEM_BYTES_MAX, TRANSACT_ACTIONS_MAX, TRANSACT_BYTES_MAX
from keyplan.dynamodb.values import item_size
from keyplan.errors import (
    ConditionFailed,
    DynamoDBError,
    ErrorDetail,
    ItemExists,
    KeyplanError,
    RequestError,
    TransactionFailed,
    UniqueValueTaken,
    WriteFailed,
)
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_fields import StoredField

CONFLICTS_MAX = 8

_OPERATIONS = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem"}
_IDEMPOTENT, _BY_TOKEN = Idempotent("UpdateItem"), ByToken("UpdateItem")
_FAILURES: dict[str, type[WriteFailed]] = {"item": ConditionFailed, "new": ItemExists, "claim": UniqueValueTaken}


class Refusal(NamedTuple):
    """An operation whose condition was false, and the item under its key (None: missing or unknown)."""

    operation: Operation
    item: Mapping[str, Any] | None


def pause_before_retry(attempt: int) -> Pause:
    """A random pause that grows with the number of attempts (full jitter)."""
    return Pause(random.uniform(0, min(1.0, 0.005 * 2 ** min(attempt, 8))))  # noqa: S311 - jitter, not a secret


def send(
    operations: Sequence[Operation], place: str, *, returned: str | None = None, refusals: list[Refusal] | None = None
) -> Conversation[dict[str, Any]]:
    """Send one operation as a single request, or several as one transaction. Returns the last response.

    ``returned``: whether a single request returns, in ``Attributes``, the item after (``ALL_NEW``) or before
    (``ALL_OLD``) the write. An operation whose token is already stored isn't repeated. Raises WriteFailed and its
    subclasses if nothing was written; ``refusals`` then receives the operations whose conditions were false.
    """
    refusals = [] if refusals is None else refusals
    if not operations:
        return {}
    if len(operations) == 1 and operations[0].kind in _OPERATIONS:
        return (yield from _send_one(operations[0], place, refusals, returned=returned))
    if len(operations) > TRANSACT_ACTIONS_MAX:
        raise RequestError(
            f"the transaction has {len(operations)} operations; DynamoDB allows at most {TRANSACT_ACTIONS_MAX}",
            place=place,
            hint="claims count as operations; split the write, or move unconditional actions to a Batch",
        )
    no_repeats(operations, "transaction", place)
    return (yield from _send_transaction(operations, place, refusals))


def _send_one(
    operation: Operation, place: str, refusals: list[Refusal], *, returned: str | None
) -> Conversation[dict[str, Any]]:
    parameters = operation.parameters
    if returned is not None:
        parameters = {**parameters, "ReturnValues": returned}
    name = _OPERATIONS[operation.kind]
    if operation.kind == "Update" and operation.idempotent and returned != "ALL_OLD":
        name = _IDEMPOTENT if operation.token is None else _BY_TOKEN
    try:
        response: dict[str, Any] = yield Request(name, parameters)
    except DynamoDBError as error:
        if error.type != "ConditionalCheckFailedException":
            raise
        if operation.is_done(error.fields.get("Item")):
            return {"Attributes": error.fields["Item"]}
        refusals.append(Refusal(operation, error.fields.get("Item")))
        if operation.missing is not None and error.fields.get("Item") is None:
            raise operation.missing from None
        fault = _why(operation, error.fields.get("Item"))
        raise _FAILURES[operation.role](fault.message, place=place, hint=fault.hint) from None
    return response


def _send_transaction(
    operations: Sequence[Operation], place: str, refusals: list[Refusal]
) -> Conversation[dict[str, Any]]:
    request = Request(
        "TransactWriteItems",
        {
            "TransactItems": [{operation.kind: operation.parameters} for operation in operations],
            "ClientRequestToken": str(uuid.uuid4()),
        },
    )
    if len(operations) * ITEM_BYTES_MAX > TRANSACT_BYTES_MAX:
        _check_size(request, place)
    for attempt in range(CONFLICTS_MAX):
        try:
            response: dict[str, Any] = yield request
        except DynamoDBError as error:
            if error.type == "TransactionCanceledException":
                reasons = error.fields.get("CancellationReasons") or []
                if _is_done(operations, reasons):
                    return {}
                if not _only_conflicts(reasons) or attempt == CONFLICTS_MAX - 1:
                    refusals.extend(
                        Refusal(operation, reason.get("Item"))
                        for operation, reason in zip(operations, reasons, strict=False)
                        if reason.get("Code") == "ConditionalCheckFailed"
                    )
                    raise _cancelled(operations, reasons, place, error) from None
            elif error.type not in {"TransactionInProgressException", "TransactionConflictException"}:
                raise
            yield pause_before_retry(attempt + 2)
            continue
        return response
    raise TransactionFailed("the transaction conflicted with other writes of the same items", place=place, hint="retry")


def _check_size(request: Request, place: str) -> None:
    """Raise RequestError if a transaction's items exceed DynamoDB's size limit for transactions."""
    if len(orjson.dumps(request.parameters)) <= TRANSACT_BYTES_MAX:  # the JSON is longer than the items' total size
        return
    puts = [action["Put"]["Item"] for action in request.parameters["TransactItems"] if "Put" in action]
    size_bytes = sum(map(item_size, puts))
    if size_bytes > TRANSACT_BYTES_MAX:
        raise RequestError(
            f"the transaction has {size_bytes:,} bytes; DynamoDB allows at most {TRANSACT_BYTES_MAX:,}",
            place=place,
            hint="split the write, or move unconditional actions to a Batch",
        )


def _is_done(operations: Sequence[Operation], reasons: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the write was already executed: the items contain all of its tokens."""
    tokens = [
        (operation, reason.get("Item"))
        for operation, reason in zip(operations, reasons, strict=False)
        if operation.token
    ]
    return bool(tokens) and all(operation.is_done(item) for operation, item in tokens)


def _only_conflicts(reasons: Sequence[Mapping[str, Any]]) -> bool:
    codes = {reason.get("Code", "None") for reason in reasons} - {"None"}
    return bool(codes) and codes <= {"TransactionConflict"}


def _cancelled(
    operations: Sequence[Operation], reasons: Sequence[Mapping[str, Any]], place: str, error: DynamoDBError
) -> KeyplanError:
    """The error of a canceled transaction: the error for a missing item, or of the type that all failures share."""
    failures: list[WriteFailed | DynamoDBError | None] = []
    faults: list[ErrorDetail] = []
    for number, operation in enumerate(operations):
        reason = reasons[number] if number < len(reasons) else {}
        code = reason.get("Code", "None")
        if code == "None":
            failures.append(None)
        elif code == "ConditionalCheckFailed":
            if operation.missing is not None and reason.get("Item") is None:
                return operation.missing
            fault = _why(operation, reason.get("Item"))
            failures.append(_FAILURES[operation.role](fault.message, hint=fault.hint))
            faults.append(ErrorDetail(f"actions[{number}]", fault.message, fault.hint))
        else:
            failures.append(DynamoDBError(str(reason.get("Message")), type=str(code)))
            faults.append(ErrorDetail(f"actions[{number}] {operation.description}", f"{code}: {reason.get('Message')}"))
    if isinstance(failures[0], ItemExists) and all(element.role == "claim" for element in operations[1:]):
        return ItemExists(faults[0].message, place=place, hint=faults[0].hint)  # claims fail because the item exists
    kinds = {type(failure) for failure in failures if failure is not None}
    if not kinds:
        return error
    if len(kinds) == 1 and issubclass(kind := kinds.pop(), WriteFailed):
        first = faults[0]
        if len(faults) == 1:
            return kind(first.message, place=place, hint=first.hint)
        return kind("the write was canceled, and nothing was written", place=place, errors=faults)
    return TransactionFailed(
        "the transaction was canceled, and nothing was written", place=place, errors=faults, reasons=failures
    )


def _why(operation: Operation, item: Mapping[str, Any] | None) -> ErrorDetail:
    """The reason why an operation's condition was false, if the current item shows the reason."""
    entity = operation.entity
    if operation.role == "claim":
        taken = ", ".join(f"{name} {value!r}" for name, value in operation.expected.items())
        return ErrorDetail("", f"{taken} belongs to another {entity.name}", "choose another value")
    if operation.role == "new" and item is not None:
        return ErrorDetail(
            "", f"{operation.description.partition(' ')[2]} already exists", "update the item, or use another key"
        )
    if item is None and operation.role != "new":
        return ErrorDetail(
            "",
            f"{operation.description.partition(' ')[2]} doesn't exist",
            "create the item, unless it was deleted on purpose",
        )
    item, wrong, hint = item or {}, list[str](), "re-read the item before retrying"
    is_claim = "claim_of" in item
    if item and not is_claim and any(item.get(name) != value for name, value in entity.labels.items()):
        wrong.append(_other_entity(entity, item))
        hint = "use the entity that the item belongs to"
    read = _as_read(entity, item)
    for name, expected in operation.expected.items():
        stored = entity.fields[name]
        wanted = entity.encode_fields({name: expected}).get(stored.attribute)
        held = (item if wanted is None else read).get(stored.attribute)
        raw = item.get(stored.attribute, entity.read_as.get(stored.attribute))
        if held != wanted and (wanted is not None or held != {"NULL": True}):
            text = "nothing" if held is None else _shown(_decoded(stored, *next(iter(held.items()))))
            wrong.append(f"{name} is {text}, expected {_shown(expected)}")
        elif wanted is not None and held == wanted and _is_stored_otherwise(raw, wanted):
            wrong.append(f"{name} is {f'stored as {raw}' if raw else 'only in a key'}, expected {wanted}")
            hint = "another program wrote the item: update these fields, or declare their format with StoredAs(...)"
    said = "; ".join(wrong) or "the condition failed"
    return ErrorDetail("", f"{operation.description.partition(' ')[2]}: {said}", hint)


def _other_entity(entity: CompiledEntity, item: Mapping[str, Any]) -> str:
    labels = [f"{name} is {item.get(name, 'missing')}, expected {value}" for name, value in entity.labels.items()]
    return f"the item belongs to another entity: {', '.join(labels)}"


def _is_stored_otherwise(raw: Mapping[str, Any] | None, wanted: Mapping[str, Any]) -> bool:
    """Whether a value that is read as the expected value can't equal it in a condition."""
    return raw is None or raw.keys() != wanted.keys() or (raw != wanted and not raw.keys().isdisjoint({"S", "N"}))


def _as_read(entity: CompiledEntity, item: Mapping[str, Any]) -> Mapping[str, Any]:
    """The item with defaults for missing attributes."""
    try:
        return {**item, **entity.encode_fields(entity.field_values(entity.from_item(item)))}
    except KeyplanError:
        return item


def _decoded(stored: StoredField, tag: str, value: Any) -> Any:
    try:
        return stored.decode(tag, value)
    except (ValueError, ArithmeticError):  # another program wrote an invalid value
        return value


def _shown(value: Any) -> str:
    if isinstance(value, set | frozenset) and value:
        return f"{{{', '.join(sorted(map(repr, value)))}}}"
    return repr(value)
