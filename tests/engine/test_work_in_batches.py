"""Operations on a whole table run in batches, with other requests between the batches. Each time a
test runs, it sends the same other requests in the same order.
"""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.errors import StoreError
from keyplan.store import Engine
from tests.engine.batches import (
    ADD,
    ADD_VECTORS,
    BY_X,
    DROP,
    DROP_VECTORS,
    QUERY,
    ROWS,
    SEARCH,
    TABLE,
    Writers,
    between,
    by_key,
    engines,
    tables_of,
)
from tests.engine.support import answer, create, n, pages, put, s

__all__ = ["between", "engines"]


def statuses(engine: Engine) -> dict[str, tuple[str, bool | None]]:
    table = engine.call("DescribeTable", TABLE)["Table"]
    assert table["TableStatus"] == "ACTIVE"
    indexes = [*table.get("GlobalSecondaryIndexes", []), *table.get("VectorIndexes", [])]
    return {each["IndexName"]: (each["IndexStatus"], each.get("Backfilling")) for each in indexes}


# --- indexes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_new_index_is_backfilled_in_batches_during_other_writes(engines: list[Engine], between: Any, seed: int) -> None:
    others = Writers(engines, seed)
    create(engines[0])
    others.write(60)

    def meanwhile() -> None:
        others.write()
        others.check()
        for engine in engines:
            assert statuses(engine)["ByX"] == ("CREATING", True)
            refused = answer(engine, "Query", QUERY)
            assert refused["message"] == "Cannot read from backfilling global secondary index: ByX"

    count = between(meanwhile)
    engines[0].call("UpdateTable", ADD)
    assert len(count) >= 3
    others.check()
    expected = {key: item for key, item in others.stored.items() if "x" in item}
    for engine in engines:
        assert statuses(engine)["ByX"] == ("ACTIVE", None)
        assert by_key(pages(engine, "Scan", {**TABLE, "IndexName": "ByX"})) == expected
        assert {key[1] for key in by_key(pages(engine, "Query", QUERY))} == {
            key[1] for key, item in expected.items() if item["x"] == s("p")
        }
        assert engine.check() == []


@pytest.mark.parametrize("seed", range(1))
def test_vector_index_backfill_in_batches_allows_other_writes(engines: list[Engine], between: Any, seed: int) -> None:
    others = Writers(engines, seed)
    create(engines[0])
    others.write(60)

    def meanwhile() -> None:
        others.write()
        for engine in engines:
            assert statuses(engine)["ByV"] == ("CREATING", True)
            refused = answer(engine, "SearchVectors", SEARCH)
            assert refused["message"] == "Cannot search backfilling vector index: ByV"
            assert engine.check() == []

    count = between(meanwhile)
    engines[0].call("UpdateTable", ADD_VECTORS)
    assert len(count) >= 3
    for engine in engines:
        results = [each["Item"] for each in engine.call("SearchVectors", SEARCH)["SearchResults"]]
        assert by_key(results).keys() == {key for key, item in others.stored.items() if "v" in item}
        assert engine.check() == []


@pytest.mark.parametrize(("add", "drop", "name"), [(ADD, DROP, "ByX"), (ADD_VECTORS, DROP_VECTORS, "ByV")])
def test_conflicting_requests_are_rejected_during_index_backfill(between: Any, add: Any, drop: Any, name: str) -> None:
    with Engine.open(":memory:") as engine:
        create(engine)
        for number in range(20):
            put(engine, "a", str(number), x=s("p"), v={"L": [n(1), n(2)]})
        second = {**BY_X, "IndexName": "ByY"}
        results: list[Any] = []

        def meanwhile() -> None:
            if results:
                return
            results.append(answer(engine, "UpdateTable", {**ADD, "GlobalSecondaryIndexUpdates": [{"Create": second}]}))
            results.append(answer(engine, "DeleteTable", TABLE))
            engine.call("UpdateTable", drop)
            assert name not in statuses(engine)

        between(meanwhile)
        described = engine.call("UpdateTable", add)["TableDescription"]
        assert [each["error"] for each in results] == ["LimitExceededException", "ResourceInUseException"]
        indexes = [*described.get("GlobalSecondaryIndexes", []), *described.get("VectorIndexes", [])]
        assert [each["IndexName"] for each in indexes] == ["ByG"]
        assert engine.check() == []
        between(lambda: None)
        engine.call("UpdateTable", add)
        assert statuses(engine)[name] == ("ACTIVE", None)


@pytest.mark.parametrize("error", [KeyboardInterrupt, StoreError("The disk failed")])
def test_failed_index_creation_leaves_no_rows(between: Any, error: BaseException | type[BaseException]) -> None:
    with Engine.open(":memory:") as engine:
        create(engine)
        for number in range(20):
            put(engine, "a", str(number), x=s("p"))

        def fail() -> None:
            raise error

        between(fail)
        for add in (ADD, ADD_VECTORS):
            with pytest.raises((KeyboardInterrupt, StoreError)):
                engine.call("UpdateTable", add)
            assert statuses(engine) == {"ByG": ("ACTIVE", None)}
        attributes = engine.call("DescribeTable", TABLE)["Table"]["AttributeDefinitions"]
        assert "x" not in {each["AttributeName"] for each in attributes}
        between(lambda: None)
        engine.call("UpdateTable", ADD)
        assert len(pages(engine, "Scan", {**TABLE, "IndexName": "ByX"})) == 20


# --- time to live -----------------------------------------------------------------------------------------

EXPIRE = {**TABLE, "TimeToLiveSpecification": {"AttributeName": "times", "Enabled": True}}


@pytest.mark.parametrize("fails", [False, True])
def test_ttl_is_enabled_in_batches_during_other_writes(engines: list[Engine], between: Any, fails: bool) -> None:
    """Items whose ``times`` is at most 500 have expired. If enabling TTL fails, the next sweep completes the work."""
    for engine in engines:
        engine.database.clock = engine._storage.clock = lambda: 500.0
    others = Writers(engines, 4)
    create(engines[0])
    others.write(60)
    results: list[int] = []

    def meanwhile() -> None:
        others.write()
        results.append(1)
        if fails and len(results) == 2:
            raise StoreError("The disk failed")

    between(meanwhile)
    if fails:
        with pytest.raises(StoreError, match="The disk failed"):
            engines[0].call("UpdateTimeToLive", EXPIRE)
        assert engines[-1].call("DescribeTimeToLive", TABLE)["TimeToLiveDescription"]["TimeToLiveStatus"] == "ENABLED"
        between(others.write)
    else:
        engines[0].call("UpdateTimeToLive", EXPIRE)
    assert len(results) >= 2
    engines[-1].sweep(0)  # completes unfinished work
    between(lambda: None)
    kept = {key: item for key, item in others.stored.items() if int(item.get("times", n(501))["N"]) > 500}
    assert engines[-1].sweep() == len(others.stored) - len(kept)
    others.stored = kept
    others.check()
    engines[0].call(
        "UpdateTimeToLive", {**TABLE, "TimeToLiveSpecification": {"AttributeName": "times", "Enabled": False}}
    )
    assert not [name for name in tables_of(engines[0]) if name.startswith("expires")]


@pytest.mark.parametrize(
    ("operation", "params"), [("UpdateTable", ADD), ("UpdateTable", ADD_VECTORS), ("UpdateTimeToLive", EXPIRE)]
)
def test_new_index_becomes_active_despite_continuous_writes(between: Any, operation: str, params: Any) -> None:
    with Engine.open(":memory:") as engine:
        create(engine)
        numbers = iter(range(1000))

        def write(count: int = 2 * ROWS) -> None:
            for _ in range(count):
                put(engine, "a", str(next(numbers)), x=s("p"), times=n(1), v={"L": [n(1), n(2)]})

        write(20)
        batches = between(write)
        engine.call(operation, params)
        assert 3 <= len(batches) <= 6
        assert engine.check() == []
        if operation == "UpdateTable":
            shown = engine.call("DescribeTable", TABLE)["Table"]
            (index,) = [
                each
                for each in [*shown["GlobalSecondaryIndexes"], *shown.get("VectorIndexes", [])]
                if each["IndexName"] != "ByG"
            ]
            assert index["ItemCount"] == shown["ItemCount"]
