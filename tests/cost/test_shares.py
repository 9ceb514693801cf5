# mypy: disable-error-code="empty-body"
"""Members of a traffic file: shares of failed calls, shares of items with a field, and how long items are kept."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import pytest

from keyplan import (
    Batch,
    Create,
    Design,
    Entity,
    Field,
    Index,
    Key,
    Put,
    Table,
    Unique,
    Update,
    Writes,
    read,
    ulid,
    write,
)
from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.demand import demands
from keyplan.analysis.cost.estimate import Estimate, estimate
from keyplan.analysis.cost.unit_counts import TABLE
from keyplan.analysis.cost.write_costs import with_counts
from keyplan.analysis.traffic.traffic_file import traffic_from
from keyplan.errors import TrafficError
from keyplan.model.compiled.item_sizes import OVERHEAD_BYTES

BY_OWNER = Index("BY_OWNER", "owner_pk", "owner_sk")
DAY = 86_400


class Task(Entity):
    """A task, in an index by its owner."""

    task_id: str = Field(default_factory=ulid)
    owner: str
    state: Literal["open", "done"] = "open"
    notes: str | None = Field(default=None, examples=["n" * 3000])
    ended_at: datetime | None = None

    primary = Key("TASK#{task_id}", "HEAD")
    by_owner = Key("OWNER#{owner}", "TASK#{task_id}", index=BY_OWNER)


class Line(Entity):
    """An event of a task."""

    task_id: str
    number: int

    primary = Key("TASK#{task_id}", "LINE#{number:06d}")


class Label(Entity):
    """A label with a unique name."""

    label_id: str = Field(default_factory=ulid)
    name: str

    primary = Key("LABEL#{label_id}", "HEAD")
    one_name = Unique("NAME#{name}")


class Tasks(Design):
    table = Table("tasks", indexes=[BY_OWNER])

    @read("T1")
    def task(self, task_id: str) -> Task | None: ...

    @write("T2")
    def add(self, task: Task) -> Writes:
        yield Create(task)

    @write("T3")
    def finish(self, task_id: str) -> Writes:
        yield Update(Task, task_id=task_id).set(state="done").only_if("state = :open", open="open")

    @write("T4")
    def log(self, lines: list[Line]) -> Writes:
        yield Batch(Put(line) for line in lines)

    @write("T5")
    def finish_with(self, task_id: str, line: Line) -> Writes:
        yield Update(Task, task_id=task_id).set(state="done").only_if("state = :open", open="open")
        yield Put(line)

    @write("T6")
    def label(self, label: Label) -> Writes:
        yield Create(label)

    @write("T7")
    def finish_and_log(self, task_id: str, lines: list[Line]) -> Writes:
        yield Update(Task, task_id=task_id).set(state="done").only_if("state = :open", open="open")
        yield Batch(Put(line) for line in lines)


def estimated(**data: Any) -> Estimate:
    return estimate(Tasks, traffic_from(data, Tasks.compiled))


def written(result: Estimate, name: str) -> dict[str, float]:
    return next(pattern for pattern in result.patterns if pattern.name == name).units("write")


def counts(result: Estimate) -> dict[str, float | None]:
    return {entity.sizes.entity: entity.count for entity in result.entities}


# Failed calls


@pytest.mark.parametrize("name", ["add", "finish", "finish_with", "label"])
@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
def test_a_failed_condition_costs_table_units_and_no_index_units(name: str, share: float) -> None:
    whole = written(estimated(), name)
    result = written(estimated(patterns={name: {"fails": share}}), name)
    assert result[TABLE] == whole[TABLE] > 0
    assert result.get("BY_OWNER", 0) == pytest.approx(whole.get("BY_OWNER", 0) * (1 - share))


def test_batches_after_a_failed_condition_are_excluded_from_the_estimate() -> None:
    whole = estimated()
    update, lines = written(whole, "finish")[TABLE], written(whole, "log")[TABLE]
    assert written(whole, "finish_and_log")[TABLE] == update + lines
    assert written(estimated(patterns={"finish_and_log": {"fails": 0.25}}), "finish_and_log")[TABLE] == (
        update + 0.75 * lines
    )
    assert written(estimated(patterns={"log": {"fails": 0.25}}), "log") == written(whole, "log")  # no action can fail


def test_failed_calls_reduce_the_load_of_an_index_partition() -> None:
    def busiest(fails: float) -> dict[str, float]:
        data = {"patterns": {"finish": {"per_second": 100, "hottest": 1, "fails": fails}}}
        subject = Subject(Tasks.compiled, traffic_from(data, Tasks.compiled), Tasks)
        return {
            partition.key.name: partition.per_second
            for partition in demands(subject).partitions
            if partition.kind == "write"
        }

    all_through, some = busiest(0), busiest(0.4)
    assert some["primary"] == all_through["primary"] > 0
    assert some["by_owner"] == pytest.approx(0.6 * all_through["by_owner"])


# How long items are kept


def test_the_item_count_is_estimated_from_the_create_rate_and_the_retention_days() -> None:
    result = estimated(
        patterns={"add": {"per_second": 2}, "log": {"per_second": 1, "items": 10}},
        entities={"Task": {"kept_days": 30}, "Line": {"kept_days": 0.5}},
    )
    assert counts(result) == {"Task": 2 * DAY * 30, "Line": pytest.approx(10 * DAY * 0.5), "Label": None}
    stored = result.stored_bytes()
    task = next(entity for entity in result.entities if entity.sizes.entity == "Task")
    assert stored["BY_OWNER"] == 2 * DAY * 30 * (task.sizes.entries["BY_OWNER"] + OVERHEAD_BYTES)


def test_the_estimated_item_count_includes_claims() -> None:
    result = estimated(patterns={"label": {"per_second": 1}}, entities={"Label": {"kept_days": 1}})
    assert counts(result)["Label"] == DAY
    assert result.items == 2 * DAY


def test_failed_calls_are_excluded_from_the_estimated_item_count() -> None:
    result = estimated(patterns={"add": {"per_second": 1, "fails": 0.25}}, entities={"Task": {"kept_days": 1}})
    assert counts(result)["Task"] == 0.75 * DAY


def test_a_count_in_the_traffic_file_overrides_the_estimated_item_count() -> None:
    result = estimated(patterns={"add": {"per_second": 1}}, entities={"Task": {"kept_days": 1, "count": 7}})
    assert counts(result)["Task"] == 7


def test_the_item_count_is_unknown_without_a_rate_of_calls_that_create_items() -> None:
    result = estimated(patterns={"finish": {"per_second": 1}}, entities={"Task": {"kept_days": 1}})
    assert counts(result)["Task"] is None


def test_rules_use_the_estimated_item_count() -> None:
    data = {"patterns": {"add": {"per_second": 1}}, "entities": {"Task": {"kept_days": 1}}}
    traffic = with_counts(Tasks.compiled, Tasks, traffic_from(data, Tasks.compiled))
    assert traffic.entities["Task"].count == DAY


# Errors


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ({"patterns": {"add": {"fails": 1.1}}}, "patterns.add.fails"),
        ({"patterns": {"add": {"fails": -0.1}}}, "patterns.add.fails"),
        ({"patterns": {"add": {"fails": "often"}}}, "patterns.add.fails"),
        ({"patterns": {"T1": {"fails": 0.1}}}, "patterns.T1.fails"),
        ({"entities": {"Task": {"kept_days": 0}}}, "entities.Task.kept_days"),
        ({"entities": {"Task": {"kept_days": True}}}, "entities.Task.kept_days"),
    ],
)
def test_errors_in_a_traffic_file_are_reported_with_their_location(data: Any, place: str) -> None:
    with pytest.raises(TrafficError) as caught:
        traffic_from(data, Tasks.compiled)
    assert [fault.place for fault in caught.value.errors] == [place]


# Fields that a share of the items has

OPEN = Index("OPEN", "open_pk", "open_sk")
KEPT = Index("KEPT", "kept_pk", "kept_sk", projection="KEYS_ONLY")


class Note(Entity):
    note_id: str = Field(default_factory=ulid)
    owner: str
    state: Literal["open", "done"] = "open"
    text: str | None = Field(default=None, examples=["n" * 8500])
    deleted_at: datetime | None = None

    primary = Key("NOTE#{note_id}", "HEAD")
    while_open = Key("OWNER#{owner}", "NOTE#{note_id}", index=OPEN, when={"state": "open"})
    while_kept = Key("OWNER#{owner}", "NOTE#{note_id}", index=KEPT, when={"deleted_at": None})


class Notes(Design):
    table = Table("notes", indexes=[OPEN, KEPT])

    @read("N1")
    def note(self, note_id: str) -> Note | None: ...

    @read("N2", where={"state": "open"})
    def open_notes(self, owner: str) -> list[Note]: ...

    @write("N3")
    def add(self, note: Note) -> Writes:
        yield Create(note)


def noted(**filled: float) -> Estimate:
    data = {"entities": {"Note": {"count": 100, "filled": filled}}, "patterns": {"open_notes": {"items": 10}}}
    return estimate(Notes, traffic_from(data, Notes.compiled))


def units_of(result: Estimate, name: str) -> dict[str, float]:
    pattern_estimate = next(pattern for pattern in result.patterns if pattern.name == name)
    assert pattern_estimate.failure is None
    return {**pattern_estimate.units("read"), **pattern_estimate.units("write")}


@pytest.mark.parametrize("name", ["note", "open_notes", "add"])
@pytest.mark.parametrize("field", ["text", "state", "deleted_at"])
def test_units_are_weighted_by_the_share_of_items_with_a_field(name: str, field: str) -> None:
    without, whole, part = (units_of(noted(**{field: share}), name) for share in (0.0, 1.0, 0.3))
    if (name, field) == ("open_notes", "state"):  # the found items are open, whatever the share is
        assert part == whole
        return
    if field == "text" or name == "add":
        assert whole != without
    for target in {*without, *whole, *part}:
        expected = 0.3 * whole.get(target, 0) + 0.7 * without.get(target, 0)
        assert part.get(target, 0) == pytest.approx(expected), target


def test_the_index_units_of_a_write_depend_on_shares_of_filled_fields() -> None:
    assert units_of(noted(state=1.0), "add")["OPEN"] == 9
    assert "OPEN" not in units_of(noted(state=0.0), "add")
    assert units_of(noted(state=0.25), "add")["OPEN"] == 9 / 4
    assert units_of(noted(deleted_at=0.25), "add")["KEPT"] == 0.75
    both = units_of(noted(state=0.5, text=0.5), "add")
    assert both["OPEN"] == 0.5 * (0.5 * 9 + 0.5 * 1)


def test_the_estimated_storage_depends_on_shares_of_filled_fields() -> None:
    without, whole, part = (noted(text=share, state=share).stored_bytes() for share in (0.0, 1.0, 0.5))
    assert part[TABLE] == pytest.approx((without[TABLE] + whole[TABLE]) / 2, rel=1e-3)
    assert without["OPEN"] == 0
    assert part["KEPT"] == pytest.approx(whole["KEPT"])
    assert noted(state=0.5).stored_bytes()["OPEN"] == noted(state=1.0).stored_bytes()["OPEN"] / 2


def test_an_empty_entity_table_in_the_traffic_file_does_not_change_the_estimate() -> None:
    plain, empty = estimate(Notes), estimate(Notes, traffic_from({"entities": {"Note": {}}}, Notes.compiled))
    assert [pattern.requests for pattern in plain.patterns] == [pattern.requests for pattern in empty.patterns]


@pytest.mark.parametrize(
    ("filled", "place"),
    [
        ({"text": 1.5}, "entities.Note.filled.text"),
        ({"text": -1}, "entities.Note.filled.text"),
        ({"txt": 0.5}, "entities.Note.filled.txt"),
        ({"owner": 0.5}, "entities.Note.filled.owner"),
    ],
)
def test_an_invalid_share_of_filled_fields_is_an_error(filled: Any, place: str) -> None:
    with pytest.raises(TrafficError) as caught:
        traffic_from({"entities": {"Note": {"filled": filled}}}, Notes.compiled)
    assert [fault.place for fault in caught.value.errors] == [place]


@pytest.mark.parametrize("item_bytes", [None, 900, 5_000, 9_000])
def test_item_bytes_of_a_pattern_override_shares_of_filled_fields(item_bytes: int | None) -> None:
    """A pattern's ``item_bytes`` is the size of its items, whichever fields they have."""
    filled = estimated(
        patterns={"add": {} if item_bytes is None else {"item_bytes": item_bytes}},
        entities={"Task": {"filled": {"notes": 0.5}}},
    )
    units = written(filled, "add")[TABLE]
    assert units == ((1 + 4) / 2 if item_bytes is None else -(-item_bytes // 1024))
