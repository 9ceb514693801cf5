"""The sample of the shop: merchants of different size; few products and customers have most of the orders.

Times are relative to the first sampling. Otherwise, products, users, and order number n are the same in every sample.
Sampling again adds only what is missing.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import cache, partial

from keyplan import Create, Put, now
from keyplan.systems import Progress
from keyplan_systems.sampling import drawn, in_steps, not_there, zipf, zipf_sums
from keyplan_systems.shop.catalogue import listing_of
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import (
    READING_KEPT,
    Credential,
    Merchant,
    Order,
    OrderDetails,
    OrderEvent,
    OrderStatus,
    Payment,
    PaymentStatus,
    PostalAddress,
    Product,
    Reading,
    Related,
    User,
)
from keyplan_systems.shop.orders import event_of, placed
from keyplan_systems.shop.searching import rebuild
from keyplan_systems.site.searching import refill_beside

MINUTES_AN_ORDER = 23
PENDING_MAX = 40
"""Number of newest orders of which some are pending. They are less than a day old, so they aren't released."""
USERS = 120
STEP = 25
"""Number of orders in one transaction: a header, a payment and the payment's claim for each."""
READINGS_AN_ORDER = 4
DEVICES = {"cold-store": "leafhouse", "tea-room": "leafhouse", "drying-loft": "paper-mill", "forge": "north-tools"}
"""Devices with the merchants who see their readings, the busiest first."""

TEAS = ("Green", "Black", "White", "Smoked", "Mountain", "Jasmine")
FAMILIES = (
    ("leafhouse", "tea", TEAS, ("Tea", "Tea in Bags")),
    ("leafhouse", "gifts", TEAS, ("Tea Tin", "Tea Sampler")),
    ("paper-mill", "stationery", ("Ruled", "Plain", "Squared", "Dotted"), ("Notebook", "Pad", "Index Cards")),
    ("north-tools", "tools", ("Small", "Large"), ("Chisel", "Mallet", "Block Plane", "Whetstone")),
    ("lumen", "lighting", ("Brass", "Linen"), ("Lamp", "Lampshade")),
)
"""The products of merchants: their category, and the parts of their names."""
WEIGHTS = {"leafhouse": 24, "paper-mill": 12, "north-tools": 8, "lumen": 4}
"""The shares of orders."""
FIRST_NAMES = (
    "Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Frances", "Niklaus", "Radia", "Tony", "Margaret", "Ken",
)  # fmt: skip
DEMO_USERS = (("customer@example.com", None), ("merchant@example.com", "leafhouse"))
"""The users with a password: the first customer, and one who sells for a merchant."""
DEMO_PASSWORD = "open the counter"  # noqa: S105 - the sample's password, which the documentation publishes
DEMO_HASH = "$argon2id$v=19$m=65536,t=3,p=4$SJvcLGvJKAxpchUOlBNCBw$NOYLbCuLfIgqAAiCUxDUKXY1GrPkUygJ8TLMC+7tmK4"
"""The hash of the password, fixed because hashing takes time."""
STEADY = 1200
"""The number of orders above which there are more users."""
MERCHANTS = {
    "leafhouse": ("Leafhouse", "Tea from eleven gardens, bought each spring by the people who sell it."),
    "paper-mill": ("The Paper Mill", "Notebooks that lie flat, made in the mill where their paper is."),
    "north-tools": ("North Tools", "Hand tools that can be sharpened, repaired and left to somebody."),
    "lumen": ("Lumen", "Lamps in brass and linen, and every spare part of them."),
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


def sample(design: Shop, count: int, progress: Progress) -> int:
    """Write sample orders 0 to ``count``, all products and users, and some readings; returns the number of new orders.

    An order's header is written last, so an interrupted sample is completed by the next one.
    """
    first = design.order_parts(order_id(0))
    newest = next((part.ordered_at for part in first if isinstance(part, Payment)), now().replace(microsecond=0))

    def write(numbers: range) -> int:
        orders = [sample_order(number, newest) for number in numbers]
        new = not_there(design, orders, lambda each: each[0].order, "user_id", "created_at", "order_id")
        design.batch(Put(item) for details, events in new for item in (*details.lines, *events))
        design.transact(Create(item) for details, _ in new for item in (details.order, *details.payments))
        return len(new)

    progress(0, count)
    _write_products(design, newest)
    _write_users(design, count, newest)
    written = in_steps(count, STEP, write, progress)
    design.batch(Put(reading) for reading in _readings(count * READINGS_AN_ORDER, newest))
    refill_beside(design.store.url, partial(rebuild, design))
    return written


def _write_products(design: Shop, newest: datetime) -> None:
    for merchant_id, (name, about) in MERCHANTS.items():
        devices = [device for device, owner in DEVICES.items() if owner == merchant_id]
        design.put(Merchant(merchant_id=merchant_id, name=name, about=about, devices=devices))
    made = [product for merchant in MERCHANTS for product in products_of(merchant, newest)]
    new = not_there(design, made, lambda product: product, "product_id")
    listings = [listing for product in made if (listing := listing_of(product)) is not None]
    design.batch(Put(entity) for entity in (*new, *listings, *related(made, newest)))


def _write_users(design: Shop, count: int, newest: datetime) -> None:
    """Write the users. The first customer and the merchant can sign in."""
    email, merchant = DEMO_USERS[1]
    seller = User(user_id="merchant", email=email, name="Merchant", merchant_id=merchant, created_at=newest)
    new = not_there(design, (*users(count, newest), seller), lambda user: user, "user_id")
    for start in range(0, len(new), 2 * STEP):
        design.transact(Create(user) for user in new[start : start + 2 * STEP])
    for user in (user_id(0), seller.user_id):
        if design.credential(user) is None:
            design.put(Credential(user_id=user, password_hash=DEMO_HASH, changed_at=newest))


@cache
def products_of(merchant: str, newest: datetime) -> tuple[Product, ...]:
    """The products of a merchant, those with most sales first."""
    named = [
        (category, thing, kind)
        for seller, category, kinds, things in FAMILIES
        if seller == merchant
        for thing in things
        for kind in kinds
    ]
    return tuple(_product(merchant, number, *names, newest) for number, names in enumerate(named))


def _product(merchant: str, number: int, category: str, thing: str, kind: str, newest: datetime) -> Product:
    name = f"{kind} {thing}"
    chance = random.Random(f"keyplan shop product {name}")  # noqa: S311 - reproducible sample data
    price, stock = chance.randrange(250, 9000, 50) - 1, chance.choice((0, 3, 40, 250))
    return Product(
        product_id=name.lower().replace(" ", "-"),
        merchant_id=merchant,
        name=name,
        description=DESCRIPTIONS[thing].format(kind=kind.lower()),
        category=category,
        price_cents=price,
        stock=stock if number else 1000,
        picture=f"/static/shop-{thing.lower().replace(' ', '-')}.svg",
        listed_at=newest - timedelta(days=5 + 17 * number, hours=len(name)),
    )


def users(count: int, newest: datetime) -> tuple[User, ...]:
    """The users of the first ``count`` orders, those with most orders first."""
    return tuple(_user(number, newest) for number in range(_people(count)))


def _people(number: int) -> int:
    """The number of users at the time of an order."""
    return USERS + max(0, number - STEADY) // 10


def user_id(number: int) -> str:
    return f"u-{number:03d}"


def order_id(number: int) -> str:
    return f"o-{number:06d}"


@cache
def _user(number: int, newest: datetime) -> User:
    first, last = FIRST_NAMES[number % len(FIRST_NAMES)], LAST_NAMES[number % len(LAST_NAMES)]
    chance = random.Random(f"keyplan shop home {number}")  # noqa: S311 - reproducible sample data
    town, postcode, country = chance.choice(TOWNS)
    street = f"{chance.randrange(1, 120)} {chance.choice(STREETS)}"
    return User(
        user_id=user_id(number),
        email=f"{first}.{last}.{number}@example.com" if number else DEMO_USERS[0][0],
        name=f"{first} {last}",
        address=PostalAddress(name=f"{first} {last}", street=street, postcode=postcode, city=town, country=country),
        created_at=newest - timedelta(days=900 + number),
    )


def related(products: Iterable[Product], newest: datetime) -> Iterator[Related]:
    """Relations of each product to others of its merchant, mostly to those with most sales."""
    for product in products:
        chance = random.Random(f"keyplan shop related {product.product_id}")  # noqa: S311 - reproducible sample data
        others = [element for element in products_of(product.merchant_id, newest) if element != product]
        for other in dict.fromkeys(
            choice.product_id for choice in chance.choices(others, zipf(len(others)), k=chance.randrange(1, 6))
        ):
            yield Related(product_id=product.product_id, related_id=other)


def sample_order(number: int, newest: datetime) -> tuple[OrderDetails, list[OrderEvent]]:
    """Sample order ``number``, as the shop's writes would leave it."""
    chance = random.Random(f"keyplan shop {number}")  # noqa: S311 - reproducible sample data
    at = newest - timedelta(minutes=number * MINUTES_AN_ORDER, seconds=chance.randrange(60) if number else 0)
    merchant = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    theirs = products_of(merchant, newest)
    how_many = chance.choices((1, 2, 3, 5), (5, 3, 2, 1))[0]
    chosen = {
        choice.product_id: choice for choice in chance.choices(theirs, cum_weights=zipf_sums(len(theirs)), k=how_many)
    }
    wanted = [(product, chance.choices((1, 2, 6), (8, 3, 1))[0]) for _, product in sorted(chosen.items())]
    buyer = _user(drawn(chance, _people(number)), newest)
    order, lines, (due,) = placed(buyer.user_id, wanted, order_id(number), at, buyer.address)
    status, payment_status = _status(chance, number)
    shipped = {"shipped_at": at + timedelta(days=1), "tracking": f"KP{number:06d}"} if status == "shipped" else {}
    order = order.model_copy(update={"status": status, **shipped})
    external = None if payment_status in {"due", "void"} else f"pi_{number:06d}"
    payment = due.model_copy(update={"status": payment_status, "external_id": external})
    return OrderDetails(order, lines, [payment]), list(_events(chance, order, payment))


def _status(chance: random.Random, number: int) -> tuple[OrderStatus, PaymentStatus]:
    """A status and its payment's: most of the newest orders are open, most of the older ones shipped."""
    weights = (6, 3, 0, 1) if number < PENDING_MAX else (0, 3, 90, 7)
    statuses: tuple[OrderStatus, ...] = ("pending", "paid", "shipped", "cancelled")
    status = chance.choices(statuses, weights)[0]
    if status == "cancelled":
        return status, chance.choice(("void", "refunded"))
    return status, "due" if status == "pending" else "paid"


def _events(chance: random.Random, order: Order, payment: Payment) -> Iterator[OrderEvent]:
    at, paid, ended = order.created_at, payment.external_id is not None, order.status in {"shipped", "cancelled"}
    for kind in ("placed", *["paid"] * paid, *[order.status] * ended):
        yield event_of(order, kind, at)
        at += timedelta(minutes=chance.randrange(2, MINUTES_AN_ORDER))


def _readings(count: int, newest: datetime) -> Iterator[Reading]:
    """Readings of the devices, most of the first one."""
    for position, device in enumerate(DEVICES):
        every = timedelta(minutes=10 * (position + 1) ** 2)
        share = count * 6 // (9 * (position + 1) ** 2)
        for number in range(share):
            chance = random.Random(f"keyplan shop {device} {number}")  # noqa: S311 - reproducible sample data
            at = newest - every * number
            yield Reading(
                device_id=device, at=at, value=round(4 + chance.gauss(0, 0.5), 2), expires_at=at + READING_KEPT
            )
