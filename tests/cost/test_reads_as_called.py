# mypy: disable-error-code="empty-body"
"""Typical calls change the item and use the given arguments."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from keyplan import Create, Design, Entity, Index, Key, Page, Put, Table, Update, Writes, now, read, write
from keyplan.analysis.cost.estimate import estimate_pattern
from keyplan.cli.explained import explained

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Note(Entity):
    note_id: str
    owner: str
    status: Literal["done", "open"]
    at: datetime

    primary = Key("NOTE#{note_id}", "HEAD")
    by_status = Key("OWNER#{owner}#{status}", "{at}#{note_id}", index=GSI1)


class Kept(Entity):
    """An item that is in the index until it is marked as deleted."""

    kept_id: str
    owner: str
    deleted_at: datetime | None = None

    primary = Key("KEPT#{kept_id}", "HEAD")
    listed = Key("KEPT_BY#{owner}", "{kept_id}", index=GSI1, when={"deleted_at": None})


class Notes(Design):
    table = Table("notes", indexes=[GSI1])

    @read("R1")
    def note(self, note_id: str) -> Note: ...

    @read("R2", newest_first=True)
    def notes(self, owner: str, status: Literal["done", "open"], limit: int = 10) -> Page[Note]: ...

    @write("W3")
    def keep(self, kept: Kept) -> Writes:
        yield Create(kept)

    @write("W1")
    def finish(self, note_id: str) -> Writes:
        note = yield from self.note.read(note_id)
        yield Update(note, status="done")

    @write("W2")
    def touch(self, note_id: str) -> Writes:
        note = yield from self.note.read(note_id)
        yield Put(note.model_copy(update={"at": now()}))


def test_the_estimate_of_an_update_assumes_a_changed_value() -> None:
    """The write sets the default status, so the assumed item has another status."""
    estimate = estimate_pattern(Notes, "finish")
    assert estimate.units("write") == {"": 1, "GSI1": 2}


def test_a_put_of_an_item_that_was_read_is_estimated_as_a_replacement() -> None:
    assert estimate_pattern(Notes, "touch").units("write") == {"": 1, "GSI1": 2}


def test_an_estimate_uses_the_limit_in_the_arguments() -> None:
    def looked_at(limit: int) -> int:
        result = explained(Notes, "notes", {"owner": "ada", "status": "open", "limit": limit})
        return int(result.arithmetic[0].partition(" on GSI1: ")[2].partition(" ")[0])

    assert (looked_at(5), looked_at(40)) == (6, 41)


def test_the_estimate_of_a_create_includes_the_sparse_index_entry() -> None:
    assert estimate_pattern(Notes, "keep").units("write") == {"": 1, "GSI1": 1}
