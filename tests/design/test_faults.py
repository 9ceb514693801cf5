# mypy: disable-error-code="empty-body"
"""Patterns that can't work are refused when the class of a design is made, and all faults are told at once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

import pytest

from keyplan import (
    Cursor,
    Design,
    Each,
    Entity,
    Index,
    Key,
    Number,
    Page,
    Prefix,
    Range,
    Table,
    Through,
    Writes,
    read,
    write,
)
from keyplan.errors import DesignError, KeyplanError
from tests.design.refused import GSI1, KEYS_ONLY, OTHER, TABLE, Article, Version, WithVersion, told


def test_no_key_serves_and_the_nearest_is_named() -> None:
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = TABLE

            @read("R1")
            def by_title(self, title: str) -> list[Article]: ...

    told(error, r"D\.by_title: no key supports this access pattern \(title\)", "the closest is primary", "article_id")


def test_the_nearest_key_is_the_one_that_lacks_least() -> None:
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = TABLE

            @read("R1")
            def by_author_and_title(self, author_id: str, title: str) -> list[Article]: ...

    told(
        error,
        "the closest is by_author",
        "title would have to stand in it",
        "primary: its partition key needs article_id",
    )


def test_a_strong_read_of_a_global_index() -> None:
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = TABLE

            @read("R1", consistent=True)
            def by_author(self, author_id: str) -> list[Article]: ...

    told(error, "by_author", "global indexes don't support strongly consistent reads")


def test_several_keys_in_several_orders() -> None:
    class Post(Entity):
        post_id: str
        user_id: str
        rating: int
        at: datetime
        primary = Key("POST#{post_id}", "META")
        by_time = Key("USER#{user_id}", "{at}", index=GSI1)
        by_rating = Key("USER#{user_id}", "{rating:04d}", index=OTHER)

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", indexes=[GSI1, OTHER])

            @read("R1")
            def posts(self, user_id: str) -> list[Post]: ...

            @read("R2", order_by="rating")
            def ordered(self, user_id: str) -> list[Post]: ...

            @read("R3", order_by="title")
            def wrong(self, user_id: str) -> list[Post]: ...

    told(
        error,
        r"D\.posts",
        r"by_time \(ordered by at\), by_rating \(ordered by rating\)",
        'choose one with order_by="at" or order_by="rating"',
    )
    told(error, r"D\.wrong", "no matching key orders by title")
    assert len(error.value.errors) == 2


def test_a_single_member_that_one_query_cannot_reach() -> None:
    """AP2 as the document has it: metadata first, versions in ascending order behind it."""
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = TABLE

            @read("AP2", newest_first=True)
            def with_latest(self, article_id: str) -> WithVersion | None: ...

    told(error, "one query can't reach the Article without reading every Version first", r"reverse version")


def test_a_sparse_key_asked_for_all() -> None:
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = TABLE

            @read("R1")
            def drafts(self, status: Literal["draft", "published"]) -> list[Article]: ...

            @read("R2", where={"status": "published"})
            def published(self) -> list[Article]: ...

    told(error, r"D\.drafts", r"it holds only items with status = 'published', and the question doesn't say so")
    assert len(error.value.errors) == 1


def test_parameters_that_do_not_fit_their_field() -> None:
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = TABLE

            @read("R1")
            def typed(self, article_id: int) -> Article | None: ...

            @read("R2")
            def unknown(self, articel_id: str) -> Article | None: ...

            @read("R3")
            def ranged(self, article_id: Range[str]) -> list[Article]: ...

            @read("R4")
            def begun(self, author_id: str, at: Prefix) -> list[Article]: ...

    told(error, r"D\.typed", r"the parameter article_id is int, but the field Article\.article_id is str")
    told(error, r"D\.unknown", r"Article has no field 'articel_id'", "name the parameter like the field")
    told(error, r"D\.ranged", "stands in its partition key, which takes no range")
    told(error, r"D\.begun", "the parameter at is str, but the field Article.at is datetime")


def test_signatures_that_cannot_be_read() -> None:
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = TABLE

            @read("R1")
            def many(self, *article_id: str) -> list[Article]: ...

            @read("R2")
            def named(self, /, **article_id: str) -> list[Article]: ...

            @read("R3")
            def untyped(self, article_id) -> Article | None: ...  # type: ignore[no-untyped-def]

            @read("R4")
            def unanswered(self, article_id: str): ...  # type: ignore[no-untyped-def]

            @read("R5")
            def nothing(self, article_id: str) -> str: ...

            @read("R6")
            def union(self, article_id: str) -> list[Article | str]: ...

            @read("R7")
            def elsewhere(self, article_id: Missing) -> Article | None: ...  # type: ignore[name-defined]  # noqa: F821

    told(error, r"D\.many: \*article_id", "name each parameter")
    told(error, r"D\.named: \*\*article_id", "name each parameter")
    told(error, r"D\.untyped: the parameter article_id has no type")
    told(error, r"D\.unanswered: missing return type")
    told(error, r"D\.nothing: the return type str isn.t supported")
    told(error, r"D\.union", "isn't an entity, a view, or a union of them")
    told(error, r"D\.elsewhere: name 'Missing' is not defined", "import the name at run time")


def test_limits_and_cursors_belong_to_pages() -> None:
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = TABLE

            @read("R1")
            def page(self, author_id: str) -> Page[Article]: ...

            @read("R2")
            def listed(self, author_id: str, cursor: Cursor | None = None) -> list[Article]: ...

            @read("R3")
            def one(self, article_id: str, limit: int = 1) -> Article | None: ...

    told(error, r"D\.page: a Page requires a limit")
    told(error, r"D\.listed: a cursor requires a Page")
    told(error, r"D\.one: one one has no limit|has no limit")


def test_many_values_give_many_answers() -> None:
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = TABLE

            @read("R1")
            def one(self, article_id: Each[str]) -> Article | None: ...

            @read("R2")
            def collection(self, article_id: Each[str]) -> WithVersion | None: ...

    told(error, r"D\.one: article_id has many values, but the result is a single item")
    told(error, r"D\.collection: article_id has many values")


def test_where_names_fields_of_the_answer() -> None:
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = TABLE

            @read("R1", where={"statsu": "draft"})
            def typo(self, author_id: str) -> list[Article]: ...

            @read("R2", where="statsu = :status")
            def text_typo(self, author_id: str, status: str) -> list[Article]: ...

            @read("R3", where="status = :state")
            def unbound(self, author_id: str) -> list[Article]: ...

            @read("R4", where="status = = :status")
            def syntax(self, author_id: str, status: str) -> list[Article]: ...

            @read("R5", scan=True, where={"version": 1})
            def scanned(self) -> list[Article | Version]: ...

    told(error, r"D\.typo: where= names 'statsu'")
    told(error, r"D\.text_typo: the condition 'statsu = :status' .*unknown field .statsu.")
    told(error, r"D\.unbound: where= uses :state, which isn't a parameter")
    told(error, r"D\.syntax: the condition 'status = = :status' can't be read")
    told(error, r"D\.scanned", "'version'")


def test_scans_are_declared_and_take_no_keys() -> None:
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = TABLE

            @read("R1")
            def everything(self) -> list[Article]: ...

            @read("R2", scan=True)
            def keyed(self, article_id: str) -> list[Article]: ...

            @read("R3", scan=True)
            def one(self) -> Article | None: ...

    told(error, r"D\.everything: no key supports this access pattern \(nothing known\) without a scan")
    told(error, r"D\.keyed: a scan doesn't support key conditions")
    told(error, r"D\.one: a scan returns a Page")


def test_junctions() -> None:
    class Tagged(Entity):
        tag: str
        article_id: str
        primary = Key("TAG#{tag}", "{article_id}")

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = TABLE

            @read("R1", through=Through(Tagged, article_id="articel"))
            def mapped(self, tag: str) -> list[Article]: ...

            @read("R2", through=Tagged)
            def two(self, tag: str) -> list[Article | Version]: ...

            @read("R3", through=Tagged, where={"status": "published"})
            def filtered(self, tag: str) -> list[Article]: ...

            @read("R4", through=Tagged)
            def unkeyed(self, title: str) -> list[Article]: ...

    told(error, r"D\.mapped: through= maps Article\.article_id to Tagged\.articel")
    told(error, r"D\.two: a junction points to one entity")
    told(error, r"D\.filtered: where= filters by status, but each Article is read by key")
    told(error, r"D\.unkeyed: no key s")


def test_an_index_that_does_not_hold_the_whole_entity() -> None:
    class Card(Entity):
        card_id: str
        group: str
        text: str
        primary = Key("CARD#{card_id}", "M")
        by_group = Key("GROUP#{group}", "{card_id}", index=KEYS_ONLY)

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", indexes=[KEYS_ONLY])

            @read("R1")
            def cards(self, group: str) -> list[Card]: ...

    told(error, r"D\.cards: KEYS doesn't project text, which Card holds")


def test_ids_names_and_limits_of_the_table() -> None:
    many = [Index(f"GSI{number}", f"pk{number}") for number in range(21)]
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table(
                "a b", indexes=[*many, GSI1, Index("GSI1", Number("pk")), Index("L", "other", "sk", local=True)]
            )

            @read("R1")
            def one(self, article_id: str) -> Article | None: ...

            @read("R1")
            def two(self, article_id: str) -> Article | None: ...

    told(error, r"D\.two: R1 is one's id already")
    told(error, r"D\.table: two indexes are named GSI1")
    told(error, r"D\.table: 23 global indexes; DynamoDB allows 20")
    told(error, r"D\.table: the key attribute pk is S in one place and N in GSI1")
    told(error, r"D\.table: the local index L must have the table's partition key")
    told(error, r"D\.table: 'a b' isn't a valid table or index name")


def test_a_write_yields() -> None:
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = TABLE

            @write("W1")
            def nothing(self, article_id: str) -> Writes:
                """Yields nothing."""

    told(error, r"D\.nothing: a write yields its actions")


def test_a_pattern_that_hides_what_every_design_has() -> None:
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = TABLE

            @read("R1")
            def get(self, article_id: str) -> Article | None: ...  # type: ignore[override]

            @read("R2")
            def stream(self, author_id: str) -> Iterator[Article]: ...  # type: ignore[override]

    told(error, r"D\.get: get is a method of every design")
    told(error, r"D\.stream: stream is a method of every design")


def test_a_design_needs_a_table() -> None:
    with pytest.raises(DesignError, match="D has no table"):

        class D(Design):
            @read("R1")
            def one(self, article_id: str) -> Article | None: ...

    with pytest.raises(DesignError, match="Design itself can't be opened"):
        Design.open(":memory:")


def test_all_faults_are_told_at_once_each_with_its_place() -> None:
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = TABLE

            @read("R1")
            def one(self, title: str) -> Article | None: ...

            @read("R2", consistent=True)
            def two(self, author_id: str) -> list[Article]: ...

            @read("R3")
            def three(self, author_id: str) -> Page[Article]: ...

            @read("R4")
            def fine(self, author_id: str) -> Iterator[Article]: ...

    assert [fault.place for fault in error.value.errors] == ["D.one", "D.two", "D.three"]
    assert all(fault.hint for fault in error.value.errors)
    assert isinstance(error.value, KeyplanError)
    assert isinstance(error.value, TypeError)
    assert error.value.as_json()["code"] == "DesignError"
    assert len(error.value.as_json()["errors"]) == 3
    assert str(error.value).startswith("D: invalid design: 3 faults\n  - D.one: ")
