# mypy: disable-error-code="empty-body"
"""Options of reads: a direction for each call, a key selected by name, and invalid options."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, NamedTuple
from uuid import UUID

import pytest

from keyplan import Design, Each, Entity, Index, InvalidItem, Key, Range, Table, Through, read
from keyplan.analysis.diff.entity_changes import entity_changes
from keyplan.analysis.explain.explanation import explain
from keyplan.client.conversations import Target
from keyplan.client.read_plans import ScanReader
from keyplan.errors import ArgumentError, DesignError
from keyplan.model.compiled.plans import QueryPlan, ReadPattern
from keyplan.model.compiled.signatures import signature_of
from keyplan.web.openapi import openapi
from tests.contract.asking import Asking
from tests.design.refused import faults

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
GSI2 = Index("GSI2", "gsi2pk", "gsi2sk")


class Visit(Entity):
    """A visit of a page, sorted by number in the table, and by length and country in two indexes."""

    page: str
    number: int
    seconds: int = 0
    country: str = "pt"

    primary = Key("PAGE#{page}", "{number:06d}")
    by_length = Key("PAGE#{page}", "{seconds:06d}#{number:06d}", index=GSI1)
    by_country = Key("PAGE#{page}", "{country}#{number:06d}", index=GSI2)


class Other(Entity):
    other_id: str

    primary = Key("OTHER#{other_id}", "HEAD")


TABLE = Table("visits", indexes=[GSI1, GSI2])


def told(define: Callable[[], None]) -> tuple[str, str, str | None]:
    """Return the place, message and hint of the only error of a design."""
    with pytest.raises(DesignError) as refusal:
        define()
    (fault,) = refusal.value.errors
    return fault.place, fault.message, fault.hint


class Readable(NamedTuple):
    visits: list[Visit | InvalidItem]


REJECTED = [
    ("", "visits(self, page: str) -> Readable",
     "Readable.visits contains InvalidItem, which a collection doesn't support"),
    ("through=Other", "visits(self, other_id: str) -> list[Visit | InvalidItem]",
     "InvalidItem isn't supported with through="),
    ("scan=True, segments=0", "visits(self) -> list[Visit]", "segments=0 isn't an integer from 1 to 100"),
    ("scan=True, segments=101", "visits(self) -> list[Visit]", "segments=101 isn't an integer from 1 to 100"),
    ("scan=True, segments=2, entity=Visit", "visits(self) -> bool", "segments= doesn't support this return type"),
    ("segments=2", "visits(self) -> list[Visit]", "segments= requires scan=True or scan_index="),
    ("scan_index=GSI1, complete=True, segments=2", "visits(self) -> list[Visit]",
     "segments= doesn't support complete="),
    ("scan=True, segments=2", "visits(self, limit: int) -> list[Visit]", "segments= supports a limit only with a Page"),
    ("", 'tickets(self, team: str, state: Literal["urgent", "calm"]) -> list[Ticket]',
     "the key contains only items with state ="),
    ("key=Visit.primary", "visits(self, page: str, newest_first: int) -> list[Visit]",
     "Visit has no field 'newest_first' (to set the sort direction, declare newest_first: bool = True)"),
    ("", "visit(self, page: str, number: int, newest_first: bool) -> Visit | None",
     "newest_first requires an ordered result"),
    ("scan=True", "visits(self, newest_first: bool) -> list[Visit]", "newest_first requires an ordered result"),
    ("newest_first=True", "visits(self, page: str, newest_first: bool) -> list[Visit]",
     "the decorator and the parameter newest_first"),
    ('order_by="-seconds"', "visits(self, page: str, newest_first: bool) -> list[Visit]",
     "the decorator and the parameter newest_first"),
    ("key=Other.primary", "visits(self, page: str) -> list[Visit]",
     ("key= is OTHER#{other_id}, HEAD, which isn't a key of Visit "
     "(use one of Visit.primary, Visit.by_length, Visit.by_country)")),
    ("key=Visit.by_length", "visits(self, page: str, country: str) -> list[Visit]",
     "the key doesn't contain country after"),
    ("key=Visit.by_length, consistent=True", "visits(self, page: str) -> list[Visit]",
     "global indexes don't support strongly consistent reads"),
    ("key=Visit.by_length, scan=True", "visits(self) -> list[Visit]", "key= has no effect on a scan (omit key=)"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "signature", "words"), REJECTED)
def test_invalid_read_options_are_rejected(options: str, signature: str, words: str) -> None:
    table = Asking.table if "Ticket" in signature else TABLE
    text = f'class Wrong(Design):\n    table = given\n\n    @read("V1", {options})\n    def {signature}: ...\n'
    (fault,) = faults(text, given=table, Ticket=Asking.compiled.by_name["Ticket"].cls, **globals())
    assert fault.startswith("Wrong.")
    assert words in fault


def test_the_rest_api_schema_includes_invalid_items_in_results() -> None:
    answer = openapi(Asking.compiled)["paths"]["/api/readable"]["get"]["responses"]["200"]["content"]
    (schema,) = [value["schema"] for value in answer.values()]
    names = [value["$ref"].rpartition("/")[2] for value in schema["properties"]["items"]["items"]["anyOf"]]
    assert names == ["Job", "InvalidItem"]


def test_a_parallel_scan_has_a_request_per_segment() -> None:
    asked = explain(Asking, "all_jobs")
    assert [request.parameters["Segment"] for request in asked.requests] == [0, 1, 2]
    assert "in 3 parallel segments" in asked.proof


# Mutually exclusive keys on one index


def two_keys(key: Key, other: Key) -> Callable[[], None]:
    def define() -> None:
        class Ticket(Entity):
            ticket_id: str
            team: str
            state: Literal["open", "held", "closed"] = "open"
            urgent: bool = False

            primary = Key("TICKET#{ticket_id}", "HEAD")
            first = key
            second = other

        class Wrong(Design):
            table = Table("tickets", indexes=[GSI1, GSI2], entities=[Ticket])

    return define


def on_gsi1(partition: str, sort: str = "{ticket_id}", **more: Any) -> Key:
    return Key(partition, sort, index=GSI1, **more)


OPEN, CLOSED = {"state": "open"}, {"state": "closed"}


@pytest.mark.parametrize(
    ("key", "other"),
    [
        (on_gsi1("OPEN#{team}", when=OPEN), on_gsi1("CLOSED#{team}", when=CLOSED)),
        (on_gsi1("OPEN#{team}", when={"state": ["open", "held"]}), on_gsi1("CLOSED#{team}", when=CLOSED, shards=3)),
        (on_gsi1("T#{team}", "OPEN#{ticket_id}", when=OPEN), on_gsi1("T#{team}", "CLOSED#{ticket_id}", when=CLOSED)),
        (
            on_gsi1("A#{team}", when={"state": "open", "urgent": True}),
            on_gsi1("B#{team}", when={"state": ("open", "closed"), "urgent": False}),
        ),
    ],
)
def test_mutually_exclusive_keys_share_an_index(key: Key, other: Key) -> None:
    two_keys(key, other)()


@pytest.mark.parametrize(
    ("key", "other", "words"),
    [
        (on_gsi1("OPEN#{team}", when=OPEN), on_gsi1("ALL#{team}"), "second and first share the attribute gsi1pk"),
        (
            on_gsi1("OPEN#{team}", when=OPEN),
            on_gsi1("HELD#{team}", when={"state": ["open", "held"]}),
            "second and first share the attribute gsi1pk",
        ),
        (
            on_gsi1("OPEN#{team}", when=OPEN),
            on_gsi1("URGENT#{team}", when={"urgent": True}),
            "second and first share the attribute gsi1pk",
        ),
        (
            on_gsi1("T#{team}", when=OPEN),
            on_gsi1("T#{team}", "CLOSED#{ticket_id}", when=CLOSED),
            "the key can equal that of first in the same index, GSI1",
        ),
    ],
)
def test_keys_that_are_not_mutually_exclusive_require_separate_attributes(key: Key, other: Key, words: str) -> None:
    place, message, hint = told(two_keys(key, other))
    assert (place, message.startswith(words)) == ("Ticket.second", True), message
    assert "mutually exclusive" in str(hint) or "different constant" in str(hint)


def test_three_keys_on_one_index_must_be_mutually_exclusive() -> None:
    """The error is reported for each pair of keys."""

    def define() -> None:
        class Crowded(Entity):
            crowded_id: str
            team: str
            state: Literal["open", "closed"] = "open"
            primary = Key("CROWDED#{crowded_id}", "HEAD")
            opened = Key("OPEN#{team}", "{crowded_id}", index=GSI1, when=OPEN)
            closed = Key("CLOSED#{team}", "{crowded_id}", index=GSI1, when=CLOSED)
            whole = Key("ALL#{team}", "{crowded_id}", index=GSI1)

        class Wrong(Design):
            table = Table("crowded", indexes=[GSI1], entities=[Crowded])

    with pytest.raises(DesignError) as refusal:
        define()
    assert [fault.place for fault in refusal.value.errors] == ["Crowded.whole", "Crowded.whole"]


def test_diff_compares_keys_that_share_an_index_by_their_attribute_names() -> None:
    def tickets(closed: str) -> type[Design]:
        class Ticket(Entity):
            ticket_id: str
            team: str
            state: Literal["open", "closed"] = "open"

            primary = Key("TICKET#{ticket_id}", "HEAD")
            done = on_gsi1(closed, when=CLOSED)
            opened = on_gsi1("OPEN#{team}", when=OPEN)

        class Tickets(Design):
            table = Table("tickets", indexes=[GSI1], entities=[Ticket])

        return Tickets

    before, after = tickets("CLOSED#{team}"), tickets("DONE#{team}")
    assert [(change.code, change.place) for change in entity_changes(before.compiled, after.compiled)] == [
        ("key-changed", "Tickets.Ticket.done")
    ]
    assert list(entity_changes(before.compiled, before.compiled)) == []


class Visits(Design):
    table = TABLE

    @read("V1", key=Visit.by_country)
    def by_country(self, page: str) -> list[Visit]: ...

    @read("V2", key=Visit.by_length)
    def by_length(self, page: str, newest_first: bool = True) -> list[Visit]: ...

    @read("V3", key=Visit.primary)
    def in_turn(self, page: str, newest_first: bool) -> list[Visit]: ...

    @read("V4", key=Visit.by_length, order_by="seconds")
    def longest(self, page: str, newest_first: bool) -> Visit | None: ...


def index_of(pattern: ReadPattern) -> str | None:
    assert isinstance(pattern.plan, QueryPlan)
    return pattern.plan.index.name if pattern.plan.index else None


def test_a_call_can_choose_a_key_by_its_name() -> None:
    assert [index_of(pattern) for pattern in Visits.compiled.reads.values()] == ["GSI2", "GSI1", None, "GSI1"]
    others = {alternative.key: alternative.reason for alternative in explain(Visits, "by_country").others}
    assert others == {"Visit.primary": "key= selects another key", "Visit.by_length": "key= selects another key"}


def test_a_call_without_a_direction_uses_the_default_direction() -> None:
    pattern = Visits.compiled.reads["by_length"]
    plans = [pattern.as_called(arguments).plan for arguments in ({}, {"newest_first": True}, {"newest_first": False})]
    assert [isinstance(plan, QueryPlan) and plan.forward for plan in plans] == [False, False, True]


def test_explain_shows_the_direction_of_a_call() -> None:
    told_of = explain(Visits, "by_length")
    assert told_of.direction == "descending by seconds, number, or reversed, depending on newest_first"
    assert told_of.requests[0].parameters["ScanIndexForward"] is False
    asked = explain(Visits, "by_length", {"page": "a", "newest_first": "false"})
    assert asked.direction == "ascending by seconds, number"
    assert "ScanIndexForward" not in asked.requests[0].parameters


def test_the_rest_api_schema_includes_the_direction_parameter() -> None:
    parameters = {
        parameter["name"]: parameter
        for parameter in openapi(Asking.compiled)["paths"]["/api/jobs"]["get"]["parameters"]
    }
    assert parameters["newest_first"]["schema"] == {"type": "boolean", "default": True}
    assert parameters["newest_first"]["description"].startswith("Whether")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"key": "by_length"}, "key= takes the key of an entity, such as Ticket.by_project, not 'by_length'"),
        ({"order_by": 5}, "order_by= takes the name of a field, not 5"),
        ({"where": 5}, "where= takes a mapping of fields to values, or a filter expression, not 5"),
        ({"scan_index": "GSI1"}, "scan_index= takes an index, not 'GSI1'"),
        ({"total": 5}, "total= takes the name of a field, not 5"),
        ({"entity": 5}, "entity= takes an entity class or a list of entity classes, not 5"),
        ({"entity": [Visit, "Visit"]}, "entity= takes an entity class or a list of entity classes, not 'Visit'"),
        ({"through": {}}, "through= takes an entity class or a list of entity classes, not {}"),
        ({"through": 5}, "through= takes an entity class or a list of entity classes, not 5"),
        ({"through": [Other, Through(int)]}, "through= takes an entity class or a list of entity classes, not"),  # type: ignore[arg-type]
    ],
)
def test_decorator_arguments_of_wrong_types_are_rejected(given: dict[str, Any], message: str) -> None:
    def define() -> None:
        class Wrong(Design):
            table = TABLE

            @read("V1", **given)
            def visits(self, page: str) -> list[Visit]: ...

    place, problem, _ = told(define)
    assert (place, problem[: len(message)]) == ("Wrong.visits", message)


@pytest.mark.parametrize(
    ("annotation", "given"),
    [
        (int, "5"),
        (int, True),
        (int, 5.0),
        (str, 5),
        (bool, "true"),
        (float, "1.5"),
        (Decimal, "1.5"),
        (datetime, "2026-01-01T00:00:00Z"),
        (UUID, "00000000-0000-0000-0000-000000000007"),
        (Each[int], ["5"]),
        (Range[int], Range(ge="5")),
    ],
)
def test_calls_from_python_do_not_convert_string_arguments(annotation: Any, given: Any) -> None:
    """Arguments are converted from strings only on the command line and in the REST API."""

    def ask(self: Any, asked: Any) -> None: ...

    ask.__annotations__ = {"asked": annotation, "return": list[Visit]}
    signature = signature_of(ask, "Visits.ask", {})
    with pytest.raises(ArgumentError, match="asked"):
        signature.bind((given,), {})
    if not isinstance(given, bool | int | float | Range):
        assert signature.bind((given,), {}, strict=False)


def test_a_consistent_scan_reads_global_indexes_eventually_consistently() -> None:
    """The table is read with strong consistency, which DynamoDB doesn't support for global indexes."""
    local = Index("LOCAL", "pk", "lsk", local=True)

    class Held(Entity):
        name: str
        kind: str
        primary = Key("HELD#{name}", "HEAD")
        by_kind = Key("KIND#{kind}", "{name}", index=GSI1)
        in_order = Key("HELD#{name}", "{kind}", index=local)

    class Whole(Design):
        table = Table("whole", indexes=[GSI1, local])

        @read("W1", scan=True)
        def every(self) -> list[Held]: ...

        @read("W2", scan_index=GSI1)
        def by_kind(self) -> list[Held]: ...

        @read("W3", scan_index=local)
        def in_order(self) -> list[Held]: ...

    asked: dict[tuple[str, bool], Any] = {}
    for name, pattern in Whole.compiled.reads.items():
        plan: Any = pattern.plan
        for consistent in (False, True):
            reader = ScanReader(plan, Target("whole", Whole.table, consistent=consistent))
            asked[name, consistent] = reader.request({}).get("ConsistentRead")
    assert {place for place, told in asked.items() if told} == {("every", True), ("in_order", True)}
