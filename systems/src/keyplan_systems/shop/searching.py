"""What of the shop can be found by words: products that are sold, by their names, categories, merchants and texts.

The site and the API keep it with each product that is listed, described or taken off, an import makes it anew, and so
does ``python -m keyplan_systems.shop.searching shop.db``. It is in ``shop.search`` beside ``shop.db``.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from functools import partial

from keyplan_systems.paging import items_of_ids, pages_of
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import Product
from keyplan_systems.site.searching import Document, FtsSearch, Search, search_beside

__all__ = ["found_products", "keep_found", "rebuild", "search_of"]

PAGE = 100


def search_of(shop: Shop) -> FtsSearch:
    """The index of a shop, in a file of its own where the store is one. An empty one is made anew."""
    return search_beside(shop.store.url, partial(rebuild, shop))


def rebuild(shop: Shop, search: Search) -> int:
    """Make the index anew from the store; gives how many products can be found."""
    return search.replace_all(_documents(shop))


def _documents(shop: Shop) -> Iterator[Document]:
    names: dict[str, str] = {}
    for page in pages_of(partial(shop.new_products, limit=PAGE)):
        yield from _of_products(shop, page.items, names)


def _of_products(shop: Shop, products: Sequence[Product], names: dict[str, str]) -> Iterator[Document]:
    """Products as documents; ``names`` keeps the merchants' names, which are read once."""
    for product in products:
        if product.merchant_id not in names:
            merchant = shop.merchant(product.merchant_id)
            names[product.merchant_id] = "" if merchant is None else merchant.name
        sellers = f"{names[product.merchant_id]} {product.merchant_id}"
        yield Document(product.product_id, product.name, product.category, sellers, product.description)


def keep_found(shop: Shop, search: Search, product_id: str) -> None:
    """Bring what can be found of a product to what it is now: nothing, unless it is sold."""
    product = shop.product(product_id)
    if product is None or product.listed_at is None:
        search.remove(product_id)
    else:
        search.put(next(_of_products(shop, [product], {})))


def found_products(shop: Shop, search: Search, query: str, limit: int) -> list[Product]:
    """The products that have all words of a query, the best first.

    They are read from the store, so that nothing is shown that isn't sold now, whatever the index says.
    """
    products = items_of_ids(search.find(query, limit), shop.products, lambda product: product.product_id)
    return [product for product in products if product.listed_at is not None]


def _main(url: str) -> None:
    with Shop.open(url, create=False) as shop, contextlib.closing(search_of(shop)) as search:
        sys.stdout.write(f"{rebuild(shop, search):,} products can be found.\n")


if __name__ == "__main__":
    _main(*sys.argv[1:2])
