# mypy: disable-error-code="empty-body"
"""Small parts of the client at their bounds: combinations of values, buckets and cursors, options of filters, steps of
paths, shares of a scan's page; what merged partitions give where several items have one sort key.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from keyplan import Cursor, Design, Each, Entity, Index, Key, Page, Table, read
from keyplan.client import read_plans as reads
from keyplan.client import time_buckets as buckets
from keyplan.client.conversations import converse
from keyplan.client.counting import SegmentsReader
from keyplan.client.key_conditions import COMBINATIONS_MAX, value_sets
from keyplan.client.target import Target
from keyplan.client.usage_report import Usage
from keyplan.errors import ArgumentError
from keyplan.model.compiled.plans import ScanPlan

BY_TREE = Index("by-tree", "tpk", "tsk")
BY_NAME = Index("by-name", "pk", "nsk", local=True)


class Leaf(Entity):
    name: str
    tree: str
    at: str = "1"

    primary = Key("LEAF#{name}", "HEAD")
    by_tree = Key("TREE#{tree}", "{at}", index=BY_TREE)


class Trees(Design):
    table = Table("trees", entities=[Leaf], indexes=[BY_TREE, BY_NAME])

    @read("T1")
    def leaves(self, tree: Each[str], limit: int = 1, cursor: Cursor | None = None) -> Page[Leaf]: ...

    @read("T2", scan=True, segments=4)
    def every(self, limit: int = 250, cursor: Cursor | None = None) -> Page[Leaf]: ...


def test_values_of_one_parameter_may_be_any_number() -> None:
    many = range(COMBINATIONS_MAX + 1)
    assert len(value_sets(["a"], {"a": many})) == COMBINATIONS_MAX + 1
    assert value_sets(["a"], {"a": [1, 1], "b": 2}) == [{"a": 1, "b": 2}]
    assert value_sets([], {"a": 1}) == [{"a": 1}]
    assert len(value_sets(["a", "b"], {"a": range(COMBINATIONS_MAX), "b": [1, 1]})) == COMBINATIONS_MAX
    with pytest.raises(ArgumentError, match="combinations, and a call takes"):
        value_sets(["a", "b"], {"a": many, "b": [1]})


def _bucketed(number: int, each: tuple[str, ...] = ("a",), *, bucketed: bool = True) -> Any:
    made = [(str(at), {"at": at}) for at in range(number)]
    unit = SimpleNamespace(unit="day", field="at") if bucketed else None
    return SimpleNamespace(bucket_sets=lambda _values: made, buckets=unit, each=each)


def test_buckets_and_values_are_so_many_together() -> None:
    half = {"a": range(COMBINATIONS_MAX // 2)}
    assert len(buckets.bucket_sets(_bucketed(2), half)) == 2
    assert len(buckets.bucket_sets(_bucketed(3, ()), half)) == 3
    assert len(buckets.bucket_sets(_bucketed(3, bucketed=False), half)) == 3
    assert buckets.bucket_sets(_bucketed(0), half) == []
    with pytest.raises(ArgumentError, match=r"3 days of at × .* of a are .* combinations"):
        buckets.bucket_sets(_bucketed(3), half)


def test_a_global_index_is_never_read_consistently() -> None:
    asked = {}
    for name, index in (("table", None), ("global", BY_TREE), ("local", BY_NAME)):
        for strong in (False, True):
            for target in (Target("t", Trees.table, consistent=strong), Target("t", Trees.table)):
                request = reads.base_request(target, index, consistent=strong and not target.consistent)
                asked[name, strong] = request
    assert asked == {
        ("table", False): {"TableName": "t"},
        ("table", True): {"TableName": "t", "ConsistentRead": True},
        ("global", False): {"TableName": "t", "IndexName": "by-tree"},
        ("global", True): {"TableName": "t", "IndexName": "by-tree"},
        ("local", False): {"TableName": "t", "IndexName": "by-name"},
        ("local", True): {"TableName": "t", "ConsistentRead": True, "IndexName": "by-name"},
    }
    assert reads.base_request(Target("t", Trees.table, consistent=True), consistent=False)["ConsistentRead"]


class _Stored:
    """A store whose index has an order of its own where sort keys are equal: that in which they are given."""

    def __init__(self, *leaves: Leaf) -> None:
        self.items = [Trees.compiled.entities[Leaf].to_item(leaf) for leaf in leaves]

    def call(self, _operation: str, asked: dict[str, Any], /) -> dict[str, Any]:
        values = {name: next(iter(value.values())) for name, value in asked["ExpressionAttributeValues"].items()}
        condition, bound = asked["KeyConditionExpression"], values.get(":s0", "")
        low = "" if "<=" in condition else bound
        high = values.get(":s0_", "~" if ">=" in condition or not bound else bound)
        items = [item for item in self.items if item["tpk"]["S"] == values[":p0"] and low <= item["tsk"]["S"] <= high]
        if "ExclusiveStartKey" in asked:
            names = [item["pk"] for item in items]
            items = items[names.index(asked["ExclusiveStartKey"]["pk"]) + 1 :]
        given = items[: asked.get("Limit")]
        if len(given) == len(items):
            return {"Items": given}
        return {"Items": given, "LastEvaluatedKey": {name: given[-1][name] for name in ("pk", "sk", "tpk", "tsk")}}

    def call_all(self, requests: list[Any], /) -> list[dict[str, Any]]:
        return [self.call(*request) for request in requests]


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_items_of_one_sort_key_are_given_in_the_order_of_the_index(limit: int) -> None:
    leaves = [Leaf(name=name, tree=tree) for name, tree in (("b", "t"), ("a", "t"), ("d", "u"), ("c", "u"))]
    store = _Stored(*leaves, Leaf(name="z", tree="t", at="2"))
    given: list[str] = []
    cursor = None
    with Trees.open(":memory:") as design:
        for _ in range(9):
            asked = {"tree": ["t", "u"], "limit": limit, "cursor": cursor}
            page: Page[Leaf] = converse(design.conversation("leaves", asked), store)
            given += [leaf.name for leaf in page.items]
            cursor = page.cursor
            if cursor is None:
                break
    assert given == ["b", "a", "d", "c", "z"]


def test_a_page_of_segments_is_shared_among_those_that_go_on() -> None:
    plan = Trees.compiled.reads["every"].plan
    assert isinstance(plan, ScanPlan)
    reader = SegmentsReader(plan, Target("trees", Trees.table))
    item = Trees.compiled.entities[Leaf].to_item(Leaf(name="a", tree="t"))
    key = {"pk": item["pk"], "sk": item["sk"]}
    chunk = reader.chunk({}, 250, None)
    limits: list[list[int]] = []
    steps: Any = next(chunk)
    for ended in (1, 2):
        limits.append([step.parameters["Limit"] for step in steps])
        some = [{"Items": [item] * 10, "LastEvaluatedKey": key}] * (len(steps) - ended)
        steps = chunk.send([{"Items": [item]}] * ended + some)
    limits.append([step.parameters["Limit"] for step in steps])
    assert limits == [[251 // 4 + 1] * 4, [220 // 3 + 1] * 3, [208 // 1 + 1]]
    small = next(reader.chunk({}, 3, None))
    assert isinstance(small, list)
    assert [step.parameters["Limit"] for step in small] == [reads.FILTERED_PAGE // 4 + 1] * 4


def test_ten_keys_are_the_hottest() -> None:
    usage = Usage(Trees.table)
    for number in range(12):
        usage._count((None, f"k{number:02d}"), float(number), 1.0)
    assert [each.key for each in usage.hottest()] == [f"k{number:02d}" for number in range(11, 1, -1)]
    assert len(usage.hottest(3)) == 3
