# mypy: disable-error-code="empty-body"
"""Designs without their keys, from the book "The DynamoDB Book" by Alex DeBrie (sessions, an online shop, Big Time
Deals, GitHub) and from AWS's labs (battle royale, a mobile application).
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal, NamedTuple

from keyplan import Cursor, Design, Entity, Field, Id, Page, Table, Through, Unique, read, ulid
from keyplan.model.deferral import deferred

# The DynamoDB Book: sessions (one index by user), an online shop (one index by order)


class Token(Entity):
    token: Id[str]
    username: str
    created_at: datetime


class Buyer(Entity):
    username: Id[str]
    email: str
    addresses: dict[str, str] = Field(default_factory=dict)

    email_claim = Unique("BUYER_EMAIL#{email}")


class Purchase(Entity):
    purchase_id: Id[str] = Field(default_factory=ulid)
    username: str
    status: Literal["placed", "shipped"] = "placed"


class PurchaseLine(Entity):
    purchase_id: Id[str]
    line_id: Id[str]
    price_cents: int


class WholePurchase(NamedTuple):
    purchase: Purchase
    lines: list[PurchaseLine]


# Big Time Deals: GSI1 by day, GSI2 by brand, GSI3 by category, UserIndex


class Deal(Entity):
    deal_id: Id[str] = Field(default_factory=ulid)
    title: str
    brand: str
    category: str
    day: date


class Brand(Entity):
    brand: Id[str]
    likes: int = 0


class BrandLike(Entity):
    brand: Id[str]
    username: Id[str]


class BrandWatch(Entity):
    brand: Id[str]
    username: Id[str]


class CategoryLike(Entity):
    category: Id[str]
    username: Id[str]


class Shopper(Entity):
    username: Id[str]
    name: str


class Notice(Entity):
    username: Id[str]
    notice_id: Id[str] = Field(default_factory=ulid)
    unread: bool = True


# GitHub: GSI1 by repository, GSI2 by forked repository, GSI3 by account


class Account(Entity):
    account: Id[str]
    kind: Literal["user", "organization"]


class Membership(Entity):
    organization: Id[str]
    username: Id[str]


class Repository(Entity):
    owner: Id[str]
    repository: Id[str]
    forked_from: str | None = None
    updated_at: datetime


class Issue(Entity):
    owner: Id[str]
    repository: Id[str]
    number: Id[int] = Field(ge=1, le=9_999_999)


class PullRequest(Entity):
    owner: Id[str]
    repository: Id[str]
    number: Id[int] = Field(ge=1, le=9_999_999)


class IssueComment(Entity):
    owner: Id[str]
    repository: Id[str]
    number: Id[int] = Field(ge=1, le=9_999_999)
    comment_id: Id[str] = Field(default_factory=ulid)


class PullRequestComment(Entity):
    owner: Id[str]
    repository: Id[str]
    number: Id[int] = Field(ge=1, le=9_999_999)
    comment_id: Id[str] = Field(default_factory=ulid)


class Star(Entity):
    owner: Id[str]
    repository: Id[str]
    username: Id[str]


class RepositoryWithIssues(NamedTuple):
    repository: Repository | None
    issues: list[Issue]


class RepositoryWithPulls(NamedTuple):
    repository: Repository | None
    pull_requests: list[PullRequest]


# AWS's labs: a battle royale (InvertedIndex, OpenGamesIndex), a mobile application (InvertedIndex)


class Gamer(Entity):
    username: Id[str]


class Game(Entity):
    game_id: Id[str]
    arena: str
    create_time: datetime
    people: int = 0
    open: bool = True


class Participation(Entity):
    game_id: Id[str]
    username: Id[str]
    place: int = 0


class WholeGame(NamedTuple):
    game: Game
    players: list[Participation]


class PhotoUser(Entity):
    username: Id[str]


class Photo(Entity):
    username: Id[str]
    taken_at: Id[datetime]
    location: str


class Reaction(Entity):
    photo_username: Id[str]
    photo_taken_at: Id[datetime]
    reacting: Id[str]
    kind: Id[str]


class Friendship(Entity):
    followed: Id[str]
    following: Id[str]


class PhotoProfile(NamedTuple):
    user: PhotoUser
    photos: list[Photo]


with deferred():

    class SessionStore(Design):
        table = Table("session-store")

        @read("A1")
        def session(self, token: str) -> Token | None: ...

        @read("A2")
        def sessions_of(self, username: str) -> list[Token]: ...

    class BookShop(Design):
        table = Table("book-shop", entities=[Buyer])

        @read("B1")
        def buyer(self, username: str) -> Buyer | None: ...

        @read("B2", newest_first=True)
        def purchases_of(self, username: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Purchase]: ...

        @read("B3")
        def whole_purchase(self, purchase_id: str) -> WholePurchase | None: ...

    class BigTimeDeals(Design):
        table = Table("deals")

        @read("C1")
        def deal(self, deal_id: str) -> Deal | None: ...

        @read("C2", newest_first=True)
        def of_day(self, day: date, limit: int = 25, cursor: Cursor | None = None) -> Page[Deal]: ...

        @read("C3", newest_first=True)
        def of_brand(self, brand: str, day: date, limit: int = 25, cursor: Cursor | None = None) -> Page[Deal]: ...

        @read("C4", newest_first=True)
        def of_category(
            self, category: str, day: date, limit: int = 25, cursor: Cursor | None = None
        ) -> Page[Deal]: ...

        @read("C5")
        def brand(self, brand: str) -> Brand | None: ...

        @read("C6")
        def like_of(self, brand: str, username: str) -> BrandLike | None: ...

        @read("C7")
        def watchers(self, brand: str) -> list[BrandWatch]: ...

        @read("C8")
        def category_like(self, category: str, username: str) -> CategoryLike | None: ...

        @read("C9")
        def shopper(self, username: str) -> Shopper | None: ...

        @read("C10")
        def shoppers(self, limit: int = 100, cursor: Cursor | None = None) -> Page[Shopper]: ...

        @read("C11", newest_first=True)
        def notices(self, username: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Notice]: ...

        @read("C12", where={"unread": True}, newest_first=True)
        def unread(self, username: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Notice]: ...

    class Github(Design):
        table = Table("github")

        @read("D1")
        def account(self, account: str) -> Account | None: ...

        @read("D2")
        def members(self, organization: str) -> list[Membership]: ...

        @read("D3")
        def repository(self, owner: str, repository: str) -> Repository | None: ...

        @read("D4", order_by="-updated_at")
        def repositories(self, owner: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Repository]: ...

        @read("D5")
        def forks(self, forked_from: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Repository]: ...

        @read("D6")
        def with_issues(self, owner: str, repository: str) -> RepositoryWithIssues: ...

        @read("D7")
        def with_pulls(self, owner: str, repository: str) -> RepositoryWithPulls: ...

        @read("D8")
        def issue(self, owner: str, repository: str, number: int) -> Issue | None: ...

        @read("D9")
        def comments(self, owner: str, repository: str, number: int) -> list[IssueComment]: ...

        @read("D10")
        def comments_of_pull(self, owner: str, repository: str, number: int) -> list[PullRequestComment]: ...

        @read("D11")
        def stargazers(
            self, owner: str, repository: str, limit: int = 20, cursor: Cursor | None = None
        ) -> Page[Star]: ...

        @read("D12")
        def pull_request(self, owner: str, repository: str, number: int) -> PullRequest | None: ...

    class BattleRoyale(Design):
        table = Table("battle-royale")

        @read("E1")
        def gamer(self, username: str) -> Gamer | None: ...

        @read("E2")
        def whole_game(self, game_id: str) -> WholeGame | None: ...

        @read("E3", where={"open": True})
        def open_games(self, limit: int = 20, cursor: Cursor | None = None) -> Page[Game]: ...

        @read("E4", where={"open": True})
        def open_games_on(self, arena: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Game]: ...

        @read("E5")
        def games_of(self, username: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Participation]: ...

    class QuickPhotos(Design):
        table = Table("quick-photos")

        @read("F1")
        def profile(self, username: str) -> PhotoProfile | None: ...

        @read("F2")
        def photo(self, username: str, taken_at: datetime) -> Photo | None: ...

        @read("F3")
        def reactions(self, photo_username: str, photo_taken_at: datetime) -> list[Reaction]: ...

        @read("F4")
        def followers(self, followed: str) -> list[Friendship]: ...

        @read("F5", through=Through(Friendship, username="followed"))
        def whom(self, following: str) -> list[PhotoUser]: ...


PUBLISHED: list[tuple[type[Any], int]] = [
    (SessionStore, 1),
    (BookShop, 1),
    (BigTimeDeals, 4),
    (Github, 3),
    (BattleRoyale, 2),
    (QuickPhotos, 1),
]
"""Each design with the number of indexes that its published model has."""
