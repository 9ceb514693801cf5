"""Which of several keys that serve is read: by what speaks against each, and by the orders that they give. Keys and
matches are made up here of what is looked at; which keys real questions find is in ``test_which_key_answers.py``.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from keyplan.model.compiled.key_matching import lacking_while_none, rank
from keyplan.model.stored.key_templates import Literal_

GLOBAL, LOCAL = SimpleNamespace(local=False), SimpleNamespace(local=True)
TIME = SimpleNamespace(field="at")


def variable(text: str) -> Any:
    """``-n`` is turned, ``~n`` doesn't sort, ``(n`` is held in part."""
    held = SimpleNamespace(descending="-" in text, whole="(" not in text, **({"sorts": False} if "~" in text else {}))
    return SimpleNamespace(field=text.strip("-~("), format=held)


def match(sort: str, opened: int, **more: Any) -> Any:
    """A match of an entity whose sort key has these fields, the last ``open_test_store`` of which the question leaves
    open.
    """
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
