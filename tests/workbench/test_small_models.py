"""Small models in which one thing decides what is made of them: keys in shards beside a sample, an attribute of two
keys, what keeps items out of an index, letters that tell kinds apart; what a word is among words.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import pytest

from keyplan import Design, Entity, Field, Index, Key, StoredAs, Table
from keyplan.formats.workbench.declarations import declarations_in
from keyplan.formats.workbench.module import _comments, made_module
from keyplan.formats.workbench.reading import read_model
from tests.workbench.support import exported, made, table

Rows = Sequence[dict[str, Any]]
PLAIN = ("PK", "SK")
GSI1, GSI2 = Index("GSI1", "gsi1pk", "gsi1sk"), Index("GSI2", "gsi2pk", "gsi2sk")


class Value(Entity):
    sensor: str = Field(alias="Sensor")
    kind: str = Field(alias="Kind")
    made: Annotated[str, StoredAs(write=lambda text: text[::-1], read=lambda text: text[::-1])] = "x"
    number: int = Field(default_factory=lambda: 3)
    names: list[str] = Field(default_factory=list)

    primary = Key("SENSOR#{sensor}", "A")
    whole = Key("ALL", "{sensor}", index=GSI1, shards=4)
    by_kind = Key("KIND#{kind}", "{sensor}", index=GSI2, shards=4)


class Values(Design):
    table = Table("values", indexes=[GSI1, GSI2], entities=[Value])


def test_keys_in_shards_are_those_of_the_sample() -> None:
    """With the fields declared, and with the keys alone, whose fields are found by their values."""
    with Values.open(":memory:") as design:
        for number in range(5):
            design.put(Value.model_validate({"Sensor": f"s{number}", "Kind": "hot" if number % 2 else "cold"}))
        items: list[Any] = design.store.transport.call("Scan", {"TableName": "values"})["Items"]
    model = exported(Values, sorted(items, key=str))
    made(model)
    metadata = model["ModelMetadata"]
    lines = metadata["Description"].split("\n")
    metadata["Description"] = "\n".join(line for line in lines if "Declarations" in line or "= Key(" in line)
    made(model)


def test_marks_are_an_entitys_own() -> None:
    model = table(
        {
            name: (PLAIN, [{"PK": f"{name}#1", "SK": "META", "at": 1772352000, "number": 3}])
            for name in ("User", "Order", "Line")
        }
    )
    head = "Declarations, as Keyplan reads them back:"
    model["ModelMetadata"]["Description"] = f"{head}\nUser.at: Ttl\nOrder.number: Version\nLine.other: Ttl"
    assert len(declarations_in(model["ModelMetadata"]["Description"]).marks) == 3
    made(model)


def test_a_question_that_is_left_out_is_called_by_its_last_name() -> None:
    model = read_model(json.dumps(table({"Order": (PLAIN, [{"PK": "O#1", "SK": "META"}])})), "model.json")
    assert made_module(model).left_out == ()
    assert made_module(model, without={"Shop.order"}).left_out == ()
    assert made_module(model, without={"Shop.order", "Shop.order_by_key"}).left_out == ("Shop.order_by_key",)


def test_a_comment_keeps_names_with_hyphens_whole() -> None:
    text = [*_comments([f"{'x' * 95} user-name-of-the-first"])]
    assert text == [f"    # note: {'x' * 95}", "    #   user-name-of-the-first"]


INVERTED = [
    {
        "IndexName": "inverted",
        "KeyAttributes": {
            "PartitionKey": {"AttributeName": "SK", "AttributeType": "S"},
            "SortKey": {"AttributeName": "PK", "AttributeType": "S"},
        },
        "Projection": {"ProjectionType": "ALL"},
    }
]
TWO: dict[str, tuple[tuple[str, str], Rows]] = {
    "given": (("ORDER#{code}", "META"), [{"PK": "ORDER#7", "SK": "META", "order_id": "7"}]),
    "shown": (PLAIN, [{"PK": "ORDER#7", "SK": "LINE#8", "order_id": "7"}, {"PK": "ORDER#9", "SK": "LINE#8"}]),
}


@pytest.mark.parametrize("name", TWO)
def test_an_attribute_of_two_keys_has_one_template(name: str) -> None:
    made(table({"Order": TWO[name]}, GlobalSecondaryIndexes=INVERTED))


def jobs(*kept: int, key: str = "OWNER#o", **columns: Sequence[Any]) -> Rows:
    """Jobs of which some are in an index, with these columns."""
    rows: list[dict[str, Any]] = []
    for number, held in enumerate(zip(*columns.values(), strict=True)):
        row = {"PK": f"JOB#{number}", "SK": "META", "owner": "o", **dict(zip(columns, held, strict=True))}
        rows.append(row | ({"GSI1PK": key, "GSI1SK": f"JOB#{number}"} if number in kept else {}))
    return rows


NO, YES = {"BOOL": False}, {"BOOL": True}
KEPT = {
    "a word of its key": jobs(0, 1, key="STATE#open", state=["open", "open", "paid"]),
    "a word": jobs(0, 1, colour=["red", "red", "blue"]),
    "a word of one item": jobs(0, colour=["red", "blue", "blue"]),
    "a state of one item": jobs(0, stage=["red", "blue", "blue"]),
    "a flag of one item": jobs(0, urgent=[YES, NO, NO]),
    "a flag of two": jobs(0, 1, urgent=[YES, YES, NO]),
    "a word of some": jobs(0, 1, colour=["red", "red", {"NULL": True}]),
    "a number": jobs(0, 1, level=[3, 3, 4]),
    "two words": jobs(0, 1, colour=["red", "green", "blue"]),
    "a word outside too": jobs(0, 1, colour=["red", "red", "red"]),
    "no word": jobs(0, 1, colour=["1-2", "1-2", "2-3"]),
    "the second": jobs(0, 1, level=[3, 3, 3], place=["x1", "x1", "y2"], colour=["red", "red", "blue"]),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_keeps_items_out_of_an_index(name: str) -> None:
    made(table({"Job": (PLAIN, KEPT[name])}))


@pytest.mark.parametrize("first", ["a", "ab", "abc", "ab_"])
def test_letters_before_numbers_tell_kinds_apart(first: str) -> None:
    """From two letters on; by their partition keys and by their sort keys."""
    rows = [
        {"PK": f"{start}{number}", "SK": "META", f"of_{start}": "x", "more": "y"}
        for start in (first, f"z{first[1:]}")
        for number in (1, 2)
    ]
    made(table({}, TableFacets=[], TableData=[{k: {"S": v} for k, v in row.items()} for row in rows]))
    turned = [{**row, "PK": f"P#{number}", "SK": row["PK"]} for number, row in enumerate(rows)]
    made(table({}, TableFacets=[], TableData=[{k: {"S": v} for k, v in row.items()} for row in turned]))
