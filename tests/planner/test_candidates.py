"""The keys that a design's questions could be answered by, before any is chosen: as they were agreed upon, of questions
of every form; what can't be written in a key isn't among them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from keyplan import Entity, Id, Unique
from keyplan.planner.candidates import Candidate, _writable, index_candidates, primary_candidates
from keyplan.planner.facts import facts_of
from keyplan.planner.needs import Need
from keyplan.planner.planning import _claimed
from tests.agreed import assert_agreed
from tests.planner.test_needs import Case, Cases, needs_of

NEEDS: dict[Any, list[Need]] = defaultdict(list)
for each in needs_of(Cases):
    NEEDS[each.entity].append(each)


def shown(candidates: Sequence[Candidate], needs: Sequence[Need]) -> list[str]:
    """A line for each: its fields, what it is sparse by, what it serves."""
    lines: list[str] = []
    for key in candidates:
        serves = ", ".join(needs[number].place.partition(".")[2] for number in sorted(key.serves))
        flags = [
            f"{name} {getattr(key, name)}" for name in ("when", "turned", "sorted_as", "merged") if getattr(key, name)
        ]
        lines.append(f"{key.partition} {key.sort[: key.needed]} + {key.sort[key.needed :]} {flags}: {serves}")
    return lines


@pytest.mark.parametrize("entity", [cls for cls in NEEDS if cls is not Case])
@pytest.mark.parametrize("filters", [False, True])
def test_the_keys_that_could_serve_are_as_agreed_upon(entity: Any, filters: bool) -> None:
    facts, needs = facts_of(entity), NEEDS[entity]
    lines = [*shown(primary_candidates(facts, needs, filters=filters), needs), "in indexes"]
    assert_agreed("\n".join([*lines, *shown(index_candidates(facts, needs, filters=filters), needs)]))


@pytest.mark.parametrize("number", range(len(NEEDS[Case])))
def test_the_keys_for_a_question_or_two_are_as_agreed_upon(number: int) -> None:
    """Each question about cases by itself, and together with the one behind it."""
    facts, own = facts_of(Case), NEEDS[Case]
    lines: list[str] = []
    for needs in ([own[number]], [own[number - 1], own[number]]):
        for filters in (False, True):
            lines += [f"{len(needs)} {filters}", *shown(primary_candidates(facts, needs, filters=filters), needs)]
            lines += ["in indexes", *shown(index_candidates(facts, needs, filters=filters), needs)]
    assert_agreed("\n".join(lines))


TOGETHER = (
    ("that_are_open", "of_new"),
    ("not_done", "of_new", "of_states"),
    ("of_new", "of_any_state", "titled"),
    ("listed", "of_owner", "all_open"),
    ("in_time", "newest_of", "titled_so"),
    ("by_title", "in_time_turned", "last_of_owner", "is_any"),
    ("watched", "of_new", "file"),
    ("file", "with_newest", "of_owner"),
    ("mixed", "how_many", "that_are_open"),
    ("all_open", "how_many", "that_are_open"),
)


@pytest.mark.parametrize("names", TOGETHER, ids="-".join)
def test_the_keys_for_several_questions_are_as_agreed_upon(names: Sequence[str]) -> None:
    lines: list[str] = []
    for cls, every in NEEDS.items():
        needs = [need for name in names for need in every if need.place == f"Cases.{name}"]
        if needs:
            for filters in (False, True):
                lines += [f"{cls.__name__} {filters}"]
                lines += shown(primary_candidates(facts_of(cls), needs, filters=filters), needs)
                lines += ["in indexes", *shown(index_candidates(facts_of(cls), needs, filters=filters), needs)]
    assert_agreed("\n".join(lines))


class Level(Entity):
    one: Id[str]
    size: Id[float]
    two: str


def test_fractions_stand_in_no_key_of_the_table() -> None:
    needs = [
        Need("Levels.of_one", Level, frozenset({"one"}), order="size"),
        Need("Levels.of_two", Level, frozenset({"two"}), order="size"),
        Need("Levels.of_size", Level, frozenset({"size"})),
    ]
    facts = facts_of(Level)
    lines = shown(primary_candidates(facts, needs, filters=False), needs)
    assert_agreed("\n".join([*lines, "in indexes", *shown(index_candidates(facts, needs, filters=False), needs)]))


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
