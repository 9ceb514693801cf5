"""The pages of merchants: orders, products with pictures, order events, device readings."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.responses import JSONResponse, Response

from keyplan import Range, now
from keyplan.errors import ItemExists, Refused
from keyplan_systems.pages.site import Turn
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import STATUSES, Merchant, Product, ProductDetails, cents_of
from keyplan_systems.shop.searching import keep_found
from keyplan_systems.shop.site.pages import order_in_url, order_page
from keyplan_systems.shop.site.people import merchant_of
from keyplan_systems.site.files import Files
from keyplan_systems.site.pictures import picture_from
from keyplan_systems.site.problems import Problem, not_found
from keyplan_systems.site.searching import Search
from keyplan_systems.site.serving import file_response
from keyplan_systems.words import numbered, slug_from

ShopTurn = Turn[Shop]
READINGS_SHOWN = 500


class Selling:
    """The pages and forms of merchants."""

    def __init__(self, search: Search, files: Files) -> None:
        self._search = search
        self._files = files

    # Orders

    def orders(self, turn: ShopTurn) -> Response:
        """The merchant's orders of a status, by default those to ship."""
        shop, merchant_id = turn.design, merchant_of(turn.person)
        match status := STATUSES.get(turn.query.get("status", ""), "paid"):
            case "paid":
                page = shop.orders_to_ship(merchant_id, cursor=turn.cursor)
            case "pending":
                page = shop.pending_orders(merchant_id, cursor=turn.cursor)
            case _:
                page = shop.orders_of_merchant(merchant_id, [status], cursor=turn.cursor)
        return turn.page("selling.html", status=status, statuses=STATUSES, orders=page.items, cursor=page.cursor)

    def order(self, turn: ShopTurn) -> Response:
        return order_page(turn, order_in_url(turn, selling=True), selling=True)

    def act(self, turn: ShopTurn) -> Response:
        """Ship or cancel an order."""
        shop, order_id = turn.design, order_in_url(turn, selling=True).order.order_id
        match turn.path("action"):
            case "ship":
                shop.ship(order_id, turn.form.text("tracking", "Tracking number", 200, required=False) or None)
            case "cancel":
                shop.cancel(order_id)
            case _:
                raise not_found()
        return turn.go(f"/selling/{order_id}", "saved")

    # Products

    def goods(self, turn: ShopTurn) -> Response:
        """The merchant's listed products."""
        page = turn.design.products_of_merchant(merchant_of(turn.person), cursor=turn.cursor)
        return turn.page("stock.html", goods=page.items, cursor=page.cursor)

    def new_product(self, turn: ShopTurn) -> Response:
        turn.form.typed |= {"category": "other", "more": "0", "listed": "yes"}
        return turn.page("edit_product.html", product=None)

    def add_product(self, turn: ShopTurn) -> Response:
        """Add a product. Its id is the slug of its name, with a number if that id is in use."""
        details, more = _details(turn)
        if details is None or more is None:
            return turn.page("edit_product.html", 422, product=None)
        given = details.model_dump(exclude={"listed"}) | {"listed_at": now() if details.listed else None, "stock": more}
        for product_id in numbered(slug_from(details.name, "product")):
            ids = {"product_id": product_id, "merchant_id": merchant_of(turn.person)}
            product = Product.model_validate(given | ids)
            try:
                turn.design.add_product(product)
            except ItemExists:
                continue
            return self._saved(turn, product_id)
        raise Problem(409, "Product name in use", "Choose another name.", (("Your products", "/selling/goods"),))

    def product(self, turn: ShopTurn) -> Response:
        product = _own_product(turn)
        turn.form.typed |= {name: str(getattr(product, name) or "") for name in ("name", "description", "category")}
        turn.form.typed |= {"price": f"{product.price_cents // 100}.{product.price_cents % 100:02d}", "more": "0"}
        turn.form.typed |= {"picture": product.picture or "", "listed": "yes" if product.listed_at else ""}
        return turn.page("edit_product.html", product=product)

    def edit_product(self, turn: ShopTurn) -> Response:
        """Change a product, and add to its stock."""
        product = _own_product(turn)
        details, more = _details(turn)
        if details is None or more is None:
            return turn.page("edit_product.html", 422, product=product)
        turn.design.edit_product(product.product_id, details)
        if more:
            turn.design.restock(product.product_id, more)
        return self._saved(turn, product.product_id)

    def _saved(self, turn: ShopTurn, product_id: str) -> Response:
        keep_found(turn.design, self._search, product_id)
        return turn.go(f"/products/{product_id}", "saved")

    def take_picture(self, turn: ShopTurn) -> Response:
        """Store an uploaded picture; the response has its URL."""
        try:
            with turn.site.hashing:  # decoding needs as much CPU as hashing
                picture = picture_from(turn.form.data, merchant_of(turn.person))
        except Refused as error:
            return JSONResponse({"error": error.errors[0].message}, status_code=422)
        self._files.put(picture.name, picture.content)
        return JSONResponse({"url": f"/pictures/{picture.name}"})

    def picture(self, turn: ShopTurn) -> Response:
        return file_response(self._files, turn.path("name"))

    # Events of orders, and readings of devices

    def events(self, turn: ShopTurn) -> Response:
        """The events of the merchant's orders on a day, oldest first."""
        day = _day(turn)
        page = turn.design.events_of_day(day.date(), cursor=turn.cursor)
        own = [event for event in page if event.merchant_id == merchant_of(turn.person)]
        return turn.page("events.html", events=own, cursor=page.cursor, day=day.date())

    def readings(self, turn: ShopTurn) -> Response:
        """The readings of one of the merchant's devices on a day."""
        owner = turn.design.merchant(merchant_of(turn.person)) or Merchant(merchant_id="-", name="-")
        device = turn.query.get("device") or next(iter(owner.devices), "")
        if device and device not in owner.devices:
            raise not_found()
        day = _day(turn)
        span = Range(ge=day, lt=day + timedelta(days=1))
        readings = turn.design.readings(device, span, limit=READINGS_SHOWN).items if device else []
        return turn.page("readings.html", devices=owner.devices, device=device, day=day.date(), readings=readings)


def _day(turn: ShopTurn) -> datetime:
    """The day of ``?day=``, by default today. Raises Problem."""
    text = turn.query.get("day", "")
    try:
        at = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC) if text else now()
    except ValueError:
        raise Problem(400, "Invalid date", "Enter a date such as 2026-05-04.") from None
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def _details(turn: ShopTurn) -> tuple[ProductDetails | None, int | None]:
    """A product's form: the editable fields, and the quantity to add; None, with errors, if it is invalid."""
    form = turn.form
    given: dict[str, Any] = {
        "name": form.text("name", "Name", 200),
        "description": form.text("description", "Description", 5000, required=False, lines=True),
        "category": slug_from(form.text("category", "Category", 60, required=False), "other"),
        "picture": form.text("picture", "Picture", 1000, required=False) or None,
    }
    cents, more = cents_of(form.text("price", "Price", 20)), form.number("more", "Pieces to add")
    if not cents:
        form.fault("price", "enter an amount such as 12.50")
    if more is not None and more > 10_000:
        form.fault("more", "enter at most 10,000 pieces")
    if given["picture"] and not re.fullmatch(r"(https://|/)\S+", given["picture"]):
        form.fault("picture", "enter a URL that starts with https:// or /")
    if not form or not cents:
        return None, None
    return ProductDetails(**given, price_cents=cents, listed=bool(form["listed"])), more


def _own_product(turn: ShopTurn) -> Product:
    """The product in the URL, if it is the merchant's. Raises Problem."""
    product = turn.design.product(turn.path("product_id"))
    if product is None or product.merchant_id != merchant_of(turn.person):
        raise not_found()
    return product
