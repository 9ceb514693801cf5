"""The shop's people: customers, and those who sell for a merchant."""

from __future__ import annotations

import re

from keyplan.errors import Fault, Refused, ValueTaken
from keyplan_systems.pages.people import Person
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import User

__all__ = ["ShopPeople", "merchant_of"]

_EMAIL = re.compile(r"[^\s@<>(),;:\"\\\[\]]{1,64}@[^\s@<>(),;:\"\\\[\]]{1,180}\.[^\s@.]{2,63}")


class ShopPeople:
    """Users with a credential."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop

    def person(self, user_id: str) -> Person | None:
        """A user by their id."""
        user = self._shop.user(user_id)
        return None if user is None else self._person(user)

    def known(self, login: str) -> Person | None:
        """A user by their email address."""
        user = self._shop.user_by_email(login)
        return None if user is None else self._person(user)

    def join(self, login: str, name: str, password_hash: str) -> Person:
        """A new customer."""
        if not _EMAIL.fullmatch(login):
            raise Refused("it can't be taken", faults=[Fault("login", "that isn't an email address")])
        user = User(email=login, name=name)
        try:
            self._shop.sign_up(user, password_hash)
        except ValueTaken:
            raise Refused("it is taken", faults=[Fault("login", "somebody is registered with it")]) from None
        return Person(user.user_id, user.name, password_hash)

    def _person(self, user: User) -> Person | None:
        credential = self._shop.credential(user.user_id)
        if credential is None:
            return None
        roles = () if user.merchant_id is None else ("merchant", f"merchant {user.merchant_id}")
        return Person(user.user_id, user.name, credential.password_hash, roles)


def merchant_of(person: Person) -> str:
    """Whom somebody sells for; empty for a customer."""
    return next((one.removeprefix("merchant ") for one in person.roles if one.startswith("merchant ")), "")
