"""Tests of each CRUD method, on every store."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from keyplan import Add, Append, Create, Delete, Put, Remove, SetAdd, SetRemove, Update
from keyplan.errors import (
    ConditionFailed,
    ItemExists,
    ItemTooLarge,
    KeyFieldError,
    RequestError,
    TransactionFailed,
    UniqueValueTaken,
    UpdateRejected,
)
from tests.contract.design import Blob, Comment, Follow, Line, Order, Payment, Post, User
from tests.contract.stores import Caller
from tests.contract.test_patterns import NOON, post, user


def test_create_rejects_an_existing_item(every: Caller) -> None:
    every.create(post(1, title="first"))
    with pytest.raises(ItemExists, match="already exists"):
        every.create(post(1, title="second"))
    assert every.get(Post, user_id="u1", created_at=post(1).created_at, post_id="p1").title == "first"


def test_put_replaces_an_item(every: Caller) -> None:
    every.put(post(1, title="first", category="a"))
    every.put(post(1, title="second"))
    assert every.read("post_by_id", post_id="p1").title == "second"
    assert every.read("category", category="a").items == []


def test_write_with_an_outdated_version_is_rejected(every: Caller) -> None:
    first = every.create(user(1))
    assert first.version == 1
    second = every.update(first, name="Ada")
    assert second.version == 2
    with pytest.raises(ConditionFailed, match="version is 2, expected 1"):
        every.update(first, name="Eve")
    with pytest.raises(ConditionFailed, match="version is 2, expected 1"):
        every.delete(first)
    every.delete(second)
    assert every.read("user", user_id="u1") is None


def test_unique_values_are_claimed_changed_and_released(every: Caller) -> None:
    ada = every.create(user(1, nickname="ada"))
    with pytest.raises(UniqueValueTaken, match=r"email '1@example\.org' belongs to another User"):
        every.create(User(user_id="u2", email="1@example.org"))
    assert every.read("user", user_id="u2") is None
    ada = every.update(ada, email="ada@example.org", nickname=None)
    eve = every.create(User(user_id="u2", email="1@example.org", nickname="ada"))
    with pytest.raises(UniqueValueTaken, match=r"ada@example\.org"):
        every.update(eve, email="ada@example.org")
    every.delete(ada)
    every.update(eve, email="ada@example.org")


def test_delete_of_a_missing_item_succeeds(every: Caller) -> None:
    every.delete(Payment, order_id="o")
    every.delete(user(1))


def test_update_requires_an_existing_item(every: Caller) -> None:
    with pytest.raises(ConditionFailed, match="doesn't exist"):
        every.update(post(1), title="new")


def test_updates_add_to_numbers_append_to_lists_and_remove_values(every: Caller) -> None:
    blob = every.create(Blob(name="b", checksum=b"x"))
    value = every.create(post(1, tags={"a"}, score=5))
    assert every.update(blob, parts=Append(["p", "q"])).parts == ["p", "q"]
    assert every.update(blob, parts=Append(["r"])).parts == ["p", "q", "r"]
    two = every.update(value, tags=SetAdd({"b", "c"}))
    assert two.tags == {"a", "b", "c"}
    with pytest.raises(ConditionFailed, match=r"tags is \{.*\}, expected \{'a'\}"):
        every.update(value, tags=SetRemove({"a"}))  # a key is computed from them, so they must be unchanged
    assert every.update(two, tags=SetRemove({"a", "b", "c"})).tags == set()
    comment = every.create(Comment(post_id="p", path=("a",)))
    assert every.update(comment, likes=Add(2)).likes == 2
    assert every.update(comment, likes=Add(-3)).likes == -1
    order = every.create(Order(order_id="o", user_id="u", placed_at=NOON, note="n"))
    assert every.update(order, note=Remove()).note is None


def test_update_of_a_key_field_moves_the_item_in_its_index(every: Caller) -> None:
    value = every.create(post(1, category="a", score=1))
    two = every.update(value, score=2, status="published")
    assert every.read("category", category="a").items == [two]
    assert every.read("published").items == [two]
    three = every.update(two, category="b")
    assert every.read("category", category="a").items == []
    assert every.read("category", category="b").items == [three]
    with pytest.raises(UpdateRejected, match="a primary key can't be changed"):
        every.update(three, post_id="other")


def test_batches_write_and_read_many_items(every: Caller) -> None:
    payments = [Payment(order_id=f"{number:03d}", paid_on=date(2026, 3, 1), reference="r") for number in range(60)]
    every.batch([Put(payment) for payment in payments])
    keys = [{"order_id": payment.order_id} for payment in payments]
    assert every.get_many(Payment, [*keys, {"order_id": "none"}]) == [*payments, None]
    every.batch([Delete(payment) for payment in payments[1:]])
    assert every.get_many(Payment, keys) == [payments[0], *[None] * 59]
    with pytest.raises(RequestError, match="has claims, a version"):
        every.batch([Delete(user(1))])


def test_transaction_with_a_failed_action_has_no_effect(every: Caller) -> None:
    value = every.create(post(1))
    every.create(post(3))
    with pytest.raises(TransactionFailed) as caught:
        every.transact([Create(post(2)), Create(post(3)), Update(value, title="new").only_if(title="old")])
    assert every.read("post_by_id", post_id="p2") is None
    reasons = caught.value.reasons
    assert reasons[0] is None
    assert isinstance(reasons[1], ItemExists)
    assert isinstance(reasons[2], ConditionFailed)
    assert [fault.place for fault in caught.value.errors] == ["actions[1]", "actions[2]"]


def test_write_patterns_that_read_before_they_write_store_the_expected_items(every: Caller) -> None:
    every.write("sign_up", user=user(1))
    with pytest.raises(ConditionFailed, match="doesn't exist"):
        every.write("follow", user_id="u1", followed_id="u2")
    every.write("sign_up", user=user(2))
    every.write("follow", user_id="u1", followed_id="u2")
    assert every.get(Follow, user_id="u1", followed_id="u2") is not None
    every.create(Order(order_id="o", user_id="u1", placed_at=NOON))
    assert [every.write("add_line", order_id="o", sku="s").number for _ in range(3)] == [1, 2, 3]
    every.write("pay", order_id="o", paid_on=date(2026, 3, 1), reference="r")
    result = every.read("order_details", order_id="o")
    assert result.order.note == "3 lines"
    assert [line.number for line in result.lines] == [3, 2, 1]
    assert result.payment is not None


def test_invalid_values_are_rejected_before_any_request(every: Caller) -> None:
    with pytest.raises(ItemTooLarge, match="DynamoDB allows at most 409,600"):
        every.create(Comment(post_id="p", path=("a",), body="x" * 500_000))
    with pytest.raises(KeyFieldError, match="is empty"):
        every.create(Order(order_id="", user_id="u", placed_at=NOON))
    with pytest.raises(KeyFieldError, match=r"the key attribute sk would be \d+ bytes long"):
        every.create(Comment(post_id="p", path=("x" * 2000,)))
    with pytest.raises(RequestError, match="no time zone"):
        every.create(Order(order_id="o", user_id="u", placed_at=datetime(2026, 3, 1)))  # noqa: DTZ001


def test_values_that_contain_delimiters_have_distinct_keys(every: Caller) -> None:
    nasty = ["#", "$", "a#b", "a", "b", " ", "\x00", "\U0001f600", "é", "e\u0301", "#CLAIM", "LINE#001"]
    for text in nasty:
        for other in nasty:
            every.put(Follow(user_id=text, followed_id=other, since=datetime(2026, 3, 1, tzinfo=UTC)))
    for text in nasty:
        result = every.read("follows", user_id=text, followed_id="")
        assert [follow.followed_id for follow in result] == sorted(nasty)
        assert {follow.user_id for follow in result} == {text}


def test_key_with_a_reversed_number_supports_the_whole_range_of_numbers(every: Caller) -> None:
    every.create(Line(order_id="o", number=999, sku="s"))
    every.create(Line(order_id="o", number=0, sku="s"))
    every.create(Order(order_id="o", user_id="u", placed_at=NOON))
    assert every.read("order_newest", order_id="o").line.number == 999
