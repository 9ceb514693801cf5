# mypy: disable-error-code="empty-body"
"""Time-bucketed partition keys: which range reads they support, the explanation and the cost of these reads, and the
errors of unsupported reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, Literal, NamedTuple

import pytest

from keyplan import Design, Entity, Index, Key, Page, Range, Table, View, read
from keyplan.analysis.check.checking import check
from keyplan.analysis.cost.estimate import estimate_pattern
from keyplan.analysis.cost.traffic_template import skeleton
from keyplan.analysis.diff.pattern_changes import pattern_changes
from keyplan.analysis.explain.explanation import explain
from keyplan.analysis.traffic.traffic_file import traffic_from
from keyplan.errors import DesignError
from keyplan.model.compiled.time_bucket_keys import BUCKETS_MAX
from keyplan.web.openapi import openapi
from tests.contract.buckets import Timed

GSI1 = Index("GSI1", ["a", "b", "c"], "d")
NARROW = Index("NARROW", "e", "f", projection=["text"])


def design_of(partition: str, sort: str = "{event_id}#{at}", *, kind: Any = datetime) -> type[Any]:
    """Return a design of events whose primary key has a device and a time bucket, with a read of a time range."""
    fields: dict[str, Any] = {"device": str, "at": kind, "event_id": str, "text": str}
    namespace = {"__annotations__": fields, "__module__": __name__, "primary": Key(partition, sort)}
    event: Any = type("Event", (Entity,), namespace)

    def events(self: Any, device: str, at: Any) -> Any: ...

    events.__annotations__ = {"device": str, "at": Range[kind], "return": list[event]}
    body = {"table": Table("events"), "events": read("E1")(events), "__module__": __name__}
    return type("Events", (Design,), body)


@pytest.mark.parametrize(
    ("partition", "kind", "unit"),
    [
        ("D#{device}#{at:%Y}", datetime, "year"),
        ("D#{device}#{at:%Y-%m}", datetime, "month"),
        ("{at:%Y}#{device}#{at:%m}", datetime, "month"),
        ("D#{device}#{at:%Y-%m-%d}", datetime, "day"),
        ("D#{device}#{at:%Y%j}", datetime, "day"),
        ("D#{device}#{at:%Y%m%dT%H:desc}", datetime, "hour"),
        ("D#{device}#{at:%Y%m%d%H%M}", datetime, "minute"),
        ("D#{device}#{at:%Y%m%d%H%M%S}", datetime, "second"),
        ("D#{device}#{at:%Y}", date, "year"),
        ("D#{device}#{at:%Y%m}", date, "month"),
        ("D#{device}#{at}", date, "day"),
    ],
)
def test_time_formats_that_truncate_to_whole_units_define_buckets(partition: str, kind: Any, unit: str) -> None:
    pattern = design_of(partition, kind=kind).compiled.reads["events"]
    assert pattern.buckets is not None
    assert (pattern.buckets.unit, pattern.buckets.days) == (unit, kind is date)
    start = date(2026, 1, 1) if kind is date else datetime(2026, 1, 1, tzinfo=UTC)
    assert pattern.buckets.count(Range(ge=start, lt=start + pattern.buckets.step)) == 1


@pytest.mark.parametrize(
    ("partition", "kind", "said"),
    [
        ("D#{device}#{at:%m}", datetime, "the months of at in the partition key repeat in each year"),
        ("D#{device}#{at:%Y%d}", datetime, "the days of at in the partition key repeat in each month"),
        ("D#{device}#{at:%H%M}", datetime, "the minutes of at in the partition key repeat in each year"),
        ("D#{device}#{at:%m%d}", date, "the days of at in the partition key repeat in each year"),
        ("D#{device}#{at}", datetime, "at is in the partition key as a whole"),
        ("D#{device}#{at:ms}", datetime, "a range requires whole time units"),
        ("D#{device}#{at}", str, "a range requires whole time units"),
        ("D#{device}#{at}", int, "a range requires whole time units"),
    ],
)
def test_repeating_or_fractional_time_formats_cannot_define_buckets(partition: str, kind: Any, said: str) -> None:
    with pytest.raises(DesignError, match=said):
        design_of(partition, "{event_id}" if kind in {str, int} else "{event_id}#{at}", kind=kind)


@pytest.mark.parametrize(
    ("kind", "layout", "said"),
    [
        (datetime, "{at:%Y%d}", "doesn't sort by time"),
        (datetime, "{at:%j%Y}", "doesn't sort by time"),
        (date, "{at:%Y%d}", "doesn't sort by time"),
        (date, "{at:%Y%m%d%H}", "but the field is a date"),
    ],
)
def test_an_unsortable_time_format_is_rejected_in_a_sort_key(kind: Any, layout: str, said: str) -> None:
    with pytest.raises(DesignError, match=said):
        design_of("D#{device}#{at:%Y}", layout, kind=kind)


class Event(Entity):
    """An event, in one partition per device and month, and in two indexes by place."""

    event_id: str
    device: str
    at: datetime
    until: datetime
    place: str
    text: str

    primary = Key("DEVICE#{device}#{at:%Y%m}", "{event_id}#{at}")
    spans = Key(["{place}", "{at:%Y}", "{until:%Y}"], "{event_id}", index=GSI1)
    narrow = Key("{place}#{until:%Y}", "{text}", index=NARROW)


class EventText(View[Event]):
    event_id: str
    text: str


class Tag(Entity):
    tag: str
    event_id: str
    device: str
    at: datetime

    primary = Key("TAG#{tag}#{at:%Y}", "{at}")


class Texts(NamedTuple):
    events: list[Event]


TABLE = Table("events", indexes=[GSI1, NARROW], entities=[Event, Tag])


def test_unsupported_range_reads_of_buckets_are_rejected_with_the_reason() -> None:
    with pytest.raises(DesignError) as refusal:

        class Wrong(Design):
            table = TABLE

            @read("W1")
            def whole(self, device: str, at: Range[datetime]) -> Texts: ...

            @read("W2", through=Tag)
            def tagged(self, tag: str, at: Range[datetime]) -> list[Event]: ...

            @read("W3")
            def open_ended(self, device: str, at: Range[datetime] | None = None) -> list[Event]: ...

            @read("W4")
            def two_ranges(self, place: str, at: Range[datetime], until: Range[datetime]) -> list[Event]: ...

            @read("W5", key=Event.narrow)
            def narrow(self, place: str, until: Range[datetime]) -> list[EventText]: ...

            @read("W6", key=Event.narrow, complete=True)
            def completed(self, place: str, until: Range[datetime]) -> list[Event]: ...

            @read("W7")
            def one(self, device: str, at: Range[datetime]) -> Event | None: ...

    faults = {fault.place: str(fault) for fault in refusal.value.errors}
    for name, said in {
        "whole": "a collection doesn't support a key with time buckets (at by month)",
        "tagged": "a junction doesn't support a key with time buckets (at by year)",
        "open_ended": "so its range is required",
        "two_ranges": "the partition key has at and until, but supports only one range",
        "narrow": "NARROW doesn't project until, which EventText contains",
        "completed": "NARROW doesn't project until, which a range uses",
        "one": "so several items match",
    }.items():
        assert said in faults.pop(f"Wrong.{name}")
    assert faults == {}


ALL_IN_ONE = Index("ALL_IN_ONE", "one", "in_order")


class Entry(Entity):
    entry_id: str
    book: str
    at: datetime
    pages: int

    primary = Key("BOOK#{book}#{at:%Y%m}", "{pages:04d}#{entry_id}#{at}")
    in_order = Key("BOOK#{book}", "{at}#{entry_id}", index=ALL_IN_ONE)


def test_a_range_within_one_partition_is_read_without_buckets() -> None:
    class Books(Design):
        table = Table("books", indexes=[ALL_IN_ONE])

        @read("B1")
        def entries(self, book: str, at: Range[datetime]) -> list[Entry]: ...

        @read("B2", key=Entry.primary)
        def by_pages(self, book: str, at: Range[datetime]) -> list[Entry]: ...

        @read("B3", entity=Entry)
        def how_many(self, book: str, at: Range[datetime]) -> int: ...

        @read("B4", order_by="-at")
        def newest(self, book: str, at: Range[datetime], limit: int = 5) -> Page[Entry]: ...

    reads = Books.compiled.reads
    assert [reads[name].buckets is not None for name in reads] == [False, True, False, False]


def test_time_buckets_are_supported_by_explain_openapi_and_diff() -> None:
    explanation = explain(Timed, "readings")
    assert explanation.key_condition.startswith("pk = SENSOR#{sensor}#{each at:%Y%m}, sk BETWEEN")
    assert "the partition of each month in the range of at is queried, one month after the other" in explanation.proof
    known = {"sensor": "s", "at": {"ge": "2026-01-30T00:00:00Z", "lt": "2026-04-01T00:00:00Z"}}
    requests = explain(Timed, "readings", known).requests
    partitions = [request.parameters["ExpressionAttributeValues"][":p0"]["S"] for request in requests]
    assert partitions == ["SENSOR#s#202601", "SENSOR#s#202602", "SENSOR#s#202603"]
    assert "BETWEEN" in requests[0].parameters["KeyConditionExpression"]
    assert "items outside the range are also read, and omitted" in explain(Timed, "visits").proof
    assert "2 shards merged in order" in explain(Timed, "of_kind").proof
    described = openapi(Timed.compiled)["paths"]["/api/readings"]["get"]["parameters"]
    bound = next(parameter for parameter in described if parameter["name"] == "at.lt")
    assert bound["description"] == "Exclusive maximum. Both bounds are required, at most 1,000 months apart."
    hours = design_of("D#{device}#{at:%Y%m%d%H}", "{at}#{event_id}").compiled
    months = design_of("D#{device}#{at:%Y%m}", "{at}#{event_id}").compiled
    plain = design_of("D#{device}", "{at}#{event_id}").compiled
    for before, after, said in (
        (plain, months, "a range of at is read month by month"),
        (months, hours, "a range of at is read hour by hour, and was read month by month"),
        (months, plain, "ranges are no longer read month by month"),
    ):
        changes = {change.code: str(change) for change in pattern_changes(before, after)}
        assert said in changes["buckets-changed"]


def test_the_cost_of_a_time_range_read_depends_on_the_number_of_buckets() -> None:
    units: list[float] = []
    notes: list[str] = []
    for at in (None, ("2026-01-05", "2026-01-20"), ("2026-01-05", "2026-12-20")):
        given: Mapping[str, Any] | None = None
        if at is not None:
            given = {"sensor": "s", "at": {"ge": f"{at[0]}T00:00:00Z", "le": f"{at[1]}T00:00:00Z"}, "text": ""}
        cost = estimate_pattern(Timed, "how_many_noted", arguments=given)
        units.append(cost.read_units)
        notes += [note for note in cost.notes if "months" in note]
    assert units == [1.0, 0.5, 6.0]
    assert notes == ["2 months of at are read: set arguments in the traffic file"]
    assert '# arguments = { day = { ge = "2026-11-01", lt = "2026-12-01" } }' in skeleton(Timed)
    assert BUCKETS_MAX == 1000


def test_reads_of_many_small_buckets_are_reported_unless_the_number_of_buckets_is_stated() -> None:
    hourly = design_of("D#{device}#{at:%Y%m%d%H}", "{at}#{event_id}")
    monthly = design_of("D#{device}#{at:%Y%m}", "{at}#{event_id}")

    def said(cls: type[Any], at: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
        load = {} if at is None else {"events": {"arguments": {"at": at}}}
        given = traffic_from({"patterns": load}, cls.compiled)
        return [
            (str(finding.severity), finding.message)
            for finding in check(cls, given).findings
            if finding.code == "KP317"
        ]

    assert said(monthly) == []
    assert said(hourly) == [("info", "a call sends one request per hour of at, and the typical range is unknown")]
    day = {"ge": "2026-01-01T00:00:00Z", "lt": "2026-01-02T00:00:00Z"}
    assert said(hourly, day) == []
    week = {**day, "lt": "2026-01-08T00:00:00Z"}
    assert said(hourly, week) == [("warning", "a typical call sends 168 requests, one per hour")]


def test_reads_of_a_time_range_return_items_in_time_order() -> None:
    """Fields that follow the time in the sort key don't affect newest_first."""

    class Heard(Entity):
        user: str
        at: datetime
        kind: Literal["like", "follow"]

        primary = Key("USER#{user}#{at:%Y}", "{kind}#{at}")
        in_time = Key("USER#{user}", "{at}#{kind}", index=ALL_IN_ONE)

    class Network(Design):
        table = Table("network", indexes=[ALL_IN_ONE])

        @read("N1", newest_first=True)
        def heard(self, user: str, at: Range[datetime]) -> list[Heard]: ...

        @read("N2", newest_first=True, key=Heard.primary)
        def of_years(self, user: str, at: Range[datetime]) -> list[Heard]: ...

    assert [finding for finding in check(Network).findings if finding.code == "KP210"] == []
