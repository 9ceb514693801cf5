"""The users of the shop: customers, and users who sell for a merchant."""

from __future__ import annotations

import re
from collections.abc import Collection

from keyplan_systems.pages.people import People, Person
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import User

_EMAIL = re.compile(r"[^\s@<>(),;:\"\\\[\]]{1,64}@[^\s@<>(),;:\"\\\[\]]{1,180}\.[^\s@.]{2,63}")


class ShopPeople(People[User]):
    """Users with a password, by email address."""

    taken = "already registered"
    by_mail = True

    def __init__(self, shop: Shop) -> None:
        self._shop = shop

    def user(self, user_id: str) -> User | None:
        return self._shop.user(user_id)

    def user_known_as(self, login: str) -> User | None:
        return self._shop.user_by_email(login)

    def password_hash(self, user_id: str) -> str | None:
        credential = self._shop.credential(user_id)
        return None if credential is None else credential.password_hash

    def fault_of(self, login: str) -> str | None:
        return None if _EMAIL.fullmatch(login) else "invalid email address"

    def add(self, login: str, name: str, password_hash: str) -> User:
        user = User(email=login, name=name)
        self._shop.sign_up(user, password_hash)
        return user

    def set_password(self, user_id: str, old_hash: str, password_hash: str) -> None:
        """Replace a password. Raises ConditionFailed if the stored hash isn't ``old_hash``."""
        self._shop.set_password(user_id, old_hash, password_hash)

    def login(self, user: User) -> str:
        return user.email

    def roles(self, user: User) -> Collection[str]:
        """The roles of a user who sells for a merchant."""
        return () if user.merchant_id is None else ("merchant", f"merchant {user.merchant_id}")


def merchant_of(person: Person) -> str:
    """The merchant that a user sells for; empty for a customer."""
    return next((role.removeprefix("merchant ") for role in person.roles if role.startswith("merchant ")), "")
