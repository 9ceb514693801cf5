# mypy: disable-error-code="empty-body"
"""A design with partitions per month, day or hour, and reads of time ranges across several partitions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Literal

from keyplan import Cursor, Design, Each, Entity, Index, InvalidItem, Key, Number, Page, Range, Table, View, read

BY_KIND = Index("BY_KIND", "kind_key", "kind_sort", projection="KEYS_ONLY")
BY_HOUR = Index("BY_HOUR", ["room", "year", "rest"], [Number("level")])

Kind = Literal["heat", "damp"]
SINCE_2026 = Range(ge=datetime(2026, 1, 1, tzinfo=UTC))


class Reading(Entity):
    """A measurement of a sensor, in one partition per sensor and month, sorted by time."""

    sensor: str
    at: datetime
    kind: Kind = "heat"
    value: int = 0
    note: str = ""

    primary = Key("SENSOR#{sensor}#{at:%Y%m}", "{at}#READING")
    by_kind = Key("KIND#{kind}#{at:%Y-%m-%d}", "{value:04d:desc}#{sensor}", index=BY_KIND, shards=2)


class Repair(Entity):
    """A repair of a sensor, in the same partitions as its readings."""

    sensor: str
    at: datetime
    by: str = ""

    primary = Key("SENSOR#{sensor}#{at:%Y%m}", "{at}#REPAIR")


class Visit(Entity):
    """A visit, in one partition per month. In the sort key, the path precedes the day."""

    site: str
    day: date
    path: str
    level: int = 0
    room: str | None = None
    at: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    primary = Key("SITE#{site}#{day:%Y%m}", "{path}#{day}")
    by_hour = Key(["{room}", "{at:%Y}", "{at:%m%dT%H}"], ["{level}"], index=BY_HOUR)


class Total(Entity):
    """The number of visits to a site on one day."""

    site: str
    day: date
    visits: int = 0

    primary = Key("TOTAL#{site}#{day}", "HEAD")


class ReadingRow(View[Reading]):
    """A view of a reading, whose fields are all in the keys of an index."""

    sensor: str
    value: int


class VisitRow(View[Visit]):
    """A view of a visit without its time."""

    path: str


class Timed(Design):
    """Access patterns of time ranges that span several buckets."""

    table = Table("timed", indexes=[BY_KIND.projected_for(ReadingRow), BY_HOUR])

    @read("M1")
    def readings(
        self,
        sensor: str,
        at: Range[datetime],
        newest_first: bool = False,
        limit: int = 10,
        cursor: Cursor | None = None,
    ) -> Page[Reading]: ...

    @read("M2")
    def all_readings(self, sensor: Each[str], at: Range[datetime]) -> list[Reading]: ...

    @read("M3")
    def each_reading(self, sensor: str, at: Range[datetime] = SINCE_2026) -> Iterator[Reading]: ...

    @read("M4", newest_first=True, consistent=True)
    def last_reading(self, sensor: str, at: Range[datetime]) -> Reading | None: ...

    @read("M5")
    def history(
        self, sensor: str, at: Range[datetime], limit: int = 10, cursor: Cursor | None = None
    ) -> Page[Reading | Repair | InvalidItem]: ...

    @read("M6", entity=Reading, where="note <> :text")
    def how_many_noted(self, sensor: str, at: Range[datetime], text: str) -> int: ...

    @read("M7", entity=Reading)
    def is_any(self, sensor: str, at: Range[datetime]) -> bool: ...

    @read("M8")
    def readings_of(
        self,
        sensor: Each[str],
        at: Range[datetime],
        newest_first: bool = True,
        limit: int = 10,
        cursor: Cursor | None = None,
    ) -> Page[Reading]: ...

    @read("K1", complete=True)
    def of_kind(
        self, kind: Kind, at: Range[datetime], newest_first: bool = False, limit: int = 10, cursor: Cursor | None = None
    ) -> Page[Reading]: ...

    @read("V1")
    def visits(
        self, site: str, day: Range[date], newest_first: bool = False, limit: int = 10, cursor: Cursor | None = None
    ) -> Page[VisitRow]: ...

    @read("V2", entity=Visit, total="level")
    def levels(self, site: str, day: Range[date]) -> int: ...

    @read("V3")
    def in_room(self, room: str, at: Range[datetime], level: Range[int] | None = None) -> list[Visit]: ...

    @read("V4", entity=Visit)
    def is_in_room(self, room: str, at: Range[datetime]) -> bool: ...

    @read("V5")
    def totals(
        self, site: str, day: Range[date], newest_first: bool = False, limit: int = 10, cursor: Cursor | None = None
    ) -> Page[Total]: ...
