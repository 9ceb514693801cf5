# mypy: disable-error-code="empty-body"
"""What people see of things that they print, in a shell or in a failed test; and types that are called with theirs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from keyplan import (
    Create,
    Delete,
    Design,
    Entity,
    Index,
    Key,
    Number,
    Page,
    Put,
    Range,
    StoredAs,
    Table,
    Update,
    Writes,
    read,
    write,
)  # fmt: skip
from keyplan.client.transports.credentials import Credentials
from keyplan.model.compiled.plans import Known
from keyplan.model.compiled.signatures import ParameterKind
from keyplan.store import Engine
from keyplan.testing import Clock

GSI1 = Index("GSI1", "gsi1pk", Number("gsi1sk"))


class Note(Entity):
    name: str

    primary = Key("NOTE#{name}", "HEAD")


class Notes(Design):
    table = Table("notes", indexes=[GSI1])

    @read("R1")
    def note(self, name: str) -> Note | None: ...

    @write("W1")
    def rename(self, name: str) -> Writes:
        yield Put(Note(name=name))


def test_each_says_what_it_is() -> None:
    note = Note(name="a")
    with Notes.open(":memory:") as notes:
        shown: list[Any] = [
            notes,
            notes.note,
            Notes.__dict__["note"],
            Notes.__dict__["rename"],
            notes.rename.in_transaction("b"),
        ]
        assert list(map(repr, shown)) == [
            "<Notes on :memory:>", "<pattern note of <Notes on :memory:>>", "<ReadMethod R1 note>",
            "<WriteMethod W1 rename>", "<<Notes on :memory:>: rename(name='b')>",
        ]  # fmt: skip
    assert repr(Put(note)) == "Put(Note(name='a'))"
    assert repr(Create(note)) == "Create(Note(name='a'))"
    assert repr(Update(Note, name="b").set(name="c")) == "Update(Note, name='b')"
    assert repr(Delete(note)) == "Delete(Note(name='a'))"
    assert repr(GSI1) == "Index('GSI1', 'gsi1pk', 'gsi1sk')"
    assert repr(StoredAs("ms")) == "StoredAs('ms')"
    assert repr(StoredAs(layout="%Y-%m-%d")) == "StoredAs(layout='%Y-%m-%d')"
    assert repr(StoredAs(write=str.upper, read=str.lower)) == "StoredAs(write=upper, read=...)"
    assert repr(Clock(datetime(2026, 3, 1, tzinfo=UTC))) == "Clock(2026-03-01T00:00:00+00:00)"
    assert "secret" not in repr(Credentials("id", "secret", "token"))
    with Engine.open(":memory:") as engine:
        assert repr(engine) == "Engine(':memory:')"
    assert repr(Notes.compiled.by_name["Note"]).startswith("CompiledEntity(Note, primary (")
    assert str(Known("name", ParameterKind.VALUE, "argument")) == "name"
    assert str(Known("name", ParameterKind.VALUE, "constant", "x")) == "name = 'x'"


def test_generic_types_can_be_called_with_what_they_hold() -> None:
    """Python 3.11 notes the type on the instance, which one with slots can't take."""
    page = Page[Note](items=[Note(name="a")])
    assert page == Page([Note(name="a")])
    assert (len(page), bool(page), bool(Page[Note]([])), [note.name for note in page]) == (1, True, False, ["a"])
    assert Range[int](ge=1) == Range(ge=1)
    assert hash(Range[int](ge=1)) == hash(Range(ge=1))
    assert repr(Range[int](ge=1)) == "Range(ge=1, gt=None, le=None, lt=None)"
    assert issubclass(Note, BaseModel)
