"""Declarations of ranges, indexes, keys and tables keep their arguments. These tests need no store."""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import Any

import pytest

from keyplan import (
    Binary,
    Discriminator,
    Entity,
    Field,
    Index,
    Key,
    KeyStyle,
    Number,
    Range,
    Table,
    Through,
    Unique,
    View,
)
from keyplan.errors import ArgumentError
from keyplan.model.declared.indexes import KeyAttribute
from keyplan.model.declared.pattern_load import Load, checked_load

BOUNDS: dict[str, Any] = {"ge": int.__ge__, "gt": int.__gt__, "le": int.__le__, "lt": int.__lt__}


@pytest.mark.parametrize("given", list(product(BOUNDS, BOUNDS)))
def test_a_range_contains_the_values_within_its_bounds(given: tuple[str, str]) -> None:
    for lower, upper in product((2, 3, 4), repeat=2):
        bounds = {given[0]: lower, given[1]: upper}
        if len(bounds) == 2 and bounds.keys() in ({"ge", "gt"}, {"le", "lt"}):
            with pytest.raises(ArgumentError, match="support both"):
                Range(**bounds)
            continue
        made = Range(**bounds)
        for value in range(1, 6):
            assert made.holds(value) is all(BOUNDS[name](value, bound) for name, bound in bounds.items())
        assert made.lower == bounds.get("ge", bounds.get("gt"))
        assert made.upper == bounds.get("le", bounds.get("lt"))
        ranks = made.ranked(lambda bound: 10 * bound)
        assert {name: getattr(ranks, name) for name in BOUNDS} == {
            name: 10 * bounds[name] if name in bounds else None for name in BOUNDS
        }


def test_zero_is_a_valid_bound_and_a_range_without_a_bound_is_rejected() -> None:
    for name in BOUNDS:
        zero = Range(**{name: 0})
        assert zero.holds(0) is (name in {"ge", "le"})
        assert (zero.lower, zero.upper) == ((0, None) if name in {"ge", "gt"} else (None, 0))
    with pytest.raises(ArgumentError, match="requires at least one bound"):
        Range()
    assert len({Range(ge=1), Range(ge=1), Range(gt=1)}) == 2


class Film(Entity):
    """An entity with two views, Title and Length."""

    film_id: str
    title: str
    length: int = Field(alias="min")

    primary = Key("FILM#{film_id}", "HEAD")


class Title(View[Film]):
    """A view of a film's title."""

    film_id: str
    title: str


class Length(View[Film]):
    """A view of a film's length."""

    film_id: str
    length: int


INDEX_PARTS: list[dict[str, Any]] = [
    {"name": "A", "partition": "pk", "sort": "sk"},
    {"name": "B", "partition": "pk", "sort": "sk"},
    {"name": "A", "partition": "other", "sort": "sk"},
    {"name": "A", "partition": "pk", "sort": "other"},
    {"name": "A", "partition": "pk", "sort": None},
    {"name": "A", "partition": "pk", "sort": Number("sk")},
    {"name": "A", "partition": ["pk", Binary("more")], "sort": ["sk", "rest"]},
    {"name": "A", "partition": "pk", "sort": "sk", "local": True},
]
PROJECTIONS: list[Any] = ["ALL", "KEYS_ONLY", ["a"], ("a", "b")]


def test_indexes_with_equal_keys_are_equal() -> None:
    for (at, one), (other_at, other) in product(enumerate(INDEX_PARTS), repeat=2):
        for projection in PROJECTIONS:
            assert Index(**one).same_keys(Index(**other, projection=projection)) is (at == other_at)


def test_an_index_declaration_keeps_its_arguments() -> None:
    index = Index("A", ["pk", Binary("more")], [Number("sk")], projection=["a"])
    assert index.partition == (KeyAttribute("pk", "S"), KeyAttribute("more", "B"))
    assert index.sort == (KeyAttribute("sk", "N"),)
    assert (index.projection, index.local) == (("a",), False)
    assert repr(index) == "Index('A', 'pk', 'more', 'sk')"
    assert Index("A", "pk").sort == ()
    assert (Index("A", "pk").projection, Index("A", "pk").local) == ("ALL", False)
    held = {str(projection): Index("A", "pk", projection=projection) for projection in PROJECTIONS}
    assert [name for name, each in held.items() if each.holds("b")] == ["ALL", "('a', 'b')"]
    assert [name for name, each in held.items() if each.holds("a")] == ["ALL", "['a']", "('a', 'b')"]


@pytest.mark.parametrize("local", [True, False])
def test_an_index_declared_for_views_projects_the_fields_of_the_views(local: bool) -> None:
    index = Index("A", "pk", "sk", projection=["min", "more"], local=local)
    for views, names in [((), ()), ((Title,), ("title",)), ((Title, Length), ("title",)), ((Length,), ())]:
        made = index.projected_for(*views)
        assert made.same_keys(index)
        assert made.projection == ("min", "more", *names)
    plain = Index("A", "pk", "sk", local=local)
    assert plain.projected_for().projection == "KEYS_ONLY"
    assert plain.projected_for(Length).projection == ("min",)
    assert plain.projected_for().local is local


def test_arguments_of_keys_and_field_markers_have_defaults() -> None:
    key = Key("A#{a}")
    assert dataclasses.asdict(key) == {
        "partition": ("A#{a}",), "sort": (), "index": None, "when": None, "shards": 1, "style": None,
    }  # fmt: skip
    whole = Key(
        ["A#{a}", "{b}"], ["{c}", "d"], index=Index("A", "x"), when={"a": 1}, shards=3, style=KeyStyle(raw=True)
    )
    assert (whole.partition, whole.sort, whole.shards) == (("A#{a}", "{b}"), ("{c}", "d"), 3)
    assert (whole.index, whole.when, whole.style) == (Index("A", "x"), {"a": 1}, KeyStyle(raw=True))
    assert Key("a", "b").sort == ("b",)
    assert Unique("A#{a}") == Unique("A#{a}", "CLAIM", None)
    assert KeyStyle() == KeyStyle(raw=False, case=None)
    assert [KeyStyle(case=case).fold("aB") for case in (None, "lower", "upper")] == ["aB", "ab", "AB"]
    assert Discriminator("_et", "Film").stored == {"S": "Film"}
    assert Through(Film, film_id="other").fields == {"film_id": "other"}
    assert Through(Film).fields == {}


def test_a_table_declaration_keeps_its_arguments() -> None:
    table = Table("t")
    assert (table.key_names, table.indexes, table.entities) == (("pk", "sk"), (), ())
    assert table.create_request() == {
        "TableName": "t",
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "S"},
        ],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        "BillingMode": "PAY_PER_REQUEST",
    }  # fmt: skip
    indexes = [Index("A", ["x", Number("y")], local=False, projection=["m"]), Index("B", "pk", "z", local=True)]
    whole = Table("t", partition=Number("pk"), sort=None, indexes=iter(indexes), entities=iter([Film]))
    assert (whole.key_names, whole.indexes, whole.entities) == (("pk",), tuple(indexes), (Film,))
    request = whole.create_request("other")
    assert request["TableName"] == "other"
    assert request["KeySchema"] == [{"AttributeName": "pk", "KeyType": "HASH"}]
    assert [each["AttributeName"] for each in request["AttributeDefinitions"]] == ["pk", "x", "y", "z"]
    assert request["GlobalSecondaryIndexes"] == [
        {
            "IndexName": "A",
            "KeySchema": [{"AttributeName": "x", "KeyType": "HASH"}, {"AttributeName": "y", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["m"]},
        }
    ]
    (local,) = request["LocalSecondaryIndexes"]
    assert local["Projection"] == {"ProjectionType": "ALL"}
    assert [each["KeyType"] for each in local["KeySchema"]] == ["HASH", "RANGE"]


def test_merging_traffic_settings_overrides_only_the_given_values() -> None:
    over = Load(items=3, per_second=0.5).over(Load(items=9, kept=0.5))
    assert over == Load(items=3, per_second=0.5, kept=0.5)
    assert [each.peak for each in (over, Load(peak_per_second=4, per_second=1), Load())] == [0.5, 4, None]
    assert checked_load(Load()) == Load()
