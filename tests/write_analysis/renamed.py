# mypy: disable-error-code="empty-body,unreachable"
"""A design that imports actions under other names."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import keyplan
from keyplan import Add, Design, Entity, Index, Key, Table, Writes, read, write
from keyplan import Create as New
from keyplan import Update as Change

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
RUNS: list[str] = []


class Item(Entity):
    name: str
    owner: str = "nobody"
    number: int = 0
    tags: list[str] = []  # noqa: RUF012 - pydantic copies it

    primary = Key("ITEM#{name}", "HEAD")
    by_owner = Key("OWNER#{owner}", "{name}", index=GSI1)


class Stranger(Entity):
    name: str

    primary = Key("STRANGER#{name}", "HEAD")


def remove(item: Item) -> Any:
    return keyplan.Delete(item)


class Things(Design):
    table = Table("things", indexes=[GSI1])

    @read("R1")
    def item(self, name: str) -> Item | None: ...

    @read("R2")
    def of_owner(self, owner: str, limit: int = 20) -> list[Item]: ...

    @write("W1")
    def made(self, item: Item) -> Writes:
        yield New(item)

    @write("W2")
    def counted(self, name: str) -> Writes:
        item = yield from self.item.read(name)
        if item is not None:
            yield Change(item, number=item.number + 1)

    @write("W3")
    def named(self, item: Item) -> Writes:
        Delete = item.name
        yield New(Item(name=Delete))

    @write("W4")
    def aliased(self, item: Item) -> Writes:
        kind = keyplan.Put
        yield kind(item)

    @write("W5")
    def helped(self, item: Item) -> Writes:
        yield remove(item)

    @write("W6")
    def by_another_way(self, item: Item) -> Writes:
        yield getattr(keyplan, "Che" + "ck")(item)

    @write("W7")
    def imported(self, item: Item) -> Writes:
        from keyplan import Put as Keep  # noqa: PLC0415 - that is the case

        yield Keep(item)

    @write("W8")
    def unknown_field(self, item: Item) -> Writes:
        yield Change(item, nn=3)

    @write("W9")
    def in_a_branch(self, item: Item) -> Writes:
        if item.number > 1_000_000:
            yield Change(Item, name=item.name).set(owner="me")
        yield Change(item, number=Add(1))

    @write("W10")
    def of_another(self, name: str) -> Writes:
        yield New(Stranger(name=name))

    @write("W11")
    def of_another_type(self, item: Item) -> Writes:
        yield Change(item, number="three")

    @write("W12")
    def twice(self, item: Item) -> Writes:
        yield Change(item, number=1)
        yield keyplan.Delete(item)

    @write("W13")
    def misspelt(self, item: Item) -> Writes:
        yield Change(item, number=item.nunber)  # type: ignore[attr-defined]

    @write("W14")
    def incomplete(self) -> Writes:
        yield New(Item())  # type: ignore[call-arg]

    @write("W15")
    def renamed(self, name: str) -> Writes:
        yield Change(Item, name=name).set(name="other")

    @write("W16")
    def writing(self, item: Item) -> Writes:
        Path(f"{item.name}.txt").write_text("x", encoding="utf-8")
        yield New(item)

    @write("W17")
    def swallowing(self, item: Item) -> Writes:
        with suppress(Exception):
            Path(f"{item.name}.txt").write_text("x", encoding="utf-8")
        yield New(item)

    @write("W18")
    def stubborn(self, item: Item) -> Writes:
        RUNS.append(item.name)
        raise RuntimeError("not today")
        yield New(item)

    @write("W19")
    def handed_on(self, item: Item, changes: dict[str, Any]) -> Writes:
        yield Change(item, **changes)
