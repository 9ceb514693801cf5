# mypy: disable-error-code="empty-body"
"""Fields in other programs' stored formats are written, read and compared, and updates keep the format."""

from __future__ import annotations

import base64
import enum
import gzip
import zlib
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from keyplan import Add, Design, Entity, Field, Index, Key, Range, SetAdd, StoredAs, Table, Ttl, Update, read
from keyplan.errors import ArgumentError, ConditionFailed, DesignError, InvalidItemError, UpdateRejected
from keyplan.testing import verify
from tests.contract.forms import GSI1, MOMENT, WHOLE, Reading, Readings
from tests.design.items import round_trip

YEAR = datetime(2025, 1, 1, tzinfo=UTC)
COUNT = iter(range(1000))


class Level(enum.Enum):
    LOW = 1


@pytest.fixture
def readings() -> Iterator[Readings]:
    with Readings.open(":memory:") as opened:
        yield opened


def test_each_stored_format_is_written_to_the_item_as_expected(readings: Readings) -> None:
    whole = readings.put(Reading(name="a", at=MOMENT, iso=MOMENT, **WHOLE))
    (item,) = readings.store.transport.call("Scan", {"TableName": "readings"})["Items"]
    assert {item.pop(name).keys() == {"B"} for name in ("body", "packed")} == {True}
    assert item == {
        "name": {"S": "a"},
        "at": {"N": "1767323045678"},
        "second": {"N": "1767323045"},
        "digits": {"S": "1767323045678"},
        "iso": {"S": "2026-01-02T03:04:05.678Z"},
        "python": {"S": "2026-01-02T03:04:05.678901+00:00"},
        "layout": {"S": "2026-01-02T03:04:05.678901+0000"},
        "day": {"S": "02/01/2026"},
        "seconds": {"S": "1767323045"},
        "iso_seconds": {"S": "2026-01-02T03:04:05Z"},
        "price": {"S": "2.50"},
        "done": {"N": "1"},
        "tags": {"L": [{"S": "a"}, {"S": "b"}]},
        "place": {"S": '{"city":"Porto","since":"2020-01-01"}'},
        "blob": {"S": "AP8="},
        "secret": {"B": "Y2Jh"},
        "pk": {"S": "READING#a"},
        "sk": {"S": "2026-01-02T03:04:05.678Z"},
        "gsi1pk": {"S": "READINGS#a"},
    }
    assert readings.get(Reading, name="a", iso=whole.iso) == whole
    assert whole.at == MOMENT.replace(microsecond=678_000)
    assert whole.second == MOMENT.replace(microsecond=0)


def test_updates_and_conditions_send_values_in_the_stored_format(readings: Readings) -> None:
    given = readings.put(Reading(name="a", at=MOMENT, iso=MOMENT, **WHOLE))
    later = MOMENT + timedelta(days=1)
    changed = readings.update(
        Update(given, at=later, tags={"c"}, secret="xyz", price=Decimal(3)).only_if(secret="abc", second=given.second)
    )
    assert changed == readings.get(Reading, name="a", iso=given.iso)
    assert [reading.secret for reading in readings.by_time("a", Range(gt=MOMENT))] == ["xyz"]
    with pytest.raises(ConditionFailed):
        readings.update(Update(changed, done=False).only_if(at=MOMENT))
    with pytest.raises(ConditionFailed):  # more precise than the stored value
        readings.update(Update(changed, done=False).only_if(at=later))
    assert len(readings.filtered("a", MOMENT, "c", "xyz")) == 1
    assert readings.filtered("a", MOMENT - timedelta(seconds=1), "c", "xyz") == []
    assert len(readings.priced("a", given.iso, Decimal(3))) == 1
    assert readings.priced("a", MOMENT, Decimal(3)) == []


@pytest.mark.parametrize(
    ("change", "field"),
    [({"price": Add(Decimal(1))}, "price"), ({"tags": SetAdd({"x"})}, "tags"), ({"done": Add(1)}, "done")],
)
def test_unsupported_updates_of_a_stored_format_are_rejected(
    readings: Readings, change: dict[str, Any], field: str
) -> None:
    given = readings.put(Reading(name="a", at=MOMENT, iso=MOMENT))
    with pytest.raises((UpdateRejected, ArgumentError), match=r"doesn't support|isn't a valid change|bool"):
        readings.update(given, **change)
    assert readings.get(Reading, name="a", iso=given.iso) == given, field


def test_stored_values_in_another_format_are_reported_as_invalid(readings: Readings) -> None:
    item = {
        "pk": {"S": "READING#a"},
        "sk": {"S": "2026-01-02T03:04:05.678Z"},
        "name": {"S": "a"},
        "at": {"N": "1767323045678.5"},
        "iso": {"S": "2026-01-02T03:04:05.678Z"},
        "body": {"B": "AAAA"},
    }
    call = readings.store.transport.call
    call("PutItem", {"TableName": "readings", "Item": item})
    with pytest.raises(InvalidItemError) as raised:
        readings.since("a", Range(gt=YEAR))
    assert [fault.place for fault in raised.value.errors] == ["Reading.body"]
    call("PutItem", {"TableName": "readings", "Item": {**item, "body": {"S": "plain"}, "place": {"S": "{"}}})
    with pytest.raises(InvalidItemError):
        readings.since("a", Range(gt=YEAR))
    del item["body"]
    call("PutItem", {"TableName": "readings", "Item": item})
    assert readings.since("a", Range(gt=YEAR))[0].at == MOMENT.replace(microsecond=678_000)


@pytest.mark.nightly
def test_reads_of_stored_formats_match_the_brute_force_results() -> None:
    verify(Readings, stores=25)


def test_stored_formats_that_do_not_support_the_type_of_the_field_are_rejected() -> None:
    class Wrong(Entity):
        name: Annotated[str, StoredAs("ms")]
        at: Annotated[datetime, StoredAs("miles")]
        day: Annotated[date, StoredAs(layout="%d.%m.")]
        expires: Annotated[Ttl, StoredAs("ms")] | None = None
        inner: list[Annotated[datetime, StoredAs("ms")]]
        lossy: Annotated[str, StoredAs(write=str.upper, read=str)] = ""

        primary = Key("WRONG#{name}", "HEAD")

    with pytest.raises(DesignError) as raised:

        class Wrongs(Design):
            table = Table("wrongs", entities=[Wrong])

    said = {fault.place: fault.message for fault in raised.value.errors}
    assert "is for datetime, not for str" in said["Wrong.name"]
    assert "isn't a stored form" in said["Wrong.at"]
    assert "omits a part" in said["Wrong.day"]
    assert "don't support StoredAs" in said["Wrong.expires"]
    assert "contains StoredAs" in said["Wrong.inner"]


def test_writes_return_values_as_converted_by_the_custom_functions() -> None:
    class Trimmed(Entity):
        name: str
        word: Annotated[str, StoredAs(write=str.rstrip, read=str)] = ""

        primary = Key("TRIMMED#{name}", "HEAD")

    class Trims(Design):
        table = Table("trims", entities=[Trimmed])

    with Trims.open(":memory:") as trims:
        assert trims.put(Trimmed(name="a", word="x  ")) == trims.get(Trimmed, name="a") == Trimmed(name="a", word="x")


def test_conditions_on_nondeterministic_custom_formats_are_rejected() -> None:
    class Sealed(Entity):
        name: str
        word: Annotated[
            str, StoredAs(write=lambda value: f"{next(COUNT)}:{value}", read=lambda stored: stored.partition(":")[2])
        ] = ""

        primary = Key("SEALED#{name}", "HEAD")

    class Seals(Design):
        table = Table("seals", entities=[Sealed])

    with Seals.open(":memory:") as seals:
        given = seals.put(Sealed(name="a", word="x"))
        assert seals.get(Sealed, name="a") == given
        with pytest.raises(ArgumentError, match="returned different results for one value"):
            seals.update(Update(given, word="y").only_if(word="x"))
        assert seals.update(given, word="y").word == "y"


def test_ranges_of_unordered_formats_are_rejected() -> None:
    with pytest.raises(DesignError, match="doesn't sort"):

        class Priced(Design):
            table = Table("priced", indexes=[GSI1])

            @read("R1", where="price > :price", order_by="iso")
            def dear(self, name: str, price: Decimal) -> list[Reading]: ...


class Paid(Entity):
    account: str
    at: Annotated[datetime, StoredAs("ms as text")]

    primary = Key("ACCOUNT#{account}", "{at}")


class Payments(Design):
    table = Table("payments")

    @read("P1")
    def paid(self, account: str, at: Range[datetime]) -> list[Paid]: ...


def test_a_range_bound_outside_the_times_that_a_format_supports_is_ignored() -> None:
    """The format supports times from 2001 to 2286, but a range can start earlier and end later."""
    first = datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)
    last = datetime(2286, 11, 20, 17, 46, 39, 999_000, tzinfo=UTC)
    long_ago, far_off = datetime(987, 6, 5, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
    with Payments.open(":memory:") as payments:
        for at in (first, last):
            payments.put(Paid(account="a", at=at))
        for given, count in (
            (Range(ge=long_ago, le=far_off), 2),
            (Range(gt=long_ago), 2),
            (Range(lt=far_off), 2),
            (Range(le=long_ago), 0),
            (Range(lt=first), 0),
            (Range(ge=far_off), 0),
            (Range(gt=last), 0),
            (Range(le=first), 1),
        ):
            assert len(payments.paid("a", given)) == count, given


HELD = Index("HELD", "held_by", "held_until")


def test_a_range_on_a_key_that_stores_only_part_of_the_value_is_rejected() -> None:
    class Hold(Entity):
        hold_id: str
        tenant: str
        until: Ttl

        primary = Key("HOLD#{hold_id}", "HEAD")
        by_end = Key("TENANT#{tenant}", "{until:s}", index=HELD)

    with pytest.raises(DesignError, match="the key contains until in a truncated or unsortable form, so it"):

        class Holds(Design):
            table = Table("holds", indexes=[HELD])

            @read("H1")
            def holds(self, tenant: str, until: Range[datetime]) -> list[Hold]: ...


class Part(BaseModel):
    count: int = Field(alias="n")


class Blob(Entity):
    name: str
    quoted: Annotated[str, StoredAs("json")] = "a"
    part: Annotated[Part, StoredAs("json")] = Part(n=1)
    parts: Annotated[list[Part], StoredAs("zlib")] = Field(default_factory=list[Part])
    packed: Annotated[bytes, StoredAs("zlib")] = b""
    zipped: Annotated[bytes, StoredAs("gzip")] = b""

    primary = Key("BLOB#{name}", "HEAD")


@pytest.mark.parametrize("content", [b"", b"\xff\x00\xfe", b"text", bytes(range(256)) * 40])
def test_values_packed_into_bytes_or_strings_round_trip(content: bytes) -> None:
    item = round_trip(Blob(name="a", packed=content, zipped=content, parts=[Part(n=2)]))
    assert zlib.decompress(base64.b64decode(item["packed"]["B"])) == content
    assert gzip.decompress(base64.b64decode(item["zipped"]["B"])) == content
    assert base64.b64decode(item["zipped"]["B"])[4:8] == bytes(4)  # equal timestamps are always stored alike
    assert zlib.decompress(base64.b64decode(item["parts"]["B"])) == b'[{"n":2}]'
    assert (item["quoted"], item["part"]) == ({"S": '"a"'}, {"S": '{"n":1}'})


class Blobs(Design):
    table = Table("blobs", entities=[Blob])

    @read("P1")
    def blob(self, name: str) -> Blob | None: ...


@pytest.mark.filterwarnings("error")
def test_arguments_compared_with_packed_strings_are_validated() -> None:
    """Regression test: arguments of invalid types only caused a pydantic warning and were compared."""
    with Blobs.open(":memory:") as blobs:
        blob = blobs.put(Blob(name="a", parts=[Part(n=2)]))
        for same in (Part(n=1), {"n": 1}, {"n": "1"}):
            blobs.transact([Update(blob, quoted="b").only_if(part=same)])
        blobs.transact([Update(blob, quoted="c").only_if(parts=[{"n": 2}])])
        with pytest.raises(ConditionFailed):
            blobs.transact([Update(blob, quoted="d").only_if(part={"n": 2})])
        for other in (5, "x", [1], {"m": 1}, object()):
            with pytest.raises(ArgumentError, match=r"Blob.part: (input should be a valid|field required)"):
                blobs.transact([Update(blob, quoted="d").only_if(part=other)])
        assert blobs.blob("a") == Blob(name="a", quoted="c", parts=[Part(n=2)])
