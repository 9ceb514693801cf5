"""What is sold, carts and addresses: products stand in the lists that they belong to, and a cart becomes an order."""

from __future__ import annotations

import random

import pytest

from keyplan.errors import ConditionFailed, ItemExists, ItemNotFound, Refused, UniqueValueTaken
from keyplan_systems.shop import Merchant, PostalAddress, Product, Shop, User
from keyplan_systems.shop.entities import ADDRESSES_MAX, LINES_MAX
from tests.systems.shop.support import all_items, assert_consistent
from tests.systems.support import all_pages, recorded

HOME = PostalAddress(name="Ada", street="1 Mill Lane", postcode="BS1 4DJ", city="Bristol", country="GB")


def ids(products: object) -> list[str]:
    assert isinstance(products, list)
    return [product.product_id for product in products]


def test_lists_are_a_filter_over_all_products(shop: Shop) -> None:
    """Whatever is added, described, listed and unlisted, each list is what a look at all products gives."""
    chance = random.Random(7)
    for number in range(60):
        product_id = f"p{chance.randrange(12)}"
        try:
            match chance.randrange(5):
                case 0:
                    merchant, category = chance.choice(("m", "n")), chance.choice(("x", "y"))
                    shop.add_product(
                        Product(product_id=product_id, merchant_id=merchant, name="P", category=category, price_cents=1)
                    )
                case 1:
                    shop.describe_product(product_id, f"P {number}", "", chance.choice(("x", "y")))
                case 2:
                    shop.unlist_product(product_id)
                case 3:
                    shop.list_product(product_id)
                case _:
                    shop.reprice(product_id, number)
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


def test_a_sale_rewrites_no_list(shop: Shop) -> None:
    recorder = recorded(shop)
    shop.place_order("ada", "t", {"tea": 1})
    written = [next(iter(item.values())) for item in recorder.made[-1][1]["TransactItems"]]
    assert not [value for value in written if "CATALOGUE" in str(value) or "LISTINGS" in str(value)]


def test_what_is_not_sold_any_more_can_not_be_ordered(shop: Shop) -> None:
    shop.put_in_cart("ada", "tea", 1)
    shop.unlist_product("tea")
    shop.unlist_product("tea")
    with pytest.raises(Refused, match="isn't sold any more"):
        shop.place_order("ada", "t", {"tea": 1})
    with pytest.raises(Refused, match="isn't sold any more"):
        shop.order_cart("ada", "leafhouse", "t", 450)
    with pytest.raises(Refused, match="isn't sold any more"):
        shop.put_in_cart("ada", "tea", 2)
    assert shop.put_in_cart("ada", "tea", 0) is None  # it can still be taken out
    shop.list_product("tea")
    assert shop.list_product("tea") == shop.product("tea")
    assert shop.place_order("ada", "t", {"tea": 1}).total_cents == 450


def test_merchants_are_listed(shop: Shop) -> None:
    shop.add_merchant(Merchant(merchant_id="lumen", name="Lumen"))
    shop.add_merchant(Merchant(merchant_id="leafhouse", name="Leafhouse"))
    with pytest.raises(ItemExists):
        shop.add_merchant(Merchant(merchant_id="lumen", name="Another"))
    shop.describe_merchant("lumen", "Lumen & Co.", "Lamps.")
    assert [merchant.name for merchant in shop.merchants()] == ["Leafhouse", "Lumen & Co."]
    assert shop.merchant("lumen") == Merchant(merchant_id="lumen", name="Lumen & Co.", about="Lamps.")


# Carts


def test_a_cart_is_ordered_once(shop: Shop) -> None:
    shop.save_address("ada", "home", HOME)
    shop.put_in_cart("ada", "tea", 2)
    with pytest.raises(Refused, match="3 of Cup are in stock"):
        shop.put_in_cart("ada", "cup", 5)
    shop.put_in_cart("ada", "cup", 3)
    cart = shop.put_in_cart("ada", "cup", 1)
    assert cart is not None
    assert cart.items == {"tea": 2, "cup": 1}
    assert shop.carts("ada") == [shop.cart("ada", "leafhouse")]
    order = shop.order_cart("ada", "leafhouse", "t1", 1800, "home")
    assert (order.total_cents, order.ship_to) == (1800, HOME)
    assert shop.carts("ada") == []
    shop.put_in_cart("ada", "tea", 7)  # for the next order
    assert shop.order_cart("ada", "leafhouse", "t1", 1800, "home") == order  # asked again, without an answer
    assert len(shop.carts("ada")) == 1
    with pytest.raises(Refused, match="was used for other items"):
        shop.order_cart("ada", "leafhouse", "t1", 1800)
    assert_consistent(shop)


def test_a_customer_pays_what_they_were_shown(shop: Shop) -> None:
    shop.put_in_cart("ada", "tea", 1)
    shop.reprice("tea", 460)
    with pytest.raises(Refused, match="the total is 460 now, and 450 was shown"):
        shop.order_cart("ada", "leafhouse", "t1", 450)
    assert not shop.orders_of_user("ada")
    assert shop.order_cart("ada", "leafhouse", "t1", 460).total_cents == 460


def test_carts_hold_what_an_order_holds(shop: Shop) -> None:
    for number in range(LINES_MAX):
        shop.add_product(Product(product_id=f"p{number}", merchant_id="m", name="P", price_cents=1, stock=1))
        shop.put_in_cart("ada", f"p{number}", 1)
    shop.add_product(Product(product_id="more", merchant_id="m", name="P", price_cents=1, stock=1))
    with pytest.raises(Refused, match="a cart holds 40 products"):
        shop.put_in_cart("ada", "more", 1)
    assert len(shop.order_cart("ada", "m", "t", LINES_MAX).order_id) == 26
    with pytest.raises(ItemNotFound, match="the cart is empty"):
        shop.order_cart("ada", "m", "t2", 0)
    with pytest.raises(ItemNotFound, match="there is no product 'nothing'"):
        shop.put_in_cart("ada", "nothing", 1)


def test_two_at_once_lose_nothing_of_a_cart(shop: Shop) -> None:
    """Another window's product comes when a write has read the cart, and not written yet."""
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


# Addresses and accounts


def test_addresses_are_copied_into_orders(shop: Shop) -> None:
    shop.save_address("ada", "home", HOME)
    order = shop.place_order("ada", "t", {"tea": 1}, "home")
    moved = HOME.model_copy(update={"street": "2 Mill Lane"})
    shop.save_address("ada", "home", moved)
    assert [address.postal for address in shop.addresses("ada")] == [moved]
    assert [element.ship_to for element in shop.orders_of_user("ada")] == [HOME]
    with pytest.raises(ItemNotFound, match="there is no address 'work'"):
        shop.place_order("ada", "t2", {"tea": 1}, "work")
    with pytest.raises(ItemNotFound, match="there is no address 'home'"):
        shop.place_order("bob", "t2", {"tea": 1}, "home")  # another user's
    for number in range(ADDRESSES_MAX - 1):
        shop.save_address("ada", f"a{number}", HOME)
    with pytest.raises(Refused, match="there are 20 addresses"):
        shop.save_address("ada", "one more", HOME)
    shop.remove_address("ada", "a0")
    shop.save_address("ada", "one more", HOME)
    assert order.ship_to == HOME


def test_who_signs_up_has_a_credential(shop: Shop) -> None:
    shop.sign_up(User(user_id="eve", email="eve@example.com", name="Eve"), "hash 1")
    with pytest.raises(UniqueValueTaken):
        shop.sign_up(User(user_id="eva", email="EVE@example.com", name="Eva"), "hash 2")
    assert shop.credential("eva") is None
    with pytest.raises(ConditionFailed):
        shop.set_password("eve", "another hash", "hash 3")
    shop.set_password("eve", "hash 1", "hash 3")
    credential = shop.credential("eve")
    assert credential is not None
    assert credential.password_hash == "hash 3"
    assert shop.rename_user("eve", "Eve E.").name == "Eve E."
