"""Products are in the correct lists, and carts become orders with an address."""

from __future__ import annotations

import random
from typing import Any

import pytest

from keyplan.errors import ConditionFailed, ItemExists, ItemNotFound, Refused, UniqueValueTaken
from keyplan_systems.shop import Shop
from keyplan_systems.shop.entities import LINES_MAX, Merchant, PostalAddress, Product, ProductDetails, User
from tests.systems.shop.support import all_items, assert_consistent, edit
from tests.systems.support import all_pages, recorded

HOME = PostalAddress(name="Ada", street="1 Mill Lane", postcode="BS1 4DJ", city="Bristol", country="GB")


def ids(products: object) -> list[str]:
    assert isinstance(products, list)
    return [product.product_id for product in products]


def test_product_lists_equal_the_filtered_list_of_all_products(shop: Shop) -> None:
    """The lists are compared after each change of a product."""
    chance = random.Random(7)
    for number in range(60):
        product_id = f"p{chance.randrange(12)}"
        try:
            match chance.randrange(4):
                case 0:
                    merchant, category = chance.choice(("m", "n")), chance.choice(("x", "y"))
                    shop.add_product(
                        Product(product_id=product_id, merchant_id=merchant, name="P", category=category, price_cents=1)
                    )
                case 1 | 2:
                    details: dict[str, Any] = {
                        "name": f"P {number}",
                        "category": chance.choice(("x", "y")),
                        "price_cents": number,
                    }
                    shop.edit_product(product_id, ProductDetails(**details, listed=chance.random() < 0.5))
                case _:
                    shop.restock(product_id, 1)
        except (ItemExists, ItemNotFound, ConditionFailed):
            continue
    keys = [item["product_id"] for item in all_items(shop) if item["SK"].startswith("PRODUCT#")]
    stored = shop.products(keys)
    sold = sorted(
        (product for product in stored if product.listed_at),
        key=lambda product: (str(product.listed_at), product.product_id),
    )
    sold.reverse()
    assert 3 < len(sold) < len(stored)
    assert all_pages(shop.new_products, limit=4) == sold
    for merchant in ("m", "n", "leafhouse"):
        assert all_pages(shop.products_of_merchant, merchant, limit=2) == [
            product for product in sold if product.merchant_id == merchant
        ]
    for category in ("x", "y", "other"):
        assert all_pages(shop.products_in_category, category, limit=2) == [
            product for product in sold if product.category == category
        ]
    assert_consistent(shop)


def test_placing_an_order_does_not_write_items_of_product_lists(shop: Shop) -> None:
    recorder = recorded(shop)
    shop.place_order("ada", "t", {"tea": 1})
    written = [next(iter(item.values())) for item in recorder.made[-1][1]["TransactItems"]]
    assert not [value for value in written if "CATALOGUE" in str(value) or "LISTINGS" in str(value)]


def test_unlisted_products_cannot_be_ordered(shop: Shop) -> None:
    shop.put_in_cart("ada", "tea", 1)
    for _ in range(2):
        edit(shop, "tea", listed=False)
    with pytest.raises(Refused, match="is no longer available"):
        shop.place_order("ada", "t", {"tea": 1})
    with pytest.raises(Refused, match="is no longer available"):
        shop.put_in_cart("ada", "tea", 2)
    assert shop.put_in_cart("ada", "tea", 0) is None  # it can still be removed
    assert edit(shop, "tea", listed=True) == shop.product("tea")
    assert shop.place_order("ada", "t", {"tea": 1}).total_cents == 450


def test_merchants_are_listed(shop: Shop) -> None:
    shop.add_merchant(Merchant(merchant_id="lumen", name="Lumen"))
    shop.add_merchant(Merchant(merchant_id="leafhouse", name="Leafhouse"))
    with pytest.raises(ItemExists):
        shop.add_merchant(Merchant(merchant_id="lumen", name="Another"))
    assert [merchant.name for merchant in shop.merchants()] == ["Leafhouse", "Lumen"]


# Carts


def test_a_cart_can_be_ordered_only_once(shop: Shop) -> None:
    shop.set_address("ada", HOME)
    shop.put_in_cart("ada", "tea", 2)
    with pytest.raises(Refused, match="only 3 of Cup are in stock"):
        shop.put_in_cart("ada", "cup", 5)
    shop.put_in_cart("ada", "cup", 3)
    cart = shop.put_in_cart("ada", "cup", 1)
    assert cart is not None
    assert cart.items == {"tea": 2, "cup": 1}
    assert shop.carts("ada") == [shop.cart("ada", "leafhouse")]
    order = shop.place_order("ada", "t1", {"tea": 2, "cup": 1}, 1800)
    assert (order.total_cents, order.ship_to) == (1800, HOME)
    assert shop.carts("ada") == []
    shop.put_in_cart("ada", "tea", 7)  # for the next order
    assert shop.place_order("ada", "t1", {"tea": 2, "cup": 1}, 1800) == order  # retried after a lost response
    assert len(shop.carts("ada")) == 1
    shop.put_in_cart("ada", "cup", 1)
    shop.place_order("ada", "t2", {"tea": 3})
    cart = shop.cart("ada", "leafhouse")
    assert cart is not None
    assert cart.items == {"cup": 1}
    assert_consistent(shop)


def test_ordering_a_cart_whose_price_has_changed_is_rejected(shop: Shop) -> None:
    shop.put_in_cart("ada", "tea", 1)
    edit(shop, "tea", price_cents=460)
    with pytest.raises(Refused, match="a price has changed"):
        shop.place_order("ada", "t1", {"tea": 1}, 450)
    assert not shop.orders_of_user("ada")
    assert shop.place_order("ada", "t1", {"tea": 1}, 460).total_cents == 460


def test_carts_and_orders_have_the_same_maximum_number_of_lines(shop: Shop) -> None:
    for number in range(LINES_MAX):
        shop.add_product(Product(product_id=f"p{number}", merchant_id="m", name="P", price_cents=1, stock=1))
        shop.put_in_cart("ada", f"p{number}", 1)
    shop.add_product(Product(product_id="more", merchant_id="m", name="P", price_cents=1, stock=1))
    with pytest.raises(Refused, match="a cart holds at most 40 products"):
        shop.put_in_cart("ada", "more", 1)
    cart = shop.cart("ada", "m")
    assert cart is not None
    shop.place_order("ada", "t", cart.items, LINES_MAX)
    assert shop.cart("ada", "m") is None
    with pytest.raises(ItemNotFound, match="there is no product 'nothing'"):
        shop.put_in_cart("ada", "nothing", 1)


def test_concurrent_cart_changes_are_kept(shop: Shop) -> None:
    """Another browser window adds a product after the write has read the cart."""
    shop.put_in_cart("ada", "tea", 1)
    recorder = recorded(shop)
    done: list[str] = []

    def meanwhile(operation: str, parameters: object) -> None:
        if operation in {"UpdateItem", "PutItem"} and not done:
            done.append(operation)
            shop.put_in_cart("ada", "cup", 1)

    recorder.before = meanwhile
    cart = shop.put_in_cart("ada", "tea", 2)
    assert cart is not None
    assert (cart.items, done) == ({"tea": 2, "cup": 1}, ["UpdateItem"])


# Accounts


def test_an_order_contains_a_copy_of_the_delivery_address(shop: Shop) -> None:
    shop.set_address("ada", HOME)
    order = shop.place_order("ada", "t", {"tea": 1})
    shop.set_address("ada", HOME.model_copy(update={"street": "2 Mill Lane"}))
    assert order.ship_to == HOME
    assert [element.ship_to for element in shop.orders_of_user("ada")] == [HOME]
    assert shop.place_order("bob", "t", {"tea": 1}).ship_to is None
    with pytest.raises(ItemNotFound, match="there is no user 'eve'"):
        shop.set_address("eve", HOME)


def test_registering_a_user_also_creates_a_credential(shop: Shop) -> None:
    shop.register(User(user_id="eve", email="eve@example.com", name="Eve"), "hash 1")
    with pytest.raises(UniqueValueTaken):
        shop.register(User(user_id="eva", email="EVE@example.com", name="Eva"), "hash 2")
    assert shop.credential("eva") is None
    with pytest.raises(ConditionFailed):
        shop.set_password("eve", "another hash", "hash 3")
    shop.set_password("eve", "hash 1", "hash 3")
    credential = shop.credential("eve")
    assert credential is not None
    assert credential.password_hash == "hash 3"
