"""Designs as strangers write them, from the documentation alone: each is planned, and its plans give right answers."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan import planner
from keyplan.planner import Plan, applied, plan
from keyplan.planner.module import rewritten
from keyplan.testing.verifying import looked_at
from tests.planner import strangers
from tests.planner.strangers import Chats, Feed, Hub, Queue, Saas

INDEXES = {
    "Cases": 1,
    "Stores": 1,
    "Saas": 3,
    "Rides": 4,
    "Chats": 1,
    "Access": 1,
    "Feed": 3,
    "Hub": 3,
    "Queue": 3,
    "Staff": 4,
}


@pytest.mark.parametrize("design", strangers.STRANGERS, ids=lambda value: value.__name__)
def test_designs_of_strangers_are_planned_and_right(design: type[Any]) -> None:
    first, *others = planner.plan(design)
    assert len(first.indexes) == INDEXES[design.__name__]
    with applied(first) as planned:
        assert not first.compiled.reads.keys() & looked_at(planned, stores=8).unanswered
    for made in others[:1]:
        with applied(made) as planned:
            looked_at(planned, stores=2)


def keys(made: Plan) -> dict[str, str]:
    return {key.place: key.text for key in made.keys}


def test_each_entity_of_a_collection_is_ordered_by_itself() -> None:
    assert (
        keys(plan(Chats)[0])["Message.primary"] == "CONVERSATION#{conversation_id} | MESSAGE#{message_id} in the table"
    )


def test_what_the_junction_names_is_read_by_its_key() -> None:
    assert [text for text in keys(plan(Saas)[0]) if text.startswith("Project.")] == ["Project.primary"]


def test_numbers_of_enums_are_padded() -> None:
    assert "{priority:01d}" in keys(plan(Hub)[0])["Issue.by_owner"]
    assert "{priority:01d}" in " ".join(keys(plan(Queue)[0]).values())


def test_a_question_that_several_keys_would_answer_names_one() -> None:
    made = plan(Feed)[0]
    assert made.named == {"Feed.both": "Purchase.primary", "Feed.dear": "Purchase.primary"}
    assert "several keys would answer it, each in its own order: it is asked by key=Purchase.primary" in str(made.notes)
    assert '+    @read("F7", where="total >= :least", key=Purchase.primary)' in rewritten(made).diff.replace(
        "        @read", "    @read"
    )
