"""Which of two plans weighs less, why, and which plans are shown: at every limit, and a hair beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from keyplan.planner.planning import compared
from keyplan.planner.weighing import HotKey, Weight, dominates, front

HALF_A_CENT = 0.005
"""What two plans may differ by and cost the same."""


def hot(units: float, name: str = "Order.by_state", **more: Any) -> HotKey:
    return HotKey((name,), "GSI1", "write", units, 1000, 1, one_item=False, **more)


PLAIN = Weight(2, 10.0, None, (), 0)
OTHERS = {
    "plain": PLAIN,
    "one index": replace(PLAIN, indexes=1),
    "three indexes": replace(PLAIN, indexes=3),
    "four indexes": replace(PLAIN, indexes=4),
    "half a cent more": replace(PLAIN, usd_per_million=10 + HALF_A_CENT),
    "a cent more": replace(PLAIN, usd_per_million=10.01),
    "a dollar less": replace(PLAIN, usd_per_million=9.0),
    "by the month": replace(PLAIN, usd_a_month=25.0),
    "dearer by the month": replace(PLAIN, usd_per_million=1.0, usd_a_month=26.0),
    "nothing is known": replace(PLAIN, usd_per_million=None),
    "a claim": replace(PLAIN, copies=1),
    "one index, a claim": replace(PLAIN, indexes=1, copies=1),
    "three claims": replace(PLAIN, copies=3),
    "a mirror": replace(PLAIN, indexes=1, mirrors=1),
    "two mirrors": replace(PLAIN, mirrors=2),
    "reworded": replace(PLAIN, indexes=1, reworded=1),
    "terse": replace(PLAIN, terse=True),
    "warm": replace(PLAIN, hot=(hot(500),)),
    "a hair warmer": replace(PLAIN, hot=(hot(501),)),
    "warmer": replace(PLAIN, hot=(hot(502, "Order.by_day"), hot(100))),
    "as much as is given": replace(PLAIN, hot=(hot(1000),)),
    "one over": replace(PLAIN, hot=(hot(1001), hot(1000, "Order.by_day"))),
    "two over": replace(PLAIN, hot=(hot(1500), hot(1001, "Order.by_day"))),
}


def test_the_equal_of_an_earlier_plan_is_not_among_the_best() -> None:
    assert front([PLAIN, PLAIN, OTHERS["a cent more"], OTHERS["one index"]]) == [False, False, False, True]
    assert front([PLAIN, PLAIN]) == [True, False]
    for (_, weight), (_, other) in combinations(OTHERS.items(), 2):
        assert not (dominates(weight, other) and dominates(other, weight))


@dataclass(frozen=True)
class Made:
    """As much of a plan as is compared."""

    weight: Weight
    filters: bool = False
    best: bool = True
    why: str = ""


def shown(*plans: Made) -> list[tuple[int, bool]]:
    """The plans that are shown, by their numbers, and which of them are among the best."""
    numbers = {id(made.weight): at for at, made in enumerate(plans)}
    result = compared(plans)  # type: ignore[arg-type]
    assert result[0].why == "" if result else True
    assert all(made.why for made in result[1:])
    return [(numbers[id(made.weight)], made.best) for made in result]


def test_the_lightest_plan_is_first() -> None:
    assert shown() == []
    dear, cheap = replace(PLAIN, usd_per_million=12.0), replace(PLAIN, usd_per_million=8.0)
    assert shown(Made(dear), Made(PLAIN), Made(cheap)) == [(2, True), (1, False), (0, False)]


def test_what_has_become_the_first_has_no_reason_against_it() -> None:
    """Where the plan before it is left out, as one that gives a wrong answer."""
    made: Any = [Made(replace(PLAIN, usd_per_million=11.0), best=False, why="$1.00 more for a million calls")]
    assert [(each.why, each.best) for each in compared(made)] == [("", True)]


def test_a_plan_that_filters_is_first_where_it_is_not_dearer() -> None:
    fewer = replace(PLAIN, indexes=1)
    for dearer, at in ((0, 1), (HALF_A_CENT, 1), (0.01, 0)):
        filtering = replace(fewer, usd_per_million=10 + dearer)
        assert shown(Made(PLAIN), Made(filtering, filters=True))[0] == (at, True)
        assert shown(Made(PLAIN), Made(filtering))[0] == (1, True)
    only = replace(fewer, usd_per_million=99.0)
    assert shown(Made(fewer, filters=True), Made(only, filters=True))[0] == (0, True)


def test_words_are_worth_a_little() -> None:
    terse = replace(PLAIN, usd_per_million=10.0, terse=True)
    for dearer, at in ((0, 0), (0.01, 0), (0.011, 1)):
        assert shown(Made(replace(PLAIN, usd_per_million=10 * (1 + dearer))), Made(terse))[0][0] == at
    assert shown(Made(replace(PLAIN, usd_per_million=10.05, indexes=3)), Made(terse))[0][0] == 1
    assert shown(Made(replace(PLAIN, reworded=1)), Made(terse))[0][0] == 1
    hotter = replace(PLAIN, usd_per_million=10.05, hot=(hot(900),))
    assert shown(Made(hotter), Made(replace(terse, hot=(hot(500),))))[0][0] == 0
    assert shown(Made(terse), Made(replace(terse, usd_per_million=11.0)))[0][0] == 0


def test_as_many_plans_are_shown_as_are_of_use() -> None:
    beaten = [Made(replace(PLAIN, usd_per_million=10.0 + number)) for number in range(9)]
    assert shown(*beaten) == [(0, True), *((number, False) for number in range(1, 3))]
    unbeaten = [Made(replace(PLAIN, indexes=number, usd_per_million=20.0 - number)) for number in range(9)]
    assert shown(*unbeaten) == [(number, True) for number in range(5)]
    some = [beaten[0], beaten[1], beaten[2], Made(replace(PLAIN, indexes=3, usd_per_million=1.0)), beaten[4]]
    assert shown(*some) == [(0, True), (3, True), (1, False)]
