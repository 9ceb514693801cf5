# mypy: disable-error-code="empty-body"
"""Bugs that other libraries have in reads, and that Keyplan doesn't have."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from keyplan import Cursor, Design, Entity, Key, Page, Table, read
from keyplan.errors import ArgumentError, DesignError, UnknownPattern
from tests.known_bugs_elsewhere.design import Article, Magazine, Mark, Note, Watched, put_foreign


def day(number: int) -> date:
    return date(2026, 1, number)


def fill_partition(magazine: Magazine, notes: int) -> None:
    """Write notes, and other items before, between and after the notes."""
    for number in range(1, notes + 1):
        magazine.put(Note(owner="o", day=day(number), name=f"note {number}"))
        put_foreign(magazine, pk="NOTES#o", sk=f"{day(number)}", name="no note: half a key")
        put_foreign(magazine, pk="NOTES#o", sk=f"2026-1-{number}#x", name="no note: another date")
    magazine.put(Mark(owner="o", name="a mark"))
    put_foreign(magazine, pk="NOTES#o", sk="#", what="none of ours")
    put_foreign(magazine, pk="NOTES#o", sk="zzz", what="none of ours")


def test_a_query_of_one_entity_skips_items_of_other_entities(magazine: Magazine) -> None:
    """pydynox and pydynantic return items of other entities as the queried entity, or raise an error."""
    fill_partition(magazine, 3)
    page = magazine.notes("o")
    assert [note.name for note in page] == ["note 1", "note 2", "note 3"]
    assert {type(note) for note in page} == {Note}
    assert page.cursor is None


def test_a_query_of_an_index_skips_items_of_other_entities(magazine: Magazine) -> None:
    """pydynox and pydynantic also return items of other entities from an index."""
    magazine.put(Article(article_id="1"))
    put_foreign(magazine, pk="X#1", sk="#HEAD", gsi1pk="AUTHOR#Ada", gsi1sk="draft#0")
    put_foreign(magazine, pk="ARTICLE#9", sk="OTHER", gsi1pk="AUTHOR#Ada", gsi1sk="draft#9")
    assert [article.article_id for article in magazine.articles_by("Ada")] == ["1"]


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_a_limit_counts_only_returned_items(magazine: Magazine, limit: int) -> None:
    """The limit of PynamoDB counts evaluated items in some methods and returned items in others."""
    fill_partition(magazine, 7)
    assert pages_of(magazine.notes, "o", limit=limit) == chunks([f"note {number}" for number in range(1, 8)], limit)


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_a_limit_counts_only_items_that_match_the_filter(magazine: Magazine, limit: int) -> None:
    """The limit of PynamoDB counts items before the filter: a page of 10 may be empty."""
    for number in range(250):
        magazine.put(Article(article_id=f"{number:03d}", title=f"{number}", visits=number % 50))
        if number % 10 == 0:
            put_foreign(magazine, pk=f"X#{number}", sk="-", gsi1pk="AUTHOR#Ada", gsi1sk=f"draft#{number:03d}x")
    wanted = [str(number) for number in range(250) if number % 50 >= 49]
    assert len(wanted) == 5
    assert pages_of(magazine.visited, "Ada", least=49, limit=limit) == chunks(wanted, limit)


def pages_of(pattern: Any, *args: Any, limit: int, **kwargs: Any) -> list[list[str]]:
    """Return the names on each page."""
    pages: list[list[str]] = []
    cursor: Cursor | None = None
    while True:
        page: Page[Any] = pattern(*args, limit=limit, cursor=cursor, **kwargs)
        pages.append([value.name if isinstance(value, Note) else value.title for value in page])
        cursor = page.cursor
        if cursor is None:
            return pages


def chunks(names: list[str], size: int) -> list[list[str]]:
    return [names[start : start + size] for start in range(0, len(names), size)]


def test_a_missing_key_never_causes_a_scan() -> None:
    """ElectroDB silently scans the table when a field of the key is missing."""

    class Photo(Entity):
        photo_id: str
        place: str

        primary = Key("PHOTO#{photo_id}", "HEAD")

    with pytest.raises(DesignError, match=r"no key supports this access pattern \(place\) without a scan"):

        class Album(Design):
            table = Table("album")

            @read("P1")
            def photos_of(self, place: str) -> list[Photo]: ...

    with pytest.raises(DesignError, match="the partition key requires photo_id"):

        class Other(Design):
            table = Table("album")

            @read("P1")
            def photos(self) -> list[Photo]: ...


@pytest.mark.parametrize("arguments", [{}, {"author": None}, {"author": ["Ada"]}, {"limit": 10}])
def test_a_call_without_a_key_parameter_sends_no_request(magazine: Magazine, arguments: dict[str, Any]) -> None:
    """ElectroDB sends a request without the key values that are missing in the call."""
    watched = Watched(magazine)
    articles_by: Any = magazine.articles_by
    with pytest.raises(ArgumentError) as caught:
        articles_by(**arguments)
    assert caught.value.errors[0].place == "author"
    assert watched.requests == []


def test_access_patterns_scan_only_if_a_scan_is_declared(magazine: Magazine) -> None:
    """ElectroDB and PynamoDB have methods that look like queries but scan the table."""
    watched = Watched(magazine)
    magazine.articles_by("Ada")
    magazine.visited("Ada", 1)
    magazine.articles_in("essays")
    magazine.notes("o")
    magazine.pair("1", "2")
    magazine.articles(["1", "2"])
    assert watched.operations == ["Query", "Query", "Query", "Query", "GetItem", "BatchGetItem"]


def test_misspelled_names_and_wrong_types_are_rejected(magazine: Magazine) -> None:
    """pydynantic and pydynox accept misspelled patterns and parameters, and wrong types, also
    under type checkers.

    tests/typing checks that type checkers reject such calls.
    """
    watched = Watched(magazine)
    anything: Any = magazine
    with pytest.raises(AttributeError):
        anything.articles_bye("Ada")
    with pytest.raises(UnknownPattern, match="no access pattern 'articles_bye'") as unknown:
        magazine.call("articles_bye", {"author": "Ada"})
    assert unknown.value.hint == "did you mean articles_by?"
    with pytest.raises(ArgumentError) as caught:
        anything.articles_by(autor="Ada", limit="10")
    assert [(fault.place, fault.hint) for fault in caught.value.errors if fault.place == "autor"] == [
        ("autor", "did you mean author?")
    ]
    assert {fault.place for fault in caught.value.errors} == {"autor", "author", "limit"}
    with pytest.raises(ArgumentError, match="author"):
        anything.articles_by(5)
    assert watched.requests == []
