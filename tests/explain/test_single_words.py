# mypy: disable-error-code="empty-body"
"""Words of an explanation that hang on one fact: how often a write is tried, and whether both steps are consistent."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from keyplan import Design, Entity, Key, Put, Table, Writes, write
from keyplan.analysis.explain.explanation import explain, nothing
from keyplan.analysis.explain.wording import consistent
from keyplan.client.conversations import Request
from keyplan.model.compiled.plans import ThroughPlan
from tests.explain.test_rare_read_shapes import Club


class Note(Entity):
    note_id: str

    primary = Key("NOTE#{note_id}", "HEAD")


@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_how_often_a_write_is_tried(attempts: int) -> None:
    def keep(self: Any, note: Note) -> Writes[None]:
        yield Put(note)

    table = Table("notes", entities=[Note])
    members = {"table": table, "keep": write("W1", attempts=attempts)(keep), "__module__": __name__}
    proof = explain(type("Notes", (Design,), members), "keep").proof
    assert (f"up to {attempts} times in all" in proof) is (attempts > 1)
    assert ("tried again" in proof) is (attempts > 1)


@pytest.mark.parametrize("name", ["badge_by_email", "locker_by_email"])
def test_two_steps_are_consistent_where_both_are(name: str) -> None:
    plan = Club.compiled.reads[name].plan
    assert isinstance(plan, ThroughPlan)
    for first, second in product((True, False), repeat=2):
        made = replace(
            plan, junction=replace(plan.junction, consistent=first), end=replace(plan.end, consistent=second)
        )
        assert consistent(made) is (first and second)


def test_a_store_that_holds_nothing_says_so() -> None:
    answers = {name: nothing(Request(name, {})) for name in ("GetItem", "Query", "Scan", "BatchGetItem", "PutItem")}
    empty = {"Items": [], "Count": 0, "ScannedCount": 0}
    assert answers == {
        "GetItem": {}, "Query": empty, "Scan": empty, "BatchGetItem": {"Responses": {}, "UnprocessedKeys": {}},
        "PutItem": {},
    }  # fmt: skip
