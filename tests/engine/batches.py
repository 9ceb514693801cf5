"""Helpers for tests of work in batches: stores, concurrent writers, and the items that the writers have written."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan.store import Engine
from keyplan.store import work_budget as effort
from keyplan.store.storage.sqlite import Storage
from tests.engine.support import index, n, pages, s

TABLE = {"TableName": "orders"}
ROWS = 4
"""Items per batch."""
Item = dict[str, Any]
Key = tuple[str, str]


@pytest.fixture(params=[*(pytest.param(each, marks=pytest.mark.nightly) for each in ("memory", "file")), "two"])
def engines(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Engine]]:
    """Open a store with one engine, or with two engines on the same file."""
    path = ":memory:" if request.param == "memory" else str(tmp_path / "store.db")
    with Engine.open(path) as engine:
        if request.param != "two":
            yield [engine]
            return
        with Engine.open(path) as other:
            yield [engine, other]


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], list[int]]:
    """Return a function that makes ``work`` run between batches, and returns a list with an element per run."""

    def begin(work: Callable[[], None], rows: int = ROWS) -> list[int]:
        monkeypatch.setattr(effort, "PIECE_ROWS", rows)
        count: list[int] = []

        def let_others_in(storage: Storage) -> None:
            count.append(len(count))
            monkeypatch.setattr(Storage, "let_others_in", lambda _: None)  # the work itself isn't interrupted
            try:
                work()
            finally:
                monkeypatch.setattr(Storage, "let_others_in", let_others_in)

        monkeypatch.setattr(Storage, "let_others_in", let_others_in)
        return count

    return begin


class Writers:
    """Writers of random items, with a dictionary of the items that the table must contain."""

    def __init__(self, engines: list[Engine], seed: int) -> None:
        self.engines = engines
        self.chance = random.Random(seed)
        self.stored: dict[Key, Item] = {}

    def write(self, count: int = 3) -> None:
        """Write random items, each through a random engine."""
        for _ in range(count):
            chance = self.chance
            key = (chance.choice("ab"), f"{chance.randrange(24):02}")
            engine = self.engine_of(key)
            asked = {"pk": s(key[0]), "sk": s(key[1])}
            kind = chance.choice(("put", "put", "update", "delete"))
            if kind == "put":
                item = {**asked, **self.attributes()}
                engine.call("PutItem", {**TABLE, "Item": item})
                self.stored[key] = item
            elif kind == "update":
                given = self.attributes()
                sets = ", ".join(f"{name} = :{name}" for name in given)
                values = {f":{name}": value for name, value in given.items()}
                engine.call(
                    "UpdateItem",
                    {**TABLE, "Key": asked, "UpdateExpression": f"SET {sets}", "ExpressionAttributeValues": values},
                )
                self.stored[key] = {**self.stored.get(key, asked), **given}
            else:
                engine.call("DeleteItem", {**TABLE, "Key": asked})
                self.stored.pop(key, None)

    def engine_of(self, key: Key) -> Engine:
        """Return a random engine to write the item with this key."""
        return self.chance.choice(self.engines)

    def attributes(self) -> Item:
        chance = self.chance
        more: Item = {"x": s(chance.choice("pqr"))} if chance.random() < 0.8 else {"y": s("no x")}
        vector = {"L": [n(chance.randrange(9)), n(1)]}
        return {**more, "times": n(chance.randrange(1000)), **({"v": vector} if chance.random() < 0.8 else {})}

    def check(self) -> None:
        """Check that the table contains exactly the written items."""
        for engine in self.engines:
            assert by_key(pages(engine, "Scan", {**TABLE, "ConsistentRead": True})) == self.stored


def by_key(items: list[Item]) -> dict[Key, Item]:
    result = {(item["pk"]["S"], item["sk"]["S"]): item for item in items}
    assert len(result) == len(items)
    return result


BY_X = index("ByX", "x")
KEYS = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")]
ADD_ATTRIBUTES = [{"AttributeName": "x", "AttributeType": "S"}]
ADD = {**TABLE, "AttributeDefinitions": ADD_ATTRIBUTES, "GlobalSecondaryIndexUpdates": [{"Create": BY_X}]}
DROP = {**TABLE, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "ByX"}}]}
QUERY = {**TABLE, "IndexName": "ByX", "KeyConditionExpression": "x = :x", "ExpressionAttributeValues": {":x": s("p")}}
ADD_VECTORS = {
    **TABLE,
    "VectorIndexUpdates": [
        {
            "Create": {
                "IndexName": "ByV",
                "VectorAttribute": {"AttributeName": "v"},
                "Dimensions": 2,
                "DistanceFunction": "EUCLIDEAN",
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        }
    ],
}
DROP_VECTORS = {**TABLE, "VectorIndexUpdates": [{"Delete": {"IndexName": "ByV"}}]}
SEARCH = {**TABLE, "IndexName": "ByV", "SearchVector": [{"N": "0"}, {"N": "1"}], "TopK": 100}
HISTORY = {**TABLE, "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
COPY = {"TableName": "copy"}
LATEST = {"SourceTableName": "orders", "TargetTableName": "copy", "UseLatestRestorableTime": True}


def back_up(engine: Engine, name: str = "first") -> str:
    arn: str = engine.call("CreateBackup", {**TABLE, "BackupName": name})["BackupDetails"]["BackupArn"]
    return arn


def restored(engine: Engine, arn: str, name: str = "copy") -> dict[Key, Item]:
    engine.call("RestoreTableFromBackup", {"TargetTableName": name, "BackupArn": arn})
    items = by_key(pages(engine, "Scan", {"TableName": name}))
    assert by_key(pages(engine, "Scan", {"TableName": name, "IndexName": "ByG"})).keys() == {
        key for key, item in items.items() if "g" in item and "h" in item
    }
    return items


def tables_of(engine: Engine) -> set[str]:
    """Return the names of all SQLite tables in the file."""
    connection = engine._storage.pool.take()
    names = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    engine._storage.pool.give(connection)
    return names
