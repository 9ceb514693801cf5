"""Writes of customers: registration, passwords, addresses, carts. Orders are in ``orders.py``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from keyplan import Create, Delete, Example, Update, Writes, now, write
from keyplan.errors import ItemNotFound, Refused
from keyplan_systems.shop.entities import CART_KEPT, LINES_MAX, Cart, Credential, Id, PostalAddress, User
from keyplan_systems.shop.reads import Reads

Wanted = Annotated[int, Field(ge=0, le=10_000)]
"""The quantity of a product in a cart; 0 removes it."""
Hash = Annotated[str, Field(min_length=1, max_length=500)]


class CustomerWrites(Reads):
    """Writes of customers."""

    @write("W1")
    def register(self, user: User, password_hash: Hash | None = None) -> Writes[User]:
        """Register a user. Without a password, they can't sign in.

        Raises ItemExists for a taken id, UniqueValueTaken for a taken email address.
        """
        yield Create(user)
        if password_hash is not None:
            yield Create(Credential(user_id=user.user_id, password_hash=password_hash))
        return user

    @write("W14")
    def set_password(self, user_id: Id, old_hash: Hash, password_hash: Hash) -> Writes:
        """Replace a password. Raises ConditionFailed if the stored hash isn't ``old_hash``."""
        update = Update(Credential, user_id=user_id).set(password_hash=password_hash, changed_at=now())
        yield update.only_if(password_hash=old_hash)

    @write("W17")
    def set_address(self, user_id: Id, address: PostalAddress) -> Writes[User]:
        """Set a user's shipping address; earlier orders keep their address. Raises ItemNotFound."""
        update = Update(User, user_id=user_id).set(address=address)
        user = yield from update.if_missing(_unknown(user_id, "Shop.set_address"))
        return user

    @write("W18", attempts=10, example=Example(quantity=1))
    def put_in_cart(self, user_id: Id, product_id: Id, quantity: Wanted) -> Writes[Cart | None]:
        """Set the quantity of a product in its merchant's cart; 0 removes it. Returns the cart; None if it is empty.

        Stock isn't reserved: the order checks it again. Raises ItemNotFound for an unknown product; Refused for one
        that is no longer available, for more than the stock and for a full cart.
        """
        product = yield from self.product.read(product_id)
        if product is None:
            raise ItemNotFound(f"there is no product {product_id!r}", place="Shop.put_in_cart")
        if product.listed_at is None and quantity:
            raise Refused(f"{product.name} is no longer available", place="Shop.put_in_cart")
        if quantity > product.stock:
            raise Refused(f"only {product.stock} of {product.name} are in stock", place="Shop.put_in_cart")
        cart = yield from self.cart.read(user_id, product.merchant_id)
        items = {name: number for name, number in cart.items.items() if name != product_id} if cart else {}
        if quantity:
            items[product_id] = quantity
        if len(items) > LINES_MAX:
            raise Refused(
                f"a cart holds at most {LINES_MAX} products", place="Shop.put_in_cart", hint="place an order first"
            )
        moment = now()
        changes = {"items": items, "changed_at": moment, "expires_at": moment + CART_KEPT}
        if cart is None:
            if not items:
                return None
            created = Cart.model_validate({"user_id": user_id, "merchant_id": product.merchant_id, **changes})
            yield Create(created)
            return created
        action = Update(cart, **changes) if items else Delete(cart)
        yield action.only_if(changed_at=cart.changed_at)
        return cart.model_copy(update=changes) if items else None


def _unknown(user_id: str, place: str) -> ItemNotFound:
    return ItemNotFound(f"there is no user {user_id!r}", place=place, hint="first call register")
