# mypy: disable-error-code="empty-body"
"""Writes that return the previous item, and idempotent updates, on every store."""

from __future__ import annotations

import pytest

from keyplan import (
    Add,
    Create,
    Design,
    Entity,
    IdempotencyTokens,
    Key,
    Put,
    Table,
    Unique,
    Update,
    Version,
    Writes,
    write,
)
from keyplan.errors import ArgumentError, ConditionFailed, ItemExists, RequestError, TransactionFailed, UpdateRejected
from tests.contract.stores import Caller, caller_of


class Account(Entity):
    account_id: str
    balance: int = 0
    owner: str | None = None
    applied: IdempotencyTokens = set()  # noqa: RUF012 - pydantic copies it

    primary = Key("ACCOUNT#{account_id}", "HEAD")


class Payment(Entity):
    payment_id: str
    amount: int

    primary = Key("PAYMENT#{payment_id}", "HEAD")


class Locked(Entity):
    name: str
    label: str = ""
    version: Version = 0

    primary = Key("LOCKED#{name}", "HEAD")


class Member(Entity):
    name: str
    email: str
    points: int = 0
    applied: IdempotencyTokens = set()  # noqa: RUF012

    primary = Key("MEMBER#{name}", "HEAD")
    one_email = Unique("EMAIL#{email}")


class Bank(Design):
    table = Table("bank", entities=[Locked, Member, Payment])

    @write("W1")
    def replace(self, account: Account) -> Writes[Account | None]:
        return (yield from Put(account).previous())

    @write("W2")
    def own(self, account_id: str, owner: str) -> Writes[str | None]:
        before = yield from Update(Account, account_id=account_id).set(owner=owner).previous()
        return before.owner if before is not None else "nobody"

    @write("W3")
    def add(self, account_id: str, amount: int) -> Writes[Account | None]:
        return (yield from Update(Account, account_id=account_id).set(balance=Add(amount)).or_create().previous())

    @write("W4")
    def label_both(self, first: Locked, second: Locked, label: str) -> Writes[tuple[Locked | None, Locked | None]]:
        before = yield from Update(first, label=label).previous()
        other = yield from Update(second, label=label).previous()
        return before, other

    @write("W5")
    def put_both(self, first: Account, second: Account) -> Writes[Account | None]:
        before = yield from Put(first).previous()
        yield Put(second)
        return before

    @write("W6")
    def deposit(self, account_id: str, payment_id: str, amount: int) -> Writes[int]:
        after = yield from Update(Account, account_id=account_id).set(balance=Add(amount)).idempotent(payment_id)
        return after.balance

    @write("W7")
    def pay(self, account_id: str, to_id: str, payment_id: str, amount: int) -> Writes:
        yield Create(Payment(payment_id=payment_id, amount=amount))
        yield Update(Account, account_id=account_id).set(balance=Add(-amount)).idempotent(payment_id)
        yield Update(Account, account_id=to_id).set(balance=Add(amount)).idempotent(payment_id).or_create()

    @write("W9")
    def own_once(self, account_id: str) -> Writes:
        yield from Update(Account, account_id=account_id).set(owner="x").idempotent("t").previous()

    @write("W8")
    def wrong(self, account: Account) -> Writes:
        yield Put(account).previous()  # type: ignore[misc]


every = caller_of(Bank)


def test_write_returns_the_previous_item(every: Caller) -> None:
    assert every.write("replace", account=Account(account_id="1", balance=5)) is None
    assert every.write("replace", account=Account(account_id="1", owner="ada")) == Account(account_id="1", balance=5)
    assert every.write("own", account_id="1", owner="eve") == "ada"
    assert every.get(Account, account_id="1") == Account(account_id="1", owner="eve")
    assert every.write("add", account_id="2", amount=3) is None
    assert every.write("add", account_id="2", amount=4) == Account(account_id="2", balance=3)
    with pytest.raises(ConditionFailed):
        every.write("own", account_id="9", owner="eve")


def test_crud_methods_return_the_previous_item(every: Caller) -> None:
    account = Account(account_id="1", balance=5)
    assert every.put(Put(account).previous()) is None
    assert every.put(Put(Account(account_id="1", owner="ada")).only_if(balance=5).previous()) == account
    more = Update(Account, account_id="1").set(balance=Add(2)).previous()
    assert every.update(more) == Account(account_id="1", owner="ada")
    assert every.get(Account, account_id="1").balance == 2
    member = every.create(Member(name="a", email="x"))
    with pytest.raises(RequestError, match="the item before Update isn't available"):
        every.update(Update(member, email="y").previous())  # its claim makes it a transaction
    with pytest.raises(ArgumentError, match="isn't a Put"):
        every.put(more)
    with pytest.raises(ArgumentError, match="pass changes in the Update"):
        every.update(more, balance=3)
    assert every.get(Account, account_id="1").balance == 2


def test_transaction_returns_a_previous_item_only_if_its_contents_are_known(every: Caller) -> None:
    first, second = every.create(Locked(name="a", label="x")), every.create(Locked(name="b"))
    assert every.write("label_both", first=first, second=second, label="new") == (first, second)
    with pytest.raises(RequestError, match="the item before Put isn't available"):
        every.write("put_both", first=Account(account_id="1"), second=Account(account_id="2"))
    assert every.get(Account, account_id="1") is None
    with pytest.raises(RequestError, match="requires yield from"):
        every.write("wrong", account=Account(account_id="1"))


def test_update_repeated_with_the_same_token_is_applied_once(every: Caller) -> None:
    every.put(Account(account_id="1"))
    assert [every.write("deposit", account_id="1", payment_id=text, amount=5) for text in "aaba"] == [5, 5, 10, 10]
    stored = every.get(Account, account_id="1")
    assert stored == Account(account_id="1", balance=10, applied={"a", "b"})
    assert every.update(Update(stored, owner="ada").idempotent("a")) == stored
    assert every.update(Update(stored, owner="ada").only_if(balance=10).idempotent("c")).owner == "ada"
    with pytest.raises(ConditionFailed, match="balance is 10, expected 9"):
        every.update(Update(stored, owner="eve").only_if(balance=9).idempotent("d"))
    with pytest.raises(ConditionFailed, match="doesn't exist"):
        every.write("deposit", account_id="9", payment_id="a", amount=5)


def test_transaction_repeated_with_the_same_token_is_applied_once(every: Caller) -> None:
    every.put(Account(account_id="1", balance=9))
    for _ in range(2):
        every.write("pay", account_id="1", to_id="2", payment_id="p", amount=4)
    assert every.get(Account, account_id="1").balance == 5
    assert every.get(Account, account_id="2") == Account(account_id="2", balance=4, applied={"p"})
    every.delete(Payment, payment_id="p")
    every.write("deposit", account_id="1", payment_id="q", amount=1)
    with pytest.raises((ConditionFailed, TransactionFailed)):  # one of two tokens is stored: another payment
        every.write("pay", account_id="1", to_id="2", payment_id="q", amount=1)
    every.create(Payment(payment_id="r", amount=1))
    with pytest.raises(ItemExists):
        every.write("pay", account_id="1", to_id="2", payment_id="r", amount=1)
    assert every.get(Account, account_id="2").balance == 4


def test_update_of_a_unique_value_repeated_with_the_same_token_is_applied_once(every: Caller) -> None:
    member = every.create(Member(name="ada", email="a@x.org"))
    moving = Update(member, email="b@x.org", points=Add(1)).idempotent("move")
    for _ in range(2):
        assert every.update(moving) == Member(name="ada", email="b@x.org", points=1, applied={"move"})
    every.create(Member(name="eve", email="a@x.org"))


def test_invalid_idempotent_updates_are_rejected(every: Caller) -> None:
    with pytest.raises(UpdateRejected, match="requires a field for the tokens"):
        every.update(Update(Payment, payment_id="p").set(amount=Add(1)).idempotent("t"))
    for token in ("", "\ud800"):
        with pytest.raises(RequestError, match="a token must be"):
            Update(Account, account_id="1").idempotent(token)
    with pytest.raises(UpdateRejected, match="adds the token to this field"):
        every.update(Update(Account, account_id="1").set(applied=set()).idempotent("t"))
    with pytest.raises(RequestError, match="can't return the previous item"):
        every.write("own_once", account_id="1")
