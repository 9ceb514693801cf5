"""The shop's site made for a server: its addresses, who may call what of its API, and what it does beside."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any

from keyplan.errors import ItemNotFound
from keyplan.systems import SiteOptions
from keyplan_systems.pages.application import ServedSite, mail_warnings, sample_logins, small_application
from keyplan_systems.pages.keeping import again_and_again
from keyplan_systems.pages.people import Person
from keyplan_systems.pages.policy import Rule, TablePolicy
from keyplan_systems.pages.settings import money_in, read_small_file
from keyplan_systems.pages.site import Look, SmallSite
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import Order
from keyplan_systems.shop.keeping import pay_refunds, release_unpaid
from keyplan_systems.shop.leaving import ShopLeaving
from keyplan_systems.shop.payments import OfflineProvider, Provider
from keyplan_systems.shop.sample import DEMO_PASSWORD, DEMO_USERS
from keyplan_systems.shop.searching import keep_found, search_of
from keyplan_systems.shop.site import pages, selling
from keyplan_systems.shop.site.people import ShopPeople
from keyplan_systems.site.searching import Search

__all__ = ["make_site"]

_LOG = logging.getLogger("keyplan.shop")
KEEP_SECONDS = 60

LOOK = Look(
    system="shop",
    title="Counter",
    tagline="Made by four small workshops, sold by themselves.",
    package="keyplan_systems.shop.site",
    navigation=(
        ("New", "/"),
        ("Tea", "/categories/tea"),
        ("Gifts", "/categories/gifts"),
        ("Stationery", "/categories/stationery"),
        ("Tools", "/categories/tools"),
        ("Lighting", "/categories/lighting"),
    ),
    search="/search",
    notices={
        "address": "The address is saved.",
        "cancelled": "The order is cancelled. What was paid goes back.",
        "cart": "Your cart is changed.",
        "paid": "Thank you. The order is paid, and will be shipped.",
        "placed": "The order is placed. Its goods are kept for you for 30 minutes.",
        "removed": "The address is removed.",
        "return": "Your return is registered. Send it to the merchant.",
    },
    filters={"money": money_in("EUR")},
)


def make_site(shop: Shop, options: SiteOptions, provider: Provider | None = None) -> ServedSite:
    """The site on an open design; without a provider of payments it takes those that stand in for one."""
    look, mail = read_small_file(options.settings, LOOK)
    site = SmallSite(shop, look, options, ShopPeople(shop), mail)
    payments = provider or OfflineProvider()
    customers = pages.Customers(payments)
    search = search_of(shop)
    shelves = pages.Shelves(search)

    application = small_application(
        site,
        pages=(
            ("/", pages.front, "anyone"),
            ("/merchants/{merchant_id}", pages.merchant, "anyone"),
            ("/categories/{category}", pages.category, "anyone"),
            ("/products/{product_id}", pages.product, "anyone"),
            ("/search", shelves.search, "anyone"),
            ("/cart", pages.cart, "person"),
            ("/addresses", pages.addresses, "person"),
            ("/orders", pages.orders, "person"),
            ("/orders/{order_id}", pages.order, "person"),
            ("/selling", selling.orders, "merchant"),
            ("/selling/goods", selling.goods, "merchant"),
            ("/selling/{order_id}", selling.order, "merchant"),
        ),
        forms=(
            ("/cart", customers.put, "person"),
            ("/addresses", customers.add_address, "person"),
            ("/addresses/{address_id}/remove", pages.remove_address, "person"),
            ("/checkout", customers.checkout, "person"),
            ("/orders/{order_id}/pay", customers.pay, "person"),
            ("/orders/{order_id}/cancel", pages.cancel_order, "person"),
            ("/orders/{order_id}/return", customers.send_back, "person"),
            ("/selling/goods/{product_id}", selling.change_product, "merchant"),
            ("/selling/{order_id}/{action}", selling.act, "merchant"),
        ),
        beside=again_and_again(KEEP_SECONDS, _LOG, partial(release_unpaid, shop), partial(pay_refunds, shop, payments)),
        leaving=ShopLeaving(shop),
    )
    cards = f"Pay with the card {OfflineProvider.CARD}; {OfflineProvider.DECLINED} is declined. No money moves"
    logins = sample_logins(site, [email for email, _ in DEMO_USERS], DEMO_PASSWORD, cards)
    return ServedSite(application, TablePolicy(site, rules(shop, search)), [*logins, *mail_warnings(site)])


_READING = (
    *("new_products", "products_of_merchant", "products_in_category", "product", "products", "merchants", "merchant"),
    *("related_products", "products_leading_to"),
)
_OWN = (
    *("orders_of_user", "carts", "cart", "addresses", "address", "user", "place_order", "order_cart", "put_in_cart"),
    *("save_address", "remove_address", "rename_user", "order_token", "order", "end_session"),
)
_LISTING = ("pending_orders", "orders_to_ship", "orders_of_merchant", "awaited_returns", "describe_merchant")
_OF_PRODUCT = ("restock", "reprice", "describe_product", "list_product", "unlist_product")
_OF_SOLD = ("ship", "refund", "receive_return", "refuse_return")


def rules(shop: Shop, search: Search) -> dict[str, Rule]:
    """Who may call what of the API. What isn't named is nobody's: paying and refunding are the site's."""

    def own_order(caller: Person | None, given: dict[str, Any]) -> None:
        details = shop.order_details(str(given["order_id"]))
        if details is None or not _sees(caller, details.order):
            raise ItemNotFound(f"there is no order {given['order_id']!r}", place="Shop.order_details")

    def own_merchant(caller: Person | None, given: dict[str, Any]) -> None:
        if caller is None or f"merchant {given['merchant_id']}" not in caller.roles:
            raise ItemNotFound("you don't sell for this merchant", place="Shop")

    def own_product(caller: Person | None, given: dict[str, Any]) -> None:
        product = shop.product(str(given["product_id"]))
        if product is None or caller is None or f"merchant {product.merchant_id}" not in caller.roles:
            raise ItemNotFound(f"you sell no product {given['product_id']!r}", place="Shop.product")

    def sold_order(caller: Person | None, given: dict[str, Any]) -> None:
        details = shop.order_details(str(given["order_id"]))
        if details is None or caller is None or f"merchant {details.order.merchant_id}" not in caller.roles:
            raise ItemNotFound(f"there is no order {given['order_id']!r}", place="Shop.order_details")

    def changed(given: Mapping[str, Any]) -> None:
        keep_found(shop, search, str(given["product_id"]))

    return {
        **dict.fromkeys(_READING, Rule("anyone")),
        **dict.fromkeys(_OWN, Rule("person", own=("user_id",))),
        **dict.fromkeys(("order_details", "order_parts", "cancel"), Rule("person", check=own_order)),
        "request_return": Rule("person", check=own_order),
        **dict.fromkeys(_LISTING, Rule("merchant", check=own_merchant)),
        **dict.fromkeys(_OF_PRODUCT, Rule("merchant", check=own_product, done=changed)),
        **dict.fromkeys(_OF_SOLD, Rule("merchant", check=sold_order)),
    }


def _sees(caller: Person | None, order: Order) -> bool:
    return caller is not None and (order.user_id == caller.user_id or f"merchant {order.merchant_id}" in caller.roles)
