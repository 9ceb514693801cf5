# mypy: disable-error-code="empty-body"
"""Rules with a numeric limit report values above the limit, but not a value equal to the limit."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import pytest
from pydantic import create_model

from keyplan import Cursor, Design, Entity, Index, Key, Page, Put, Range, Table, Through, Writes, read, write
from keyplan.analysis.check import Severity, check
from keyplan.analysis.check.rules.projection_faults import PROJECTED_NAMES_PER_INDEX_MAX
from keyplan.analysis.traffic import traffic_from
from keyplan.dynamodb.limits import PROJECTED_NAMES_PER_TABLE_MAX


class Reading(Entity):
    sensor: str
    at: datetime
    level: int = 0

    primary = Key("SENSOR#{sensor}#{at:%Y%m%d}", "{at}")


class Watch(Entity):
    """A junction that leads to the letters of ``other``."""

    who: str
    other: str

    primary = Key("WATCH#{who}", "{other}")


class Letter(Entity):
    other: str
    number: int

    primary = Key("LETTERS#{other}", "{number:04d}")


class Limits(Design):
    table = Table("limits")

    @read("L1", through=Through(Watch, other="other"))
    def letters(self, who: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Letter]: ...

    @read("L2")
    def readings(self, sensor: str, at: Range[datetime]) -> list[Reading]: ...

    @write("L3")
    def watch(self, watches: list[Watch]) -> Writes:
        for each in watches:
            yield Put(each)

    @write("L4")
    def post(self, letter: Letter) -> Writes:
        yield Put(letter)


def found(cls: type[Design], code: str, data: Any = None) -> list[tuple[str, Severity]]:
    traffic = None if data is None else traffic_from(data, cls.compiled)
    return [(each.place, each.severity) for each in check(cls, traffic=traffic).findings if each.code == code]


def pattern(name: str, **given: Any) -> dict[str, Any]:
    return {"patterns": {name: given}}


def days(count: int) -> dict[str, Any]:
    """Traffic data in which the typical call of ``readings`` has a range of this many days."""
    last = date.fromordinal(date(2026, 1, 1).toordinal() + count - 1)
    return pattern("readings", arguments={"at": {"ge": "2026-01-01T00:00:00Z", "le": f"{last}T12:00:00Z"}})


CASES: dict[str, tuple[str, Callable[[int], dict[str, Any]], int]] = {
    "partitions behind a junction": ("KP304", lambda items: pattern("letters", items=items), 100),
    "partitions of time": ("KP317", days, 100),
    "items of a transaction": ("KP106", lambda items: pattern("watch", items=items), 100),
    "bytes of a transaction": ("KP106", lambda size: pattern("watch", items=16, item_bytes=size), 4 * 1024**2 // 16),
    "units of a table": (
        "KP504",
        lambda rate: {**pattern("post", peak_per_second=rate), "entities": {"Letter": {"item_bytes": 900}}},
        40_000,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_only_values_above_a_rules_limit_are_reported(name: str) -> None:
    code, given, limit = CASES[name]
    assert found(Limits, code, given(limit)) == []
    assert len(found(Limits, code, given(limit + 1))) == 1


@pytest.mark.parametrize(
    ("layout", "year"),
    [
        ("%Y%m%d", "365 days = 365 requests"),
        ("%Y%m%d%H", "8,760 hours = 8,760 requests, but a call can read at most 1,000"),
        ("%Y%m%d%H%M", "525,600 minutes = 525,600 requests, but a call can read at most 1,000"),
        ("%Y%m%d%H%M%S", "31,536,000 seconds = 31,536,000 requests, but a call can read at most 1,000"),
    ],
)
def test_a_read_over_a_year_of_time_buckets_is_reported(layout: str, year: str) -> None:
    class Measured(Entity):
        sensor: str
        at: datetime

        primary = Key(f"SENSOR#{{sensor}}#{{at:{layout}}}", "{at}")

    class Kept(Design):
        table = Table("kept")

        @read("M1")
        def measured(self, sensor: str, at: Range[datetime]) -> list[Measured]: ...

    (finding,) = [each for each in check(Kept).findings if each.code == "KP317"]
    assert finding.arithmetic == (f"a year = {year}",)


def projecting(*sizes: int) -> type[Design]:
    """A design with one index per given size. The size is the number of attributes that the index projects."""
    names = [f"field_{number}" for number in range(max(sizes))]
    indexes = [
        Index(f"GSI{number}", f"g{number}pk", f"g{number}sk", projection=names[:size])
        for number, size in enumerate(sizes)
    ]
    fields: Any = dict.fromkeys(names, (str, ""))
    keys = {f"by_{number}": Key(f"G{number}#{{name}}", "HEAD", index=each) for number, each in enumerate(indexes)}
    base = create_model("Base", __base__=Entity, name=(str, ...), **fields)
    wide: Any = type("Wide", (base,), {"primary": Key("WIDE#{name}", "HEAD"), **keys, "__module__": __name__})
    return type("Projecting", (Design,), {"table": Table("wide", indexes=indexes, entities=[wide])})


def test_projections_above_the_attribute_limits_are_reported() -> None:
    most = PROJECTED_NAMES_PER_INDEX_MAX
    whole, rest = divmod(PROJECTED_NAMES_PER_TABLE_MAX, most)
    assert rest == 0
    assert found(projecting(most), "KP104") == []
    assert found(projecting(most + 1), "KP104") == [("GSI0", Severity.ERROR)]
    assert found(projecting(*[most] * whole), "KP104") == []
    assert [severity for _, severity in found(projecting(*[most] * whole, 1), "KP104")] == [Severity.ERROR]
