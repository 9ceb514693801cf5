"""The users of the shop: customers, and users who sell for a merchant."""

from __future__ import annotations

from collections.abc import Collection

from keyplan_systems.pages.people import People, Person
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import User
from keyplan_systems.words import EMAIL


class ShopPeople(People[Shop, User]):
    """Users with a password, by email address."""

    taken = "already registered"
    by_mail = True

    def user(self, user_id: str) -> User | None:
        return self._design.user(user_id)

    def user_known_as(self, login: str) -> User | None:
        return self._design.user_by_email(login)

    def fault_of(self, login: str) -> str | None:
        return None if EMAIL.fullmatch(login) else "invalid email address"

    def add(self, login: str, name: str, password_hash: str) -> User:
        user = User(email=login, name=name)
        self._design.register(user, password_hash)
        return user

    def login(self, user: User) -> str:
        return user.email

    def roles(self, user: User) -> Collection[str]:
        return () if user.merchant_id is None else ("merchant", f"merchant {user.merchant_id}")


def merchant_of(person: Person | None) -> str:
    """The merchant that a user sells for; empty for a customer."""
    roles = () if person is None else person.roles
    return next((role.removeprefix("merchant ") for role in roles if role.startswith("merchant ")), "")
