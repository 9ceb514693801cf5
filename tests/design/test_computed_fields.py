# mypy: disable-error-code="empty-body"
"""The fields on which a computed field depends are detected, and updates of these fields recompute the keys."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any, ClassVar, Literal

import pytest
from pydantic import computed_field

from keyplan import Add, Design, Entity, Index, Key, Number, Table, Unique, Update, read
from keyplan.errors import ConditionFailed, UpdateRejected
from tests.design.items import compiled

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
BY_FIELD = Index("BY_FIELD", "by_field_pk")


def helper(item: Any) -> str:
    return f"{item.a}{item.b}"


def loosely(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator without type annotations, which hides the signature of the function."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


class Computed(Entity):
    """An entity with computed fields that read other fields in different ways."""

    SEPARATOR: ClassVar[str] = "-"

    a: str
    b: str
    mode: Literal["a", "b"] = "a"
    at: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    primary = Key("A#{a}", "B#{b}")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def plain(self) -> str:
        return f"{self.a}{self.SEPARATOR}{self.b.upper()}"

    @computed_field  # type: ignore[prop-decorator]
    @functools.cached_property
    def cached(self) -> str:
        return self.b

    @computed_field  # type: ignore[prop-decorator]
    @property
    def by_method(self) -> str:
        return self.method()

    def method(self) -> str:
        return self.of_cached

    @functools.cached_property
    def of_cached(self) -> str:
        return self.cached

    @computed_field  # type: ignore[prop-decorator]
    @property
    def by_lambda(self) -> int:
        return max(range(2), key=lambda _: self.a)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def of_a_branch(self) -> str:
        return self.b if self.mode == "b" and self.at.year > 2100 else "none"

    @computed_field  # type: ignore[prop-decorator]
    @property
    @loosely
    def decorated(self) -> str:
        return self.b

    @computed_field  # type: ignore[prop-decorator]
    @property
    def by_helper(self) -> str:
        return helper(self)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def by_name(self) -> str:
        return str(getattr(self, "".join("a")))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def by_operator(self) -> str:
        return str(operator.attrgetter("b")(self))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def whole(self) -> str:
        return str(sorted(self.model_dump(exclude_computed_fields=True)))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def of_its_dict(self) -> str:
        return str(self.__dict__["a"])

    @computed_field  # type: ignore[prop-decorator]
    @property
    def of_the_clock(self) -> str:
        return str(datetime.now(UTC).timestamp())


class Inherited(Computed):
    """An entity that overrides a method called by an inherited computed field."""

    def method(self) -> str:
        return self.a


EVERYTHING = {"a", "b", "mode", "at"}


@pytest.mark.parametrize(
    ("cls", "field", "read"),
    [
        (Computed, "plain", {"a", "b"}),
        (Computed, "cached", {"b"}),
        (Computed, "by_method", {"b"}),
        (Inherited, "by_method", {"a"}),
        (Computed, "by_lambda", {"a"}),
        (Computed, "of_a_branch", {"b", "mode", "at"}),
        (Computed, "decorated", EVERYTHING),
        (Computed, "by_helper", EVERYTHING),
        (Computed, "by_name", EVERYTHING),
        (Computed, "by_operator", EVERYTHING),
        (Computed, "whole", EVERYTHING),
        (Computed, "of_its_dict", EVERYTHING),
        (Computed, "of_the_clock", EVERYTHING),
    ],
)
def test_the_fields_that_a_computed_field_reads_are_detected(cls: type[Entity], field: str, read: set[str]) -> None:
    keyed = type(cls.__name__, (cls,), {"__module__": __name__, "by_field": Key(f"{{{field}}}", index=BY_FIELD)})
    entity = compiled(keyed, BY_FIELD)
    assert entity.inputs_of(entity.index_keys[0]) == read


class Note(Entity):
    """A note, in an index by the first letter of its title, which is a cached property."""

    note_id: str
    title: str
    public: bool = True
    views: int = 0

    @computed_field  # type: ignore[prop-decorator]
    @functools.cached_property
    def letter(self) -> str:
        return self.title[:1]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def shelf(self) -> str:
        return self.title[-1:] if self.public else "private"

    primary = Key("NOTE#{note_id}", "HEAD")
    by_letter = Key("LETTER#{letter}", "SHELF#{shelf}", index=GSI1)


class Event(Entity):
    """An event in the partition of its day."""

    event_id: str
    at: datetime
    name: str = ""

    @computed_field  # type: ignore[prop-decorator]
    @functools.cached_property
    def day(self) -> date:
        return self.at.date()

    primary = Key("DAY#{day}", "{event_id}")
    name_claim = Unique("NAME#{name}")


class Notes(Design):
    table = Table("notes", indexes=[GSI1], entities=[Event])

    @read("N1")
    def by_letter(self, letter: str, shelf: str) -> list[Note]: ...


@pytest.fixture
def notes() -> Any:
    with Notes.open(":memory:") as design:
        yield design


def test_updating_a_field_that_a_cached_property_reads_recomputes_the_key(notes: Notes) -> None:
    note = notes.put(Note(note_id="1", title="abc"))
    assert note.letter == "a"  # the instance caches the value from here on
    notes.update(note, title="xyz")
    assert notes.by_letter("a", "c") == []
    assert [element.title for element in notes.by_letter("x", "z")] == ["xyz"]


def test_an_outdated_cached_property_of_a_copied_instance_is_not_used_for_keys(notes: Notes) -> None:
    note = Note(note_id="1", title="abc")
    assert note.letter == "a"
    notes.put(note.model_copy(update={"title": "xyz"}))
    assert [element.title for element in notes.by_letter("x", "z")] == ["xyz"]
    event = Event(event_id="1", at=datetime(2026, 11, 21, tzinfo=UTC), name="first")
    notes.create(event)
    assert event.day == date(2026, 11, 21)
    other = event.model_copy(update={"at": datetime(2026, 11, 22, tzinfo=UTC)})
    with pytest.raises(ConditionFailed):
        notes.delete(other)  # the other day's value, without the name
    assert notes.get(Event, day=date(2026, 11, 21), event_id="1") == event


@pytest.mark.parametrize("changes", [{"title": "xyz"}, {"public": False}])
def test_updating_an_input_of_a_computed_key_by_class_is_rejected(notes: Notes, changes: dict[str, Any]) -> None:
    notes.put(Note(note_id="1", title="abc"))
    with pytest.raises(UpdateRejected, match="part of the key by_letter"):
        notes.transact([Update(Note, note_id="1").set(**changes)])
    notes.transact([Update(Note, note_id="1").set(views=Add(1))])  # it doesn't depend on this field
    note = notes.get(Note, note_id="1")
    assert note is not None
    assert note.views == 1


@pytest.mark.parametrize("shards", [1, 2, 3])
def test_a_number_in_a_sharded_key_cannot_be_changed_without_its_shard(shards: int) -> None:
    """The shard is computed from the number: a change of only the number leaves the item in the wrong shard."""
    index = Index("BY_RANK", "rank_pk", Number("rank"))

    class Ranked(Entity):
        ranked_id: str
        rank: int
        primary = Key("RANKED#{ranked_id}", "HEAD")
        by_rank = Key("RANKED", "{rank}", index=index, shards=shards)

    entity = compiled(Ranked, index)
    (key,) = entity.index_keys
    assert entity.writes_itself(key, "rank") == (shards == 1)


def test_an_update_of_a_computed_key_fails_if_the_stored_value_of_another_input_changed(notes: Notes) -> None:
    stale = notes.put(Note(note_id="1", title="abc", public=False))
    notes.update(stale, public=True)
    with pytest.raises(ConditionFailed):
        notes.update(stale, title="xyz")
    notes.update(stale, title="xyz", public=False)
    assert [note.title for note in notes.by_letter("x", "private")] == ["xyz"]


def test_an_update_that_changes_a_computed_primary_key_is_rejected(notes: Notes) -> None:
    at = datetime(2026, 11, 21, 9, tzinfo=UTC)
    event = Event(event_id="1", at=at, name="first")
    notes.create(event)
    with pytest.raises(UpdateRejected, match="a primary key can't be changed"):
        notes.update(event, at=datetime(2026, 11, 22, tzinfo=UTC))
    with pytest.raises(UpdateRejected, match="a primary key can't be changed"):
        notes.transact([Update(Event, day=at.date(), event_id="1").set(at=at)])
    later = at.replace(hour=10)
    assert notes.update(event, at=later).at == later
