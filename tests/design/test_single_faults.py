# mypy: disable-error-code="empty-body"
"""Rarer faults, one a design: nothing else is told of it, and it is told at its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, NamedTuple

import pytest

from keyplan import (
    Design,
    Entity,
    Index,
    Key,
    Table,
    Unique,
    Writes,
    read,
    write,
)
from keyplan.errors import DesignError

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
GSI2 = Index("GSI2", "gsi2pk", "gsi2sk")


@dataclass(frozen=True)
class Case:
    """A design, the place of its one fault, and words of the message and the hint."""

    make: Callable[[], object]
    place: str
    words: tuple[str, ...]


CASES: list[Case] = []


def refused(place: str, *words: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
    """The design that the function makes is refused for one fault, at this place and in these words."""

    def add(make: Callable[[], object]) -> Callable[[], object]:
        CASES.append(Case(make, place, words))
        return make

    return add


def name_of(case: Case) -> str:
    return getattr(case.make, "__name__", "")


# What the designs are made of


class Photo(Entity):
    photo_id: str
    owner: str
    place: str
    taken_on: date
    stars: int = 0
    album: str | None = None

    primary = Key("PHOTO#{photo_id}", "HEAD")
    by_owner = Key("OWNER#{owner}", "{taken_on}#{photo_id}", index=GSI1)


class Pending(Entity):
    order_id: str
    merchant: str
    status: Literal["pending", "paid"] = "pending"

    primary = Key("ORDER#{order_id}", "HEAD")
    pending = Key("MERCHANT#{merchant}", "{order_id}", index=GSI1, when={"status": "pending"})


class Article(Entity):
    article_id: str
    title: str

    primary = Key("ARTICLE#{article_id}", "#METADATA")


class Follow(Entity):
    user_id: str
    followed_id: str
    stars: int = 0

    primary = Key("USER#{user_id}", "FOLLOWS#{followed_id}")


class User(Entity):
    user_id: str
    name: str

    primary = Key("USER#{user_id}", "HEAD")


def design_of(*entities: type[Entity], indexes: tuple[Index, ...] = (GSI1, GSI2)) -> type[Design]:
    """A design of entities alone."""

    class Plan(Design):
        table = Table("plan", indexes=indexes, entities=entities)

    return Plan


@refused("Plan.photo", "taken_on and photo_id is open, so it names many items", "newest_first=")
def one_of_many() -> None:
    class Plan(Design):
        table = Table("plan", indexes=[GSI1])

        @read("Q")
        def photo(self, owner: str) -> Photo | None: ...


@refused("Plan.orders", "it holds only items with status = 'pending'")
def a_sparse_key_asked_for_other_items() -> None:
    class Plan(Design):
        table = Table("plan", indexes=[GSI1])

        @read("Q", where={"status": "paid"})
        def orders(self, merchant: str) -> list[Pending]: ...


@refused("Plan.photos", "owner stands in its partition key, and may not be None")
def an_optional_partition_key() -> None:
    class Plan(Design):
        table = Table("plan", indexes=[GSI1])

        @read("Q")
        def photos(self, owner: str | None = None) -> list[Photo]: ...


@refused("Plan.photo", "one item has no limit", "return a Page or a list, or remove the limit")
def a_limit_of_one() -> None:
    class Plan(Design):
        table = Table("plan", indexes=[GSI1])

        @read("Q")
        def photo(self, photo_id: str, limit: int = 1) -> Photo: ...


@refused("Plan.both", "Twice names an entity twice", "each entity of a collection has one field")
def a_collection_that_names_an_entity_twice() -> None:
    class Twice(NamedTuple):
        article: Article
        articles: list[Article]

    class Plan(Design):
        table = Table("plan")

        @read("Q")
        def both(self, article_id: str) -> Twice: ...


@refused("Plan.parts", "Elsewhere has no key on the table with the same partition")
def entities_that_share_no_partition() -> None:
    class Plan(Design):
        table = Table("plan")

        @read("Q")
        def parts(self, article_id: str) -> list[Article | Elsewhere]: ...


class Elsewhere(Entity):
    article_id: str

    primary = Key("ELSEWHERE#{article_id}", "HEAD")


@refused("Plan.parts", "some of the entities' keys are reversed (:desc) and some aren't", "no common order")
def entities_in_two_directions() -> None:
    class Up(Entity):
        thread: str
        number: int
        primary = Key("THREAD#{thread}", "UP#{number:04d}")

    class Down(Entity):
        thread: str
        number: int
        primary = Key("THREAD#{thread}", "DOWN#{number:04d:desc}")

    class Plan(Design):
        table = Table("plan")

        @read("Q")
        def parts(self, thread: str) -> list[Up | Down]: ...


@refused("Plan.keep", "the parameter photo has no type")
def a_write_without_types() -> None:
    class Plan(Design):
        table = Table("plan", indexes=[GSI1], entities=[Photo])

        @write("W")
        def keep(self, photo) -> Writes:  # type: ignore[no-untyped-def]
            yield photo


@refused("Owner.two", "its key can be the same as Owner.one's")
def two_claims_that_collide() -> None:
    class Owner(Entity):
        owner_id: str
        email: str
        nickname: str
        primary = Key("OWNER#{owner_id}", "HEAD")
        one = Unique("NAME#{email}")
        two = Unique("NAME#{nickname}")

    design_of(Owner)


@refused("Thing.by_name", "GSI1 has 1 partition and 1 sort key attributes", "gives templates for 2 and 1")
def too_many_templates() -> None:
    class Thing(Entity):
        name: str
        primary = Key("THING#{name}", "HEAD")
        by_name = Key(["THINGS", "{name}"], "{name}", index=GSI1)

    design_of(Thing)


@refused("Thing.by_kind", "it shares the attribute shared with by_name", "when={}")
def two_memberships_for_one_attribute() -> None:
    index, two = Index("ONE", "onepk", "shared"), Index("TWO", "twopk", "shared")

    class Thing(Entity):
        name: str
        kind: str
        primary = Key("THING#{name}", "HEAD")
        by_name = Key("THINGS", "{name}", index=index)
        by_kind = Key("THINGS", "{name}", index=two, when={"kind": "x"})

    design_of(Thing, indexes=(index, two))


@refused("Thing.primary", "shards= needs a field in the sort key", "add a field to the sort key")
def shards_without_a_field() -> None:
    class Thing(Entity):
        name: str
        primary = Key("THING#{name}", "HEAD", shards=4)

    design_of(Thing)


@refused("Thing.by_all", "shards need one partition key attribute of type S")
def shards_of_several_attributes() -> None:
    several = Index("SEVERAL", ["one", "two"], "three")

    class Thing(Entity):
        name: str
        kind: str
        primary = Key("THING#{name}", "HEAD")
        by_all = Key(["{name}", "{kind}"], "X#{name}", index=several, shards=4)

    design_of(Thing, indexes=(several,))


@refused("Plan.on", "no key supports", "it holds only a part of at: give a computed field of that part")
def equality_by_a_part_of_a_moment() -> None:
    class Event(Entity):
        event_id: str
        at: datetime
        primary = Key("EVENT#{event_id}", "HEAD")
        by_day = Key("DAY#{at:%Y-%m-%d}", "{event_id}", index=GSI1)

    class Plan(Design):
        table = Table("plan", indexes=[GSI1])

        @read("P1")
        def on(self, at: datetime) -> list[Event]: ...


@refused("Plan.table", "6 local indexes; DynamoDB allows 5")
def too_many_local_indexes() -> None:
    class Plan(Design):
        table = Table("plan", indexes=[Index(f"LSI{number}", "pk", f"s{number}", local=True) for number in range(6)])


@refused("Plan.table", "WIDE has more than 4 attributes in a key")
def too_many_attributes_in_a_key() -> None:
    class Plan(Design):
        table = Table("plan", indexes=[Index("WIDE", ["a", "b", "c", "d", "e"])])


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_design_with_one_fault(case: Case) -> None:
    with pytest.raises(DesignError) as caught:
        case.make()
    (fault,) = caught.value.errors
    text = f"{fault.message} ({fault.hint})"
    missing = [words for words in case.words if words not in text]
    assert (fault.place, missing) == (case.place, []), text
