"""What a trial supposes, one after another, and what it gives to a write: as agreed upon, and at its bounds."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from keyplan.analysis.rehearsal import trials
from keyplan.analysis.rehearsal.account import Accounts
from keyplan.analysis.rehearsal.finds import Finds
from keyplan.analysis.rehearsal.mutations import Mutation
from keyplan.analysis.traffic import traffic_from
from keyplan.analysis.traffic.typical_items import Typical
from tests.rehearsal.kennels import Bone, Dog, Kennels

DESIGN = Kennels.compiled
TRAFFIC = traffic_from({}, DESIGN)


def _world(trial: trials._Trial) -> trials._TypicalWorld:
    return trials._TypicalWorld(DESIGN, Typical(DESIGN, TRAFFIC.entities), Finds(TRAFFIC), trial)


PLAIN = trials._Trial()


def _changes(before: dict[str, Any] | None, after: dict[str, Any] | None, what: str = "claim by_tag") -> Any:
    table = DESIGN.table.key_names

    class Made:
        mutations = (Mutation(what, before, after),)

    assert all(table[0] in item for item in (before, after) if item is not None)
    return Made()


def _claimed(tag: str) -> dict[str, Any]:
    entity = DESIGN.entities[Dog]
    claim = next(each for each in entity.claims if each.name == "by_tag")
    return entity.claim_item(claim, entity.field_values(Dog(dog_id="d", tag=tag)))


def test_a_value_is_taken_where_what_is_there_has_it_and_keeps_it() -> None:
    there = [Bone(dog_id="d", bone_id="b"), Dog(dog_id="d", tag="t"), Dog(dog_id="e")]
    takes = trials._takes_what_is_taken
    assert takes(DESIGN, [*there], _changes(None, _claimed("t")))
    assert not takes(DESIGN, [*there], _changes(None, _claimed("u")))
    assert not takes(DESIGN, [*there], _changes(_claimed("t"), None, "release by_tag"))
    assert not takes(DESIGN, [*there], _changes(_claimed("t"), _claimed("t")))
    assert not takes(DESIGN, [*there], _changes(_claimed("u"), None, "release by_tag"))
    assert not takes(DESIGN, [*there], _changes(None, _claimed("t"), "Create Dog"))
    assert not takes(DESIGN, [], _changes(None, _claimed("t")))


def test_what_is_there_is_what_the_write_did_not_make() -> None:
    dogs = [Dog(dog_id="d"), Dog(dog_id="e")]
    item = _world(PLAIN).item(dogs[0])
    assert trials._still_there(DESIGN, [*dogs], _changes(None, item, "Create Dog")) == (dogs[1],)
    assert trials._still_there(DESIGN, [*dogs], _changes(item, item, "Update Dog")) == tuple(dogs)
    assert trials._still_there(DESIGN, [*dogs], _changes(item, None, "Delete Dog")) == tuple(dogs)


def test_as_many_as_a_transaction_takes_go_through() -> None:
    tried = Accounts(DESIGN, Kennels).of(DESIGN.writes["just_enough"]).tried
    assert tried is not None
    assert tried.rehearsal is not None
    assert (tried.failure, tried.runs, tried.rehearsal.items) == (None, 1, 100)


def _tried(name: str, traffic: dict[str, Any]) -> trials.Tried:
    stated = traffic_from(traffic, DESIGN)
    return trials.try_write(DESIGN, Kennels, DESIGN.writes[name], Typical(DESIGN, stated.entities), stated)


def test_what_a_traffic_file_gives_is_what_it_is_called_with() -> None:
    tried = _tried("fed", {"patterns": {"fed": {"arguments": {"fed": 77}}}})
    assert tried.arguments["fed"] == 77
    assert tried.failure is None
    tried = _tried("all_bones", {"patterns": {"all_bones": {"arguments": {"sort_of": "beef"}}}})
    assert tried.arguments["sort_of"] == "beef"


@pytest.mark.parametrize(("usual", "items"), [(1, None), (2, 2), (3, 3), (7, 3)])
def test_a_read_finds_as_many_as_a_partition_has_and_its_limit_lets_through(usual: int, items: int | None) -> None:
    tried = _tried("all_bones", {"entities": {"Bone": {"per_partition": usual}}})
    assert (tried.rehearsal.items if tried.rehearsal is not None else None) == items


def test_a_trial_is_made_of_few_calls() -> None:
    assert len(list(islice(trials._calls(DESIGN.writes["of_two"]), 9))) == 3
    assert [trial.numbers for trial in trials._calls(DESIGN.writes["fed"])] == [True, False]
    assert [trial.new for trial in trials._calls(DESIGN.writes["new_one"])] == [False, False, True]
