"""The search index of the shop: listed products by name, category, merchant and description, in ``shop.search`` next to
``shop.db``. The site updates it with each product that is edited; imports and samples rebuild it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, partial

from keyplan_systems.paging import items_of, items_of_ids
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import Product
from keyplan_systems.site.searching import Document, Search, search_beside

PAGE = 100


def search_of(shop: Shop) -> Search:
    """The index of a shop. An empty one is rebuilt."""
    return search_beside(shop.store.url, partial(rebuild, shop))


def rebuild(shop: Shop, search: Search) -> int:
    """Rebuild the index from the store; returns the number of products."""
    return search.replace_all(_documents(shop, items_of(partial(shop.new_products, limit=PAGE))))


def _documents(shop: Shop, products: Iterable[Product]) -> Iterator[Document]:
    merchants = cache(shop.merchant)
    for product in products:
        merchant = merchants(product.merchant_id)
        sellers = f"{merchant.name if merchant else ''} {product.merchant_id}"
        yield Document(product.product_id, product.name, product.category, sellers, product.description)


def keep_found(shop: Shop, search: Search, product_id: str) -> None:
    """Update a product in the index, or remove one that isn't listed."""
    product = shop.product(product_id)
    if product is None or product.listed_at is None:
        search.remove(product_id)
    else:
        search.put(next(_documents(shop, [product])))


def found_products(shop: Shop, search: Search, query: str, limit: int) -> list[Product]:
    """The listed products with all words of a query, best first, as currently stored."""
    products = items_of_ids(search.find(query, limit), shop.products, lambda product: product.product_id)
    return [product for product in products if product.listed_at is not None]
