# mypy: disable-error-code="empty-body"
"""Designs that experts published, without their keys: entities, access patterns and the number of indexes.

The access patterns are those of AWS's "Data modeling schema design packages"; the numbers of global secondary
indexes are those of the published NoSQL Workbench models. The classes are created but not compiled.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from keyplan import Cursor, Design, Entity, Field, Id, Page, Range, Table, read, ulid
from keyplan.model.deferral import deferred

# Complaints: Customer_Complaint_GSI, Escalations_GSI, Agents_Comments_GSI


class Complaint(Entity):
    complaint_id: Id[str]
    customer_id: str
    severity: Literal["P1", "P2", "P3"] = "P3"
    state: Literal["waiting", "assigned", "investigating", "resolved"] = "waiting"
    created_at: datetime
    escalated_to: str | None = None
    escalated_at: datetime | None = None


class ComplaintComment(Entity):
    complaint_id: Id[str]
    commented_at: Id[datetime]
    comment_id: Id[str]
    agent_id: str | None = None
    text: str


# Recurring payments: GSI-1 by reminder date, GSI-2 by payment date


class Subscription(Entity):
    account_id: Id[str]
    sku: Id[str]
    next_reminder: date
    next_payment: date
    amount_cents: int


class Receipt(Entity):
    account_id: Id[str]
    paid_at: Id[datetime]
    sku: Id[str]
    amount_cents: int


# Device status: GSI1 by operator, GSI2 by escalation


State = Literal["NORMAL", "WARNING1", "WARNING2", "WARNING3", "WARNING4"]


class DeviceLog(Entity):
    device_id: Id[str]
    state: Id[State]
    logged_at: Id[datetime]
    operator: str
    escalated_to: str | None = None


# Chat: one index by room


class ChatComment(Entity):
    user_id: Id[str]
    commented_at: Id[datetime]
    room_id: str
    text: str


class ChatRoom(Entity):
    room_id: Id[str]
    created_by: str


class RoomMember(Entity):
    room_id: Id[str]
    user_id: Id[str]


# Sessions: one inverted index


class Session(Entity):
    session_id: Id[str]
    customer: str
    state: Literal["active", "closing"] = "active"
    last_login: datetime


class ChildSession(Entity):
    session_id: Id[str]
    child_id: Id[str]
    access_token: str


# A social network: no index


class Person(Entity):
    user_id: Id[str]
    name: str


class PersonFollower(Entity):
    user_id: Id[str]
    follower_id: Id[str]


class PersonFollowing(Entity):
    user_id: Id[str]
    followed_id: Id[str]


class PersonPost(Entity):
    user_id: Id[str]
    post_id: Id[str] = Field(default_factory=ulid)
    text: str


class PostLiker(Entity):
    post_id: Id[str]
    user_id: Id[str]


class TimelinePost(Entity):
    reader_id: Id[str]
    post_id: Id[str]
    author_id: str


# Players: no index


class Player(Entity):
    player_id: Id[str]
    name: str


class Friend(Entity):
    player_id: Id[str]
    friend_id: Id[str]


class PlayerItem(Entity):
    player_id: Id[str]
    item_id: Id[str]
    level: int = 1


class Inventory(NamedTuple):
    player: Player
    friends: list[Friend]
    items: list[PlayerItem]


# An online shop: GSI1 and GSI2


class ShopCustomer(Entity):
    customer_id: Id[str]
    email: str


class ShopProduct(Entity):
    product_id: Id[str]
    price: Decimal


class Warehouse(Entity):
    warehouse_id: Id[str]
    town: str


class Stock(Entity):
    product_id: Id[str]
    warehouse_id: Id[str]
    quantity: int


class ShopOrder(Entity):
    order_id: Id[str]
    customer_id: str
    ordered_at: datetime


class OrderItem(Entity):
    order_id: Id[str]
    product_id: Id[str]
    customer_id: str
    ordered_at: datetime


class Invoice(Entity):
    order_id: Id[str]
    invoice_id: Id[str]
    customer_id: str
    invoiced_at: datetime
    amount_cents: int


class Shipment(Entity):
    order_id: Id[str]
    shipment_id: Id[str]
    warehouse_id: str
    shipped_at: datetime


class WholeOrder(NamedTuple):
    order: ShopOrder
    items: list[OrderItem]
    invoices: list[Invoice]
    shipments: list[Shipment]


# A bank's scheduled payments: one sharded index


class ScheduledPayment(Entity):
    account_id: Id[str]
    scheduled_at: Id[datetime]
    status: Literal["SCHEDULED", "PENDING", "PROCESSED"] = "SCHEDULED"
    payload: str


with deferred():

    class Complaints(Design):
        table = Table("complaints")

        @read("C1")
        def complaint(self, complaint_id: str) -> Complaint | None: ...

        @read("C2")
        def comments(self, complaint_id: str) -> list[ComplaintComment]: ...

        @read("C3", newest_first=True)
        def latest_comment(self, complaint_id: str) -> ComplaintComment | None: ...

        @read("C4")
        def complaints_of(self, customer_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Complaint]: ...

        @read("C5", order_by="-escalated_at")
        def escalated_to(self, escalated_to: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Complaint]: ...

        @read("C6")
        def comments_of_agent(self, agent_id: str, commented_at: Range[datetime]) -> list[ComplaintComment]: ...

    class RecurringPayments(Design):
        table = Table("payments")

        @read("P1")
        def due_reminders(self, next_reminder: date) -> list[Subscription]: ...

        @read("P2")
        def due_payments(self, next_payment: date) -> list[Subscription]: ...

        @read("P3")
        def subscriptions(self, account_id: str) -> list[Subscription]: ...

        @read("P4", newest_first=True)
        def receipts(self, account_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Receipt]: ...

    class Devices(Design):
        table = Table("devices")

        @read("D1")
        def logs_in_state(
            self, device_id: str, state: State, limit: int = 20, cursor: Cursor | None = None
        ) -> Page[DeviceLog]: ...

        @read("D2")
        def logs(self, device_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[DeviceLog]: ...

        @read("D3")
        def logs_by_operator(self, operator: str, logged_at: Range[datetime]) -> list[DeviceLog]: ...

        @read("D4")
        def escalated(self, escalated_to: str) -> list[DeviceLog]: ...

        @read("D5")
        def escalated_in_state(self, escalated_to: str, state: State) -> list[DeviceLog]: ...

    class Chat(Design):
        table = Table("chat")

        @read("T1", newest_first=True)
        def comments_of_user(self, user_id: str, limit: int = 9) -> Page[ChatComment]: ...

        @read("T2", newest_first=True)
        def comments_in_room(
            self, room_id: str, limit: int = 20, cursor: Cursor | None = None
        ) -> Page[ChatComment]: ...

        @read("T3")
        def members(self, room_id: str) -> list[RoomMember]: ...

        @read("T4")
        def room(self, room_id: str) -> ChatRoom | None: ...

    class Sessions(Design):
        table = Table("sessions")

        @read("S1")
        def session(self, session_id: str) -> Session | None: ...

        @read("S2")
        def children(self, session_id: str) -> list[ChildSession]: ...

        @read("S3")
        def sessions_of(self, customer: str) -> list[Session]: ...

    class Network(Design):
        table = Table("network")

        @read("N1")
        def person(self, user_id: str) -> Person | None: ...

        @read("N2")
        def followers(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[PersonFollower]: ...

        @read("N3")
        def following(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[PersonFollowing]: ...

        @read("N4", newest_first=True)
        def posts(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[PersonPost]: ...

        @read("N5")
        def likers(self, post_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[PostLiker]: ...

        @read("N6", order_by="-post_id")
        def timeline(self, reader_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[TimelinePost]: ...

    class Players(Design):
        table = Table("players")

        @read("G1")
        def friends(self, player_id: str) -> list[Friend]: ...

        @read("G2")
        def everything(self, player_id: str) -> Inventory | None: ...

        @read("G3")
        def items(self, player_id: str) -> list[PlayerItem]: ...

        @read("G4")
        def item(self, player_id: str, item_id: str) -> PlayerItem | None: ...

    class OnlineShop(Design):
        table = Table("shop")

        @read("O1")
        def customer(self, customer_id: str) -> ShopCustomer | None: ...

        @read("O2")
        def product(self, product_id: str) -> ShopProduct | None: ...

        @read("O3")
        def warehouse(self, warehouse_id: str) -> Warehouse | None: ...

        @read("O4")
        def stock_everywhere(self, product_id: str) -> list[Stock]: ...

        @read("O5")
        def whole_order(self, order_id: str) -> WholeOrder | None: ...

        @read("O6")
        def items_of_order(self, order_id: str) -> list[OrderItem]: ...

        @read("O7")
        def invoices_of_order(self, order_id: str) -> list[Invoice]: ...

        @read("O8")
        def shipments_of_order(self, order_id: str) -> list[Shipment]: ...

        @read("O9")
        def items_with(self, product_id: str, ordered_at: Range[datetime]) -> list[OrderItem]: ...

        @read("O10")
        def invoice(self, invoice_id: str) -> Invoice | None: ...

        @read("O11")
        def shipment(self, shipment_id: str) -> Shipment | None: ...

        @read("O12")
        def shipments_of_warehouse(self, warehouse_id: str) -> list[Shipment]: ...

        @read("O13")
        def stock_of_warehouse(self, warehouse_id: str) -> list[Stock]: ...

        @read("O14")
        def invoices_of(self, customer_id: str, invoiced_at: Range[datetime]) -> list[Invoice]: ...

        @read("O15")
        def items_of(self, customer_id: str, ordered_at: Range[datetime]) -> list[OrderItem]: ...

    class Scheduler(Design):
        table = Table("scheduler")

        @read("B1")
        def payments_of(
            self, account_id: str, scheduled_at: Range[datetime] | None = None
        ) -> list[ScheduledPayment]: ...

        @read("B2")
        def in_status(
            self, status: Literal["SCHEDULED", "PENDING", "PROCESSED"], scheduled_at: Range[datetime]
        ) -> list[ScheduledPayment]: ...


PUBLISHED: list[tuple[type[Any], int]] = [
    (Complaints, 3),
    (RecurringPayments, 2),
    (Devices, 2),
    (Chat, 1),
    (Sessions, 1),
    (Network, 0),
    (Players, 0),
    (OnlineShop, 2),
    (Scheduler, 1),
]
"""Each design with the number of indexes that its published model has."""
