# mypy: disable-error-code="empty-body"
"""A design of ways to an answer that others haven't: by a claim and by a single item to what it names, over a junction
in shards, by many values of two fields, all of a sparse index; an entity lies between two that are asked for together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from keyplan import Cursor, Design, Each, Entity, Field, Index, Key, Page, Table, Unique, read

__all__ = ["Ways"]

BY_OWNER = Index("BY_OWNER", "owner_pk", "owner_sk")
AWAY = Index("AWAY", "away_pk", "away_sk", projection=["pet_id", "state"])
SHARDED = Index("SHARDED", "sharded_pk", "sharded_sk")


class Owner(Entity):
    owner_id: str
    mail: str

    primary = Key("OWNER#{owner_id}", "A#HEAD")
    one_mail = Unique("MAIL#{mail}")


class Remark(Entity):
    """Lies between an owner and its visits."""

    owner_id: str
    text: str = Field(default="", examples=["r" * 3000])

    primary = Key("OWNER#{owner_id}", "B#HEAD")


class Visit(Entity):
    owner_id: str
    number: int

    primary = Key("OWNER#{owner_id}", "C#{number:06d}")
    shared = Key("VISITS", "OWNER#{owner_id}", index=SHARDED, shards=3)


class Pet(Entity):
    pet_id: str
    owner_id: str
    kind: Literal["cat", "dog"]
    chip: str | None = None
    state: Literal["home", "away", "elsewhere"] = "home"
    text: str | None = Field(default=None, examples=["t" * 5000])

    primary = Key("PET#{pet_id}", "HEAD")
    of_owner = Key("OWNER#{owner_id}", "PET#{pet_id}", index=BY_OWNER)
    one_chip = Unique("CHIP#{chip}")
    away = Key("KIND#{kind}#{owner_id}", "PET#{pet_id}", index=AWAY, when={"state": ("elsewhere", "away")})


class Family(NamedTuple):
    owner: Owner
    visits: list[Visit]


class Ways(Design):
    table = Table("ways", indexes=[BY_OWNER, AWAY, SHARDED], entities=[Remark])

    @read("W1", through=Pet)
    def owner_of_chip(self, chip: str) -> Owner | None: ...

    @read("W2", through=Pet)
    def owner_of(self, pet_id: str) -> Owner | None: ...

    @read("W3", through=Pet)
    def beside(self, pet_id: str, limit: int = 3, cursor: Cursor | None = None) -> Page[Pet]: ...

    @read("W4", where={"state": "away"}, complete=True)
    def that_are_away(self, kind: Each[Literal["cat", "dog"]], owner_id: Each[str]) -> list[Pet]: ...

    @read("W5", scan_index=AWAY, complete=True)
    def all_away(self) -> Iterator[Pet]: ...

    @read("W6", through=Visit, key=Visit.shared)
    def visited(self) -> list[Owner]: ...

    @read("W7")
    def family(self, owner_id: str) -> Family | None: ...

    @read("W8")
    def of_both(self, owner_id: str) -> list[Owner | Visit]: ...

    @read("W9")
    def some_of_both(self, owner_id: str, limit: int = 5) -> list[Owner | Visit]: ...

    @read("W10")
    def by_mail(self, mail: str) -> Owner | None: ...
