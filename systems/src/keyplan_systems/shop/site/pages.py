"""What customers see: the goods, their carts, ordering and paying, their orders."""

from __future__ import annotations

from typing import NamedTuple

from starlette.responses import Response

from keyplan import ulid
from keyplan.errors import ItemNotFound, Refused
from keyplan_systems.pages.site import Turn
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import HELD, Cart, OrderDetails, PostalAddress, Product
from keyplan_systems.shop.payments import Declined, Provider
from keyplan_systems.shop.searching import found_products
from keyplan_systems.shop.site.countries import COUNTRIES
from keyplan_systems.site.problems import Problem, not_found
from keyplan_systems.site.searching import Search

__all__ = [
    "Customers",
    "Shelves",
    "addresses",
    "cancel_order",
    "cart",
    "category",
    "front",
    "merchant",
    "order",
    "orders",
    "product",
    "remove_address",
]

ShopTurn = Turn[Shop]
FOUND_MAX = 48


class CartLine(NamedTuple):
    """A product in a cart, with what so many of it cost."""

    product: Product
    quantity: int

    @property
    def cents(self) -> int:
        """What the line costs."""
        return self.product.price_cents * self.quantity


def front(turn: ShopTurn) -> Response:
    """What is new, and who sells."""
    shop = turn.design
    goods = shop.new_products(limit=12, cursor=turn.cursor)
    return turn.page("front.html", goods=goods.items, cursor=goods.cursor, merchants=shop.merchants(limit=20).items)


def merchant(turn: ShopTurn) -> Response:
    """What a merchant sells."""
    shop, merchant_id = turn.design, turn.path("merchant_id")
    result = shop.merchant(merchant_id)
    if result is None:
        raise not_found()
    goods = shop.products_of_merchant(merchant_id, cursor=turn.cursor)
    return turn.page("goods.html", heading=result.name, lede=result.about, goods=goods.items, cursor=goods.cursor)


def category(turn: ShopTurn) -> Response:
    """What is sold in a category."""
    name = turn.path("category")
    goods = turn.design.products_in_category(name, cursor=turn.cursor)
    if not goods.items and turn.cursor is None:
        raise not_found()
    return turn.page("goods.html", heading=name.capitalize(), lede="", goods=goods.items, cursor=goods.cursor)


def product(turn: ShopTurn) -> Response:
    """A product, and what it leads to."""
    shop, product_id = turn.design, turn.path("product_id")
    result = shop.product(product_id)
    if result is None:
        raise not_found()
    seller = shop.merchant(result.merchant_id)
    related = [element for element in shop.related_products(product_id, limit=6) if element.listed_at]
    return turn.page("product.html", product=result, seller=seller, related=related)


class Shelves:
    """What is found by words."""

    def __init__(self, search: Search) -> None:
        self.index = search

    def search(self, turn: ShopTurn) -> Response:
        """The products that have all of the words, the best first."""
        query = turn.query.get("q", "").strip()[:100]
        goods: list[Product] = []
        if query:
            turn.limit("search", turn.address)
            goods = found_products(turn.design, self.index, query, FOUND_MAX)
        lede = "" if query else "By words of names, categories, sellers and descriptions."
        heading = f"Search: {query}" if query else "Search"
        empty = "Nothing has all of these words." if query else "Write a word, or a few."
        return turn.page("goods.html", heading=heading, lede=lede, goods=goods, cursor=None, empty=empty)


# Carts


def cart(turn: ShopTurn) -> Response:
    """All that the customer means to buy, a cart a merchant."""
    return _cart_page(turn)


def _cart_page(turn: ShopTurn, status: int = 200) -> Response:
    shop = turn.design
    carts = [(element, *_lines(shop, element)) for element in shop.carts(turn.person.user_id)]
    names = {element.merchant_id: element.name for element in shop.merchants(limit=100)}
    return turn.page(
        "cart.html",
        status,
        carts=carts,
        names=names,
        addresses=shop.addresses(turn.person.user_id),
        token=ulid(),
    )


def _lines(shop: Shop, cart: Cart) -> tuple[list[CartLine], int]:
    lines = [CartLine(element, cart.items[element.product_id]) for element in shop.products(sorted(cart.items))]
    return lines, sum(line.cents for line in lines)


def _why_not(turn: ShopTurn, merchant_id: str, total: int) -> str:
    """What keeps a cart from being ordered, as a customer sees it: what there is too little of, or another total."""
    shop = turn.design
    cart = shop.cart(turn.person.user_id, merchant_id)
    lines, now_cents = ([], total) if cart is None else _lines(shop, cart)
    short = [line for line in lines if not line.product.listed_at or line.product.stock < line.quantity]
    if short:
        return "; ".join(
            f"{line.product.name}: {line.product.stock} in stock, and {line.quantity} in your cart"
            if line.product.listed_at
            else f"{line.product.name} isn’t sold any more"
            for line in short
        )
    return "A price has changed since you looked: this is what it costs now" if now_cents != total else ""


class Customers:
    """The forms that customers send; they pay by a provider."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider

    def put(self, turn: ShopTurn) -> Response:
        """Have so many of a product in the cart."""
        quantity = turn.form.number("quantity", "How many")
        if quantity is None or quantity > 10_000:
            raise Problem(422, "How many?", "A whole number is needed.", (("Your cart", "/cart"),))
        turn.design.put_in_cart(turn.person.user_id, turn.form["product"], quantity)
        return turn.go("/cart", "cart")

    def add_address(self, turn: ShopTurn) -> Response:
        """A new address."""
        form = turn.form
        postal = {
            "name": form.text("name", "Name", 200),
            "street": form.text("street", "Street", 200),
            "postcode": form.text("postcode", "Postcode", 20, required=False),
            "city": form.text("city", "City", 100),
            "country": form.text("country", "Country", 60).upper(),
        }
        if form and postal["country"] not in COUNTRIES:
            form.fault("country", "choose a country")
        if not form:
            return _address_page(turn, 422)
        shop, user_id = turn.design, turn.person.user_id
        try:
            shop.save_address(user_id, ulid(), PostalAddress(**postal))
        except Refused as error:
            form.fault("", f"{error.message}: {error.hint}")
            return _address_page(turn, 422)
        return turn.go("/cart" if shop.carts(user_id) else "/addresses", "address")

    def checkout(self, turn: ShopTurn) -> Response:
        """Order a cart."""
        form = turn.form
        total, token, address = form.number("total", "Total"), form["token"], form["address"]
        if total is None or not 1 <= len(token) <= 100:
            raise Problem(400, "That can't be done", "The form isn't whole.", (("Your cart", "/cart"),))
        if not address:
            raise Problem(422, "Where to?", "Choose an address, or add one first.", (("Your cart", "/cart"),))
        try:
            placed = turn.design.order_cart(turn.person.user_id, form["merchant"], token, total, address)
        except ItemNotFound:  # it was ordered, or emptied, in another window
            raise Problem(
                409,
                "This cart has changed meanwhile",
                "Nothing was ordered by this click.",
                (("Your cart", "/cart"), ("Your orders", "/orders")),
            ) from None
        except Refused as error:
            form.fault("", _why_not(turn, form["merchant"], total) or error.message)
            return _cart_page(turn, 409)
        return turn.go(f"/orders/{placed.order_id}", "placed")

    def pay(self, turn: ShopTurn) -> Response:
        """Pay an order by card. If the shop can't take it any more, the money goes back at once."""
        details = _own(turn)
        result = details.order
        if result.status != "pending":
            return turn.go(f"/orders/{result.order_id}")
        card = turn.form.text("card", "Card number", 30)
        if not turn.form:
            return _order_page(turn, details, 422)
        try:
            paid = self.provider.take(result.order_id, result.total_cents, card)
        except Declined as error:
            turn.form.fault("card", str(error))
            return _order_page(turn, details, 422)
        try:
            turn.design.pay(result.order_id, paid.external_id, paid.amount_cents)
        except Refused:  # it was released, or cancelled, while the provider was asked
            self.provider.give_back(f"{result.order_id}/late", paid.external_id, paid.amount_cents)
            raise Problem(
                409, "The order was cancelled meanwhile", "Nothing was charged.", (("Your orders", "/orders"),)
            ) from None
        return turn.go(f"/orders/{result.order_id}", "paid")

    def send_back(self, turn: ShopTurn) -> Response:
        """Ask to return something."""
        details = _own(turn)
        items = {
            name.removeprefix("back-"): int(text)
            for name, text in turn.form.typed.items()
            if name.startswith("back-") and text.isascii() and text.isdigit() and len(text) < 6 and int(text)
        }
        reason = turn.form.text("reason", "Reason", 200, required=False)
        if not items:
            turn.form.fault("", "say how many of at least one product go back")
        if turn.form:
            try:
                turn.design.request_return(details.order.order_id, turn.form["return"] or ulid(), items, reason)
            except Refused as error:
                turn.form.fault("", error.message)
        if not turn.form:
            return _order_page(turn, details, 422)
        return turn.go(f"/orders/{details.order.order_id}", "return")


# Orders


def addresses(turn: ShopTurn) -> Response:
    """The customer's addresses, and a form for a new one."""
    return _address_page(turn)


def _address_page(turn: ShopTurn, status: int = 200) -> Response:
    addresses = turn.design.addresses(turn.person.user_id)
    return turn.page("addresses.html", status, addresses=addresses, countries=COUNTRIES)


def remove_address(turn: ShopTurn) -> Response:
    """Take an address out of the book; orders keep what they were given."""
    turn.design.remove_address(turn.person.user_id, turn.path("address_id"))
    return turn.go("/addresses", "removed")


def orders(turn: ShopTurn) -> Response:
    """The customer's orders."""
    page = turn.design.orders_of_user(turn.person.user_id, cursor=turn.cursor)
    return turn.page("orders.html", orders=page.items, cursor=page.cursor)


def order(turn: ShopTurn) -> Response:
    """One of the customer's orders."""
    return _order_page(turn, _own(turn))


def cancel_order(turn: ShopTurn) -> Response:
    """Cancel an order that isn't shipped."""
    details = _own(turn)
    if details.order.status == "cancelled":  # by a second click, or since nobody paid
        return turn.go(f"/orders/{details.order.order_id}")
    turn.design.cancel(details.order.order_id)
    return turn.go(f"/orders/{details.order.order_id}", "cancelled")


def _order_page(turn: ShopTurn, details: OrderDetails, status: int = 200) -> Response:
    names = {
        element.product_id: element.name
        for element in turn.design.products(sorted({x.product_id for x in details.lines}))
    }
    token = turn.form["return"] or ulid()
    kept_until = details.order.created_at + HELD
    return turn.page(
        "order.html", status, details=details, names=names, selling=False, token=token, kept_until=kept_until
    )


def _own(turn: ShopTurn) -> OrderDetails:
    """The order of the address, if it is the customer's. Raises Problem."""
    details = turn.design.order_details(turn.path("order_id"))
    if details is None or details.order.user_id != turn.person.user_id:
        raise not_found()
    return details
