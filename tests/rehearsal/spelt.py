# mypy: disable-error-code="empty-body"
"""Writes in every spelling that authors have: what holds an action, where values come from, what decides."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from keyplan import (
    Add,
    Append,
    Batch,
    Check,
    Create,
    Cursor,
    Delete,
    Design,
    Entity,
    Field,
    IdempotencyTokens,
    Key,
    Page,
    Put,
    Remove,
    Table,
    Unique,
    Update,
    Version,
    Writes,
    read,
    write,
)
from keyplan.errors import Refused


class Ship(Entity):
    name: str
    port: str = "none"
    crew: int = 0
    state: Literal["docked", "sailing", "sunk"] = "docked"
    tags: list[str] = Field(default_factory=list)
    holds: dict[str, int] = Field(default_factory=dict)
    sign: str | None = None
    tons: Annotated[int, Field(gt=4)] = 5
    decks: Annotated[int, Field(ge=2)] = 2
    version: Version = 0
    manned: IdempotencyTokens = Field(default_factory=set)

    primary = Key("SHIP#{name}", "HEAD")
    by_sign = Unique("SIGN#{sign}")


class Cargo(Entity):
    name: str
    number: int
    text: str = ""

    primary = Key("SHIP#{name}", "CARGO#{number:04d}")


def _loaded(ship: Ship, number: int) -> Writes:
    yield Put(Cargo(name=ship.name, number=number, text=ship.port.lower()))


def _more(crew: int, by: int) -> int:
    total = crew
    total += by
    return total


def _kept(text: str) -> str:
    return text.casefold()


def _pair(ship: Ship) -> tuple[Ship, Cargo]:
    return ship, Cargo(name=ship.name, number=1)


class Ships(Design):
    table = Table("ships")

    @read("S1")
    def ship(self, name: str) -> Ship | None: ...

    @read("S2")
    def cargo(self, name: str) -> list[Cargo]: ...

    @read("S3")
    def some_cargo(self, name: str, limit: int = 5, cursor: Cursor | None = None) -> Page[Cargo]: ...

    def _of(self, name: str) -> Writes[Ship]:
        ship = yield from self.ship.read(name)
        if ship is None:
            raise Refused("no such ship")
        return ship

    @write("W1")
    def held_in_a_variable(self, name: str, port: str) -> Writes:
        update = Update(Ship, name=name).set(port=port)
        update = update.only_if(state="docked")
        yield update.if_missing(Refused("no such ship"))

    @write("W2")
    def held_open(self, name: str, changes: dict[str, Any]) -> Writes:
        update = Update(Ship, name=name)
        if changes:
            update = update.set(**changes).or_create()
        yield update

    @write("W3")
    def with_a_token(self, name: str, token: str) -> Writes:
        yield Update(Ship, name=name).set(crew=Add(1), tags=Append([token])).idempotent(f"crew-{token}")

    @write("W4")
    def part_by_part(self, name: str, hold: str) -> Writes:
        ship = yield from self._of(name)
        yield Update(ship).at(lambda ship: ship.holds[hold]).set(len(ship.tags) + 1)

    @write("W5")
    def a_known_part(self, name: str) -> Writes:
        yield Update(Ship, name=name).at(lambda ship: ship.holds["fore"]).set(3).only_if("state = :s", s="docked")

    @write("W6")
    def copied_with_changes(self, name: str, text: str) -> Writes:
        for cargo in (yield from self.cargo.read(name)):
            yield Put(cargo.model_copy(update={"text": text, "number": cargo.number + 1}))

    @write("W7")
    def by_helpers(self, name: str, by: int) -> Writes:
        ship = yield from self._of(name)
        yield Update(ship, crew=_more(ship.crew, by), port=_kept(ship.port))
        for number in range(2):
            yield from _loaded(ship, number)

    @write("W8")
    def grown_from_what_was_read(self, name: str, tag: str) -> Writes:
        ship = yield from self._of(name)
        tags = [*ship.tags, tag]
        holds = dict(ship.holds)
        holds[tag] = 1
        if not ship.tags and tag not in tags[:1]:
            raise Refused("never")
        yield Update(ship, tags=tags, holds=holds | {"aft": 2}, sign=Remove())

    @write("W9")
    def in_comprehensions(self, name: str, numbers: set[int]) -> Writes:
        cargo = yield from self.cargo.read(name)
        yield Batch([Delete(each) for each in cargo if each.number not in numbers])
        yield Batch(Put(Cargo(name=name, number=number)) for number in sorted(numbers))

    @write("W10")
    def through_a_page(self, name: str) -> Writes[int]:
        page = yield from self.some_cargo.read(name, limit=4)
        count = 0
        for cargo in page.items:
            count += 1
            yield Update(cargo, text=f"{cargo.text} {count}").only_if(text=cargo.text)
        if count > 3:
            yield Check(Ship, name=name).only_if("attribute_exists(port)")
        return count

    @write("W11")
    def unpacked(self, name: str) -> Writes:
        ship = yield from self._of(name)
        known, cargo = _pair(ship)
        first, second = known.crew, 3
        yield Create(cargo)
        yield Update(known, crew=first + second)

    @write("W12")
    def matched(self, name: str, state: Literal["docked", "sailing", "sunk"]) -> Writes:
        ship = yield from self._of(name)
        match ship.state:
            case "docked" if ship.crew > 2000:
                yield Update(ship, state="sailing")
            case "sailing":
                yield Update(ship, state=state)
            case _:
                raise Refused("not yet")

    @write("W13")
    def by_turns(self, name: str, bound: int) -> Writes:
        if (ship := (yield from self.ship.read(name))) is None or ship.crew <= bound:
            raise Refused("too few")
        if ship.tons < 7 or not ship.decks >= 3 or ship.sign:
            raise Refused("too small")
        yield Delete(ship).only_if(crew=ship.crew) if ship.tags else Delete(ship)

    @write("W14")
    def what_was_there(self, name: str) -> Writes[int]:
        before = yield from Update(Ship, name=name).set(crew=0).previous()
        return 0 if before is None else before.crew

    @write("W15")
    def put_over(self, cargo: Cargo) -> Writes[str]:
        before = yield from Put(cargo).previous()
        return "" if before is None else before.text

    @write("W16")
    def as_long_as(self, name: str) -> Writes:
        left = 3
        while left > 0:
            yield Put(Cargo(name=name, number=left))
            left -= 1
        yield Check(Ship, name=name)

    @write("W17")
    def a_function_within(self, name: str, numbers: list[int]) -> Writes:
        def made(number: int) -> Put[Cargo]:
            return Put(Cargo(name=name, number=number, text="made"))

        for number in numbers[:4]:
            yield made(number)

    @write("W18")
    def no_such_field(self, name: str) -> Writes:
        yield Update(Ship, name=name).set(state="afloat", tons=1)

    @write("W20")
    def waited_for(self, name: str) -> Writes:
        yield from Update(Ship, name=name).set(no_such=1)

    @write("W21")
    def by_a_helper_that_asks(self, name: str) -> Writes:
        yield from self._asking(name)

    def _asking(self, name: str) -> Writes:
        cargo = yield from self.cargo.read(name)
        if len(cargo) > 1:
            yield Update(cargo[0], number=3)

    @write("W19")
    def two_of_them(self, ships: tuple[Ship, Ship], sign: str) -> Writes:
        first, second = ships
        yield Update(first, sign=None)
        yield Update(second, sign=sign.upper())
