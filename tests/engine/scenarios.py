"""Scenarios: operations in a row on a fresh store, whose true answers were recorded from DynamoDB Local.

A step is ``(operation, parameters)``. A third member, where there is one, is the answer of the service itself, for the
places where DynamoDB Local is known to answer differently; the reason stands beside it.
"""

from __future__ import annotations

from typing import Any

Step = tuple[Any, ...]


def s(value: str) -> dict[str, str]:
    return {"S": value}


def n(value: object) -> dict[str, str]:
    return {"N": str(value)}


def fault(message: str, type_: str = "ValidationException") -> dict[str, str]:
    return {"error": type_, "message": message}


def invalid(message: str) -> dict[str, str]:
    return fault(f"One or more parameter values were invalid: {message}")


def attributes(**types: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": type_} for name, type_ in types.items()]


def schema(*names: str, partition: int = 1) -> list[dict[str, str]]:
    return [
        {"AttributeName": name, "KeyType": "HASH" if number < partition else "RANGE"}
        for number, name in enumerate(names)
    ]


def index(name: str, *names: str, partition: int = 1, projection: Any = "ALL") -> dict[str, Any]:
    if isinstance(projection, list):
        projected: dict[str, Any] = {"ProjectionType": "INCLUDE", "NonKeyAttributes": projection}
    else:
        projected = {"ProjectionType": projection}
    return {"IndexName": name, "KeySchema": schema(*names, partition=partition), "Projection": projected}


def created(table: str = "orders", **more: Any) -> Step:
    return (
        "CreateTable",
        {
            "TableName": table,
            "KeySchema": schema("pk", "sk"),
            "AttributeDefinitions": attributes(pk="S", sk="S"),
            "BillingMode": "PAY_PER_REQUEST",
            **more,
        },
        "ignore",
    )


INDEXED = created(
    AttributeDefinitions=attributes(pk="S", sk="S", g="S", h="N", l="S", m="S"),
    GlobalSecondaryIndexes=[
        index("ByG", "g", "h"),
        index("KeysOnly", "g", projection="KEYS_ONLY"),
        index("Some", "m", "pk", projection=["note"]),
    ],
    LocalSecondaryIndexes=[index("ByL", "pk", "l", projection="KEYS_ONLY")],
)

TABLE = {"TableName": "orders"}
KEY = {"pk": s("a"), "sk": s("b")}
MISMATCH = fault("The provided key element does not match the schema")


def put(item: dict[str, Any], **more: Any) -> Step:
    return ("PutItem", {**TABLE, "Item": item, **more})


def get(**more: Any) -> Step:
    return ("GetItem", {**TABLE, "Key": KEY, **more})


def update(expression: str | None, key: dict[str, Any] = KEY, **more: Any) -> Step:
    expressions = {} if expression is None else {"UpdateExpression": expression}
    return ("UpdateItem", {**TABLE, "Key": key, **expressions, **more})


def delete(key: dict[str, Any] = KEY, **more: Any) -> Step:
    return ("DeleteItem", {**TABLE, "Key": key, **more})


def values(**named: Any) -> dict[str, Any]:
    return {":" + name: s(value) if isinstance(value, str) else value for name, value in named.items()}


def query(condition: str | None, given: dict[str, Any] | None = None, **more: Any) -> Step:
    params: dict[str, Any] = {**TABLE, **more}
    if condition is not None:
        params["KeyConditionExpression"] = condition
    if given is not None:
        params["ExpressionAttributeValues"] = values(**given)
    return ("Query", params)


def scan(**more: Any) -> Step:
    return ("Scan", {**TABLE, **more})


def with_answer(step: Step, answer: Any) -> Step:
    return (step[0], step[1], answer)


def full(number: int) -> dict[str, Any]:
    return {
        "pk": s("a"),
        "sk": s(f"{number}"),
        "g": s("g"),
        "h": n(number),
        "l": s(f"l{number}"),
        "m": s("m"),
        "note": s("a note"),
        "more": s("x" * 40),
    }


FIVE = [INDEXED, *(put(full(number)) for number in range(5))]

SCENARIOS: dict[str, list[Step]] = {
    "get": [
        created(),
        put({**KEY, "x": n("1.50"), "l": {"L": [s("p"), s("q")]}}),
        get(),
        get(ReturnConsumedCapacity="TOTAL"),
        get(ReturnConsumedCapacity="INDEXES", ConsistentRead=True),
        get(ReturnConsumedCapacity="NONE"),
        get(ProjectionExpression="x, l[1]"),
        get(ProjectionExpression="#x", ExpressionAttributeNames={"#x": "x"}),
        get(ProjectionExpression="nothing"),
        get(ProjectionExpression="x,"),
        get(ProjectionExpression=""),
        get(ExpressionAttributeNames={"#a": "b"}),
        get(ProjectionExpression="x", ExpressionAttributeNames={"#a": "b"}),
        get(ProjectionExpression="x", AttributesToGet=["x"]),
        with_answer(get(Key={}), MISMATCH),  # Local: "The number of conditions on the keys is invalid"
        with_answer(get(Key={"pk": s("a")}), MISMATCH),  # likewise
        with_answer(get(Key={**KEY, "x": s("y")}), MISMATCH),  # likewise
        with_answer(get(Key={"pk": s("a"), "x": s("y")}), MISMATCH),  # Local: "One of the required keys..."
        with_answer(get(Key={"pk": s("a"), "sk": n(1)}), MISMATCH),  # Local: "Type mismatch for key"
        with_answer(get(Key={"pk": s("a"), "sk": {"NULL": True}}), MISMATCH),
        get(Key={"pk": s("a"), "sk": s("")}),
        get(Key={"pk": s(""), "sk": s("b")}),
        with_answer(
            get(Key={"pk": s("p" * 2049), "sk": s("b")}),
            invalid("Size of hashkey has exceeded the maximum size limit of2048 bytes"),
        ),
        with_answer(
            get(Key={"pk": s("p"), "sk": s("é" * 513)}),
            invalid("Aggregated size of all range keys has exceeded the size limit of 1024 bytes"),
        ),
        get(Key={"pk": s("p" * 2048), "sk": s("é" * 512)}),
        with_answer(
            get(TableName="missing"), fault("Requested resource not found", "ResourceNotFoundException")
        ),
    ],
    "put": [
        INDEXED,
        with_answer(put({}), invalid("Missing the key pk in the item")),
        with_answer(put({"pk": s("a")}), invalid("Missing the key sk in the item")),
        with_answer(
            put({"pk": n(1), "sk": s("b")}), invalid("Type mismatch for key pk expected: S actual: N")
        ),
        put({"pk": s(""), "sk": s("b")}),
        put({**KEY, "x": s("")}, ReturnConsumedCapacity="INDEXES"),
        put({**KEY, "x": s("")}, ReturnValues="ALL_OLD"),
        put({**KEY, "x": n("")}),
        put({**KEY, "x": n("abc")}),
        put({**KEY, "x": {"SS": []}}),
        put({**KEY, "x": {"SS": ["a", "a"]}}),
        put({**KEY, "x": {"NULL": False}}),
        put({**KEY, "x": {}}),
        put({**KEY, "": s("x")}),
        put({**KEY, "x": s("y" * 409_600)}),
        put({**KEY, "x": s("y" * (409_600 - 7))}),
        put({**KEY, "x": s("y" * (409_600 - 6))}),
        with_answer(put(KEY, ReturnValues="ALL_NEW"), fault("ReturnValues can only be ALL_OLD or NONE")),
        put(KEY, ConditionExpression="attribute_not_exists(pk)"),
        put(
            KEY,
            ConditionExpression="attribute_not_exists(pk)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        ),
        put({**KEY, "sk": s("new")}, ConditionExpression="attribute_exists(pk)"),
        put(
            {**KEY, "sk": s("new")},
            ConditionExpression="attribute_exists(pk)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        ),
        put(KEY, ConditionExpression=""),
        put(KEY, ExpressionAttributeValues=values(a="x")),
        put(KEY, ExpressionAttributeNames={"#a": "x"}),
        put(KEY, ConditionExpression="a = :b"),
        put(KEY, ConditionExpression="a = :b", ExpressionAttributeValues={}),
        put(KEY, ConditionExpression="a = :b", ExpressionAttributeValues=values(b="x", c="y")),
        put(KEY, ConditionExpression="a = :b", Expected={"a": {"Exists": False}}),
        put({**KEY, "g": s("g"), "h": n(1), "l": s("l")}, ReturnConsumedCapacity="INDEXES"),
        put({**KEY, "g": s("g"), "h": n(2), "l": s("l")}, ReturnConsumedCapacity="INDEXES"),
        put({**KEY, "g": s("g"), "h": n(2), "l": s("l"), "z": n(1)}, ReturnConsumedCapacity="INDEXES"),
        put({**KEY, "g": s("g"), "h": n(2), "l": s("l"), "z": n(1)}, ReturnConsumedCapacity="INDEXES"),
        put(KEY, ReturnConsumedCapacity="INDEXES", ReturnItemCollectionMetrics="SIZE"),
        put({**KEY, "g": s("g"), "h": n(1), "x": s("y" * 3000)}, ReturnConsumedCapacity="INDEXES"),
        put({**KEY, "m": s("m"), "note": s("y" * 3000)}, ReturnConsumedCapacity="INDEXES"),
        put({**KEY, "m": s("m"), "note": s("y" * 10)}, ReturnConsumedCapacity="INDEXES"),
        put({**KEY, "m": s("m"), "note": s("y" * 10), "t": n(1)}, ReturnConsumedCapacity="INDEXES"),
        put({**KEY, "g": n(1)}),
        put({**KEY, "g": s("")}),
        put({**KEY, "h": s("1")}),
        put({**KEY, "l": {"L": []}}),
        put({**KEY, "g": s("g" * 2049)}),
        put({**KEY, "l": s("g" * 1025)}),
    ],
    "delete": [
        INDEXED,
        put({**KEY, "g": s("g"), "h": n(1), "l": s("l"), "x": s("y" * 2000)}),
        with_answer(delete(ReturnValues="UPDATED_OLD"), fault("ReturnValues can only be ALL_OLD or NONE")),
        delete(ConditionExpression="x = :x", ExpressionAttributeValues=values(x="z")),
        delete(ReturnValues="ALL_OLD", ReturnConsumedCapacity="INDEXES"),
        delete(ReturnValues="ALL_OLD", ReturnConsumedCapacity="INDEXES"),
        delete(ReturnItemCollectionMetrics="SIZE"),
        delete(ConditionExpression="attribute_exists(pk)"),
        with_answer(delete({"pk": s("a")}), MISMATCH),
    ],
    "update": [
        INDEXED,
        update(None, ReturnValues="ALL_NEW"),
        update(None, ReturnValues="ALL_OLD"),
        update("SET a = :v", ExpressionAttributeValues=values(v="1"), ReturnValues="UPDATED_NEW"),
        update("SET a = :v", ExpressionAttributeValues=values(v="2"), ReturnValues="UPDATED_OLD"),
        update("SET b = :v", ExpressionAttributeValues=values(v="2"), ReturnValues="UPDATED_OLD"),
        update("REMOVE a", ReturnValues="UPDATED_NEW"),
        update("REMOVE a", ReturnValues="UPDATED_OLD"),
        update("ADD c :one", ExpressionAttributeValues=values(one=n(1)), ReturnValues="ALL_NEW"),
        update("ADD c :one", ExpressionAttributeValues=values(one=n("1.5")), ReturnValues="UPDATED_NEW"),
        update("ADD b :one", ExpressionAttributeValues=values(one=n(1))),
        update("SET x.y = :v", ExpressionAttributeValues=values(v="1")),
        update("SET nothing = missing"),
        update("SET pk = :v", ExpressionAttributeValues=values(v="1")),
        update("SET a = :v", ExpressionAttributeValues=values(v="1", w="2")),
        update("SET a = :v"),
        update("SET"),
        update("SET d = :v", ExpressionAttributeValues=values(v="1"), ReturnConsumedCapacity="INDEXES"),
        update(
            "SET g = :v, h = :n",
            ExpressionAttributeValues=values(v="1", n=n(1)),
            ReturnConsumedCapacity="INDEXES",
        ),
        update("SET h = :n", ExpressionAttributeValues=values(n=n(2)), ReturnConsumedCapacity="INDEXES"),
        update("SET d = :v", ExpressionAttributeValues=values(v="3"), ReturnConsumedCapacity="INDEXES"),
        update("REMOVE g", ReturnConsumedCapacity="INDEXES"),
        update("SET h = :n", ExpressionAttributeValues=values(n="text")),
        update("SET l = :n", ExpressionAttributeValues=values(n=n(1))),
        update("SET g = :n", ExpressionAttributeValues=values(n="")),
        update("SET big = :n", ExpressionAttributeValues=values(n="x" * 409_600)),
        update(
            "SET a = :v",
            ConditionExpression="attribute_not_exists(pk)",
            ExpressionAttributeValues=values(v="1"),
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        ),
        update(
            "SET a = :v",
            {"pk": s("new"), "sk": s("b")},
            ConditionExpression="attribute_exists(pk)",
            ExpressionAttributeValues=values(v="1"),
        ),
        update(
            "SET a = :v",
            {"pk": s("new"), "sk": s("b")},
            ExpressionAttributeValues=values(v="1"),
            ReturnValues="ALL_NEW",
            ReturnConsumedCapacity="TOTAL",
        ),
        update(None, ExpressionAttributeValues=values(v="1")),
        update(
            "SET a = :v",
            ExpressionAttributeValues=values(v="1"),
            AttributeUpdates={"a": {"Action": "DELETE"}},
        ),
    ],
    "query": [
        *FIVE,
        query("pk = :p", {"p": "a"}, Limit=2, ReturnConsumedCapacity="TOTAL"),
        query("pk = :p", {"p": "a"}, Limit=5, ProjectionExpression="sk"),
        query("pk = :p", {"p": "a"}, Limit=6, ProjectionExpression="sk"),
        query("pk = :p", {"p": "a"}, ScanIndexForward=False, Limit=2, ProjectionExpression="sk"),
        query("pk = :p AND sk > :s", {"p": "a", "s": "1"}, ProjectionExpression="sk"),
        query("pk = :p AND sk >= :s", {"p": "a", "s": "1"}, ProjectionExpression="sk"),
        query("pk = :p AND sk < :s", {"p": "a", "s": "1"}, ProjectionExpression="sk"),
        query("pk = :p AND sk <= :s", {"p": "a", "s": "1"}, ProjectionExpression="sk"),
        query("pk = :p AND sk BETWEEN :s AND :t", {"p": "a", "s": "1", "t": "3"}, ProjectionExpression="sk"),
        query("pk = :p AND begins_with(sk, :s)", {"p": "a", "s": "1"}, ProjectionExpression="sk"),
        query("pk = :p AND sk = :s", {"p": "a", "s": "1"}, Select="COUNT"),
        query("g = :p AND h > :s", {"p": "g", "s": n(2)}, IndexName="ByG", ReturnConsumedCapacity="INDEXES"),
        query("g = :p", {"p": "g"}, IndexName="ByG", Limit=1, ReturnConsumedCapacity="TOTAL"),
        query("pk = :p", {"p": "a"}, IndexName="ByL", Limit=1, ReturnConsumedCapacity="INDEXES"),
        query(
            "pk = :p",
            {"p": "a"},
            IndexName="ByL",
            Limit=2,
            Select="ALL_ATTRIBUTES",
            ReturnConsumedCapacity="INDEXES",
        ),
        query(
            "pk = :p",
            {"p": "a"},
            IndexName="ByL",
            Limit=2,
            ProjectionExpression="note",
            ReturnConsumedCapacity="INDEXES",
        ),
        query(
            "pk = :p",
            {"p": "a"},
            IndexName="ByL",
            Limit=2,
            ConsistentRead=True,
            ReturnConsumedCapacity="TOTAL",
        ),
        query(
            "m = :p AND pk = :q",
            {"p": "m", "q": "a"},
            IndexName="Some",
            Select="COUNT",
            ReturnConsumedCapacity="INDEXES",
        ),
        query("g = :p", {"p": "g"}, IndexName="ByG", ConsistentRead=True),
        query("g = :p", {"p": "g"}, IndexName="KeysOnly", Select="ALL_ATTRIBUTES"),
        query("g = :p", {"p": "g"}, IndexName="KeysOnly", ProjectionExpression="note"),
        query("g = :p", {"p": "g", "x": "y"}, IndexName="KeysOnly", FilterExpression="note = :x"),
        query("g = :p", {"p": "g"}, IndexName="Missing"),
        query("pk = :p", {"p": "a"}, Select="ALL_PROJECTED_ATTRIBUTES"),
        query("pk = :p", {"p": "a"}, Select="COUNT", ProjectionExpression="sk"),
        query("pk = :p", {"p": "a"}, Select="SPECIFIC_ATTRIBUTES"),
        query("pk = :p", {"p": "a"}, Select="ALL_ATTRIBUTES", ProjectionExpression="sk"),
        query("sk = :p", {"p": "a"}),
        query("pk = :p AND more = :s", {"p": "a", "s": "b"}),
        query("pk > :p", {"p": "a"}),
        query("pk = :p AND sk <> :s", {"p": "a", "s": "b"}),
        query("pk = :p", {"p": n(1)}),
        query("pk = :p AND sk > :s", {"p": "a", "s": n(1)}),
        query("pk = :p AND begins_with(sk, :s)", {"p": "a", "s": ""}),
        query("pk = :p", {"p": ""}),
        query("pk = :p AND sk BETWEEN :s AND :t", {"p": "a", "s": "3", "t": "1"}),
        query("pk = :p", {"p": "a"}, FilterExpression="sk = :p"),
        query("g = :p", {"p": "g"}, IndexName="ByG", FilterExpression="h = :p"),
        query("g = :p", {"p": "g"}, IndexName="ByG", FilterExpression="sk = :p", Select="COUNT"),
        query("pk = :p", {"p": "a", "n": n(2)}, FilterExpression="h > :n", ProjectionExpression="h"),
        query(None),
        query(None, {"b": "x"}, FilterExpression="a = :b"),
        query(""),
        query("pk = :p", {"p": "a", "q": "x"}),
        query("pk = :p"),
        with_answer(  # Local counts 0 units for an empty page; the documentation gives the minimum
            query("pk = :p", {"p": "none"}, ReturnConsumedCapacity="TOTAL"),
            {
                "Items": [],
                "Count": 0,
                "ScannedCount": 0,
                "ConsumedCapacity": {"TableName": "orders", "CapacityUnits": 0.5},
            },
        ),
        with_answer(
            query("pk = :p", {"p": "a"}, ExclusiveStartKey={"pk": s("a")}),
            fault("The provided starting key is invalid: The provided key element does not match the schema"),
        ),
        with_answer(
            query("pk = :p", {"p": "a"}, ExclusiveStartKey={"pk": s("z"), "sk": s("0")}),
            fault("The provided starting key is outside query boundaries based on provided conditions"),
        ),
        with_answer(
            query("pk = :p", {"p": "a"}, ExclusiveStartKey={"pk": s("a"), "sk": n(0)}),
            fault("The provided starting key is invalid: The provided key element does not match the schema"),
        ),
        query("pk = :p AND sk > :s", {"p": "a", "s": "1"}, ExclusiveStartKey={"pk": s("a"), "sk": s("0")}),
        query("pk = :p AND sk > :s", {"p": "a", "s": "1"}, ExclusiveStartKey={"pk": s("a"), "sk": s("1")}),
        query("pk = :p AND sk < :s", {"p": "a", "s": "1"}, ExclusiveStartKey={"pk": s("a"), "sk": s("3")}),
        query(
            "pk = :p", {"p": "a"}, ExclusiveStartKey={"pk": s("a"), "sk": s("00")}, ProjectionExpression="sk"
        ),
        query(
            "pk = :p", {"p": "a"}, ExclusiveStartKey={"pk": s("a"), "sk": s("9")}, ProjectionExpression="sk"
        ),
        query("pk = :p", {"p": "a"}, ExclusiveStartKey={"pk": s("a"), "sk": s("")}),
        query("g = :p", {"p": "g"}, IndexName="ByG", ExclusiveStartKey={"pk": s("a"), "sk": s("0")}),
        query(
            "g = :p",
            {"p": "g"},
            IndexName="ByG",
            Limit=1,
            ExclusiveStartKey={**KEY, "sk": s("1"), "g": s("g"), "h": n(1)},
        ),
        query(
            "g = :p",
            {"p": "g"},
            IndexName="ByG",
            Limit=1,
            ScanIndexForward=False,
            ExclusiveStartKey={**KEY, "sk": s("1"), "g": s("g"), "h": n(1)},
        ),
    ],
    "scan": [
        *FIVE,
        scan(Limit=2, ReturnConsumedCapacity="TOTAL"),
        scan(ProjectionExpression="sk"),
        scan(Select="COUNT", ReturnConsumedCapacity="INDEXES"),
        scan(FilterExpression="h > :n", ExpressionAttributeValues=values(n=n(2)), ProjectionExpression="h"),
        scan(FilterExpression="sk = :n", ExpressionAttributeValues=values(n="2"), ProjectionExpression="h"),
        scan(IndexName="ByL", Limit=2, ReturnConsumedCapacity="INDEXES"),
        scan(IndexName="ByL", Select="ALL_ATTRIBUTES", ReturnConsumedCapacity="INDEXES"),
        scan(IndexName="ByG", Limit=2),
        scan(IndexName="ByG", ConsistentRead=True),
        scan(IndexName="KeysOnly", Select="ALL_ATTRIBUTES"),
        scan(IndexName="Missing"),
        with_answer(
            scan(Segment=0),
            fault(
                "The TotalSegments parameter is required but was not present in the request when Segment parameter is present"
            ),
        ),
        with_answer(
            scan(TotalSegments=2),
            fault(
                "The Segment parameter is required but was not present in the request when parameter TotalSegments is present"
            ),
        ),
        with_answer(
            scan(Segment=2, TotalSegments=2),
            fault(
                "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 2 is not less than TotalSegments: 2"
            ),
        ),
        scan(Segment=0, TotalSegments=2_000_000),
        scan(Select="SPECIFIC_ATTRIBUTES"),
        scan(ExpressionAttributeValues=values(a="b")),
        scan(ExpressionAttributeNames={"#a": "b"}),
    ],
}
