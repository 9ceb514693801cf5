"""Writes of orders: placing, paying, shipping, cancelling, releasing unpaid ones; refunds, events and readings."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from keyplan import Add, Batch, Create, Delete, Example, Put, Update, Writes, now, ulid, write
from keyplan.errors import ErrorDetail, ItemNotFound, Refused
from keyplan_systems.shop.entities import (
    ALLOWED,
    READING_KEPT,
    TOKEN_KEPT,
    Id,
    Items,
    Line,
    Order,
    OrderDetails,
    OrderEvent,
    OrderLine,
    OrderStatus,
    OrderToken,
    Payment,
    PostalAddress,
    Product,
    Reading,
    Total,
)
from keyplan_systems.shop.reads import Reads


class OrderWrites(Reads):
    """Writes of orders."""

    @write("W7", attempts=30, example=Example(total_cents=None).missing("order_token"))
    def place_order(self, user_id: Id, token: Id, items: Items, total_cents: Total | None = None) -> Writes[Order]:
        """Place an order at the current prices: header, lines, payment and stock in one transaction.

        The client chooses a new ``token`` for each order: the call is idempotent for a token and its items. The order
        has a copy of the user's address. Its products leave the user's cart. ``total_cents`` is the total that the
        customer saw, if any. Raises Refused for another total, for a token that was used for other items, for products
        of several merchants, for unlisted products and for too little stock; ItemNotFound for an unknown user or
        product.
        """
        body = hashlib.sha256(json.dumps(items, sort_keys=True).encode()).hexdigest()
        used = yield from self.order_token.read(user_id, token)
        if used is not None:
            return (yield from self._placed_before(used, body))
        user = yield from self.user.read(user_id)
        if user is None:
            raise ItemNotFound(f"there is no user {user_id!r}", place="Shop.place_order", hint="first call register")
        products = yield from self.products.read(sorted(items))
        _check_wanted(items, {product.product_id: product for product in products})
        wanted = [(product, items[product.product_id]) for product in products]
        order, lines, (payment,) = placed(user_id, wanted, ulid(), now(), user.address)
        if total_cents not in {None, order.total_cents}:
            raise Refused(
                "a price has changed since the cart was shown",
                place="Shop.place_order",
                hint=f"the total is {order.total_cents}, not {total_cents}, in minor units: show the cart again",
            )
        yield Create(
            OrderToken(
                user_id=user_id,
                token=token,
                order_id=order.order_id,
                ordered_at=order.created_at,
                body=body,
                expires_at=order.created_at + TOKEN_KEPT,
            )
        )
        yield Create(order)
        for line, (product, _) in zip(lines, wanted, strict=True):
            yield Create(line)
            # The type of ``stock`` has the minimum 0, so the update fails if there is too little stock.
            yield (
                Update(Product, product_id=line.product_id)
                .set(stock=Add(-line.quantity))
                .only_if(price_cents=line.price_cents, listed_at=product.listed_at)
            )
        yield Create(payment)
        yield Create(event_of(order, "placed", order.created_at))
        cart = yield from self.cart.read(user_id, order.merchant_id)
        left = {name: number for name, number in cart.items.items() if name not in items} if cart else {}
        if cart is not None:
            action = Update(cart, items=left, changed_at=now()) if left else Delete(cart)
            yield action.only_if(changed_at=cart.changed_at)
        return order

    @write(
        "W8",
        attempts=30,
        example=Example(amount_cents=100).found(Order, total_cents=100).found(Payment, external_id=None),
    )
    def pay(self, order_id: Id, external_id: Id, amount_cents: Total) -> Writes[Order]:
        """Record an order's payment. Repeating the same payment returns the paid order.

        Raises Refused for another amount and for an order that isn't pending, UniqueValueTaken for an external payment
        that paid another order; ItemNotFound.
        """
        order, _, (payment,) = yield from self._whole(order_id, "Shop.pay")
        if amount_cents != order.total_cents:
            raise Refused(
                f"the payment is {amount_cents} (minor units), expected {order.total_cents}, the order's total",
                place="Shop.pay",
                hint="pay the order's total",
            )
        if payment.external_id == external_id and order.status in {"paid", "shipped"}:
            return order
        paid = yield from _moved(order, "paid", "Shop.pay")
        yield Update(payment, status="paid", external_id=external_id).only_if(status=payment.status)
        return paid

    @write("W9", attempts=30, example=Example().found(Order, status="paid"))
    def ship(self, order_id: Id, tracking: Line | None = None) -> Writes[Order]:
        """Ship a paid order; ``tracking`` is the carrier's number. Raises Refused for any other order, ItemNotFound."""
        order = (yield from self._whole(order_id, "Shop.ship")).order
        return (yield from _moved(order, "shipped", "Shop.ship", shipped_at=now(), tracking=tracking))

    @write("W10", attempts=30)
    def cancel(self, order_id: Id) -> Writes[Order]:
        """Cancel an order that isn't shipped: its stock can be sold again, and its payment is void or to be refunded.

        Raises Refused for a shipped or cancelled order, ItemNotFound.
        """
        whole = yield from self._whole(order_id, "Shop.cancel")
        return (yield from _cancelled(whole, "Shop.cancel"))

    @write("W20", attempts=30, example=Example(before="2100-01-01T00:00:00Z"))
    def release(self, order_id: Id, before: datetime) -> Writes[Order]:
        """Cancel an unpaid order that was placed before a time. ``keeping.py`` calls it.

        Raises Refused for a later order and for one that isn't pending; ItemNotFound.
        """
        whole = yield from self._whole(order_id, "Shop.release")
        if whole.order.status != "pending" or whole.order.created_at >= before:
            raise Refused(
                f"order {order_id} is {whole.order.status}, and was placed at {whole.order.created_at:%Y-%m-%d %H:%M}",
                place="Shop.release",
                hint="release only orders that are pending and were placed before the given time",
            )
        return (yield from _cancelled(whole, "Shop.release"))

    @write("W21", attempts=10, example=Example().found(Payment, status="refund_due"))
    def settle_refund(self, order_id: Id, refund_id: Id) -> Writes:
        """Mark an order's payment as refunded by the provider. Idempotent. Raises Refused without a due refund."""
        _, _, (payment,) = yield from self._whole(order_id, "Shop.settle_refund")
        if payment.status == "refunded":
            return
        if payment.status != "refund_due":
            raise Refused(f"order {order_id}: no refund is due (payment {payment.status})", place="Shop.settle_refund")
        yield Update(payment, status="refunded", refund_id=refund_id).only_if(status="refund_due")

    @write("W11")
    def record_events(self, events: list[OrderEvent]) -> Writes:
        """Record events of orders from other systems. Idempotent."""
        yield Batch(Put(event) for event in events)

    @write("W12")
    def record_readings(self, readings: list[Reading]) -> Writes:
        """Record readings of devices. A reading replaces one of the same device and time."""
        yield Batch(Put(_expiring(reading)) for reading in readings)

    def _placed_before(self, used: OrderToken, body: str) -> Writes[Order]:
        if used.body != body:
            raise Refused(
                f"token {used.token!r} was used for other items, in order {used.order_id}",
                place="Shop.place_order",
                hint="use a new token for each order",
            )
        order = yield from self.order.read(used.user_id, used.ordered_at, used.order_id)
        if order is None:
            raise ItemNotFound(f"order {used.order_id!r} no longer exists", place="Shop.place_order")
        return order

    def _whole(self, order_id: str, place: str) -> Writes[OrderDetails]:
        """An order, read from the table, because the index of E3 is eventually consistent."""
        parts = yield from self.order_parts.read(order_id)
        payment = next((part for part in parts if isinstance(part, Payment)), None)
        order = None
        if payment is not None:
            order = yield from self.order.read(payment.user_id, payment.ordered_at, order_id)
        if payment is None or order is None:
            raise ItemNotFound(f"there is no order {order_id!r}", place=place, hint="place the order with place_order")
        return OrderDetails(order, [part for part in parts if isinstance(part, OrderLine)], [payment])


def _moved(order: Order, status: OrderStatus, place: str, **more: Any) -> Writes[Order]:
    """Change an order's status and add the event, if the status is still the one that was read."""
    if status not in ALLOWED[order.status]:
        allowed = " or ".join(sorted(ALLOWED[order.status]))
        raise Refused(
            f"order {order.order_id} is {order.status} and can't become {status}",
            place=place,
            hint=f"the next status can be {allowed}" if allowed else f"the status {order.status} is final",
        )
    yield Update(order, status=status, **more).only_if(status=order.status)
    yield Create(event_of(order, status, now()))
    return order.model_copy(update={"status": status, **more})


def _cancelled(whole: OrderDetails, place: str) -> Writes[Order]:
    """Cancel an order, with its stock and its payment."""
    order, lines, (payment,) = whole
    cancelled = yield from _moved(order, "cancelled", place)
    back = Counter[str]()
    for line in lines:
        back[line.product_id] += line.quantity
    for product_id, quantity in back.items():
        yield Update(Product, product_id=product_id).set(stock=Add(quantity))
    status = "void" if payment.status == "due" else "refund_due" if payment.amount_cents else "refunded"
    yield Update(payment, status=status).only_if(status=payment.status)
    return cancelled


def event_of(order: Order, kind: str, at: datetime) -> OrderEvent:
    """An event of an order. Each kind happens once, so it is in the id."""
    event_id = f"{order.order_id}-{kind}"
    return OrderEvent(event_id=event_id, order_id=order.order_id, merchant_id=order.merchant_id, kind=kind, at=at)


def placed(
    user_id: str, wanted: Sequence[tuple[Product, int]], order_id: str, at: datetime, ship_to: PostalAddress | None
) -> OrderDetails:
    """A new order of products of one merchant at their prices."""
    lines = [
        OrderLine(
            order_id=order_id,
            line=number,
            product_id=product.product_id,
            quantity=quantity,
            price_cents=product.price_cents,
        )
        for number, (product, quantity) in enumerate(wanted, 1)
    ]
    return order_of(user_id, wanted[0][0].merchant_id, lines, at, ship_to)


def order_of(
    user_id: str, merchant_id: str, lines: list[OrderLine], at: datetime, ship_to: PostalAddress | None
) -> OrderDetails:
    """A new order of these lines, with its payment."""
    order = Order(
        order_id=lines[0].order_id,
        user_id=user_id,
        merchant_id=merchant_id,
        total_cents=sum(line.quantity * line.price_cents for line in lines),
        created_at=at,
        ship_to=ship_to,
    )
    payment = Payment(order_id=order.order_id, user_id=user_id, ordered_at=at, amount_cents=order.total_cents)
    return OrderDetails(order, lines, [payment])


def _check_wanted(items: Mapping[str, int], products: Mapping[str, Product]) -> None:
    """Raises ItemNotFound for unknown products; Refused for several merchants, unlisted products, too little stock."""
    place = "Shop.place_order"
    unknown = [name for name in sorted(items) if name not in products]
    if unknown:
        names = ", ".join(map(repr, unknown))
        raise ItemNotFound(f"there is no product {names}", place=place, hint="use the ids of existing products")
    merchants = sorted({product.merchant_id for product in products.values()})
    if len(merchants) > 1:
        raise Refused(
            f"the products belong to {len(merchants)} merchants ({', '.join(merchants)})",
            place=place,
            hint="place an order for each merchant",
        )
    faults = [
        ErrorDetail(
            f"items[{name}]",
            f"{product.name}: {wanted} ordered, {product.stock} in stock"
            if product.listed_at
            else f"{product.name} is no longer available",
        )
        for name, wanted in sorted(items.items())
        if not (product := products[name]).listed_at or product.stock < wanted
    ]
    if faults:
        raise Refused("products are unavailable", place=place, hint="order less, or remove products", errors=faults)


def _expiring(reading: Reading) -> Reading:
    if reading.expires_at is not None:
        return reading
    return reading.model_copy(update={"expires_at": reading.at + READING_KEPT})
