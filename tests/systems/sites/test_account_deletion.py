"""Account deletion in the shop: exported data, what is deleted, what stays, and who must stay."""

from __future__ import annotations

import json

import pytest

from keyplan.errors import ItemNotFound, Refused
from keyplan.testing.stored_world import scan
from keyplan_systems.shop import Product, Shop, User
from keyplan_systems.shop.entities import Merchant, PostalAddress
from keyplan_systems.shop.site.making import make_site as make_shop
from tests.systems.sites.support import OPTIONS, Visit

HOME = PostalAddress(name="Nora Brook", street="1 Mill Lane", city="Bristol", country="GB")


def kinds(design: Shop, *texts: str) -> set[str]:
    """The kinds of items that contain one of these strings."""
    return {type(row.instance).__name__ for row in scan(design).rows if any(text in str(row.item) for text in texts)}


def test_a_customer_exports_data_and_leaves_without_open_orders() -> None:
    with Shop.open(":memory:", secret="s") as shop:
        shop.add_merchant(Merchant(merchant_id="m", name="M"))
        for name in ("tea", "cup"):
            shop.add_product(Product(product_id=name, merchant_id="m", name=name, price_cents=100, stock=9))
        nora = Visit(make_shop(shop, OPTIONS).application)
        assert nora.join("nora@example.org", "Nora Brook") == 200
        user = shop.user_by_email("nora@example.org")
        assert user is not None
        shop.set_address(user.user_id, HOME)
        placed = shop.place_order(user.user_id, "t", {"tea": 2})
        shop.put_in_cart(user.user_id, "cup", 1)

        assert nora.get("/account/export") == 200
        taken = json.loads(nora.text)
        assert (taken["profile"]["email"], taken["profile"]["address"]["city"]) == ("nora@example.org", "Bristol")
        assert ([cart["items"] for cart in taken["carts"]], len(taken["orders"])) == ([{"cup": 1}], 1)
        assert [line["product_id"] for line in taken["orders"][0]["lines"]] == ["tea"]

        nora.get("/account")
        assert nora.send("/account/delete", password="not this") == 422
        assert nora.send("/account/delete", password="long enough") == 422
        assert nora.says("an order isn't shipped yet")
        shop.cancel(placed.order_id)
        assert nora.send("/account/delete", password="long enough") == 200
        assert nora.says("1 order, in the books of the merchants")
        assert kinds(shop, "nora@example.org", "CREDENTIAL") == set()
        assert kinds(shop, user.user_id) == {"Order", "OrderToken", "Payment"}
        assert nora.get("/account") == 200
        assert nora.path == "/sign-in"
        with pytest.raises(ItemNotFound):
            shop.leave(user.user_id)
        # the address can be used again
        assert Visit(make_shop(shop, OPTIONS).application).join("nora@example.org") == 200


def test_a_seller_cannot_leave() -> None:
    with Shop.open(":memory:") as shop:
        shop.register(User(user_id="s", email="s@example.org", name="S", merchant_id="m"))
        with pytest.raises(Refused):
            shop.leave("s")
