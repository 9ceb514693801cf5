# mypy: disable-error-code="empty-body"
"""Recurring payments as published in the developer guide: each of two indexes by day serves one job. Source: "Recurring
payments schema design in DynamoDB", and RecurringPaymentsSchema.json of aws-dynamodb-examples.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from keyplan import Create, Design, Entity, Field, Index, Key, Put, Table, Ttl, Update, View, Writes, now, read, write

GSI1 = Index("GSI-1", "NextReminderDate", "LastReminderDate", projection=["SKU", "Email", "NextPaymentDate"])
GSI2 = Index("GSI-2", "NextPaymentDate", "LastPaymentDate")


class Subscription(Entity):
    """The monthly payment of an account, and the date of its reminder."""

    account_id: str
    subscription_id: str
    sku: str = Field(alias="SKU")
    email: str = Field(alias="Email")
    payment_day: int = Field(alias="PaymentDay", ge=1, le=28)
    payment_amount: Decimal = Field(alias="PaymentAmount")
    payment_details: dict[str, str] = Field(alias="PaymentDetails", default_factory=dict)
    last_payment_date: date = Field(alias="LastPaymentDate")
    next_payment_date: date = Field(alias="NextPaymentDate")
    last_reminder_date: date = Field(alias="LastReminderDate")
    next_reminder_date: date = Field(alias="NextReminderDate")
    created_date: datetime = Field(alias="CreatedDate", default_factory=now)

    primary = Key("ACC#{account_id}", "SUB#{subscription_id}#SKU#{sku}")
    due_reminders = Key("{next_reminder_date}", "{last_reminder_date}", index=GSI1)
    due_payments = Key("{next_payment_date}", "{last_payment_date}", index=GSI2)


class Receipt(Entity):
    """A receipt of a processed payment, with a TTL."""

    account_id: str
    processed_date: datetime = Field(alias="ProcessedDate")
    sku: str = Field(alias="SKU")
    email: str = Field(alias="Email")
    processed_amount: Decimal = Field(alias="ProcessedAmount")
    expires_at: Ttl = Field(alias="TTL")

    primary = Key("ACC#{account_id}", "REC#{processed_date}#SKU#{sku}")


class DueReminder(View[Subscription]):
    """The data of a reminder that is due. The keys of GSI-1 contain the account and the subscription."""

    account_id: str
    subscription_id: str
    sku: str
    email: str
    next_payment_date: date


class DuePayment(View[Subscription]):
    """The data of a payment that is due."""

    account_id: str
    subscription_id: str
    sku: str
    email: str
    payment_day: int
    payment_amount: Decimal
    payment_details: dict[str, str]


class RecurringPayments(Design):
    """The access patterns with their published names."""

    table = Table("ReoccuringPayments", partition="PK", sort="SK", indexes=[GSI1, GSI2.projected_for(DuePayment)])

    @write("createSubscription")
    def create_subscription(self, subscription: Subscription) -> Writes:
        yield Create(subscription)

    @write("createReceipt")
    def create_receipt(self, receipt: Receipt) -> Writes:
        yield Put(receipt)

    @write("updateSubscription")
    def paid(self, subscription: Subscription, paid_on: date, next_on: date) -> Writes:
        yield Update(subscription, last_payment_date=paid_on, next_payment_date=next_on)

    @read("getDueRemindersByDate")
    def due_reminders(self, next_reminder_date: date) -> list[DueReminder]: ...

    @read("getDuePaymentsByDate")
    def due_payments(self, next_payment_date: date) -> list[DuePayment]: ...

    @read("getSubscriptionsByAccount")
    def subscriptions(self, account_id: str) -> list[Subscription]: ...

    @read("getReceiptsByAccount")
    def receipts(self, account_id: str) -> list[Receipt]: ...

    @read("getSubscription")
    def subscription(self, account_id: str, subscription_id: str, sku: str) -> Subscription | None: ...
