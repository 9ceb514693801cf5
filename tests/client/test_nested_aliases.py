"""Aliases of fields in nested models are used in every operation on stored values."""

# mypy: disable-error-code="empty-body"
from __future__ import annotations

from typing import Any

import pytest
from pydantic import AliasPath, BaseModel, Field

from keyplan import Design, Entity, Key, Table, Update, read
from keyplan.errors import DesignError


class Desk(BaseModel):
    room: str = Field(alias="Room")
    floor: int = Field(default=1, alias="Floor")


class Spot(BaseModel):
    room: str = Field(alias="Room")
    floor: int = Field(default=1, alias="Floor")
    desks: list[Desk] = Field(default=[], alias="Desks")


class Thing(Entity):
    thing_id: str
    where: Spot
    notes: list[Any] = Field(default=[])
    spots: dict[str, Spot] = Field(default={})
    either: Spot | int = 1

    primary = Key("THING#{thing_id}", "HEAD")


class Things(Design):
    table = Table("things")

    @read("T1", scan=True, where="where.room = :room AND where.floor <= :floor AND spots.a.room = :room")
    def in_room(self, room: str, floor: int) -> list[Thing]: ...


def _stored(things: Things) -> Any:
    return things.store.transport.call("Scan", {"TableName": "things"})["Items"][0]


def test_aliases_in_nested_models_are_used_in_every_operation() -> None:
    spot = Spot(Room="r", Floor=2, Desks=[Desk(Room="d")])
    with Things.open(":memory:") as things:
        thing = things.put(Thing(thing_id="1", where=spot, notes=["n"], spots={"a": spot}, either=spot))
        item = _stored(things)
        for held in (item["where"], item["spots"]["M"]["a"], item["either"]):
            assert held["M"].keys() == {"Room", "Floor", "Desks"}
        assert things.get(Thing, thing_id="1") == thing
        assert things.in_room("r", 2) == [thing]
        assert things.in_room("r", 1) == []
        update = Update(thing).at(lambda thing: thing.where.room).set("s").only_if(where=thing.where)
        assert things.update(update).where.room == "s"
        nested = Update(Thing, thing_id="1").at(lambda thing: thing.where.desks[0].floor).add(1)
        assert things.update(nested.only_if("where.desks[0].room = :d", d="d")).where.desks[0].floor == 2
        assert _stored(things)["where"]["M"].keys() == {"Room", "Floor", "Desks"}


def test_nested_models_stored_by_field_name_or_without_defaults_are_read() -> None:
    with Things.open(":memory:") as things:
        for where in ({"room": {"S": "r"}, "floor": {"N": "7"}}, {"Room": {"S": "r"}, "floor": {"N": "7"}}):
            item = {"pk": {"S": "THING#1"}, "sk": {"S": "HEAD"}, "thing_id": {"S": "1"}, "where": {"M": where}}
            things.store.transport.call("PutItem", {"TableName": "things", "Item": item})
            thing: Any = things.get(Thing, thing_id="1")
            assert (thing.where.room, thing.where.floor) == ("r", 7)
            thing = things.update(thing, where=thing.where)
            assert things.update(Update(thing, notes=["x"]).only_if("where.floor = :n", n=7)).notes == ["x"]


def test_a_condition_can_compare_a_nested_model_with_defaults() -> None:
    with Things.open(":memory:") as things:
        item = {"pk": "THING#1", "sk": "HEAD", "thing_id": "1"}
        where = {"where": {"M": {"Room": {"S": "r"}}}}
        things.store.transport.call(
            "PutItem", {"TableName": "things", "Item": {name: {"S": text} for name, text in item.items()} | where}
        )
        thing: Any = things.get(Thing, thing_id="1")
        assert things.update(Update(thing, notes=["y"]).only_if(where=thing.where)).notes == ["y"]


@pytest.mark.parametrize(
    "field",
    [
        Field(validation_alias="In", serialization_alias="Out"),
        Field(validation_alias=AliasPath("a", 0), serialization_alias="b"),
        Field(alias="other"),
    ],
)
def test_a_serialization_alias_without_a_validation_alias_is_rejected(field: Any) -> None:
    model: Any = type("M", (BaseModel,), {"__annotations__": {"n": int, "other": int}, "n": field, "other": 1})
    body = {"__annotations__": {"a": str, "m": model}, "primary": Key("A#{a}", "H"), "__module__": __name__}
    entity: Any = type("E", (Entity,), body)
    with pytest.raises(DesignError, match="not read from that attribute"):
        type("D", (Design,), {"table": Table("one", entities=[entity]), "__module__": __name__})
