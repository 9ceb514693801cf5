"""Invalid vector indexes, vectors and searches are rejected."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.errors import DynamoDBError
from keyplan.store import Engine
from tests.engine.scenarios import attributes, fault
from tests.engine.support import answer, create, index, n, s
from tests.engine.test_vectors import KEYS, TENANTS, found, in_tenant, put, search, shop, vector, vectors

__all__ = ["shop"]

BEGIN = "One or more parameter values were invalid"
G = attributes(pk="S", sk="S", g="S")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (vector(1, 2), f"{BEGIN}. Invalid size for parameter embedding, Expected: 3, Actual: 2 IndexName: plain"),
        (
            {"L": [n(1), s("x"), n(3)]},
            f"{BEGIN}. Invalid type for parameter embedding[1], Expected: 32-bit floating point number, Actual: S. IndexName: plain",  # noqa: E501
        ),
        (
            s("x"),
            f"{BEGIN}. Invalid type for parameter embedding, Expected: 32-bit floating point number list IndexName: plain",  # noqa: E501
        ),
        (
            vector(1, 2, "1e39"),
            f"{BEGIN}. Invalid value for parameter embedding[2], Value: 1E+39 is outside valid range [-3.4028235E38, 3.4028235E38]. IndexName: plain",  # noqa: E501
        ),
    ],
)
def test_invalid_vectors_are_rejected(shop: Engine, value: dict[str, Any], message: str) -> None:
    given = put(shop, "1", embedding=value)
    assert given["message"] == message
    put(shop, "1")
    update = {
        "TableName": "orders",
        "Key": {"pk": s("a"), "sk": s("1")},
        "UpdateExpression": "SET embedding = :v",
        "ExpressionAttributeValues": {":v": value},
    }
    assert answer(shop, "UpdateItem", update)["message"] == message
    assert found(shop, 0, 0, 0) == []


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"TopK": 101},
            "Provided TopK value '101' is out of valid range. The value must be between 1 and 100 inclusive",
        ),
        (
            {"TopK": 0},
            "1 validation error detected: Value at 'TopK' failed to satisfy constraint: Member must have value greater than or equal to 1",  # noqa: E501
        ),
        ({"IndexName": "none"}, "The table does not have the specified index: none"),
        ({"IndexName": "ByG"}, "The table does not have the specified index: ByG"),
        ({"IndexName": "tenants"}, "SearchConditionExpression must be provided when SearchSchema has a HASH key"),
        (
            in_tenant("x", SearchConditionExpression="g.a = :g"),
            "Invalid SearchConditionExpression: SearchConditionExpression cannot have conditions on nested attributes",
        ),
        *[
            (
                in_tenant("x", SearchConditionExpression=twice),
                (
                    "Invalid SearchConditionExpression: "
                    "SearchConditionExpression must only contain one condition per attribute"
                ),
            )
            for twice in ("g = :g AND g = :g", ":g = g AND h = :g AND g = :g")
        ],
        (
            in_tenant("x", SearchConditionExpression="g = :none"),
            "Invalid SearchConditionExpression: An expression attribute value used in expression is not defined; attribute value: :none",  # noqa: E501
        ),
        (
            in_tenant("x", ExpressionAttributeValues={":g": n(1)}),
            "Type of 'g' attribute in SearchConditionExpression (N) does not match type in search schema (S)",
        ),
        (
            in_tenant(""),
            "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: g",  # noqa: E501
        ),
        (
            {"IndexName": "ab"},
            "1 validation error detected: Value at 'IndexName' failed to satisfy constraint: Member must have length greater than or equal to 3",  # noqa: E501
        ),
        (
            {"SearchVector": []},
            "1 validation error detected: Value at 'SearchVector' failed to satisfy constraint: Member must have length greater than or equal to 1",  # noqa: E501
        ),
        (
            in_tenant("x", SearchConditionExpression="g > :g"),
            "Invalid SearchConditionExpression: Invalid comparator used in SearchConditionExpression",
        ),
        (
            {**in_tenant("x"), "IndexName": "plain"},
            "SearchConditionExpression must not contain any attributes that is not in SearchSchema. Invalid attribute: g",  # noqa: E501
        ),
        ({"SearchVector": [n(1), n(2)]}, "Input search vector dimension 2 does not match vector index dimension 3"),
        *[
            (
                {"SearchVector": wrong},
                (
                    "Search vector contains invalid values. "
                    "All values in the search vector must be a 32-bit floating-point number attribute"
                ),
            )
            # Types are checked before the number of elements.
            for wrong in ([n(1), n(2), s("x")], [{"L": [n(1), n(2), n(3)]}], [n(1), n("Infinity"), n(3)])
        ],
    ],
)
def test_invalid_vector_searches_are_rejected(shop: Engine, more: dict[str, Any], message: str) -> None:
    given = search(shop, 0, 0, 0, **more)
    assert (given["error"].rpartition("#")[2], given["message"]) == ("ValidationException", message)


@pytest.mark.parametrize(
    ("indexes", "message"),
    [
        ([vectors(str(number) * 3) for number in range(6)], "VectorIndex count exceeds the per-table limit of 5"),
        ([vectors("one", Dimensions=4097)], "Number of dimensions must be between 1 and 4096 inclusive."),
        (
            [vectors("one"), vectors("two", Dimensions=4)],
            "Conflicting attribute definition for 'embedding'. All VectorIndexes on the same vector attribute must use the same dimensions.",  # noqa: E501
        ),
        (
            [vectors("one", SearchSchema=[{"AttributeName": "no", "SearchSchemaElementType": "HASH"}])],
            "One element in SearchSchema is not defined in attribute definitions",
        ),
        ([vectors("ByG")], "Duplicate index name: ByG"),
        *[
            (
                [vectors("one", VectorAttribute={"AttributeName": name})],
                (
                    f"Conflicting attribute definition for '{name}'. "
                    "An attribute cannot be defined in AttributeDefinitions when used as a VectorAttribute."
                ),
            )
            for name in ("pk", "g")
        ],
        ([], "List of VectorIndexes is empty"),
        (
            [
                vectors(
                    "one",
                    SearchSchema=[
                        {"AttributeName": "g", "SearchSchemaElementType": kind} for kind in ("HASH", "INLINE_FILTER")
                    ],
                )
            ],
            "SearchSchema contains a duplicate AttributeName",
        ),
        (
            [
                vectors(
                    "one",
                    SearchSchema=[{"AttributeName": name, "SearchSchemaElementType": "HASH"} for name in ("pk", "g")],
                )
            ],
            (
                "Value '2' at 'SearchSchema' failed to satisfy constraint: "
                "Member must have HASH count less than or equal to 1"
            ),
        ),
        (
            [
                vectors(
                    "one", Projection={"ProjectionType": "INCLUDE", "NonKeyAttributes": [f"a{i}" for i in range(20)]}
                )
            ],
            "Number of projected attributes must not exceed 20",
        ),
        (
            [vectors("one", Projection={"ProjectionType": "INCLUDE", "NonKeyAttributes": ["z", "y", "z"]})],
            "Duplicate element in NonKeyAttributes: z",
        ),
    ],
)
def test_invalid_vector_indexes_are_rejected(engine: Engine, indexes: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(DynamoDBError) as error:
        create(engine, AttributeDefinitions=G, GlobalSecondaryIndexes=[index("ByG", "g")], VectorIndexes=indexes)
    assert error.value.message == f"{BEGIN}: {message}"


def test_vector_indexes_require_on_demand_tables(engine: Engine) -> None:
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    given = {
        "TableName": "orders",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "ProvisionedThroughput": units,
        "VectorIndexes": [vectors("plain")],
    }
    expected = f"{BEGIN}: Vector indexes are only supported for PAY_PER_REQUEST tables"
    assert answer(engine, "CreateTable", given)["message"] == expected
    create(engine, VectorIndexes=[vectors("plain")], GlobalSecondaryIndexes=None, AttributeDefinitions=KEYS)
    provisioned = {"TableName": "orders", "BillingMode": "PROVISIONED", "ProvisionedThroughput": units}
    assert answer(engine, "UpdateTable", provisioned)["message"] == expected
    engine.call("UpdateTable", {"TableName": "orders", "VectorIndexUpdates": [{"Delete": {"IndexName": "plain"}}]})
    engine.call("UpdateTable", provisioned)


def change(engine: Engine, create: dict[str, Any], **types: str) -> dict[str, Any]:
    attributes = [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()]
    update = {"TableName": "orders", "VectorIndexUpdates": [{"Create": create}], "AttributeDefinitions": attributes}
    return answer(engine, "UpdateTable", {key: value for key, value in update.items() if value})


def test_invalid_vector_indexes_cannot_be_added(shop: Engine) -> None:
    def redefined(existing: str, new: str) -> str:
        return (
            f"{BEGIN}: Attributes cannot be redefined. "
            "Please check that your attribute has the same type as previously defined. "
            f"Existing schema: {existing} New schema: {new}"
        )

    keys = "Schema:[SchemaElement: key{pk:S:HASH}, SchemaElement: key{sk:S:RANGE}]"
    by_key = vectors("one", VectorAttribute={"AttributeName": "pk"})
    assert change(shop, by_key)["message"] == redefined(keys, "VectorIndexSchema:[VectorAttribute: key{pk:L:3}]")
    conflict = "An attribute cannot be defined in AttributeDefinitions when used as a VectorAttribute."
    expected = f"{BEGIN}: Conflicting attribute definition for 'embedding'. {conflict}"
    assert change(shop, vectors("one"), embedding="S")["message"] == expected
    vector_of = "VectorIndexSchema:[VectorAttribute: key{{embedding:L:{}}}]".format
    assert change(shop, vectors("one", Dimensions=4))["message"] == redefined(vector_of(3), vector_of(4))
    keyed_by_vector = index("keyed", "embedding")
    update = {
        "TableName": "orders",
        "AttributeDefinitions": [{"AttributeName": "embedding", "AttributeType": "S"}],
        "GlobalSecondaryIndexUpdates": [{"Create": keyed_by_vector}],
    }
    assert answer(shop, "UpdateTable", update)["message"] == redefined(
        vector_of(3), "Schema:[SchemaElement: key{embedding:S:HASH}]"
    )
    undefined = f"{BEGIN}: One element in SearchSchema is not defined in attribute definitions"
    assert change(shop, vectors("one", **TENANTS))["message"] == undefined
    assert "cannot be redefined" in change(shop, vectors("one", **TENANTS), g="N", h="S")["message"]
    # Definitions that the new index doesn't use are ignored.
    described = change(shop, vectors("one"), pk="N", unused="S")["TableDescription"]["AttributeDefinitions"]
    assert [(each["AttributeName"], each["AttributeType"]) for each in described if each["AttributeName"] == "pk"] == [
        ("pk", "S")
    ]
    assert "unused" not in str(described)
    for name in ("two", "three"):
        change(shop, vectors(name))
    assert change(shop, vectors("four")) == fault(
        "Subscriber limit exceeded: Number of vector secondary indexes exceeds per-table limit of 5",
        "LimitExceededException",
    )


def test_writes_validate_the_attributes_of_the_search_schema(shop: Engine) -> None:
    expected = f"{BEGIN}. Attribute 'g' type mismatch. Expected: S, Actual: N. IndexName: tenants"
    create(shop, "only", VectorIndexes=[vectors("tenants", **TENANTS)], GlobalSecondaryIndexes=None)
    item = {"pk": s("a"), "sk": s("1")}
    assert answer(shop, "PutItem", {"TableName": "only", "Item": {**item, "g": n(1)}})["message"] == expected
    empty = {
        "TableName": "only",
        "Key": item,
        "UpdateExpression": "SET g = :g",
        "ExpressionAttributeValues": {":g": s("")},
    }
    assert answer(shop, "UpdateItem", empty)["message"] == (
        "One or more parameter values are not valid. "
        "The update expression attempted to update a secondary index key to a value that is not supported. "
        "The AttributeValue for a key attribute cannot contain an empty string value."
    )


@pytest.mark.parametrize(
    ("operation", "more", "message"),
    [
        ("Query", {}, "Query operation not supported on this index type."),
        ("Query", {"ConsistentRead": True}, "Consistent reads are not supported on global secondary indexes"),
        (
            "Query",
            {"KeyConditionExpression": "pk = :none"},
            "Invalid KeyConditionExpression: An expression attribute value used in expression is not defined; attribute value: :none",  # noqa: E501
        ),
        ("Scan", {"ConsistentRead": True}, "Scan operation not supported on this index type"),
    ],
)
def test_query_and_scan_of_a_vector_index_are_rejected(
    shop: Engine, operation: str, more: dict[str, Any], message: str
) -> None:
    request = {"TableName": "orders", "IndexName": "plain", **more}
    if operation == "Query":
        request = {"KeyConditionExpression": "pk = :pk", "ExpressionAttributeValues": {":pk": s("a")}, **request}
    assert answer(shop, operation, request)["message"] == message
