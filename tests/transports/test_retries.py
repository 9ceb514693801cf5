"""Retries: how often, how long, at whose cost; and which writes aren't sent twice."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan import Add, Append, Include, Update
from keyplan.client.target import Target
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


def test_four_attempts_with_growing_pauses() -> None:
    """Full jitter: any pause up to a bound, which doubles."""
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


def test_final_failures_are_not_tried_again() -> None:
    """What would fail again is told at once, and costs no quota."""
    assert (QUOTA, COST, COST_THROTTLED) == (500, 14, 5)
    quota = Quota()
    error = DynamoDBError("no", type="ValidationException")
    with pytest.raises(DynamoDBError) as raised:
        attempts(quota=quota).after(Failure(error))
    assert raised.value is error
    assert quota.left == QUOTA


def test_the_quota_ends_retries_and_comes_back() -> None:
    """A store in trouble gets fewer retries; what helped is given back, and each good call gives a little."""
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


def test_no_retry_past_the_deadline() -> None:
    """A pause that would end too late isn't begun."""
    element = attempts(seconds=0.0)
    with pytest.raises(StoreError):
        element.after(lost())


@pytest.mark.parametrize("kind", [Kind.CLOCK, Kind.EXPIRED])
def test_clock_and_credentials_are_mended_once(kind: Kind) -> None:
    """Without a pause and without cost; not again and again."""
    quota = Quota()
    element = attempts(quota=quota)
    failure = Failure(DynamoDBError("no", type="ExpiredTokenException"), kind)
    assert element.after(failure) == 0.0
    assert quota.left == QUOTA
    with pytest.raises(DynamoDBError):
        element.after(failure)


def test_a_condition_that_fails_after_a_lost_answer() -> None:
    """The first try may have made it fail; without a lost answer it is what it says."""
    failed = Failure(ConditionalCheckFailedException())
    with pytest.raises(ConditionalCheckFailedException):
        attempts("PutItem").after(failed)
    element = attempts("PutItem")
    element.after(throttled())
    with pytest.raises(ConditionalCheckFailedException):
        element.after(failed)
    element = attempts("PutItem")
    element.after(lost())
    with pytest.raises(StoreError, match="it isn't known whether PutItem was carried out"):
        element.after(failed)


def test_writes_whose_answers_are_all_lost() -> None:
    """Of a read it is the fault that is told; of a write, that nobody knows."""
    for operation, says in (("GetItem", "the connection broke"), ("BatchWriteItem", "it isn't known whether")):
        element = attempts(operation)
        for _ in range(3):
            element.after(lost())
        with pytest.raises(StoreError, match=says):
            element.after(lost())


OLD = Note(book="b", number=1)


@pytest.mark.parametrize(
    ("changes", "again"),
    [
        ({"title": "new - better + longer, list_append"}, True),
        ({"views": 5}, True),
        ({"views": Add(1)}, False),
        ({"marks": Append(["x"])}, False),
        ({"title": "x", "views": Add(-1)}, False),
        ({"labels": Include({"x"})}, True),
        ({"labels": Include({"x"}), "views": Add(1)}, False),
    ],
)
def test_which_updates_are_the_same_when_made_twice(changes: dict[str, Any], again: bool) -> None:
    """Those that set, and those of sets; not those that count or append, as the write compiler makes them."""
    compiler = WriteCompiler(Notes.compiled.entities, Target("notes", Notes.table))
    (operation,) = compiler.compile(Update(OLD, **changes)).operations
    assert repeatable("UpdateItem", operation.parameters) is again


@given(st.text("ADd+- #u0=:,()list_append", max_size=40))
def test_updates_that_may_count_are_recognised(text: str) -> None:
    """Whatever has an arithmetic sign in it isn't sent twice."""
    assert not ("+" in text and repeatable("UpdateItem", {"UpdateExpression": text}))


def test_transactions_are_known_by_their_token() -> None:
    """With one they can be sent again."""
    assert repeatable("TransactWriteItems", {"ClientRequestToken": "t"})
    assert not repeatable("TransactWriteItems", {})
    assert all(repeatable(literal, {}) for literal in ("GetItem", "PutItem", "DeleteItem", "BatchWriteItem"))
