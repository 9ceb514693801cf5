"""Writes of the catalogue: merchants, products, their lists, related products."""

from __future__ import annotations

from keyplan import Add, Check, Create, Delete, Put, Update, Writes, now, write
from keyplan.errors import ItemNotFound, Refused
from keyplan_systems.shop.entities import Id, Listing, Merchant, Product, ProductDetails, Quantity, Related
from keyplan_systems.shop.reads import Reads


class CatalogueWrites(Reads):
    """Writes of the catalogue."""

    @write("W2")
    def add_product(self, product: Product) -> Writes[Product]:
        """Add a product, and list it if it has ``listed_at``. Raises ItemExists."""
        yield Create(product)
        listing = listing_of(product)
        if listing is not None:
            yield Put(listing)
        return product

    @write("W3")
    def restock(self, product_id: Id, quantity: Quantity) -> Writes:
        """Add to the stock of a product. Raises ItemNotFound."""
        missing = _unknown(product_id, "Shop.restock")
        yield Update(Product, product_id=product_id).set(stock=Add(quantity)).if_missing(missing)

    @write("W4", attempts=10)
    def edit_product(self, product_id: Id, details: ProductDetails) -> Writes[Product]:
        """Replace the editable fields of a product, and update the lists. Orders keep their prices.

        Raises ItemNotFound.
        """
        product = yield from self.product.read(product_id)
        if product is None:
            raise _unknown(product_id, "Shop.edit_product")
        listed_at = (product.listed_at or now()) if details.listed else None
        changes = {**details.model_dump(exclude={"listed"}), "listed_at": listed_at}
        yield Update(product, **changes).only_if(category=product.category, listed_at=product.listed_at)
        edited = product.model_copy(update=changes)
        before, after = listing_of(product), listing_of(edited)
        if after is not None and after != before:
            yield Put(after)
        elif before is not None and after is None:
            yield Delete(before)
        return edited

    @write("W5")
    def relate(self, product_id: Id, related_id: Id) -> Writes:
        """Relate a product to another. Raises Refused for the product itself, ItemNotFound for unknown products."""
        if product_id == related_id:
            raise Refused(
                f"product {product_id!r} can't be related to itself", place="Shop.relate", hint="pass another product"
            )
        for name in (product_id, related_id):
            yield Check(Product, product_id=name).if_missing(_unknown(name, "Shop.relate"))
        yield Put(Related(product_id=product_id, related_id=related_id))

    @write("W16")
    def add_merchant(self, merchant: Merchant) -> Writes[Merchant]:
        """Add a merchant. Raises ItemExists."""
        yield Create(merchant)
        return merchant


def _unknown(product_id: str, place: str) -> ItemNotFound:
    return ItemNotFound(f"there is no product {product_id!r}", place=place, hint="add the product with add_product")


def listing_of(product: Product) -> Listing | None:
    """A product's entry in the lists; None if it isn't listed."""
    if product.listed_at is None:
        return None
    return Listing(
        product_id=product.product_id,
        merchant_id=product.merchant_id,
        category=product.category,
        listed_at=product.listed_at,
    )
