# mypy: disable-error-code="empty-body"
"""A design with every stored form, in fields that are compared, updated and used in keys."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel

from keyplan import Design, Entity, Field, Index, Key, Number, Range, StoredAs, Table, read

GSI1 = Index("GSI1", "gsi1pk", Number("at"))
MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678_901, UTC)


class Place(BaseModel):
    city: str
    since: date


def backwards(text: str) -> bytes:
    return text[::-1].encode()


def forwards(content: bytes) -> str:
    return content.decode()[::-1]


class Reading(Entity):
    name: str
    at: Annotated[datetime, StoredAs("ms")]
    second: Annotated[datetime, StoredAs("s")] | None = None
    digits: Annotated[datetime | None, StoredAs("ms as text")] = None
    iso: Annotated[datetime, StoredAs("iso ms")]
    python: Annotated[datetime, StoredAs("isoformat")] | None = None
    layout: Annotated[datetime, StoredAs(layout="%Y-%m-%dT%H:%M:%S.%f%z")] | None = None
    day: Annotated[date, StoredAs(layout="%d/%m/%Y")] | None = None
    seconds: Annotated[datetime, StoredAs("s as text")] | None = None
    iso_seconds: Annotated[datetime, StoredAs("iso s")] | None = None
    price: Annotated[Decimal, StoredAs("text")] = Decimal(0)
    done: Annotated[bool, StoredAs("number")] = False
    tags: Annotated[set[str], StoredAs("list")] = Field(default_factory=set)
    place: Annotated[Place, StoredAs("json")] | None = None
    body: Annotated[str, StoredAs("gzip")] = ""
    packed: Annotated[str, StoredAs("zlib")] = ""
    blob: Annotated[bytes, StoredAs("base64")] = b""
    secret: Annotated[str, StoredAs(write=backwards, read=forwards)] = ""

    primary = Key("READING#{name}", "{iso}")
    by_time = Key("READINGS#{name}", "{at}", index=GSI1)


class Readings(Design):
    table = Table("readings", indexes=[GSI1])

    @read("R1")
    def since(self, name: str, iso: Range[datetime]) -> list[Reading]: ...

    @read("R2")
    def by_time(self, name: str, at: Range[datetime]) -> list[Reading]: ...

    @read("R3", where="second <= :second AND contains(tags, :tag) AND secret = :secret", order_by="iso")
    def filtered(self, name: str, second: datetime, tag: str, secret: str) -> list[Reading]: ...

    @read("R4", order_by="iso", where="digits >= :digits AND price = :price")
    def priced(self, name: str, digits: datetime, price: Decimal) -> list[Reading]: ...


WHOLE: dict[str, Any] = {
    "second": MOMENT,
    "digits": MOMENT,
    "python": MOMENT,
    "layout": MOMENT,
    "day": date(2026, 1, 2),
    "seconds": MOMENT,
    "iso_seconds": MOMENT,
    "price": Decimal("2.50"),
    "done": True,
    "tags": {"b", "a"},
    "place": Place(city="Porto", since=date(2020, 1, 1)),
    "body": "a long text " * 50,
    "packed": "another text " * 50,
    "blob": b"\x00\xff",
    "secret": "abc",
}
