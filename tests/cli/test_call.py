"""Tests of ``keyplan call``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keyplan_systems.cms import Article, Cms
from tests.cli.support import LIBRARY, json_of, run
from tests.web.library import Book, Library


@pytest.fixture
def article() -> Article:
    with Cms.open("cms.db") as cms:
        for number in range(3):
            made = cms.create_article(
                Article(title=f"Keys {number}", slug=f"keys-{number}", author_id="c#", tags={"b", "ä"}, excerpt="E")
            )
    return made


def test_an_entity_is_printed_as_text_and_json(article: Article) -> None:
    shown = run("call", "cms", "article", f"article_id={article.article_id}")
    assert shown.exit_code == 0
    assert "Keys 2" in shown.output
    assert "b, ä" in shown.output
    result = json_of("call", "cms", "article", f"article_id={article.article_id}")
    assert (result["title"], result["tags"]) == ("Keys 2", ["b", "ä"])


def test_a_page_is_printed_as_a_table_with_the_command_for_the_next_page(article: Article) -> None:
    shown = run("call", "cms", "articles_by_author", "author_id=c#", "limit=2")
    assert "article_id" in shown.output
    assert "2 items" in shown.output
    cursor = shown.output.rpartition("cursor=")[2].strip()
    rest = json_of("call", "cms", "articles_by_author", "author_id=c#", "limit:=2", f"cursor={cursor}")
    assert [item["title"] for item in rest["items"]] == ["Keys 0"]
    assert rest["cursor"] is None


def test_a_read_that_finds_no_item_prints_the_word_nothing(article: Article) -> None:
    assert run("call", "cms", "article", "article_id=none").output == "nothing\n"
    assert json_of("call", "cms", "article", "article_id=none") is None
    assert run("call", "cms", "articles_by_tag", "tag=none").output == "nothing\n"


def test_a_write_accepts_json_values_and_repeated_parameter_names(article: Article) -> None:
    new = json_of("call", "cms", "create_article", 'article:={"title": "=:=", "slug": "s", "author_id": "ada"}')
    assert new["title"] == "=:="
    changed = json_of("call", "cms", "retag", f"article_id={new['article_id']}", "tags=z", "tags=a=b", "tags=c#")
    assert changed["tags"] == ["a=b", "c#", "z"]
    assert json_of("call", "cms", "retag", f"article_id={new['article_id']}", 'tags:=["x"]')["tags"] == ["x"]
    assert run("call", "cms", "delete_article", f"article_id={new['article_id']}").output == "Done.\n"


def test_call_accepts_range_conditions_and_lists_and_prints_iterators() -> None:
    with Library.open("library.db") as library:
        for number in range(4):
            library.add_book(Book(isbn=str(number), title="T", price_cents=number))
    result = json_of("call", LIBRARY, "priced", "kind=novel", "price_cents.gt=0", "price_cents.le=2")
    assert [item["isbn"] for item in result["items"]] == ["1", "2"]
    result = json_of("call", LIBRARY, "books", "isbn=3", "isbn=0")
    assert [item["isbn"] for item in result["items"]] == ["3", "0"]
    for number in range(3):
        json_of("call", LIBRARY, "log", f'event:={{"event_id": "{number}", "at": "2026-01-01T00:00:00Z"}}')
    lines = run("call", LIBRARY, "all_events", "day=2026-01-01", "--json").output.splitlines()
    assert [json.loads(line)["event_id"] for line in lines] == ["0", "1", "2"]
    assert "3 items" in run("call", LIBRARY, "all_events", "day=2026-01-01").output
    json_of("call", LIBRARY, "add_copies", "isbn=3", "numbers=1", "numbers=2")
    whole = run("call", LIBRARY, "with_copies", "isbn=3").output
    assert "copies" in whole
    assert "2 items" in whole


def test_all_errors_of_a_call_are_printed_to_stderr(article: Article) -> None:
    result = run("call", "cms", "articles_by_author", "autor=1", "limit=0", "limit=1", "x", "y:={")
    assert result.exit_code == 2
    assert result.stdout == ""
    for literal in (
        "autor: unknown parameter (did you mean author_id?)",
        "author_id: missing",
        "limit: duplicate",
        "limit: input should be greater than or equal to 1",
        "x: isn't name=value",
        "y: isn't JSON",
    ):
        assert literal in result.stderr


def test_errors_in_json_are_printed_to_stdout(article: Article) -> None:
    result = run("call", "cms", "artcle", "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["hint"] == "did you mean article?"
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (["article", "article_id="], 2, "KeyFieldError"),
        (["articles_by_author", "author_id=1", "cursor=x"], 2, "CursorError"),
        (["publish", "article_id=none", "body=B", "created_by=me"], 1, "ItemNotFound"),
        (["publish", "article_id=none", f"body={'x' * 100}", "created_by"], 2, "ArgumentError"),
        (["create_article", "article=text"], 2, "ArgumentError"),
        (["create_article", 'article:={"title": ""}'], 2, "ArgumentError"),
    ],
)
def test_the_exit_status_differs_for_invalid_input_and_rejected_writes(
    article: Article, arguments: list[str], status: int, code: str
) -> None:
    result = run("call", "cms", *arguments, "--json")
    assert result.exit_code == status
    assert json.loads(result.stdout)["error"]["code"] == code


def test_a_missing_store_is_not_created(folder: Path) -> None:
    result = run("call", "cms", "article", "article_id=1")
    assert result.exit_code == 1
    assert "cms.db" in result.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "told"), [(b"not a database at all" * 100, "isn't"), (b"SQLite format 3\x00" + b"\xff" * 4000, "")]
)
def test_a_file_that_is_not_a_store_is_rejected_and_left_unchanged(folder: Path, content: bytes, told: str) -> None:
    (folder / "cms.db").write_bytes(content)
    result = run("call", "cms", "article", "article_id=1")
    assert result.exit_code == 1
    assert told in result.stderr
    assert "Traceback" not in result.output
    assert (folder / "cms.db").read_bytes() == content


def test_the_store_is_set_by_an_option_or_an_environment_variable(article: Article, folder: Path) -> None:
    (folder / "cms.db").rename(folder / "other.db")
    for name in ("cms.db-wal", "cms.db-shm"):
        assert not (folder / name).exists()
    asked = ("call", "cms", "article", f"article_id={article.article_id}")
    assert run(*asked, "--db", "other.db").exit_code == 0
    assert run(*asked, env={"KEYPLAN_DB": "other.db"}).exit_code == 0
    assert run(*asked).exit_code == 1


def test_control_characters_in_stored_text_are_escaped() -> None:
    with Library.open("library.db") as library:
        library.add_book(Book(isbn="1", title="\x1b[31mred\x07\r\x9b2J[bold]x[/bold]"))
    for arguments in (["book", "isbn=1"], ["on_shelf", "shelf=none"]):
        shown = run("call", LIBRARY, *arguments).output
        assert "[bold]x[/bold]" in shown
        assert not {"\x1b", "\x07", "\r", "\x9b"} & set(shown)
    result = run("call", LIBRARY, "book", "isbn=\x1b[2J", "\udcff=1")
    assert "\x1b" not in result.output


def test_an_argument_that_is_not_valid_unicode_is_an_error() -> None:
    result = run("call", LIBRARY, "book", "isbn=\udcff", "--json")
    assert result.exit_code in {1, 2}
    assert "error" in json.loads(result.stdout)
