# mypy: disable-error-code="empty-body"
"""``assert_cost`` checks the metered cost of an open design, and the predicted cost of a design class."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from keyplan import Create, Cursor, Design, Entity, Index, Key, Page, Table, Writes, read, write
from keyplan.errors import ItemExists, RequestError
from keyplan.testing import assert_cost
from keyplan.testing.costs import metering
from keyplan_systems.cms import Cms

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Reading(Entity):
    """A reading that takes a little more than 1 KB."""

    device: str
    number: int
    text: str = "x" * 1024

    primary = Key("D#{device}", "{number:06d}")
    by_number = Key("N#{number}", "{device}", index=GSI1)


class Readings(Design):
    """Readings of devices."""

    table = Table("readings", indexes=[GSI1])

    @read("R1")
    def reading(self, device: str, number: int) -> Reading | None: ...

    @read("R2")
    def readings(self, device: str, limit: int = 3, cursor: Cursor | None = None) -> Page[Reading]: ...

    @read("R3")
    def all_readings(self, device: str) -> Iterator[Reading]: ...

    @read("R4")
    async def reading_awaited(self, device: str, number: int) -> Reading | None: ...

    @write("W1")
    def note(self, reading: Reading) -> Writes:
        yield Create(reading)


def test_assert_cost_checks_an_open_design() -> None:
    """The store meters reads, writes, exhausted iterators and awaited access patterns."""
    with Readings.open(":memory:") as design:
        assert_cost(design.reading, "a", 1, read_units=0.5)
        for number in range(10):
            assert_cost(design.note, Reading(device="a", number=number), read_units=0, write_units=4)
        assert_cost(design.reading, device="a", number=1, read_units=0.5, write_units=0)
        assert_cost(design.readings, "a", read_units=1)  # four of them, one more than the page: 2 blocks
        assert_cost(design.all_readings, "a", read_units=1.5)
        assert_cost(design.reading_awaited, "a", 1, read_units=0.5)


def test_assert_cost_checks_a_design_class() -> None:
    """The prediction is for typical items. An article of the CMS is smaller than 4 KB, so a read takes half a unit."""
    assert_cost(Cms.article, read_units=0.5)  # inherited from another class
    assert_cost(Readings.note, write_units=4)
    assert_cost(Readings.readings, read_units=1)


def test_the_error_of_assert_cost_shows_every_request() -> None:
    """The error lists the metered requests, or the predicted requests with their calculation."""
    with Readings.open(":memory:") as design:
        with pytest.raises(AssertionError) as error:
            assert_cost(design.note, Reading(device="a", number=1), read_units=1, write_units=2)
        assert str(error.value) == (
            "note(...) costs 0 read units, expected 1; 4 write units, expected 2\n"
            "  PutItem: table 2, GSI1 2 write units"
        )
    with pytest.raises(AssertionError) as error:
        assert_cost(Readings.note, write_units=1)
    lines = str(error.value).splitlines()
    assert lines[0] == "Readings.note, typically costs 4 write units, expected 1"
    assert lines[1].startswith("  PutItem on the table: 2 write units: Create Reading, 1,")
    assert lines[2].startswith("  PutItem on GSI1: 2 write units: new entry, 1,")


def test_invalid_arguments_of_assert_cost_are_rejected() -> None:
    """For example, no cost is given, or the pattern is unknown. Errors of the call are raised unchanged."""
    with pytest.raises(RequestError, match="no expected cost is given"):
        assert_cost(Readings.note)
    with pytest.raises(RequestError, match="isn't an access pattern"):
        assert_cost("note", read_units=1)
    with pytest.raises(RequestError, match="arguments require an open design"):
        assert_cost(Readings.reading, "a", 1, read_units=1)
    with Readings.open(":memory:") as design:
        design.note(Reading(device="a", number=1))
        with pytest.raises(ItemExists):
            assert_cost(design.note, Reading(device="a", number=1), write_units=4)
        with metering(design) as metered:
            pass
        design.reading("a", 1)
        assert metered == []
