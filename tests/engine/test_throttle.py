"""Simulated throttling: the requests that are rejected, the reasons, and the time when requests are accepted again."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.errors import DynamoDBError
from keyplan.store import Engine
from tests.engine.support import Clock, create, get, index, n, put, s

ARN = "arn:aws:dynamodb:local:000000000000:table/orders"


def opened(clock: Clock, **settings: Any) -> Engine:
    engine = Engine.open(":memory:", clock=clock, throttle=True)
    create(engine, **settings)
    return engine


def provisioned(read: int, write: int, index_write: int = 1000) -> dict[str, Any]:
    """Return the settings of a provisioned table and its index."""
    units = {"ReadCapacityUnits": index_write, "WriteCapacityUnits": index_write}
    return {
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": {"ReadCapacityUnits": read, "WriteCapacityUnits": write},
        "GlobalSecondaryIndexes": [{**index("ByG", "g", "h"), "ProvisionedThroughput": units}],
    }


def refusal(engine: Engine, operation: str, params: dict[str, Any]) -> DynamoDBError:
    with pytest.raises(DynamoDBError) as caught:
        engine.call(operation, {"TableName": "orders", **params})
    return caught.value


def reasons(error: DynamoDBError) -> list[tuple[str, str]]:
    member = "throttlingReasons" if error.type == "ThrottlingException" else "ThrottlingReasons"
    return [(each["reason"], each["resource"]) for each in error.fields[member]]


def item(pk: str, sk: str = "1", kb: int = 0, **more: Any) -> dict[str, Any]:
    return {"Item": {"pk": s(pk), "sk": s(sk), "x": s("x" * max(0, kb * 1024 - 100)), **more}}


KEY = {"Key": {"pk": s("a"), "sk": s("1")}}


def test_requests_are_not_throttled_unless_throttling_is_enabled(engine: Engine) -> None:
    create(engine, **provisioned(1, 1, 1))
    for number in range(50):
        put(engine, "a", str(number), g=s("g"), h=s("h"))


def test_provisioned_table_has_five_minutes_of_burst_capacity(clock: Clock) -> None:
    with opened(clock, **provisioned(3, 3)) as engine:
        for number in range(3):
            put(engine, "a", str(number))
        error = refusal(engine, "PutItem", item("a", "6"))
        assert error.type == "ProvisionedThroughputExceededException"
        assert error.message.startswith("The level of configured provisioned throughput for the table was exceeded.")
        assert reasons(error) == [("TableWriteProvisionedThroughputExceeded", ARN)]
        assert get(engine, "a", "6") is None  # nothing was written, and reads have their own capacity
        clock.now_s += 1
        for number in range(3):
            put(engine, "b", str(number))
        refusal(engine, "PutItem", item("b", "6"))
        clock.now_s += 100_000
        for number in range(3 * 300):
            put(engine, "c", str(number))
        refusal(engine, "PutItem", item("b", "x"))
        assert engine.check() == []


def test_large_request_is_accepted_and_delays_later_requests(clock: Clock) -> None:
    with opened(clock, **provisioned(1, 1)) as engine:
        engine.call("PutItem", {"TableName": "orders", **item("a", kb=100)})
        refusal(engine, "PutItem", item("b"))
        clock.now_s += 98
        refusal(engine, "PutItem", item("b"))
        clock.now_s += 2
        put(engine, "b", "1")


@pytest.mark.parametrize(
    ("operation", "params"),
    [
        ("GetItem", KEY),
        ("GetItem", {**KEY, "ReturnConsumedCapacity": "TOTAL"}),
        ("Query", {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": s("a")}}),
        ("Scan", {}),
    ],
)
def test_reads_over_the_capacity_are_throttled(clock: Clock, operation: str, params: dict[str, Any]) -> None:
    with opened(clock, **provisioned(2, 1000)) as engine:
        put(engine, "a", "1")
        for _ in range(4):  # eventually consistent: half a unit each
            engine.call(operation, {"TableName": "orders", **params})
        error = refusal(engine, operation, params)
        assert reasons(error) == [("TableReadProvisionedThroughputExceeded", ARN)]
        clock.now_s += 1
        engine.call(operation, {"TableName": "orders", **params})


def test_throttled_index_also_throttles_writes_to_its_table(clock: Clock) -> None:
    query = {"IndexName": "ByG", "KeyConditionExpression": "g = :g", "ExpressionAttributeValues": {":g": s("g")}}
    with opened(clock, **provisioned(1000, 1000, 2)) as engine:
        put(engine, "a", "1", g=s("g"), h=s("h"))
        put(engine, "a", "2", g=s("g"), h=s("h"))
        # Even a write that doesn't change the index.
        error = refusal(engine, "PutItem", item("a", "3"))
        assert error.type == "ProvisionedThroughputExceededException"
        assert "global secondary indexes" in error.message
        assert reasons(error) == [("IndexWriteProvisionedThroughputExceeded", f"{ARN}/index/ByG")]
        for _ in range(4):
            engine.call("Query", {"TableName": "orders", **query})
        error = refusal(engine, "Query", query)
        assert reasons(error) == [("IndexReadProvisionedThroughputExceeded", f"{ARN}/index/ByG")]
        assert get(engine, "a", "1") is not None


def test_writes_to_a_local_index_consume_table_capacity(clock: Clock) -> None:
    local = {"LocalSecondaryIndexes": [index("ByH", "pk", "h")]}
    with opened(clock, **{**provisioned(1000, 4), **local}) as engine:
        put(engine, "a", "1", h=s("h"))
        put(engine, "a", "2", h=s("h"))
        assert reasons(refusal(engine, "PutItem", item("b")))[0][0] == "TableWriteProvisionedThroughputExceeded"


def test_global_index_of_a_table_with_a_local_index_has_its_own_capacity(clock: Clock) -> None:
    local = {"LocalSecondaryIndexes": [index("ByH", "pk", "h")]}
    with opened(clock, **{**provisioned(1000, 1000, 2), **local}) as engine:
        put(engine, "a", "1", g=s("g"), h=s("h"))
        put(engine, "a", "2", g=s("g"), h=s("h"))
        assert reasons(refusal(engine, "PutItem", item("b"))) == [
            ("IndexWriteProvisionedThroughputExceeded", f"{ARN}/index/ByG")
        ]


def test_writes_over_the_limit_of_one_partition_are_throttled(clock: Clock) -> None:
    with opened(clock) as engine:
        for number in range(10):
            engine.call("PutItem", {"TableName": "orders", **item("hot", str(number), kb=100)})
        error = refusal(engine, "PutItem", item("hot", "x"))
        assert error.type == "ThrottlingException"
        assert "check if you have a hot key" in error.message
        assert reasons(error) == [("TableWriteKeyRangeThroughputExceeded", ARN)]
        others = [f"cold {number}" for number in range(12)]
        written = 0
        for name in others:
            try:
                put(engine, name, "1")
                written += 1
            except DynamoDBError:
                pass  # in the same partition
        assert 0 < written < len(others)
        clock.now_s += 0.5
        put(engine, "hot", "y")


def test_writes_over_the_limit_of_one_index_partition_are_throttled(clock: Clock) -> None:
    with opened(clock) as engine:
        for number in range(10):
            engine.call("PutItem", {"TableName": "orders", **item(f"{number}", kb=100, g=s("open"), h=s("h"))})
        error = refusal(engine, "PutItem", item("x", g=s("open"), h=s("h")))
        assert reasons(error) == [("IndexWriteKeyRangeThroughputExceeded", f"{ARN}/index/ByG")]
        put(engine, "x", "1")


def test_reads_over_the_limit_of_one_partition_are_throttled(clock: Clock) -> None:
    with opened(clock) as engine:
        engine.call("PutItem", {"TableName": "orders", **item("a", kb=400 - 1)})
        for _ in range(30):  # 3,000 units per second, 100 each
            engine.call("GetItem", {"TableName": "orders", **KEY, "ConsistentRead": True})
        error = refusal(engine, "GetItem", {**KEY, "ConsistentRead": True})
        assert reasons(error) == [("TableReadKeyRangeThroughputExceeded", ARN)]


def test_on_demand_write_capacity_starts_at_4000_and_grows_to_twice_its_peak(clock: Clock) -> None:
    def write_all(engine: Engine) -> int:
        written = 0
        for number in range(400):
            try:
                engine.call("PutItem", {"TableName": "orders", **item(f"key {number}", kb=100)})
                written += 1
            except DynamoDBError as error:
                refused.add(reasons(error)[0][0])
        return written

    refused: set[str] = set()

    with opened(clock) as engine:
        first = write_all(engine)
        assert first == 40
        clock.now_s += 60
        assert write_all(engine) == 40  # the peak is less than 30 minutes old
        clock.now_s += 1800
        put(engine, "a", "1")
        clock.now_s += 1
        assert write_all(engine) > 70
    assert refused == {"TableWriteKeyRangeThroughputExceeded"}


def test_requests_over_the_maximum_on_demand_throughput_are_throttled(clock: Clock) -> None:
    maximum = {"OnDemandThroughput": {"MaxReadRequestUnits": 1, "MaxWriteRequestUnits": 2}}
    with opened(clock, **maximum) as engine:
        put(engine, "a", "1")
        put(engine, "a", "2")
        error = refusal(engine, "PutItem", item("a", "3"))
        assert error.type == "ThrottlingException"
        assert reasons(error) == [("TableWriteMaxOnDemandThroughputExceeded", ARN)]
        assert get(engine, "a", "1") is not None
        assert get(engine, "a", "2") is not None
        assert reasons(refusal(engine, "GetItem", KEY)) == [("TableReadMaxOnDemandThroughputExceeded", ARN)]


def test_throughput_over_the_account_quota_is_throttled(clock: Clock) -> None:
    warm = {"WarmThroughput": {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 40_000}}
    with opened(clock, **warm) as engine:
        error = None
        for number in range(2000):
            try:
                engine.call("PutItem", {"TableName": "orders", **item(f"key {number}", kb=100)})
            except DynamoDBError as caught:
                if caught.type == "RequestLimitExceeded":
                    error = caught
                    break
        assert error is not None
        assert reasons(error) == [("TableWriteAccountLimitExceeded", ARN)]


def test_changed_provisioned_capacity_applies_immediately(clock: Clock) -> None:
    with opened(clock, **provisioned(1, 1)) as engine:
        put(engine, "a", "1")
        refusal(engine, "PutItem", item("a", "2"))
        more = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 10}
        engine.call("UpdateTable", {"TableName": "orders", "ProvisionedThroughput": more})
        for number in range(10):
            put(engine, "a", str(number))


def test_batches_return_throttled_items_as_unprocessed(clock: Clock) -> None:
    puts = [{"PutRequest": item("a", str(number))} for number in range(5)]
    keys = [{"pk": s("a"), "sk": s(str(number))} for number in range(5)]
    with opened(clock, **provisioned(1, 2)) as engine:
        answer = engine.call("BatchWriteItem", {"RequestItems": {"orders": puts}, "ReturnConsumedCapacity": "TOTAL"})
        assert answer["UnprocessedItems"] == {"orders": puts[2:]}
        assert answer["ConsumedCapacity"][0]["CapacityUnits"] == 2.0
        error = refusal(engine, "BatchWriteItem", {"RequestItems": {"orders": puts}})
        assert error.type == "ProvisionedThroughputExceededException"
        answer = engine.call("BatchGetItem", {"RequestItems": {"orders": {"Keys": keys}}})
        assert len(answer["Responses"]["orders"]) == 2
        assert answer["UnprocessedKeys"] == {"orders": {"Keys": keys[2:]}}
        refusal(engine, "BatchGetItem", {"RequestItems": {"orders": {"Keys": keys}}})
        assert engine.check() == []


def test_throttled_transactions_are_canceled(clock: Clock) -> None:
    def puts(*sorts: str) -> dict[str, Any]:
        return {"TransactItems": [{"Put": {"TableName": "orders", **item("a", sort)}} for sort in sorts]}

    with opened(clock, **provisioned(2, 4)) as engine:
        engine.call("TransactWriteItems", puts("1", "2"))
        error = refusal(engine, "TransactWriteItems", puts("3", "4"))
        assert error.type == "TransactionCanceledException"
        assert {each["Code"] for each in error.fields["CancellationReasons"]} == {"ProvisionedThroughputExceeded"}
        assert get(engine, "a", "3") is None
        clock.now_s += 0.25
        error = refusal(engine, "TransactWriteItems", puts("3", "4"))
        assert [each["Code"] for each in error.fields["CancellationReasons"]] == [
            "None",
            "ProvisionedThroughputExceeded",
        ]
        assert engine.call("Scan", {"TableName": "orders"})["Count"] == 2
        get_both = {"TransactItems": [{"Get": {"TableName": "orders", "Key": KEY["Key"]}}]}
        clock.now_s += 100
        for _ in range(300):
            engine.call("TransactGetItems", get_both)
            clock.now_s += 1
    with opened(clock) as engine:
        for number in range(10):
            engine.call("PutItem", {"TableName": "orders", **item("a", str(number), kb=100)})
        error = refusal(engine, "TransactWriteItems", puts("3"))
        assert error.fields["CancellationReasons"][0]["Code"] == "ThrottlingError"


def test_write_with_a_failed_condition_consumes_capacity(clock: Clock) -> None:
    with opened(clock, **provisioned(1, 2)) as engine:
        put(engine, "a", "1", count=n(1))
        condition = {**item("a"), "ConditionExpression": "attribute_not_exists(pk)"}
        assert refusal(engine, "PutItem", condition).type == "ConditionalCheckFailedException"
        assert refusal(engine, "PutItem", condition).type == "ProvisionedThroughputExceededException"


def test_batch_statements_and_transactions_report_each_throttled_statement_or_action(clock: Clock) -> None:
    statements = [{"Statement": f"SELECT * FROM orders WHERE pk = 'a' AND sk = '{number}'"} for number in range(4)]
    gets = [{"Get": {"TableName": name, "Key": {"pk": s("a"), "sk": s("1")}}} for name in ("orders", "other")]
    with opened(clock, **provisioned(1, 9)) as engine:
        create(engine, "other")
        responses = engine.call("BatchExecuteStatement", {"Statements": statements})["Responses"]
        codes = [each.get("Error", {}).get("Code") for each in responses]
        assert codes == [None, None, "ProvisionedThroughputExceeded", "ProvisionedThroughputExceeded"]
        error = refusal(engine, "TransactGetItems", {"TransactItems": gets})
        assert [each["Code"] for each in error.fields["CancellationReasons"]] == [
            "ProvisionedThroughputExceeded",
            "None",
        ]
        clock.now_s += 1
        engine.call("TransactGetItems", {"TransactItems": gets})
