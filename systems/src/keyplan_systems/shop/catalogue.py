"""The writes about what is sold: merchants, products, their lists, what leads to what."""

from __future__ import annotations

from keyplan import Add, Check, Create, Delete, Example, Put, Update, Writes, now, write
from keyplan.errors import ItemNotFound, Refused
from keyplan_systems.shop.entities import (
    Cents,
    Id,
    Listing,
    Merchant,
    Name,
    Product,
    Quantity,
    Related,
    Text,
)
from keyplan_systems.shop.reads import Reads

__all__ = ["CatalogueWrites", "listing_of"]


class CatalogueWrites(Reads):
    """The writes about what is sold."""

    @write("W2")
    def add_product(self, product: Product) -> Writes[Product]:
        """Add a product, and list it if it has a date for that. Raises ItemExists."""
        yield Create(product)
        listing = listing_of(product)
        if listing is not None:
            yield Put(listing)
        return product

    @write("W3")
    def restock(self, product_id: Id, quantity: Quantity) -> Writes:
        """More pieces of a product have arrived. Raises ItemNotFound for an unknown product."""
        missing = _unknown(product_id, "Shop.restock")
        yield Update(Product, product_id=product_id).set(stock=Add(quantity)).if_missing(missing)

    @write("W4")
    def reprice(self, product_id: Id, price_cents: Cents) -> Writes:
        """A product has another price from now on; orders keep theirs. Raises ItemNotFound for an unknown one."""
        missing = _unknown(product_id, "Shop.reprice")
        yield Update(Product, product_id=product_id).set(price_cents=price_cents).if_missing(missing)

    @write("W5")
    def relate(self, product_id: Id, related_id: Id) -> Writes:
        """Let a product lead to another. Raises Refused for itself, ItemNotFound for unknown ones."""
        if product_id == related_id:
            raise Refused(f"product {product_id!r} can't lead to itself", place="Shop.relate", hint="name another one")
        for name in (product_id, related_id):
            yield Check(Product, product_id=name).if_missing(_unknown(name, "Shop.relate"))
        yield Put(Related(product_id=product_id, related_id=related_id))

    @write("W6")
    def unrelate(self, product_id: Id, related_id: Id) -> Writes:
        """A product doesn't lead to another any more; no error where it didn't."""
        yield Delete(Related, product_id=product_id, related_id=related_id)

    @write("W19")
    def add_merchant(self, merchant: Merchant) -> Writes[Merchant]:
        """Somebody new sells here. Raises ItemExists."""
        yield Create(merchant)
        return merchant

    @write("W20")
    def describe_merchant(self, merchant_id: Id, name: Name, about: Text = "") -> Writes[Merchant]:
        """Change what a merchant's page says: both. Raises ItemNotFound for an unknown one."""
        missing = ItemNotFound(f"there is no merchant {merchant_id!r}", place="Shop.describe_merchant")
        update = Update(Merchant, merchant_id=merchant_id).set(name=name, about=about)
        merchant = yield from update.if_missing(missing)
        return merchant

    @write("W21", attempts=10)
    def describe_product(
        self, product_id: Id, name: Name, description: Text = "", category: Id = "other"
    ) -> Writes[Product]:
        """Change what a product's page says, and its category: all three. Raises ItemNotFound."""
        product = yield from self._known(product_id, "Shop.describe_product")
        changes = {"name": name, "description": description, "category": category}
        described = product.model_copy(update=changes)
        yield Update(product, **changes).only_if(category=product.category, listed_at=product.listed_at)
        listing = listing_of(described)
        if listing is not None and category != product.category:
            yield Put(listing)
        return described

    @write("W22", attempts=10, example=Example().found(Product, listed_at=None))
    def list_product(self, product_id: Id) -> Writes[Product]:
        """Sell a product, as a new one of today; nothing changes for one that is sold. Raises ItemNotFound."""
        product = yield from self._known(product_id, "Shop.list_product")
        if product.listed_at is not None:
            return product
        listed = product.model_copy(update={"listed_at": now()})
        yield Update(product, listed_at=listed.listed_at).only_if(category=product.category, listed_at=None)
        listing = listing_of(listed)
        if listing is not None:
            yield Create(listing)
        return listed

    @write("W23", attempts=10)
    def unlist_product(self, product_id: Id) -> Writes[Product]:
        """Don't sell a product any more: it leaves every list, and can't be ordered. Raises ItemNotFound."""
        product = yield from self._known(product_id, "Shop.unlist_product")
        listing = listing_of(product)
        if listing is None:
            return product
        yield Update(product, listed_at=None).only_if(category=product.category, listed_at=product.listed_at)
        yield Delete(listing)
        return product.model_copy(update={"listed_at": None})

    def _known(self, product_id: str, place: str) -> Writes[Product]:
        product = yield from self.product.read(product_id)
        if product is None:
            raise _unknown(product_id, place)
        return product


def _unknown(product_id: str, place: str) -> ItemNotFound:
    return ItemNotFound(f"there is no product {product_id!r}", place=place, hint="add it: add_product")


def listing_of(product: Product) -> Listing | None:
    """Where a product stands in the lists; None for one that is in none."""
    if product.listed_at is None:
        return None
    return Listing(
        product_id=product.product_id,
        merchant_id=product.merchant_id,
        category=product.category,
        listed_at=product.listed_at,
    )
