"""What is guessed of tables that have no sample, or a small one: keys by natural names and by general ones, of texts
and of numbers, of one facet and of several; names that come again; keys that were written without escapes.
"""

from __future__ import annotations

import enum
from typing import Any

import pytest

from keyplan import Design, Entity, Index, Key, Table
from tests.workbench.support import exported, made, table

ALIASES = {
    "no alias": ("PK", "SK"),
    "one alias": ("customerId", "SK"),
    "names": ("customerId", "orderedAt"),
    "the same name": ("customerId", "customerId"),
    "templates": ("USER#<userId>", "META"),
    "two templates": ("USER#{user_id}", "ORDER#{orderId}"),
}
KEYS = {
    "general": (("PK", "S"), ("SK", "S")),
    "natural": (("customerId", "S"), ("at", "S")),
    "number": (("customerId", "S"), ("at", "N")),
    "alone": (("id", "S"), None),
    "numbers": (("year", "N"), ("PK", "N")),
}


def attributes(keys: Any) -> dict[str, Any]:
    names = ("PartitionKey", "SortKey")
    return {
        name: {"AttributeName": key[0], "AttributeType": key[1]}
        for name, key in zip(names, keys, strict=True)
        if key is not None
    }


@pytest.mark.parametrize("aliases", ALIASES)
def test_facets_without_a_sample(aliases: str) -> None:
    made(table({"Order": (ALIASES[aliases], [])}))
    if "templates" not in aliases:  # of two kinds they are one key
        made(table({name: (ALIASES[aliases], []) for name in ("Late Order", "order line")}))


@pytest.mark.parametrize("keys", KEYS)
def test_keys_of_tables_without_a_sample(keys: str) -> None:
    given = attributes(KEYS[keys])
    names = tuple(key[0] for key in KEYS[keys] if key is not None)
    aliases = (names[0], names[-1] if len(names) > 1 else "")
    index = [
        {
            "IndexName": "by_day",
            "KeyAttributes": attributes((("day", "S"), ("rank", "N"))),
            "Projection": {"ProjectionType": "ALL"},
        }
    ]
    for facets in (("Order",), ("Order", "Line", "Third")):
        made(table({name: (aliases, []) for name in facets}, KeyAttributes=given, GlobalSecondaryIndexes=index))
    made(table({}, KeyAttributes=given))


def rows(*keys: tuple[str, str], **more: Any) -> list[dict[str, Any]]:
    return [{"PK": partition, "SK": sort, **more} for partition, sort in keys]


SAMPLES = {
    "bars": rows(("USER|1", "ORDER|7"), ("USER|2", "ORDER|8"), userId="1"),
    "colons within": rows(("USER#a:b", "META"), ("USER#c:d", "META")),
    "escapes": rows(("USER#a%23b", "META"), ("USER#c", "META")),
    "a hash within": rows(("USER#a", "ORDER#1#2"), ("USER#b", "ORDER#1#3")),
    "slashes": rows(("org/1/user/2", "x"), ("org/1/user/3", "x")),
    "moments": rows(("DAY#2026-03-01", "AT#2026-03-01T08:00:00Z"), ("DAY#2026-03-02", "AT#2026-03-02T09:30:00Z")),
    "one item": rows(("USER#1", "META")),
    "padded": rows(("L#1", "0001"), ("L#1", "0002"), ("L#2", "0010")),
    "words": rows(("CONFIG", "LIMITS"), ("CONFIG", "COLOURS")),
    "most": rows(("USER#1", "A#1"), ("USER#2", "A#2"), ("USER#3", "A#3"), ("user-4", "A#4")),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_keys_of_small_samples(name: str) -> None:
    made(table({"Thing": (("PK", "SK"), SAMPLES[name])}))
    indexed = [
        {**row, "GSI1PK": row["SK"], "GSI1SK": row["PK"]} if at % 2 == 0 else row
        for at, row in enumerate(SAMPLES[name])
    ]
    made(table({"Thing": (("PK", "SK"), indexed), "Empty": (("PK", "SK"), [])}))


def test_names_that_come_again() -> None:
    """Of facets, and of tables: each has a number of its own."""
    model = table(
        {name: (("PK", "SK"), rows((f"{name}#1", "META"))) for name in ("Order", "order", "Order 2", "ORDER")}
    )
    facets = model["DataModel"][0]["TableFacets"]
    facets += [{**facets[0], "TableData": []}, {**facets[0], "TableData": []}, {**facets[0], "TableData": []}]
    made(model)
    for again in (2, 3, 4):
        other = table({"Order": (("PK", "SK"), rows(("O#1", "META")))}, TableName="Shop")
        model["DataModel"] += other["DataModel"][:again]
    made(model)


@pytest.mark.parametrize(
    "texts", [("0", "1"), ("01", "02"), ("11", "12"), ("00", "7"), ("101", "102"), ("1001", "1002")]
)
def test_numbers_in_keys_are_padded_or_plain(texts: tuple[str, str]) -> None:
    items = [{"PK": "LIST#a", "SK": f"LINE#{text}", "number": int(text), "text": "x"} for text in texts]
    made(table({"Line": (("PK", "SK"), items)}))


class Mood(enum.Enum):
    GOOD = "good"
    BAD = "bad"


class Day(Entity):
    day_id: str
    mood: Mood = Mood.GOOD

    primary = Key("DAY#{day_id}", "#DAY")
    bad = Key("BAD", "DAY#{day_id}", index=Index("GSI1", "gsi1pk", "gsi1sk"), when={"mood": Mood.BAD})


class Days(Design):
    table = Table("days", entities=[Day], indexes=[Index("GSI1", "gsi1pk", "gsi1sk")])


def test_members_of_an_enum_come_back_as_their_values() -> None:
    assert "when={'mood': ('bad',)}" in str(exported(Days))
    made(exported(Days))
