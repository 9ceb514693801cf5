"""Tests of ``keyplan drift``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keyplan.store import Engine
from tests.cli.support import run

NOTES = """
from keyplan import Design, Entity, Index, Key, Number, Table, Ttl, read
BY_AUTHOR = Index("BY_AUTHOR", "author_pk", "author_sk")
BY_TAG = Index("BY_TAG", "tag_pk", "author_sk", projection=["author", "name"])
class Note(Entity):
    name: str
    author: str
    tag: str
    gone: Ttl | None = None
    primary = Key("NOTE#{name}", "META")
    by_author = Key("AUTHOR#{author}", "{name}", index=BY_AUTHOR)
    by_tag = Key("TAG#{tag}", "{name}", index=BY_TAG)
class Notes(Design):
    table = Table("notes", indexes=[BY_AUTHOR, BY_TAG])
    @read("N1")
    def note(self, name: str) -> Note | None: ...
    @read("N2")
    def by_author(self, author: str) -> list[Note]: ...
"""


@pytest.fixture
def design() -> str:
    Path("notes.py").write_text(NOTES)
    assert run("create", "notes.py:Notes").exit_code == 0
    return "notes.py:Notes"


def change(operation: str, **parameters: Any) -> None:
    with Engine.open("notes.db") as engine:
        engine.call(operation, {"TableName": "notes", **parameters})


def differences(design: str) -> tuple[int, list[dict[str, Any]]]:
    result = run("drift", design, "--json")
    return result.exit_code, json.loads(result.stdout)["differences"]


def test_drift_reports_no_differences_for_a_matching_table(design: str) -> None:
    result = run("drift", design)
    assert (result.exit_code, result.stdout) == (0, "The table notes in notes.db matches the design.\n")


def test_a_missing_index_is_an_error_and_an_extra_index_is_not(design: str) -> None:
    change("UpdateTable", GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "BY_AUTHOR"}}])
    another = {
        "IndexName": "OTHER",
        "KeySchema": [{"AttributeName": "o", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    change(
        "UpdateTable",
        AttributeDefinitions=[{"AttributeName": "o", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[{"Create": another}],
    )
    status, result = differences(design)
    assert status == 1
    assert [(element["place"], element["serious"]) for element in result] == [
        ("index BY_AUTHOR", True),
        ("index OTHER", False),
    ]
    assert run("create", design).exit_code == 0
    assert differences(design)[0] == 0
    shown = run("drift", design).stdout
    assert "index OTHER" in shown
    assert "remove it" in shown


def test_drift_reports_differences_in_projections_keys_and_ttl(design: str) -> None:
    for name in ("BY_AUTHOR", "BY_TAG"):
        change("UpdateTable", GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": name}}])
    narrow = {
        "IndexName": "BY_TAG",
        "KeySchema": [
            {"AttributeName": "tag_pk", "KeyType": "HASH"},
            {"AttributeName": "author_sk", "KeyType": "RANGE"},
        ],
        "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["author"]},
    }
    turned = {
        "IndexName": "BY_AUTHOR",
        "KeySchema": [{"AttributeName": "author_sk", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    types = [{"AttributeName": name, "AttributeType": "S"} for name in ("tag_pk", "author_sk")]
    for index in (narrow, turned):
        change("UpdateTable", AttributeDefinitions=types, GlobalSecondaryIndexUpdates=[{"Create": index}])
    change("UpdateTimeToLive", TimeToLiveSpecification={"Enabled": False, "AttributeName": "gone"})
    status, result = differences(design)
    assert status == 1
    assert {(element["place"], element["design"], element["table"]) for element in result} == {
        ("index BY_TAG", "projection of author, name", "projection of author"),
        ("index BY_AUTHOR", "author_pk (HASH), author_sk (RANGE)", "author_sk (HASH)"),
        ("expiry", "expiry by gone", "none"),
    }


def test_a_missing_table_or_file_is_an_error(design: str) -> None:
    missing = run("drift", design, "--db", "nowhere.db")
    assert missing.exit_code == 1
    assert not Path("nowhere.db").exists()
    with Engine.open("empty.db"):
        pass
    empty = run("drift", design, "--db", "empty.db", "--json")
    assert json.loads(empty.stdout)["error"]["code"] == "StoreError"


def test_drift_counts_items_with_stale_index_keys_and_unreadable_items(design: str) -> None:
    """The table's definition matches the design, but some items lack index attributes."""
    whole = {
        "pk": "NOTE#a", "sk": "META", "name": "a", "author": "x", "tag": "t",
        "author_pk": "AUTHOR#x", "author_sk": "a", "tag_pk": "TAG#t",
    }  # fmt: skip
    assert differences_with_items(design, whole) == (0, [])
    without = {name: value for name, value in whole.items() if name != "author_pk"}
    stale = {**whole, "pk": "NOTE#b", "name": "b", "author_sk": "b", "tag_pk": "TAG#u"}
    unreadable = {"pk": "NOTE#c", "sk": "META", "name": "c"}
    moved = {**whole, "pk": "NOTE#d"}
    code, found = differences_with_items(design, without, stale, unreadable, moved)
    assert (code, found) == (
        1,
        [
            ("Note", "1 of 4 can't be read"),
            ("Note.by_author", "1 of 4 are missing from BY_AUTHOR"),
            ("Note.by_tag", "1 of 4 are in BY_TAG with another key"),
            ("Note.primary", "1 of 4 are in the table with another key"),
        ],
    )


def differences_with_items(design: str, *items: dict[str, str]) -> tuple[int, list[tuple[str, str]]]:
    for item in items:
        change("PutItem", Item={name: {"S": value} for name, value in item.items()})
    result = run("drift", design, "--json", "--items", "100")
    return result.exit_code, [(each["place"], each["table"]) for each in json.loads(result.stdout)["differences"]]
