"""The pages of customers: products, carts, orders, payment."""

from __future__ import annotations

from starlette.responses import Response

from keyplan import ulid
from keyplan.errors import Refused, UniqueValueTaken
from keyplan_systems.pages.site import Turn
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import HELD, OrderDetails, PostalAddress, Product
from keyplan_systems.shop.payments import Declined, Provider
from keyplan_systems.shop.searching import found_products
from keyplan_systems.shop.site.countries import COUNTRIES
from keyplan_systems.shop.site.people import merchant_of
from keyplan_systems.site.problems import Problem, not_found
from keyplan_systems.site.searching import Search

ShopTurn = Turn[Shop]
FOUND_MAX = 48


def front(turn: ShopTurn) -> Response:
    """New products, and the merchants."""
    shop = turn.design
    goods = shop.new_products(limit=12, cursor=turn.cursor)
    return turn.page("front.html", goods=goods.items, cursor=goods.cursor, merchants=shop.merchants(limit=20).items)


def merchant(turn: ShopTurn) -> Response:
    shop, merchant_id = turn.design, turn.path("merchant_id")
    result = shop.merchant(merchant_id)
    if result is None:
        raise not_found()
    goods = shop.products_of_merchant(merchant_id, cursor=turn.cursor)
    return turn.page("goods.html", heading=result.name, lede=result.about, goods=goods.items, cursor=goods.cursor)


def category(turn: ShopTurn) -> Response:
    name = turn.path("category")
    goods = turn.design.products_in_category(name, cursor=turn.cursor)
    if not goods.items and turn.cursor is None:
        raise not_found()
    return turn.page("goods.html", heading=name.capitalize(), lede="", goods=goods.items, cursor=goods.cursor)


def product(turn: ShopTurn) -> Response:
    shop, product_id = turn.design, turn.path("product_id")
    result = shop.product(product_id)
    if result is None:
        raise not_found()
    seller = shop.merchant(result.merchant_id)
    related = [element for element in shop.related_products(product_id, limit=6) if element.listed_at]
    return turn.page("product.html", product=result, seller=seller, related=related)


def search(turn: ShopTurn, index: Search) -> Response:
    """The products with all words of a query, the best first."""
    query = turn.query.get("q", "").strip()[:100]
    goods: list[Product] = []
    if query:
        turn.limit("search", turn.address)
        goods = found_products(turn.design, index, query, FOUND_MAX)
    lede = "" if query else "Search names, categories, sellers and descriptions."
    heading = f"Search: {query}" if query else "Search"
    empty = "No products match all of these words." if query else "Enter one or more words."
    return turn.page("goods.html", heading=heading, lede=lede, goods=goods, cursor=None, empty=empty)


# Carts


def cart(turn: ShopTurn, status: int = 200) -> Response:
    """The customer's carts, each with its products, their quantities and the total."""
    shop, carts = turn.design, []
    for one in shop.carts(turn.person.user_id):
        lines = [(product, one.items[product.product_id]) for product in shop.products(sorted(one.items))]
        carts.append((one, lines, sum(product.price_cents * quantity for product, quantity in lines)))
    names = {merchant.merchant_id: merchant.name for merchant in shop.merchants(limit=100)}
    user = shop.user(turn.person.user_id)
    address = user.address if user else None
    return turn.page("cart.html", status, carts=carts, names=names, address=address, token=ulid())


def put_in_cart(turn: ShopTurn) -> Response:
    """Set the quantity of a product in the cart."""
    quantity = turn.form.number("quantity", "Quantity")
    if quantity is None or quantity > 10_000:
        raise Problem(422, "Invalid quantity", "Enter a whole number from 0 to 10,000.", (("Your cart", "/cart"),))
    turn.design.put_in_cart(turn.person.user_id, turn.form["product"], quantity)
    return turn.go("/cart", "cart")


def checkout(turn: ShopTurn) -> Response:
    form, shop, me = turn.form, turn.design, turn.person.user_id
    total, token = form.number("total", "Total"), form["token"]
    if total is None or not 1 <= len(token) <= 100:
        raise Problem(400, "Invalid form", "The form is incomplete.", (("Your cart", "/cart"),))
    user = shop.user(me)
    if user is None or user.address is None:
        raise Problem(422, "Shipping address required", "Add your address first.", (("Your address", "/address"),))
    used, cart_now = shop.order_token(me, token), shop.cart(me, form["merchant"])
    if used is not None:
        return turn.go(f"/orders/{used.order_id}", "placed")
    if cart_now is None:  # the cart was ordered or emptied in another window
        ways = (("Your cart", "/cart"), ("Your orders", "/orders"))
        raise Problem(409, "Your cart has changed", "No order was placed.", ways)
    try:
        placed = shop.place_order(me, token, cart_now.items, total)
    except Refused as error:
        form.fault("", "; ".join(detail.message for detail in error.errors) or error.message)
        return cart(turn, 409)
    return turn.go(f"/orders/{placed.order_id}", "placed")


def address(turn: ShopTurn) -> Response:
    user = turn.design.user(turn.person.user_id)
    if user is not None and user.address is not None:
        turn.form.typed |= user.address.model_dump()
    return turn.page("address.html", countries=COUNTRIES)


def set_address(turn: ShopTurn) -> Response:
    form, shop, user_id = turn.form, turn.design, turn.person.user_id
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
        return turn.page("address.html", 422, countries=COUNTRIES)
    shop.set_address(user_id, PostalAddress(**postal))
    return turn.go("/cart" if shop.carts(user_id) else "/address", "address")


# Orders


def pay(turn: ShopTurn, provider: Provider) -> Response:
    """Pay an order by card. If it was cancelled meanwhile, the payment is refunded."""
    details = order_in_url(turn)
    result = details.order
    if result.status != "pending":
        return turn.go(f"/orders/{result.order_id}")
    card = turn.form.text("card", "Card number", 30)
    if not turn.form:
        return order_page(turn, details, 422)
    try:
        payment_id = provider.take(result.order_id, result.total_cents, card)
    except Declined as error:
        turn.form.fault("card", str(error))
        return order_page(turn, details, 422)
    try:
        turn.design.pay(result.order_id, payment_id, result.total_cents)
    except (Refused, UniqueValueTaken):
        provider.give_back(f"{result.order_id}/late", payment_id, result.total_cents)
        raise Problem(409, "The order was cancelled", "You were refunded.", (("Your orders", "/orders"),)) from None
    return turn.go(f"/orders/{result.order_id}", "paid")


def orders(turn: ShopTurn) -> Response:
    page = turn.design.orders_of_user(turn.person.user_id, cursor=turn.cursor)
    return turn.page("orders.html", orders=page.items, cursor=page.cursor)


def order(turn: ShopTurn) -> Response:
    return order_page(turn, order_in_url(turn))


def cancel_order(turn: ShopTurn) -> Response:
    details = order_in_url(turn)
    if details.order.status == "cancelled":  # by another request, or because it was unpaid for too long
        return turn.go(f"/orders/{details.order.order_id}")
    turn.design.cancel(details.order.order_id)
    return turn.go(f"/orders/{details.order.order_id}", "cancelled")


def order_page(turn: ShopTurn, details: OrderDetails, status: int = 200, *, selling: bool = False) -> Response:
    ids = sorted({line.product_id for line in details.lines})
    return turn.page(
        "order.html",
        status,
        details=details,
        names={product.product_id: product.name for product in turn.design.products(ids)},
        selling=selling,
        kept_until=details.order.created_at + HELD,
    )


def order_in_url(turn: ShopTurn, *, selling: bool = False) -> OrderDetails:
    """The order in the URL, if it is the customer's or, with ``selling``, the merchant's. Raises Problem."""
    details, person = turn.design.order_details(turn.path("order_id")), turn.person
    owner = merchant_of(person) if selling else person.user_id
    if details is None or owner != (details.order.merchant_id if selling else details.order.user_id):
        raise not_found()
    return details
