# mypy: disable-error-code="empty-body"
"""Counts in an index in which items of several entities have the same keys, so each item must be read."""

from __future__ import annotations

from keyplan import Create, Design, Entity, Index, Key, Table, Writes, read, write

TOGETHER, LISTED = Index("TOGETHER", "opk"), Index("LISTED", "tpk", "tsk")


class Gnu(Entity):
    place: str
    number: int
    town: str

    primary = Key("GNU#{place}", "{number:03d}")
    together = Key("TOWN#{town}", index=TOGETHER)
    listed = Key("PLACE#{place}", "N#{number:03d}", index=LISTED)


class Hen(Entity):
    place: str
    number: int
    town: str

    primary = Key("HEN#{place}", "{number:03d}")
    together = Key("TOWN#{town}", index=TOGETHER)
    listed = Key("PLACE#{place}", "N#{number:03d}", index=LISTED)


class Farm(Design):
    table = Table("farm", entities=[Gnu, Hen], indexes=[TOGETHER, LISTED])

    @read("R1", entity=Gnu)
    def in_town(self, town: str) -> int: ...

    @read("R2", entity=Gnu, key=Gnu.listed)
    def of_number(self, place: str, number: int) -> int: ...

    @read("R3", entity=Gnu, key=Gnu.listed)
    def in_place(self, place: str) -> int: ...

    @read("R4")
    def listed_in_town(self, town: str) -> list[Gnu]: ...

    @write("W1")
    def add(self, place: str, number: int, town: str) -> Writes:
        yield Create(Gnu(place=place, number=number, town=town))
        yield Create(Hen(place=place, number=number, town=town))


def test_items_of_other_entities_with_the_same_keys_are_not_counted() -> None:
    with Farm.open(":memory:") as farm:
        for number in range(3):
            farm.add("a", number, "Bern")
        assert farm.in_town("Bern") == len(farm.listed_in_town("Bern")) == 3
        assert farm.of_number("a", 2) == 1
        assert farm.in_place("a") == 3


def test_an_item_of_another_program_within_the_key_range_is_not_counted() -> None:
    with Farm.open(":memory:") as farm:
        farm.add("a", 1, "Bern")
        foreign = {"pk": "GNU#a", "sk": "001#note", "opk": "TOWN#Bern", "tpk": "PLACE#a", "tsk": "N#001"}
        item = {name: {"S": text} for name, text in foreign.items()}
        farm.store.transport.call("PutItem", {"TableName": "farm", "Item": item})
        assert (farm.in_town("Bern"), farm.of_number("a", 1), farm.in_place("a")) == (1, 1, 1)
