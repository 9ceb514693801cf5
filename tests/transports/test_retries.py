"""Retries: their number, pauses and quota, and the writes that aren't repeated."""

from __future__ import annotations

import time
from typing import Any

import pytest

from keyplan import Add, Append, Design, Entity, IdempotencyTokens, Key, SetAdd, Table, Update, Version
from keyplan.client.conversations import Request, Target
from keyplan.client.transactions import send
from keyplan.client.transports.responses import Failure, Kind
from keyplan.client.transports.retries import COST, COST_THROTTLED, QUOTA, Attempts, Quota, repeatable
from keyplan.client.write_compiler import WriteCompiler
from keyplan.dynamodb.service_errors import ConditionalCheckFailedException, ThrottlingException
from keyplan.errors import DynamoDBError, KeyplanError, StoreError
from tests.transports.calls import Note, Notes


def attempts(
    operation: str = "GetItem", quota: Quota | None = None, seconds: float = 60.0, **parameters: Any
) -> Attempts:
    return Attempts(operation, parameters, quota or Quota(), 4, time.monotonic() + seconds)


def lost() -> Failure:
    return Failure(StoreError("the connection broke"), Kind.TRANSIENT, lost=True)


def throttled() -> Failure:
    return Failure(ThrottlingException("slow down"), Kind.THROTTLED)


def test_pauses_between_four_attempts_grow() -> None:
    """Pauses have full jitter: each is random, up to a limit that doubles with each attempt."""
    for failure, base in ((lost(), 0.025), (throttled(), 1.0)):
        pauses: list[list[float]] = [[], [], []]
        for _ in range(300):
            element = attempts()
            for pause in pauses:
                pause.append(element.after(failure))
            with pytest.raises(KeyplanError):
                element.after(failure)
            assert element.count == 4
        for number, pause in enumerate(pauses):
            assert 0 <= min(pause) < base * 2**number * 0.1
            assert base * 2**number * 0.9 < max(pause) <= base * 2**number


def test_permanent_failures_are_not_retried() -> None:
    """The error is raised immediately and doesn't reduce the quota."""
    assert (QUOTA, COST, COST_THROTTLED) == (500, 14, 5)
    quota = Quota()
    error = DynamoDBError("no", type="ValidationException")
    with pytest.raises(DynamoDBError) as raised:
        attempts(quota=quota).after(Failure(error))
    assert raised.value is error
    assert quota.left == QUOTA


def test_retry_quota_limits_retries_and_is_refunded_after_success() -> None:
    """A successful retry is refunded, and each successful call adds a little to the quota."""
    quota = Quota()
    spent = [attempts(quota=quota) for _ in range(QUOTA // COST)]
    for element in spent:
        element.after(lost())
    assert quota.left == QUOTA % COST
    with pytest.raises(StoreError):
        attempts(quota=quota).after(lost())
    assert attempts(quota=quota).after(throttled()) >= 0
    assert quota.left == QUOTA % COST - COST_THROTTLED
    for element in spent:
        element.succeeded()
    for _ in range(COST_THROTTLED + 3):
        quota.give()
    assert quota.left == QUOTA


def test_no_retry_starts_after_the_calls_deadline() -> None:
    element = attempts(seconds=0.0)
    with pytest.raises(StoreError):
        element.after(lost())


@pytest.mark.parametrize("kind", [Kind.CLOCK, Kind.EXPIRED])
def test_wrong_clock_and_expired_credentials_are_corrected_once(kind: Kind) -> None:
    """After a correction, the request is retried once, without a pause and without reducing the quota."""
    quota = Quota()
    element = attempts(quota=quota)
    failure = Failure(DynamoDBError("no", type="ExpiredTokenException"), kind)
    assert element.after(failure) == 0.0
    assert quota.left == QUOTA
    with pytest.raises(DynamoDBError):
        element.after(failure)


def test_outcome_of_a_failed_condition_after_a_lost_response_is_unknown() -> None:
    """The first attempt may have made the condition false. Without a lost response, ConditionFailed is raised."""
    failed = Failure(ConditionalCheckFailedException())
    with pytest.raises(ConditionalCheckFailedException):
        attempts("PutItem").after(failed)
    element = attempts("PutItem")
    element.after(throttled())
    with pytest.raises(ConditionalCheckFailedException):
        element.after(failed)
    element = attempts("PutItem")
    element.after(lost())
    with pytest.raises(StoreError, match="outcome of PutItem is unknown"):
        element.after(failed)


def test_outcome_is_unknown_if_all_responses_of_a_write_are_lost() -> None:
    """If all responses of a read are lost, the network error is raised."""
    for operation, message in (("GetItem", "the connection broke"), ("BatchWriteItem", "is unknown")):
        element = attempts(operation)
        for _ in range(3):
            element.after(lost())
        with pytest.raises(StoreError, match=message):
            element.after(lost())


@pytest.mark.parametrize("kind", [Kind.TRANSIENT, Kind.THROTTLED, Kind.FINAL])
def test_outcome_of_a_write_is_unknown_after_an_internal_error_or_a_lost_response(kind: Kind) -> None:
    """An error after which the store has written nothing doesn't show whether an earlier attempt was applied."""
    element = attempts("PutItem")
    for number in range(3):
        is_lost = number == 0 and kind is not Kind.TRANSIENT
        element.after(lost() if is_lost else throttled())
    error = DynamoDBError("no", type={Kind.TRANSIENT: "InternalServerError"}.get(kind, "Other"))
    with pytest.raises(DynamoDBError if kind is Kind.FINAL else StoreError) as caught:
        element.after(Failure(error, kind, lost=kind is Kind.TRANSIENT))
    assert (caught.value is error) == (kind is Kind.FINAL)


@pytest.mark.parametrize("operation", ["BatchWriteItem", "TransactWriteItems"])
def test_throttled_batches_and_transactions_are_left_to_their_callers_after_a_lost_response(operation: str) -> None:
    element = attempts(operation, ClientRequestToken="t")
    for failure in (lost(), throttled(), throttled()):
        element.after(failure)
    with pytest.raises(ThrottlingException):
        element.after(throttled())


OLD = Note(book="b", number=1)


class Counted(Entity):
    """An entity with a version and with a field for idempotency tokens."""

    name: str
    count: int = 0
    by_day: dict[str, int] = {}  # noqa: RUF012 - a field of pydantic's
    version: Version = 0
    done: IdempotencyTokens = set()  # noqa: RUF012

    primary = Key("COUNTED#{name}", "HEAD")


class Counters(Design):
    table = Table("counters", entities=[Counted])


def sent(design: type[Design], action: Any) -> Attempts:
    """Return the attempts of the request that an action sends."""
    compiler = WriteCompiler(design.compiled.entities, Target(design.table.name, design.table))
    compiled = compiler.compile(action)
    request = next(send(compiled.operations, "", returned=compiled.returned))
    assert isinstance(request, Request)
    return Attempts(*request, Quota(), 4, time.monotonic() + 99)


@pytest.mark.parametrize(
    ("design", "action", "repeated"),
    [
        (Notes, Update(OLD, title="new - better + longer, list_append"), True),
        (Notes, Update(OLD, views=5), True),
        (Notes, Update(OLD, views=Add(1)), False),
        (Notes, Update(OLD, marks=Append(["x"])), False),
        (Notes, Update(OLD, title="x", views=Add(-1)), False),
        (Notes, Update(OLD, labels=SetAdd({"x"})), True),
        (Notes, Update(OLD, labels=SetAdd({"x"}), views=Add(1)), False),
        (Notes, next(iter(Update(OLD, title="x").previous())), False),
        (Counters, Update(Counted(name="a"), count=1), True),
        (Counters, Update(Counted, name="a").set(count=1), False),
        (Counters, Update(Counted, name="a").at(lambda item: item.by_day["mon"]).add(1), False),
        (Counters, Update(Counted, name="a").set(count=Add(1)).idempotent("t"), True),
    ],
)
def test_updates_that_set_values_are_retried_after_a_lost_response(
    design: type[Design], action: Any, repeated: bool
) -> None:
    """Updates that add or append values are retried only if they have a token."""
    first = sent(design, action)
    if repeated:
        assert first.after(lost()) >= 0
    else:
        with pytest.raises(StoreError, match="outcome of UpdateItem is unknown"):
            first.after(lost())


def test_failed_condition_after_a_lost_response_of_a_write_with_a_token_is_raised() -> None:
    """The token in the item shows whether the first attempt was executed."""
    element = sent(Counters, Update(Counted, name="a").set(count=Add(1)).idempotent("t"))
    element.after(lost())
    with pytest.raises(ConditionalCheckFailedException):
        element.after(Failure(ConditionalCheckFailedException()))


@pytest.mark.parametrize(
    ("operation", "parameters", "repeated"),
    [
        ("GetItem", {}, True),
        ("BatchWriteItem", {}, True),
        ("PutItem", {}, True),
        ("PutItem", {"ReturnValues": "ALL_OLD"}, False),
        ("DeleteItem", {"ReturnValues": "ALL_OLD"}, True),
        ("UpdateItem", {"UpdateExpression": "SET #a = :a"}, False),
        ("TransactWriteItems", {"ClientRequestToken": "t"}, True),
        ("TransactWriteItems", {}, False),
    ],
)
def test_idempotent_operations_are_retried_after_a_lost_response(
    operation: str, parameters: dict[str, Any], repeated: bool
) -> None:
    assert repeatable(operation, parameters) is repeated
