# mypy: disable-error-code="empty-body"
"""Invalid designs are rejected when their class is defined: examples of invalid reads, keys and designs."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator

import pytest

from keyplan import Design, Entity, Key, Page, Table, read
from keyplan.errors import DesignError, KeyplanError
from tests.design.refused import TABLE, Article, faults

HEAD = """
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from keyplan import *
from tests.design.refused import GSI1, GSI2, KEYS_ONLY, LOCAL, NATIVE, OTHER, TABLE, Article, Version, WithVersion
from tests.design.test_design_errors import Level

SEVERAL = Index("SEVERAL", ["one", "two"], "three")
NUMBERED, BINARY = Index("NUMBERED", "npk", Number("nsk")), Index("BINARY", "bpk", Binary("bsk"))
SHARING, DAYS = Index("SHARING", "gsi1pk", "shared"), Index("DAYS", "daypk", "daysk")


class Elsewhere(Entity):
    article_id: str
    primary = Key("ELSEWHERE#{article_id}", "HEAD")


class Tagged(Entity):
    tag: str
    article_id: str
    primary = Key("TAG#{tag}", "{article_id}")


class Card(Entity):
    card_id: str
    group: str
    text: str
    primary = Key("CARD#{card_id}", "M")
    by_group = Key("GROUP#{group}", "{card_id}", index=KEYS_ONLY)


class Post(Entity):
    post_id: str
    user_id: str
    rating: int
    at: datetime
    primary = Key("POST#{post_id}", "META")
    by_time = Key("USER#{user_id}", "{at}", index=GSI1)
    by_rating = Key("USER#{user_id}", "{rating:04d}", index=OTHER)
    by_day = Key("DAY#{at:%Y-%m-%d}", "{post_id}", index=DAYS)


class Up(Entity):
    thread: str
    number: int
    primary = Key("THREAD#{thread}", "UP#{number:04d}")


class Down(Entity):
    thread: str
    number: int
    primary = Key("THREAD#{thread}", "DOWN#{number:04d:desc}")


class Twice(NamedTuple):
    article: Article
    articles: list[Article]
"""


class Level(enum.Enum):
    """An enum with integer values."""

    LOW = 2
    HIGH = 10


READS = [
    ("", "by_title(self, title: str) -> list[Article]",
     r"no key supports this access pattern \(title\)", "the closest is primary", "article_id"),
    ("", "of_both(self, author_id: str, title: str) -> list[Article]",
     "the closest is by_author", "the key doesn't contain title after", "primary: the partition key requires article"),
    ("consistent=True", "by_author(self, author_id: str) -> list[Article]", "global indexes don't support"),
    ("", "posts(self, user_id: str) -> list[Post]", r"by_time \(ordered by at\), by_rating \(ordered by rating\)",
     'choose a key with order_by="at" or order_by="rating"'),
    ('order_by="title"', "wrong(self, user_id: str) -> list[Post]", "no matching key sorts by title"),
    ("newest_first=True", "latest(self, article_id: str) -> WithVersion | None",
     "one query can't reach the Article without reading every Version first", "reverse version"),
    ("", "drafts(self, status: Literal['draft', 'published']) -> list[Article]",
     "the key contains only items with status = 'published'; the pattern reads other items too"),
    ('where={"status": "draft"}', "drafts(self) -> list[Article]", "the key contains only items with"),
    ("", "typed(self, article_id: int) -> Article | None",
     r"the parameter article_id is of type int, but the field Article\.article_id is of type str"),
    ("", "unknown(self, articel_id: str) -> Article | None", "no field 'articel_id'", "give the parameter the name"),
    ("", "ranged(self, article_id: Range[str]) -> list[Article]", "a range requires whole time units"),
    ("", "begun(self, author_id: str, at: Prefix) -> list[Article]",
     "the parameter at is of type str, but the field Article.at is of type datetime"),
    ("", "many(self, *article_id: str) -> list[Article]", r"\*article_id", "name each parameter"),
    ("", "named(self, /, **article_id: str) -> list[Article]", r"\*\*article_id", "name each parameter"),
    ("", "untyped(self, article_id) -> Article | None", "the parameter article_id has no type"),
    ("", "unanswered(self, article_id: str)", "the return type is missing"),
    ("", "nothing(self, article_id: str) -> str", "the return type str isn.t supported"),
    ("", "union(self, article_id: str) -> list[Article | str]", "isn't an entity, a view, or a union of these"),
    ("", "other(self, article_id: 'Missing') -> Article | None", "'Missing' is not defined", "import the name"),
    ("", "page(self, author_id: str) -> Page[Article]", "a Page requires a limit"),
    ("", "listed(self, author_id: str, cursor: Cursor | None = None) -> list[Article]", "a cursor requires a Page"),
    ("", "one(self, article_id: str, limit: int = 1) -> Article | None", "a limit has no effect on one item",
     "return a Page or a list, or remove the limit"),
    ("", "few(self, author_id: str, limit: int = 0) -> list[Article]", "the default of limit is 0", "from 1 to 1,000"),
    ("", "one(self, article_id: Each[str]) -> Article | None", "has several values, but the result is a single item"),
    ("", "whole(self, article_id: Each[str]) -> WithVersion | None", "article_id has several values"),
    ('where={"statsu": "draft"}', "typo(self, author_id: str) -> list[Article]", "where= names 'statsu'"),
    ('where="statsu = :status"', "typo(self, author_id: str, status: str) -> list[Article]",
     "the condition 'statsu = :status' .*unknown field .statsu."),
    ('where="status = :state"', "unbound(self, author_id: str) -> list[Article]",
     "where= uses :state, which isn't a parameter"),
    ('where="status = = :status"', "syntax(self, author_id: str, status: str) -> list[Article]",
     "the condition 'status = = :status' can't be parsed"),
    ('scan=True, where={"version": 1}', "scanned(self) -> list[Article | Version]", "'version'"),
    ("", "everything(self) -> list[Article]", r"no key supports .* \(no parameters\) without a scan"),
    ("scan=True", "keyed(self, article_id: str) -> list[Article]", "a scan doesn't support key conditions"),
    ("scan=True", "one(self) -> Article | None", "a scan must return a Page"),
    ('through=Through(Tagged, article_id="articel")', "mapped(self, tag: str) -> list[Article]",
     r"through= maps article_id to articel, but Tagged has no field"),
    ("through=Tagged", "two(self, tag: str) -> list[Article | Version]", "through= requires a result of one entity"),
    ('through=Tagged, where={"status": "published"}', "filtered(self, tag: str) -> list[Article]",
     "where= filters by status, but each Article is read by key"),
    ("through=Tagged", "unkeyed(self, title: str) -> list[Article]", "no key s"),
    ("", "cards(self, group: str) -> list[Card]", "KEYS doesn't project text, which Card contains"),
    ("", "get(self, article_id: str) -> Article | None", "get is already an attribute of the design"),
    ("", "stream(self, author_id: str) -> Iterator[Article]", "stream is already an attribute of the design"),
    ("", "one(self, author_id: str) -> Article | None", "no parameter fixes at and article_id, so several items match",
     "newest_first="),
    ("", "articles(self, author_id: str | None = None) -> list[Article]",
     "author_id is in the partition key, so it can't be None"),
    ("", "several(self, article_id: str, version: int | None = None) -> list[Version]",
     "version can be None, which keys can't contain"),
    ("", "both(self, article_id: str) -> Twice", "Twice names an entity twice", "declare one field for each entity"),
    ("", "parts(self, article_id: str) -> list[Article | Elsewhere]",
     "Elsewhere has no key on the table with the same partition"),
    ("", "parts(self, thread: str) -> list[Up | Down]",
     r"only some of the entities' keys are reversed \(:desc\)", "no common order"),
    ("", "on(self, at: datetime) -> list[Post]", "no key supports", "the key has only part of at: use a computed"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "signature", "words"), [(*row[:2], row[2:]) for row in READS])
def test_invalid_reads_raise_the_expected_errors(options: str, signature: str, words: tuple[str, ...]) -> None:
    name = signature.partition("(")[0]
    table = 'Table("ttt", indexes=[GSI1, GSI2, OTHER, KEYS_ONLY, DAYS])'
    (fault,) = faults(
        HEAD + f'class D(Design):\n    table = {table}\n\n    @read("R1", {options})\n    def {signature}: ...\n'
    )
    assert fault.startswith(f"D.{name}: ")
    assert [part for part in words if not re.search(part, fault)] == [], fault


KEYS = [
    ('primary = Key("X#{one}", "CLAIM"); unique = Unique("X#{one}")',
     r"One\.unique: the key can equal that of One\.primary"),
    ('primary = Key("X#{two}", "M")', r"primary: 'X#\{two\}': One has no field 'two'", "the fields are one"),
    ('primary = Key("X#{one}", "{}")', r"primary: '\{\}': \{\} doesn't name a field"),
    ('primary = Key("X#{one}", "{one")', "the braces of '{one' don't match"),
    ('primary = Key("X#{one}", "")', "the template is empty"),
    ('primary = Key("X#{one}", "{one}{one}")', "put '#' after {one}"),
    ('primary = Key("X#{one}", "{one}-x")', "put '#' after {one}"),
    ('n: int; primary = Key("X#{one}", "N#{n}")', "10 comes before 2", r"pad the number, as in \{version:08d\}"),
    *((f'field: {kind}; primary = Key("X#{{one}}", "{template}")', words) for kind, template, words in (
        ("Decimal", "{field}", "float and Decimal have no sortable string format"),
        ("float", "{field}", "float and Decimal have no sortable string format"),
        ("list[str]", "{field}", "a field of type list isn't supported in a key"),
        ("Level", "{field}", "don't sort as strings"),
        ("int", "{field:x}", "isn't a number format"),
        ("str", "{field:08d}", "this type doesn't support the format"),
        ("str", "{field:desc}", r"ranks \(\{level:rank:desc\}\) support :desc"),
        ("datetime", "{field:%B}", "isn't a fixed-width time"),
        ("datetime", "{field:%d%Y}", "doesn't sort by time"),
        ("datetime", "{field:%Y#%m}", "contains the delimiter"),
        ("tuple[str, ...]", "{field}#x", "must be last in the template"),
        ("tuple[int, ...]", "{field}", "isn't a tuple of strings"),
    )),
    ('primary = Key("X#{one}", "M"); a = Key("A", "{one}", index=GSI2)',
     "a Number key attribute supports an int, Decimal, float"),
    ('at: datetime; primary = Key("X#{one}", "M"); b = Key("B", "{at}", index=NUMBERED)',
     r"requires a unit \(write '\{field:ms\}' or '\{field:s\}'\)"),
    ('primary = Key("X#{one}", "M"); c = Key("C", "x{one}", index=BINARY)',
     "must be one field without text"),
    ('at: datetime; primary = Key("X#{one}", "{at:%Y%m%d}")', "primary: the key contains only part of at"),
    (('two: str; primary = Key("X#{one}", "M"); a = Key("A#{one}", "{two}", index=GSI1); '
     'b = Key("B#{one}", "{two}", index=SHARING)'),
     r"One\.b: b and a share the attribute gsi1pk, in which a stores A#{one}", "the same template"),
    ('two: str; primary = Key("X#{one}", "M"); c = Key("C#{one}", "{two}", index=LOCAL)',
     r"One\.c: c and primary share the attribute pk, in which primary stores X#{one}"),
    ('gsi1pk: str; primary = Key("X#{one}", "M"); a = Key("A#{one}", "{one}", index=GSI1)',
     "the key attribute gsi1pk also stores the field gsi1pk in another form"),
    ('primary = Key("X#{one}", "M"); a = Key("A#{one}", "M", index=Index("ELSE", "a"))',
     r"One\.a: ELSE isn't an index of the table"),
    (('kind: str; name: str; on: bool; primary = Key("X#{one}", "M"); '
     'a = Key("{kind}", "{name}", index=NATIVE, when={"on": True})'), "when= has no effect"),
    ("pass", "^One: the entity has no primary key"),
    ('a = Key("A#{one}", "M"); b = Key("B#{one}", "M")', "^One: the entity has several primary keys: a, b"),
    ('a = Key(["A", "B"], "M")', r"One\.a: the table has 1 partition and 1 sort key attributes"),
    ('a = Key("A#{one}", "M", when={"one": "x"})', r"One\.a: a primary key can't be sparse"),
    ('a = Key("A#{one}", "M"); c = Key("B#{one}", "M", index=GSI1, when={"two": 1})',
     r"One\.c: when= names 'two', which isn't a field of One"),
    ('primary = Key("X#{one}", "HEAD"); first: IdempotencyTokens = set(); again: IdempotencyTokens = set()',
     r"^One\.again: first already stores the idempotency tokens"),
    ('primary = Key("X#{one}", "HEAD"); first: IdempotencyTokens = {"a"}', r"the default must be set\(\)"),
    ('two: str; primary = Key("X#{one}", "HEAD"); a = Unique("N#{one}"); b = Unique("N#{two}")',
     r"One\.b: the key can equal that of One\.a"),
    ('primary = Key("X#{one}", "HEAD"); a = Key(["X", "{one}"], "{one}", index=GSI1)',
     "GSI1 has 1 partition and 1 sort key attributes", "has templates for 2 and 1"),
    (('kind: str; primary = Key("X#{one}", "M"); a = Key("A#{one}", "{kind}", index=GSI1); '
     'b = Key("A#{one}", "{kind}", index=SHARING, when={"kind": "x"})'), "b and a share the attribute gsi1pk"),
    ('primary = Key("X#{one}", "HEAD", shards=4)', "shards= requires a field in the sort key", "add a field to the"),
    ('kind: str; primary = Key("X#{one}", "M"); a = Key(["{one}", "{kind}"], "X#{one}", index=SEVERAL, shards=4)',
     "shards= requires a single partition key attribute of type S"),
]  # fmt: skip


@pytest.mark.parametrize(("members", "words"), [(row[0], row[1:]) for row in KEYS])
def test_invalid_keys_raise_the_expected_errors(members: str, words: tuple[str, ...]) -> None:
    table = 'Table("ttt", indexes=[GSI1, GSI2, LOCAL, NATIVE, NUMBERED, BINARY, SEVERAL, SHARING], entities=[One])'
    found = faults(HEAD + f"class One(Entity):\n    one: str; {members}\nclass D(Design):\n    table = {table}\n")
    assert any(all(re.search(part, fault) for part in words) for fault in found), "\n".join(found)


DESIGNS = {
    "keys that can collide": (
        """
class One(Entity):
    one: str; primary = Key("X#{one}", "M")
class Two(Entity):
    two: str; primary = Key("X#{two}", "M")
class D(Design):
    table = Table("ttt", entities=[One, Two])
""",
        [r"Two\.primary: the key can equal that of One\.primary.*start one of the templates with a different constant"],
    ),
    "the number of a shard is part of a key": (
        """
class Spread(Entity):
    one: str; at: int; primary = Key("X#{one}", "{at:04d}", shards=3)
class One(Entity):
    one: str; number: int; at: int; primary = Key("X#{one}#{number:01d}", "{at:04d}")
class D(Design):
    table = Table("ttt", entities=[Spread, One])
""",
        [r"One\.primary.* can equal that of Spread\.primary"],
    ),
    "two TTL attributes": (
        """
class One(Entity):
    one: str; expires: Ttl; primary = Key("ONE#{one}", "M")
class Two(Entity):
    two: str; ends: Ttl; primary = Key("TWO#{two}", "M")
class D(Design):
    table = Table("ttt", entities=[One, Two])
""",
        ["^Two: the TTL attribute is ends, but expires in One"],
    ),
    "two fields of a type that an entity has once": (
        """
class One(Entity):
    one: str; ends: Ttl; expires: Ttl | None = None; primary = Key("ONE#{one}", "M")
class D(Design):
    table = Table("ttt", entities=[One])
""",
        [r"One\.expires: ends is already the entity's Ttl field"],
    ),
    "names and limits of the table": (
        """
many = [Index(f"GSI{number}", f"pk{number}") for number in range(21)]
more = [Index("GSI1", Number("pk")), Index("L", "other", "sk", local=True), Index("WIDE", ["a", "b", "c", "d", "e"])]
class D(Design):
    table = Table("a b", indexes=[*many, GSI1, *more])
    @read("R1")
    def one(self, article_id: str) -> Article | None: ...
    @read("R1")
    def two(self, article_id: str) -> Article | None: ...
""",
        [
            r"D\.two: the id R1 is already used by one",
            r"D\.table: two indexes are named GSI1",
            r"D\.table: 24 global indexes exceed the limit of 20",
            r"D\.table: the key attribute pk has type S in one key, but type N in GSI1",
            r"D\.table: the local index L must have the table's partition key",
            r"D\.table: invalid table or index name 'a b'",
            r"D\.table: WIDE has more than 4 partition or sort key attributes",
        ],
    ),
    "too many local indexes": (
        """
class D(Design):
    table = Table("ttt", indexes=[Index(f"L{n}", "pk", f"s{n}", local=True) for n in range(6)])
""",
        [r"D\.table: 6 local indexes exceed the limit of 5"],
    ),
    "writes": (
        """
class D(Design):
    table = TABLE
    @write("W1")
    def nothing(self, article_id: str) -> Writes:
        "No actions."
    @write("W2")
    def keep(self, article) -> Writes:
        yield article
""",
        [r"D\.nothing: a write must yield actions", r"D\.keep: the parameter article has no type"],
    ),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_invalid_designs_raise_the_expected_errors(name: str) -> None:
    text, words = DESIGNS[name]
    found = faults(HEAD + text)
    assert [part for part in words if not any(re.search(part, fault) for fault in found)] == [], "\n".join(found)


def test_keys_with_and_without_a_shard_number_do_not_collide() -> None:
    class Spread(Entity):
        one: str
        at: int
        primary = Key("X#{one}", "{at:04d}", shards=3)

    class Plain(Entity):
        one: str
        at: int
        primary = Key("X#{one}", "{at:04d}")

    class Apart(Design):
        table = Table("ttt", entities=[Spread, Plain])

    with Apart.open(":memory:") as store:
        for entity in (Spread, Plain):
            store.put(entity(one="a", at=1))
        assert [store.get(entity, one="a", at=1) for entity in (Spread, Plain)] == [
            Spread(one="a", at=1),
            Plain(one="a", at=1),
        ]


def test_a_design_without_a_table_is_rejected() -> None:
    with pytest.raises(DesignError, match="D has no table"):

        class D(Design):
            @read("R1")
            def one(self, article_id: str) -> Article | None: ...

    with pytest.raises(DesignError, match="Design itself can't be opened"):
        Design.open(":memory:")


def test_all_errors_of_a_design_are_reported_together_with_their_places() -> None:
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
    assert str(error.value).startswith("D: invalid design: 3 errors\n  - D.one: ")
