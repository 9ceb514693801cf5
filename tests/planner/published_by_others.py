# mypy: disable-error-code="empty-body"
"""Designs that others have published with their keys, without these: an exam centre, funds, the overview of OneTable,
connected vehicles, NoSQL Workbench's music library and card offers, two blogs, a social application.

Where each stands is in docs/planning.md; their keys are in ``experts.py``.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from keyplan import Cursor, Design, Entity, Field, Id, Page, Range, Table, Through, View, read, ulid
from keyplan.model.deferral import deferred

__all__ = ["PUBLISHED"]


# ExamBuddy: GSI1 by each thing's id, GSI2 by time, GSI3 by archived


class ExamUser(Entity):
    email: Id[str]
    user_id: str
    name: str


class ExamProject(Entity):
    admin_id: Id[str]
    project_id: Id[str]
    title: str
    archived: bool = False
    created_at: datetime


class ExamQuestion(Entity):
    project_id: Id[str]
    question_id: Id[str]
    text: str


class ExamAttempt(Entity):
    candidate_id: Id[str]
    attempt_id: Id[str]
    project_id: str
    started_at: datetime


class ExamAnswer(Entity):
    attempt_id: Id[str]
    question_id: Id[str]
    answer_id: str


# An investment fund: documents and positions


class FundDocument(Entity):
    document_id: Id[str]
    version: Id[str]
    status: str


class CapitalActivity(Entity):
    document_id: Id[str]
    version: Id[str]
    amount: int


class CapitalCall(Entity):
    document_id: Id[str]
    position_id: Id[str]
    amount: int


class Distribution(Entity):
    document_id: Id[str]
    position_id: Id[str]
    amount: int


class Commitment(Entity):
    document_id: Id[str]
    position_id: Id[str]
    amount: int


class FundOverview(NamedTuple):
    documents: list[FundDocument]
    activities: list[CapitalActivity]
    calls: list[CapitalCall]
    distributions: list[Distribution]
    commitments: list[Commitment]


class PositionData(NamedTuple):
    calls: list[CapitalCall]
    distributions: list[Distribution]
    commitments: list[Commitment]


# OneTable's overview: accounts, users, products and invoices by name or date


class TableAccount(Entity):
    account_id: Id[str] = Field(default_factory=ulid)
    name: str
    balance: Decimal = Decimal(0)


class TableUser(Entity):
    account_id: Id[str]
    email: Id[str]
    name: str


class TableProduct(Entity):
    product_id: Id[str] = Field(default_factory=ulid)
    name: str


class TableInvoice(Entity):
    account_id: Id[str]
    invoice_id: Id[str] = Field(default_factory=ulid)
    issued_at: datetime


# Connected vehicles: what links users and vehicles stands twice, and no index is needed


class Vehicle(Entity):
    vin: Id[str]
    engine: str


class VehicleFeature(Entity):
    vin: Id[str]
    feature: Id[str]


class VehicleDriver(Entity):
    vin: Id[str]
    user_id: Id[str]


class Driver(Entity):
    user_id: Id[str]
    phone: str


class DriverVehicle(Entity):
    user_id: Id[str]
    vin: Id[str]


class DriverPreference(Entity):
    user_id: Id[str]
    feature: Id[str]


class DriverSubscription(Entity):
    user_id: Id[str]
    state: Id[Literal["ACTIVE", "EXPIRED"]]
    feature: Id[str]
    expires_at: datetime


class VehicleSubscription(Entity):
    vin: Id[str]
    user_id: Id[str]
    state: Id[Literal["ACTIVE", "EXPIRED"]]
    feature: Id[str]


class VehicleWhole(NamedTuple):
    vehicle: Vehicle
    features: list[VehicleFeature]
    drivers: list[VehicleDriver]


# NoSQL Workbench's samples: a music library (DownloadsByMonth), card offers (AccountIndex, GSI1)


class Song(Entity):
    song_id: Id[str]
    title: str


class SongDownload(Entity):
    song_id: Id[str]
    downloaded_at: Id[datetime]


class SongMonth(Entity):
    song_id: Id[str]
    month: Id[date]
    downloads: int = Field(default=0, ge=0, le=10**9)


class WholeSong(NamedTuple):
    song: Song
    downloads: list[SongDownload]
    months: list[SongMonth]


class CardAccount(Entity):
    account_id: Id[str]
    name: str
    address: str


class CardAccountName(View[CardAccount]):
    account_id: str
    name: str


class AccountOffer(Entity):
    account_id: Id[str]
    offer_id: Id[str]
    kind: str
    status: Literal["ACCEPTED", "DECLINED", "OPEN"] = "OPEN"


class CardOffer(Entity):
    offer_id: Id[str]
    text: str


class CardOfferItem(Entity):
    offer_id: Id[str]
    item_id: Id[str]


class AccountWithOffers(NamedTuple):
    account: CardAccount
    offers: list[AccountOffer]


class OfferWithItems(NamedTuple):
    offer: CardOffer
    items: list[CardOfferItem]


# A blog engine: GSI1 by API key and by time, GSI2 by slug


class Blogger(Entity):
    username: Id[str]
    api_key: str


class BloggerPost(Entity):
    username: Id[str]
    slug: Id[str]
    created_at: datetime


class BloggerComment(Entity):
    comment_id: Id[str]
    slug: str
    created_at: datetime


class PostWithComments(NamedTuple):
    posts: list[BloggerPost]
    comments: list[BloggerComment]


# A social application: GSI1 by feed, and by what a user likes


class FeedUser(Entity):
    user_id: Id[str]
    name: str


class FeedPost(Entity):
    post_id: Id[str]
    feed_id: str
    owner_id: str
    status: Literal["PENDING", "APPROVED"] = "PENDING"
    created_at: datetime


class OwnPost(Entity):
    user_id: Id[str]
    post_id: Id[str]
    created_at: datetime


class FeedComment(Entity):
    post_id: Id[str]
    comment_id: Id[str]


class FeedLike(Entity):
    post_id: Id[str]
    user_id: Id[str]
    created_at: datetime


class FeedPostWithComments(NamedTuple):
    post: FeedPost
    comments: list[FeedComment]


# Dynatable's blog: GSI1 by published, by user, by tag


class Writer(Entity):
    username: Id[str]
    name: str


class WriterPost(Entity):
    username: Id[str]
    post_id: Id[str] = Field(default_factory=ulid)
    published: bool = False
    views: int = 0


class WriterComment(Entity):
    post_id: Id[str]
    comment_id: Id[str] = Field(default_factory=ulid)
    username: str


class WriterTag(Entity):
    post_id: Id[str]
    tag: Id[str]
    username: str


with deferred():

    class ExamRoom(Design):
        table = Table("exams")

        @read("A1")
        def user(self, email: str) -> ExamUser | None: ...

        @read("A2")
        def user_by_id(self, user_id: str) -> ExamUser | None: ...

        @read("A3", order_by="project_id")
        def projects(self, admin_id: str) -> list[ExamProject]: ...

        @read("A4")
        def project(self, admin_id: str, project_id: str) -> ExamProject | None: ...

        @read("A5")
        def project_by_id(self, project_id: str) -> ExamProject | None: ...

        @read("A6", order_by="-created_at")
        def newest_projects(
            self, admin_id: str, limit: int = 20, cursor: Cursor | None = None
        ) -> Page[ExamProject]: ...

        @read("A7")
        def projects_archived(self, admin_id: str, archived: bool) -> list[ExamProject]: ...

        @read("A8")
        def questions(self, project_id: str) -> list[ExamQuestion]: ...

        @read("A9")
        def question(self, question_id: str) -> ExamQuestion | None: ...

        @read("A10", order_by="-attempt_id")
        def attempts(self, candidate_id: str) -> list[ExamAttempt]: ...

        @read("A11")
        def attempt(self, attempt_id: str) -> ExamAttempt | None: ...

        @read("A12")
        def attempts_in(self, project_id: str, started_at: Range[datetime]) -> list[ExamAttempt]: ...

        @read("A13")
        def answers(self, attempt_id: str) -> list[ExamAnswer]: ...

        @read("A14")
        def answer(self, answer_id: str) -> ExamAnswer | None: ...

    class Funds(Design):
        table = Table("funds")

        @read("B1")
        def overview(self, document_id: str) -> FundOverview: ...

        @read("B2")
        def versions(self, document_id: str, version: Range[str]) -> list[FundDocument]: ...

        @read("B3")
        def document(self, document_id: str, version: str) -> FundDocument | None: ...

        @read("B4")
        def capital_call(self, document_id: str, position_id: str) -> CapitalCall | None: ...

        @read("B5")
        def position(self, position_id: str) -> PositionData: ...

    class Overview(Design):
        table = Table("overview")

        @read("C1", order_by="name")
        def accounts(self, limit: int = 20, cursor: Cursor | None = None) -> Page[TableAccount]: ...

        @read("C2", order_by="name")
        def users(self, limit: int = 20, cursor: Cursor | None = None) -> Page[TableUser]: ...

        @read("C3", order_by="name")
        def products(self, limit: int = 20, cursor: Cursor | None = None) -> Page[TableProduct]: ...

        @read("C4")
        def invoices(self, issued_at: Range[datetime]) -> list[TableInvoice]: ...

        @read("C5")
        def account(self, account_id: str) -> TableAccount | None: ...

        @read("C6")
        def users_of(self, account_id: str) -> list[TableUser]: ...

        @read("C7")
        def invoices_of(self, account_id: str) -> list[TableInvoice]: ...

        @read("C8")
        def product(self, product_id: str) -> TableProduct | None: ...

    class Vehicles(Design):
        table = Table("vehicles")

        @read("D1")
        def vehicle(self, vin: str) -> VehicleWhole | None: ...

        @read("D2")
        def features(self, vin: str) -> list[VehicleFeature]: ...

        @read("D3")
        def drivers(self, vin: str) -> list[VehicleDriver]: ...

        @read("D4")
        def driver(self, user_id: str) -> Driver | None: ...

        @read("D5")
        def vehicles_of(self, user_id: str) -> list[DriverVehicle]: ...

        @read("D6")
        def preferences(self, user_id: str) -> list[DriverPreference]: ...

        @read("D7")
        def subscriptions(self, user_id: str, state: Literal["ACTIVE", "EXPIRED"]) -> list[DriverSubscription]: ...

        @read("D8")
        def subscription(
            self, user_id: str, state: Literal["ACTIVE", "EXPIRED"], feature: str
        ) -> DriverSubscription | None: ...

        @read("D9")
        def subscriptions_in(
            self, vin: str, user_id: str, state: Literal["ACTIVE", "EXPIRED"]
        ) -> list[VehicleSubscription]: ...

    class MusicLibrary(Design):
        table = Table("music")

        @read("E1")
        def song(self, song_id: str) -> Song | None: ...

        @read("E2")
        def downloads(self, song_id: str, downloaded_at: Range[datetime] | None = None) -> list[SongDownload]: ...

        @read("E3")
        def months(self, song_id: str) -> list[SongMonth]: ...

        @read("E4")
        def whole(self, song_id: str) -> WholeSong | None: ...

        @read("E5", order_by="-downloads")
        def most_downloaded(self, month: date, limit: int = 20, cursor: Cursor | None = None) -> Page[SongMonth]: ...

    class CardOffers(Design):
        table = Table("cards")

        @read("F1")
        def account(self, account_id: str) -> CardAccount | None: ...

        @read("F2")
        def accounts(self, limit: int = 20, cursor: Cursor | None = None) -> Page[CardAccountName]: ...

        @read("F3")
        def with_offers(self, account_id: str) -> AccountWithOffers | None: ...

        @read("F4")
        def account_offer(self, account_id: str, offer_id: str) -> AccountOffer | None: ...

        @read("F5")
        def offers_in(
            self, account_id: str, kind: str, status: Literal["ACCEPTED", "DECLINED", "OPEN"]
        ) -> list[AccountOffer]: ...

        @read("F6")
        def offer(self, offer_id: str) -> OfferWithItems | None: ...

    class BlogEngine(Design):
        table = Table("blog-engine")

        @read("G1")
        def blogger(self, username: str) -> Blogger | None: ...

        @read("G2")
        def by_api_key(self, api_key: str) -> Blogger | None: ...

        @read("G3", order_by="-created_at")
        def posts(self, username: str, limit: int = 20, cursor: Cursor | None = None) -> Page[BloggerPost]: ...

        @read("G4")
        def with_comments(self, slug: str) -> PostWithComments: ...

    class SocialApp(Design):
        table = Table("social-app")

        @read("H1", order_by="-created_at")
        def feed(self, feed_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[FeedPost]: ...

        @read("H2")
        def post(self, post_id: str) -> FeedPost | None: ...

        @read("H3")
        def with_comments(self, post_id: str) -> FeedPostWithComments | None: ...

        @read("H4", order_by="-comment_id")
        def comments(self, post_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[FeedComment]: ...

        @read("H5")
        def user(self, user_id: str) -> FeedUser | None: ...

        @read("H6", order_by="-post_id")
        def posts_of(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[OwnPost]: ...

        @read("H7", entity=FeedLike)
        def likes(self, post_id: str, user_id: str) -> bool: ...

        @read("H8")
        def likers(self, post_id: str) -> list[FeedLike]: ...

        @read("H9", order_by="-created_at")
        def liked(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[FeedLike]: ...

        @read("H10", where="status = :status", order_by="-created_at")
        def moderated(
            self, feed_id: str, status: Literal["PENDING", "APPROVED"], limit: int = 20, cursor: Cursor | None = None
        ) -> Page[FeedPost]: ...

    class BlogSystem(Design):
        table = Table("blog-system")

        @read("J1")
        def writer(self, username: str) -> Writer | None: ...

        @read("J2")
        def post(self, username: str, post_id: str) -> WriterPost | None: ...

        @read("J3", newest_first=True)
        def posts(self, username: str, limit: int = 20, cursor: Cursor | None = None) -> Page[WriterPost]: ...

        @read("J4", where={"published": True}, newest_first=True)
        def published(self, limit: int = 20, cursor: Cursor | None = None) -> Page[WriterPost]: ...

        @read("J5")
        def comments(self, post_id: str) -> list[WriterComment]: ...

        @read("J6", newest_first=True)
        def comments_by(self, username: str, limit: int = 50, cursor: Cursor | None = None) -> Page[WriterComment]: ...

        @read("J7")
        def tags(self, post_id: str) -> list[WriterTag]: ...

        @read("J8", through=Through(WriterTag))
        def tagged(self, tag: str, limit: int = 20, cursor: Cursor | None = None) -> Page[WriterPost]: ...


PUBLISHED: list[tuple[type[Any], int]] = [
    (ExamRoom, 3),
    (Funds, 2),
    (Overview, 1),
    (Vehicles, 0),
    (MusicLibrary, 1),
    (CardOffers, 2),
    (BlogEngine, 2),
    (SocialApp, 1),
    (BlogSystem, 1),
]
"""Each design with the number of indexes that its published model has."""
