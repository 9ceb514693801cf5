"""Batches retry unprocessed items until all items are processed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from keyplan import Batch, Create, Delete, Design, Entity, Key, Put, Table, Writes, write
from keyplan.errors import StoreError
from tests.client.support import Recorder, record
from tests.contract.design import Everything, Order

NOON = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    result: list[float] = []
    monkeypatch.setattr("keyplan.client.conversations.time.sleep", result.append)
    return result


def orders(count: int) -> list[Order]:
    return [Order(order_id=f"{number:04d}", user_id="u", placed_at=NOON) for number in range(count)]


def half(call: Any, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Process only the first half of each batch, rounded up, and return the other items as unprocessed."""
    if not operation.startswith("Batch"):
        return call(operation, parameters)  # type: ignore[no-any-return]
    ((table, wanted),) = parameters["RequestItems"].items()
    many = wanted if operation == "BatchWriteItem" else wanted["Keys"]
    taken, left = many[: (len(many) + 1) // 2], many[(len(many) + 1) // 2 :]
    given = taken if operation == "BatchWriteItem" else {**wanted, "Keys": taken}
    response: dict[str, Any] = call(operation, {**parameters, "RequestItems": {table: given}})
    if left and operation == "BatchWriteItem":
        return {**response, "UnprocessedItems": {table: left}}
    if left:
        return {**response, "UnprocessedKeys": {table: {"Keys": left}}}
    return response


@pytest.mark.parametrize("count", [1, 25, 26, 240])
def test_unprocessed_writes_of_a_batch_are_retried(count: int, pauses: list[float]) -> None:
    with Everything.open(":memory:") as design:
        recorder = record(design)
        recorder.around = half
        design.batch([Put(order) for order in orders(count)])
        sizes = [
            len(element["RequestItems"]["everything"])
            for name, element in recorder.requests
            if name == "BatchWriteItem"
        ]
        assert max(sizes) <= 25
        keys = [{"order_id": order.order_id} for order in orders(count)]
        assert design.get_many(Order, keys) == orders(count)
        design.batch([Delete(order) for order in orders(count)])
        assert design.get_many(Order, keys) == [None] * count
        assert all(0 <= pause <= 2 for pause in pauses)


def test_a_batch_read_requests_100_keys_at_a_time(pauses: list[float]) -> None:
    with Everything.open(":memory:") as design:
        design.batch([Put(order) for order in orders(230)])
        recorder = record(design)
        result = design.get_many(Order, [{"order_id": order.order_id} for order in orders(230)])
        assert result == orders(230)
        assert [len(element["RequestItems"]["everything"]["Keys"]) for _, element in recorder.requests] == [
            100,
            100,
            30,
        ]
    assert pauses == []


@pytest.mark.parametrize("operation", ["BatchWriteItem", "BatchGetItem"])
def test_a_batch_with_items_that_remain_unprocessed_raises_an_error(operation: str, pauses: list[float]) -> None:
    def nothing(call: Any, name: str, parameters: dict[str, Any]) -> dict[str, Any]:
        if name != operation:
            return call(name, parameters)  # type: ignore[no-any-return]
        member = "UnprocessedItems" if operation == "BatchWriteItem" else "UnprocessedKeys"
        return {"Responses": {}, member: parameters["RequestItems"]}

    with Everything.open(":memory:") as design:
        recorder: Recorder = record(design)
        recorder.around = nothing
        calls: dict[str, Any] = {
            "BatchWriteItem": lambda: design.batch([Put(order) for order in orders(5)]),
            "BatchGetItem": lambda: design.get_many(Order, [{"order_id": order.order_id} for order in orders(5)]),
        }
        with pytest.raises(StoreError, match=r"5 of 5 (writes|keys) .* remain unprocessed after 3\d s"):
            calls[operation]()
    assert 30 <= sum(pauses) < 33


class Job(Entity):
    """A job with several results."""

    name: str
    primary = Key("JOB#{name}", "JOB")


class Result(Entity):
    """The result of one part of a job."""

    name: str
    number: int
    primary = Key("JOB#{name}", "RESULT#{number:04d}")


class Jobs(Design):
    """A design with a write that sends several batches."""

    table = Table("jobs", entities=[Job, Result])

    @write("W1")
    def work(self, name: str, count: int) -> Writes:
        """Record the unfinished work in a transaction, do it in a batch, and delete the record in another batch."""
        yield Create(Job(name=name))
        yield Batch(Put(Result(name=name, number=number)) for number in range(count))
        yield Batch([Delete(Job, name=name)])


def latter_half(call: Any, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Process only the last half of each batch write, and return the other items as unprocessed."""
    if operation == "BatchWriteItem":
        ((table, writes),) = parameters["RequestItems"].items()
        parameters = {**parameters, "RequestItems": {table: writes[::-1]}}
    return half(call, operation, parameters)


@pytest.mark.parametrize("count", [1, 24, 60])
def test_batches_of_a_write_run_sequentially(count: int, pauses: list[float]) -> None:
    """The last batch can therefore delete the record of unfinished work, even if the store leaves items unprocessed."""
    with Jobs.open(":memory:") as design:
        recorder = record(design)
        recorder.around = latter_half
        there: list[int] = []

        def before(operation: str, parameters: dict[str, Any]) -> None:
            there.append(recorder.inner.call("Scan", {"TableName": "jobs", "Select": "COUNT"})["Count"])

        recorder.before = before
        design.work("a", count)
        assert recorder.requests[-1][1]["RequestItems"]["jobs"] == [
            {"DeleteRequest": {"Key": {"pk": {"S": "JOB#a"}, "sk": {"S": "JOB"}}}}
        ]
        assert there[-1] == count + 1  # all results, and the note
        assert design.get(Job, name="a") is None
