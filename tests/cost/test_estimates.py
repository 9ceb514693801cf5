# mypy: disable-error-code="empty-body"
"""The sizes of typical items, the requests of typical calls, and their assumptions, which a traffic file overrides."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal, NamedTuple

import pytest
from pydantic import AfterValidator, StringConstraints

from keyplan import (
    Add,
    Batch,
    Create,
    Cursor,
    Delete,
    Design,
    Each,
    Entity,
    Example,
    Field,
    Index,
    Key,
    Page,
    Put,
    Table,
    Through,
    Ttl,
    Unique,
    Update,
    Writes,
    read,
    ulid,
    write,
)
from keyplan.analysis.cost.estimate import Estimate, PatternEstimate, estimate, estimate_pattern
from keyplan.analysis.cost.unit_counts import TABLE, batch_get
from keyplan.analysis.traffic.traffic_file import traffic_from
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.dynamodb.values import item_size
from keyplan.errors import Refused, UnknownPattern
from keyplan.model.compiled.item_sizes import entry_bytes
from keyplan.model.declared.declaration_errors import Problem
from keyplan_systems.cms import Cms

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Author(Entity):
    """An author with a unique name."""

    author_id: str = Field(default_factory=ulid)
    name: str
    country: Literal["at", "de", "ch"] = "at"

    primary = Key("AUTHOR#{author_id}", "HEAD")
    one_name = Unique("NAME#{name}")


class Book(Entity):
    """A book, in the index while it is available."""

    book_id: str = Field(default_factory=ulid)
    author_id: str
    title: str = Field(examples=["A title"])
    isbn: Annotated[str, StringConstraints(pattern=r"^10\.\d+/")] = Field(examples=["10.1000/1"])
    blurb: str = ""
    status: Literal["draft", "sold"] = "draft"
    pages: int = Field(default=100, ge=1, le=5000)
    printed_at: datetime | None = None
    expires_at: Ttl | None = None

    primary = Key("BOOK#{book_id}", "HEAD")
    by_author = Key("AUTHOR#{author_id}", "BOOK#{book_id}", index=GSI1, when={"status": "sold"})


class Copy(Entity):
    """A copy of a book."""

    book_id: str
    number: int

    primary = Key("BOOK#{book_id}", "COPY#{number:03d}", shards=1)


class Whole(NamedTuple):
    """A book with its copies."""

    book: Book
    copies: list[Copy]


class Books(Design):
    """Books of authors, and copies of the books."""

    table = Table("books", indexes=[GSI1])

    @read("B1")
    def book(self, book_id: str) -> Book | None: ...

    @read("B2", where={"status": "sold"})
    def sold(self, author_id: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Book]: ...

    @read("B3")
    def whole(self, book_id: str) -> Whole | None: ...

    @read("B4")
    def copies(self, book_id: str) -> Iterator[Copy]: ...

    @read("B5")
    def books(self, book_id: Each[str]) -> list[Book]: ...

    @read("B6", consistent=True)
    def author(self, name: str) -> Author | None: ...

    @read("B7", where="pages > :least", scan=True)
    def long_books(self, least: int) -> list[Book]: ...

    @write("W1")
    def add_author(self, author: Author) -> Writes[Author]:
        yield Create(author)
        return author

    @write("W2")
    def sell(self, book_id: str) -> Writes[Book]:
        book = yield from self.book.read(book_id)
        if book is None or book.status == "sold":
            raise Refused("no draft")
        changed: Book = yield Update(book, status="sold")
        return changed

    @write("W3", example=Example().found(Book, status="sold"))
    def take_back(self, book_id: str) -> Writes:
        book = yield from self.book.read(book_id)
        if book is None or book.status == "draft":
            raise Refused("not sold")
        yield Update(book, status="draft")

    @write("W4")
    def print_copies(self, copies: list[Copy]) -> Writes:
        yield Batch(Put(copy) for copy in copies)

    @write("W5")
    def destroy(self, book_id: str) -> Writes:
        yield Delete(Book, book_id=book_id)

    @write("W6")
    def haggle(self, book_id: str, price: int) -> Writes:
        if price * 3 != 14_133:
            raise Refused("the price is wrong")
        yield Update(Book, book_id=book_id).set(pages=price)

    @write("W7")
    def rename(self, author: Author, name: str) -> Writes:
        yield Update(author, name=name)


HINT = " (add an example= to the write)"


def estimated(**patterns: dict[str, object]) -> dict[str, PatternEstimate]:
    result = estimate(Books, traffic_from({"patterns": patterns}, Books.compiled))
    return {pattern.name: pattern for pattern in result.patterns}


def of_entity(result: Estimate, name: str) -> dict[str, tuple[int, str]]:
    (entity_estimate,) = [each for each in result.entities if each.sizes.entity == name]
    return {field.field: (field.size_bytes, field.source) for field in entity_estimate.sizes.fields}


# Items


def test_estimated_sizes_equal_the_sizes_of_a_stored_item() -> None:
    typical = Typical(Books.compiled)
    for entity in Books.compiled.entities.values():
        sizes = typical.sizes(entity)
        item = typical.item(typical.instance(entity))
        assert sizes.item_bytes == item_size(item) == sizes.key_bytes + sum(field.size_bytes for field in sizes.fields)
        assert sizes.entries == entry_bytes(Books.table, item)


def test_each_estimated_field_length_is_shown_with_its_source() -> None:
    """The source is the type, an example, a default or an assumption. A traffic file overrides the lengths."""
    fields = of_entity(estimate(Books), "Book")
    assert fields["book_id"] == (7 + 26, "its type")
    assert fields["author_id"] == (9 + 26, "its type")
    assert fields["title"] == (5 + 7, "its example")
    assert fields["isbn"] == (4 + 9, "its example")
    assert fields["printed_at"] == (10 + 27, "its type")
    assert fields["blurb"][1] == "assumed"
    data = {"entities": {"Book": {"fields": {"blurb": 5000}}, "Author": {"item_bytes": 2000}}}
    result = estimate(Books, traffic_from(data, Books.compiled))
    assert of_entity(result, "Book")["blurb"] == (5 + 5000, "the traffic file")
    (author,) = [entity for entity in result.entities if entity.sizes.entity == "Author"]
    assert author.claims == (item_size({"pk": {"S": "NAME#" + "x" * 24}, "sk": {"S": "CLAIM"}, "claim_of": {
        "M": {"pk": {"S": "AUTHOR#" + "x" * 26}, "sk": {"S": "HEAD"}}}}),)  # fmt: skip


def test_item_bytes_in_a_traffic_file_set_the_item_size() -> None:
    """The longest string of the item is extended to reach the size."""
    for size in (300, 1000, 50_000):
        data = {"entities": {"Book": {"item_bytes": size}}}
        result = estimate(Books, traffic_from(data, Books.compiled))
        assert next(entity.sizes.item_bytes for entity in result.entities if entity.sizes.entity == "Book") == size


def test_typical_instances_have_distinct_keys() -> None:
    typical = Typical(Books.compiled)
    book = Books.compiled.by_name["Book"]
    assert len({typical.instance(book, serial=at).book_id for at in range(20)}) == 20  # type: ignore[attr-defined]


def test_an_entity_without_a_typical_item_is_reported() -> None:
    """If a validator rejects every assumed value, the reason and a hint are reported."""

    def refuse(value: str) -> str:
        raise ValueError("never right")

    class Odd(Entity):
        name: Annotated[str, AfterValidator(refuse)]

        primary = Key("ODD#{name}", "HEAD")

    class Odds(Design):
        table = Table("odds")

        @read("O1")
        def odd(self, name: str) -> Odd | None: ...

    with pytest.raises(Problem, match="the type of name rejects every value"):
        Typical(Odds.compiled).sizes(Odds.compiled.by_name["Odd"])
    result = estimate(Odds)
    assert result.patterns[0].failure is not None
    assert any("Field(examples=[...])" in failure for failure in result.failures)


# Reads


def test_the_estimate_of_each_kind_of_read_has_the_expected_requests() -> None:
    """For example, a read by claim takes two requests. Each estimate lists its assumptions."""
    result = estimated()
    assert {
        name: [request.operation for request in each.requests] for name, each in result.items() if each.kind == "read"
    } == {
        "book": ["GetItem"],
        "sold": ["Query"],
        "whole": ["Query"],
        "copies": ["Query"],
        "books": ["BatchGetItem"],
        "author": ["GetItem", "GetItem"],
        "long_books": ["Scan"],
    }
    assert result["book"].read_units == 0.5
    assert result["author"].read_units == 2
    assert result["books"].notes == ("10 values of book_id are passed",)
    assert result["whole"].notes == ("10 Copy items in a collection: set per_partition in the traffic file",)


def test_a_traffic_file_sets_the_number_and_size_of_items_of_a_read() -> None:
    """2,000 items of 1 KB are two pages of at most 1 MB: 256 + 244 blocks of 4 KB, half a unit each."""
    copies = estimated(copies={"items": 2000, "item_bytes": 1024})["copies"]
    assert copies.read_units == pytest.approx(sum(_blocks(101) for _ in range(19)) / 2 + _blocks(100) / 2)
    whole = estimated(long_books={"items": 2000, "item_bytes": 1024})["long_books"]
    assert [request.units("read") for request in whole.requests] == [128.0, 122.0]


def _blocks(items: int) -> int:
    """The number of 4 KB blocks that items of 1 KB take. An iterator reads pages of 100 items plus one."""
    return -(-items * 1024 // 4096)


def test_the_cost_of_a_million_items_is_extrapolated() -> None:
    """The estimate doesn't simulate each of a million items."""
    pattern_estimate = estimated(long_books={"items": 1_000_000, "item_bytes": 1024})["long_books"]
    assert pattern_estimate.read_units == pytest.approx(125_000, rel=0.001)
    assert "× 50" in pattern_estimate.requests[0].lines[0].why


def test_items_that_a_filter_excludes_are_charged() -> None:
    """With a filter that keeps 10% of the items, a limit of 10 evaluates at least 100 items."""

    class Item(Entity):
        owner: str
        number: int
        good: bool

        primary = Key("O#{owner}", "{number:04d}")

    class Filtered(Design):
        table = Table("filtered")

        @read("F1", where="good = :good")
        def good_ones(self, owner: str, good: bool, limit: int = 10) -> Page[Item]: ...

    data = {"patterns": {"good_ones": {"items": 1000, "kept": 0.1, "item_bytes": 409}}}
    pattern_estimate = estimate(Filtered, traffic_from(data, Filtered.compiled)).patterns[0]
    assert [request.units("read") for request in pattern_estimate.requests] == [5.0, 5.0]  # 100 each: 11 must match


# Writes


def test_each_kind_of_write_has_the_expected_cost() -> None:
    """The writes add and remove index entries, create claims in a transaction, and send batches."""
    result = estimated()
    assert result["add_author"].units("write") == {TABLE: 4}
    assert [request.operation for request in result["add_author"].requests] == ["TransactWriteItems"]
    assert result["sell"].units("write") == {TABLE: 1, "GSI1": 1}
    assert result["take_back"].units("write") == {TABLE: 1, "GSI1": 1}
    assert result["print_copies"].units("write") == {TABLE: 3}
    assert result["destroy"].units("write") == {TABLE: 1}
    assert result["rename"].units("write") == {TABLE: 6}  # the author, the released claim, the new claim
    assert result["sell"].amplification == 2
    assert result["book"].amplification is None


def test_the_number_of_batch_requests_is_estimated() -> None:
    """A batch of 3 items takes one request, and a batch of 30 items takes two sequential requests."""

    class Row(Entity):
        number: int

        primary = Key("ROW#{number:04d}", "HEAD")

    class Rows(Design):
        table = Table("rows")

        @read("R1")
        def row(self, number: int) -> Row | None: ...

        @write("R2")
        def fill(self) -> Writes:
            yield Batch(Put(Row(number=number)) for number in range(3))
            yield Batch(Put(Row(number=number)) for number in range(10, 40))

    requests = estimate_pattern(Rows, "fill").requests
    assert [(request.operation, request.units("write")) for request in requests] == [
        ("BatchWriteItem", 3), ("BatchWriteItem", 25), ("BatchWriteItem", 5)
    ]  # fmt: skip


def test_a_traffic_file_sets_the_number_and_size_of_items_of_a_write() -> None:
    assert estimated(print_copies={"items": 50})["print_copies"].write_units == 50
    assert estimated(sell={"item_bytes": 3000})["sell"].units("write") == {TABLE: 3, "GSI1": 3}


def test_a_write_is_estimated_with_the_arguments_in_a_traffic_file() -> None:
    """With the assumed arguments, the write raises an exception."""
    result = estimate(Books)
    assert result.failures == (
        "W6 haggle: every dry run raises: Refused: the price is wrong (add an example= to the write)",
    )
    haggle = estimated(haggle={"arguments": {"price": 4711}})["haggle"]
    assert haggle.failure is None
    assert haggle.units("write") == {TABLE: 1}


def test_an_amount_is_subtracted_from_an_item_that_has_it() -> None:
    class Account(Entity):
        name: str
        cents: int = Field(default=0, ge=0)

        primary = Key("ACCOUNT#{name}", "HEAD")

    class Bank(Design):
        table = Table("bank", entities=[Account])

        @write("B1")
        def transfer(self, source: str, target: str, cents: int) -> Writes:
            yield Update(Account, name=source).set(cents=Add(-cents))
            yield Update(Account, name=target).set(cents=Add(cents))

    assert estimate_pattern(Bank, "transfer").write_units == 4


def test_errors_in_the_body_of_a_write_are_reported() -> None:
    class Broken(Design):
        table = Table("broken", entities=[Copy])

        @write("X1")
        def broken(self, number: int) -> Writes:
            yield Put(Copy(book_id="1", number=number // 0))

    (failure,) = estimate(Broken).failures
    assert failure.startswith("X1 broken: every dry run raises: ZeroDivisionError: integer division or modulo by zero")


def test_a_write_that_never_ends_is_reported() -> None:
    """The write reads a book again and again in an endless loop."""

    class Endless(Design):
        table = Table("endless", indexes=[GSI1])

        @read("E1")
        def book(self, book_id: str) -> Book: ...

        @write("E2")
        def search(self, book_id: str) -> Writes:
            while True:
                yield from self.book.read(book_id)

    (failure,) = estimate(Endless).failures
    assert failure == "E2 search: the write doesn't end within 10,000 reads and actions"


def test_the_estimate_of_a_feed_includes_a_query_per_author() -> None:
    """One page of a feed of 300 authors with 50 posts each takes 300 queries, which read only the newest items."""

    class Follow(Entity):
        user_id: str
        author_id: str

        primary = Key("FOLLOWS#{user_id}", "{author_id}")

    class Post(Entity):
        author_id: str
        number: int

        primary = Key("POSTS#{author_id}", "{number:06d}")

    class Feed(Design):
        table = Table("feed")

        @read("F1", through=Follow)
        def feed(self, user_id: str, limit: int = 20) -> Page[Post]: ...

    data = {"patterns": {"feed": {"items": 300}}, "entities": {"Post": {"per_partition": 50, "item_bytes": 1000}}}
    pattern_estimate = estimate(Feed, traffic_from(data, Feed.compiled)).patterns[0]
    assert 301 <= len(pattern_estimate.requests) <= 1.2 * 301
    assert pattern_estimate.requests[1].units("read") == 0.5  # the first round reads one item of each
    assert pattern_estimate.requests[300].units("read") == 0.5  # the last request only checks that nothing newer exists


def test_the_cost_of_one_access_pattern_can_be_estimated() -> None:
    assert estimate_pattern(Cms, "article").read_units == 0.5
    with pytest.raises(UnknownPattern):
        estimate_pattern(Cms, "articel")


def test_the_throughput_of_a_design_is_the_sum_over_its_access_patterns() -> None:
    """The throughput of a pattern is its rate times its units, for the table and the index, on average and at peak."""
    data = {"patterns": {"sold": {"per_second": 4, "peak_per_second": 40}, "sell": {"per_second": 2}}}
    result = estimate(Books, traffic_from(data, Books.compiled))
    sold = next(pattern for pattern in result.patterns if pattern.name == "sold")
    average, peak = result.throughput(peak=False), result.throughput(peak=True)
    assert average["GSI1"].reads == 4 * sold.read_units
    assert peak["GSI1"].reads == 40 * sold.read_units
    assert average["GSI1"].writes == peak["GSI1"].writes == 2
    assert average[TABLE].writes == 2


def test_the_estimate_of_a_junction_read_includes_links_and_linked_items() -> None:
    """A page of 10 takes a query of 11 links and a batch of 11 linked items, to detect whether a next page exists."""

    class Tag(Entity):
        tag: str
        book_id: str

        primary = Key("TAG#{tag}", "BOOK#{book_id}")

    class Tags(Design):
        table = Table("tags", indexes=[GSI1])

        @read("T1", through=Through(Tag))
        def tagged(self, tag: str, limit: int = 10) -> Page[Book]: ...

    pattern_estimate = estimate(Tags).patterns[0]
    assert [request.operation for request in pattern_estimate.requests] == ["Query", "BatchGetItem"]
    assert pattern_estimate.requests[1].units("read") == 11 * 0.5


def test_the_calculation_of_a_batch_shows_its_item_sizes() -> None:
    (line,) = batch_get([100, 3000, 5000], consistent=True).lines
    assert line.why == "3 items of 100 to 5,000 B, each rounded up to 4 KB; together 4"
    (line,) = batch_get([5000, 5000], consistent=False).lines
    assert line.why.startswith("2 items, each ")
    assert line.why.endswith("= 1; together 2")
