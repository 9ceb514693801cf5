# mypy: disable-error-code="empty-body"
"""Transactions of several designs and tables of one store, on every store, synchronously and asynchronously."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan import (
    Add,
    Batch,
    CallRecord,
    Create,
    Design,
    Entity,
    Example,
    Key,
    Put,
    Table,
    Update,
    Writes,
    read,
    transact,
    write,
)
from keyplan.analysis.cost.estimate import estimate_pattern
from keyplan.errors import ConditionFailed, ItemExists, RequestError, TransactionFailed
from keyplan.testing import open_test_store
from tests.contract.stores import OPENERS


class Order(Entity):
    order_id: str
    price: int
    note: str = ""

    primary = Key("ITEM#{order_id}", "HEAD")


class Shop(Design):
    table = Table("shop")

    @write("S1", in_transaction=True)
    def place(self, order_id: str, price: int) -> Writes[Order]:
        return (yield from Create(Order(order_id=order_id, price=price)))

    @write("S2")
    def many(self, count: int) -> Writes:
        for number in range(count):
            yield Put(Order(order_id=str(number), price=number))

    @write("S3")
    def later(self, order_id: str) -> Writes:
        yield Batch([Put(Order(order_id=order_id, price=0))])

    @write("S4")
    def large(self, count: int, note: str) -> Writes:
        for number in range(count):
            yield Put(Order(order_id=str(number), price=number, note=note))


class Account(Entity):
    account_id: str
    balance: int = 0

    primary = Key("ITEM#{account_id}", "HEAD")


class Ledger(Design):
    table = Table("ledger")

    @read("L1")
    def account(self, account_id: str) -> Account | None: ...

    @write("L2", attempts=5, in_transaction=True, example=Example(amount=1).found(Account, balance=1))
    def take(self, account_id: str, amount: int) -> Writes[int]:
        account = yield from self.account.read(account_id)
        if account is None or account.balance < amount:
            raise ConditionFailed("not enough", place="take")
        yield Update(account, balance=account.balance - amount).only_if(balance=account.balance)
        return account.balance - amount

    @write("L3")
    def add(self, account_id: str, amount: int) -> Writes[int]:
        after = yield from Update(Account, account_id=account_id).set(balance=Add(amount))
        return after.balance


Both = tuple[Shop, Ledger]
Transact = Callable[..., Any]


def synchronous(*writes: Any) -> Any:
    return transact(*writes)


def asynchronous(*writes: Any) -> Any:
    return asyncio.run(transact.aio(*writes))


@pytest.fixture(params=OPENERS)
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Both]:
    with OPENERS[request.param](Shop, tmp_path) as shop:
        name = shop.store.table_name
        ledger = Ledger.open(shop.store if name == "shop" else shop.store.url.replace(name, f"{name}-b"), create=True)
        with ledger:
            yield shop, ledger


@pytest.mark.parametrize("run", [synchronous, asynchronous])
def test_transaction_across_designs_is_atomic(both: Both, run: Transact) -> None:
    shop, ledger = both
    ledger.put(Account(account_id="1", balance=10))
    assert run(shop.place.in_transaction("1", 4), ledger.take.in_transaction("1", 4)) == (
        Order(order_id="1", price=4),
        6,
    )
    assert ledger.account("1") == Account(account_id="1", balance=6)  # the same key as the order's, in another table
    with pytest.raises(ItemExists):
        run(shop.place.in_transaction("1", 4), ledger.take.in_transaction("1", 4))
    with pytest.raises(ConditionFailed, match="not enough"):
        run(shop.place.in_transaction("2", 99), ledger.take.in_transaction("1", 99))
    assert shop.get(Order, order_id="2") is None
    assert ledger.account("1") == Account(account_id="1", balance=6)
    run(shop.later.in_transaction("9"), ledger.take.in_transaction("1", 1))
    assert shop.get(Order, order_id="9") is not None


def test_transaction_of_two_designs_has_at_most_100_actions(both: Both) -> None:
    shop, ledger = both
    ledger.put(Account(account_id="1", balance=10))
    transact(shop.many.in_transaction(99), ledger.take.in_transaction("1", 1))
    with pytest.raises(RequestError, match="the item after Update isn't available"):
        transact(shop.place.in_transaction("b", 1), ledger.add.in_transaction("1", 1))
    with pytest.raises(RequestError, match="not a write"):
        transact(shop.place, ledger.add.in_transaction("1", 1))  # type: ignore[call-overload]


def test_invalid_transactions_are_rejected_before_they_are_sent(both: Both) -> None:
    shop, ledger = both
    ledger.put(Account(account_id="1", balance=10))
    calls: list[str] = []
    shop.store.on_call = lambda record: calls.append(record.operation)
    note = "x" * 390_000
    for writes, message in (
        (
            (shop.many.in_transaction(100), ledger.take.in_transaction("1", 1)),
            "the transaction has 101 operations; DynamoDB allows at most 100",
        ),
        (
            (shop.place.in_transaction("a", 1), shop.place.in_transaction("a", 2)),
            "on the same item: Put Order(pk=ITEM#a, sk=HEAD), ",
        ),
        (
            (shop.large.in_transaction(11, note), ledger.take.in_transaction("1", 1)),
            "bytes; DynamoDB allows at most 4,194,304",
        ),
    ):
        with pytest.raises(RequestError, match=re.escape(message)) as caught:
            transact(*writes)
        assert (caught.value.code, caught.value.place) == ("RequestError", "transact")
    assert set(calls) <= {"GetItem"}  # reads by the write patterns
    transact(shop.large.in_transaction(10, note), ledger.take.in_transaction("1", 1))
    assert calls[-1] == "TransactWriteItems"


def test_cost_of_a_joint_transaction_is_the_sum_of_its_parts(both: Both) -> None:
    shop, ledger = both
    ledger.put(Account(account_id="1", balance=10))
    parts = [estimate_pattern(design, name) for design, name in ((Shop, "place"), (Ledger, "take"))]
    assert [part.requests[-1].operation for part in parts] == ["TransactWriteItems"] * 2
    calls: list[CallRecord] = []
    shop.store.on_call = calls.append
    transact(shop.place.in_transaction("1", 4), ledger.take.in_transaction("1", 4))
    assert [call.operation for call in calls] == ["GetItem", "TransactWriteItems"]
    expected = [(request.units("read"), request.units("write")) for part in parts for request in part.requests]
    assert sum(call.write_units for call in calls) == sum(write for _, write in expected) == 4
    assert sum(call.read_units for call in calls) == sum(read for read, _ in expected) == 1


def test_error_of_a_canceled_transaction_lists_each_reason(both: Both) -> None:
    shop, ledger = both
    shop.place("1", 1)
    account = ledger.put(Account(account_id="1", balance=1))
    ledger.update(account, balance=2)

    class Stale(Ledger):
        @write("L9")
        def stale(self, account: Account) -> Writes:
            yield Update(account, balance=5).only_if(balance=account.balance)

    stale = Stale(ledger.store)
    with pytest.raises(TransactionFailed) as caught:
        transact(shop.place.in_transaction("1", 1), stale.stale.in_transaction(account))
    assert [type(reason) for reason in caught.value.reasons] == [ItemExists, ConditionFailed]


def test_transaction_is_retried_after_a_concurrent_change(both: Both) -> None:
    shop, ledger = both
    ledger.put(Account(account_id="1", balance=10))
    other: list[Account] = []

    class Meddling(Shop):
        @write("S9")
        def meddle(self) -> Writes:
            if not other:
                other.append(ledger.update(Account, account_id="1", balance=Add(5)))
            yield Create(Order(order_id="7", price=1))

    meddling = Meddling(shop.store)
    assert transact(ledger.take.in_transaction("1", 3), meddling.meddle.in_transaction()) == (12, None)


def test_designs_on_different_stores_are_rejected(tmp_path: Path) -> None:
    for text, two in ((":memory:", ":memory:"), (tmp_path / "a.db", tmp_path / "b.db")):
        with Shop.open(text) as shop, Ledger.open(two) as ledger:
            writes = shop.many.in_transaction(1), ledger.add.in_transaction("1", 1)
            with pytest.raises(RequestError, match="are on different stores"):
                transact(*writes)
    with Shop.open(tmp_path / "c.db") as shop, Ledger.open(tmp_path / ".." / tmp_path.name / "c.db") as ledger:
        ledger.put(Account(account_id="1", balance=3))
        transact(shop.many.in_transaction(1), ledger.take.in_transaction("1", 1))
        assert shop.get(Order, order_id="0") is not None


def test_store_is_closed_only_by_the_design_that_opened_it() -> None:
    with open_test_store(Shop) as shop:
        with Ledger.open(shop.store) as ledger:
            result: list[str] = []
            ledger.store.on_call = lambda record: result.append(record.pattern)
            ledger.put(Account(account_id="1"))
        shop.place("1", 1)
        assert result == ["Ledger.put"]
