# mypy: disable-error-code="empty-body"
"""Keys that contain a timestamp computed from other fields."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import computed_field

from keyplan import Design, Entity, Index, Key, Number, Page, Range, Table, read
from keyplan.testing import verify
from tests.seeds import seed

BY_TIME = Index("BY_TIME", "group", Number("at_ms"))


class Note(Entity):
    """A note, sorted by the time when it was first shown, or by its creation time if it was never shown."""

    note_id: str
    group: str
    made_at: datetime
    shown_at: datetime | None = None

    @computed_field  # type: ignore[prop-decorator] # pydantic's documented form
    @property
    def listed_at(self) -> datetime:
        """Return the time when the note was first shown, or its creation time if it was never shown."""
        return self.shown_at or self.made_at

    primary = Key("NOTE#{note_id}", "HEAD")
    by_time = Key("{group}", "{listed_at:ms}", index=BY_TIME)


class Notes(Design):
    """A design that reads notes in the order of a computed timestamp."""

    table = Table("notes", indexes=[BY_TIME])

    @read("N1", newest_first=True)
    def latest(self, group: str, limit: int = 10) -> Page[Note]: ...

    @read("N2")
    def between(self, group: str, listed_at: Range[datetime]) -> list[Note]: ...


def test_computed_timestamps_sort_correctly_in_every_time_zone() -> None:
    day = datetime(2026, 11, 21, 23, tzinfo=timezone(timedelta(hours=-5)))
    with Notes.open(":memory:") as notes:
        first = notes.put(Note(note_id="1", group="g", made_at=day))
        notes.put(Note(note_id="2", group="g", made_at=day + timedelta(hours=1)))
        assert [note.note_id for note in notes.latest("g")] == ["2", "1"]
        notes.update(first, shown_at=day + timedelta(hours=2))
        assert [note.note_id for note in notes.latest("g")] == ["1", "2"]
        later = Range(gt=datetime(2026, 11, 22, 5, tzinfo=UTC))
        assert [note.note_id for note in notes.between("g", later)] == ["1"]


@pytest.mark.nightly
def test_reads_in_computed_timestamp_order_match_the_brute_force_results() -> None:
    verify(Notes, stores=30, seed=seed(5))
