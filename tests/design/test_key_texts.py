"""Keys of every style: what a value is written as, whether the key knows its own text again, and what it makes of texts
that others wrote.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from keyplan import Design, Entity, Index, Key, KeyStyle, Table
from keyplan.errors import KeyFieldError
from keyplan.model.stored.key_templates import Template
from keyplan.model.stored.stored_entity import CompiledEntity

INDEXES = [Index(f"BY_{number}", f"by_{number}_pk", f"by_{number}_sk") for number in range(4)]


class Size(enum.Enum):
    SMALL = "Small"
    LARGE = "Large"


VALUES: dict[Any, list[Any]] = {
    str: ["a", "Ab", "a#b", "a$b", "a/b", 'a"b', "#", ""],
    UUID: [UUID(int=0xABC)],
    Size: [Size.SMALL, Size.LARGE],
    bool: [True, False],
    int: [0, 7],
    date: [date(2026, 3, 4)],
    datetime: [datetime(2026, 3, 4, 5, 6, 7, 8, tzinfo=UTC)],
    timedelta: [timedelta(seconds=1)],
}
SPECS = {int: ":03d"}
STYLES = {
    "ours": KeyStyle(),
    "raw": KeyStyle(raw=True),
    "lower": KeyStyle(case="lower"),
    "upper": KeyStyle(case="upper"),
    "raw, lower": KeyStyle(raw=True, case="lower"),
    "raw, upper": KeyStyle(raw=True, case="upper"),
}
SHAPES = ["{a%s}", "K#{a%s}", "K#{a%s}#x", "K#{a%s}#{b}"]


def entity_of(kind: Any, sources: Sequence[str], style: KeyStyle, shards: int = 1) -> CompiledEntity:
    """An entity with a key of each of these on an index of its own."""
    keys = {
        index.name.lower(): Key("ALL#{b}", source, index=index, style=style, shards=shards)
        for index, source in zip(INDEXES, sources, strict=False)
    }
    members = {"__annotations__": {"a": kind, "b": str}, "__module__": __name__, **keys}
    entity = type("Item", (Entity,), {**members, "primary": Key("ITEM#{b}", "HEAD")})
    table = Table("items", indexes=INDEXES, entities=[entity])
    design: Any = type("Items", (Design,), {"table": table, "__module__": __name__})
    result: CompiledEntity = design.compiled.by_name["Item"]
    return result


def _written(template: Template, value: Any) -> str | None:
    try:
        return template.text({"a": value, "b": "B"})
    except KeyFieldError:
        return None


@pytest.mark.parametrize("style", STYLES)
def test_a_key_of_each_style_knows_its_own_texts(style: str) -> None:
    for kind, values in VALUES.items():
        sources = [shape % SPECS.get(kind, "") for shape in SHAPES]
        for key in entity_of(kind, sources, STYLES[style]).index_keys:
            ((_, template),) = key.sort
            texts = [_written(template, value) for value in values]
            for value, text in zip(values, texts, strict=True):
                if text is None:
                    continue
                assert template.regex.fullmatch(text), (str(template), value, text)
                if template.values(text) is None:
                    assert template.ambiguous({"a": value, "b": "B"}), (str(template), value, text)


@pytest.mark.parametrize("shards", [1, 2, 9, 10, 11, 100, 101])
def test_the_number_of_a_shard_has_as_many_digits_as_the_last_one(shards: int) -> None:
    (key,) = entity_of(str, ["{a}"], KeyStyle(), shards).index_keys
    suffixes = [key.suffix(number) for number in range(shards)]
    assert suffixes == ([""] if shards == 1 else [f"#{n:0{len(str(shards - 1))}d}" for n in range(shards)])
    assert len({len(suffix) for suffix in suffixes}) == 1
    item = key.item_key({"a": "x", "b": "B"})
    assert key.matches(item)
    assert key.matches_sort(item)
    assert key.values(item) == {"a": "x", "b": "B"}
    for text in ("ALL#B#", "ALL#B#x", f"ALL#B#{shards:05d}", "ALL#B"):
        assert key.matches({**item, "by_0_pk": {"S": text}}) is (text == "ALL#B" and shards == 1)
    assert not key.matches({**item, "by_0_pk": {"N": "1"}})
    assert not key.matches({"by_0_pk": item["by_0_pk"]})
    assert not key.matches_sort({})
    assert key.values({"by_0_pk": item["by_0_pk"]}) is None


@pytest.mark.parametrize(("sort", "limit"), [(False, 2048), (True, 1024)])
@pytest.mark.parametrize("letter", ["a", "é", "\U0001f600"])
def test_a_key_is_as_long_as_dynamodb_takes_it(sort: bool, limit: int, letter: str) -> None:
    (key,) = entity_of(str, ["K#{a}" if sort else "{a}"], KeyStyle()).index_keys
    room = limit - len("K#" if sort else "ALL#")
    several, rest = divmod(room, len(letter.encode()))
    text = letter * several + "x" * rest
    values = {"a": text, "b": "b"} if sort else {"a": "a", "b": text}
    assert len(key.item_key(values)["by_0_sk" if sort else "by_0_pk"]["S"].encode()) == limit
    with pytest.raises(KeyFieldError, match=f"would be {limit + 1} bytes long; DynamoDB allows {limit}"):
        key.item_key({name: f"{value}x" if value == text else value for name, value in values.items()})
