"""Keys of each type in parallel scans, and the size limits of index keys."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.dynamodb.limits import PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from keyplan.store import Engine
from tests.engine.support import answer, binary, create, keyed, n, s


@pytest.mark.parametrize("kind", ["S", "N", "B"])
def test_parallel_scan_of_any_key_type_returns_each_item_once(engine: Engine, kind: str) -> None:
    create(engine, **keyed(pk=kind))
    numbers = range(40)
    stored = [s(str(each)) if kind == "S" else n(each) if kind == "N" else binary(bytes([each])) for each in numbers]
    for each in stored:
        engine.call("PutItem", {"TableName": "orders", "Item": {"pk": each}})
    pages = [
        engine.call("Scan", {"TableName": "orders", "Segment": segment, "TotalSegments": 4})["Items"]
        for segment in range(4)
    ]
    assert all(pages)
    assert sorted(str(item["pk"]) for page in pages for item in page) == sorted(map(str, stored))


@pytest.mark.parametrize("operation", ["PutItem", "UpdateItem", "TransactWriteItems", "BatchWriteItem"])
@pytest.mark.parametrize(("name", "size_max"), [("g", PARTITION_KEY_BYTES_MAX), ("h", SORT_KEY_BYTES_MAX)])
@pytest.mark.parametrize("character", ["x", "\u00e4", "\U0001f600"])
def test_index_keys_have_the_same_size_limits_as_table_keys(
    engine: Engine, operation: str, name: str, size_max: int, character: str
) -> None:
    create(engine)
    count = size_max // len(character.encode())
    key = {"pk": s("a"), "sk": s("1")}
    plain = {"g": s("g"), "h": s("h")}

    def error_of(text: str) -> str | None:
        item = {**key, **plain, name: s(text)}
        put = {"TableName": "orders", "Item": item}
        changes = {
            "TableName": "orders",
            "Key": key,
            "UpdateExpression": "SET g = :g, h = :h",
            "ExpressionAttributeValues": {":g": item["g"], ":h": item["h"]},
        }
        params: dict[str, dict[str, Any]] = {
            "PutItem": put,
            "UpdateItem": changes,
            "TransactWriteItems": {"TransactItems": [{"Update": changes}]},
            "BatchWriteItem": {"RequestItems": {"orders": [{"PutRequest": {"Item": item}}]}},
        }
        error: str | None = answer(engine, operation, params[operation]).get("error")
        return error

    assert error_of(character * count) is None
    assert error_of(character * count + "x") in {"ValidationException", "TransactionCanceledException"}
