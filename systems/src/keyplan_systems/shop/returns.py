"""The writes about what goes back: refunds, and returns of what was shipped.

A refund is due when it is made, in the transaction that it follows from; ``keeping.py`` lets the payment provider pay
it, and marks it as paid. So a process that dies in between loses none, and pays none twice.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from pydantic import Field

from keyplan import Add, Create, Example, Update, Writes, now, write
from keyplan.errors import ErrorDetail, ItemNotFound, Refused
from keyplan_systems.shop.entities import (
    LINES_MAX,
    REFUNDS_MAX,
    RETURN_WITHIN,
    RETURNS_MAX,
    Id,
    Items,
    Line,
    Order,
    OrderEvent,
    OrderLine,
    PartId,
    Payment,
    Product,
    Refund,
    Return,
    ReturnId,
    Total,
)
from keyplan_systems.shop.orders import CANCELLED, OrderWrites, WholeOrder, refunded

__all__ = ["ReturnWrites", "price_of"]

RETURNED = "return-"
"""What the ids of refunds of returns begin with."""
Back = Annotated[int, Field(ge=1, le=LINES_MAX * 10_000 * 1_000_000_000)]


class ReturnWrites(OrderWrites):
    """The writes about what goes back."""

    @write(
        "W26",
        attempts=30,
        example=Example(amount_cents=100).found(Payment, status="paid", amount_cents=500, refunded_cents=0),
    )
    def refund(self, order_id: Id, refund_id: PartId, amount_cents: Back, reason: Line = "") -> Writes[Refund]:
        """Give back a part of what was paid for an order, or all that is left.

        ``refund_id`` is the caller's, a new one for each refund: the same again gives the refund that was made. Raises
        Refused for another amount under the same id, for more than is left, and for an order that isn't paid;
        ItemNotFound.
        """
        whole = yield from self._whole(order_id, "Shop.refund")
        made = next((refund for refund in whole.refunds if refund.refund_id == refund_id), None)
        if made is not None:
            if made.amount_cents != amount_cents:
                raise Refused(f"refund {refund_id!r} was of {made.amount_cents}", place="Shop.refund")
            return made
        if refund_id == CANCELLED or refund_id.startswith(RETURNED):
            raise Refused(f"refund {refund_id!r} is named as the shop's own", place="Shop.refund", hint="name it else")
        _check_refund(whole, amount_cents, "Shop.refund")
        refund = yield from refunded(whole.payment, refund_id, amount_cents, reason)
        yield Create(OrderEvent(order_id=order_id, kind="refunded"))
        return refund

    @write("W27", attempts=10, example=Example(refund_id="r1").found(Refund, refund_id="r1"))
    def settle_refund(self, order_id: Id, refund_id: PartId, external_id: Id) -> Writes[Refund]:
        """The payment provider has paid a refund; told again, nothing changes. Raises ItemNotFound."""
        whole = yield from self._whole(order_id, "Shop.settle_refund")
        refund = next((each for each in whole.refunds if each.refund_id == refund_id), None)
        if refund is None:
            raise ItemNotFound(f"order {order_id} has no refund {refund_id!r}", place="Shop.settle_refund")
        if refund.status == "paid":
            return refund
        yield Update(refund, status="paid", external_id=external_id).only_if(status="due")
        return refund.model_copy(update={"status": "paid", "external_id": external_id})

    @write(
        "W28",
        attempts=30,
        example=Example(items={"p1": 1})
        .found(Order, status="shipped", shipped_at=None, returns=1)
        .found(OrderLine, product_id="p1", quantity=100),
    )
    def request_return(self, order_id: Id, return_id: ReturnId, items: Items, reason: Line = "") -> Writes[Return]:
        """A customer means to send back so many of these products, within 30 days after the order was shipped.

        ``return_id`` is the caller's: the same again gives the return that was made. Raises Refused for more than was
        bought and isn't on its way back already, for an order that isn't shipped, and later; ItemNotFound.
        """
        place = "Shop.request_return"
        whole = yield from self._whole(order_id, place)
        made = next((each for each in whole.returns if each.return_id == return_id), None)
        if made is not None:
            return made
        _check_return(whole, items, place)
        order = whole.order
        asked = Return(
            order_id=order_id, return_id=return_id, merchant_id=order.merchant_id, items=items, reason=reason
        )
        # Of two returns at once the second one sees the first.
        yield Update(order, returns=order.returns + 1).only_if(returns=order.returns, status=order.status)
        yield Create(asked)
        yield Create(OrderEvent(order_id=order_id, kind="return requested"))
        return asked

    @write(
        "W29",
        attempts=30,
        example=Example(return_id="r1", amount_cents=100)
        .found(Return, return_id="r1", items={"p1": 1})
        .found(Payment, status="paid", amount_cents=500, refunded_cents=0),
    )
    def receive_return(
        self, order_id: Id, return_id: ReturnId, amount_cents: Total | None = None, restock: bool = True
    ) -> Writes[Return]:
        """What was sent back is here: its price is to be refunded, or ``amount_cents``; it can be sold again, unless
        ``restock`` is false.

        Raises Refused for a return that isn't awaited, and for more than is left of the payment; ItemNotFound.
        """
        place = "Shop.receive_return"
        whole, asked = yield from self._awaited(order_id, return_id, place)
        left = whole.payment.amount_cents - whole.payment.refunded_cents
        amount = min(price_of(whole.lines, asked.items), left) if amount_cents is None else amount_cents
        yield Update(asked, status="received").only_if(status="requested")
        if amount:
            _check_refund(whole, amount, place)
            yield from refunded(whole.payment, f"{RETURNED}{return_id}", amount, asked.reason)
        if restock:
            for product_id, quantity in asked.items.items():
                yield Update(Product, product_id=product_id).set(stock=Add(quantity))
        yield Create(OrderEvent(order_id=order_id, kind="returned"))
        return asked.model_copy(update={"status": "received"})

    @write("W30", attempts=10, example=Example(return_id="r1").found(Return, return_id="r1"))
    def refuse_return(self, order_id: Id, return_id: ReturnId) -> Writes[Return]:
        """What a customer meant to send back isn't taken, or hasn't come. Raises Refused for a return that isn't
        awaited, ItemNotFound.
        """
        _, asked = yield from self._awaited(order_id, return_id, "Shop.refuse_return")
        yield Update(asked, status="refused").only_if(status="requested")
        yield Create(OrderEvent(order_id=order_id, kind="return refused"))
        return asked.model_copy(update={"status": "refused"})

    def _awaited(self, order_id: str, return_id: str, place: str) -> Writes[tuple[WholeOrder, Return]]:
        whole = yield from self._whole(order_id, place)
        asked = next((each for each in whole.returns if each.return_id == return_id), None)
        if asked is None:
            raise ItemNotFound(f"order {order_id} has no return {return_id!r}", place=place)
        if asked.status != "requested":
            raise Refused(f"return {return_id!r} was {asked.status}", place=place, hint="a return is decided once")
        return whole, asked


def price_of(lines: list[OrderLine], items: dict[str, int]) -> int:
    """What so many of these products cost in an order, in minor units."""
    wanted, total = dict(items), 0
    for line in lines:
        taken = min(wanted.get(line.product_id, 0), line.quantity)
        total += taken * line.price_cents
        wanted[line.product_id] = wanted.get(line.product_id, 0) - taken
    return total


def _check_refund(whole: WholeOrder, amount_cents: int, place: str) -> None:
    """Raises Refused for a refund that can't be made."""
    payment = whole.payment
    if payment.status != "paid":
        raise Refused(
            f"the payment of order {payment.order_id} is {payment.status}", place=place, hint="refund what was paid"
        )
    left = payment.amount_cents - payment.refunded_cents
    if amount_cents > left:
        raise Refused(f"{amount_cents} is more than the {left} that is left", place=place, hint="refund what is left")
    if len(whole.refunds) >= REFUNDS_MAX - 1:  # one is left for a cancellation
        raise Refused(f"order {payment.order_id} has {len(whole.refunds)} refunds", place=place)


def _check_return(whole: WholeOrder, items: dict[str, int], place: str) -> None:
    """Raises Refused for a return that can't be asked for."""
    order: Order = whole.order
    if order.status != "shipped":
        raise Refused(f"order {order.order_id} is {order.status}", place=place, hint="cancel what isn't shipped")
    if order.shipped_at is not None and now() > order.shipped_at + RETURN_WITHIN:
        raise Refused(f"it was shipped more than {RETURN_WITHIN.days} days ago", place=place, hint="ask the merchant")
    if order.returns >= RETURNS_MAX:
        raise Refused(f"order {order.order_id} has {order.returns} returns", place=place)
    left = Counter[str]()
    for line in whole.lines:
        left[line.product_id] += line.quantity
    for former in whole.returns:
        if former.status != "refused":
            left.subtract(former.items)
    faults = [
        ErrorDetail(f"items[{name}]", f"{wanted} to go back, {max(left[name], 0)} are left")
        for name, wanted in sorted(items.items())
        if wanted > left[name]
    ]
    if faults:
        raise Refused("more than was bought can't go back", place=place, errors=faults)
