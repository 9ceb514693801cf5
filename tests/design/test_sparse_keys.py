# mypy: disable-error-code="empty-body"
"""Sparse keys, and reads of more, fewer or exactly the items that have the key.

For every ``when=`` of a key and every way in which a read fixes the field, either the result equals a filter over all
items, in order, or the design is rejected because some items of the result don't have the key.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeAlias

import pytest

from keyplan import Cursor, Design, Each, Entity, Index, Key, Page, Table, read
from keyplan.analysis.check import check
from keyplan.analysis.cost.estimate import estimate
from keyplan.analysis.explain.explanation import explain
from keyplan.errors import ArgumentError, DesignError
from keyplan.testing import verify
from tests.design.refused import told

PAGE: Any = Page
GSI = Index("GSI1", "gsi1pk", "gsi1sk")
STATES = ("new", "open", "closed")
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
Status: TypeAlias = Literal["new", "open", "closed"]
WAITS: list[Any] = ["open", ["new", "open"], ("open",), {"new", "open", "closed"}]
TEMPLATES = [("P#{project}", "{at}#{ticket_id}"), ("P#{project}#{status}", "{at}#{ticket_id}"),
             ("P#{project}", "{status}#{at}#{ticket_id}")]  # fmt: skip


def subsets() -> list[tuple[str, ...]]:
    return [combination for size in (1, 2, 3) for combination in itertools.combinations(STATES, size)]


def tickets(waits: Any, partition: str, sort: str) -> type[Any]:
    """Return an entity whose items are in the index only while their status has one of the given values."""

    class Ticket(Entity):
        ticket_id: str
        project: str
        status: Status
        at: datetime

        primary = Key("TICKET#{ticket_id}", "HEAD")
        waiting = Key(partition, sort, index=GSI, when={"status": waits})

    return Ticket


def asking(entity: type[Any], where: Any = None, **parameters: Any) -> type[Design]:
    names = ["project", *parameters]
    code = f"def asked(self, {', '.join(names)}, limit=2, cursor=None): ..."
    scope: dict[str, Any] = {}
    exec(code, scope)
    function = scope["asked"]
    function.__annotations__ = {
        "project": str, **parameters, "limit": int, "cursor": Cursor | None, "return": PAGE[entity],
    }  # fmt: skip
    return type(
        "Asking", (Design,), {"table": Table("tickets", indexes=[GSI]), "asked": read("R1", where=where)(function)}
    )


def questions(entity: type[Any], wanted: tuple[str, ...]) -> Iterator[tuple[str, Any, list[dict[str, Any]]]]:
    """Yield designs that read the given states, each with a different declaration, and the calls of these reads."""
    literal: Any = Literal[wanted]
    shapes: list[tuple[Any, dict[str, Any], list[dict[str, Any]]]] = [
        ({"status": list(wanted)}, {}, [{}]),
        ({"status": wanted}, {}, [{}]),
        ({"status": set(wanted)}, {}, [{}]),
        (None, {"status": literal}, [{"status": text} for text in wanted]),
        (None, {"status": Each[literal]}, [{"status": list(some)} for some in (wanted, wanted[:1], ())]),
        ("status IN (:states)", {"states": Each[literal]}, [{"states": list(some)} for some in (wanted, wanted[:1])]),
        ("status = :state", {"state": literal}, [{"state": text} for text in wanted]),
    ]
    if len(wanted) == 1:
        shapes.append(({"status": wanted[0]}, {}, [{}]))
    if len(wanted) == 2:
        ones: dict[str, Any] = {"a": Literal[wanted[:1]], "b": Literal[wanted[1:]]}
        shapes.append(("status IN (:a, :b)", ones, [{"a": wanted[0], "b": wanted[1]}]))
        shapes.append(("status = :a OR status = :b", ones, [{"a": wanted[0], "b": wanted[1]}]))
    for where, parameters, calls in shapes:
        try:
            yield f"{where} {parameters}", asking(entity, where, **parameters), calls
        except DesignError as error:
            yield f"{where} {parameters}", error, calls


def of_call(wanted: tuple[str, ...], call: dict[str, Any]) -> set[str]:
    """Return which of the given states a call requests."""
    if not call:
        return set(wanted)
    values = [element for value in call.values() for element in (value if isinstance(value, list) else [value])]
    return set(values)


@pytest.mark.parametrize("waits", WAITS, ids=lambda value: str(sorted(value) if isinstance(value, set) else value))
@pytest.mark.parametrize(("partition", "sort"), TEMPLATES)
def test_reads_by_sparse_keys_match_the_brute_force_results(waits: Any, partition: str, sort: str) -> None:
    entity = tickets(waits, partition, sort)
    allowed = {waits} if isinstance(waits, str) else set(waits)
    stored = [
        entity(ticket_id=str(number), project="p", status=STATES[number % 3], at=NOON + timedelta(hours=number * 7 % 5))
        for number in range(9)
    ]
    for wanted in subsets():
        for how, design, calls in questions(entity, wanted):
            if isinstance(design, DesignError):
                # A string is a filter: the partition key stays unknown
                text_alone = how.startswith("status") and "{status}" in partition
                assert not set(wanted) <= allowed or text_alone, f"{how}: {design}"
                continue
            assert set(wanted) <= allowed, how
            with design.open(":memory:") as store:
                for value in stored:
                    store.put(value)
                for call in calls:
                    right = [value for value in stored if value.status in of_call(wanted, call)]
                    result, cursor = [], None
                    while True:
                        page = store.call("asked", {"project": "p", **call, "cursor": cursor})
                        result += list(page)
                        cursor = page.cursor
                        if cursor is None:
                            break
                    assert sorted(result, key=str) == sorted(right, key=str), (how, call)
                    if "{status}" not in sort:
                        assert [value.at for value in result] == sorted(value.at for value in right), (how, call)


def test_explain_and_cost_support_reads_by_several_values_of_a_sparse_key() -> None:
    entity = tickets(["new", "open"], "P#{project}#{status}", "{at}#{ticket_id}")
    for how, design, calls in questions(entity, ("new", "open")):
        if isinstance(design, DesignError):
            assert how.startswith("status")
            continue
        explained = explain(design, "asked")
        assert explained.requests
        check(design)
        estimate(design)
        verify(design, stores=5, seed=1)
        explain(design, "asked", {"project": "p", **calls[0]})


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Alarm(Entity):
    alarm_id: str
    level: Level
    quiet: bool = False
    at: datetime

    primary = Key("ALARM#{alarm_id}", "HEAD")
    loud = Key("LOUD", "{at}#{alarm_id}", index=GSI, when={"quiet": False, "level": "high"})


class Alarms(Design):
    table = Table("alarms", indexes=[GSI])

    @read("A1", where={"quiet": False, "level": "high"})
    def loud(self) -> list[Alarm]: ...


def test_the_when_option_accepts_values_of_enum_members() -> None:
    """Regression test: ``{"level": "high"}`` excluded every item, since an enum member isn't equal to its value."""
    with Alarms.open(":memory:") as alarms:
        alarms.put(Alarm(alarm_id="1", level=Level.HIGH, at=NOON))
        alarms.put(Alarm(alarm_id="2", level=Level.LOW, at=NOON))
        alarms.put(Alarm(alarm_id="3", level=Level.HIGH, quiet=True, at=NOON))
        assert [alarm.alarm_id for alarm in alarms.loud()] == ["1"]


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("status", 1, "Ticket.status is of type Literal.*, so it can't be 1"),
        ("status", [], "is empty"),
        ("at", "2026-11-21", "Ticket.at is of type datetime, so it can't be '2026-11-21'"),
        ("at", NOON.replace(tzinfo=None), "has no time zone"),
        ("ticket_id", None, "Ticket.ticket_id can't be None"),
    ],
)
def test_constants_that_are_invalid_values_of_the_field_are_rejected(field: str, value: Any, why: str) -> None:
    entity = tickets("open", *TEMPLATES[0])
    with pytest.raises(DesignError) as error:
        asking(entity, {"status": "open", field: value})
    told(error, why)
    with pytest.raises(DesignError) as waiting:
        asking(tickets("open", *TEMPLATES[0]) if field != "status" else tickets(value, *TEMPLATES[0]), {field: value})
    assert waiting.value.errors


def test_a_filter_on_an_attribute_of_the_queried_key_is_rejected() -> None:
    """DynamoDB rejects a Query whose filter contains a key attribute, so a design with such a filter is rejected."""
    by_year = Index("BY_YEAR", "shelf", "label")

    class Book(Entity):
        book_id: str
        shelf: str
        label: Literal["a", "b", "c"]
        primary = Key("BOOK#{book_id}", "HEAD")
        by_shelf = Key("{shelf}", "{label}", index=by_year)

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("books", indexes=[by_year])

            @read("R1", where={"label": ("a", "b")})
            def two(self, shelf: str) -> list[Book]: ...

            @read("R2", where="label <> :other")
            def text(self, shelf: str, other: Literal["a"]) -> list[Book]: ...

    told(error, "D.two: ", "the filter contains label, but a Query can't filter by key attributes")
    told(error, "D.text: ", "the filter contains label")


class Head(Entity):
    project: str
    status: Status
    primary = Key("P#{project}", "HEAD")
    seen = Key("P#{project}", "HEAD", index=GSI, when={"status": "open"})


class Line(Entity):
    project: str
    number: int
    status: Status
    primary = Key("P#{project}", "LINE#{number:04d}")
    seen = Key("P#{project}", "LINE#{number:04d}", index=GSI)


class Both(Design):
    table = Table("both", indexes=[GSI])

    @read("B1", where={"status": "open"}, order_by="number")
    def parts(self, project: str) -> list[Head | Line]: ...


def test_entities_without_the_sparse_key_are_filtered_by_its_constant() -> None:
    with Both.open(":memory:") as both:
        both.put(Head(project="p", status="open"))
        both.put(Line(project="p", number=1, status="new"))
        both.put(Line(project="p", number=2, status="open"))
        assert both.parts("p") == [Head(project="p", status="open"), Line(project="p", number=2, status="open")]


def test_a_read_with_an_empty_each_argument_sends_no_request() -> None:
    entity = tickets(["new", "open"], *TEMPLATES[0])
    design = asking(entity, None, status=Each[Literal["new", "open"]])
    with design.open(":memory:") as store:
        store.put(entity(ticket_id="1", project="p", status="new", at=NOON))
        assert list(store.call("asked", {"project": "p", "status": []})) == []
        with pytest.raises(ArgumentError):
            store.call("asked", {"project": "p", "status": ["closed"]})


BY_TEAM = Index("BY_TEAM", "team_pk", "team_sk")
BY_SPRINT = Index("BY_SPRINT", "sprint_pk", "sprint_sk")


class Chore(Entity):
    """A chore, in two indexes with the same order. The first index contains a chore only after it is assigned."""

    chore_id: str
    team: str
    name: str
    done_by: str | None = None

    primary = Key("CHORE#{chore_id}", "HEAD")
    by_doer = Key("TEAM#{team}", "{name}#{chore_id}#{done_by}", index=BY_TEAM)
    by_name = Key("TEAM#{team}", "{name}#{chore_id}", index=BY_SPRINT)


class Chores(Design):
    table = Table("chores", indexes=[BY_TEAM, BY_SPRINT])

    @read("C1")
    def chores(self, team: Each[str]) -> list[Chore]: ...

    @read("C2", entity=Chore)
    def how_many(self, team: str) -> int: ...

    @read("C3")
    def named(self, team: str, name: str) -> list[Chore]: ...


def test_a_complete_key_is_preferred_to_a_sparse_key() -> None:
    """Both keys support the read in the same order, but items without the optional field aren't in the sparse index."""
    with Chores.open(":memory:") as chores:
        chores.put(Chore(chore_id="1", team="t", name="a", done_by="ada"))
        chores.put(Chore(chore_id="2", team="t", name="b"))
        assert [chore.chore_id for chore in chores.chores(["t"])] == ["1", "2"]
        assert chores.how_many("t") == 2
        assert [chore.chore_id for chore in chores.named("t", "b")] == ["2"]
    explained = explain(Chores, "how_many")
    assert explained.key == "Chore.by_name"
    assert {other.key: other.reason for other in explained.others}["Chore.by_doer"] == (
        "the key doesn't contain items whose done_by is None"
    )


@pytest.mark.parametrize("waits", [["new", "open", "closed"], ["new", "open"], ["open"]], ids=str)
@pytest.mark.parametrize("hurry", [[False, True], [True], None], ids=str)
def test_a_key_whose_when_lists_every_value_contains_all_items(waits: list[Any], hurry: list[Any] | None) -> None:
    """If ``when=`` omits a value, the key supports only reads that fix the field to a listed value."""
    held: dict[str, list[Any]] = {"status": waits} if hurry is None else {"status": waits, "urgent": hurry}

    class Ticket(Entity):
        ticket_id: str
        project: str
        status: Status
        urgent: bool = False

        primary = Key("TICKET#{ticket_id}", "HEAD")
        waiting = Key("P#{project}", "{ticket_id}", index=GSI, when=held)

    all_states, all_hurries = len(waits) == 3, hurry in (None, [False, True])
    for where, serves in [
        (None, all_states and all_hurries),
        ({"status": "open"}, all_hurries),
        ({"status": "closed"}, all_states and all_hurries),
        ({"urgent": True}, all_states),
        ({"urgent": False}, all_states and all_hurries),
    ]:
        try:
            plan: Any = asking(Ticket, where).compiled.reads["asked"].plan
        except DesignError:
            assert not serves, where
            continue
        assert serves, where
        assert plan.key.name == "waiting"
        decided = {name for name, allowed in held.items() if len(allowed) == 1}
        assert (plan.filter is not None) is bool((where or {}).keys() - decided), where
