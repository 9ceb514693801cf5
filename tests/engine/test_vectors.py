"""Vector indexes: their definitions and entries, and searches for the nearest items."""

from __future__ import annotations

import math
import random
import struct
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from keyplan.store import Engine
from keyplan.store.storage.vector_rows import Vectors
from tests.engine.scenarios import fault
from tests.engine.support import answer, create, n, s


def vectors(name: str, **more: Any) -> dict[str, Any]:
    return {
        "IndexName": name,
        "VectorAttribute": {"AttributeName": "embedding"},
        "Projection": {"ProjectionType": "ALL"},
        "Dimensions": 3,
        "DistanceFunction": "EUCLIDEAN",
        **more,
    }


TENANTS: dict[str, Any] = {
    "SearchSchema": [
        {"AttributeName": "h", "SearchSchemaElementType": "INLINE_FILTER"},
        {"AttributeName": "g", "SearchSchemaElementType": "HASH"},
    ]
}


def vector(*numbers: object) -> dict[str, Any]:
    return {"L": [n(number) for number in numbers]}


def put(engine: Engine, sk: str, *numbers: object, **attributes: dict[str, Any]) -> dict[str, Any]:
    item = {"pk": s("a"), "sk": s(sk), **attributes}
    if numbers:
        item["embedding"] = vector(*numbers)
    return answer(engine, "PutItem", {"TableName": "orders", "Item": item, "ReturnConsumedCapacity": "INDEXES"})


def search(engine: Engine, *numbers: object, **more: Any) -> dict[str, Any]:
    request = {
        "TableName": "orders",
        "IndexName": "plain",
        "SearchVector": [n(number) for number in numbers],
        "TopK": 10,
        **more,
    }
    return answer(engine, "SearchVectors", request)


def found(engine: Engine, *numbers: object, **more: Any) -> list[tuple[str, float]]:
    results: list[dict[str, Any]] = search(engine, *numbers, **more)["SearchResults"]
    return [(result["Item"]["sk"]["S"], result["Score"]) for result in results]


def in_tenant(tenant: str, **more: Any) -> dict[str, Any]:
    return {
        "IndexName": "tenants",
        "SearchConditionExpression": "g = :g",
        "ExpressionAttributeValues": {":g": s(tenant)},
        **more,
    }


@pytest.fixture
def shop(engine: Engine) -> Engine:
    create(engine, VectorIndexes=[vectors("plain"), vectors("tenants", **TENANTS)])
    return engine


def test_vector_search_returns_the_nearest_items_first(shop: Engine) -> None:
    for sk, numbers in (("far", (9, 9, 9)), ("near", (1, 0, 0)), ("here", (0, 0, 0)), ("same", (0, 1, 0))):
        put(shop, sk, *numbers)
    put(shop, "without")
    expected = [("here", 0.0), ("near", 1.0), ("same", 1.0), ("far", pytest.approx(math.sqrt(243), rel=1e-6))]
    assert found(shop, 0, 0, 0) == expected
    assert found(shop, 0, 0, 0, TopK=2) == expected[:2]


@pytest.mark.parametrize(
    ("function", "scores"),
    [
        ("COSINE", [("double", 0.0), ("one", 0.0), ("aside", 1.0), ("zero", 1.0), ("back", 2.0)]),
        ("DOT_PRODUCT", [("double", 4.0), ("one", 2.0), ("aside", 0.0), ("zero", 0.0), ("back", -2.0)]),
        ("EUCLIDEAN", [("one", 1.0), ("double", 0.0), ("zero", 2.0), ("aside", math.sqrt(5)), ("back", 3.0)]),
    ],
)
def test_each_distance_function_scores_and_sorts_search_results(
    engine: Engine, function: str, scores: list[tuple[str, float]]
) -> None:
    create(engine, VectorIndexes=[vectors("plain", DistanceFunction=function)])
    items = {"one": (1, 0, 0), "double": (2, 0, 0), "aside": (0, 1, 0), "zero": (0, 0, 0), "back": (-1, 0, 0)}
    for sk, numbers in items.items():
        put(engine, sk, *numbers)
    results = found(engine, 2, 0, 0)
    assert {sk: pytest.approx(score, rel=1e-6) for sk, score in results} == dict(scores)
    ordered = [score for _, score in results]
    assert ordered == sorted(ordered, reverse=function == "DOT_PRODUCT")


@pytest.mark.parametrize("function", ["COSINE", "DOT_PRODUCT", "EUCLIDEAN"])
def test_vector_searches_by_sqlite_vec_and_by_python_return_equal_results(
    engine: Engine, function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sqlite_vec")
    create(engine, VectorIndexes=[vectors("plain", DistanceFunction=function)])
    chance = random.Random(3)
    for number in range(300):
        put(engine, str(number), *[chance.uniform(-3, 3) for _ in range(3)])
    put(engine, "zero", 0, 0, 0)
    by_sqlite = [found(engine, 1, y, -1, TopK=20) for y in range(-3, 4)]
    monkeypatch.setattr(Vectors, "nearest", lambda *_: None)
    assert [found(engine, 1, y, -1, TopK=20) for y in range(-3, 4)] == by_sqlite


@pytest.mark.parametrize("has_sqlite_vec", [False, True])
def test_vector_search_returns_the_brute_force_result_after_random_writes(
    shop: Engine, monkeypatch: pytest.MonkeyPatch, *, has_sqlite_vec: bool
) -> None:
    if not has_sqlite_vec:
        monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    chance = random.Random(7)
    held: dict[str, tuple[str, list[float]]] = {}
    for _ in range(300):
        sk = f"{chance.randrange(40):02d}"
        if chance.random() < 0.2:
            shop.call("DeleteItem", {"TableName": "orders", "Key": {"pk": s("a"), "sk": s(sk)}})
            held.pop(sk, None)
            continue
        numbers = [round(chance.uniform(-5, 5), 3) for _ in range(3)]
        tenant = chance.choice("xy")
        put(shop, sk, *numbers, g=s(tenant))
        held[sk] = (tenant, numbers)
    target = [0.5, -1.25, 2.0]

    def distance(numbers: Sequence[float]) -> float:
        singles: tuple[float, ...] = struct.unpack("<3f", struct.pack("<3f", *numbers))
        return math.dist(singles, target)

    nearest = sorted((distance(numbers), sk) for sk, (_, numbers) in held.items())[:10]
    assert [sk for sk, _ in found(shop, *target)] == [sk for _, sk in nearest]
    own = sorted((distance(numbers), sk) for sk, (tenant, numbers) in held.items() if tenant == "x")[:10]
    assert [sk for sk, _ in found(shop, *target, **in_tenant("x"))] == [sk for _, sk in own]
    assert shop.check() == []


def test_search_sorts_items_at_equal_distances_by_key(engine: Engine) -> None:
    create(engine, VectorIndexes=[vectors("plain")])
    keys = [("b", "1"), ("a", "2"), ("c", "0"), ("a", "1")]
    for pk, sk in keys:
        item = {"pk": s(pk), "sk": s(sk), "embedding": vector(1, 2, 3)}
        engine.call("PutItem", {"TableName": "orders", "Item": item})
    items = [result["Item"] for result in search(engine, 1, 2, 3)["SearchResults"]]
    assert [(item["pk"]["S"], item["sk"]["S"]) for item in items] == sorted(keys)


def test_vector_search_filters_items_by_equality_conditions(shop: Engine) -> None:
    put(shop, "1", 0, 0, 1, g=s("x"), h=s("red"))
    put(shop, "2", 0, 0, 2, g=s("x"), h=s("blue"))
    put(shop, "3", 0, 0, 3, g=s("y"), h=s("red"))
    put(shop, "4", 0, 0, 4, g=s("x"))
    put(shop, "5", 0, 0, 5)
    assert [sk for sk, _ in found(shop, 0, 0, 0, **in_tenant("x"))] == ["1", "2", "4"]
    red = {
        "SearchConditionExpression": "g = :g AND #h = :h",
        "ExpressionAttributeNames": {"#h": "h"},
        "ExpressionAttributeValues": {":g": s("x"), ":h": s("red")},
    }
    assert [sk for sk, _ in found(shop, 0, 0, 0, IndexName="tenants", **red)] == ["1"]
    assert len(found(shop, 0, 0, 0)) == 5


def test_item_without_the_indexed_attributes_is_removed_from_a_vector_index(shop: Engine) -> None:
    put(shop, "1", 0, 0, 1, g=s("x"))
    key = {"TableName": "orders", "Key": {"pk": s("a"), "sk": s("1")}}
    shop.call("UpdateItem", {**key, "UpdateExpression": "REMOVE g"})
    assert found(shop, 0, 0, 0, **in_tenant("x")) == []
    assert len(found(shop, 0, 0, 0)) == 1
    shop.call("UpdateItem", {**key, "UpdateExpression": "REMOVE embedding"})
    assert found(shop, 0, 0, 0) == []
    change = {"UpdateExpression": "SET embedding = :v", "ExpressionAttributeValues": {":v": vector(1, 1, 1)}}
    shop.call("UpdateItem", {**key, **change})
    assert len(found(shop, 0, 0, 0)) == 1
    shop.call("DeleteItem", key)
    assert found(shop, 0, 0, 0) == []


def test_vector_search_returns_projected_attributes(engine: Engine) -> None:
    keys = vectors("plain", Projection={"ProjectionType": "KEYS_ONLY"})
    some = vectors("some", Projection={"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"]})
    create(engine, VectorIndexes=[keys, some, vectors("all")])
    put(engine, "1", 1, "0.1", "1e20", x=n(1), y=n(2))
    key = {"pk": s("a"), "sk": s("1")}
    for name, more in (("plain", {}), ("some", {"x": n(1)}), ("all", {"x": n(1), "y": n(2)})):
        results = search(engine, 0, 0, 0, IndexName=name)["SearchResults"]
        assert results[0]["Item"] == {**key, **more}
    shown = search(engine, 0, 0, 0, ProjectionExpression="sk, embedding")["SearchResults"][0]["Item"]
    assert shown == {"sk": s("1"), "embedding": vector("1.0", "0.1", "1e+20")}
    # A missing attribute is omitted.
    assert search(engine, 0, 0, 0, ProjectionExpression="y, sk")["SearchResults"][0]["Item"] == {"sk": s("1")}
    assert search(engine, 0, 0, 0, ProjectionExpression="y")["SearchResults"][0]["Item"] == {}


def test_filter_attribute_can_be_empty_but_partition_attribute_cannot(engine: Engine) -> None:
    create(engine, VectorIndexes=[vectors("tenants", **TENANTS)], GlobalSecondaryIndexes=None)
    put(engine, "1", 1, 2, 3, g=s("t"), h=s(""))
    both = "g = :g AND h = :h"
    values = {":g": s("t"), ":h": s("")}
    shown = found(engine, 1, 2, 3, **in_tenant("t", SearchConditionExpression=both, ExpressionAttributeValues=values))
    assert shown == [("1", 0.0)]
    assert "cannot contain an empty string value" in put(engine, "2", 1, 2, 3, g=s(""), h=s("x"))["message"]


def test_fractional_values_of_integer_parameters_are_truncated(engine: Engine) -> None:
    create(engine, VectorIndexes=[vectors("plain", Dimensions=3.9)])
    described = engine.call("DescribeTable", {"TableName": "orders"})["Table"]["VectorIndexes"]
    assert described[0]["Dimensions"] == 3
    put(engine, "1", 1, 2, 3)
    put(engine, "2", 1, 2, 3)
    assert engine.call("Scan", {"TableName": "orders", "Limit": 1.9})["Count"] == 1
    assert answer(engine, "Scan", {"TableName": "orders", "Limit": 0.9})["message"] == (
        "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: "
        "Member must have value greater than or equal to 1"
    )


KEYS = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")]


def test_vector_index_is_added_and_deleted(engine: Engine) -> None:
    create(engine)
    put(engine, "1", 1, 2, 3, g=s("x"))
    put(engine, "2", 1, 2)
    put(engine, "3", g=s("x"), embedding=s("none"))
    added = {
        "TableName": "orders",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("g", "h")],
        "VectorIndexUpdates": [{"Create": vectors("tenants", **TENANTS)}],
    }
    table = engine.call("UpdateTable", added)["TableDescription"]
    assert table["VectorIndexes"] == [
        {
            **vectors("tenants", **TENANTS),
            "IndexStatus": "ACTIVE",
            "IndexSizeBytes": 12,
            "ItemCount": 1,
            "IndexArn": table["TableArn"] + "/index/tenants",
        }
    ]
    assert [sk for sk, _ in found(engine, 0, 0, 0, **in_tenant("x"))] == ["1"]
    scan = {"TableName": "orders", "IndexName": "tenants"}
    assert answer(engine, "Scan", scan)["message"] == "Scan operation not supported on this index type"
    select = {"Statement": "SELECT * FROM orders.tenants"}
    assert answer(engine, "ExecuteStatement", select)["message"] == "Scan operation not supported on this index type"
    assert engine.check() == []
    both = [{"Create": vectors("plain")}, {"Delete": {"IndexName": "tenants"}}]
    refused = answer(engine, "UpdateTable", {"TableName": "orders", "VectorIndexUpdates": both})
    assert refused["error"].endswith("LimitExceededException")
    removed = {"TableName": "orders", "VectorIndexUpdates": [{"Delete": {"IndexName": "tenants"}}]}
    assert "VectorIndexes" not in engine.call("UpdateTable", removed)["TableDescription"]
    put(engine, "2", 1, 2)
    assert answer(engine, "UpdateTable", removed) == fault(
        "Requested resource not found: Index tenants for table orders", "ResourceNotFoundException"
    )
    engine.call("UpdateTable", added)
    engine.call("DeleteTable", {"TableName": "orders"})
    create(engine)
    assert engine.check() == []


def test_writes_to_a_vector_index_are_billed_by_bytes(engine: Engine) -> None:
    keys = {"ProjectionType": "KEYS_ONLY"}
    large = vectors("plain", Dimensions=1000, Projection=keys, SearchSchema=TENANTS["SearchSchema"][1:])
    create(engine, VectorIndexes=[large])
    numbers = list(range(1000))

    def written(given: dict[str, Any]) -> float | None:
        indexes: dict[str, Any] = given["ConsumedCapacity"].get("VectorIndexes", {})
        return indexes["plain"]["VectorWriteRequestBytes"] if indexes else None

    size = 4000 + len("embedding") + len("pkask1gx")
    assert written(put(engine, "1", *numbers, g=s("x"))) == size
    assert written(put(engine, "1", *numbers, g=s("x"), other=n(1))) is None
    assert written(put(engine, "1", *numbers, g=s("y"))) == 2 * size
    assert written(put(engine, "1", g=s("y"))) == size
    assert written(put(engine, "2")) is None
    put(engine, "1", *numbers, g=s("y"))
    key = {"TableName": "orders", "Key": {"pk": s("a"), "sk": s("1")}, "ReturnConsumedCapacity": "TOTAL"}
    assert engine.call("DeleteItem", key)["ConsumedCapacity"].keys() == {"TableName", "CapacityUnits"}


def test_replacing_a_vector_entry_is_billed_by_its_larger_version(engine: Engine) -> None:
    create(engine, VectorIndexes=[vectors("plain")])
    given = [put(engine, "1", 1, 0, 0, pad=s("x" * length)) for length in (3000, 1500)]
    size = {"VectorWriteRequestBytes": 3000 + 4 * 3 + len("pkask1embeddingpad")}
    assert [each["ConsumedCapacity"]["VectorIndexes"] for each in given] == [{"plain": size}] * 2


def test_restored_table_has_its_vector_index(engine: Engine) -> None:
    create(engine, VectorIndexes=[vectors("plain")])
    put(engine, "1", 1, 2, 3)
    backup = engine.call("CreateBackup", {"TableName": "orders", "BackupName": "first"})["BackupDetails"]
    engine.call("RestoreTableFromBackup", {"BackupArn": backup["BackupArn"], "TargetTableName": "copy"})
    assert found(engine, 1, 2, 3, TableName="copy") == [("1", 0.0)]
    assert engine.check() == []


def test_vector_search_is_billed_by_the_examined_bytes(shop: Engine) -> None:
    for number in range(50):
        put(shop, str(number), number, 0, 0)
    given = search(shop, 0, 0, 0, ReturnConsumedCapacity="TOTAL")
    assert given["ConsumedCapacity"]["VectorSearchRequestBytes"] > 50 * 12
    assert given["ConsumedCapacity"] == search(shop, 0, 0, 0, ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"]
    assert "ConsumedCapacity" not in search(shop, 0, 0, 0)
    given = search(shop, 0, 0, 0, TopK=1, ReturnConsumedCapacity="TOTAL", **in_tenant("x"))
    assert given["ConsumedCapacity"] == {"VectorSearchRequestBytes": 1024}


def test_integrity_check_reports_damaged_vector_index_entries(engine: Engine) -> None:
    create(engine, VectorIndexes=[vectors("plain")])
    put(engine, "1", 1, 2, 3)
    put(engine, "2", 1, 2, 3)
    storage = engine._storage
    found_: list[int] = storage.read(lambda reader: [row for row, _, _ in reader.vectors.entries(1, 2)])
    storage.write(lambda writer: writer.vectors.remove(1, 2, found_[0]))
    storage.write(lambda writer: writer.vectors.put(1, 2, found_[1], (), bytes(12)))
    storage.write(lambda writer: writer.vectors.put(1, 2, 99, (), bytes(12)))
    assert [finding.code for finding in engine.check()] == ["EntryMissing", "EntryWrong", "EntryStray"]


WIDE = 12345678901234567890123456789012345678
"""A number of 20 bytes."""


@pytest.mark.parametrize(("billed", "units"), [(1024, 1), (1025, 2), (4096, 4)])
def test_writes_are_billed_by_dimensions_and_reads_by_stored_numbers(engine: Engine, billed: int, units: int) -> None:
    create(engine, VectorIndexes=[vectors("plain"), vectors("again", Projection={"ProjectionType": "KEYS_ONLY"})])
    item = {"pk": s("a"), "sk": s("1"), "embedding": vector(WIDE, WIDE, WIDE)}
    item["pad"] = s("x" * (billed - len("pkask1embeddingpad") - 3 * 4))
    capacity = {"TableName": "orders", "ReturnConsumedCapacity": "TOTAL"}
    assert engine.call("PutItem", {**capacity, "Item": item})["ConsumedCapacity"]["CapacityUnits"] == units
    # The larger of both sides is billed.
    small = {"pk": s("a"), "sk": s("1")}
    assert engine.call("PutItem", {**capacity, "Item": small})["ConsumedCapacity"]["CapacityUnits"] == units
    engine.call("PutItem", {"TableName": "orders", "Item": item})
    read = engine.call("GetItem", {**capacity, "Key": small, "ConsistentRead": True})
    assert read["ConsumedCapacity"]["CapacityUnits"] == (2 if billed == 4096 else 1)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"TableName": None}, "SerializationException", "invalid type: null, expected a string at line 1 column 17"),
        ({"TopK": None}, "SerializationException", "invalid type: null, expected i32 at line 1 column 78"),
        (
            {"SearchVector": None},
            "SerializationException",
            "invalid type: null, expected a sequence at line 1 column 59",
        ),
        (
            {"IndexName": 5},
            "SerializationException",
            "invalid type: integer `5`, expected a string at line 1 column 35",
        ),
        ({"TopK": "1"}, "SerializationException", 'invalid type: string "1", expected i32 at line 1 column 77'),
        ({"ProjectionExpression": None}, "ResourceNotFoundException", "Requested resource not found"),
        ({"TableName": ...}, "ValidationException", "missing field `TableName` at line 1 column 55"),
        ({"TableName": ..., "IndexName": "ab"}, "ValidationException", "missing field `TableName` at line 1 column 54"),
    ],
)
def test_invalid_search_members_are_rejected(engine: Engine, changes: dict[str, Any], error: str, message: str) -> None:
    params = {"TableName": "absent", "IndexName": "vix", "SearchVector": [n(1)], "TopK": 1, **changes}
    params = {name: value for name, value in params.items() if value is not ...}
    assert answer(engine, "SearchVectors", params) == {"error": error, "message": message}
