# mypy: disable-error-code="empty-body"
"""Designs that posts and examples have published, without their keys: AWS's relational example with 17 access patterns;
Alex DeBrie's post on one-to-many relations; ElectroDB's examples (tasks, library, version control); NoSQL Workbench's
samples (bookmarks, employees, skiing, a forum).
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal, NamedTuple

from keyplan import Cursor, Design, Entity, Field, Id, Page, Range, Table, read, ulid
from keyplan.model.deferral import deferred

__all__ = ["PUBLISHED"]


IssueState = Literal["open", "closed"]


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


# NoSQL Workbench's samples, a post on one-to-many relations (one index)


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


with deferred():

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
        def busiest(self, lift: int, limit: int = 10, cursor: Cursor | None = None) -> Page[Lift]: ...

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


PUBLISHED: list[tuple[type[Any], int]] = [
    (SeventeenPatterns, 4),
    (TaskManager, 5),
    (Library, 3),
    (VersionControl, 3),
    (Bookmarks, 3),
    (Colleagues, 2),
    (Skiing, 1),
    (Forum, 1),
    (Helpdesk, 1),
]
"""Each design with the number of indexes that its published model has."""
