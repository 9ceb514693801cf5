"""Explained requests equal the requests of a call, no store is needed, and the descriptions are correct."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from keyplan import Add, Batch, Design, Entity, Key, Put, Table, Update, Writes, write
from keyplan.analysis.explain.explanation import Explanation, explain, explain_all
from keyplan.client.conversations import Request
from keyplan.errors import ArgumentError, KeyFieldError, ResponseError, UnknownPattern
from keyplan.web.openapi import openapi
from keyplan_systems.cms import Cms
from tests.contract.design import Everything
from tests.contract.test_existing_tables import App
from tests.web.library import Library

SYSTEMS = ("Blog", "Cms", "Papers", "Shop", "Social")


def design(name: str) -> type[Design]:
    if name in {"Library", "Everything"}:
        return Library if name == "Library" else Everything
    design_class: type[Design] = getattr(importlib.import_module(f"keyplan_systems.{name.lower()}.design"), name)
    return design_class


class Listening:
    """A transport that forwards requests to the store and records them."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.asked: list[Request] = []

    def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(Request(operation, json.loads(json.dumps(parameters))))
        result: dict[str, Any] = self.inner.call(operation, parameters)
        return result

    def call_all(self, requests: list[Request]) -> list[dict[str, Any]]:
        return [self.call(*request) for request in requests]


@pytest.fixture
def library() -> Iterator[Library]:
    with Library.open(":memory:") as opened:
        yield opened


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("book", {"isbn": "c#$"}),
    ("books", {"isbn": ["1", "2", "1"]}),
    ("on_shelf", {"shelf": "s", "limit": "3"}),
    ("on_shelf", {"shelf": "s", "title": "T#"}),
    ("on_shelves", {"shelf": ["a", "b", "c"]}),
    ("priced", {"kind": "novel", "price_cents": {"gt": 1, "lt": 9}}),
    ("with_copies", {"isbn": "1"}),
    ("with_newest", {"isbn": "1"}),
    ("loans", {"reader_id": "r", "at": {"ge": "2026-01-01T00:00:00Z"}}),
    ("events", {"day": "2026-01-01"}),
    ("all_events", {"day": "2026-01-01"}),
    ("expensive", {"least": 5}),
    ("copy", {"isbn": "1", "number": 7}),
    ("books_lent", {"reader_id": "r"}),
    ("copies_lent", {"reader_id": "r"}),
    ("reader_by_email", {"email": "e"}),
    ("add_copies", {"isbn": "1", "numbers": [1, 2]}),
    ("remove_book", {"isbn": "1"}),
    ("lend", {"isbn": "1", "reader_id": "r", "at": "2026-01-01T00:00:00Z"}),
    ("count_pages", {"sizes": {}}),
]


@pytest.mark.parametrize(("pattern", "arguments"), CALLS)
def test_explained_requests_equal_requests_of_a_call(library: Library, pattern: str, arguments: dict[str, Any]) -> None:
    """On an empty table, a read through a junction or claim sends one request; the explanation also has the second."""
    listening = Listening(library.store.transport)
    library.store.transport = listening
    try:
        if pattern == "all_events":
            bound = library.compiled.reads[pattern].signature.bind((), arguments, strict=False)
            list(library.stream(pattern, (), bound))
        else:
            library.call(pattern, arguments)
    except ResponseError:
        pass
    explained = [_without_token(request) for request in explain(Library, pattern, arguments).requests]
    asked = [_without_token(request) for request in listening.asked]
    goes_on = pattern in {"books_lent", "copies_lent", "reader_by_email"}
    assert explained[: len(asked)] == asked
    assert len(explained) == len(asked) + goes_on


def _without_token(request: Request) -> Request:
    return Request(request.operation, {**request.parameters, "ClientRequestToken": None})


@pytest.mark.parametrize("name", [*SYSTEMS, "Library", "Everything"])
def test_every_pattern_of_every_design_is_explained(name: str) -> None:
    explanations = explain_all(design(name))
    if name not in SYSTEMS:
        pass
    assert [explanation.pattern for explanation in explanations] == list(design(name).compiled.patterns)
    for explanation in explanations:
        assert explanation.symbolic
        assert explanation.proof
        text = json.dumps(explanation.as_json(), ensure_ascii=False)
        assert not {"\ue000", "\ue001"} & set(text)
        assert str(10**36)[:30] not in text
        if explanation.kind == "read":
            assert explanation.requests
            assert explanation.key_condition
            operations = {request.operation for request in explanation.requests}
            assert operations == set(explanation.operation.split(", "))


def of(pattern: str, arguments: dict[str, Any] | None = None) -> Explanation:
    return explain(Library, pattern, arguments)


def test_the_explanation_shows_parameter_names_for_missing_values() -> None:
    articles = explain(Cms, "articles_by_author")
    assert articles.key_condition == 'gsi1pk = AUTHOR#{author_id}, begins_with(gsi1sk, "ARTICLE#")'
    assert articles.requests[0].parameters["ExpressionAttributeValues"] == {
        ":p0": {"S": "AUTHOR#{author_id}"},
        ":s0": {"S": "ARTICLE#"},
    }
    assert (articles.index, articles.key, articles.limit) == ("GSI1", "Article.by_author", 10)
    assert articles.direction == "descending by article_id"


@pytest.mark.parametrize(
    ("pattern", "condition"),
    [
        ("book", "pk = BOOK#{isbn}, sk = #META"),
        ("books", "pk = BOOK#{each isbn}, sk = #META"),
        ("on_shelves", "shelf_pk = SHELF#{each shelf}"),
        ("on_shelf", 'shelf_pk = SHELF#{shelf}, begins_with(shelf_sk, "{title}")'),
        ("priced", "price_pk = KIND#{kind}, price_sk BETWEEN {price_cents.ge} AND {price_cents.le}"),
        ("loans", 'pk = READER#{reader_id}#LOANS, sk BETWEEN "{at.ge}" AND "{at.le}$"'),
        ("copy", "pk = BOOK#{isbn}, sk = COPY#{number:04d:desc}"),
        ("events", "pk = EVENTS#{day}#0…#3"),
        ("reader_by_email", "pk = EMAIL#{email}, sk = CLAIM → pk = READER#{Reader.reader_id}, sk = META"),
        ("books_lent", "pk = READER#{reader_id}#LOANS → pk = BOOK#{Loan.isbn}, sk = #META"),
        ("expensive", "none: every item of the table is read"),
    ],
)
def test_conditions_are_explained_with_parameter_names(pattern: str, condition: str) -> None:
    assert of(pattern).key_condition == condition


def test_an_explained_filter_keeps_the_types_of_its_parameters() -> None:
    expensive = of("expensive")
    assert expensive.filter == (
        "price_cents > {least} OR attribute_not_exists(price_cents) AND NOT attribute_exists(price_sk)"
    )
    assert expensive.requests[0].parameters["ExpressionAttributeValues"] == {":least": {"N": "{least}"}}
    assert "scan" in expensive.proof


def test_the_explanation_of_a_write_includes_automatic_conditions() -> None:
    class Task(Entity):
        number: int
        stars: int = 5

        primary = Key("TASK#{number}", "HEAD")

    class Tasks(Design):
        table = Table("tasks", entities=[Task])

        @write("W1")
        def star(self, number: int) -> Writes:
            yield Update(Task, number=number).set(stars=Add(1)).only_if("stars < :most", most=9)

    (request,) = explain(Tasks, "star", {"number": 1}).requests
    assert "attribute_not_exists(#stars)" in request.parameters["ConditionExpression"]


def test_a_key_condition_shows_argument_values_and_field_names() -> None:
    lent = of("books_lent", {"reader_id": "r#1", "limit": 2})
    assert lent.key_condition == "pk = READER#r$c1#LOANS → pk = BOOK#{Loan.isbn}, sk = #META"
    assert not lent.symbolic


def test_the_explanation_of_an_empty_range_has_no_request() -> None:
    nothing = of("priced", {"kind": "novel", "price_cents": {"gt": 9, "lt": 1}})
    assert nothing.requests == ()
    assert nothing.note == "The range is empty, so no request is sent."


@pytest.mark.parametrize(
    ("pattern", "operation", "asks"),
    [
        ("add_book", "PutItem", ()),
        ("add_copies", "TransactWriteItems", ()),
        ("remove_book", "DeleteItem", ()),
        ("register", "TransactWriteItems", ()),
        ("lend", "PutItem", ("book",)),
        ("reprice", "UpdateItem", ()),
        ("count_pages", "none", ()),
        ("add_copy", "TransactWriteItems", ()),
    ],
)
def test_the_explanation_of_a_write_lists_its_reads(pattern: str, operation: str, asks: tuple[str, ...]) -> None:
    write = of(pattern)
    assert (write.operation, write.asks, write.requests) == (operation, asks, ())


def test_the_explanation_of_a_write_includes_its_helper_functions() -> None:
    publish = explain(Cms, "publish")
    assert publish.asks == ("article",)
    assert "(Create, Put, Update, Delete)" in publish.proof
    delete = explain(Cms, "delete_article")
    assert delete.operation == "TransactWriteItems, BatchWriteItem"


class Position(Entity):
    vehicle_id: str
    at: datetime

    primary = Key("VEHICLE#{vehicle_id}", "{at}")


class Tracks(Design):
    table = Table("tracks", entities=[Position])

    @write("T1")
    def report(self, positions: list[Position]) -> Writes:
        yield Batch([Put(position) for position in positions])


def test_a_write_that_yields_one_batch_is_explained_as_a_batch() -> None:
    """The explanation has one batch request, and no separate requests for its puts."""

    report = explain(Tracks, "report")
    assert report.operation == "BatchWriteItem"
    assert report.proof == "The Batch is sent in BatchWriteItem requests of up to 25 items, which aren't atomic."


def test_the_explanation_of_a_write_assumes_an_empty_table() -> None:
    lend = of("lend", {"isbn": "1", "reader_id": "r", "at": "2026-01-01T00:00:00Z"})
    (read,) = lend.requests
    assert (read.operation, read.parameters["ConsistentRead"]) == ("GetItem", True)
    assert lend.note is not None
    assert "empty table" in lend.note
    assert "there is no book '1'" in lend.note


def test_an_exception_in_the_body_of_an_explained_write_is_reported() -> None:
    broken = of("broken", {"title": "T"})
    assert broken.note is not None
    assert "RuntimeError" in broken.note


def test_a_compiled_design_can_be_explained_without_its_class() -> None:
    assert explain(Library.compiled, "book") == explain(Library, "book")
    assert explain(Library.compiled, "lend").asks == ("book",)


def test_unknown_patterns_and_invalid_arguments_are_rejected() -> None:
    with pytest.raises(UnknownPattern, match="no access pattern 'boook'"):
        of("boook")
    with pytest.raises(ArgumentError):
        of("book", {})
    with pytest.raises(KeyFieldError):
        of("book", {"isbn": ""})


def test_stored_formats_in_keys_are_explained() -> None:
    """The formats of existing tables (case-folded strings, stored formats and discriminators), and HTTP parameters."""
    proofs = {explanation.pattern: explanation.proof for explanation in explain_all(App)}
    assert "project is in lower case in the key" in proofs["worth"]
    assert "sent_at is in the key in its stored format, StoredAs('ms')" in proofs["sent"]
    assert proofs["counts_of"].endswith("an item without __edb_e__ = count belongs to another entity.")
    (project, *_) = openapi(App.compiled)["paths"]["/api/worth"]["get"]["parameters"]
    assert project["description"] == "Case is ignored."
