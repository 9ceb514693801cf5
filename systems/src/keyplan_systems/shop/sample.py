"""The sample of the shop: merchants of very different size, a few products that most people buy, faithful customers.

Order number n is the same in every sample, whatever its size, and so are the products and users. What is there already
is left as it is, so sampling again changes nothing, not even what was sold since.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial

from keyplan import Create, Entity, Put
from keyplan.systems import Progress
from keyplan_systems.sampling import drawn, in_steps, not_there, zipf, zipf_sums
from keyplan_systems.shop.catalogue import listing_of
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import (
    Credential,
    Merchant,
    Order,
    OrderEvent,
    OrderLine,
    OrderStatus,
    Payment,
    PaymentStatus,
    PostalAddress,
    Product,
    Reading,
    Refund,
    Related,
    User,
)
from keyplan_systems.shop.orders import placed, refund_of
from keyplan_systems.shop.searching import rebuild
from keyplan_systems.site.searching import refill_beside

__all__ = [
    "DEMO_PASSWORD",
    "DEMO_USERS",
    "DEVICES",
    "NEWEST",
    "WholeOrder",
    "merchants",
    "products",
    "related",
    "sample",
    "users",
    "whole_order",
]

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
DEMO_USERS = (("customer@example.com", None), ("merchant@example.com", "leafhouse"))
"""Who can sign in to the sample's site: its most faithful customer, and somebody who sells for a merchant."""
DEMO_PASSWORD = "open the counter"  # noqa: S105 - of a sample, and in its documentation
DEMO_HASH = "$argon2id$v=19$m=65536,t=3,p=4$SJvcLGvJKAxpchUOlBNCBw$NOYLbCuLfIgqAAiCUxDUKXY1GrPkUygJ8TLMC+7tmK4"
"""Its hash, the same each time as all of the sample is."""
STEADY = 1200
"""So many orders are of the first users and products; after that there are more of both."""
MERCHANTS = {
    "leafhouse": ("Leafhouse", "Tea from eleven gardens, bought each spring by the people who sell it."),
    "paper-mill": ("The Paper Mill", "Notebooks that lie flat, made in the mill where their paper is."),
    "north-tools": ("North Tools", "Hand tools that can be sharpened, repaired and left to somebody."),
    "lumen": ("Lumen", "Lamps in brass and linen, and every spare part of them."),
}
CATEGORIES = {
    "tea": ("Tea", "Tea in Bags"),
    "gifts": ("Tea Tin", "Tea Sampler"),
    "stationery": ("Notebook", "Pad", "Index Cards"),
    "tools": ("Chisel", "Mallet", "Block Plane", "Whetstone"),
    "lighting": ("Lamp", "Lampshade"),
}
DESCRIPTIONS = {
    "Tea": "Loose {kind} tea of this year's first picking, 100 grams. Two teaspoons make a pot; it takes a second one.",
    "Tea in Bags": "Twenty bags of {kind} tea, in cotton, for the desk drawer and the train.",
    "Tea Tin": "A tin of {kind} tea, 250 grams, that keeps what is in it dry and stays when it is empty.",
    "Tea Sampler": "Six small packets around {kind} tea, with a card that says how each was made.",
    "Notebook": "A {kind} notebook of 192 pages, sewn, so that it lies flat. The paper takes fountain pens.",
    "Pad": "Eighty {kind} sheets, glued at the head, with a board behind them.",
    "Index Cards": "A hundred {kind} cards, 5 by 3 inches, for those who think in boxes.",
    "Chisel": "A {kind} bench chisel. It comes ground, and wants honing before its first cut.",
    "Mallet": "A {kind} joiner's mallet in beech, with a face that can be dressed again.",
    "Block Plane": "A {kind} block plane with an adjustable mouth, for end grain and edges.",
    "Whetstone": "A {kind} stone with two sides, 1000 and 6000, in its box.",
    "Lamp": "A {kind} lamp with a cord of three metres. The bulb can be changed, as can all else.",
    "Lampshade": "A {kind} shade, 30 centimetres wide, that fits every lamp of ours.",
}
TOWNS = (
    ("Bristol", "BS1 4DJ", "GB"), ("Utrecht", "3511 LX", "NL"), ("Galway", "H91 W2R6", "IE"),
    ("Ghent", "9000", "BE"), ("Bergen", "5003", "NO"), ("Graz", "8010", "AT"),
)  # fmt: skip
STREETS = ("Harbour Street", "Mill Lane", "Station Road", "Orchard Row", "Church Hill", "Canal Side")
LAST_NAMES = ("Brook", "Cole", "Dahl", "Eriksen", "Fontaine", "Garcia", "Huber", "Ito", "Jansen", "Kowalski")


@dataclass(frozen=True)
class WholeOrder:
    """An order with everything that belongs to it."""

    order: Order
    lines: list[OrderLine]
    payment: Payment
    refund: Refund | None
    events: list[OrderEvent]

    @property
    def parts(self) -> list[Entity]:
        """What is written before the header."""
        return [*self.lines, *self.events, *([] if self.refund is None else [self.refund])]


def sample(design: Shop, count: int, progress: Progress) -> int:
    """Write sample orders 0 to ``count``, with all products and users and some readings; gives how many weren't there.

    An order's lines and events go before its header: if the sample is interrupted, the next one finds the header
    missing and writes the order whole.
    """

    def write(numbers: range) -> int:
        wholes = [whole_order(number) for number in numbers]
        new = not_there(design, wholes, lambda whole: whole.order, "user_id", "created_at", "order_id")
        design.batch(Put(item) for whole in new for item in whole.parts)
        design.transact(Create(item) for whole in new for item in (whole.order, whole.payment))
        return len(new)

    progress(0, count)
    _write_products(design, count)
    _write_users(design, count)
    _write_demo_users(design)
    written = in_steps(count, STEP, write, progress)
    design.batch(Put(reading) for reading in _readings(count * READINGS_AN_ORDER))
    refill_beside(design.store.url, partial(rebuild, design))
    return written


def _write_products(design: Shop, count: int) -> None:
    made = list(products(count))
    design.batch(Put(merchant) for merchant in merchants())
    there = design.get_many(Product, [{"product_id": product.product_id} for product in made], consistent=True)
    new = [product for product, result in zip(made, there, strict=True) if result is None]
    listings = [listing for product in made if (listing := listing_of(product)) is not None]
    design.batch(Put(entity) for entity in (*new, *listings, *related(count)))


def _write_users(design: Shop, count: int) -> None:
    made = users(count)
    there = design.get_many(User, [{"user_id": user.user_id} for user in made], consistent=True)
    new = [user for user, result in zip(made, there, strict=True) if result is None]
    for start in range(0, len(new), 2 * STEP):
        design.transact(Create(user) for user in new[start : start + 2 * STEP])


def _write_demo_users(design: Shop) -> None:
    """Passwords for those who can sign in: the most faithful customer, who is there, and a merchant."""
    email, merchant = DEMO_USERS[1]
    seller = User(user_id="merchant", email=email, name="Merchant", merchant_id=merchant, created_at=NEWEST)
    if design.credential(seller.user_id) is None:
        design.sign_up(seller, DEMO_HASH)
    customer = _user(0).user_id
    if design.credential(customer) is None:
        design.put(Credential(user_id=customer, password_hash=DEMO_HASH, changed_at=NEWEST))


def merchants() -> list[Merchant]:
    """Who sells, the largest first."""
    return [Merchant(merchant_id=text, name=name, about=about) for text, (name, about) in MERCHANTS.items()]


def products(count: int = 0) -> list[Product]:
    """All products that the first so many orders may be of: those of a merchant together, the best-selling first."""
    return [product for merchant, *_ in CATALOGUE for product in _of_merchant(merchant, _edition(count))]


def _edition(number: int) -> int:
    """The editions of each thing that are sold when an order is the ``number``-th: shops grow in what they sell."""
    return 1 + max(0, number - STEADY) // 2000


@cache
def _of_merchant(merchant: str, editions: int) -> tuple[Product, ...]:
    return tuple(product for edition in range(editions) for product in _products_of(merchant, edition))


def _products_of(merchant: str, edition: int) -> Iterator[Product]:
    _, _, kinds, things = next(element for element in CATALOGUE if element[0] == merchant)
    for number, (thing, kind) in enumerate((thing, kind) for thing in things for kind in kinds):
        name = f"{kind} {thing}" + (f" No. {edition + 1}" if edition else "")
        chance = random.Random(f"keyplan shop product {name}")  # noqa: S311 - a sample, and the same one each time
        price, stock = chance.randrange(250, 9000, 50) - 1, chance.choice((0, 3, 40, 250))
        yield Product(
            product_id=name.lower().replace(".", "").replace(" ", "-"),
            merchant_id=merchant,
            name=name,
            description=DESCRIPTIONS[thing].format(kind=kind.lower()),
            category=_category(thing),
            price_cents=price,
            stock=stock if number or edition else 1000,
            listed_at=NEWEST - timedelta(days=700 - 17 * number, hours=len(name)),
        )


def _category(thing: str) -> str:
    return next(name for name, things in CATEGORIES.items() if thing in things)


def users(count: int = 0) -> tuple[User, ...]:
    """All users who the first so many orders may be of, the most faithful first."""
    return tuple(_user(number) for number in range(_people(count)))


def _people(number: int) -> int:
    """The users that there are when an order is the ``number``-th: shops grow in people."""
    return USERS + max(0, number - STEADY) // 10


@cache
def _user(number: int) -> User:
    first, last = FIRST_NAMES[number % len(FIRST_NAMES)], LAST_NAMES[number % len(LAST_NAMES)]
    return User(
        user_id=f"u-{number:03d}",
        email=f"{first}.{last}.{number}@example.com" if number else DEMO_USERS[0][0],
        name=f"{first} {last}",
        created_at=NEWEST - timedelta(days=900 + number),
    )


def _buyer(chance: random.Random, number: int) -> User:
    """One of the users of that time, the first ones far more often."""
    return _user(drawn(chance, _people(number)))


def _home(user: User) -> PostalAddress:
    chance = random.Random(f"keyplan shop home {user.user_id}")  # noqa: S311 - see above
    town, postcode, country = chance.choice(TOWNS)
    street = f"{chance.randrange(1, 120)} {chance.choice(STREETS)}"
    return PostalAddress(name=user.name, street=street, postcode=postcode, city=town, country=country)


def related(count: int = 0) -> Iterator[Related]:
    """Each product leads to some others of its merchant, most of all to the best-selling ones."""
    for product in products(count):
        chance = random.Random(f"keyplan shop related {product.product_id}")  # noqa: S311 - see above
        others = [element for element in _of_merchant(product.merchant_id, 1) if element != product]
        for other in dict.fromkeys(
            choice.product_id for choice in chance.choices(others, zipf(len(others)), k=chance.randrange(1, 6))
        ):
            yield Related(product_id=product.product_id, related_id=other)


def whole_order(number: int) -> WholeOrder:
    """Sample order ``number``, as the shop's own writes would have left it."""
    chance = random.Random(f"keyplan shop {number}")  # noqa: S311 - see above
    at = NEWEST - timedelta(minutes=number * 23, seconds=chance.randrange(60))
    merchant = chance.choices([element[0] for element in CATALOGUE], [element[1] for element in CATALOGUE])[0]
    theirs = _of_merchant(merchant, _edition(number))
    how_many = chance.choices((1, 2, 3, 5), (5, 3, 2, 1))[0]
    chosen = {
        choice.product_id: choice for choice in chance.choices(theirs, cum_weights=zipf_sums(len(theirs)), k=how_many)
    }
    wanted = [(product, chance.choices((1, 2, 6), (8, 3, 1))[0]) for _, product in sorted(chosen.items())]
    buyer = _buyer(chance, number)
    order, lines, due = placed(buyer.user_id, wanted, f"o-{number:06d}", at)
    status, payment_status = _status(chance, number)
    shipped = {"shipped_at": at + timedelta(days=1), "tracking": f"KP{number:06d}"} if status == "shipped" else {}
    order = order.model_copy(update={"status": status, "ship_to": _home(buyer), **shipped})
    external = None if payment_status in {"due", "void"} else f"pi_{number:06d}"
    back = order.total_cents if payment_status == "refunded" else 0
    payment = due.model_copy(update={"status": payment_status, "external_id": external, "refunded_cents": back})
    return WholeOrder(order, lines, payment, refund_of(payment), list(_events(chance, order, payment)))


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
