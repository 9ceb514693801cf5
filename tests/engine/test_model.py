"""After random operations, items equal those in a plain dictionary, and indexes contain exactly their items."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from keyplan.dynamodb.service_errors import TransactionCanceledException
from keyplan.dynamodb.values import check_item, item_size, key_text
from keyplan.store import Engine
from tests.engine.support import create, index, n, pages, s
from tests.seeds import examples

partitions = st.sampled_from(["a", "b", "é", "\U0001f600"])
sorts = st.sampled_from(["", "x", "xy", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\x00"]).map("s".__add__)
numbers = st.sampled_from(["0", "-1", "1", "2", "10", "1.5", "-100", "1E+20", "1E-20"])
optional = {
    "g": st.sampled_from(["g1", "g2"]).map(s),
    "h": numbers.map(n),
    "l": st.sampled_from(["l1", "l2", "l3"]).map(s),
    "note": st.text(max_size=20).map(s),
    "data": st.recursive(
        st.one_of(
            st.text(max_size=5).map(s),
            numbers.map(n),
            st.just({"NULL": True}),
            st.booleans().map(lambda b: {"BOOL": b}),
        ),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(lambda values: {"L": values}),
            st.dictionaries(st.text(min_size=1, max_size=3), inner, max_size=3).map(lambda values: {"M": values}),
        ),
        max_leaves=5,
    ),
}
items = st.builds(
    lambda pk, sk, more: {"pk": s(pk), "sk": s(sk), **more},
    partitions,
    sorts,
    st.fixed_dictionaries({}, optional=optional),
)
Items = dict[tuple[str, str], dict[str, Any]]


def printed(items: Iterable[dict[str, Any]]) -> list[str]:
    """Return the items as a sorted list of JSON texts, each with sorted attribute names."""
    return sorted(json.dumps(item, sort_keys=True) for item in items)


def normal(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item as the store returns it, with normalized numbers."""
    return check_item(item)


class Store(RuleBasedStateMachine):
    """A store whose contents are compared with a dictionary after each operation."""

    def __init__(self) -> None:
        super().__init__()
        self.engine = Engine.open(":memory:")
        self.items: Items = {}

    @initialize()
    def tables(self) -> None:
        create(
            self.engine,
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "N" if name == "h" else "S"}
                for name in ("pk", "sk", "g", "h", "l")
            ],
            GlobalSecondaryIndexes=[index("ByG", "g", "h"), index("Keys", "g", projection="KEYS_ONLY")],
            LocalSecondaryIndexes=[index("ByL", "pk", "l")],
        )

    def teardown(self) -> None:
        assert self.engine.check() == []
        self.engine.close()

    def remember(self, item: dict[str, Any]) -> None:
        self.items[item["pk"]["S"], item["sk"]["S"]] = normal(item)

    @rule(item=items)
    def put(self, item: dict[str, Any]) -> None:
        answer = self.engine.call("PutItem", {"TableName": "orders", "Item": item, "ReturnValues": "ALL_OLD"})
        assert answer.get("Attributes") == self.items.get((item["pk"]["S"], item["sk"]["S"]))
        self.remember(item)

    @rule(pk=partitions, sk=sorts)
    def delete(self, pk: str, sk: str) -> None:
        self.engine.call("DeleteItem", {"TableName": "orders", "Key": {"pk": s(pk), "sk": s(sk)}})
        self.items.pop((pk, sk), None)

    @rule(item=items, removed=st.sampled_from(["g", "h", "l", "note"]))
    def update(self, item: dict[str, Any], removed: str) -> None:
        key = {"pk": item["pk"], "sk": item["sk"]}
        changes = {name: value for name, value in item.items() if name not in key and name != removed}
        expression = f"REMOVE #{removed}"
        names = {f"#{removed}": removed}
        params: dict[str, Any] = {"TableName": "orders", "Key": key, "ReturnValues": "ALL_NEW"}
        if changes:
            expression += " SET " + ", ".join(f"#{name} = :{name}" for name in changes)
            names |= {f"#{name}": name for name in changes}
            params["ExpressionAttributeValues"] = {f":{name}": value for name, value in changes.items()}
        answer = self.engine.call(
            "UpdateItem", {**params, "UpdateExpression": expression, "ExpressionAttributeNames": names}
        )
        if not changes and (key["pk"]["S"], key["sk"]["S"]) not in self.items:
            assert answer == {}  # REMOVE alone doesn't create an item
            return
        old = self.items.get((key["pk"]["S"], key["sk"]["S"]), key)
        new = {name: value for name, value in {**old, **changes}.items() if name != removed}
        assert answer["Attributes"] == normal(new)
        self.remember(new)

    @rule(several=st.lists(items, min_size=1, max_size=4, unique_by=lambda item: (item["pk"]["S"], item["sk"]["S"])))
    def transact(self, several: list[dict[str, Any]]) -> None:
        """Create all items in a transaction, which has no effect if one of the items exists."""
        actions = [
            {"Put": {"TableName": "orders", "Item": item, "ConditionExpression": "attribute_not_exists(pk)"}}
            for item in several
        ]
        present = [(item["pk"]["S"], item["sk"]["S"]) in self.items for item in several]
        try:
            self.engine.call("TransactWriteItems", {"TransactItems": actions})
        except TransactionCanceledException as error:
            codes = [reason["Code"] for reason in error.fields["CancellationReasons"]]
            assert codes == ["ConditionalCheckFailed" if exists else "None" for exists in present]
            return
        assert not any(present)
        for item in several:
            self.remember(item)

    @rule(several=st.lists(items, min_size=1, max_size=5, unique_by=lambda item: (item["pk"]["S"], item["sk"]["S"])))
    def batch(self, several: list[dict[str, Any]]) -> None:
        requests = [{"PutRequest": {"Item": item}} for item in several]
        self.engine.call("BatchWriteItem", {"RequestItems": {"orders": requests}})
        for item in several:
            self.remember(item)

    @rule(pk=partitions, forward=st.booleans(), limit=st.integers(1, 4), low=sorts)
    def query_table(self, pk: str, forward: bool, limit: int, low: str) -> None:
        result = pages(
            self.engine,
            "Query",
            {
                "TableName": "orders",
                "KeyConditionExpression": "pk = :p AND sk >= :s",
                "ExpressionAttributeValues": {":p": s(pk), ":s": s(low)},
                "ScanIndexForward": forward,
                "Limit": limit,
            },
        )
        expected = [
            item for (partition, sk), item in self.items.items() if partition == pk and sk.encode() >= low.encode()
        ]
        expected.sort(key=lambda item: item["sk"]["S"].encode(), reverse=not forward)
        assert result == expected

    @rule(g=st.sampled_from(["g1", "g2"]), forward=st.booleans(), limit=st.integers(1, 4), low=numbers)
    def query_index(self, g: str, forward: bool, limit: int, low: str) -> None:
        result = pages(
            self.engine,
            "Query",
            {
                "TableName": "orders",
                "IndexName": "ByG",
                "KeyConditionExpression": "g = :g AND h > :h",
                "ExpressionAttributeValues": {":g": s(g), ":h": n(low)},
                "ScanIndexForward": forward,
                "Limit": limit,
            },
        )
        expected = [
            item
            for item in self.items.values()
            if item.get("g") == s(g) and "h" in item and float(item["h"]["N"]) > float(low)
        ]
        assert printed(result) == printed(expected)
        order = [key_text(item["h"]) for item in result]
        assert order == sorted(order, reverse=not forward)

    @rule(segments=st.integers(1, 4))
    def scan(self, segments: int) -> None:
        result = [
            item
            for segment in range(segments)
            for item in pages(
                self.engine, "Scan", {"TableName": "orders", "Segment": segment, "TotalSegments": segments, "Limit": 3}
            )
        ]
        assert printed(result) == printed(self.items.values())

    @invariant()
    def counts_agree(self) -> None:
        if not self.engine.call("ListTables", {})["TableNames"]:
            return
        described = self.engine.call("DescribeTable", {"TableName": "orders"})["Table"]
        assert described["ItemCount"] == len(self.items)
        assert described["TableSizeBytes"] == sum(map(item_size, self.items.values()))
        by_name = {each["IndexName"]: each for each in described["GlobalSecondaryIndexes"]}
        assert by_name["Keys"]["ItemCount"] == sum("g" in item for item in self.items.values())


TestStore = Store.TestCase
TestStore.settings = settings(max_examples=examples(12, 30), stateful_step_count=20, deadline=None)
