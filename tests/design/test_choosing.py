"""Which of several keys that serve is read: by what speaks against each, and by the orders that they give. Keys and
matches are made up here of what is looked at; which keys real questions find is in ``test_which_key_answers.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from keyplan.design.compiled.choosing import choose, lacking_while_none, ordered_by, rank, unsorted
from keyplan.design.declared.problems import Problem
from keyplan.design.stored.templates import Literal_
from tests.agreed import assert_agreed

GLOBAL, LOCAL = SimpleNamespace(local=False), SimpleNamespace(local=True)
TIME = SimpleNamespace(field="at")


def variable(text: str) -> Any:
    """``-n`` is turned, ``~n`` doesn't sort, ``(n`` is held in part."""
    held = SimpleNamespace(descending="-" in text, whole="(" not in text, **({"sorts": False} if "~" in text else {}))
    return SimpleNamespace(field=text.strip("-~("), format=held)


def match(sort: str, opened: int, **more: Any) -> Any:
    """A match of an entity whose sort key has these fields, the last ``opened`` of which the question leaves open."""
    first, *words = sort.split() or [""]
    variables = tuple(map(variable, words))
    fields = [each.field for each in variables]
    template = SimpleNamespace(parts=(Literal_(first), *variables), variables=variables, fields=fields)
    key = SimpleNamespace(sort=(("sk", template),) if sort else (), attributes=(("sk", template),))
    leads = more.get("leads", False)
    orders = [(each.field, each.format.descending) for each in variables[len(variables) - opened :]]
    return SimpleNamespace(
        key=key,
        order=(*([("at", False)] if leads else []), *orders),
        leads=leads,
        buckets=more.get("buckets", TIME if leads else None),
        used=frozenset(more.get("used", ())),
        narrowed=frozenset(more.get("narrowed", ())),
        entity=SimpleNamespace(
            name=more.get("entity", "E"),
            fields={name: SimpleNamespace(optional=name in more.get("optional", ())) for name in fields},
        ),
    )


def candidate(name: str, *matches: Any, index: Any = None, shards: int = 1) -> Any:
    return SimpleNamespace(name=name, index=index, shards=shards), matches


A, F, TIMED = match("A# n", 1), match("B# n", 1, entity="F"), match("A# n", 1, leads=True)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (candidate("k", A), (False, 0, 0, 0, 1)),
        (candidate("k", A, shards=4), (False, 0, 0, 0, 4)),
        (candidate("k", A, index=LOCAL), (False, 0, 0, 1, 1)),
        (candidate("k", A, index=GLOBAL), (False, 0, 0, 2, 1)),
        (candidate("k", match("A# n", 1, buckets=TIME)), (False, 0, 1, 0, 1)),
        (candidate("k", match("A# n", 1, used=["kind"])), (False, 0, 0, 0, 1)),
        (candidate("k", match("A# n", 1, used=["kind", "town"]), A), (False, 0, 0, 0, 1)),
        (candidate("k", match("A# n", 1, narrowed=["a", "b"]), match("B# n", 1, narrowed=["b"])), (False, 2, 0, 0, 1)),
        (candidate("k", match("A# n", 1, optional=["n"])), (True, 0, 0, 0, 1)),
        (candidate("k", A, match("A# n m", 1, optional=["m"])), (True, 0, 0, 0, 1)),
        (candidate("k", match("A# n", 1, optional=["n"], used=["n"])), (False, 0, 0, 0, 1)),
    ],
)
def test_what_speaks_against_a_key(given: Any, expected: tuple[Any, ...]) -> None:
    assert rank(given, {}) == expected
    fixed = {"kind": 1, "town": 2}
    known = [each.used for each in given[1]]
    filtered = sum(any(name not in used for used in known) for name in ("kind", "town"))
    assert rank(given, fixed) == (expected[0], expected[1] + filtered, *expected[2:])


def test_what_an_item_may_lack() -> None:
    each = match("A# n m k", 2, optional=["n", "k"], used=["n", "m"])
    assert [*lacking_while_none(each)] == ["k"]


ORDERS: dict[str, Sequence[Any]] = {
    "nothing open": [match("A# n", 0)],
    "n": [A],
    "n of two": [match("A# n", 1), match("B# n m", 2)],
    "n of one": [match("A# n", 1), match("B#", 0)],
    "n and m": [match("A# n", 1), match("B# m", 1)],
    "unsorted n": [match("A# ~n", 1)],
    "unsorted m behind n": [match("A# n ~m", 2)],
    "unsorted n that is known": [match("A# ~n m", 1)],
    "time before an unsorted n": [match("A# ~n", 1, leads=True)],
    "time": [match("A#", 0, leads=True)],
    "time, behind what is known": [match("A# k ~j n", 2, leads=True)],
}


def test_the_order_of_an_answer() -> None:
    lines = [
        f"{name}: {[field for field in ('n', 'm', 'at') if ordered_by(tuple(matches), field)]}, unsorted "
        f"{unsorted(tuple(matches))}"
        for name, matches in ORDERS.items()
    ]
    assert_agreed("\n".join(lines))


CHOICES: dict[str, tuple[Sequence[Any], str | None]] = {
    "one": ([candidate("a", A)], None),
    "the table goes first": (
        [candidate("a", A, index=GLOBAL), candidate("b", A, index=LOCAL), candidate("c", A)], None),
    "a local index then": ([candidate("a", A, index=GLOBAL), candidate("b", A, index=LOCAL)], None),
    "few shards": ([candidate("a", A, shards=3), candidate("b", A, shards=2)], None),
    "no buckets": (
        [candidate("a", match("A# n", 1, buckets=TIME)), candidate("b", match("A# m", 1), index=GLOBAL)], None),
    "whole": ([candidate("a", match("A# n", 1, optional=["n"])), candidate("b", A, index=GLOBAL, shards=9)], None),
    "two orders": ([candidate("a", A), candidate("b", match("A# m", 1), index=GLOBAL)], None),
    "two orders, one asked for": ([candidate("a", A), candidate("b", match("A# m", 1), index=GLOBAL)], "m"),
    "turned": ([candidate("a", A), candidate("b", match("A# m", 1), index=GLOBAL)], "-n"),
    "another order": ([candidate("a", A), candidate("b", match("A# m k", 2), index=GLOBAL)], "k"),
    "of nothing": ([candidate("a", match("A# n", 0)), candidate("b", A, index=GLOBAL)], "k"),
    "what one leaves open": ([candidate("a", A), candidate("b", match("A# n m", 2), index=GLOBAL)], None),
    "what was known": ([candidate("a", match("A# k n", 1)), candidate("b", A, index=GLOBAL)], None),
    "both turned": ([candidate("a", match("A# -n -m", 2)), candidate("b", match("A# n m", 2), index=GLOBAL)], None),
    "one turned": ([candidate("a", match("A# -n m", 2)), candidate("b", match("A# n m", 2), index=GLOBAL)], None),
    "a part": ([candidate("a", match("A# (n", 1)), candidate("b", A, index=GLOBAL)], None),
    "parts": ([candidate("a", match("A# (n", 1)), candidate("b", match("A# (n", 1), index=GLOBAL)], None),
    "time in both": (
        [candidate("a", TIMED), candidate("b", match("B# n", 1, leads=True), index=GLOBAL)], None),
    "time in the key of one": (
        [candidate("a", TIMED), candidate("b", match("A# at n", 2, buckets=TIME), index=GLOBAL)], None),
    "time in part": (
        [candidate("a", TIMED), candidate("b", match("A# (at n", 2, buckets=TIME), index=GLOBAL)], None),
    "time, and n": (
        [candidate("a", TIMED), candidate("b", match("A# n", 1, buckets=TIME), index=GLOBAL)], None),
    "time, then n turned": (
        [candidate("a", TIMED), candidate("b", match("A# -n", 1, leads=True), index=GLOBAL)], None),
    "two entities alike": (
        [candidate("a", A, F), candidate("b", A, F, index=GLOBAL)], None),
    "two entities turned round": (
        [candidate("a", A, F), candidate("b", match("C# n", 1), F, index=GLOBAL)], None),
    "two entities of one word": (
        [candidate("a", A, match("A# n", 1, entity="F")),
        candidate("b", match("", 0), match("", 0, entity="F"), index=GLOBAL)], None),
    "two entities, the second otherwise": (
        [candidate("a", A, F), candidate("b", A, match("B# m", 1, entity="F"), index=GLOBAL)], None),
}  # fmt: skip


def test_what_is_chosen() -> None:
    lines: list[str] = []
    for name, (candidates, order_by) in CHOICES.items():
        for given in (candidates, candidates[::-1]):
            try:
                lines.append(f"{name}: {choose(given, order_by, {})[0].name}")
            except Problem as problem:
                lines.append(f"{name}: {problem} ({problem.hint})")
    assert_agreed("\n".join(lines))
