"""Writes of two designs in one transaction: their requests, hooks and attempts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from keyplan import PatternRecord, transact
from keyplan.errors import ConditionFailed, RequestError
from tests.client.support import record
from tests.contract.test_joint_transactions import Account, Ledger, Shop

Carry = Callable[..., Any]


def awaited(*writes: Any) -> Any:
    return asyncio.run(transact.aio(*writes))


WAYS: list[Carry] = [transact, awaited]


@pytest.fixture
def both() -> Iterator[tuple[Shop, Ledger]]:
    with Shop.open(":memory:") as shop, Ledger.open(shop.store, create=True) as ledger:
        ledger.put(Account(account_id="a", balance=9))
        yield shop, ledger


@pytest.mark.parametrize("carry_out", WAYS)
@pytest.mark.parametrize("watched", [False, True])
def test_a_joint_transaction_is_reported_to_hooks(both: tuple[Shop, Ledger], carry_out: Carry, watched: bool) -> None:
    shop, ledger = both
    told: list[PatternRecord] = []
    if watched:
        shop.store.watch(told.append)
    order, left = carry_out(shop.place.in_transaction("o", 3), ledger.take.in_transaction("a", 4))
    assert (order.order_id, order.price, left) == ("o", 3, 5)
    assert [(each.pattern, [call.operation for call in each.calls], each.error) for each in told] == (
        [("transact", ["GetItem", "TransactWriteItems"], None)] if watched else []
    )
    assert carry_out(shop.later.in_transaction("p")) == (None,)
    with pytest.raises(ConditionFailed, match="not enough"):
        carry_out(shop.place.in_transaction("q", 3), ledger.take.in_transaction("a", 40))
    named = [(each.pattern, each.error) for each in told[1:]]
    assert named == ([("transact", None), ("transact", ConditionFailed.code)] if watched else [])


@pytest.mark.parametrize("carry_out", WAYS)
def test_invalid_joint_transactions_send_no_request(both: tuple[Shop, Ledger], carry_out: Carry) -> None:
    shop, ledger = both
    recorder = record(shop)
    for writes, says in (
        ([], "requires at least one write"),
        ([shop.place.in_transaction("o", 1), shop.place], "not a write:"),
        (["x"], "not a write: 'x'"),
    ):
        with pytest.raises(RequestError, match=says) as raised:
            carry_out(*writes)
        assert raised.value.place == "transact"
        assert raised.value.hint == "transact(shop.place.in_transaction(order), ...)"
    with Ledger.open(":memory:") as other:
        one, two, three = (
            shop.place.in_transaction("o", 1),
            other.take.in_transaction("a", 1),
            ledger.take.in_transaction("a", 1),
        )
        for pair in ([one, two], [two, three], [one, three, two]):
            with pytest.raises(RequestError, match="are on different stores; a transaction requires") as raised:
                carry_out(*pair)
            assert raised.value.hint is not None
            assert raised.value.hint.startswith("open one design on the other's store: ")
    assert recorder.requests == []


def test_the_highest_attempts_option_is_applied(both: tuple[Shop, Ledger], monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the writes allows five attempts, so the transaction has five, and each attempt reads the items again."""
    shop, ledger = both
    pauses: list[float] = []
    monkeypatch.setattr("keyplan.client.conversations.time.sleep", pauses.append)
    monkeypatch.setattr("keyplan.client.transactions.random.uniform", lambda low, high: high)
    recorder = record(shop)
    balances = iter(range(100, 200))

    def before(operation: str, parameters: dict[str, Any]) -> None:
        if operation == "TransactWriteItems":
            ledger.put(Account(account_id="a", balance=next(balances)))

    recorder.before = before
    with pytest.raises(ConditionFailed):
        transact(shop.place.in_transaction("o", 1), ledger.take.in_transaction("a", 1))
    assert recorder.operations.count("TransactWriteItems") == 5
    assert pauses == [0.01, 0.02, 0.04, 0.08]
