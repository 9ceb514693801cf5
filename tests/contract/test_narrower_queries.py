"""Reads of entities that are separated by items of other entities send narrower queries, on every store."""

from __future__ import annotations

from datetime import date
from typing import Any

from keyplan import CallRecord, Range
from keyplan.testing import verify
from tests.contract.apart import Apart, Between, Ends, First, Last, Letter, Many, Pair, Parcel
from tests.contract.stores import Caller, caller_of
from tests.contract.test_patterns import paged

DAYS = [date(2026, 3, 1), date(2026, 3, 2)]


every = caller_of(Apart)


def test_separate_queries_per_entity_return_the_same_items_as_one_query(every: Caller) -> None:
    letters: list[Any] = [
        every.put(Letter(owner="o", number=number, day=DAYS[number % 2], box="b")) for number in range(4)
    ]
    parcels: list[Any] = [
        every.put(Parcel(owner="o", number=number, day=DAYS[number % 2], box="b")) for number in range(3)
    ]
    for number in range(5):
        every.put(Between(owner="o", number=number, day=DAYS[0], box="b"))
        every.put(Many(owner="o", number=number))
    every.put(Letter(owner="other", number=9, day=None))
    both = [*letters, *parcels]
    assert every.read("pair", owner="o") == Pair(letters, parcels)
    assert every.read("pair", owner="nobody") is None
    assert every.read("both", owner="o") == every.read("iterated", owner="o") == both
    assert every.read("both_backwards", owner="o") == both[::-1]
    for limit in (1, 2, 3, 4, 6, 7, 9):
        assert paged(every, "page", limit, owner="o") == both
        assert paged(every, "page", limit, owner="o", newest_first=True) == both[::-1]
        assert paged(every, "listed", limit, box="b") == both
        assert paged(every, "new", limit, owner="o") == both
        assert paged(every, "of_day", limit, day=DAYS[1]) == [letters[1], letters[3], parcels[1]]
        assert paged(every, "of_days", limit, day=DAYS) == both[::-1]
    assert (every.read("how_many", owner="o"), every.read("any", owner="o"), every.read("any", owner="p")) == (
        7,
        True,
        False,
    )
    assert every.read("from_number", owner="o", number=Range(ge=2)) == [*letters[2:], parcels[2]]
    assert every.read("of_number", owner="o", number=1) == [letters[1], parcels[1]]
    assert every.read("ends", owner="o") is None
    first, last = every.put(First(owner="o")), every.put(Last(owner="o"))
    assert every.read("ends", owner="o") == Ends(first, last)


def test_separate_queries_are_sent_only_if_other_items_can_be_between_entities() -> None:
    records: list[CallRecord] = []
    with Apart.open(":memory:") as design:
        letter, parcel = design.put(Letter(owner="o", number=1)), design.put(Parcel(owner="o", number=1))
        design.store.on_call = records.append
        assert design.both("o") == design.all_three("o") == [letter, parcel]
        page = design.page("o", limit=1)
        assert (page.items, page.cursor is None) == ([letter], False)
        assert design.page("o", limit=1, cursor=page.cursor).items == [parcel]
    assert [record.operation for record in records] == ["Query"] * (2 + 1 + 2 + 2)


def test_separate_queries_per_entity_match_the_brute_force_results() -> None:
    assert verify(Apart, stores=6).unanswered == ()
