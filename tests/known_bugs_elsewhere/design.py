# mypy: disable-error-code="empty-body"
"""The design for the tests of bugs that other libraries have, and transports that record requests."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any, Literal

from keyplan import (
    Batch,
    Create,
    Cursor,
    Design,
    Each,
    Entity,
    Field,
    Index,
    Key,
    Page,
    Put,
    Table,
    Update,
    Version,
    Writes,
    read,
    write,
)
from keyplan.client.conversations import Request

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
GSI2 = Index("GSI2", "gsi2pk", "gsi2sk")

Status = Literal["draft", "published"]
Item = dict[str, dict[str, Any]]


class Article(Entity):
    """An article with two index keys: one from two required fields, and one from an optional field."""

    article_id: str
    author: str = "Ada"
    status: Status = "draft"
    section: str | None = None
    title: str = "Keys"
    visits: int = Field(default=0, ge=0)

    primary = Key("ARTICLE#{article_id}", "#HEAD")
    by_author = Key("AUTHOR#{author}", "{status}#{article_id}", index=GSI1)
    by_section = Key("SECTION#{section}", "ARTICLE#{article_id}", index=GSI2)


class Pair(Entity):
    """An item whose key contains two strings."""

    a: str
    b: str
    note: str = ""

    primary = Key("PAIR#a_{a}#b_{b}", "HEAD")


class Note(Entity):
    """A note whose sort key starts with a value, so a query of all notes reads the whole partition."""

    owner: str
    day: date
    name: str

    primary = Key("NOTES#{owner}", "{day}#{name}")


class Mark(Entity):
    """A mark that shares the partition of the notes."""

    owner: str
    name: str

    primary = Key("NOTES#{owner}", "MARK#{name}")


class Draft(Entity):
    """A draft with an optimistic lock."""

    draft_id: str
    text: str
    revision: Version = 0

    primary = Key("DRAFT#{draft_id}", "HEAD")


class Magazine(Design):
    """Articles, notes and drafts."""

    table = Table("magazine", indexes=[GSI1, GSI2], entities=[Draft, Mark])

    @read("R1")
    def article(self, article_id: str) -> Article: ...

    @read("R2")
    def articles_by(self, author: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Article]: ...

    @read("R3")
    def articles_in(self, section: str) -> list[Article]: ...

    @read("R4", where="visits >= :least")
    def visited(self, author: str, least: int, limit: int = 10, cursor: Cursor | None = None) -> Page[Article]: ...

    @read("R5")
    def notes(self, owner: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Note]: ...

    @read("R6")
    def pair(self, a: str, b: str) -> Pair | None: ...

    @read("R7")
    def articles(self, article_id: Each[str]) -> list[Article]: ...

    @write("W1")
    def rewrite(self, draft: Draft, note: Note) -> Writes[Draft]:
        written: Draft = yield Put(draft)
        yield Put(note)
        return written

    @write("W2")
    def hand_over(self, article: Article, author: str) -> Writes:
        yield Update(article, author=author)
        yield Create(Note(owner=author, day=date(2026, 1, 1), name=article.title))

    @write("W3")
    def change(self, article: Article, changes: dict[str, Any]) -> Writes:
        yield Update(article, **changes)

    @write("W4")
    def put_all(self, articles: list[Article]) -> Writes:
        yield Batch([Put(article) for article in articles])


def stored(design: Design, index: str | None = None) -> list[Item]:
    """All items of the table or of an index."""
    where = {} if index is None else {"IndexName": index}
    items: list[Item] = design.store.transport.call("Scan", {"TableName": design.store.table_name, **where})["Items"]
    return items


def keys_in(design: Design, index: str) -> list[tuple[str, str]]:
    """The sorted keys of an index's entries."""
    names = (f"{index.lower()}pk", f"{index.lower()}sk")
    return sorted((item[names[0]]["S"], item[names[1]]["S"]) for item in stored(design, index))


def put_foreign(design: Design, **attributes: str) -> None:
    """Put an item that doesn't belong to any entity of the design."""
    item = {name: {"S": value} for name, value in attributes.items()}
    design.store.transport.call("PutItem", {"TableName": design.store.table_name, "Item": item})


class Watched:
    """A transport that records its requests."""

    def __init__(self, design: Design) -> None:
        self.inner = design.store.transport
        self.requests: list[Request] = []
        design.store.transport = self

    def call(self, operation: str, parameters: dict[str, Any], /) -> dict[str, Any]:
        """Record and forward a request."""
        self.requests.append(Request(operation, parameters))
        return self.inner.call(operation, parameters)

    def call_all(self, requests: list[Request], /) -> list[dict[str, Any]]:
        return [self.call(*request) for request in requests]

    @property
    def operations(self) -> list[str]:
        """The operations of the recorded requests."""
        return [request.operation for request in self.requests]


class Halving(Watched):
    """A transport of a throttled store, which processes half of each batch and returns the rest as unprocessed."""

    def __init__(self, design: Design, *, takes_nothing: bool = False) -> None:
        super().__init__(design)
        self.takes_nothing = takes_nothing

    def call(self, operation: str, parameters: dict[str, Any], /) -> dict[str, Any]:
        """Process the first half of a batch; forward other requests unchanged."""
        if operation == "BatchGetItem":
            ((table, wanted),) = parameters["RequestItems"].items()
            now, later = self._halves(wanted["Keys"])
            answer: dict[str, Any] = {"Responses": {table: []}}
            if now:
                answer = super().call(operation, {"RequestItems": {table: {**wanted, "Keys": now}}})
            rest = {table: {**wanted, "Keys": later}} if later else {}
            return {**answer, "UnprocessedKeys": rest}
        if operation == "BatchWriteItem":
            ((table, writes),) = parameters["RequestItems"].items()
            now, later = self._halves(writes)
            if now:
                super().call(operation, {"RequestItems": {table: now}})
            return {"UnprocessedItems": {table: later} if later else {}}
        return super().call(operation, parameters)

    def _halves(self, batch: Iterable[Any]) -> tuple[list[Any], list[Any]]:
        whole = list(batch)
        middle = 0 if self.takes_nothing else (len(whole) + 1) // 2
        return whole[:middle], whole[middle:]
