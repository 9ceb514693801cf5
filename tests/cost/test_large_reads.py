# mypy: disable-error-code="empty-body"
"""Predicted costs equal metered ones for any number of items: reads of every return type, over megabytes and pages."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from typing import Any, Literal, NamedTuple

import pytest

from keyplan import Cursor, Design, Each, Entity, Index, Key, Page, Range, Table, Through, View, read
from keyplan.analysis.cost.simulated_reads import requests_of
from keyplan.model.compiled.signatures import ParameterKind
from tests.cost.actual import Actual
from tests.cost.test_prediction import compare_pages

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk", projection=["kind"])
GSI2 = Index("GSI2", "gsi2pk", "gsi2sk")

Kind = Literal["big", "small"]
LENGTHS = (10, 900, 4_000, 30_000)


class Box(Entity):
    """The parent item of a collection."""

    box_id: str
    text: str = ""
    primary = Key("BOX#{box_id}", "#HEAD")


class Thing(Entity):
    """In a box, and sharded by kind."""

    box_id: str
    number: int
    kind: Kind
    shelf: str
    text: str = ""
    primary = Key("BOX#{box_id}", "THING#{number:05d}")
    by_kind = Key("KIND#{kind}", "{number:05d}#{box_id}", index=GSI1, shards=4)
    by_shelf = Key("SHELF#{shelf}", "{number:05d}#{box_id}", index=GSI2)


class Wanted(Entity):
    """A junction to a box and to a single thing in it."""

    who: str
    box_id: str
    number: int
    primary = Key("WHO#{who}", "BOX#{box_id}#{number:05d}")


class Pinned(Entity):
    """A junction in the order of the things."""

    who: str
    box_id: str
    number: int
    primary = Key("PINNED#{who}", "{number:05d}#{box_id}")


class Follows(Entity):
    """A junction to kinds of things."""

    who: str
    shelf: str
    primary = Key("FOLLOWS#{who}", "SHELF#{shelf}")


class ThingRow(View[Thing]):
    """The attributes in the index."""

    box_id: str
    kind: Kind


class Whole(NamedTuple):
    box: Box
    things: list[Thing]


class Store(Design):
    """Reads of every return type."""

    table = Table("store", indexes=[GSI1, GSI2], entities=[Wanted])

    @read("R1")
    def things(self, box_id: str) -> list[Thing]: ...

    @read("R2", newest_first=True)
    def page(self, box_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Thing]: ...

    @read("R3")
    def flow(self, box_id: str) -> Iterator[Thing]: ...

    @read("R4")
    def whole(self, box_id: str) -> Whole | None: ...

    @read("R5", where="kind = :kind")
    def filtered(self, box_id: str, kind: Kind, limit: int = 20, cursor: Cursor | None = None) -> Page[Thing]: ...

    @read("R6")
    def ranged(self, box_id: str, number: Range[int], limit: int = 20) -> list[Thing]: ...

    @read("R7")
    def of_boxes(self, box_id: Each[str], limit: int = 20, cursor: Cursor | None = None) -> Page[Thing]: ...

    @read("R8", newest_first=True)
    def rows(self, kind: Kind, limit: int = 20, cursor: Cursor | None = None) -> Page[ThingRow]: ...

    @read("R9", complete=True)
    def of_kind(self, kind: Kind, limit: int = 20, cursor: Cursor | None = None) -> Page[Thing]: ...

    @read("R10", entity=Thing)
    def how_many(self, box_id: str) -> int: ...

    @read("R11", entity=Thing)
    def how_many_of_kind(self, kind: Kind) -> int: ...

    @read("R12", entity=Thing, where={"kind": "big"})
    def has_big(self, box_id: str) -> bool: ...

    @read("R13", scan_index=GSI2)
    def everything(self, limit: int = 20, cursor: Cursor | None = None) -> Page[Thing]: ...

    @read("R14", scan=True)
    def scanned(self) -> Iterator[Box | Thing]: ...

    @read("R15", through=Through(Wanted))
    def wanted(self, who: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Thing]: ...

    @read("R16", through=Through(Follows))
    def followed(self, who: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Thing]: ...

    @read("R17", through=Through(Follows))
    def followed_flow(self, who: str) -> Iterator[Thing]: ...

    @read("R18", through=[Through(Follows), Through(Pinned)], newest_first=True)
    def feed(self, who: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Thing]: ...

    @read("R19")
    def both(self, box_id: str) -> list[Box | Thing]: ...


def filled(store: Store, choice: random.Random) -> None:
    """Three boxes with different contents, and their junctions."""
    for box_id, count in (("a", choice.randrange(90, 160)), ("b", choice.randrange(15)), ("c", 0)):
        store.put(Box(box_id=box_id, text="x" * choice.choice(LENGTHS)))
        things = [
            Thing(
                box_id=box_id,
                number=number,
                kind="big" if choice.random() < 0.2 else "small",
                shelf=choice.choice("pqr"),
                text="x" * choice.choice(LENGTHS),
            )
            for number in choice.sample(range(400), count)
        ]
        for thing in things:
            store.put(thing)
        for thing in choice.sample(things, len(things) // 3):
            store.put(Wanted(who="w", box_id=box_id, number=thing.number))
        for thing in choice.sample(things, len(things) // 5):
            store.put(Pinned(who="w", box_id=box_id, number=thing.number))
    for number in range(3):
        store.put(Wanted(who="w", box_id="gone", number=number))
    for shelf in "pqz":
        store.put(Follows(who="w", shelf=shelf))


ARGUMENTS: dict[str, dict[str, Any]] = {
    "box_id": {"values": ["a", "b", "c", "none"]},
    "kind": {"values": ["big", "small"]},
    "who": {"values": ["w", "nobody"]},
}


def calls(name: str, choice: random.Random) -> Iterator[dict[str, Any]]:
    """Calls of a read with every stored value, and with limits of all sizes."""
    pattern = Store.compiled.reads[name]
    parameters = {element.name: element.kind for element in pattern.signature.parameters}
    for round_ in range(4):
        result: dict[str, Any] = {}
        for parameter, kind in parameters.items():
            known = ARGUMENTS.get(parameter, {"values": []})["values"]
            if kind is ParameterKind.LIMIT:
                result[parameter] = choice.choice([2, 7, 20, 60, 200]) if round_ else 1
            elif kind is ParameterKind.EACH:
                result[parameter] = choice.sample(known, choice.randint(1, len(known)))
            elif kind is ParameterKind.RANGE:
                result[parameter] = Range(ge=choice.randrange(200), lt=choice.randrange(200, 400))
            elif kind is ParameterKind.VALUE:
                result[parameter] = known[round_ % len(known)]
        yield result


@pytest.mark.parametrize("number", range(3))
def test_reads_of_many_large_items_cost_what_the_engine_meters(number: int) -> None:
    choice = random.Random(number)
    with Store.open(":memory:") as store:
        filled(store, choice)
        actual = Actual(store)
        pages: dict[str, int] = {}
        for name, pattern in Store.compiled.reads.items():
            for arguments in calls(name, choice):
                bound = pattern.signature.bind((), arguments)
                result = actual.found(pattern, bound)
                limit = None if pattern.limit is None else bound[pattern.limit.name]
                known = compare_pages(store, pattern, arguments, partial(requests_of, pattern, result, limit))
                pages[name] = max(known, pages.get(name, 0))
    paged = {name for name, read_pattern in Store.compiled.reads.items() if "cursor" in str(read_pattern.signature)}
    assert {name for name, most in pages.items() if most > 1} == paged
