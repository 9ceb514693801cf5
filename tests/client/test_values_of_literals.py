# mypy: disable-error-code="empty-body"
"""Stored values that aren't in the Literal type of a field are reported as invalid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pytest

from keyplan import Design, Entity, InvalidItem, Key, Table, read
from keyplan.errors import InvalidItemError


class Level(Entity):
    """An entity with a Literal at each position in the type of a field."""

    name: str
    alone: Literal[1, 2] = 1
    maybe: Literal[1, 2] | None = None
    word: Literal["low", "high"] = "low"
    flag: Literal[True] = True
    several: list[Literal[1, 2]] = []  # noqa: RUF012 - a field of pydantic's

    primary = Key("LEVEL#{name}", "HEAD")


class Levels(Design):
    table = Table("levels")

    @read("R1")
    def level(self, name: str) -> Level | None: ...

    @read("R2")
    def any_level(self, name: str) -> Level | InvalidItem | None: ...


@pytest.fixture
def levels() -> Iterator[Levels]:
    with Levels.open(":memory:") as design:
        yield design


WRONG: dict[str, Any] = {
    "alone": {"N": "3"},
    "maybe": {"N": "3"},
    "word": {"S": "middle"},
    "flag": {"BOOL": False},
    "several": {"L": [{"N": "1"}, {"N": "3"}]},
}


@pytest.mark.parametrize("field", WRONG)
def test_an_item_with_an_unknown_literal_value_is_reported_as_invalid(levels: Levels, field: str) -> None:
    key = Levels.compiled.by_name["Level"].to_item(Level(name="a"))
    levels.store.transport.call("PutItem", {"TableName": "levels", "Item": {**key, field: WRONG[field]}})
    with pytest.raises(InvalidItemError, match=rf"Level\.{field}"):
        levels.level("a")
    assert isinstance(levels.any_level("a"), InvalidItem)


def test_values_of_fields_with_literal_types_round_trip(levels: Levels) -> None:
    level = Level(name="a", alone=2, maybe=2, word="high", several=[2, 1])
    levels.put(level)
    assert levels.level("a") == level
