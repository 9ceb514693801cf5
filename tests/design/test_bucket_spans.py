"""Which buckets a range of time names, in a plain account: those of the moments in it, one by one."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyplan import Range
from keyplan.errors import ArgumentError, KeyFieldError
from keyplan.model.compiled.time_bucket_keys import BUCKET, BUCKETS_MAX, Buckets

UNITS = ["year", "month", "day", "hour", "minute", "second"]
TICK = timedelta(microseconds=1)
BOUNDS = [("ge", "le"), ("ge", "lt"), ("gt", "le"), ("gt", "lt")]
STARTS = {
    "year": datetime(2023, 1, 1, tzinfo=UTC), "month": datetime(2023, 11, 1, tzinfo=UTC),
    "day": datetime(2024, 2, 27, tzinfo=UTC), "hour": datetime(2024, 2, 29, 22, tzinfo=UTC),
    "minute": datetime(2023, 12, 31, 23, 58, tzinfo=UTC), "second": datetime(1969, 12, 31, 23, 59, 58, tzinfo=UTC),
}  # fmt: skip
"""Where the buckets that are looked at begin: ends of months and years lie among them, and 1970."""


def following(start: Any, unit: str) -> Any:
    """The first moment, or day, of the next bucket."""
    if unit == "year":
        return start.replace(year=start.year + 1)
    if unit == "month":
        return start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)
    return start + timedelta(**{f"{unit}s": 1})


def edges(unit: str, *, days: bool) -> tuple[list[Any], list[Any]]:
    """The first moments of five buckets, and all that lie a tick beside one or within one."""
    start: Any = STARTS[unit].date() if days else STARTS[unit]
    starts = [start]
    for _ in range(4):
        starts.append(following(starts[-1], unit))
    tick = timedelta(days=1) if days else TICK
    return starts, sorted({moment for each in starts for moment in (each - tick, each, each + tick)})


def named(buckets: Buckets, asked: Range[Any], *, ascending: bool = True) -> list[tuple[Any, bool]]:
    sets = buckets.sets({"at": asked, "other": 1}, ascending=ascending)
    for text, values in sets:
        assert text == values[BUCKET].isoformat()
        assert values["other"] == 1
        assert values["at"] in (None, asked)
        assert buckets.placed(values) == {**values, "at": values[BUCKET]}
    return [(values[BUCKET], values["at"] is None) for _, values in sets]


@pytest.mark.parametrize(("unit", "days"), [*((unit, False) for unit in UNITS), *((unit, True) for unit in UNITS[:3])])
@given(data=st.data())
@settings(max_examples=40)
def test_buckets_are_those_of_the_moments_in_a_range(unit: str, days: bool, data: st.DataObject) -> None:
    starts, moments = edges(unit, days=days)
    begin, end = data.draw(st.sampled_from(moments)), data.draw(st.sampled_from(moments))
    bounds = data.draw(st.sampled_from(BOUNDS))
    asked = Range[Any](**dict(zip(bounds, (begin, end), strict=True)))
    tick = timedelta(days=1) if days else TICK
    expected = []
    for start in [_before(starts[0], unit), *starts, following(starts[-1], unit)]:
        last = following(start, unit) - tick
        least = begin + tick if bounds[0] == "gt" else begin
        most = end - tick if bounds[1] == "lt" else end
        if least <= most and start <= most and last >= least:
            expected.append((start, least <= start and last <= most))
    buckets = Buckets("at", unit, days)
    assert named(buckets, asked) == expected
    assert named(buckets, asked, ascending=False) == expected[::-1]
    assert buckets.count(asked) == len(expected)


def _before(start: Any, unit: str) -> Any:
    if unit == "year":
        return start.replace(year=start.year - 1)
    if unit == "month":
        return (start - timedelta(days=1)).replace(day=1)
    return start - timedelta(**{f"{unit}s": 1})


@pytest.mark.parametrize("days", [False, True])
def test_a_call_takes_so_many_buckets(days: bool) -> None:
    first: Any = date(2020, 1, 1) if days else datetime(2020, 1, 1, tzinfo=UTC)
    buckets = Buckets("at", "day", days)
    most = Range[Any](ge=first, lt=first + timedelta(days=BUCKETS_MAX))
    assert buckets.count(most) == BUCKETS_MAX == len(buckets.sets({"at": most}))
    with pytest.raises(ArgumentError) as error:
        buckets.count(Range[Any](ge=first, le=first + timedelta(days=BUCKETS_MAX)))
    assert error.value.message == f"at reaches over {BUCKETS_MAX + 1:,} days, and a call takes {BUCKETS_MAX:,}"
    assert (error.value.place, error.value.hint) == ("at", "ask for a shorter time at once")


@pytest.mark.parametrize(("unit", "days"), [*((unit, False) for unit in UNITS), *((unit, True) for unit in UNITS[:3])])
def test_the_calendars_ends_are_buckets_too(unit: str, days: bool) -> None:
    buckets = Buckets("at", unit, days)
    first: Any = date.min if days else datetime.min.replace(tzinfo=UTC)
    last: Any = date.max if days else datetime.max.replace(tzinfo=UTC)
    ((start, _),) = named(buckets, Range(ge=first, le=first))
    assert start == first
    ((start, whole),) = named(buckets, Range(ge=last, le=last))
    assert start <= last
    assert whole is (days and unit == "day")
    assert named(buckets, Range(gt=last, le=last)) == named(buckets, Range(ge=first, lt=first)) == []
    assert [whole for _, whole in named(buckets, Range(ge=start, le=last))] == [True]


NEW, OLD = datetime(2026, 3, 3, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("asked", "default", "count"),
    [
        (Range(ge=OLD, le=NEW), None, 3), (Range(ge=OLD, lt=NEW), None, 2), (None, Range(ge=OLD, le=NEW), 3),
        (Range(ge=NEW), Range(ge=OLD, le=NEW), 1), (Range(gt=NEW - TICK), Range(ge=OLD, le=NEW), 1),
        (Range(lt=NEW), Range(ge=OLD, le=NEW), 2), (Range(le=OLD), Range(gt=OLD, le=NEW), 0),
        (Range(ge=OLD), Range(le=NEW), 3), (Range(le=NEW), Range(ge=OLD), 3),
        (None, None, None), (Range(ge=OLD), None, None), (Range(le=OLD), None, None), (None, Range(ge=OLD), None),
        (None, Range(lt=OLD), None), (Range(le=NEW), Range(le=NEW), None), (Range(ge=OLD), Range(ge=OLD), None),
    ],
)  # fmt: skip
def test_a_bound_that_is_left_out_is_the_defaults(asked: Any, default: Any, count: int | None) -> None:
    buckets = Buckets("at", "day", default=default)
    assert buckets.count(asked) == count
    if count is not None:
        assert len(buckets.sets({"at": asked})) == count
        return
    with pytest.raises(ArgumentError) as error:
        buckets.sets({"at": asked})
    lower = (asked is not None and asked.lower is not None) or (default is not None and default.lower is not None)
    assert error.value.message == f"at is read day by day, and the range has no {'end' if lower else 'beginning'}"
    assert (error.value.place, error.value.hint) == ("at", "give both bounds: Range(ge=..., lt=...)")


def test_moments_are_counted_in_utc() -> None:
    east = timezone(timedelta(hours=5))
    asked = Range(ge=datetime(2026, 3, 2, 2, tzinfo=east), lt=datetime(2026, 3, 2, 5, tzinfo=east))
    assert named(Buckets("at", "day"), asked) == [(datetime(2026, 3, 1, tzinfo=UTC), False)]
    with pytest.raises(KeyFieldError) as error:
        Buckets("at", "day").count(Range(ge=datetime(2026, 3, 2), lt=NEW))  # noqa: DTZ001
    assert error.value.place == "at"
    assert error.value.hint == "use datetime.now(UTC), or keyplan.now()"


@pytest.mark.parametrize(("unit", "step"), [("year", 365), ("month", 28), ("day", 1)])
def test_a_step_is_no_longer_than_a_bucket(unit: str, step: int) -> None:
    assert Buckets("at", unit).step == timedelta(days=step)
