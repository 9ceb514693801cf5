"""The planner's smaller steps beside plain accounts of them: covers by brute force, what a choice counts, keys that are
spread over shards, the load of what was a key.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, islice
from random import Random
from types import SimpleNamespace
from typing import Any, Literal

import pytest

from keyplan import Entity, Id, Index, Key, Unique
from keyplan.planner import planning, search
from keyplan.planner.candidates import Candidate, exclude, values_of
from keyplan.planner.facts import EntityFacts, facts_of
from keyplan.planner.needs import Need
from keyplan.planner.search import EntityChoice
from keyplan.planner.templates import Declared, _codes, field_word
from keyplan.planner.weighing import HotKey, Weight

GSI1, GSI2 = Index("GSI1", "gsi1pk", "gsi1sk"), Index("GSI2", "gsi2pk", "gsi2sk")


class Thing(Entity):
    one: Id[str]
    two: str
    three: str
    four: str
    state: Literal["a", "b", "c", "d"] = "a"


class Other(Entity):
    one: Id[str]


FACTS: EntityFacts = facts_of(Thing)
FIELDS = ("one", "two", "three", "four")


def candidate(serves: frozenset[int], when: Any = None, partition: tuple[str, ...] = ("two",)) -> Candidate:
    return Candidate(partition, ("one",), tuple((when or {}).items()), serves)


def drawn(chance: Random) -> list[Candidate]:
    """Candidates that serve some of five needs, sparse ones among them."""
    result: list[Candidate] = []
    for number in range(chance.randint(2, 6)):
        when = chance.choice((None, None, {"state": "a"}, {"state": "b"}, {"state": ("c", "d")}))
        serves = frozenset(each for each in range(5) if chance.random() < 0.4)
        result.append(replace(candidate(serves, when), sort=("one", *FIELDS[2 : 2 + number % 3]), needed=number))
    return result


def bundles_of(candidates: list[Candidate]) -> list[tuple[Candidate, ...]]:
    """All that can share an index, by trying each set of keys."""
    whole = [
        several
        for size in range(1, len(candidates) + 1)
        for several in combinations(candidates, size)
        if all(exclude(dict(key.when), dict(other.when)) for key, other in combinations(several, 2))
    ]
    return [each for each in whole if len(each) == 1 or not any(set(each) < set(other) for other in whole)]


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_the_smallest_covers_are_found(first: int) -> None:
    for number in range(first, first + 50):
        candidates = drawn(Random(number))
        bundles = bundles_of(candidates)
        made = [frozenset(bundle) for bundle in search._bundles(FACTS, candidates)]
        assert {frozenset(bundle) for bundle in bundles} <= set(made)
        assert all(any(bundle <= set(whole) for whole in bundles) for bundle in made)
        assert len(made) == len(set(made))
        rest = frozenset(range(5)) & frozenset[int]().union(*(key.serves for key in candidates))
        served = [frozenset[int]().union(*(key.serves for key in bundle)) for bundle in bundles]
        fewest = next(
            size
            for size in range(6)
            if any(rest <= frozenset[int]().union(*several) for several in combinations(served, size))
        )
        covers = search._set_covers(FACTS, candidates, rest)
        assert covers
        for cover in covers:
            kept = [key for bundle in cover for key in bundle]
            assert (len(cover), rest <= frozenset[int]().union(*(key.serves for key in kept))) == (fewest, True)
            for bundle in cover:  # nothing is there in vain, but for the only key of a bundle
                for key in bundle if len(bundle) > 1 else ():
                    others = frozenset[int]().union(*(other.serves for other in kept if other is not key))
                    assert not key.serves & rest <= others
        assert search._set_covers(FACTS, candidates, rest | {9}) == []
        kept = search._undominated(candidates, rest)
        for key in candidates:
            better = [other for other in kept if not key.when or key.when == other.when]
            assert key in kept or any(key.serves & rest < other.serves & rest for other in better)
        for key, other in combinations(kept, 2):
            assert not (key.when == other.when and key.serves & rest < other.serves & rest)
    assert search._set_covers(FACTS, [], frozenset()) == [()]


def need(**more: Any) -> Need:
    return Need("Things.asked", Thing, frozenset({"two"}), **more)


def test_what_a_choice_counts() -> None:
    primary = candidate(frozenset({0, 1, 2, 3}), partition=("one",))
    keys = (
        candidate(frozenset({0, 1, 2, 3}), {"state": "b"}),
        replace(candidate(frozenset({3}), partition=("state",)), sort=("three",)),
    )
    needs = (need(), need(order="four"), need(one=True), need(), need(following="four", one=True))
    choice = EntityChoice(FACTS, needs, primary, keys, bundles=(0, 0))
    assert (choice.places, choice.ambiguous, choice.few) == (1, 2, 1)
    assert replace(choice, bundles=(0, 1)).places == 2
    assert EntityChoice(FACTS, needs, primary, ()).ambiguous == 0
    for blind, claims, expected in (
        ({"two"}, (), 1),
        ({"two", "three", "four"}, (), 2),
        ({"state"}, (), 1),
        ({"four"}, (), 0),
        ({"four"}, (replace(need(), known=frozenset({"four"})),), 1),
    ):
        facts = replace(FACTS, blind=frozenset(blind))
        assert replace(choice, entity=facts, claims=claims).refused == expected, blind
    for changing, expected in (({"two"}, 1), ({"one"}, 1), ({"state"}, 2), ({"four"}, 0), ({"three", "state"}, 3)):
        assert replace(choice, entity=replace(FACTS, changing=frozenset(changing))).changes == expected, changing


@pytest.mark.parametrize(
    ("when", "other", "apart"),
    [
        ({"state": "a"}, {"state": "b"}, True),
        ({"state": "a"}, {"state": "a"}, False),
        ({"state": ("a", "b")}, {"state": "b"}, False),
        ({"state": ("a", "b")}, {"state": ["c", "d"]}, True),
        ({"state": "a"}, {}, False),
        ({}, {"state": "a"}, False),
        ({"state": "a", "two": "x"}, {"two": "y"}, True),
        ({"two": 1}, {"two": True}, True),
    ],
)
def test_sparse_keys_exclude_each_other(when: dict[str, Any], other: dict[str, Any], apart: bool) -> None:
    assert (exclude(when, other), exclude(other, when)) == (apart, apart)


def test_the_values_of_a_constant() -> None:
    assert values_of("ab") == ("ab",)
    assert values_of([1, 2]) == values_of((1, 2)) == (1, 2)
    assert sorted(values_of({1, 2})) == sorted(values_of(frozenset({1, 2}))) == [1, 2]


def hot(units: float, *keys: str, kind: str = "write", shards: int = 1, place: str = "GSI1") -> HotKey:
    return HotKey(keys, place, kind, units, 1000, shards, one_item=False)


def planned(*keys: tuple[str, Key, bool], load: tuple[HotKey, ...]) -> Any:
    made = [
        SimpleNamespace(
            place=f"Thing.{name}",
            where="the table" if key.index is None else key.index.name,
            templates=(key.partition, key.sort),
            new=new,
        )
        for name, key, new in keys
    ]
    return SimpleNamespace(keys=made, weight=Weight(1, 1.0, 1.0, load, 0))


def test_hot_keys_are_spread_with_what_shares_their_partitions() -> None:
    busy = Key("STATE#{state}", "#{one}", index=GSI1, when={"state": "a"})
    beside = Key("STATE#{state}", "B#{one}", index=GSI1)
    elsewhere = Key("STATE#{state}", "#{one}", index=GSI2)
    own: dict[str, Key | Unique] = {
        "busy": busy,
        "beside": beside,
        "elsewhere": elsewhere,
        "claim": Unique("TWO#{two}"),
    }
    keys = Declared((GSI1, GSI2), {Thing: own}, {})
    load = (hot(5000, "Thing.busy", shards=6), hot(10, "Thing.elsewhere"))
    new = [(name, key, True) for name, key in own.items() if isinstance(key, Key)]
    spread = planning._sharded(keys, planned(*new, load=load))
    assert spread is not None
    result: Any = spread.keys[Thing]
    assert [result[name].shards for name in ("busy", "beside", "elsewhere")] == [6, 6, 1]
    assert result["claim"] is own["claim"]
    assert result["elsewhere"] is elsewhere
    for name in ("busy", "beside"):
        was: Any = own[name]
        assert (result[name].partition, result[name].sort) == (was.partition, was.sort)
        assert (result[name].index, result[name].when) == (was.index, was.when)
    deployed = [(name, key, name != "beside") for name, key, _ in new]
    assert planning._sharded(keys, planned(*deployed, load=load)) is None
    assert planning._sharded(keys, planned(*new, load=(hot(500, "Thing.busy", shards=1),))) is None


@dataclass(frozen=True)
class Mirrored:
    """As much of a plan as has a load."""

    mirrors: tuple[Any, ...]
    weight: Weight


def test_a_mirror_is_as_busy_as_the_key_was() -> None:
    made: Any = Mirrored(
        (SimpleNamespace(entity=Thing),),
        Weight(1, 1.0, 1.0, (hot(900, "Other.primary"), hot(1, "Thing.primary", place="the table")), 0),
    )
    first: Any = planned(
        load=(
            hot(500, "Order.by_two", "Order.by_three"),
            hot(300, "Order.by_two", kind="read"),
            hot(700, "Order.by_four"),
        )
    )
    warmed: Any = planning._warmed(made, first, "Order.by_two")
    assert [(key.keys, key.place, key.kind, key.units_per_second) for key in warmed.weight.hot] == [
        (("Thing.primary",), "the table", "write", 1000),
        (("Other.primary",), "GSI1", "write", 900),
        (("Thing.primary",), "the table", "read", 300),
    ]


def test_the_words_before_values() -> None:
    late = facts_of(type("LateOrder", (Entity,), {"__annotations__": {"id": Id[str]}, "__module__": __name__}))
    words = [(name, field_word(late, name)) for name in ("id", "order_id", "shop_key", "place", "serial_no", "number")]
    assert words == [
        ("id", "LATE_ORDER"),
        ("order_id", "ORDER"),
        ("shop_key", "SHOP"),
        ("place", "PLACE"),
        ("serial_no", "SERIAL"),
        ("number", "NUMBER"),
    ]
    assert [list(islice(_codes(word), 6)) for word in ("ORDER_LINE", "A", "STATE")] == [
        ["O", "OL", "OR", "ORD", "ORDE", "ORDER"],
        ["A", "A", "A2", "A3", "A4", "A5"],
        ["S", "S", "ST", "STA", "STAT", "STATE"],
    ]
