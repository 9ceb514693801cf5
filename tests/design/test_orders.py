# mypy: disable-error-code="empty-body"
"""A read with several possible orders requires ``order_by=``, and an unavailable order is rejected.

A read that compiles without ``order_by=`` has the same order with every key that supports the read.
"""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest

from keyplan import Cursor, Design, Each, Entity, Index, Key, Page, Range, Table, Through, Unique, read
from keyplan.errors import DesignError
from tests.design.refused import told

ONE = Index("ONE", "onepk", "onesk")
TWO = Index("TWO", "twopk", "twosk")
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
SORTS = (
    "{name}",
    "{at}#{name}",
    "{at:desc}#{name}",
    "{score:04d}#{name}",
    "{score:04d:desc}#{name}",
    "{score:04d}#{at}#{name}",
)
INDEXED = (*SORTS, "{at:%Y%m}#{score:04d}#{name}")
PAGE: Any = Page


def players(table: str | None, text: str | None, two: str | None) -> type[Any]:
    """Return a Player entity with these sort key templates in the table and in two indexes; None omits an index."""
    body: dict[str, Any] = {
        "__annotations__": {"game": str, "name": str, "score": int, "at": datetime},
        "primary": Key("PLAYER#{name}", "HEAD") if table is None else Key("GAME#{game}", table),
    }
    if text is not None:
        body["by_one"] = Key("GAME#{game}", text, index=ONE)
    if two is not None:
        body["by_two"] = Key("GAME#{game}", two, index=TWO)
    return type("Player", (Entity,), {**body, "__module__": __name__})


def board(entity: type[Any], *, newest_first: bool | None = None, order_by: str | None = None) -> type[Design]:
    def ranking(self: Any, game: str, limit: int = 3, cursor: Cursor | None = None) -> None: ...

    ranking.__annotations__["return"] = PAGE[entity]
    ranking.__annotations__ |= {"game": str, "limit": int, "cursor": Cursor | None}
    method = read("R1", newest_first=newest_first, order_by=order_by)(ranking)
    return type("Board", (Design,), {"table": Table("board", indexes=[ONE, TWO]), "ranking": method})


def names(design: type[Design], entity: type[Any]) -> list[str]:
    """Return the names of the players in the order of the result."""
    with design.open(":memory:") as store:
        for number, name in enumerate("cadbe"):
            at = NOON + timedelta(days=number * 17 % 60)
            store.put(entity(game="chess", name=name, score=number * 3 % 5, at=at))
        result: list[str] = []
        cursor = None
        while True:
            page = store.call("ranking", {"game": "chess", "cursor": cursor})
            result += [value.name for value in page]
            cursor = page.cursor
            if cursor is None:
                return result


@pytest.mark.parametrize("newest_first", [None, True])
@pytest.mark.parametrize("table", SORTS)
def test_every_key_returns_the_same_order_if_order_by_is_omitted(table: str, newest_first: bool | None) -> None:
    refused = 0
    alone = {text: order_of(players(None, text, None), newest_first) for text in INDEXED}
    for text, two in itertools.product(INDEXED, repeat=2):
        result = order_of(players(table, text, two), newest_first)
        if result is None:
            assert len({text, two, table}) > 1
            refused += 1
        else:
            assert alone[table] == alone[text] == alone[two] == result, (table, text, two)
    assert refused


def order_of(entity: type[Any], newest_first: bool | None) -> list[str] | None:
    """Return the names of the players in the order of the result, or None if the read requires ``order_by=``."""
    try:
        design = board(entity, newest_first=newest_first)
    except DesignError:
        return None
    return names(design, entity)


def test_the_error_for_a_missing_order_by_lists_its_possible_values() -> None:
    entity = players("{name}", "{score:04d}#{name}", None)
    with pytest.raises(DesignError) as error:
        board(entity)
    told(
        error, r"primary \(ordered by name\), by_one \(ordered by score, name\)", 'order_by="name" or order_by="score"'
    )
    assert names(board(entity, order_by="-score"), entity) == sorted(
        "cadbe", key=lambda name: -("cadbe".index(name) * 3 % 5)
    )
    assert names(board(entity, order_by="name"), entity) == sorted("cadbe")


class Player(Entity):
    game: str
    name: str
    score: int

    primary = Key("GAME#{game}", "{name}")
    by_score = Key("GAME#{game}", "{score:08d}", index=ONE)
    by_name = Unique("NAME#{name}")


class Link(Entity):
    team: str
    game: str
    name: str
    since: datetime

    primary = Key("TEAM#{team}", "LINK#{game}#{name}")
    by_time = Key("TEAM#{team}", "{since}", index=TWO)


TABLE = Table("players", indexes=[ONE, TWO])


def test_order_by_is_required_if_two_orders_are_possible() -> None:
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = TABLE

            @read("R1", newest_first=True)
            def first(self, game: str) -> Player | None: ...

            @read("R2", through=Link)
            def members(self, team: str) -> list[Player]: ...

            @read("R3", through=Through(Link, game="game"))
            def players(self, team: str) -> list[Player]: ...

            @read("R4")
            def merged(self, game: Each[str], limit: int = 3) -> Page[Player]: ...

            @read("R5", where={"score": 5})
            def filtered(self, game: str) -> list[Player]: ...

    told(error, "D.first: ", "but their orders differ")
    told(
        error,
        "D.members: ",
        "but their orders differ",
        r"primary \(ordered by game, name\), by_time \(ordered by since\)",
    )
    told(error, "D.merged: ", "but their orders differ")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"scan": True, "newest_first": True}, "newest_first= requires an ordered result, but a scan returns items"),
        ({"scan": True, "order_by": "score"}, "order_by= requires an ordered result, but a scan returns items in no"),
        ({"scan": True, "through": Link}, "a scan doesn't support junctions"),
    ],
)
def test_a_scan_rejects_options_without_effect(options: dict[str, Any], why: str) -> None:
    def everything(self: Any) -> list[Player]: ...

    with pytest.raises(DesignError) as error:
        type("D", (Design,), {"table": TABLE, "everything": read("R1", **options)(everything)})
    told(error, "D.everything: ", why)


def test_an_unavailable_order_is_rejected() -> None:
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = TABLE

            @read("R1", newest_first=True)
            def several(self, game: Literal["chess"], name: Each[str]) -> list[Player]: ...

            @read("R2", order_by="-score")
            def alone(self, game: str, name: str) -> list[Player]: ...

    told(error, "D.several: newest_first= requires an ordered result, but BatchGetItem doesn't sort: items have")
    told(error, "D.alone: no matching key sorts by score")


LOCAL = Index("LOCAL", "pk", "localsk", local=True)


@pytest.mark.parametrize("first", ["local", "one"])
def test_a_local_index_is_preferred_to_a_global_index(first: str) -> None:
    """Both indexes have the same order, but only the local index supports strongly consistent reads."""

    class Score(Entity):
        game: str
        name: str
        points: int

        primary = Key("GAME#{game}", "{name}")
        if first == "local":
            by_points = Key("GAME#{game}", "{points:04d}", index=LOCAL)
            by_one = Key("GAME#{game}", "{points:04d}", index=ONE)
        else:
            by_one = Key("GAME#{game}", "{points:04d}", index=ONE)
            by_points = Key("GAME#{game}", "{points:04d}", index=LOCAL)

    class Scores(Design):
        table = Table("scores", indexes=[ONE, LOCAL])

        @read("S1")
        def within(self, game: str, points: Range[int]) -> list[Score]: ...

    plan: Any = Scores.compiled.reads["within"].plan
    assert plan.index.name == "LOCAL"
