"""A scenario is a sequence of operations on a new store, with responses recorded from DynamoDB Local.

A step is ``(operation, parameters)``. If the responses of DynamoDB and DynamoDB Local are known to differ, the step's
third member is DynamoDB's response, and a comment explains the difference.
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


def enveloped(message: str) -> dict[str, str]:
    return fault(f"1 validation error detected: {message}")


def mismatch(name: str, expected: str, actual: str, of_index: str) -> dict[str, str]:
    return invalid(f"Type mismatch for Index Key {name} Expected: {expected} Actual: {actual} IndexName: {of_index}")


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
METRICS = {"ItemCollectionMetrics": {"ItemCollectionKey": {"pk": s("a")}, "SizeEstimateRangeGB": [0.0, 1.0]}}
MISMATCH = fault("The provided key element does not match the schema")
MISSING_TABLE = fault("Requested resource not found", "ResourceNotFoundException")
LONG_HASH_KEY = invalid("Size of hashkey has exceeded the maximum size limit of2048 bytes")
LONG_RANGE_KEY = invalid("Aggregated size of all range keys has exceeded the size limit of 1024 bytes")
INDEXES: dict[str, Any] = {"ReturnConsumedCapacity": "INDEXES"}
TOTAL: dict[str, Any] = {"ReturnConsumedCapacity": "TOTAL"}
OLD_ITEM: dict[str, Any] = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
BY_L: dict[str, Any] = {"IndexName": "ByL", "Limit": 2}
BY_G: dict[str, Any] = {"IndexName": "ByG", "Limit": 1}
MANY: dict[str, Any] = {"IndexName": "Many", "ProjectionExpression": "sk"}


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


def using(**named: Any) -> dict[str, Any]:
    return {"ExpressionAttributeValues": values(**named)}


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

SEVERAL = fault(
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
)
FIRST = {"pk": s("a"), "sk": s("0")}
NONE = {"Code": "None"}


def reason(error: dict[str, str]) -> dict[str, str]:
    return {"Code": "ValidationError", "Message": error["message"]}


def cancelled(*reasons: dict[str, Any]) -> dict[str, Any]:
    codes = ", ".join(each["Code"] for each in reasons)
    message = f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
    return {**fault(message, "TransactionCanceledException"), "CancellationReasons": list(reasons)}


def batch_write(*requests: dict[str, Any], **more: Any) -> Step:
    return ("BatchWriteItem", {"RequestItems": {"orders": list(requests)}, **more})


def batch_get(*keys: dict[str, Any], expression: str | None = None, consistent: bool = False, **more: Any) -> Step:
    of_table: dict[str, Any] = {"Keys": list(keys), "ConsistentRead": consistent}
    if expression is not None:
        of_table["ProjectionExpression"] = expression
    return ("BatchGetItem", {"RequestItems": {"orders": of_table}, **more})


def transact(*actions: dict[str, Any], **more: Any) -> Step:
    return ("TransactWriteItems", {"TransactItems": list(actions), **more})


def put_action(item: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"Put": {**TABLE, "Item": item, **more}}


def delete_action(key: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"Delete": {**TABLE, "Key": key, **more}}


def check_action(condition: str, **more: Any) -> dict[str, Any]:
    return {"ConditionCheck": {**TABLE, "Key": KEY, "ConditionExpression": condition, **more}}


def update_action(expression: str, **given: Any) -> dict[str, Any]:
    return {
        "Update": {**TABLE, "Key": FIRST, "UpdateExpression": expression, "ExpressionAttributeValues": values(**given)}
    }


def transact_get(*keys: dict[str, Any]) -> Step:
    return ("TransactGetItems", {"TransactItems": [{"Get": {**TABLE, "Key": key}} for key in keys]})


SCENARIOS: dict[str, list[Step]] = {
    "get": [
        created(),
        put({**KEY, "x": n("1.50"), "l": {"L": [s("p"), s("q")]}}),
        get(),
        get(**TOTAL),
        get(**INDEXES, ConsistentRead=True),
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
        with_answer(get(Key={"pk": s("p" * 2049), "sk": s("b")}), LONG_HASH_KEY),
        with_answer(get(Key={"pk": s("p"), "sk": s("é" * 513)}), LONG_RANGE_KEY),
        get(Key={"pk": s("p" * 2048), "sk": s("é" * 512)}),
        with_answer(get(TableName="missing"), MISSING_TABLE),
    ],
    "put": [
        INDEXED,
        with_answer(put({}), invalid("Missing the key pk in the item")),
        with_answer(put({"pk": s("a")}), invalid("Missing the key sk in the item")),
        with_answer(put({"pk": n(1), "sk": s("b")}), invalid("Type mismatch for key pk expected: S actual: N")),
        put({"pk": s(""), "sk": s("b")}),
        put({**KEY, "x": s("")}, **INDEXES),
        put({**KEY, "x": s("")}, ReturnValues="ALL_OLD"),
        with_answer(put({**KEY, "x": n("")}), enveloped("The parameter cannot be converted to a numeric value: ")),
        with_answer(
            put({**KEY, "x": n("abc")}), enveloped("The parameter cannot be converted to a numeric value: abc")
        ),
        put({**KEY, "x": {"SS": []}}),
        with_answer(
            put({**KEY, "x": {"SS": ["a", "a"]}}),
            enveloped('One or more parameter values were invalid: Input collection ["a", "a"] contains duplicates.'),
        ),
        put({**KEY, "x": {"NULL": False}}),
        put({**KEY, "x": {}}),
        put({**KEY, "": s("x")}),
        put({**KEY, "x": s("y" * 409_600)}),
        put({**KEY, "x": s("y" * (409_600 - 7))}),
        put({**KEY, "x": s("y" * (409_600 - 6))}),
        with_answer(put(KEY, ReturnValues="ALL_NEW"), enveloped("ReturnValues can only be ALL_OLD or NONE")),
        put(KEY, ConditionExpression="attribute_not_exists(pk)"),
        put(KEY, ConditionExpression="attribute_not_exists(pk)", **OLD_ITEM),
        put({**KEY, "sk": s("new")}, ConditionExpression="attribute_exists(pk)"),
        put({**KEY, "sk": s("new")}, ConditionExpression="attribute_exists(pk)", **OLD_ITEM),
        put(KEY, ConditionExpression=""),
        put(KEY, **using(a="x")),
        put(KEY, ExpressionAttributeNames={"#a": "x"}),
        put(KEY, ConditionExpression="a = :b"),
        put(KEY, ConditionExpression="a = :b", ExpressionAttributeValues={}),
        put(KEY, ConditionExpression="a = :b", **using(b="x", c="y")),
        put(KEY, ConditionExpression="a = :b", Expected={"a": {"Exists": False}}),
        put({**KEY, "g": s("g"), "h": n(1), "l": s("l")}, **INDEXES),
        put({**KEY, "g": s("g"), "h": n(2), "l": s("l")}, **INDEXES),
        put({**KEY, "g": s("g"), "h": n(2), "l": s("l"), "z": n(1)}, **INDEXES),
        put({**KEY, "g": s("g"), "h": n(2), "l": s("l"), "z": n(1)}, **INDEXES),
        put(KEY, **INDEXES),
        with_answer(put(KEY, ReturnItemCollectionMetrics="SIZE"), METRICS),  # Local has none
        put({**KEY, "g": s("g"), "h": n(1), "x": s("y" * 3000)}, **INDEXES),
        put({**KEY, "m": s("m"), "note": s("y" * 3000)}, **INDEXES),
        put({**KEY, "m": s("m"), "note": s("y" * 10)}, **INDEXES),
        put({**KEY, "m": s("m"), "note": s("y" * 10), "t": n(1)}, **INDEXES),
        with_answer(put({**KEY, "g": n(1)}), mismatch("g", "S", "N", "ByG")),
        put({**KEY, "g": s("")}),
        with_answer(put({**KEY, "h": s("1")}), mismatch("h", "N", "S", "ByG")),
        with_answer(put({**KEY, "l": {"L": []}}), mismatch("l", "S", "L", "ByL")),
        with_answer(put({**KEY, "g": s("g" * 2049)}), LONG_HASH_KEY),
        with_answer(put({**KEY, "l": s("g" * 1025)}), LONG_RANGE_KEY),
    ],
    "delete": [
        INDEXED,
        put({**KEY, "g": s("g"), "h": n(1), "l": s("l"), "x": s("y" * 2000)}),
        with_answer(delete(ReturnValues="UPDATED_OLD"), enveloped("ReturnValues can only be ALL_OLD or NONE")),
        delete(ConditionExpression="x = :x", **using(x="z")),
        delete(ReturnValues="ALL_OLD", **INDEXES),
        delete(ReturnValues="ALL_OLD", **INDEXES),
        with_answer(delete(ReturnItemCollectionMetrics="SIZE"), METRICS),
        delete(ConditionExpression="attribute_exists(pk)"),
        with_answer(delete({"pk": s("a")}), MISMATCH),
    ],
    "update": [
        INDEXED,
        update(None, ReturnValues="ALL_NEW"),
        update(None, ReturnValues="ALL_OLD"),
        update("SET a = :v", **using(v="1"), ReturnValues="UPDATED_NEW"),
        update("SET a = :v", **using(v="2"), ReturnValues="UPDATED_OLD"),
        update("SET b = :v", **using(v="2"), ReturnValues="UPDATED_OLD"),
        update("REMOVE a", ReturnValues="UPDATED_NEW"),
        update("REMOVE a", ReturnValues="UPDATED_OLD"),
        update("ADD c :one", **using(one=n(1)), ReturnValues="ALL_NEW"),
        update("ADD c :one", **using(one=n("1.5")), ReturnValues="UPDATED_NEW"),
        update("ADD b :one", **using(one=n(1))),
        update("SET x.y = :v", **using(v="1")),
        update("SET nothing = missing"),
        update("SET pk = :v", **using(v="1")),
        update("SET a = :v", **using(v="1", w="2")),
        update("SET a = :v"),
        update("SET"),
        update("SET d = :v", **using(v="1"), **INDEXES),
        update("SET g = :v, h = :n", **using(v="1", n=n(1)), **INDEXES),
        update("SET h = :n", **using(n=n(2)), **INDEXES),
        update("SET d = :v", **using(v="3"), **INDEXES),
        update("REMOVE g", **INDEXES),
        with_answer(update("SET h = :n", **using(n="text")), mismatch("h", "N", "S", "ByG")),
        with_answer(update("SET l = :n", **using(n=n(1))), mismatch("l", "S", "N", "ByL")),
        update("REMOVE l"),
        update("SET g = :n", **using(n="")),
        update("SET big = :n", **using(n="x" * 409_600)),
        update("SET a = :v", ConditionExpression="attribute_not_exists(pk)", **using(v="1"), **OLD_ITEM),
        update(
            "SET a = :v", {"pk": s("new"), "sk": s("b")}, ConditionExpression="attribute_exists(pk)", **using(v="1")
        ),
        update("SET a = :v", {"pk": s("new"), "sk": s("b")}, **using(v="1"), ReturnValues="ALL_NEW", **TOTAL),
        update(None, **using(v="1")),
        update("SET a = :v", **using(v="1"), AttributeUpdates={"a": {"Action": "DELETE"}}),
    ],
    "query": [
        *FIVE,
        query("pk = :p", {"p": "a"}, Limit=2, **TOTAL),
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
        query("pk = :p AND sk = :s", {"p": "a", "s": "1"}, Limit=1, ProjectionExpression="sk"),
        query("g = :p AND h = :s", {"p": "g", "s": n(1)}, **BY_G, ProjectionExpression="sk"),
        query("g = :p AND h > :s", {"p": "g", "s": n(2)}, IndexName="ByG", **INDEXES),
        query("g = :p", {"p": "g"}, **BY_G, **TOTAL),
        query("pk = :p", {"p": "a"}, IndexName="ByL", Limit=1, **INDEXES),
        query("pk = :p", {"p": "a"}, **BY_L, Select="ALL_ATTRIBUTES", **INDEXES),
        query("pk = :p", {"p": "a"}, **BY_L, ProjectionExpression="note", **INDEXES),
        query("pk = :p", {"p": "a"}, **BY_L, ConsistentRead=True, **TOTAL),
        query("m = :p AND pk = :q", {"p": "m", "q": "a"}, IndexName="Some", Select="COUNT", **INDEXES),
        query("g = :p", {"p": "g"}, IndexName="ByG", ConsistentRead=True),
        query("g = :p", {"p": "g"}, IndexName="KeysOnly", Select="ALL_ATTRIBUTES"),
        query("g = :p", {"p": "g"}, IndexName="KeysOnly", ProjectionExpression="note"),
        query("g = :p", {"p": "g", "x": "y"}, IndexName="KeysOnly", FilterExpression="note = :x"),
        query("g = :p", {"p": "g"}, IndexName="Missing"),
        query("pk = :p", {"p": "a"}, Select="ALL_PROJECTED_ATTRIBUTES"),
        query("pk = :p", {"p": "a"}, Select="COUNT", ProjectionExpression="sk"),
        query("pk = :p", {"p": "a"}, Select="SPECIFIC_ATTRIBUTES"),
        query("pk = :p", {"p": "a"}, Select="ALL_ATTRIBUTES", ProjectionExpression="sk"),
        with_answer(query("sk = :p", {"p": "a"}), fault("Query condition missed key schema element: pk")),
        with_answer(
            query("pk = :p AND more = :s", {"p": "a", "s": "b"}), fault("Query condition missed key schema element: sk")
        ),
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
            query("pk = :p", {"p": "none"}, **TOTAL),
            {
                "Items": [],
                "Count": 0,
                "ScannedCount": 0,
                "ConsumedCapacity": {"TableName": "orders", "CapacityUnits": 0.5},
            },
        ),
        with_answer(
            query("pk = :p", {"p": "a"}, ExclusiveStartKey={"pk": s("a")}),
            fault("The provided starting key is invalid"),
        ),
        with_answer(
            query("pk = :p", {"p": "a"}, ExclusiveStartKey={"pk": s("z"), "sk": s("0")}),
            fault("The provided starting key is outside query boundaries based on provided conditions"),
        ),
        with_answer(query("pk = :p", {"p": "a"}, ExclusiveStartKey={"pk": s("a"), "sk": n(0)}), MISMATCH),
        query("pk = :p AND sk > :s", {"p": "a", "s": "1"}, ExclusiveStartKey={"pk": s("a"), "sk": s("0")}),
        query("pk = :p AND sk > :s", {"p": "a", "s": "1"}, ExclusiveStartKey={"pk": s("a"), "sk": s("1")}),
        query("pk = :p AND sk < :s", {"p": "a", "s": "1"}, ExclusiveStartKey={"pk": s("a"), "sk": s("3")}),
        query("pk = :p", {"p": "a"}, ExclusiveStartKey={"pk": s("a"), "sk": s("00")}, ProjectionExpression="sk"),
        query("pk = :p", {"p": "a"}, ExclusiveStartKey={"pk": s("a"), "sk": s("9")}, ProjectionExpression="sk"),
        query("pk = :p", {"p": "a"}, ExclusiveStartKey={"pk": s("a"), "sk": s("")}),
        query("g = :p", {"p": "g"}, IndexName="ByG", ExclusiveStartKey={"pk": s("a"), "sk": s("0")}),
        query("g = :p", {"p": "g"}, **BY_G, ExclusiveStartKey={**KEY, "sk": s("1"), "g": s("g"), "h": n(1)}),
        query(
            "g = :p",
            {"p": "g"},
            **BY_G,
            ScanIndexForward=False,
            ExclusiveStartKey={**KEY, "sk": s("1"), "g": s("g"), "h": n(1)},
        ),
    ],
    "scan": [
        *FIVE,
        scan(Limit=2, **TOTAL),
        scan(ProjectionExpression="sk"),
        scan(Select="COUNT", **INDEXES),
        scan(FilterExpression="h > :n", **using(n=n(2)), ProjectionExpression="h"),
        scan(FilterExpression="sk = :n", **using(n="2"), ProjectionExpression="h"),
        scan(**BY_L, **INDEXES),
        scan(IndexName="ByL", Select="ALL_ATTRIBUTES"),
        scan(IndexName="ByG", Limit=2),
        scan(IndexName="ByG", ConsistentRead=True),
        scan(IndexName="KeysOnly", Select="ALL_ATTRIBUTES"),
        scan(IndexName="Missing"),
        with_answer(
            scan(Segment=0),
            fault(
                "The TotalSegments parameter is required but was not present in the request when Segment parameter is present"  # noqa: E501
            ),
        ),
        with_answer(
            scan(TotalSegments=2),
            fault(
                "The Segment parameter is required but was not present in the request when parameter TotalSegments is present"  # noqa: E501
            ),
        ),
        with_answer(
            scan(Segment=2, TotalSegments=2),
            fault(
                "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 2 is not less than TotalSegments: 2"  # noqa: E501
            ),
        ),
        scan(Segment=0, TotalSegments=2_000_000),
        scan(Select="SPECIFIC_ATTRIBUTES"),
        scan(**using(a="b")),
        scan(ExpressionAttributeNames={"#a": "b"}),
    ],
    "batch": [
        *FIVE,
        batch_write(*[{"PutRequest": {"Item": {"pk": s("b"), "sk": s(str(i))}}} for i in range(25)]),
        with_answer(batch_write({}), SEVERAL),
        with_answer(batch_write({"PutRequest": {"Item": KEY}, "DeleteRequest": {"Key": KEY}}), SEVERAL),
        batch_write({"PutRequest": {"Item": KEY}}, {"DeleteRequest": {"Key": KEY}}),
        with_answer(batch_write({"PutRequest": {"Item": {"pk": s("a")}}}), MISMATCH),
        with_answer(batch_write({"DeleteRequest": {"Key": {"pk": s("a")}}}), MISMATCH),
        batch_write(
            {"PutRequest": {"Item": {**FIRST, "g": s("1")}}},
            {"DeleteRequest": {"Key": {"pk": s("a"), "sk": s("1")}}},
            **INDEXES,
        ),
        batch_get(FIRST, FIRST),
        with_answer(batch_get({"pk": s("a")}), MISMATCH),
        with_answer(  # a missing item costs the minimum; Local counts nothing
            batch_get(FIRST, {"pk": s("none"), "sk": s("0")}, **INDEXES),
            {
                "Responses": {"orders": [{**FIRST, "g": s("1")}]},
                "UnprocessedKeys": {},
                "ConsumedCapacity": [{"TableName": "orders", "CapacityUnits": 1.0, "Table": {"CapacityUnits": 1.0}}],
            },
        ),
        batch_get(FIRST, expression="g", **TOTAL, consistent=True),
        with_answer(("BatchGetItem", {"RequestItems": {"missing": {"Keys": [KEY]}}}), MISSING_TABLE),
        (
            "BatchGetItem",
            {
                "RequestItems": {
                    "orders": {"Keys": [{"pk": s("a"), "sk": s(str(i))} for i in range(60)]},
                    "other": {"Keys": [{"pk": s("a"), "sk": s(str(i))} for i in range(41)]},
                }
            },
        ),
    ],
    "transactions": [
        *FIVE,
        with_answer(
            transact(),
            enveloped(
                "Value at 'TransactItems' failed to satisfy constraint: Member must have length greater than or equal to 1"  # noqa: E501
            ),
        ),
        transact({}),
        transact({"Put": {**TABLE, "Item": KEY}, "Delete": {**TABLE, "Key": KEY}}),
        transact(put_action(KEY), put_action(KEY)),
        with_answer(transact(put_action({**KEY, "g": n(1)})), cancelled(reason(mismatch("g", "S", "N", "ByG")))),
        with_answer(
            transact(put_action({"pk": s("a"), "sk": n(1)}), put_action(KEY)),
            cancelled(reason(invalid("Type mismatch for key sk expected: S actual: N")), NONE),
        ),
        transact(update_action("SET pk = :n", n=n(1))),
        transact(put_action(KEY, ConditionExpression="a =")),
        transact(update_action("SET note = :n", n=s("new")), put_action({**KEY, "m": s("m")})),
        with_answer(  # the API reference lists it among the reasons
            transact(update_action("ADD note :n", n=n(1)), put_action({**KEY, "m": s("2")})),
            cancelled(reason(fault("An operand in the update expression has an incorrect data type")), NONE),
        ),
        with_answer(
            transact(update_action("SET x.y = :n", n=n(1)), put_action({**KEY, "m": s("2")})),
            cancelled(reason(fault("The document path provided in the update expression is invalid for update")), NONE),
        ),
        with_answer(transact(update_action("SET g = :n", n=n(1))), cancelled(reason(mismatch("g", "S", "N", "ByG")))),
        get(),
        transact(check_action("attribute_exists(pk)"), put_action({"pk": s("n"), "sk": s("1")})),
        with_answer(  # the API reference: no ConditionCheck and write of one item
            transact(
                check_action("attribute_not_exists(pk)", **OLD_ITEM),
                put_action({"pk": s("n"), "sk": s("2")}),
                delete_action(KEY, ConditionExpression="attribute_not_exists(pk)"),
            ),
            fault("Transaction request cannot include multiple operations on one item"),
        ),
        transact(put_action({"pk": s("n"), "sk": s("3")}, ConditionExpression="attribute_exists(pk)", **OLD_ITEM)),
        scan(Select="COUNT"),
        transact(delete_action(KEY), ClientRequestToken="token"),
        transact(delete_action(KEY), ClientRequestToken="token"),
        with_answer(
            transact(delete_action(FIRST), ClientRequestToken="token"),
            fault(
                "Request parameters do not match the previous request with the same idempotency token",
                "IdempotentParameterMismatchException",
            ),
        ),
        with_answer(transact(put_action(KEY, TableName="missing")), MISSING_TABLE),
        transact_get(FIRST, FIRST),
        with_answer(transact_get(FIRST, {"pk": s("a")}), cancelled(NONE, reason(MISMATCH))),
        transact_get(FIRST, {"pk": s("none"), "sk": s("0")}),
    ],
    "number keys": [
        created(KeySchema=schema("pk", "sk"), AttributeDefinitions=attributes(pk="N", sk="N")),
        *[
            put({"pk": n(1), "sk": n(value)})
            for value in ("10", "9", "-1", "-10", "0", "0.5", "-0.5", "1E+10", "100", "1.0E-5")
        ],
        query("pk = :p", {"p": n("1.0")}, ProjectionExpression="sk"),
        query("pk = :p", {"p": n("1.00")}, ScanIndexForward=False, Limit=3),
        query("pk = :p AND sk BETWEEN :a AND :b", {"p": n(1), "a": n("-1"), "b": n("9.0")}, ProjectionExpression="sk"),
        query("pk = :p AND sk > :a", {"p": n(1), "a": n("1E2")}),
        query("pk = :p AND begins_with(sk, :a)", {"p": n(1), "a": n("1")}),
        ("GetItem", {**TABLE, "Key": {"pk": n("1E0"), "sk": n("100.0")}}),
        ("GetItem", {**TABLE, "Key": {"pk": n("0.1E1"), "sk": n("-0")}}),
    ],
    "binary keys": [
        created(KeySchema=schema("pk", "sk"), AttributeDefinitions=attributes(pk="B", sk="B")),
        *[
            put({"pk": {"B": "AQ=="}, "sk": {"B": value}})
            for value in ("AA==", "/w==", "AP8=", "AQ==", "fw==", "gA==", "//8=")
        ],
        query("pk = :p", {"p": {"B": "AQ=="}}, ProjectionExpression="sk"),
        query("pk = :p AND sk >= :a", {"p": {"B": "AQ=="}, "a": {"B": "gA=="}}, ProjectionExpression="sk"),
        query("pk = :p AND begins_with(sk, :a)", {"p": {"B": "AQ=="}, "a": {"B": "/w=="}}, ProjectionExpression="sk"),
        put({"pk": {"B": ""}, "sk": {"B": "AA=="}}),
        query("pk = :p", {"p": {"B": "AQ=="}}, Limit=2),
    ],
    "no sort key": [
        created(
            KeySchema=schema("pk"),
            AttributeDefinitions=attributes(pk="S", g="S"),
            GlobalSecondaryIndexes=[index("ByG", "g")],
        ),
        put({"pk": s("a"), "g": s("x")}),
        put({"pk": s("b"), "g": s("x")}),
        ("GetItem", {**TABLE, "Key": {"pk": s("a")}}),
        with_answer(("GetItem", {**TABLE, "Key": KEY}), MISMATCH),
        query("pk = :p", {"p": "a"}, Limit=1),
        with_answer(
            query("pk = :p AND sk = :p", {"p": "a"}),
            fault("The number of query conditions (2) exceeds the number of key attributes defined in the schema (1)"),
        ),
        query("g = :p", {"p": "x"}, IndexName="ByG", Select="COUNT"),
        with_answer(
            query("pk = :p", {"p": "a"}, ExclusiveStartKey={"pk": s("a")}),
            fault("The query can return at most one row and cannot be restarted"),
        ),
        put({"pk": s("a")}, ReturnValues="ALL_OLD", **INDEXES),
    ],
    "several attributes": [
        created(
            AttributeDefinitions=attributes(pk="S", sk="S", a="S", b="N", c="S", d="N"),
            GlobalSecondaryIndexes=[index("Many", "a", "b", "c", "d", partition=2)],
        ),
        *[
            put({"pk": s("a"), "sk": s(f"{c}{d}"), "a": s("x"), "b": n(1), "c": s(str(c)), "d": n(d)})
            for c in range(3)
            for d in (2, 10)
        ],
        put({"pk": s("a"), "sk": s("partly"), "a": s("x"), "b": n(1), "c": s("1")}),
        query("a = :a AND b = :b", {"a": "x", "b": n(1)}, **MANY),
        query("a = :a AND b = :b AND c = :c", {"a": "x", "b": n(1), "c": "1"}, **MANY),
        query("a = :a AND b = :b AND c = :c AND d > :d", {"a": "x", "b": n(1), "c": "1", "d": n(2)}, **MANY),
        query("a = :a AND b = :b AND c > :c", {"a": "x", "b": n(1), "c": "0"}, **MANY),
        query("a = :a AND b = :b AND begins_with(c, :c)", {"a": "x", "b": n(1), "c": "2"}, **MANY),
        query("a = :a AND b = :b", {"a": "x", "b": n(1)}, IndexName="Many", Limit=2, ScanIndexForward=False),
        query("a = :a", {"a": "x"}, IndexName="Many"),
        query("a = :a AND b = :b AND d = :d", {"a": "x", "b": n(1), "d": n(2)}, IndexName="Many"),
        query("a = :a AND b = :b AND c > :c AND d = :d", {"a": "x", "b": n(1), "c": "0", "d": n(2)}, IndexName="Many"),
        put({"pk": s("a"), "sk": s("00"), "a": s("x"), "b": n(1), "c": s("0"), "d": n(3)}, **INDEXES),
    ],
}
