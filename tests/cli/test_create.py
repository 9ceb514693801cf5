"""Tests of ``keyplan create``."""

from __future__ import annotations

from pathlib import Path

from keyplan import Design, Entity, Key, Table, read
from keyplan.store import Engine
from keyplan_systems.cms import Article, Cms
from tests.cli.support import LIBRARY, run


def test_create_is_idempotent() -> None:
    first = run("create", "cms", "--db", "x.db")
    assert (first.exit_code, first.output) == (
        0,
        "Created the table cms in x.db, with GSI1.\nTime to live (TTL) is enabled on the attribute expires_at.\n",
    )
    with Cms.open("x.db", create=False) as cms:
        cms.create_article(Article(title="T", slug="t", author_id="a"))
    again = run("create", "cms", "--db", "x.db")
    assert (again.exit_code, again.output) == (0, "The table cms already exists in x.db, with all of its indexes.\n")


def test_create_enables_the_ttl_of_the_design() -> None:
    assert "Time to live (TTL) is enabled on the attribute expires_at." in run("create", LIBRARY).output
    assert "expire" not in run("create", LIBRARY).output
    with Engine.open("library.db") as engine:
        state = engine.call("DescribeTimeToLive", {"TableName": "library"})["TimeToLiveDescription"]
    assert state["AttributeName"] == "expires_at"


NOTES = """
from keyplan import Design, Entity, Index, Key, Table, read
BY_AUTHOR = Index("BY_AUTHOR", "author_pk", "author_sk")
BY_TAG = Index("BY_TAG", "tag_pk", "author_sk")
class Note(Entity):
    name: str
    author: str
    tag: str
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


class Note(Entity):
    name: str
    author: str
    tag: str

    primary = Key("NOTE#{name}", "META")


class Notes(Design):
    """The design before the indexes were added."""

    table = Table("notes")

    @read("N1")
    def note(self, name: str) -> Note | None:
        """A note."""
        ...


def test_create_adds_missing_indexes_and_backfills_them(folder: Path) -> None:
    with Notes.open("notes.db") as notes:
        notes.create(Note(name="1", author="a", tag="t"))
    (folder / "design.py").write_text(NOTES)
    refused = run("call", "design.py", "by_author", "author=a", "--db", "notes.db")
    assert refused.exit_code == 1
    assert "run keyplan create" in refused.stderr
    added = run("create", "design.py", "--db", "notes.db")
    assert added.exit_code == 0
    assert added.output.splitlines() == [
        "Added the index BY_AUTHOR to the table notes in notes.db.",
        "Added the index BY_TAG to the table notes in notes.db.",
    ]
    assert run("call", "design.py", "by_author", "author=a", "--db", "notes.db").exit_code == 0


def test_create_rejects_a_table_with_a_different_primary_key(folder: Path) -> None:
    with Notes.open("notes.db"):
        pass
    (folder / "other.py").write_text(
        "from keyplan import Design, Entity, Key, Table, read\n"
        "class Note(Entity):\n    name: str\n    primary = Key('NOTE#{name}')\n"
        "class Notes(Design):\n    table = Table('notes', partition='id', sort=None)\n"
        "    @read('N1')\n    def note(self, name: str) -> Note | None: ...\n"
    )
    result = run("create", "other.py")
    assert result.exit_code == 1
    assert "doesn't match the design" in result.stderr


def test_create_does_not_change_a_table_of_another_design() -> None:
    """A command with a wrong --db must not damage another application's data."""
    assert run("create", "cms", "--db", "x.db").exit_code == 0
    with Engine.open("x.db") as engine:
        table = engine.call("DescribeTable", {"TableName": "cms"})["Table"]
        request = {name: table[name] for name in ("KeySchema", "AttributeDefinitions")}
        index = {name: table["GlobalSecondaryIndexes"][0][name] for name in ("IndexName", "KeySchema", "Projection")}
        billing = {"BillingMode": "PAY_PER_REQUEST"}
        engine.call("CreateTable", {"TableName": "shop", "GlobalSecondaryIndexes": [index], **request, **billing})
    result = run("create", "shop", "--db", "x.db")
    assert result.exit_code == 1
    assert "the table shop in x.db doesn't match the design" in result.stderr
    with Engine.open("x.db") as engine:
        left = engine.call("DescribeTable", {"TableName": "shop"})["Table"]
        assert [value["IndexName"] for value in left["GlobalSecondaryIndexes"]] == ["GSI1"]
        state = engine.call("DescribeTimeToLive", {"TableName": "shop"})["TimeToLiveDescription"]
    assert state["TimeToLiveStatus"] == "DISABLED"


def test_a_database_path_in_a_missing_folder_is_an_error() -> None:
    result = run("create", "cms", "--db", "none/cms.db")
    assert result.exit_code == 1
    assert "folder" in result.stderr
