# mypy: disable-error-code="empty-body"
"""The keys of a read's entities determine which of the entities need separate queries."""

from __future__ import annotations

import types
from typing import Any

import pytest

from keyplan import Design, Entity, Index, Key, Range, Table, read
from keyplan.model.compiled.plans import QueryPlan


def entity(name: str, sort: str, partition: str = "P#{p}") -> type[Entity]:
    fields = {"p": str, "n": int, "m": int, "t": str}
    return type(name, (Entity,), {"__annotations__": fields, "primary": Key(partition, sort), "__module__": __name__})


def apart(asked: dict[str, str], others: dict[str, str], known: dict[str, Any] | None = None) -> list[str]:
    """Return the entities of each query for entities with these sort keys, or an empty list if one query reads all."""
    wanted: Any = [entity(name, sort) for name, sort in asked.items()]
    besides = [entity(name, *sort.split(" ")) for name, sort in others.items()]

    union: Any = wanted[0]
    for element in wanted[1:]:
        union = union | element
    parameters = {"p": str, **(known or {})}
    namespace: dict[str, Any] = {}
    exec(f"def question(self, {', '.join(parameters)}): ...", namespace)
    function = namespace["question"]
    function.__annotations__ = {**parameters, "return": types.GenericAlias(list, (union,))}
    table = Table("things", entities=besides)
    design: Any = type("Things", (Design,), {"table": table, "question": read("T1")(function), "__module__": __name__})
    plan = design.compiled.reads["question"].plan
    assert isinstance(plan, QueryPlan)
    return ["".join(match.entity.name for match in part.matches) for part in plan.apart]


@pytest.mark.parametrize(
    ("asked", "others", "expected"),
    [
        pytest.param({"A": "A#{n:03d}", "C": "C#{n:03d}"}, {}, [], id="nothing between"),
        pytest.param({"A": "A#{n:03d}", "C": "C#{n:03d}"}, {"B": "B#{n:03d}"}, ["A", "C"], id="many between"),
        pytest.param({"C": "C#{n:03d}", "A": "A#{n:03d}"}, {"B": "B#{n:03d}"}, ["A", "C"], id="in the keys' order"),
        pytest.param({"A": "A#{n:03d}", "C": "C#{n:03d}"}, {"B": "B#HEAD"}, [], id="an item between"),
        pytest.param({"A": "A#{n:03d}", "C": "C#{n:03d}"}, {"B": "B#{p}"}, [], id="an item of the partition's field"),
        pytest.param({"A": "A#{n:03d}", "C": "C#{p}", "E": "E#{n:03d}"}, {}, [], id="an item asked for, of that field"),
        pytest.param(
            {"A": "A#{p}", "C": "C#{n:03d}"}, {"B": "B#{n:03d}"}, ["A", "C"], id="many behind an item of that field"
        ),
        pytest.param({"A": "A#{n:03d}", "C": "C#{n:03d}"}, {"D": "D#{n:03d}", "0": "0#{n:03d}"}, [], id="outside"),
        pytest.param({"A": "A#{n:03d}", "C": "C#{n:03d}"}, {"B": "B#{n:03d} Q#{p}"}, [], id="other partitions"),
        pytest.param({"A": "A#{n:03d}", "C": "C#{n:03d}"}, {"X": "A#X#{n:03d}"}, [], id="among the first"),
        pytest.param(
            {"A": "A#{n:03d}", "C": "C#{n:03d}"}, {"X": "AB{n:03d}"}, ["A", "C"], id="behind the first's word"
        ),
        pytest.param({"A": "A", "C": "C"}, {"X": "A{n:03d}"}, ["A", "C"], id="behind the first item"),
        pytest.param({"A": "A", "B": "A{n:03d}", "C": "C"}, {}, [], id="one begins with the other"),
        pytest.param({"A": "V#{p}#A", "C": "V#"}, {"B": "V#B#{n:03d}"}, [], id="one is where the other goes on"),
        pytest.param({"A": "V#", "C": "V#{p}#C"}, {"B": "V#B#{n:03d}"}, [], id="the other way round"),
        pytest.param(
            {"A": "A", "B": "A{n:03d}", "C": "C"}, {"X": "B#{n:03d}"}, ["AB", "C"], id="two together, one apart"
        ),
        pytest.param(
            {"A": "A#{n:03d}", "C": "C#{n:03d}", "E": "E#{n:03d}"}, {"D": "D#{n:03d}"}, ["AC", "E"], id="one gap of two"
        ),
        pytest.param(
            {"A": "V#A#{n:03d}", "C": "V#C#{n:03d}"}, {"B": "V#B#{n:03d}"}, ["A", "C"], id="behind a common word"
        ),
    ],
)
def test_separate_queries_skip_other_items(asked: dict[str, str], others: dict[str, str], expected: list[str]) -> None:
    assert apart(asked, others) == expected
    assert apart(asked, {}) == []


@pytest.mark.parametrize(
    ("asked", "others", "known", "expected"),
    [
        pytest.param({"A": "A#{n:03d}", "C": "C#{n:03d}"}, {}, {"n": int}, ["A", "C"], id="one of each"),
        pytest.param({"A": "A#{n:03d}", "C": "C#{n:03d}"}, {}, {"n": Range[int]}, ["A", "C"], id="some of each"),
        pytest.param(
            {"A": "V#{n:03d}#A#{m:03d}", "C": "V#{n:03d}#C#{m:03d}"}, {}, {"n": int}, [], id="behind a known field"
        ),
        pytest.param(
            {"A": "V#{n:03d}#A#{m:03d}", "C": "V#{n:03d}#C#{m:03d}"},
            {"B": "V#{n:03d}#B#{m:03d}"},
            {"n": int},
            ["A", "C"],
            id="between behind a known field",
        ),
        pytest.param(
            {"A": "V#{n:03d}#A#{m:03d}", "C": "V#{n:03d}#C#{m:03d}"},
            {"B": "V#{n:03d}#B"},
            {"n": int},
            [],
            id="an item behind a known field",
        ),
        pytest.param(
            {"A": "V#{n:03d}#A#{m:03d}", "C": "V#{n:03d}#C#{m:03d}"},
            {"B": "W#{n:03d}#B#{m:03d}"},
            {"n": int},
            [],
            id="of another word",
        ),
        pytest.param(
            {"A": "{n:03d}#A", "C": "{n:03d}#C"}, {"B": "{n:03d}#B#{m:03d}"}, {"n": Range[int]}, [], id="mixed"
        ),
    ],
)
def test_known_sort_key_prefixes_determine_which_entities_are_queried_separately(
    asked: dict[str, str], others: dict[str, str], known: dict[str, Any], expected: list[str]
) -> None:
    assert apart(asked, others, known) == expected


def test_items_with_interleaved_or_numeric_sort_keys_are_read_together() -> None:
    assert apart({"A": "A#{n:03d}", "C": "C#{n:03d}"}, {"B": "B#{n:03d}"}) == ["A", "C"]
    assert apart({"A": "A#{n:03d}"}, {"B": "B#{n:03d}"}) == []
    assert apart({"A": "{t}#A", "C": "C#{n:03d}"}, {"B": "B#{n:03d}"}) == []
    by_p = Index("ByP", "by_p")

    class A(Entity):
        p: str
        n: int
        primary = Key("P#{p}", "A#{n:03d}")
        listed = Key("P#{p}", index=by_p)

    class B(Entity):
        p: str
        n: int
        primary = Key("P#{p}", "B#{n:03d}")
        listed = Key("P#{p}", index=by_p)

    class Unsorted(Design):
        table = Table("unsorted", indexes=[by_p])

        @read("T1", key=A.listed)
        def listed(self, p: str) -> list[A | B]: ...

    plan: Any = Unsorted.compiled.reads["listed"].plan
    assert (plan.key.index, plan.apart) == (by_p, ())


def test_the_opposite_direction_reverses_the_order_of_the_queries() -> None:
    class A(Entity):
        p: str
        n: int
        primary = Key("P#{p}", "A#{n:03d}")

    class B(Entity):
        p: str
        n: int
        primary = Key("P#{p}", "B#{n:03d}")

    class C(Entity):
        p: str
        n: int
        primary = Key("P#{p}", "C#{n:03d}")

    class Turned(Design):
        table = Table("turned", entities=[B])

        @read("T1")
        def one_way(self, p: str, newest_first: bool = False) -> list[A | C]: ...

        @read("T2", newest_first=True)
        def backwards(self, p: str) -> list[A | C]: ...

    reads = Turned.compiled.reads
    plans: list[Any] = [reads["one_way"].plan, reads["one_way"].turned.plan, reads["backwards"].plan]
    names = [[part.matches[0].entity.name for part in plan.apart] for plan in plans]
    assert names == [["A", "C"], ["C", "A"], ["C", "A"]]
    assert [[part.forward for part in plan.apart] for plan in plans] == [[True, True], [False, False], [False, False]]
