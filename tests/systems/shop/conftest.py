"""Fixtures: the shop on an empty store with products, and on the sample."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from keyplan_systems.shop import Shop
from keyplan_systems.shop.entities import Product, User
from keyplan_systems.shop.sample import sample

SAMPLED = 200


@pytest.fixture
def shop() -> Iterator[Shop]:
    """Return a shop with two users and two products of one merchant."""
    with Shop.open(":memory:") as opened:
        opened.register(User(user_id="ada", email="ada@example.com", name="Ada"))
        opened.register(User(user_id="bob", email="bob@example.com", name="Bob"))
        opened.add_product(Product(product_id="tea", merchant_id="leafhouse", name="Tea", price_cents=450, stock=10))
        opened.add_product(Product(product_id="cup", merchant_id="leafhouse", name="Cup", price_cents=900, stock=3))
        yield opened


@pytest.fixture(scope="session")
def sampled() -> Iterator[Shop]:
    """Return a store with the sample. Tests only read this store."""
    with Shop.open(":memory:") as opened:
        assert sample(opened, SAMPLED, lambda done, total: None) == SAMPLED
        yield opened
