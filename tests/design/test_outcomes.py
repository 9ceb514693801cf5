"""What a field holds after each kind of change, by what it held before: a table of cases."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan import Add, Append, Design, Entity, IfNotExists, Key, Remove, SetAdd, SetRemove, Table
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
        ("seen", None, SetAdd({"b"}), {"b"}),
        ("seen", {"a"}, SetAdd({"a", "b"}), {"a", "b"}),
        ("seen", {"a", "b"}, SetRemove({"b", "c"}), {"a"}),
        ("seen", None, SetRemove({"b"}), set()),
        ("note", None, IfNotExists("first"), "first"),
        ("note", "older", IfNotExists("first"), "older"),
        ("note", "", IfNotExists("first"), ""),
        ("count", 0, IfNotExists(5), 0),
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
