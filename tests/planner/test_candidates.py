"""The keys that a design's questions could be answered by, before any is chosen: as they were agreed upon, of questions
of every form; what can't be written in a key isn't among them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from keyplan import Entity, Id, Unique
from keyplan.planner.candidates import Candidate, _writable, index_candidates
from keyplan.planner.facts import facts_of
from keyplan.planner.needs import Need
from keyplan.planner.planning import _claimed
from tests.planner.test_needs import Case, Cases, needs_of

NEEDS: dict[Any, list[Need]] = defaultdict(list)
for each in needs_of(Cases):
    NEEDS[each.entity].append(each)


def test_a_partition_has_one_field_of_many_values() -> None:
    facts = facts_of(Case)
    need = Need("Cases.asked", Case, frozenset({"owner"}))
    each = replace(need, each=frozenset({"owner"}))
    several: dict[str, Any] = {"constants": {"state": ("new", "open")}, "several": frozenset({"state"})}
    twice: dict[str, Any] = {
        "constants": {"state": ("new", "open"), "team": ("a", "b")},
        "several": frozenset({"state", "team"}),
    }
    for given in (replace(need, **several), replace(each, **several), replace(need, **twice)):
        made = index_candidates(facts, [given], filters=False)
        many = [len({*key.partition} & (given.several | given.each)) for key in made if key.serves and not key.when]
        assert max(many, default=1) == 1
    made = index_candidates(facts, [replace(need, **several)], filters=False)
    assert ("owner", "state") in {key.partition for key in made if key.serves}


class Measure(Entity):
    one: Id[str]
    two: str
    three: str
    four: str
    size: float
    cost: Decimal


@pytest.mark.parametrize(
    ("partition", "sort", "needed", "in_table", "in_index"),
    [
        (("one",), ("two", "three"), 2, True, True),
        (("size",), ("two",), 1, False, False),
        (("one",), ("size",), 1, False, True),
        (("one",), ("cost", "two"), 1, False, True),
        (("one",), ("two", "size"), 1, False, True),
        (("one",), ("two", "three", "four", "size"), 4, False, True),
        (("one",), ("two", "three", "four", "one", "size"), 5, False, False),
        (("one",), ("two", "three", "four", "one", "size"), 4, False, True),
        (("one",), ("two", "three", "four", "one", "two"), 5, True, True),
    ],
)
def test_where_fractions_can_stand(
    partition: tuple[str, ...], sort: tuple[str, ...], needed: int, in_table: bool, in_index: bool
) -> None:
    key = replace(Candidate(partition, sort, (), frozenset()), needed=needed)
    facts = facts_of(Measure)
    assert [_writable(facts, key, primary=primary) for primary in (True, False)] == [in_table, in_index]


class Named(Entity):
    one: Id[str]
    two: str
    three: str
    one_two = Unique("TWO#{two}")
    both = Unique("BOTH#{two}#{three:upper}")


def test_what_a_unique_value_answers_already() -> None:
    def claimed(*known: str, **more: Any) -> bool:
        return _claimed(replace(Need("Nameds.asked", Named, frozenset(known), one=True), **more))

    assert [claimed("two"), claimed("two", "three"), claimed("three"), claimed("one")] == [True, True, False, False]
    assert not claimed("two", one=False)
    assert not claimed("two", constants={"three": "x"})
