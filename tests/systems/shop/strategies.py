"""Strategies for random stores of the shop: few ids and times, so that orders have payments and lines."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from keyplan_systems.shop.entities import Cart, Order, OrderLine, Payment, PostalAddress, Product, User

_USERS = st.sampled_from(["ann#ü$", "ann#ü$", "b"])
_ORDERS = st.sampled_from(["1", "2#"])
_MERCHANTS = st.sampled_from(["m#", "m#", "n"])
_PRODUCTS = st.sampled_from(["tea", "tea", "cup#"])
_DAY = datetime(2026, 11, 20, 22, 30, tzinfo=UTC)
_MOMENTS = st.sampled_from([_DAY, _DAY, _DAY + timedelta(hours=3)])
_EXTERNAL = st.sampled_from(["pi_1", "pi#2"])
_HOME = st.just(PostalAddress(name="Ann", street="1 Mill Lane", city="Bristol", country="GB"))
_ITEMS = st.dictionaries(_PRODUCTS, st.integers(1, 2), min_size=1)

STRATEGIES: dict[Any, SearchStrategy[Any]] = {
    User: st.builds(
        User,
        user_id=_USERS,
        email=st.sampled_from(["a@example.com", "b@example.com"]),
        name=st.just("Ann"),
        created_at=st.just(_DAY),
    ),
    Cart: st.builds(
        Cart,
        user_id=_USERS,
        merchant_id=_MERCHANTS,
        items=st.just({"tea": 1}),
        changed_at=st.just(_DAY),
        expires_at=st.just(_DAY + timedelta(days=90)),
    ),
    Order: st.builds(
        Order,
        order_id=_ORDERS,
        user_id=_USERS,
        merchant_id=_MERCHANTS,
        status=st.sampled_from(["pending", "paid", "paid", "shipped", "shipped", "cancelled"]),
        total_cents=st.just(900),
        created_at=_MOMENTS,
        ship_to=st.none() | _HOME,
    ),
    OrderLine: st.builds(
        OrderLine,
        order_id=_ORDERS,
        line=st.integers(1, 2),
        product_id=_PRODUCTS,
        quantity=st.integers(2, 5),
        price_cents=st.just(100),
    ),
    Payment: st.builds(
        Payment,
        order_id=_ORDERS,
        payment=st.just(1),
        user_id=_USERS,
        ordered_at=_MOMENTS,
        amount_cents=st.just(900),
        status=st.sampled_from(["due", "paid", "paid", "refund_due"]),
        external_id=st.none() | _EXTERNAL,
    ),
    Product: st.builds(
        Product,
        product_id=_PRODUCTS,
        merchant_id=_MERCHANTS,
        name=st.just("Tea"),
        category=st.sampled_from(["tea", "x#"]),
        price_cents=st.just(100),
        stock=st.integers(2, 9),
        listed_at=st.none() | _MOMENTS | _MOMENTS,
    ),
    "user_id": _USERS,
    "order_id": _ORDERS,
    "merchant_id": _MERCHANTS,
    "product_id": _PRODUCTS,
    "related_id": _PRODUCTS,
    "external_id": _EXTERNAL,
    "items": _ITEMS,
    "amount_cents": st.sampled_from([100, 900, 900]),
    "created_at": _MOMENTS,
    "ordered_at": _MOMENTS,
    "before": st.just(_DAY + timedelta(days=1)),
    "total_cents": st.none(),
    "token": st.sampled_from(["t1", "t2"]),
}
