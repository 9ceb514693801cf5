# mypy: disable-error-code="empty-body"
"""Designs as written by users of other tools, in the domains of chain shops, tenants, rides, chats, permissions, feeds,
code hosting, queues and staff. The designs have optional fields, nested models, enums, counts, views, multi-entity
results and multiple values.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any, Literal, NamedTuple
from uuid import UUID, uuid4

from pydantic import BaseModel

from keyplan import (
    Cursor,
    Design,
    Each,
    Entity,
    Field,
    Id,
    Page,
    Prefix,
    Range,
    Table,
    Ttl,
    Update,
    View,
    Writes,
    read,
    ulid,
    write,
)
from keyplan.model.deferral import deferred


class Address(BaseModel):
    street: str
    city: str
    zip: str


class Priority(IntEnum):
    low = 1
    high = 2


class Role(Enum):
    admin = "admin"
    member = "member"


class Store(Entity):
    store_id: Id[str]
    country: str
    state: str
    city: str
    zip_code: str
    address: Address | None = None


class Tenant(Entity):
    tenant_id: Id[str]
    name: str
    plan: Literal["free", "pro"] = "free"


class TUser(Entity):
    tenant_id: Id[str]
    user_id: Id[UUID] = Field(default_factory=uuid4)
    email: str
    role: Role = Role.member
    last_seen: datetime | None = None


class Project(Entity):
    tenant_id: Id[str]
    project_id: Id[str] = Field(default_factory=ulid)
    name: str
    archived: bool = False


class ProjectMember(Entity):
    tenant_id: Id[str]
    project_id: Id[str]
    user_id: Id[UUID]
    role: Role = Role.member


class TTask(Entity):
    tenant_id: Id[str]
    project_id: Id[str]
    task_id: Id[str] = Field(default_factory=ulid)
    assignee: UUID | None = None
    status: Literal["todo", "doing", "done"] = "todo"
    due: date | None = None
    priority: Priority = Priority.low


class TenantPage(NamedTuple):
    tenant: Tenant
    users: list[TUser]


class TaskRow(View[TTask]):
    task_id: str
    status: Literal["todo", "doing", "done"]


class Ride(Entity):
    ride_id: Id[str] = Field(default_factory=ulid)
    rider_id: str
    driver_id: str | None = None
    status: Literal["requested", "accepted", "ongoing", "finished", "cancelled"] = "requested"
    cell: str
    requested_at: datetime
    fare: Decimal = Decimal(0)


class Driver(Entity):
    driver_id: Id[str]
    cell: str | None = None
    available: bool = False
    rating: float = 5.0


class RidePosition(Entity):
    ride_id: Id[str]
    at: Id[datetime]
    lat: float
    lon: float


class Conversation(Entity):
    conversation_id: Id[str] = Field(default_factory=ulid)
    title: str = ""
    last_message_at: datetime


class Participant(Entity):
    conversation_id: Id[str]
    user_id: Id[str]
    unread: int = 0
    last_message_at: datetime


class Message(Entity):
    conversation_id: Id[str]
    message_id: Id[str] = Field(default_factory=ulid)
    sender: str
    text: str
    pinned: bool = False
    attachments: list[Address] = Field(default_factory=list)


class ConversationAndMessages(NamedTuple):
    conversation: Conversation
    messages: list[Message]


class Grant(Entity):
    principal: Id[str]
    resource: Id[str]
    action: Id[Literal["read", "write", "own"]]
    granted_at: datetime
    expires_at: Ttl | None = None


class GroupMember(Entity):
    group_id: Id[str]
    user_id: Id[str]


class Activity(Entity):
    user_id: Id[str]
    activity_id: Id[str] = Field(default_factory=ulid)
    kind: str


class Purchase(Entity):
    user_id: Id[str]
    purchase_id: Id[str] = Field(default_factory=ulid)
    placed_at: datetime
    total: Decimal
    coupon: str | None = None
    state: Literal["open", "paid", "void"] = "open"


class Return(Entity):
    user_id: Id[str]
    return_id: Id[str] = Field(default_factory=ulid)
    placed_at: datetime
    purchase_id: str


class Wallet(Entity):
    user_id: Id[str]
    currency: Id[str]
    balance: Decimal = Decimal(0)


class PurchaseRow(View[Purchase]):
    purchase_id: str
    total: Decimal


class Both(NamedTuple):
    purchases: list[PurchaseRow]
    returns: list[Return]


class Issue(Entity):
    owner: Id[str]
    repo: Id[str]
    number: Id[int]
    status: Literal["open", "closed"] = "open"
    username: str
    priority: Priority = Priority.low
    created_at: datetime


class Pull(Entity):
    owner: Id[str]
    repo: Id[str]
    number: Id[int]
    status: Literal["open", "closed"] = "open"
    username: str
    created_at: datetime


class Repo(Entity):
    owner: Id[str]
    repo: Id[str]
    stars: int = 0


class RepoActivity(NamedTuple):
    repo: Repo
    issues: list[Issue]
    pulls: list[Pull]


class JobQ(Entity):
    job_id: Id[UUID] = Field(default_factory=uuid4)
    queue: str
    state: Literal["ready", "running", "done", "failed"] = "ready"
    run_at: datetime
    priority: Priority = Priority.low
    worker: str | None = None


class Employee(Entity):
    employee_id: Id[str]
    email: str
    manager_id: str | None = None
    department: str
    level: int = 1
    skills: set[str] = Field(default_factory=set)
    started_on: date
    salary: Decimal


class Skill(Entity):
    skill: Id[str]
    employee_id: Id[str]
    years: int = 0


class Case(Entity):
    case_id: Id[str]
    agent: str
    region: str
    status: Literal["open", "closed"] = "open"
    opened_at: datetime
    closed_at: datetime | None = None


with deferred():

    class Cases(Design):
        table = Table("cases")

        @read("K1", where={"status": "open"}, order_by="opened_at")
        def assigned(self, agent: str) -> list[Case]: ...

        @read("K2", where={"status": "closed"}, order_by="closed_at")
        def archived(self, region: str) -> list[Case]: ...

    class Stores(Design):
        table = Table("stores")

        @read("S1")
        def one(self, store_id: str) -> Store | None: ...
        @read("S2", order_by="state")
        def in_country(self, country: str) -> list[Store]: ...
        @read("S3", order_by="city")
        def in_state(self, country: str, state: str) -> list[Store]: ...
        @read("S4", order_by="zip_code")
        def in_city(self, country: str, state: str, city: str) -> list[Store]: ...
        @read("S5")
        def in_zip(self, country: str, state: str, city: str, zip_code: Prefix) -> list[Store]: ...
        @read("S6", entity=Store)
        def how_many(self, country: str) -> int: ...

    class Saas(Design):
        table = Table("saas", entities=[ProjectMember])

        @read("T1")
        def tenant(self, tenant_id: str) -> Tenant | None: ...
        @read("T2")
        def page(self, tenant_id: str) -> TenantPage | None: ...
        @read("T3")
        def user_by_email(self, tenant_id: str, email: str) -> TUser | None: ...
        @read("T4", where={"role": Role.admin})
        def admins(self, tenant_id: str) -> list[TUser]: ...
        @read("T5", newest_first=True)
        def projects(self, tenant_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Project]: ...
        @read("T6")
        def members(self, tenant_id: str, project_id: str) -> list[ProjectMember]: ...
        @read("T7", through=ProjectMember)
        def projects_of(self, tenant_id: str, user_id: UUID) -> list[Project]: ...
        @read("T8", order_by="due")
        def my_tasks(
            self, tenant_id: str, assignee: UUID, limit: int = 20, cursor: Cursor | None = None
        ) -> Page[TTask]: ...
        @read("T9")
        def board(self, tenant_id: str, project_id: str, status: Literal["todo", "doing", "done"]) -> list[TaskRow]: ...
        @read("T10", entity=TTask)
        def open_count(
            self, tenant_id: str, project_id: str, status: Each[Literal["todo", "doing", "done"]]
        ) -> int: ...
        @read("T11")
        def due_between(self, tenant_id: str, due: Range[date]) -> list[TTask]: ...
        @read("T12", entity=TUser)
        def email_taken(self, tenant_id: str, email: str) -> bool: ...
        @write("W1")
        def move(self, task: TTask, status: Literal["todo", "doing", "done"]) -> Writes:
            yield Update(task, status=status)

    class Rides(Design):
        table = Table("rides")

        @read("R1")
        def ride(self, ride_id: str) -> Ride | None: ...
        @read("R2", newest_first=True)
        def of_rider(self, rider_id: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Ride]: ...
        @read("R3", newest_first=True)
        def of_driver(self, driver_id: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Ride]: ...
        @read("R4", where={"status": "requested"}, order_by="requested_at")
        def waiting(self, cell: Each[str], limit: int = 10) -> list[Ride]: ...
        @read("R5", where={"available": True})
        def drivers_in(self, cell: str) -> list[Driver]: ...
        @read("R6", where={"status": ["accepted", "ongoing"]})
        def active_of(self, driver_id: str) -> list[Ride]: ...
        @read("R7")
        def track(self, ride_id: str, at: Range[datetime] | None = None) -> list[RidePosition]: ...
        @read("R8", order_by="-rating", where={"available": True})
        def best_drivers(self, cell: str, limit: int = 5) -> list[Driver]: ...

    class Chats(Design):
        table = Table("chats")

        @read("C1")
        def first(self, conversation_id: str, limit: int = 1) -> list[Message]: ...
        @read("C2", newest_first=True)
        def with_messages(self, conversation_id: str) -> ConversationAndMessages | None: ...
        @read("C3", newest_first=True)
        def messages(self, conversation_id: str, limit: int = 50, cursor: Cursor | None = None) -> Page[Message]: ...
        @read("C4", order_by="-last_message_at")
        def inbox(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Participant]: ...
        @read("C5")
        def participants(self, conversation_id: str) -> list[Participant]: ...
        @read("C6", where={"pinned": True})
        def pinned(self, conversation_id: str) -> list[Message]: ...
        @read("C7", newest_first=True)
        def sent_by(self, sender: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Message]: ...
        @read("C8", through=Participant)
        def conversations_of(self, user_id: str) -> list[Conversation]: ...

    class Access(Design):
        table = Table("access")

        @read("A1", entity=Grant, consistent=True)
        def may(self, principal: str, resource: str, action: Literal["read", "write", "own"]) -> bool: ...
        @read("A2")
        def of_principal(self, principal: str) -> list[Grant]: ...
        @read("A3")
        def of_resource(self, resource: str) -> list[Grant]: ...
        @read("A4")
        def owners(self, resource: str, action: Literal["read", "write", "own"]) -> list[Grant]: ...
        @read("A5")
        def members(self, group_id: str) -> list[GroupMember]: ...
        @read("A6")
        def groups_of(self, user_id: str) -> list[GroupMember]: ...
        @read("A7")
        def of_principals(self, principal: Each[str], resource: str) -> list[Grant]: ...

    class Feed(Design):
        table = Table("feed")

        @read("F1", order_by="-placed_at")
        def history(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Purchase | Return]: ...
        @read("F2", newest_first=True)
        def activities(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Activity]: ...
        @read("F3")
        def both(self, user_id: str) -> Both: ...
        @read("F4")
        def wallet(self, user_id: str, currency: Each[str]) -> list[Wallet]: ...
        @read("F5")
        def everything(self, user_id: str) -> Iterator[Purchase | Return | Wallet | Activity]: ...
        @read("F6")
        def with_coupon(self, coupon: str) -> list[Purchase]: ...
        @read("F7", where="total >= :least")
        def dear(self, user_id: str, least: Decimal) -> list[Purchase]: ...
        @read("F8", order_by="-total")
        def dearest(self, user_id: str, limit: int = 3) -> list[Purchase]: ...
        @read("F9")
        def in_range(self, user_id: str, total: Range[Decimal]) -> list[Purchase]: ...
        @read("F10", where={"state": ("open", "paid")}, order_by="placed_at")
        def current(self, user_id: str) -> list[Purchase]: ...
        @read("F11", entity=[Purchase, Return])
        def how_many(self, user_id: str) -> int: ...

    class Hub(Design):
        table = Table("hub")

        @read("H1")
        def repo(self, owner: str, repo: str) -> Repo | None: ...
        @read("H2", newest_first=True)
        def activity(
            self,
            owner: str,
            repo: str,
            status: Literal["open", "closed"],
            limit: int = 20,
            cursor: Cursor | None = None,
        ) -> Page[Issue | Pull]: ...
        @read("H3")
        def whole(self, owner: str, repo: str) -> RepoActivity | None: ...
        @read("H4", newest_first=True)
        def managed(self, username: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Issue | Pull]: ...
        @read("H5", order_by="-stars")
        def popular(self, owner: str, limit: int = 20) -> Page[Repo]: ...
        @read("H6", order_by="-priority")
        def urgent(self, owner: str, repo: str, limit: int = 20) -> Page[Issue]: ...
        @read("H7", newest_first=True)
        def latest_issue(self, owner: str, repo: str) -> Issue | None: ...

    class Queue(Design):
        table = Table("queue")

        @read("Q1", where={"state": "ready"}, order_by="run_at")
        def due(self, queue: str, limit: int = 10) -> list[JobQ]: ...
        @read("Q2", where={"state": ("ready", "running")}, entity=JobQ)
        def depth(self, queue: str) -> int: ...
        @read("Q3", where={"state": "failed"})
        def failed(self, limit: int = 100, cursor: Cursor | None = None) -> Page[JobQ]: ...
        @read("Q4")
        def of_worker(self, worker: str) -> list[JobQ]: ...
        @read("Q5", where={"state": "ready"}, order_by="-priority")
        def urgent(self, queue: str, limit: int = 10) -> list[JobQ]: ...
        @read("Q6")
        def many(self, job_id: Each[UUID]) -> list[JobQ]: ...
        @write("Q7")
        def start(self, job: JobQ, worker: str) -> Writes:
            yield Update(job, state="running", worker=worker).only_if(state="ready")

    class Staff(Design):
        table = Table("staff", entities=[Skill])

        @read("S1")
        def employee(self, employee_id: str) -> Employee | None: ...
        @read("S2", consistent=True)
        def by_email(self, email: str) -> Employee | None: ...
        @read("S3")
        def reports(self, manager_id: str) -> list[Employee]: ...
        @read("S4")
        def of_level(self, department: str, level: Range[int]) -> list[Employee]: ...
        @read("S5", order_by="-started_on")
        def newcomers(self, department: str, limit: int = 10) -> Page[Employee]: ...
        @read("S6", through=Skill)
        def with_skill(self, skill: str) -> list[Employee]: ...
        @read("S7")
        def skills_of(self, employee_id: str) -> list[Skill]: ...
        @read("S8")
        def paid(self, department: str, salary: Range[Decimal]) -> list[Employee]: ...
        @read("S9", newest_first=True, order_by="-started_on")
        def last_hired(self, department: str) -> Employee | None: ...


STRANGERS: list[type[Any]] = [Cases, Stores, Saas, Rides, Chats, Access, Feed, Hub, Queue, Staff]
