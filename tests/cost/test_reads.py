# mypy: disable-error-code="empty-body"
"""Predicted requests of reads equal the metered requests, for every return type, on one page and on many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import pytest

from keyplan import Cursor, Design, Each, Entity, Index, Key, Page, Table, Through, View, read
from keyplan.analysis.cost.estimate import estimate_pattern
from keyplan.analysis.traffic.traffic_file import Traffic, traffic_from
from keyplan.dynamodb.values import item_size
from keyplan.model.compiled.item_sizes import entry_of
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.testing.costs import metering
from tests.cost.test_prediction import metered, predicted

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk", projection=["kind"])
GSI2 = Index("GSI2", "gsi2pk", "gsi2sk")

Kind = Literal["big", "odd"]


class Box(Entity):
    box_id: str
    text: str = ""
    primary = Key("BOX#{box_id}", "#HEAD")


class Thing(Entity):
    box_id: str
    number: int
    kind: Kind
    shelf: str
    color: str = "red"
    text: str = ""
    primary = Key("BOX#{box_id}", "THING#{number:05d}")
    by_shelf = Key("SHELF#{shelf}", "{number:05d}#{box_id}", index=GSI2)
    by_color = Key("COLOR#{color}", "{number:05d}#{box_id}", index=GSI1)


class Wanted(Entity):
    who: str
    box_id: str
    number: int
    primary = Key("WHO#{who}", "{number:05d}#{box_id}")


class Follows(Entity):
    who: str
    shelf: str
    primary = Key("FOLLOWS#{who}", "SHELF#{shelf}")


class ThingRow(View[Thing]):
    box_id: str
    kind: Kind


class Whole(NamedTuple):
    box: Box
    things: list[Thing]


class Store(Design):
    table = Table("store", indexes=[GSI1, GSI2])

    @read("R1")
    def box(self, box_id: str) -> Box | None: ...

    @read("R3")
    def several(self, box_id: str, number: Each[int]) -> list[Thing]: ...

    @read("R4")
    def things(self, box_id: str) -> list[Thing]: ...

    @read("R5", newest_first=True)
    def page(self, box_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Thing]: ...

    @read("R6")
    def flow(self, box_id: str) -> Iterator[Thing]: ...

    @read("R7")
    def whole(self, box_id: str) -> Whole | None: ...

    @read("R8", where="kind = :kind")
    def filtered(self, box_id: str, kind: Kind, limit: int = 20, cursor: Cursor | None = None) -> Page[Thing]: ...

    @read("R9")
    def of_shelves(self, shelf: Each[str], limit: int = 20, cursor: Cursor | None = None) -> Page[Thing]: ...

    @read("R10")
    def flow_of_shelves(self, shelf: Each[str]) -> Iterator[Thing]: ...

    @read("R11", newest_first=True)
    def rows(self, color: str, limit: int = 20, cursor: Cursor | None = None) -> Page[ThingRow]: ...

    @read("R12", complete=True)
    def completed(self, color: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Thing]: ...

    @read("R13", entity=Thing)
    def how_many(self, shelf: str) -> int: ...

    @read("R14", entity=Thing, where={"kind": "odd"})
    def has_odd(self, box_id: str) -> bool: ...

    @read("R15", scan_index=GSI2)
    def everything(self, limit: int = 20, cursor: Cursor | None = None) -> Page[Thing]: ...

    @read("R17", through=Through(Wanted))
    def wanted(self, who: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Thing]: ...

    @read("R18", through=Through(Follows))
    def followed(self, who: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Thing]: ...

    @read("R19", through=Through(Follows))
    def followed_flow(self, who: str) -> Iterator[Thing]: ...


SHELVES = ("p", "q", "r")
VALUES: dict[str, Any] = {"box_id": "a", "who": "w", "color": "red", "kind": "odd"}
HALF = {"kept": 0.5}
FEW = {"items": 3}
LOADS: dict[str, dict[str, Any]] = {"filtered": HALF, "has_odd": HALF, "followed": FEW, "followed_flow": FEW}
LINK, FOLLOW = Wanted(who="w", box_id="a", number=0), Follows(who="w", shelf="p")
JUNCTIONS = {"wanted": LINK, "followed": FOLLOW, "followed_flow": FOLLOW}


def thing(number: int, size_bytes: int) -> Thing:
    result = Thing(box_id="a", number=number, kind="odd" if number % 2 else "big", shelf=SHELVES[number % 3])
    return result.model_copy(update={"text": "x" * (size_bytes - item_size(item_of(result)))})


def item_of(entity: Entity) -> Any:
    return Store.compiled.entities[type(entity)].to_item(entity)


@pytest.fixture(scope="module", params=[(3, 900), (150, 2_000), (600, 4_500), (90, 30_000)])
def filled(request: pytest.FixtureRequest) -> Iterator[tuple[Store, int, int]]:
    """A store with things of one size, spread over the shelves, and the number and size of the things."""
    count, size_bytes = request.param
    with Store.open(":memory:") as store:
        store.put(Box(box_id="a"))
        for number in range(count):
            store.put(thing(number, size_bytes))
            store.put(Wanted(who="w", box_id="a", number=number))
        for shelf in SHELVES:
            store.put(Follows(who="w", shelf=shelf))
        yield store, count, size_bytes


def traffic(name: str, arguments: dict[str, Any], count: int, size_bytes: int) -> Traffic:
    plan = Store.compiled.reads[name].plan
    junction = JUNCTIONS.get(name)
    index = getattr(plan, "index", None)
    item = item_of(thing(0, size_bytes))
    entry = None if index is None else entry_of(Store.table, index, item)
    own = {"items": count // 3 if name == "how_many" else count}
    own["item_bytes"] = item_size(item_of(junction)) if junction else size_bytes if entry is None else entry.size_bytes
    load = {**({} if name in {"box", "whole"} else own), **LOADS.get(name, {}), "arguments": arguments}
    of_things = {"item_bytes": size_bytes, "per_partition": count // 3 if junction is FOLLOW else count}
    entities = {"Thing": of_things, "Box": {"item_bytes": item_size(item_of(Box(box_id="a")))}}
    return traffic_from({"patterns": {name: load}, "entities": entities}, Store.compiled)


@pytest.mark.parametrize("limit", [1, 20, 60])
@pytest.mark.parametrize("name", [*Store.compiled.reads])
def test_predicted_read_costs_equal_metered_costs(filled: tuple[Store, int, int], name: str, limit: int) -> None:
    store, count, size_bytes = filled
    own = {"shelf": "p" if name == "how_many" else [*SHELVES], "number": [*range(count)], "limit": limit}
    parameters = Store.compiled.reads[name].signature.by_name
    arguments = {key: value for key, value in {**VALUES, **own}.items() if key in parameters}
    expected = estimate_pattern(Store, name, traffic(name, arguments, count, size_bytes))
    with metering(store) as meter:
        if Store.compiled.reads[name].shape.kind is ShapeKind.ITERATOR:
            list(store.stream(name, (), arguments))
        else:
            store.run_read(name, (), arguments)
    assert sorted(metered(meter)) == sorted(predicted(expected.requests))
