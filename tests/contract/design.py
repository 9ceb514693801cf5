# mypy: disable-error-code="empty-body"
"""A design with every feature of the design language, for the contract tests on each store."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Literal, NamedTuple

from pydantic import computed_field

from keyplan import (
    Add,
    Binary,
    Check,
    Create,
    Cursor,
    Delete,
    Design,
    Each,
    Entity,
    Field,
    Index,
    Key,
    Number,
    Page,
    Prefix,
    Put,
    Range,
    Table,
    Through,
    Ttl,
    Unique,
    Update,
    Version,
    Writes,
    now,
    read,
    write,
)
from keyplan.errors import ItemNotFound

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
GSI2 = Index("GSI2", "gsi2pk", Number("gsi2sk"))
GSI3 = Index("GSI3", ["tenant", "queue"], [Number("priority"), "opened"])
GSI4 = Index("GSI4", "gsi4pk", Binary("digest"))
GSI5 = Index("GSI5", "gsi5pk", "gsi5sk", projection=["title", "status", "tags"])
LSI1 = Index("LSI1", "pk", Number("amount"), local=True)

Status = Literal["draft", "published", "archived"]


class Color(enum.Enum):
    """An enum whose names sort differently from its values."""

    RED = "b-red"
    GREEN = "a-green"


class User(Entity):
    """A user, who has unique values and a version for optimistic locking."""

    user_id: str
    email: str
    nickname: str | None = None
    name: str = "Nobody"
    rating: Decimal = Decimal(0)
    color: Color = Color.RED
    version: Version = 0

    primary = Key("USER#{user_id}", "PROFILE")
    by_rating = Key("USERS#{color}", "{rating}", index=GSI2)
    one_email = Unique("EMAIL#{email}")
    one_nickname = Unique("NICKNAME#{nickname}", "CLAIM#{nickname}")


class Follow(Entity):
    """A junction between two users, which is read in both directions."""

    user_id: str
    followed_id: str
    since: datetime = Field(default_factory=now)

    primary = Key("USER#{user_id}", "FOLLOWS#{followed_id}")
    reverse = Key("FOLLOWED#{followed_id}", "{since}#{user_id}", index=GSI1)


class Post(Entity):
    """A post, with keys by author and time, by ID, by time in shards if published, and by category, reversed."""

    user_id: str
    post_id: str
    created_at: datetime
    status: Status = "draft"
    category: str | None = None
    score: int = 0
    title: str = ""
    tags: set[str] = Field(default_factory=set)

    primary = Key("POSTS#{user_id}", "{created_at}#{post_id}")
    by_id = Key("POST#{post_id}", "INFO", index=GSI1)
    published = Key("PUBLISHED", "{created_at:ms}", index=GSI2, when={"status": "published"}, shards=3)
    by_category = Key("CATEGORY#{category}", "{score:04d:desc}#{kind}#{post_id}", index=GSI5)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def kind(self) -> str:
        """A field computed from two other fields."""
        return f"{self.status}-{'tagged' if self.tags else 'bare'}"


class Comment(Entity):
    """A comment in a tree of comments. The sort key of a comment is its path in the tree, sorted part by part."""

    post_id: str
    path: tuple[str, ...]
    body: str = ""
    likes: int = 0

    primary = Key("POST#{post_id}", "COMMENT#{path}")


class Order(Entity):
    """An order, which is the first item of its item collection."""

    order_id: str
    user_id: str
    placed_at: datetime
    note: str | None = None

    primary = Key("ORDER#{order_id}", "#HEAD")
    by_user = Key("USER#{user_id}", "ORDER#{placed_at:%Y-%m-%dT%H:%M:%S.%f}#{order_id}", index=GSI1)


class Line(Entity):
    """A line of an order. The lines of an order are in descending order of their numbers."""

    order_id: str
    number: int = Field(ge=0, le=999)
    sku: str
    amount: int = 1

    primary = Key("ORDER#{order_id}", "LINE#{number:03d:desc}")
    by_amount = Key("ORDER#{order_id}", "{amount}", index=LSI1)
    by_sku = Key("SKU#{sku}", "{order_id}#{number:03d}", index=GSI1)


class Payment(Entity):
    """The payment of an order. An unpaid order has none."""

    order_id: str
    paid_on: date
    reference: str

    primary = Key("ORDER#{order_id}", "PAYMENT")
    by_day = Key("PAID#{paid_on}", "{reference}", index=GSI1)


class Event(Entity):
    """An event. The partition key of events is sharded, because events are written at a high rate."""

    day: date
    at: datetime
    event_id: str
    expires: Ttl | None = None

    primary = Key("EVENTS#{day}", "{at}#{event_id}", shards=4)


class Ticket(Entity):
    """A ticket in an index whose key attributes are the ticket's fields, without templates."""

    ticket_id: str
    tenant: str
    queue: str
    priority: int
    opened: str
    closed: bool = False

    primary = Key("TICKET#{ticket_id}", "TICKET")
    by_queue = Key(["{tenant}", "{queue}"], ["{priority}", "{opened}"], index=GSI3)


class Blob(Entity):
    """A blob, whose binary digest is the sort key of an index."""

    name: str
    checksum: bytes
    parts: list[str] = Field(default_factory=list)
    sizes: dict[str, int] = Field(default_factory=dict)

    primary = Key("BLOB#{name}", "BLOB")
    by_digest = Key("BLOBS", "{checksum}", index=GSI4)


class Mail(Entity):
    """An email, in the same partition as calls. Emails and calls are both sorted by day."""

    user_id: str
    day: date
    contact_id: str
    subject: str = ""

    primary = Key("CONTACTS#{user_id}", "MAIL#{day}#{contact_id}")


class Call(Entity):
    """A phone call, in the same partition as emails."""

    user_id: str
    day: date
    contact_id: str
    seconds: float = 0.0

    primary = Key("CONTACTS#{user_id}", "CALL#{day}#{contact_id}")


class Total(Entity):
    """A sharded counter of a group's total, in the same partition as the group's mark."""

    group: str
    amount: int = 0

    primary = Key("TOTAL#{group}", "A#{group}", shards=3)


class Mark(Entity):
    """A mark of a group, in the same partition as the group's total."""

    group: str
    text: str = ""

    primary = Key("TOTAL#{group}", "B#{group}", shards=3)


class Marked(NamedTuple):
    """The total of a group and the group's mark."""

    total: Total
    mark: Mark | None


class Details(NamedTuple):
    """An order and all items of its collection."""

    order: Order
    lines: list[Line]
    payment: Payment | None


class Newest(NamedTuple):
    """An order and its newest line."""

    order: Order
    line: Line | None


class Everything(Design):
    """A design with an access pattern of each kind."""

    table = Table("everything", indexes=[GSI1, GSI2, GSI3, GSI4, GSI5, LSI1])

    # One item

    @read("U1")
    def user(self, user_id: str) -> User | None: ...

    @read("U2")
    def user_by_email(self, email: str) -> User: ...

    @read("U3", consistent=True)
    def user_by_nickname(self, nickname: str) -> User | None: ...

    @read("P1")
    def post_by_id(self, post_id: str) -> Post | None: ...

    @read("P2", newest_first=True)
    def latest_post(self, user_id: str) -> Post | None: ...

    @read("P3", newest_first=True)
    def latest_post_within(self, user_id: str, created_at: Range[datetime]) -> Post | None: ...

    @read("P4")
    async def post_awaited(self, user_id: str, created_at: datetime, post_id: str) -> Post | None: ...

    # Several items

    @read("U4", newest_first=True)
    def users_by_rating(
        self, color: Color, rating: Range[Decimal] | None = None, limit: int = 3, cursor: Cursor | None = None
    ) -> Page[User]: ...

    @read("P5", newest_first=True)
    def posts(self, user_id: str, limit: int = 3, cursor: Cursor | None = None) -> Page[Post]: ...

    @read("P6")
    def posts_within(
        self, user_id: str, created_at: Range[datetime], limit: int = 3, cursor: Cursor | None = None
    ) -> Page[Post]: ...

    @read("P7", where={"status": "published"}, newest_first=True)
    def published(self, limit: int = 3, cursor: Cursor | None = None) -> Page[Post]: ...

    @read("P8")
    def category(self, category: str, limit: int = 3, cursor: Cursor | None = None) -> Page[Post]: ...

    @read("P9")
    def category_scored(self, category: str, score: Range[int]) -> list[Post]: ...

    @read("P10", where={"status": "published"})
    def posts_published(self, user_id: str, limit: int = 3, cursor: Cursor | None = None) -> Page[Post]: ...

    @read("P11", where="score >= :least AND NOT contains(tags, :tag)")
    def posts_scored(
        self, user_id: str, least: int, tag: str, limit: int = 3, cursor: Cursor | None = None
    ) -> Page[Post]: ...

    @read("P12")
    def posts_of_users(self, user_id: Each[str], limit: int = 3, cursor: Cursor | None = None) -> Page[Post]: ...

    @read("P13")
    def all_posts(self, user_id: str) -> Iterator[Post]: ...

    @read("C1")
    def comments(self, post_id: str, limit: int = 3, cursor: Cursor | None = None) -> Page[Comment]: ...

    @read("C2")
    def comments_within(self, post_id: str, path: Range[tuple[str, ...]]) -> list[Comment]: ...

    @read("F1")
    def follows(self, user_id: str, followed_id: Prefix) -> list[Follow]: ...

    @read("F2")
    def followers(self, followed_id: str, since: Range[datetime], limit: int = 2) -> list[Follow]: ...

    @read("E1")
    def events(self, day: date, limit: int = 3, cursor: Cursor | None = None) -> Page[Event]: ...

    @read("E2", newest_first=True)
    def events_of_days(
        self, day: Each[date], at: Range[datetime] | None = None, limit: int = 3, cursor: Cursor | None = None
    ) -> Page[Event]: ...

    @read("T1")
    def tickets(self, tenant: str, queue: str, limit: int = 3, cursor: Cursor | None = None) -> Page[Ticket]: ...

    @read("T2", newest_first=True)
    def tickets_within(self, tenant: str, queue: str, priority: Range[int]) -> list[Ticket]: ...

    @read("T3")
    def tickets_opened(self, tenant: str, queue: str, priority: int, opened: Prefix) -> list[Ticket]: ...

    @read("T4")
    def tickets_of_queues(
        self, tenant: str, queue: Each[str], limit: int = 3, cursor: Cursor | None = None
    ) -> Page[Ticket]: ...

    @read("T5")
    def tickets_by_id(self, ticket_id: Each[str]) -> list[Ticket]: ...

    @read("B1")
    def blobs(
        self, checksum: Range[bytes] | None = None, limit: int = 3, cursor: Cursor | None = None
    ) -> Page[Blob]: ...

    @read("L1")
    def lines_of_sku(self, sku: str, order_id: str, number: Range[int]) -> list[Line]: ...

    @read("L2", consistent=True, order_by="-amount")
    def lines_by_amount(self, order_id: str, amount: Range[int], limit: int = 2) -> list[Line]: ...

    @read("L3", newest_first=True, order_by="-amount")
    def largest_line(self, order_id: str, amount: Range[int]) -> Line | None: ...

    # Several entities

    @read("M1")
    def contacts_of_day(self, user_id: str, day: date) -> list[Mail | Call]: ...

    @read("M2")
    def contacts_within(
        self, user_id: str, day: Range[date], limit: int = 3, cursor: Cursor | None = None
    ) -> Page[Mail | Call]: ...

    @read("M3")
    def marked(self, group: str) -> Marked | None: ...

    @read("O1", newest_first=True)
    def order_details(self, order_id: str) -> Details | None: ...

    @read("O2", newest_first=True)
    def order_newest(self, order_id: str) -> Newest: ...

    @read("O3")
    def order_items(self, order_id: str, limit: int = 3, cursor: Cursor | None = None) -> Page[Order | Payment]: ...

    @read("O4")
    def user_and_follows(self, user_id: str) -> list[User | Follow]: ...

    # Through junctions

    @read("F3", through=Through(Follow, user_id="followed_id"))
    def followed(self, user_id: str, limit: int = 3, cursor: Cursor | None = None) -> Page[User]: ...

    @read("F4", through=Follow, newest_first=True)
    def fans(self, followed_id: str, limit: int = 3, cursor: Cursor | None = None) -> Page[User]: ...

    @read("F5", through=Through(Follow, user_id="followed_id"), newest_first=True)
    def feed(self, user_id: str, limit: int = 3, cursor: Cursor | None = None) -> Page[Post]: ...

    @read("O5", through=Payment)
    def order_of_payment(self, paid_on: date, reference: str) -> Order | None: ...

    # By scan

    @read("S1", scan=True)
    def every_order(self, limit: int = 3, cursor: Cursor | None = None) -> Page[Order]: ...

    @read("S2", scan=True, where="closed = :closed")
    def closed_tickets(self, closed: bool) -> list[Ticket]: ...

    # Writes

    @write("W1")
    def sign_up(self, user: User) -> Writes[User]:
        """Create a user in a transaction, which unique values require."""
        created = yield Create(user)
        return User.model_validate(created)

    @write("W2", attempts=3)
    def follow(self, user_id: str, followed_id: str) -> Writes:
        """Create a follow if both users exist."""
        yield Check(User, user_id=user_id)
        if user_id != followed_id:
            yield Check(User, user_id=followed_id)
        yield Create(Follow(user_id=user_id, followed_id=followed_id))

    @write("W3")
    def add_line(self, order_id: str, sku: str) -> Writes[Line]:
        """Read the newest line, and write a line with the next number."""
        newest = yield from self.order_newest.read(order_id)
        line = Line(order_id=order_id, number=newest.line.number + 1 if newest.line else 1, sku=sku)
        yield Create(line)
        yield Update(newest.order, note=f"{line.number} lines")
        return line

    @write("W4")
    def like(self, post_id: str, path: tuple[str, ...]) -> Writes:
        """Count a like of a comment by an update with a condition, without reading the comment."""
        yield Update(Comment, post_id=post_id, path=path).set(likes=Add(1)).only_if("likes < :most", most=1000)

    @write("W5")
    def pay(self, order_id: str, paid_on: date, reference: str) -> Writes:
        """Put the payment of an order, and delete the order's lines without an amount."""
        order = yield from self.order_details.read(order_id)
        if order is None:
            raise ItemNotFound("no such order", place="Everything.pay")
        yield Put(Payment(order_id=order_id, paid_on=paid_on, reference=reference))
        for line in order.lines:
            if line.amount <= 0:
                yield Delete(line)
