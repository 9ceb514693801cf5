"""The sample of the shop: merchants of very different size, a few products that most people buy, faithful customers.

Order number n is the same in every sample, whatever its size, and so are the products and users. What is there already
is left as it is, so sampling again changes nothing, not even what was sold since.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from keyplan import Create, Put
from keyplan.systems import Progress
from keyplan_systems.sampling import in_steps, not_there, zipf
from keyplan_systems.shop.design import (
    Order,
    OrderEvent,
    OrderLine,
    OrderStatus,
    Payment,
    PaymentStatus,
    Product,
    Reading,
    Related,
    Shop,
    User,
    placed,
)

__all__ = ["DEVICES", "NEWEST", "WholeOrder", "products", "related", "sample", "users", "whole_order"]

NEWEST = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
"""When order 0 was placed; each further one was placed some minutes earlier."""
KEPT_UNTIL = datetime(2126, 1, 1, tzinfo=UTC)
"""The sample's readings don't expire: it is to be the same each time."""
USERS = 120
STEP = 25
"""Orders written at a time: header and payment of each, and the payment's claim, in one transaction."""
READINGS_AN_ORDER = 4
DEVICES = ("cold-store", "bakery-oven", "tea-room", "warehouse-door", "loading-bay")

CATALOGUE: tuple[tuple[str, int, tuple[str, ...], tuple[str, ...]], ...] = (
    ("leafhouse", 24, ("Green", "Black", "White", "Smoked", "Mountain", "Jasmine"),
     ("Tea", "Tea in Bags", "Tea Tin", "Tea Sampler")),
    ("paper-mill", 12, ("Ruled", "Plain", "Squared", "Dotted"), ("Notebook", "Pad", "Index Cards")),
    ("north-tools", 8, ("Small", "Large"), ("Chisel", "Mallet", "Block Plane", "Whetstone")),
    ("lumen", 4, ("Brass", "Linen"), ("Lamp", "Lampshade")),
)  # fmt: skip
"""The merchants, the largest first: their weight, and what their products are called."""
FIRST_NAMES = (
    "Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Frances", "Niklaus", "Radia", "Tony", "Margaret", "Ken",
)  # fmt: skip
LAST_NAMES = ("Brook", "Cole", "Dahl", "Eriksen", "Fontaine", "Garcia", "Huber", "Ito", "Jansen", "Kowalski")


@dataclass(frozen=True)
class WholeOrder:
    """An order with everything that belongs to it."""

    order: Order
    lines: list[OrderLine]
    payment: Payment
    events: list[OrderEvent]


def sample(design: Shop, count: int, progress: Progress) -> int:
    """Write sample orders 0 to ``count``, with all products and users and some readings; gives how many weren't there.

    An order's lines and events go before its header: if the sample is interrupted, the next one finds the header
    missing and writes the order whole.
    """

    def write(numbers: range) -> int:
        wholes = [whole_order(number) for number in numbers]
        new = not_there(design, wholes, lambda whole: whole.order, "user_id", "created_at", "order_id")
        design.batch(Put(item) for whole in new for item in (*whole.lines, *whole.events))
        design.transact(Create(item) for whole in new for item in (whole.order, whole.payment))
        return len(new)

    progress(0, count)
    _write_products(design)
    _write_users(design)
    written = in_steps(count, STEP, write, progress)
    design.batch(Put(reading) for reading in _readings(count * READINGS_AN_ORDER))
    return written


def _write_products(design: Shop) -> None:
    made = list(products())
    there = design.get_many(Product, [{"product_id": one.product_id} for one in made], consistent=True)
    new = [one for one, found in zip(made, there, strict=True) if found is None]
    design.batch(Put(one) for one in (*new, *related()))


def _write_users(design: Shop) -> None:
    made = users()
    there = design.get_many(User, [{"user_id": one.user_id} for one in made], consistent=True)
    new = [one for one, found in zip(made, there, strict=True) if found is None]
    for start in range(0, len(new), 2 * STEP):
        design.transact(Create(one) for one in new[start : start + 2 * STEP])


@cache
def products() -> tuple[Product, ...]:
    """All products, those of a merchant together, the best-selling first."""
    return tuple(_products())


def _products() -> Iterator[Product]:
    for merchant, _, kinds, things in CATALOGUE:
        for number, (thing, kind) in enumerate((thing, kind) for thing in things for kind in kinds):
            name = f"{kind} {thing}"
            chance = random.Random(f"keyplan shop product {name}")  # noqa: S311 - a sample, and the same one each time
            yield Product(
                product_id=name.lower().replace(" ", "-"),
                merchant_id=merchant,
                name=name,
                price_cents=chance.randrange(250, 9000, 50) - 1,
                stock=chance.choice((0, 3, 40, 250)) if number else 1000,
            )


@cache
def users() -> tuple[User, ...]:
    """All users, the most faithful first."""
    found: list[User] = []
    for number in range(USERS):
        first, last = FIRST_NAMES[number % len(FIRST_NAMES)], LAST_NAMES[number % len(LAST_NAMES)]
        found.append(
            User(
                user_id=f"u-{number:03d}",
                email=f"{first}.{last}.{number}@example.com",
                name=f"{first} {last}",
                created_at=NEWEST - timedelta(days=900 + number),
            )
        )
    return tuple(found)


def related() -> Iterator[Related]:
    """Each product leads to some others of its merchant, most of all to the best-selling ones."""
    for product in products():
        chance = random.Random(f"keyplan shop related {product.product_id}")  # noqa: S311 - see above
        others = [one for one in _of_merchant(product.merchant_id) if one is not product]
        for other in dict.fromkeys(chance.choices(others, zipf(len(others)), k=chance.randrange(1, 6))):
            yield Related(product_id=product.product_id, related_id=other.product_id)


def whole_order(number: int) -> WholeOrder:
    """Sample order ``number``, as the shop's own writes would have left it."""
    chance = random.Random(f"keyplan shop {number}")  # noqa: S311 - see above
    at = NEWEST - timedelta(minutes=number * 23, seconds=chance.randrange(60))
    merchant = chance.choices([one[0] for one in CATALOGUE], [one[1] for one in CATALOGUE])[0]
    theirs = _of_merchant(merchant)
    picked = dict.fromkeys(chance.choices(theirs, zipf(len(theirs)), k=chance.choices((1, 2, 3, 5), (5, 3, 2, 1))[0]))
    wanted = [(one, chance.choices((1, 2, 6), (8, 3, 1))[0]) for one in sorted(picked, key=lambda one: one.product_id)]
    buyer = chance.choices(users(), zipf(USERS))[0]
    order, lines, due = placed(buyer.user_id, wanted, f"o-{number:06d}", at)
    status, payment_status = _status(chance, number)
    order = order.model_copy(update={"status": status})
    external = None if payment_status in {"due", "void"} else f"pi_{number:06d}"
    payment = due.model_copy(update={"status": payment_status, "external_id": external})
    return WholeOrder(order, lines, payment, list(_events(chance, order, payment)))


def _status(chance: random.Random, number: int) -> tuple[OrderStatus, PaymentStatus]:
    """Of the newest orders most are open, of the older ones nearly all are done."""
    weights = (6, 3, 0, 1) if number < 40 else (2, 3, 88, 7)
    statuses: tuple[OrderStatus, ...] = ("pending", "paid", "shipped", "cancelled")
    status = chance.choices(statuses, weights)[0]
    if status == "cancelled":
        return status, chance.choice(("void", "refunded"))
    return status, "due" if status == "pending" else "paid"


def _events(chance: random.Random, order: Order, payment: Payment) -> Iterator[OrderEvent]:
    kinds = ["placed"]
    if payment.external_id is not None:
        kinds.append("paid")
    if order.status in {"shipped", "cancelled"}:
        kinds.append(order.status)
    at = order.created_at
    for kind in kinds:
        yield OrderEvent(event_id=f"{order.order_id}-{kind}", order_id=order.order_id, kind=kind, at=at)
        at += timedelta(minutes=chance.randrange(2, 500))


def _readings(count: int) -> Iterator[Reading]:
    """Readings of the devices, the first one measuring most often."""
    for position, device in enumerate(DEVICES):
        every = timedelta(minutes=10 * (position + 1) ** 2)
        share = count * 6 // (9 * (position + 1) ** 2)
        for number in range(share):
            chance = random.Random(f"keyplan shop {device} {number}")  # noqa: S311 - see above
            at = NEWEST - every * number
            yield Reading(device_id=device, at=at, value=round(4 + chance.gauss(0, 0.5), 2), expires_at=KEPT_UNTIL)


@cache
def _of_merchant(merchant: str) -> tuple[Product, ...]:
    return tuple(product for product in products() if product.merchant_id == merchant)
