"""What merchants see: their orders by status, what to ship, refunds, returns; their goods."""

from __future__ import annotations

import re
from typing import get_args

from starlette.responses import Response

from keyplan import ulid
from keyplan.errors import Refused
from keyplan_systems.pages.site import Turn
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import OrderDetails, OrderStatus
from keyplan_systems.shop.site.people import merchant_of
from keyplan_systems.site.problems import Problem, not_found

__all__ = ["act", "change_product", "goods", "order", "orders"]

ShopTurn = Turn[Shop]
STATUSES: dict[str, OrderStatus] = {value: value for value in get_args(OrderStatus)}


def orders(turn: ShopTurn) -> Response:
    """The merchant's orders of a status; what to ship, unless another is asked for. And what is on its way back."""
    shop, merchant_id = turn.design, merchant_of(turn.person)
    status = STATUSES.get(turn.query.get("status", ""), "paid")
    if status == "paid":
        page = shop.orders_to_ship(merchant_id, cursor=turn.cursor)
    else:
        wanted: list[OrderStatus] = [status]
        page = shop.orders_of_merchant(merchant_id, wanted, cursor=turn.cursor)
    returns = shop.awaited_returns(merchant_id, limit=20).items
    return turn.page(
        "selling.html", status=status, statuses=STATUSES, orders=page.items, cursor=page.cursor, returns=returns
    )


def order(turn: ShopTurn) -> Response:
    """One of the merchant's orders."""
    return _order_page(turn, _own(turn))


def _order_page(turn: ShopTurn, details: OrderDetails, status: int = 200) -> Response:
    names = {
        product.product_id: product.name
        for product in turn.design.products(sorted({x.product_id for x in details.lines}))
    }
    token = turn.form["refund"] or ulid()
    return turn.page("order.html", status, details=details, names=names, selling=True, token=token)


def act(turn: ShopTurn) -> Response:
    """Ship an order, cancel it, refund a part of it, decide a return."""
    shop, details = turn.design, _own(turn)
    order_id, action = details.order.order_id, turn.path("action")
    match action:
        case "ship":
            shop.ship(order_id, turn.form.text("tracking", "Tracking number", 200, required=False) or None)
        case "cancel":
            shop.cancel(order_id)
        case "refund":
            cents = cents_of(turn.form.text("amount", "Amount", 20))
            reason = turn.form.text("reason", "Reason", 200, required=False)
            left = details.payments[0].amount_cents - details.payments[0].refunded_cents
            if cents is None:
                turn.form.fault("amount", "an amount such as 12.50")
            elif cents > left:
                turn.form.fault("amount", f"at most {left // 100}.{left % 100:02d}")
            if not turn.form or cents is None:
                return _order_page(turn, details, 422)
            try:
                shop.refund(order_id, turn.form["refund"] or ulid(), cents, reason)
            except Refused as error:
                turn.form.fault("amount", error.message)
                return _order_page(turn, details, 422)
        case "received":
            shop.receive_return(order_id, turn.form["return"], restock=bool(turn.form["restock"]))
        case "refused":
            shop.refuse_return(order_id, turn.form["return"])
        case _:
            raise not_found()
    return turn.go(f"/selling/{order_id}", "saved")


def cents_of(text: str) -> int | None:
    """An amount of money above nothing in minor units; None for what is none."""
    whole, _, part = text.strip().partition(".")
    if not re.fullmatch(r"[0-9]{1,8}(\.[0-9]{1,2})?", text.strip()):
        return None
    return int(whole) * 100 + int(part.ljust(2, "0")) or None


def goods(turn: ShopTurn) -> Response:
    """What the merchant sells."""
    page = turn.design.products_of_merchant(merchant_of(turn.person), cursor=turn.cursor)
    return turn.page("stock.html", goods=page.items, cursor=page.cursor)


def change_product(turn: ShopTurn) -> Response:
    """Another price, or more pieces of a product."""
    shop, product_id = turn.design, turn.path("product_id")
    product = shop.product(product_id)
    if product is None or product.merchant_id != merchant_of(turn.person):
        raise not_found()
    price, more = turn.form["price"].strip(), turn.form["more"].strip()
    cents = cents_of(price) if price else product.price_cents
    pieces = int(more) if more.isascii() and more.isdigit() and len(more) < 5 else None if more else 0
    if cents is None or pieces is None:
        raise Problem(422, "That can't be taken", "A price is such as 12.50; pieces are a whole number.", _STOCK)
    if cents != product.price_cents:
        shop.reprice(product_id, cents)
    if pieces:
        shop.restock(product_id, pieces)
    return turn.go("/selling/goods", "saved")


_STOCK = (("Your goods", "/selling/goods"),)


def _own(turn: ShopTurn) -> OrderDetails:
    """The order of the address, if it is the merchant's. Raises Problem."""
    details = turn.design.order_details(turn.path("order_id"))
    if details is None or details.order.merchant_id != merchant_of(turn.person):
        raise not_found()
    return details
