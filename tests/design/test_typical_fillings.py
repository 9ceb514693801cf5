"""Typical values of fields that a traffic file says are there or not, of numbers that keys have little room for, and of
fields that are like others' ids: each with where it is from.
"""

from __future__ import annotations

import enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import computed_field, field_validator

from keyplan import Design, Entity, Field, Index, Key, Table, ulid
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.model.declared.declaration_errors import Problem

ONE, TWO, THREE, FOUR = (Index(name, f"{name}pk", f"{name}sk") for name in ("one", "two", "three", "four"))


class State(enum.Enum):
    NEW = "new"
    DONE = "done"


class Lot(Entity):
    """Found by others of its fields while they have some values."""

    lot_id: str = Field(default_factory=ulid)
    flag: bool = False
    on: bool
    state: State = State.NEW
    kind: Literal["a", "b", "c"]
    only: Literal["x"] = "x"
    text: str = "usual"
    note: str | None = None
    rank: int
    wide: int
    place: str | None = "here"
    code: Annotated[str, Field(pattern=r"^\+")]
    seller_id: str
    mark_id: Literal["p", "q"]
    size: int = 3

    primary = Key("LOT#{lot_id}", "HEAD")
    flagged = Key("FLAG#{flag}", "{rank:02d}#{lot_id}", index=ONE, when={"flag": True, "text": "usual"})
    stated = Key("STATE#{kind}", "{wide:06d}#{rank:04d}", index=TWO, when={"state": ["done"], "kind": ["b", "c"]})
    noted = Key("NOTE#{note}", "{shown}", index=THREE)
    placed = Key("PLACE", "{lot_id}", index=FOUR, when={"place": [None, "there"], "on": False, "only": "x"})

    @computed_field
    def shown(self) -> str:
        return self.text.upper()


class Never(Entity):
    """Nothing that can be thought of is taken."""

    name: str
    word: str

    primary = Key("NEVER#{name}", "HEAD")

    @field_validator("word")
    @classmethod
    def _word(cls, word: str) -> str:
        raise ValueError(word)


class Market(Design):
    table = Table("market", indexes=[ONE, TWO, THREE, FOUR], entities=[Lot, Never])


COMPILED = Market.compiled
LOT = COMPILED.entities[Lot]


def shown(typical: Typical, serial: int = 0) -> str:
    instance = typical.instance(LOT, serial=serial)
    own = typical.sizes(LOT)
    values = ", ".join(f"{name}={getattr(instance, name)!r}" for name in Lot.model_fields)
    sources = ", ".join(f"{each.field} {each.size_bytes} {each.source}{'!' * each.exact}" for each in own.fields)
    return f"{values}\n    {sources}\n    {own.item_bytes} {own.key_bytes} {dict(own.entries)}"


@pytest.mark.parametrize("serial", [0, 1, 98, 99, 5000])
def test_numbers_that_keys_have_room_for(serial: int) -> None:
    instance: Any = Typical(COMPILED).instance(LOT, serial=serial)
    assert (instance.rank, instance.wide) == (99 - serial, 1234 + serial)
    assert instance.seller_id == f"sellerid{'x' * (18 - len(str(serial or '')))}{serial or ''}"


def test_nothing_can_be_thought_of() -> None:
    with pytest.raises(Problem) as caught:
        Typical(COMPILED).instance(COMPILED.entities[Never])
    assert str(caught.value) == "no typical Never can be made: its validators refuse what can be thought of"
    assert caught.value.hint == "give its fields examples: Field(examples=[...])"
