"""Transactions that conflict are retried with the same token, and the outcome is reported."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan import Create
from keyplan.errors import DynamoDBError, KeyplanError, StoreError, TransactionFailed
from tests.client.support import Recorder, record
from tests.contract.design import Everything, Mark, Total

ACTIONS = [Create(Total(group="g")), Create(Mark(group="g"))]


def conflict(*codes: str) -> DynamoDBError:
    reasons = [{"Code": code, "Message": "m"} if code != "None" else {"Code": "None"} for code in codes]
    return DynamoDBError("cancelled", type="TransactionCanceledException", fields={"CancellationReasons": reasons})


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("keyplan.client.conversations.time.sleep", lambda seconds: None)
    with Everything.open(":memory:") as design:
        result = record(design)
        result.design = design  # type: ignore[attr-defined]
        yield result


def failing(recorder: Recorder, times: int, error: DynamoDBError) -> None:
    left = [error] * times

    def before(operation: str, parameters: dict[str, Any]) -> None:
        if operation == "TransactWriteItems" and left:
            raise left.pop()

    recorder.before = before


@pytest.mark.parametrize(
    "error",
    [
        conflict("TransactionConflict", "None"),
        DynamoDBError("busy", type="TransactionInProgressException"),
        DynamoDBError("busy", type="TransactionConflictException"),
    ],
)
def test_a_transaction_conflict_is_retried_with_the_same_token(recorder: Any, error: DynamoDBError) -> None:
    failing(recorder, 3, error)
    recorder.design.transact(ACTIONS)
    tokens = {parameters["ClientRequestToken"] for _, parameters in recorder.requests}
    assert len(recorder.requests) == 4
    assert len(tokens) == 1
    assert recorder.design.marked("g") is not None


@pytest.mark.parametrize("other", ["ConditionalCheckFailed", "ThrottlingError", "ValidationError"])
def test_a_transaction_conflict_with_another_failure_is_not_retried(recorder: Any, other: str) -> None:
    """A retry can't succeed, because the other failure is permanent or must be handled by the caller."""
    failing(recorder, 1, conflict("TransactionConflict", other))
    with pytest.raises(KeyplanError):
        recorder.design.transact(ACTIONS)
    assert len(recorder.requests) == 1


def test_repeated_transaction_conflicts_raise_an_error(recorder: Any) -> None:
    failing(recorder, 100, conflict("None", "TransactionConflict"))
    with pytest.raises(TransactionFailed) as caught:
        recorder.design.transact(ACTIONS)
    assert len(recorder.requests) == 8
    assert caught.value.reasons[0] is None
    assert "TransactionConflict" in str(caught.value)
    assert recorder.design.marked("g") is None


def test_transaction_errors_other_than_conflicts_are_raised_unchanged(recorder: Any) -> None:
    for error in (
        DynamoDBError("no", type="ResourceNotFoundException"),
        DynamoDBError("no", type="ValidationException"),
    ):
        failing(recorder, 1, error)
        with pytest.raises(DynamoDBError) as caught:
            recorder.design.transact(ACTIONS)
        assert caught.value is error


def test_an_error_of_the_store_in_a_transaction_is_raised_unchanged(recorder: Any) -> None:
    def before(operation: str, parameters: dict[str, Any]) -> None:
        raise StoreError("the disk is full")

    recorder.before = before
    with pytest.raises(StoreError, match="the disk is full"):
        recorder.design.transact(ACTIONS)
