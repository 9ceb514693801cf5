# mypy: disable-error-code="empty-body"
"""A design whose access patterns read entities whose keys are separated by items of other entities."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Literal, NamedTuple

from keyplan import Cursor, Design, Each, Entity, Index, Key, Page, Range, Table, read

BY_DAY = Index("BY_DAY", "day_pk", "day_sk")
KEYS = Index("KEYS", "keys_pk", "keys_sk", projection="KEYS_ONLY")


class Letter(Entity):
    owner: str
    number: int
    day: date | None = None
    box: str | None = None
    state: Literal["new", "read"] = "new"

    primary = Key("OWNER#{owner}", "A#{number:04d}")
    by_day = Key("DAY#{day}", "A#{owner}#{number:04d}", index=BY_DAY, shards=3)
    listed = Key("BOX#{box}", "A#{number:04d}", index=KEYS)


class Between(Entity):
    owner: str
    number: int
    day: date | None = None
    box: str | None = None
    text: str = ""

    primary = Key("OWNER#{owner}", "B#{number:04d}")
    by_day = Key("DAY#{day}", "B#{owner}#{number:04d}", index=BY_DAY, shards=3)
    listed = Key("BOX#{box}", "B#{number:04d}", index=KEYS)


class Parcel(Entity):
    owner: str
    number: int
    day: date | None = None
    box: str | None = None
    state: Literal["new", "read"] = "new"

    primary = Key("OWNER#{owner}", "C#{number:04d}")
    by_day = Key("DAY#{day}", "C#{owner}#{number:04d}", index=BY_DAY, shards=3)
    listed = Key("BOX#{box}", "C#{number:04d}", index=KEYS)


class First(Entity):
    owner: str

    primary = Key("ENDS#{owner}", "A")


class Many(Entity):
    owner: str
    number: int

    primary = Key("ENDS#{owner}", "A{number:02d}")


class Last(Entity):
    owner: str

    primary = Key("ENDS#{owner}", "B")


class Pair(NamedTuple):
    letters: list[Letter]
    parcels: list[Parcel]


class Ends(NamedTuple):
    first: First | None
    last: Last | None


class Apart(Design):
    """Access patterns that require several narrower queries."""

    table = Table("apart", indexes=[BY_DAY, KEYS], entities=[Between, Many])

    @read("A1")
    def pair(self, owner: str) -> Pair | None: ...

    @read("A2")
    def both(self, owner: str) -> list[Letter | Parcel]: ...

    @read("A3", newest_first=True, consistent=True)
    def both_backwards(self, owner: str) -> list[Letter | Parcel]: ...

    @read("A4")
    def page(
        self, owner: str, newest_first: bool = False, limit: int = 5, cursor: Cursor | None = None
    ) -> Page[Letter | Parcel]: ...

    @read("A5")
    def iterated(self, owner: str) -> Iterator[Parcel | Letter]: ...

    @read("A6", entity=[Letter, Parcel])
    def how_many(self, owner: str) -> int: ...

    @read("A7", entity=[Parcel, Letter])
    def any(self, owner: str) -> bool: ...

    @read("A8")
    def ends(self, owner: str) -> Ends | None: ...

    @read("A9")
    def of_day(self, day: date, limit: int = 5, cursor: Cursor | None = None) -> Page[Letter | Parcel]: ...

    @read("A10", newest_first=True)
    def of_days(self, day: Each[date], limit: int = 5, cursor: Cursor | None = None) -> Page[Letter | Parcel]: ...

    @read("A11", complete=True)
    def listed(self, box: str, limit: int = 5, cursor: Cursor | None = None) -> Page[Letter | Parcel]: ...

    @read("A12", where={"state": "new"})
    def new(self, owner: str, limit: int = 5, cursor: Cursor | None = None) -> Page[Letter | Parcel]: ...

    @read("A13")
    def from_number(self, owner: str, number: Range[int] | None = None, limit: int = 5) -> list[Letter | Parcel]: ...

    @read("A14")
    def of_number(self, owner: str, number: int) -> list[Letter | Parcel]: ...

    @read("A15")
    def all_three(self, owner: str) -> list[Letter | Between | Parcel]: ...
