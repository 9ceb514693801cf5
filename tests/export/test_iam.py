"""The exported IAM policy allows exactly the requests of the access patterns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from cfnlint.api import lint  # type: ignore[import-untyped]
from cfnlint.config import ManualArgs  # type: ignore[import-untyped]

from keyplan import Batch, Check, Create, Delete, Design, Entity, Key, Put, Table, Unique, Update, Writes, read, write
from keyplan.analysis.write_analysis.analysis import WriteAnalyzer
from keyplan.errors import KeyplanError
from keyplan.formats.iam import Place, policy
from keyplan.store import Engine
from tests.explain.test_explain import CALLS
from tests.export.designs import NAMES, design
from tests.web.library import Library

PARTS = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}
ARN = "arn:aws:dynamodb:*:*:table/"


def policy_of(cls: type[Design]) -> dict[str, Any]:
    compiled = cls.compiled
    analyzer = WriteAnalyzer(compiled, cls)
    writes = {name: analyzer.analysis(pattern).rights for name, pattern in compiled.writes.items()}
    return policy(compiled, writes, Place())


def allowed(cls: type[Design]) -> set[tuple[str, str]]:
    """Every action that the policy allows, with each of its resources."""
    return {
        (action.removeprefix("dynamodb:"), resource.removeprefix(f"{ARN}{cls.compiled.table.name}"))
        for statement in policy_of(cls)["Statement"]
        for action in statement["Action"]
        for resource in statement["Resource"]
    }


def needed(operation: str, parameters: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The permissions that a request requires."""
    if operation == "TransactWriteItems":
        yield from ((PARTS[kind], "") for item in parameters["TransactItems"] for kind in item)
    elif operation == "TransactGetItems":
        yield "GetItem", ""
    else:
        index = parameters.get("IndexName")
        yield operation, f"/index/{index}" if index else ""


class Listening:
    """A transport that records the permissions that its requests require."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.needed: set[tuple[str, str]] = set()

    def call(self, operation: str, parameters: dict[str, Any]) -> Any:
        self.needed.update(needed(operation, parameters))
        return self.inner.call(operation, parameters)

    def call_all(self, requests: Any) -> list[Any]:
        return [self.call(*request) for request in requests]


def test_the_policy_allows_all_requests_of_a_design() -> None:
    """Each pattern runs on a filled store, so that junctions and claims send their second request, too."""
    given: list[tuple[str, dict[str, Any]]] = [
        ("add_book", {"book": {"isbn": "1", "title": "T"}}),
        ("register", {"reader": {"reader_id": "r", "email": "e"}}),
        ("lend", {"isbn": "1", "reader_id": "r", "at": "2026-01-01T00:00:00Z"}),
        ("add_copy", {"isbn": "1", "number": 2}),
        ("reprice", {"isbn": "1", "price_cents": 1, "expected": 0}),
        ("log", {"event": {"event_id": "e", "at": "2026-01-01T00:00:00Z"}}),
        ("with_newest", {"isbn": "1"}),
    ]
    with Library.open(":memory:") as library:
        listening = Listening(library.store.transport)
        library.store.transport = listening
        for pattern, arguments in given:
            library.call(pattern, arguments)
        for pattern, arguments in CALLS:
            with suppress(KeyplanError):  # some read missing items
                library.call(pattern, arguments)
        assert listening.needed - allowed(Library) == set()
        unused = allowed(Library) - listening.needed
    assert unused == {("DescribeTable", "")}, "asked when a design is opened"


def test_the_policy_allows_opening_a_design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()
    call = Engine.call

    def listening(self: Engine, operation: str, parameters: dict[str, Any]) -> Any:
        asked.add(operation)
        return call(self, operation, parameters)

    with Library.open(str(tmp_path / "library.db")):
        monkeypatch.setattr(Engine, "call", listening)
        Library.open(str(tmp_path / "library.db")).close()
    assert {(operation, "") for operation in asked} <= allowed(Library)


@pytest.mark.parametrize("name", NAMES)
def test_the_policy_allows_only_indexes_that_reads_use(name: str) -> None:
    cls = design(name)
    used = {f"/index/{index}" for read_pattern in cls.compiled.reads.values() for index in _indexes(read_pattern.plan)}
    assert {resource for _, resource in allowed(cls) if resource} == used


def _indexes(plan: Any) -> Iterator[str]:
    for part in (plan, *getattr(plan, "also", ())):
        for value in (part, getattr(part, "junction", None), getattr(part, "end", None)):
            index = getattr(value, "index", None)
            if index is not None:
                yield index.name


@pytest.mark.parametrize("name", NAMES)
def test_the_exported_iam_policy_is_valid(name: str) -> None:
    """cfn-lint checks the policy against the grammar of IAM."""
    resource = {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": policy_of(design(name))}}
    template = json.dumps({"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"Policy": resource}})
    result = [str(value) for value in lint(template, config=ManualArgs(regions=["eu-west-1"]))]
    assert result == []


class User(Entity):
    user_id: str
    email: str

    primary = Key("USER#{user_id}")
    email_claim = Unique("EMAIL#{email}")


class Note(Entity):
    note_id: str

    primary = Key("NOTE#{note_id}")

    def removal(self) -> Delete:
        return Delete(self)


def checked(note: Note) -> list[Check]:
    """A helper that isn't a generator."""
    return [Check(element) for element in [note]]


class Small(Design):
    table = Table("small", sort=None)

    @read("R1")
    def note(self, note_id: str) -> Note | None: ...

    @write("W1")
    def keep(self, note: Note) -> Writes:
        yield Put(note)

    @write("W2")
    def keep_checked(self, note: Note, other: Note) -> Writes:
        yield from checked(note)
        yield Create(other)

    @write("W3")
    def forget(self, note: Note) -> Writes:
        yield note.removal()

    @write("W4")
    def rename(self, user: User, email: str) -> Writes:
        yield Update(user, email=email)

    @write("W5")
    def forget_all(self, notes: list[Note]) -> Writes:
        yield Batch([Delete(note) for note in notes])


@pytest.mark.parametrize(
    ("pattern", "rights"),
    [
        ("keep", ("PutItem",)),
        ("keep_checked", ("ConditionCheckItem", "PutItem")),
        ("forget", ("DeleteItem",)),
        ("rename", ("DeleteItem", "PutItem", "UpdateItem")),
        ("forget_all", ("BatchWriteItem", "DeleteItem")),
    ],
)
def test_a_write_requires_the_permissions_of_its_actions(pattern: str, rights: tuple[str, ...]) -> None:
    """Actions of the write's helper functions and actions on claims are included."""
    assert WriteAnalyzer(Small.compiled, Small).analysis(Small.compiled.writes[pattern]).rights == rights


def test_the_policy_of_a_design_without_indexes_has_one_statement() -> None:
    (statement,) = policy_of(Small)["Statement"]
    assert statement["Resource"] == ["arn:aws:dynamodb:*:*:table/small"]
    assert "dynamodb:GetItem" in statement["Action"]
    assert "dynamodb:Query" not in statement["Action"]
