"""Tables and indexes: their definitions, descriptions, creation and deletion."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.scenarios import attributes, created, fault, index, invalid, schema
from tests.engine.support import answer, create, get, n, pages, put, s

AB = attributes(pk="S", sk="S", a="S", b="S")
UNITS = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}

REJECTED: list[tuple[dict[str, Any], dict[str, str]]] = [
    (
        {"BillingMode": "PROVISIONED"},
        invalid("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"),
    ),
    (
        {"ProvisionedThroughput": UNITS},
        invalid(
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
        ),
    ),
    (
        {"AttributeDefinitions": attributes(pk="S")},
        fault("Invalid KeySchema: Some index key attribute have no definition"),
    ),
    (
        {"AttributeDefinitions": attributes(pk="S", x="S")},
        invalid(
            "Some index key attributes are not defined in AttributeDefinitions. Keys: [sk, pk], AttributeDefinitions: [x, pk]"  # noqa: E501
        ),
    ),
    (
        {"AttributeDefinitions": attributes(pk="S", sk="S", x="S")},
        invalid(
            "Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions"  # noqa: E501
        ),
    ),
    ({"AttributeDefinitions": [*AB[:2], AB[1]]}, fault("Attribute Name is duplicated: sk")),
    ({"AttributeDefinitions": [*AB[:2], AB[1], AB[0]]}, fault("Attribute Name is duplicated: pk")),
    (
        {"KeySchema": schema("pk", "pk"), "AttributeDefinitions": attributes(pk="S")},
        fault("Invalid KeySchema: Some index key attribute have no definition"),
    ),
    (
        {"KeySchema": schema("pk", "pk")},
        fault("Both the Hash Key and the Range Key element in the KeySchema have the same name"),
    ),
    # Recorded: a repeated attribute comes before an index's other errors, an undefined one before it.
    *(
        (
            {kind: [{"IndexName": "Same", "KeySchema": schema("pk", "pk", partition=partition), "Projection": {}}]},
            fault("Both the Hash Key and the Range Key element in the KeySchema have the same name"),
        )
        for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
        for partition in (0, 1, 2)
    ),
    (
        {"GlobalSecondaryIndexes": [index("Same", "a", "a")]},
        invalid(
            "Some index key attributes are not defined in AttributeDefinitions. Keys: [a], AttributeDefinitions: [sk, pk]"  # noqa: E501
        ),
    ),
    (
        {"KeySchema": schema("pk", partition=0)},
        fault("Invalid KeySchema: The first KeySchemaElement is not a HASH key type"),
    ),
    (
        {"KeySchema": schema("pk", "sk", partition=2)},
        fault("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"),
    ),
    ({"GlobalSecondaryIndexes": []}, invalid("List of GlobalSecondaryIndexes is empty")),
    ({"LocalSecondaryIndexes": []}, invalid("List of LocalSecondaryIndexes is empty")),
    (
        {"GlobalSecondaryIndexes": [index("ByA", "a")]},
        invalid(
            "Some index key attributes are not defined in AttributeDefinitions. Keys: [a], AttributeDefinitions: [sk, pk]"  # noqa: E501
        ),
    ),
    (
        {"AttributeDefinitions": AB, "GlobalSecondaryIndexes": [index("ByA", "a", "b"), index("ByA", "b")]},
        invalid("Duplicate index name: ByA"),
    ),
    (
        {"AttributeDefinitions": AB, "GlobalSecondaryIndexes": [index("ByA", "a")]},
        invalid("Some AttributeDefinitions are not used. AttributeDefinitions: [sk, a, b, pk], keys used: [a, sk, pk]"),
    ),
    # Unused definitions are reported before index errors.
    (
        {
            "AttributeDefinitions": attributes(pk="S", sk="S", a="S", b="S", c="S"),
            "GlobalSecondaryIndexes": [{**index("ByA", "a"), "Projection": {}, "ProvisionedThroughput": UNITS}],
        },
        invalid(
            "Some AttributeDefinitions are not used. AttributeDefinitions: [sk, a, b, pk, c], keys used: [a, sk, pk]"
        ),
    ),
    (
        {"GlobalSecondaryIndexes": [{**index("ByA", "sk"), "ProvisionedThroughput": UNITS}]},
        invalid("ProvisionedThroughput should not be specified for index: ByA when BillingMode is PAY_PER_REQUEST"),
    ),
    ({"GlobalSecondaryIndexes": [{**index("ByA", "sk"), "Projection": {}}]}, invalid("Unknown ProjectionType: null")),
    (
        {
            "GlobalSecondaryIndexes": [
                {**index("ByA", "sk"), "Projection": {"ProjectionType": "ALL", "NonKeyAttributes": ["x"]}}
            ]
        },
        invalid("ProjectionType is ALL, but NonKeyAttributes is specified"),
    ),
    (
        {"GlobalSecondaryIndexes": [{**index("ByA", "sk"), "Projection": {"ProjectionType": "INCLUDE"}}]},
        invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified"),
    ),
    (
        {
            "AttributeDefinitions": attributes(pk="S", sk="S", a="S", b="S", c="S", d="S", e="S"),
            "GlobalSecondaryIndexes": [index("ByA", *"abcde", partition=5)],
        },
        invalid("The KeySchema exceeds the maximum allowed number of HASH key attributes"),
    ),
    (
        {
            "AttributeDefinitions": attributes(pk="S", sk="S", a="S", b="S", c="S", d="S", e="S"),
            "GlobalSecondaryIndexes": [index("ByA", "pk", *"abcde")],
        },
        invalid("The KeySchema exceeds the maximum allowed number of RANGE key attributes"),
    ),
    (
        {"LocalSecondaryIndexes": [index("ByL", "pk")]},
        invalid("Index KeySchema does not have a range key for index: ByL"),
    ),
    (
        {
            "KeySchema": schema("pk"),
            "AttributeDefinitions": attributes(pk="S", a="S"),
            "LocalSecondaryIndexes": [index("ByL", "pk", "a")],
        },
        invalid("Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex"),
    ),
    (
        {"AttributeDefinitions": AB, "LocalSecondaryIndexes": [index("ByL", "a", "b")]},
        invalid(
            "Index KeySchema does not have the same leading hash key as table KeySchema for index: ByL. "
            "index hash key: a, table hash key: pk"
        ),
    ),
    (
        {"LocalSecondaryIndexes": [index(f"By{number}", "pk", "sk") for number in range(10, 16)]},
        invalid("Number of LocalSecondaryIndexes exceeds per-table limit of 5"),
    ),
    (
        {"GlobalSecondaryIndexes": [index(f"By{number}", "pk", "sk") for number in range(10, 31)]},
        invalid("GlobalSecondaryIndex count exceeds the per-table limit of 20"),
    ),
    (
        {
            "GlobalSecondaryIndexes": [
                index(f"By{number}", "pk", projection=[f"x{each}" for each in range(17)]) for number in range(10, 16)
            ]
        },
        invalid("Total number of attributes projected through NonKeyAttributes exceeds the per-table limit of 100"),
    ),
]


@pytest.mark.parametrize(("change", "expected"), REJECTED)
def test_invalid_table_definitions_are_rejected(change: dict[str, Any], expected: dict[str, str]) -> None:
    with Engine.open(":memory:") as engine:
        operation, params, _ = created(**change)
        assert answer(engine, operation, params) == expected
        assert engine.call("ListTables", {}) == {"TableNames": []}


def test_describe_table_describes_a_new_table(engine: Engine) -> None:
    description = create(engine)["TableDescription"]
    assert description["TableStatus"] == "ACTIVE"
    assert description["ItemCount"] == description["TableSizeBytes"] == 0
    assert description["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert description["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE"
    described = engine.call("DescribeTable", {"TableName": "orders"})["Table"]
    # Only DescribeTable returns the default warm throughput and the time of the switch to on-demand.
    assert described.pop("WarmThroughput") == {
        "ReadUnitsPerSecond": 12_000,
        "WriteUnitsPerSecond": 4_000,
        "Status": "ACTIVE",
    }
    for each in described["GlobalSecondaryIndexes"]:
        assert each.pop("WarmThroughput")["Status"] == "ACTIVE"
    assert described["BillingModeSummary"].pop("LastUpdateToPayPerRequestDateTime") > 0
    assert described == description
    put(engine, "a", "1", g=s("g"), h=s("h"))
    put(engine, "a", "2")
    table = engine.call("DescribeTable", {"TableName": description["TableArn"]})["Table"]
    assert (table["ItemCount"], table["TableSizeBytes"]) == (2, 16)
    assert table["GlobalSecondaryIndexes"][0]["ItemCount"] == 1


def test_provisioned_table_can_be_changed_to_on_demand(engine: Engine) -> None:
    indexes = [{**index("ByG", "g", "h"), "ProvisionedThroughput": UNITS}]
    create(engine, BillingMode="PROVISIONED", ProvisionedThroughput=UNITS, GlobalSecondaryIndexes=indexes)
    table = engine.call("DescribeTable", {"TableName": "orders"})["Table"]
    assert "BillingModeSummary" not in table
    assert table["ProvisionedThroughput"]["ReadCapacityUnits"] == 1
    update = {"TableName": "orders", "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}}
    table = engine.call("UpdateTable", update)["TableDescription"]
    assert table["ProvisionedThroughput"]["WriteCapacityUnits"] == 6
    table = engine.call("UpdateTable", {"TableName": "orders", "BillingMode": "PAY_PER_REQUEST"})["TableDescription"]
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert table["ProvisionedThroughput"]["WriteCapacityUnits"] == 0


def test_tables_are_listed_by_name(engine: Engine) -> None:
    for name in ("ccc", "aaa", "bbb"):
        create(engine, name)
    assert engine.call("ListTables", {}) == {"TableNames": ["aaa", "bbb", "ccc"]}
    assert engine.call("ListTables", {"Limit": 2}) == {"TableNames": ["aaa", "bbb"], "LastEvaluatedTableName": "bbb"}
    assert engine.call("ListTables", {"ExclusiveStartTableName": "bbb"}) == {"TableNames": ["ccc"]}


@pytest.mark.parametrize("operation", ["DescribeTable", "DeleteTable", "DescribeTimeToLive"])
def test_error_of_a_missing_table_contains_its_name(engine: Engine, operation: str) -> None:
    assert answer(engine, operation, {"TableName": "none"}) == fault(
        "Requested resource not found: Table: none not found", "ResourceNotFoundException"
    )


def test_existing_table_cannot_be_created_again(engine: Engine) -> None:
    create(engine)
    operation, params, _ = created()
    assert answer(engine, operation, params) == fault("Table already exists: orders", "ResourceInUseException")


def test_table_can_be_created_again_after_its_deletion(engine: Engine) -> None:
    create(engine)
    put(engine, "a", "1")
    deleted = engine.call("DeleteTable", {"TableName": "orders"})["TableDescription"]
    assert deleted["TableStatus"] == "DELETING"
    assert uuid.UUID(deleted["TableId"]).version == 4
    assert deleted.keys().isdisjoint(
        {"KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes", "CreationDateTime"}
    )
    assert engine.call("ListTables", {}) == {"TableNames": []}
    create(engine)
    assert get(engine, "a", "1") is None


def test_deletion_protection_prevents_deletion(engine: Engine) -> None:
    create(engine, DeletionProtectionEnabled=True)
    assert answer(engine, "DeleteTable", {"TableName": "orders"}) == fault(
        "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first."
    )
    engine.call("UpdateTable", {"TableName": "orders", "DeletionProtectionEnabled": False})
    engine.call("DeleteTable", {"TableName": "orders"})


def change(engine: Engine, *updates: dict[str, Any], **types: str) -> dict[str, Any]:
    params = {
        "TableName": "orders",
        "AttributeDefinitions": attributes(**types),
        "GlobalSecondaryIndexUpdates": list(updates),
    }
    return answer(engine, "UpdateTable", params)


def test_added_index_contains_existing_items(engine: Engine) -> None:
    create(engine)
    put(engine, "a", "1", k=n(2))
    put(engine, "a", "2", k=n(10))
    put(engine, "a", "3", k=s("of another type"))
    put(engine, "a", "4")
    description = change(engine, {"Create": index("ByK", "pk", "k", projection="KEYS_ONLY")}, pk="S", k="N")
    names = [each["IndexName"] for each in description["TableDescription"]["GlobalSecondaryIndexes"]]
    assert names == ["ByG", "ByK"]
    query = {
        "TableName": "orders",
        "IndexName": "ByK",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": s("a")},
    }
    assert [item["sk"]["S"] for item in pages(engine, "Query", query)] == ["1", "2"]
    # An existing item may keep a value of another type until the attribute is written.
    update = {"TableName": "orders", "Key": {"pk": s("a"), "sk": s("3")}}
    engine.call("UpdateItem", {**update, "UpdateExpression": "SET x = :v", "ExpressionAttributeValues": {":v": n(1)}})
    wrong = {**update, "UpdateExpression": "SET k = :v", "ExpressionAttributeValues": {":v": s("x")}}
    assert answer(engine, "UpdateItem", wrong) == invalid(
        "Type mismatch for Index Key k Expected: N Actual: S IndexName: ByK"
    )
    assert engine.check() == []
    change(engine, {"Delete": {"IndexName": "ByK"}})
    table = engine.call("DescribeTable", {"TableName": "orders"})["Table"]
    assert [each["AttributeName"] for each in table["AttributeDefinitions"]] == ["g", "h", "pk", "sk"]
    assert answer(engine, "Query", query) == fault("The table does not have the specified index: ByK")
    put(engine, "a", "5", k=s("free again"))
    assert engine.check() == []


def test_invalid_index_changes_are_rejected(engine: Engine) -> None:
    create(engine)
    assert "At least one of" in answer(engine, "UpdateTable", {"TableName": "orders"})["message"]
    assert "must not be null" in change(engine, {})["message"]
    assert change(engine, {"Delete": {"IndexName": "None"}})["error"] == "ResourceNotFoundException"
    assert change(engine, {"Create": index("ByG", "pk")}) == fault("Attempting to create an index which already exists")
    assert change(engine, {"Create": index("One", "pk"), "Delete": {"IndexName": "ByG"}}) == invalid(
        "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object"
    )
    assert "must not be null" in change(engine, {"N": 1})["message"]
    assert change(engine, {"Create": index("One", "g")}, g="N") == invalid(
        "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. "
        "Existing schema: Schema:[SchemaElement: key{pk:S:HASH}, SchemaElement: key{sk:S:RANGE}] "
        "New schema: Schema:[SchemaElement: key{g:N:HASH}]"
    )
    # The type of an attribute that the new index doesn't use is ignored.
    kept = change(engine, {"Create": index("Kept", "k")}, k="S", pk="N")["TableDescription"]["AttributeDefinitions"]
    assert {"AttributeName": "pk", "AttributeType": "S"} in kept
    change(engine, {"Delete": {"IndexName": "Kept"}})
    two = change(engine, {"Create": index("One", "pk")}, {"Create": index("Two", "pk")})
    assert two["error"] == "LimitExceededException"
    twice = change(engine, {"Create": index("One", "pk")}, {"Delete": {"IndexName": "One"}})
    assert "Only one global secondary index update per index" in twice["message"]
    assert "not specified for index: One" in change(engine, {"Create": index("One", "unheard")})["message"]
    assert "not defined" in change(engine, {"Create": index("One", "unheard")}, g="S")["message"]
    assert answer(engine, "UpdateTable", {"TableName": "none", "BillingMode": "PAY_PER_REQUEST"}) == fault(
        "Requested resource not found: Table: none not found", "ResourceNotFoundException"
    )


def test_time_to_live_is_enabled_and_disabled(engine: Engine) -> None:
    create(engine)
    table = {"TableName": "orders"}

    def update(enabled: bool, name: str) -> dict[str, Any]:
        specification = {"Enabled": enabled, "AttributeName": name}
        return answer(engine, "UpdateTimeToLive", {**table, "TimeToLiveSpecification": specification})

    assert engine.call("DescribeTimeToLive", table) == {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    assert update(False, "ends") == fault("TimeToLive is already disabled")
    assert update(True, "ends") == {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ends"}}
    assert engine.call("DescribeTimeToLive", table) == {
        "TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "ends"}
    }
    assert update(True, "ends") == fault("TimeToLive is already enabled")
    assert "different AttributeName" in update(True, "other")["message"]
    assert update(False, "ends") == {"TimeToLiveSpecification": {"Enabled": False, "AttributeName": "ends"}}


@pytest.mark.parametrize(("partition", "names"), [(4, "abcdefgh"), (1, "abcde"), (4, "abcd"), (1, "a")])
def test_index_key_has_at_most_four_partition_and_four_sort_attributes(
    engine: Engine, partition: int, names: str
) -> None:
    wide = index("Wide", *names, partition=partition)
    made = create(
        engine,
        AttributeDefinitions=attributes(pk="S", sk="S", **dict.fromkeys(names, "S")),
        GlobalSecondaryIndexes=[wide],
    )
    assert made["TableDescription"]["GlobalSecondaryIndexes"][0]["KeySchema"] == wide["KeySchema"]
