"""Reads of time ranges across several partitions, on every store: their items, order and number of requests."""

from __future__ import annotations

import itertools
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

import pytest

from keyplan import CallRecord, InvalidItem, Range
from keyplan.errors import ArgumentError, CursorError, InvalidItemError, KeyFieldError
from keyplan.model.compiled.time_bucket_keys import Buckets
from keyplan.testing import verify
from tests.contract.buckets import Reading, Repair, Timed, Total, Visit, VisitRow
from tests.contract.stores import Caller, caller_of
from tests.contract.test_patterns import paged

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
KINDS: tuple[Literal["heat", "damp"], ...] = ("heat", "damp")


timed = caller_of(Timed)


def readings_in(timed: Caller, *, every_days: int = 10, count: int = 12, sensor: str = "s") -> list[Reading]:
    """Write and return readings of a sensor: several per month, but none in May."""
    times = (NEW_YEAR + timedelta(days=every_days * number) for number in range(count))
    return [
        timed.put(Reading(sensor=sensor, at=at, kind=KINDS[number % 2], value=number * 7 % 5, note=str(number % 3)))
        for number, at in enumerate(at for at in times if at.month != 5)
    ]


def between(items: list[Any], span: Range[Any], name: str = "at") -> list[Any]:
    return [item for item in items if span.holds(getattr(item, name))]


def test_reads_across_several_months_support_both_directions(timed: Caller) -> None:
    written = readings_in(timed, count=18)
    for span in (
        Range(ge=NEW_YEAR, lt=NEW_YEAR.replace(month=7)),
        Range(gt=NEW_YEAR, le=written[7].at),
        Range(ge=NEW_YEAR - timedelta(days=90), lt=written[4].at + timedelta(microseconds=1)),
        Range(ge=NEW_YEAR.replace(month=5), lt=NEW_YEAR.replace(month=6)),
        Range(ge=NEW_YEAR.replace(month=3), lt=NEW_YEAR.replace(month=2)),
    ):
        expected = between(written, span)
        for limit in (2, 50):
            assert paged(timed, "readings", limit, sensor="s", at=span) == expected
            assert paged(timed, "readings", limit, sensor="s", at=span, newest_first=True) == expected[::-1]
        assert timed.read("each_reading", sensor="s", at=span) == expected
        assert timed.read("all_readings", sensor=["s", "none"], at=span) == expected
        assert timed.read("last_reading", sensor="s", at=span) == (expected[-1] if expected else None)
        assert timed.read("is_any", sensor="s", at=span) == bool(expected)
        noted = sum(reading.note != "1" for reading in expected)
        assert timed.read("how_many_noted", sensor="s", at=span, text="1") == noted


def test_partitions_of_the_same_bucket_are_merged_in_order(timed: Caller) -> None:
    written = [reading for sensor in "ab" for reading in readings_in(timed, every_days=7, sensor=sensor)]
    span = Range(ge=NEW_YEAR + timedelta(days=3), le=NEW_YEAR + timedelta(days=70))
    expected = sorted(between(written, span), key=lambda reading: (reading.at, reading.sensor))
    assert paged(timed, "readings_of", 3, sensor=["b", "a"], at=span) == expected[::-1]
    assert paged(timed, "readings_of", 4, sensor=["b", "a", "b"], at=span, newest_first=False) == expected
    span = Range(gt=written[1].at, lt=written[7].at)
    damp = [reading for reading in between(written, span) if reading.kind == "damp"]
    # The sort key is read backwards, because its number is reversed.
    damp.sort(key=lambda reading: reading.sensor, reverse=True)
    damp.sort(key=lambda reading: (reading.at.date(), reading.value))
    assert paged(timed, "of_kind", 2, kind="damp", at=span) == damp
    assert paged(timed, "of_kind", 3, kind="damp", at=span, newest_first=True) == damp[::-1]


def test_items_outside_the_range_are_filtered_out_if_the_sort_key_has_no_time(timed: Caller) -> None:
    visits = [
        timed.put(
            Visit(
                site="w",
                day=date(2026, 1, 5) + timedelta(days=number),
                path=f"/{number * 5 % 7}",
                level=number,
                room="blue" if number % 2 else None,
                at=NEW_YEAR + timedelta(minutes=25 * number),
            )
        )
        for number in range(0, 70, 3)
    ]
    span = Range(ge=date(2026, 1, 10), lt=date(2026, 3, 9))
    expected = sorted(between(visits, span, "day"), key=lambda visit: (visit.day.month, visit.path, visit.day))
    rows = [VisitRow(path=visit.path) for visit in expected]
    assert paged(timed, "visits", 4, site="w", day=span) == rows
    assert sorted(row.path for row in paged(timed, "visits", 3, site="w", day=span, newest_first=True)) == sorted(
        row.path for row in rows
    )
    assert timed.read("levels", site="w", day=span) == sum(visit.level for visit in expected)
    hours = Range(gt=visits[1].at, lt=visits[15].at)
    blue = [visit for visit in between(visits, hours) if visit.room == "blue"]
    assert timed.read("in_room", room="blue", at=hours) == blue
    assert timed.read("in_room", room="blue", at=hours, level=Range(ge=20, lt=40)) == [
        visit for visit in blue if 20 <= visit.level < 40
    ]
    assert timed.read("is_in_room", room="blue", at=hours)
    assert not timed.read("is_in_room", room="green", at=hours)


def test_time_range_read_returns_several_entities_and_invalid_items(timed: Caller) -> None:
    written: list[Any] = readings_in(timed, count=9)
    written += [timed.put(Repair(sensor="s", at=NEW_YEAR + timedelta(days=5 + 20 * number))) for number in range(3)]
    written.sort(key=lambda item: item.at)
    span = Range(ge=NEW_YEAR, lt=NEW_YEAR + timedelta(days=80))
    assert paged(timed, "history", 4, sensor="s", at=span) == between(written, span)
    store = timed.design.store
    key = {"pk": {"S": "SENSOR#s#202602"}, "sk": {"S": "2026-02-10T00:00:00.000000Z#READING"}}
    change = {"UpdateExpression": "SET #v = :v", "ExpressionAttributeNames": {"#v": "value"}}
    values = {"ExpressionAttributeValues": {":v": {"S": "much"}}}
    store.transport.call("UpdateItem", {"TableName": store.table_name, "Key": key, **change, **values})
    with pytest.raises(InvalidItemError):
        timed.read("readings", sensor="s", at=span)
    (broken,) = [item for item in paged(timed, "history", 2, sensor="s", at=span) if isinstance(item, InvalidItem)]
    assert broken.key == {"pk": "SENSOR#s#202602", "sk": "2026-02-10T00:00:00.000000Z#READING"}


def test_daily_partitions_are_read_in_order(timed: Caller) -> None:
    totals = [
        timed.put(Total(site="w", day=date(2026, 2, 26) + timedelta(days=number), visits=number)) for number in range(5)
    ]
    span = Range(gt=date(2026, 2, 26), le=date(2026, 3, 9))
    assert paged(timed, "totals", 2, site="w", day=span) == totals[1:]
    assert paged(timed, "totals", 2, site="w", day=span, newest_first=True) == totals[:0:-1]


def test_page_of_a_time_range_reads_only_the_buckets_that_it_needs(timed: Caller) -> None:
    readings_in(timed, count=18)  # months of 4, 2, 3, 3, 0 and 2 readings
    calls: list[CallRecord] = []
    timed.design.store.on_call = calls.append

    def page_of(limit: int, start: datetime, end: datetime, **more: Any) -> tuple[int, list[Any]]:
        calls.clear()
        page = timed.read("readings", sensor="s", at=Range(ge=start, lt=end), limit=limit, **more)
        partitions = [call.parameters["ExpressionAttributeValues"][":p0"]["S"][-2:] for call in calls]
        assert not any(call.parameters.get("ConsistentRead") for call in calls)
        return len(page), [*partitions, page.cursor]

    whole = (NEW_YEAR, NEW_YEAR.replace(month=7))
    first = page_of(3, *whole)
    assert (first[0], first[1][:-1], first[1][-1] is None) == (3, ["01"], False)
    second = page_of(3, *whole, cursor=first[1][-1])
    assert (second[0], second[1][:-1]) == (3, ["01", "02", "03"])  # of the third only whether an item follows
    assert (calls[-1].parameters["Limit"], second[1][-1] is None) == (1, False)
    third = page_of(5, *whole, cursor=second[1][-1])
    assert (third[0], third[1][:-1]) == (5, ["02", "03", "04"])
    assert page_of(3, NEW_YEAR.replace(month=5), whole[1])[1] == ["05", "06", None]
    assert page_of(9, whole[0], NEW_YEAR.replace(month=2))[1] == ["01", None]  # the end is excluded
    assert page_of(9, whole[1], whole[0])[1] == [None]
    calls.clear()
    assert timed.read("last_reading", sensor="s", at=Range(ge=NEW_YEAR, le=NEW_YEAR.replace(month=5, day=9)))
    assert [call.parameters["Limit"] for call in calls] == [1, 1]
    assert all(call.parameters["ConsistentRead"] for call in calls)


def test_invalid_time_ranges_are_rejected(timed: Caller) -> None:
    with pytest.raises(ArgumentError, match="read month by month, but the range has no end") as refusal:
        timed.read("readings", sensor="s", at=Range(ge=NEW_YEAR))
    assert refusal.value.place == "at"
    with pytest.raises(ArgumentError, match="has no beginning"):
        timed.read("is_any", sensor="s", at=Range(lt=NEW_YEAR))
    with pytest.raises(ArgumentError, match=r"the range of at covers 1,201 months; the maximum is 1,000"):
        timed.read("readings", sensor="s", at=Range(ge=NEW_YEAR, le=NEW_YEAR.replace(year=2126)))
    with pytest.raises(ArgumentError, match=r"at covers 1,001 months"):
        timed.read("is_any", sensor="s", at=Range(ge=NEW_YEAR, le=NEW_YEAR.replace(year=2109, month=5)))
    assert not timed.read("is_any", sensor="none", at=Range(ge=NEW_YEAR, le=NEW_YEAR.replace(year=2109, month=4)))
    span = Range(ge=NEW_YEAR, lt=NEW_YEAR.replace(month=4))
    with pytest.raises(ArgumentError, match=r"1,200 combinations of values \(3 months of at × 400 of sensor\)"):
        timed.read("all_readings", sensor=[str(number) for number in range(400)], at=span)
    with pytest.raises(KeyFieldError, match=r"^at: .* has no time zone"):
        timed.read("readings", sensor="s", at=Range(ge=NEW_YEAR.replace(tzinfo=None), le=NEW_YEAR))
    written = readings_in(timed, count=6)
    page = timed.read("readings", sensor="s", at=Range(ge=NEW_YEAR, lt=NEW_YEAR.replace(month=3)), limit=2)
    with pytest.raises(CursorError):
        timed.read(
            "readings", sensor="s", at=Range(ge=NEW_YEAR, lt=NEW_YEAR.replace(month=4)), limit=2, cursor=page.cursor
        )
    # The default start applies if a call has none.
    assert timed.read("each_reading", sensor="s", at=Range(lt=NEW_YEAR.replace(month=4))) == written
    limits = Range(ge=datetime.max.replace(tzinfo=UTC), le=datetime.max.replace(tzinfo=UTC))
    assert paged(timed, "readings", 2, sensor="s", at=limits) == []
    assert paged(timed, "totals", 2, site="w", day=Range(gt=date.max, le=date.max)) == []


def test_reads_of_time_buckets_match_the_brute_force_results() -> None:
    report = verify(Timed, stores=6)
    assert len(report.patterns) == len(Timed.compiled.reads)


def test_buckets_of_each_unit_follow_the_calendar() -> None:
    leap = datetime(2024, 2, 28, 22, 59, 59, 500_000, tzinfo=UTC)
    for unit, step, texts in (
        ("hour", timedelta(hours=13), ["2024-02-28T22", "2024-02-29T11"]),
        ("day", timedelta(days=2), ["2024-02-28T00", "2024-03-01T00"]),
        ("second", timedelta(seconds=2), ["2024-02-28T22:59:59", "2024-02-28T23:00:01"]),
        ("year", timedelta(days=400), ["2024-01-01", "2025-01-01"]),
    ):
        buckets = Buckets("at", unit)
        named = [text for text, _ in buckets.sets({"at": Range(ge=leap, le=leap + step)})]
        assert all(text.startswith(start) for text, start in zip((named[0], named[-1]), texts, strict=True))
        assert named == sorted(set(named))
        cut = [values["at"] is not None for _, values in buckets.sets({"at": Range(ge=leap, le=leap + step)})]
        assert cut == [True, *itertools.repeat(False, len(cut) - 2), True]
