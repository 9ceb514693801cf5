"""Changes within a field in a plain account: what each makes of each value, and which types stand along a path."""

from __future__ import annotations

from keyplan import Add
from keyplan.model.declared.actions import Within
from keyplan.model.stored.update_outcomes import within


def test_one_change_after_the_other() -> None:
    both = Within(((("a",), Add(1)), (("a",), Add(10)), (("b", "c"), "x")))
    assert within({"a": 1, "b": {"c": 0, "d": 1}}, both, "") == {"a": 12, "b": {"c": "x", "d": 1}}
