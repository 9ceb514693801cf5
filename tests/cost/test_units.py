"""What requests cost, in the smallest pieces: blocks of 4 KB, pages and their ends, averages, and calls that fail."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from keyplan import Index
from keyplan.cost import answering, calls, layout, mixing, units
from keyplan.cost.standins import MET
from keyplan.cost.stretches import End, ExpectedItem, ExpectedRange
from keyplan.cost.units import Line, Request
from keyplan.cost.writing import WriteCost
from keyplan.rehearsal.mutations import Mutation
from tests.rehearsal.kennels import BY_NAME, Bone, Dog, Kennels

LOCAL = Index("beside", "pk", "lsk", local=True)


def test_units_are_summed_by_target_and_direction() -> None:
    requests = [
        Request("A", (Line("read", "", 1, ""), Line("write", "", 2, ""), Line("write", "x", 4, ""))),
        Request("B", (Line("write", "", 8, ""), Line("read", "x", 16, ""))),
    ]
    assert units.total_units(requests, "read") == {"": 1, "x": 16}
    assert units.total_units(requests, "write") == {"": 10, "x": 4}
    assert [request.units("write") for request in requests] == [6, 8]


@pytest.mark.parametrize(
    ("lines", "units_", "why"),
    [
        ([(1.0, 2.0, "a")], 2, "a"),
        ([(0.5, 2.0, "a"), (0.5, 2.0, "a")], 2, "a"),
        ([(0.25, 2.0, "a"), (0.75, 2.0, "a")], 2, "a"),
        ([(0.5, 2.0, "a")], 1, "a, of 0.5 of the calls; together 1"),
        ([(0.5, 2.0, "a"), (0.5, 4.0, "b")], 3, "a, of 0.5 of the calls; b, of 0.5 of the calls; together 3"),
        ([(0.25, 2.0, "a"), (0.5, 4.0, "b"), (0.25, 2.0, "a")], 3,
         "a, of 0.5 of the calls; b, of 0.5 of the calls; together 3"),
    ],
)  # fmt: skip
def test_lines_are_averaged_by_their_weights(lines: list[tuple[float, float, str]], units_: float, why: str) -> None:
    result = mixing._average([(weight, Line("write", "x", of_one, text)) for weight, of_one, text in lines])
    assert (result.direction, result.target, result.units, result.why) == ("write", "x", units_, why)


def _request(condition: str = "", **values: str) -> dict[str, Any]:
    return {
        "KeyConditionExpression": f"#p0 = :p0{condition}",
        "ExpressionAttributeValues": {f":{name}": {"S": text} for name, text in {"p0": "x", **values}.items()},
    }


def test_bounds_are_those_of_the_request() -> None:
    assert answering._bounds({}) == (None, None)
    assert answering._bounds(_request()) == (None, None)
    assert answering._bounds(_request(" AND #s0 BETWEEN :a AND :b", a="1", b="3")) == ("1", "3")
    assert answering._bounds(_request(" AND #s0 >= :a", a="1")) == ("1", None)
    assert answering._bounds(_request(" AND #s0 <= :b", b="3")) == (None, "3")
    assert answering._bounds(_request(" AND #s0 = :a", a="2")) == ("2", "2")


def _partition(*sizes: int, closed: bool = False, index: Index | None = None, is_sorted: bool = True) -> Any:
    met = [ExpectedItem(size, "Dog", (at,)) for at, size in enumerate(sizes)]
    texts = [f"{at:09d}" for at in range(len(sizes))]
    stretch = ExpectedRange(met, closed=closed)
    return layout.Partition("x", index, stretch, texts, [f"id {text}" for text in texts], {}, is_sorted)


MEGABYTE = 1024 * 1024


@pytest.mark.parametrize(
    ("sizes", "begin", "within", "limit", "wanted"),
    [
        ((1, 1, 1), 0, 3, None, (3, False)),
        ((1, 1, 1), 1, 2, None, (2, False)),
        ((1, 1, 1), 0, 3, 3, (3, True)),
        ((1, 1, 1), 0, 3, 4, (3, False)),
        ((1, 1, 1), 1, 3, 1, (2, True)),
        ((1, 1, 1), 2, 1, None, (2, False)),
        ((1, 1, 1), 2, 1, 1, (2, False)),
        ((MEGABYTE, 1), 0, 2, None, (1, True)),
        ((MEGABYTE - 1, 1, 1), 0, 3, None, (2, True)),
        ((MEGABYTE - 1, 1), 0, 1, None, (1, False)),
        ((MEGABYTE - 2, 1), 0, 2, None, (2, False)),
        ((MEGABYTE, 1), 1, 2, None, (2, False)),
    ],
)
def test_where_a_page_ends(
    sizes: tuple[int, ...], begin: int, within: int, limit: int | None, wanted: tuple[int, bool]
) -> None:
    assert answering._page_end(_partition(*sizes), begin, within, limit) == wanted


def test_what_is_known_to_be_the_last() -> None:
    is_last = answering.Answering._is_last
    three = (1, 1, 1)
    assert not is_last("Query", _partition(*three), 2, None)
    assert is_last("Query", _partition(*three, closed=True), 2, None)
    assert not is_last("Query", _partition(*three, closed=True), 1, None)
    assert is_last("Query", _partition(*three), 1, "000000001")
    assert not is_last("Query", _partition(*three), 1, "000000002")
    assert is_last("Query", _partition(*three, is_sorted=False), 0, None)
    assert not is_last("Query", _partition(*three, closed=True, index=BY_NAME), 2, None)
    assert not is_last("Scan", _partition(*three, closed=True), 2, "000000002")


def test_where_reading_goes_on() -> None:
    table = _partition(1, 1, 1)
    assert [table.behind(table.key(at)) for at in range(3)] == [1, 2, 3]
    assert _partition(1, 1, 1, is_sorted=False).behind({"pk": {"S": "x"}}) == 3
    for index in (BY_NAME, LOCAL):
        entries = _partition(1, 1, 1, index=index)
        assert [entries.behind(entries.key(at)) for at in range(3)] == [1, 2, 3]
    assert table.key(1) == {"pk": {"S": "x"}, "sk": {"S": "000000001"}}
    assert _partition(1, is_sorted=False).key(0) == {"pk": {"S": "x"}}
    assert set(_partition(1, index=LOCAL).key(0)) == {"pk", "sk", "index_sk0"}
    assert set(_partition(1, index=BY_NAME).key(0)) == {"pk", "sk", "index_pk", "index_sk0"}


def test_items_of_one_sort_key_have_names_of_their_own() -> None:
    places = layout._Places([(1, 0), (0, 5), (1, 0), (1, 2), (3,)])
    assert places.sorts == {(0, 5): "000000000", (1, 0): "000000001", (1, 2): "000000001", (3,): "000000002"}
    assert places.ids == {(0, 5): "000000000", (1, 0): "000000001", (1, 2): "000000002", (3,): "000000003"}
    met = ExpectedItem(1, "Dog", (0,), End("an end"))
    led = layout.Partition("x", None, ExpectedRange([met]), ["0"], ["i"], {"an end": "its name"}, is_sorted=True)
    assert led.item(0)[MET] == {"met": met, "leads": "its name"}


def _cost(**given: Any) -> WriteCost:
    lines = (Line("write", "", 2, "t"), Line("write", "by-name", 4, "i"), Line("read", "", 8, "r"))
    entity = Kennels.compiled.entities[Bone]
    bone = entity.to_item(Bone(dog_id="d", bone_id="b"))
    mutations = (Mutation("Put Bone", None, bone),)
    return WriteCost(mutations=mutations, **{"requests": [Request("PutItem", lines)], **given})


def test_calls_that_fail_write_the_table_alone() -> None:
    (request,) = calls._failing(_cost(), 0.25).requests
    assert [(line.target, line.direction, line.units) for line in request.lines] == [
        ("", "write", 2), ("by-name", "write", 3), ("", "read", 8),
    ]  # fmt: skip
    assert request.lines[1].why == "i; × 0.75, since 0.25 of the calls fail a condition"
    batch = _cost(requests=[Request("BatchWriteItem", (Line("write", "", 2, "t"),))])
    assert [line.units for line in calls._failing(batch, 0.5).requests[0].lines] == [1]
    assert calls._failing(_cost(), 0) == _cost()
    assert calls._failing(_cost(), 0.25).fails == 0.25


def test_what_a_call_creates_is_new_and_no_claim() -> None:
    design = Kennels.compiled
    bone, dog = (design.entities[cls].to_item(each) for cls, each in (
        (Bone, Bone(dog_id="d", bone_id="b")), (Dog, Dog(dog_id="d", tag="t"))
    ))  # fmt: skip
    claim = design.entities[Dog].claims[0]
    held = design.entities[Dog].claim_item(claim, {"dog_id": "d", "tag": "t", "chip": "c"})
    mutations = {
        "Put Bone": (None, bone), "Create Dog": (None, dog), "Update Bone": (bone, bone), "Delete Dog": (dog, None),
        "claim by_tag": (None, held), "Check Dog": (None, None),
    }  # fmt: skip
    new = {what: calls._new(design, Mutation(what, *pair)) for what, pair in mutations.items()}
    assert new == dict.fromkeys(mutations) | {"Put Bone": "Bone", "Create Dog": "Dog"}
    assert calls._new(design, Mutation("Put a stranger", None, {"pk": {"S": "X"}, "sk": {"S": "X"}})) is None
    given: Any = SimpleNamespace(
        times=3, fails=0.25, mutations=[Mutation("Put Bone", None, bone)], batched=[Mutation("Create Dog", None, dog)]
    )
    assert list(calls._created(design, given)) == [("Bone", 2.25), ("Dog", 2.25)]
