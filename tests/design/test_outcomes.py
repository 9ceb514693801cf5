"""What a field holds after each kind of change, by what it held before: a table of cases."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan import Add, Append, Design, Discard, Entity, Include, Key, Once, Remove, Table
from keyplan.errors import KeyplanError
from keyplan.model.stored.update_outcomes import outcome


class Tally(Entity):
    """Fields that changes are made to."""

    name: str
    count: int = 0
    note: str | None = None
    kept: str = "default"
    needed: int
    log: list[str] = []  # noqa: RUF012 - a field of pydantic's
    seen: set[str] = set()  # noqa: RUF012

    primary = Key("TALLY#{name}", "HEAD")


class Tallies(Design):
    table = Table("tallies", entities=[Tally])


TALLY = Tallies.compiled.by_name["Tally"]


@pytest.mark.parametrize(
    ("field", "before", "change", "after"),
    [
        ("count", None, Add(2), 2),
        ("count", 3, Add(-4), -1),
        ("log", None, Append(["b"]), ["b"]),
        ("log", ["a"], Append(["b", "c"]), ["a", "b", "c"]),
        ("seen", None, Include({"b"}), {"b"}),
        ("seen", {"a"}, Include({"a", "b"}), {"a", "b"}),
        ("seen", {"a", "b"}, Discard({"b", "c"}), {"a"}),
        ("seen", None, Discard({"b"}), set()),
        ("note", None, Once("first"), "first"),
        ("note", "older", Once("first"), "older"),
        ("note", "", Once("first"), ""),
        ("count", 0, Once(5), 0),
        ("note", "older", Remove(), None),
        ("kept", "older", Remove(), "default"),
        ("note", "older", "newer", "newer"),
        ("note", None, None, None),
    ],
)
def test_a_field_after_a_change(field: str, before: Any, change: Any, after: Any) -> None:
    assert outcome(TALLY, field, before, change) == after


@pytest.mark.parametrize(("field", "before", "change"), [("count", "x", Add(1)), ("needed", 3, Remove())])
def test_a_change_that_cannot_be(field: str, before: Any, change: Any) -> None:
    with pytest.raises(KeyplanError) as error:
        outcome(TALLY, field, before, change)
    assert f"Tally.{field}" in str(error.value)
