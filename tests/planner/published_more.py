# mypy: disable-error-code="empty-body"
"""More designs that experts have published, without their keys: books, labs, blog posts and examples of libraries.

Alex DeBrie's "The DynamoDB Book" (sessions, an online shop, Big Time Deals, GitHub), his posts on one-to-many
relations; AWS's labs (battle royale, a mobile application), its relational example with 17 access patterns, its post on
races; ElectroDB's examples (task manager, library, version control); NoSQL Workbench's samples (bookmarks, employees,
skiing, a forum). The number beside each is that of its global secondary indexes.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal, NamedTuple

from keyplan import Cursor, Design, Entity, Field, Id, Page, Range, Table, Through, Unique, read, ulid
from keyplan.design.deferral import deferred

__all__ = ["PUBLISHED"]


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


# GitHub: GSI1 to GSI3, and a fourth for issues by state


IssueState = Literal["open", "closed"]


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
    state: IssueState = "open"


class PullRequest(Entity):
    owner: Id[str]
    repository: Id[str]
    number: Id[int] = Field(ge=1, le=9_999_999)
    state: IssueState = "open"


class IssueComment(Entity):
    owner: Id[str]
    repository: Id[str]
    number: Id[int] = Field(ge=1, le=9_999_999)
    comment_id: Id[str] = Field(default_factory=ulid)


class Star(Entity):
    owner: Id[str]
    repository: Id[str]
    username: Id[str]


class GithubApp(Entity):
    account: Id[str]
    app: Id[str]


class Installation(Entity):
    account: Id[str]
    app: Id[str]
    owner: Id[str]
    repository: Id[str]


class RepositoryWithIssues(NamedTuple):
    repository: Repository | None
    issues: list[Issue]


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


# 17 access patterns: five indexes of the relational example's tables of employees, orders and customers


class Employee(Entity):
    employee_id: Id[str]
    name: str
    warehouse_id: str
    job_title: str
    hired_on: date


class Customer(Entity):
    customer_id: Id[str]
    representative_id: str


class Order(Entity):
    order_id: Id[str]
    customer_id: str
    representative_id: str
    status: Literal["open", "done"] = "open"
    ordered_on: date


class OrderLine(Entity):
    order_id: Id[str]
    product_id: Id[str]


class Inventory(Entity):
    product_id: Id[str]
    warehouse_id: Id[str]
    quantity: int = 0


class Representative(Entity):
    representative_id: Id[str]
    quarter: str
    total_cents: int = Field(default=0, ge=0, le=10**12)


# ElectroDB: a task manager (five indexes), a library (three), version control (four)


class Worker(Entity):
    employee: Id[str]
    office: str
    team: str
    title: str
    salary: int = Field(default=0, ge=0, le=10**9)
    manager: str
    hired_on: date


class Task(Entity):
    project: Id[str]
    employee: Id[str]
    task: Id[str]


class Office(Entity):
    country: Id[str]
    state: Id[str]
    city: Id[str]
    office: str


class Workplace(NamedTuple):
    office: list[Office]
    workers: list[Worker]


class Book(Entity):
    isbn: Id[str]
    book_id: Id[str]
    title: str
    released_on: date
    author_last: str
    author_first: str
    member_id: str | None = None
    loan_end: date | None = None


class Genre(Entity):
    isbn: Id[str]
    genre: Id[str]
    subgenre: Id[str]


class Author(Entity):
    author_last: Id[str]
    author_first: Id[str]
    birthday: date


class Member(Entity):
    member_id: Id[str]
    name: str


class Ticket(Entity):
    owner: Id[str]
    repository: Id[str]
    number: Id[str]
    username: str
    status: IssueState = "open"
    created_at: datetime


class TicketComment(Entity):
    owner: Id[str]
    repository: Id[str]
    number: Id[str]
    comment_id: Id[str]
    username: str
    reply_to: str
    updated_at: datetime


class TicketReview(NamedTuple):
    ticket: Ticket
    comments: list[TicketComment]


# NoSQL Workbench's samples, a post on one-to-many relations (one index), races (one)


class Bookmark(Entity):
    customer_id: Id[str]
    url: Id[str]
    folder: str
    created_at: datetime


class BookmarkCustomer(Entity):
    customer_id: Id[str]
    email: str


class Colleague(Entity):
    login: Id[str]
    first_name: str
    last_name: str
    manager: str


class Lift(Entity):
    lift: Id[int] = Field(ge=1, le=9999)
    day: Id[date]
    riders: int = Field(default=0, ge=0, le=10**6)
    pass_id: str = ""


class Thread(Entity):
    forum: Id[str]
    subject: Id[str]
    last_post_at: datetime


class Reply(Entity):
    forum: Id[str]
    subject: Id[str]
    posted_at: Id[datetime]
    posted_by: str


class Company(Entity):
    company: Id[str]


class CompanyUser(Entity):
    company: Id[str]
    username: Id[str]


class SupportTicket(Entity):
    ticket_id: Id[str] = Field(default_factory=ulid)
    company: str
    username: str


class CompanyWithUsers(NamedTuple):
    company: Company
    users: list[CompanyUser]


class Race(Entity):
    race_id: Id[str]
    class_id: str
    started_at: datetime


class RaceResult(Entity):
    race_id: Id[str]
    racer_id: Id[str]
    output: int = Field(default=0, ge=0, le=10**6)
    class_id: str


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
        def of_brand(self, brand: str, limit: int = 25, cursor: Cursor | None = None) -> Page[Deal]: ...

        @read("C4", newest_first=True)
        def of_category(self, category: str, limit: int = 25, cursor: Cursor | None = None) -> Page[Deal]: ...

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
        def organizations(self, username: str) -> list[Membership]: ...

        @read("D4")
        def repository(self, owner: str, repository: str) -> Repository | None: ...

        @read("D5", order_by="-updated_at")
        def repositories(self, owner: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Repository]: ...

        @read("D6")
        def forks(self, forked_from: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Repository]: ...

        @read("D7", newest_first=True)
        def issues(
            self, owner: str, repository: str, state: IssueState, limit: int = 20, cursor: Cursor | None = None
        ) -> Page[Issue]: ...

        @read("D8", newest_first=True)
        def pull_requests(
            self, owner: str, repository: str, state: IssueState, limit: int = 20, cursor: Cursor | None = None
        ) -> Page[PullRequest]: ...

        @read("D9")
        def comments(self, owner: str, repository: str, number: int) -> list[IssueComment]: ...

        @read("D10")
        def stargazers(
            self, owner: str, repository: str, limit: int = 20, cursor: Cursor | None = None
        ) -> Page[Star]: ...

        @read("D11")
        def starred(self, username: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Star]: ...

        @read("D12")
        def apps(self, account: str) -> list[GithubApp]: ...

        @read("D13")
        def installed_in(self, owner: str, repository: str) -> list[Installation]: ...

        @read("D14")
        def installations(self, account: str, app: str) -> list[Installation]: ...

        @read("D15")
        def with_issues(self, owner: str, repository: str) -> RepositoryWithIssues: ...

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

    class SeventeenPatterns(Design):
        table = Table("relational")

        @read("G1")
        def employee(self, employee_id: str) -> Employee | None: ...

        @read("G2")
        def employees_called(self, name: str) -> list[Employee]: ...

        @read("G5")
        def orders_of(self, customer_id: str, ordered_on: Range[date]) -> list[Order]: ...

        @read("G6", where={"status": "open"})
        def open_orders(self, ordered_on: Range[date]) -> list[Order]: ...

        @read("G7", order_by="-hired_on")
        def hired_recently(self, limit: int = 20, cursor: Cursor | None = None) -> Page[Employee]: ...

        @read("G8")
        def employees_in(self, warehouse_id: str) -> list[Employee]: ...

        @read("G9")
        def lines_of_product(self, product_id: str) -> list[OrderLine]: ...

        @read("G10")
        def inventories(self, product_id: str) -> list[Inventory]: ...

        @read("G11")
        def customers_of(self, representative_id: str) -> list[Customer]: ...

        @read("G12")
        def orders_of_representative(self, representative_id: str, ordered_on: Range[date]) -> list[Order]: ...

        @read("G14")
        def employees_with(self, job_title: str) -> list[Employee]: ...

        @read("G15")
        def inventory(self, product_id: str, warehouse_id: str) -> Inventory | None: ...

        @read("G17", order_by="-total_cents")
        def ranking(self, quarter: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Representative]: ...

    class TaskManager(Design):
        table = Table("tasks")

        @read("H1")
        def worker(self, employee: str) -> Worker | None: ...

        @read("H2")
        def workplace(self, office: str) -> Workplace: ...

        @read("H3")
        def coworkers(self, office: str, team: str) -> list[Worker]: ...

        @read("H4")
        def team(self, team: str, hired_on: Range[date]) -> list[Worker]: ...

        @read("H5")
        def role(self, title: str, salary: Range[int]) -> list[Worker]: ...

        @read("H6")
        def reports(self, manager: str, team: str) -> list[Worker]: ...

        @read("H7")
        def task(self, task: str, project: str, employee: str) -> Task | None: ...

        @read("H8")
        def tasks_of_project(self, project: str) -> list[Task]: ...

        @read("H9")
        def tasks_of(self, employee: str) -> list[Task]: ...

        @read("H10")
        def offices(self, country: str, state: str) -> list[Office]: ...

    class Library(Design):
        table = Table("library")

        @read("J1")
        def copies(self, isbn: str) -> list[Book]: ...

        @read("J2")
        def detail(self, isbn: str) -> list[Book | Genre]: ...

        @read("J3", order_by="loan_end")
        def loans(self, member_id: str) -> list[Book]: ...

        @read("J4")
        def works(self, author_last: str, author_first: str) -> list[Author | Book]: ...

        @read("J5", order_by="released_on")
        def editions(self, title: str) -> list[Book]: ...

        @read("J6")
        def books_in(self, genre: str, subgenre: str) -> list[Genre]: ...

        @read("J7")
        def member(self, member_id: str) -> Member | None: ...

    class VersionControl(Design):
        table = Table("version-control")

        @read("K1")
        def review(self, owner: str, repository: str, number: str) -> TicketReview | None: ...

        @read("K2")
        def owned(self, username: str, status: IssueState, created_at: Range[datetime]) -> list[Ticket]: ...

        @read("K3")
        def todos(
            self, owner: str, repository: str, status: IssueState, created_at: Range[datetime]
        ) -> list[Ticket]: ...

        @read("K4")
        def conversations(self, username: str, owner: str, repository: str) -> list[TicketComment]: ...

        @read("K5", order_by="-updated_at")
        def inbox(self, reply_to: str, limit: int = 20, cursor: Cursor | None = None) -> Page[TicketComment]: ...

    class Bookmarks(Design):
        table = Table("bookmarks")

        @read("L1")
        def bookmarks(self, customer_id: str) -> list[Bookmark]: ...

        @read("L2")
        def bookmark(self, customer_id: str, url: str) -> Bookmark | None: ...

        @read("L3")
        def in_folder(self, customer_id: str, folder: str) -> list[Bookmark]: ...

        @read("L4")
        def of_url(self, url: str) -> list[Bookmark]: ...

        @read("L5")
        def customer_by_email(self, email: str) -> BookmarkCustomer | None: ...

    class Colleagues(Design):
        table = Table("employees")

        @read("M1")
        def colleague(self, login: str) -> Colleague | None: ...

        @read("M2")
        def called(self, last_name: str, first_name: str) -> list[Colleague]: ...

        @read("M3")
        def reports(self, manager: str) -> list[Colleague]: ...

    class Skiing(Design):
        table = Table("skiing")

        @read("N1", newest_first=True)
        def days(self, lift: int, limit: int = 30) -> Page[Lift]: ...

        @read("N2")
        def day(self, lift: int, day: date) -> Lift | None: ...

        @read("N3", order_by="-riders")
        def busiest(self, day: date, limit: int = 10, cursor: Cursor | None = None) -> Page[Lift]: ...

    class Forum(Design):
        table = Table("forum")

        @read("O1")
        def threads(self, forum: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Thread]: ...

        @read("O2")
        def replies(self, forum: str, subject: str, posted_at: Range[datetime] | None = None) -> list[Reply]: ...

        @read("O3")
        def replies_by(self, posted_by: str, posted_at: Range[datetime] | None = None) -> list[Reply]: ...

    class Helpdesk(Design):
        table = Table("helpdesk")

        @read("P1")
        def company(self, company: str) -> CompanyWithUsers | None: ...

        @read("P2")
        def user(self, company: str, username: str) -> CompanyUser | None: ...

        @read("P3", newest_first=True)
        def tickets_of(
            self, company: str, username: str, limit: int = 20, cursor: Cursor | None = None
        ) -> Page[SupportTicket]: ...

        @read("P4")
        def ticket(self, ticket_id: str) -> SupportTicket | None: ...

    class Races(Design):
        table = Table("races")

        @read("Q1", order_by="-output")
        def results(self, race_id: str, limit: int = 100) -> Page[RaceResult]: ...

        @read("Q2")
        def results_of(self, racer_id: str) -> list[RaceResult]: ...

        @read("Q3", order_by="-started_at")
        def races_of_class(self, class_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Race]: ...


PUBLISHED: list[tuple[type[Any], int]] = [
    (SessionStore, 1),
    (BookShop, 1),
    (BigTimeDeals, 4),
    (Github, 4),
    (BattleRoyale, 2),
    (QuickPhotos, 1),
    (SeventeenPatterns, 4),
    (TaskManager, 5),
    (Library, 3),
    (VersionControl, 4),
    (Bookmarks, 3),
    (Colleagues, 2),
    (Skiing, 1),
    (Forum, 1),
    (Helpdesk, 1),
    (Races, 1),
]
"""Each design with the number of indexes that its published model has."""
