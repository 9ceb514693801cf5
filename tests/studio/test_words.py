"""The language's later words are shown as the others are: asked for what is there, lit, edited, rehearsed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from keyplan.studio.editing import edit_json
from keyplan.studio.exported import page_file
from keyplan.studio.finding import data_json
from keyplan.studio.maps import map_json
from keyplan.studio.reviewing import check_json, cost_json, questions_json
from keyplan.studio.running import form_json, run_json
from keyplan.studio.subject import Subject, of_design
from tests.studio.words import Words, fill_words


@pytest.fixture
def words() -> Iterator[Subject]:
    with Words.open(":memory:", secret="s") as opened:
        fill_words(opened)
        yield of_design(opened)


@pytest.mark.parametrize(
    ("question", "answer", "lit"),
    [("rows", 3, 3), ("how_many", 3, 3), ("any_there", True, 1), ("open_orders", 2, 2), ("order", "O0", 1)],
)
def test_each_question_is_asked_for_what_is_there(words: Subject, question: str, answer: object, lit: int) -> None:
    made = map_json(words, question)
    path = made["path"]
    result = path["answer"]
    said = len(result["items"]) if isinstance(result, dict) and "items" in result else result
    assert (said["order_id"] if isinstance(said, dict) else said) == answer
    assert path["error"] is None
    assert path["steps"]
    assert made["svg"].count('class="badge"') == lit
    assert 'class="card asked"' in made["svg"] or 'class="card index asked"' in made["svg"]
    assert question == "open_orders" or form_json(words, question)["examples"]


def test_a_joined_write_is_rehearsed_whole(words: Subject) -> None:
    made = run_json(words, "bill", {"user": "U1", "order_id": "O1"}, send=False)
    assert [(change["kind"], change["was"]) for change in made["changes"]] == [("Invoice", False), ("Order", True)]
    assert [value["mark"] for step in made["steps"] for value in step["touched"]] == ["put", "update"]
    assert {value["kind"] for step in made["steps"] for value in step["touched"]} == {"Invoice", "Order"}


def test_stored_forms_are_edited_as_their_types(words: Subject) -> None:
    row = next(value for value in data_json(words, {"entity": "Order"})["rows"] if value["fields"]["order_id"] == "O1")
    assert row["fields"]["at"] == "2026-01-02T00:00:00Z"
    fields = {"at": "2026-03-01T00:00:00Z", "total": "77", "tags": '["b"]'}
    made = edit_json(words, [{"do": "change", "key": row["key"], "fields": fields}], save=True)
    after = {attribute["name"]: attribute["after"] for change in made["changes"] for attribute in change["attributes"]}
    assert after == {
        "at": {"N": "1772323200000"},
        "gsi1sk": {"S": "77"},
        "tags": {"S": '["b"]'},
        "total": {"N": "77"},
    }


def test_every_view_has_its_data(words: Subject) -> None:
    assert [question["failure"] for question in questions_json(Words)["questions"]] == [None] * 7
    assert cost_json(Words, {})["patterns"]
    assert check_json(Words)["patterns"] == 7
    assert "<svg" in page_file(words)
