"""The shop's site for a server: its routes, the access rules of its API, and its jobs."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from keyplan.errors import ItemNotFound
from keyplan.systems import SiteOptions
from keyplan_systems.pages.application import (
    ServedSite,
    again_and_again,
    mail_warnings,
    sample_logins,
    small_application,
)
from keyplan_systems.pages.people import Person
from keyplan_systems.pages.policy import Rule, TablePolicy
from keyplan_systems.pages.settings import money_in, read_small_file
from keyplan_systems.pages.site import Look, SmallSite
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import HELD
from keyplan_systems.shop.keeping import pay_refunds, release_unpaid
from keyplan_systems.shop.payments import OfflineProvider, Provider
from keyplan_systems.shop.sample import DEMO_PASSWORD, DEMO_USERS
from keyplan_systems.shop.searching import keep_found, search_of
from keyplan_systems.shop.site import pages
from keyplan_systems.shop.site.people import ShopPeople, merchant_of
from keyplan_systems.shop.site.selling import Selling
from keyplan_systems.site.files import Files, MemoryFiles, files_at
from keyplan_systems.site.searching import Search

_LOG = logging.getLogger("keyplan.shop")
KEEP_SECONDS = 60

LOOK = Look(
    system="shop",
    title="Counter",
    tagline="Products of four small workshops.",
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
        "address": "Address saved.",
        "cancelled": "Order cancelled. Any payment will be refunded.",
        "cart": "Cart updated.",
        "paid": "Thank you. Your order is paid, and will be shipped.",
        "placed": f"Order placed. Its items are reserved for {HELD.total_seconds() / 3600:.0f} hours.",
    },
    filters={"money": money_in("EUR")},
)


def make_site(shop: Shop, options: SiteOptions, provider: Provider | None = None) -> ServedSite:
    """The site on an open design. Without a payment provider it uses OfflineProvider."""
    look, mail, place = read_small_file(options.settings, LOOK)
    site = SmallSite(shop, look, options, ShopPeople(shop), mail)
    payments = provider or OfflineProvider()
    search = search_of(shop)
    selling = Selling(search, _files(shop.store.url, place))
    application = small_application(
        site,
        pages=(
            ("/", pages.front, "anyone"),
            ("/merchants/{merchant_id}", pages.merchant, "anyone"),
            ("/categories/{category}", pages.category, "anyone"),
            ("/products/{product_id}", pages.product, "anyone"),
            ("/pictures/{name}", selling.picture, "anyone"),
            ("/search", partial(pages.search, index=search), "anyone"),
            ("/cart", pages.cart, "person"),
            ("/address", pages.address, "person"),
            ("/orders", pages.orders, "person"),
            ("/orders/{order_id}", pages.order, "person"),
            ("/selling", selling.orders, "merchant"),
            ("/selling/goods", selling.goods, "merchant"),
            ("/selling/goods/new", selling.new_product, "merchant"),
            ("/selling/goods/{product_id}", selling.product, "merchant"),
            ("/selling/events", selling.events, "merchant"),
            ("/selling/devices", selling.readings, "merchant"),
            ("/selling/{order_id}", selling.order, "merchant"),
        ),
        forms=(
            ("/cart", pages.put_in_cart, "person"),
            ("/address", pages.set_address, "person"),
            ("/checkout", pages.checkout, "person"),
            ("/orders/{order_id}/pay", partial(pages.pay, provider=payments), "person"),
            ("/orders/{order_id}/cancel", pages.cancel_order, "person"),
            ("/selling/goods/new", selling.add_product, "merchant"),
            ("/selling/goods/{product_id}", selling.edit_product, "merchant"),
            ("/selling/{order_id}/{action}", selling.act, "merchant"),
        ),
        uploads={"/selling/pictures": (selling.take_picture, "merchant")},
        beside=again_and_again(KEEP_SECONDS, _LOG, partial(release_unpaid, shop), partial(pay_refunds, shop, payments)),
    )
    cards = f"Pay with the card {OfflineProvider.CARD}; {OfflineProvider.DECLINED} is declined. No real payment is made"
    logins = sample_logins(site, [email for email, _ in DEMO_USERS], DEMO_PASSWORD, cards)
    return ServedSite(application, TablePolicy(site, rules(shop, search)), [*logins, *mail_warnings(site)])


def _files(url: str, place: str | None) -> Files:
    """The location of uploaded pictures: the setting, or a folder next to the store's file."""
    if place is None and url == ":memory:":
        return MemoryFiles()
    return files_at(place or ("shop.files" if "://" in url else str(Path(url).with_suffix(".files"))))


_READING = (
    *("new_products", "products_of_merchant", "products_in_category", "product", "products", "merchants", "merchant"),
    *("related_products", "products_leading_to"),
)
_OWN = (
    *("orders_of_user", "carts", "cart", "user", "place_order", "put_in_cart", "set_address"),
    *("order_token", "order", "end_session"),
)
_LISTING = ("pending_orders", "orders_to_ship", "orders_of_merchant")


def rules(shop: Shop, search: Search) -> dict[str, Rule]:
    """The access rules of the API. Payments and refunds aren't in it."""

    def own_order(caller: Person | None, given: dict[str, Any], *, bought: bool = True) -> None:
        """Check that the caller sells the order or, with ``bought``, is its customer."""
        details = shop.order_details(str(given["order_id"]))
        is_customer = bought and details is not None and caller is not None and details.order.user_id == caller.user_id
        if details is None or not (is_customer or details.order.merchant_id == merchant_of(caller)):
            raise ItemNotFound(f"there is no order {given['order_id']!r}", place="Shop.order_details")

    def own_merchant(caller: Person | None, given: dict[str, Any]) -> None:
        if merchant_of(caller) != given["merchant_id"]:
            raise ItemNotFound("you aren't a seller of this merchant", place="Shop")

    def own_product(caller: Person | None, given: dict[str, Any]) -> None:
        product = shop.product(str(given["product_id"]))
        if product is None or product.merchant_id != merchant_of(caller):
            raise ItemNotFound(f"this account's merchant has no product {given['product_id']!r}", place="Shop.product")

    def own_device(caller: Person | None, given: dict[str, Any]) -> None:
        owner = shop.merchant(merchant_of(caller))
        if owner is None or given["device_id"] not in owner.devices:
            raise ItemNotFound(f"this account's merchant has no device {given['device_id']!r}", place="Shop.readings")

    def own_events(caller: Person | None, events: Sequence[Any]) -> list[Any]:
        return [event for event in events if event.merchant_id == merchant_of(caller)]

    def changed(given: Mapping[str, Any]) -> None:
        keep_found(shop, search, str(given["product_id"]))

    return {
        **dict.fromkeys(_READING, Rule("anyone")),
        **dict.fromkeys(_OWN, Rule("person", own=("user_id",))),
        **dict.fromkeys(("order_details", "order_parts", "cancel"), Rule("person", check=own_order)),
        **dict.fromkeys(_LISTING, Rule("merchant", check=own_merchant)),
        **dict.fromkeys(("restock", "edit_product"), Rule("merchant", check=own_product, done=changed)),
        "ship": Rule("merchant", check=partial(own_order, bought=False)),
        "events_of_day": Rule("merchant", shown=own_events),
        "readings": Rule("merchant", check=own_device),
    }
