"""Orphans: items whose parent is missing, items of no entity, and no others."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from keyplan import Design, Entity, Key, Put, Table
from keyplan.client.conversations import Request
from keyplan.errors import RequestError
from keyplan.studio.actions import Studio, run
from keyplan.studio.finding import data_json
from keyplan.studio.subject import of_design
from keyplan.systems import system
from tests.studio.school import Course, Enrolment, School
from tests.systems.support import silent


def found(school: School) -> dict[str, str]:
    made = data_json(of_design(school), {"only": "orphans"})
    return {" / ".join(value["S"] for value in row["key"].values()): row["fault"] for row in made["rows"]}


def _leave(school: School, pupil_id: str) -> None:
    pupil = school.pupil(pupil_id)
    assert pupil is not None
    school.delete(pupil)


def test_items_with_a_parent_are_no_orphans(school: School) -> None:
    assert found(school) == {}


def test_items_without_their_parent_are_found(school: School) -> None:
    school.delete(Course, course_id="maths")
    _leave(school, "p0")
    school.store.transport.call("PutItem", {"TableName": "school", "Item": {"pk": {"S": "?"}, "sk": {"S": "x"}}})
    orphans = found(school)
    assert orphans["? / x"] == "the item's key matches no entity"
    assert orphans["COURSE#maths / PUPIL#p0"] == "the Pupil is missing; the Course is missing"
    assert orphans["COURSE#maths / PUPIL#p1"] == "the Course is missing"
    assert len([orphan for orphan in orphans if "REPORT#" in orphan]) == 9
    assert len(orphans) == 13


def test_parents_on_other_pages_are_read(school: School) -> None:
    """A parent can be in another partition."""
    made = data_json(of_design(school), {"only": "orphans", "partition": "COURSE#maths"})
    assert made["rows"] == []
    _leave(school, "p1")
    made = data_json(of_design(school), {"only": "orphans", "partition": "COURSE#maths"})
    assert [row["fault"] for row in made["rows"]] == ["the Pupil is missing"]
    school.batch([Put(Enrolment(course_id="art", pupil_id=f"n{number:03d}")) for number in range(130)])
    asked: list[int] = []
    call = school.store.transport.call_all

    def half(requests: list[Request]) -> list[dict[str, Any]]:
        """More than ten keys are looked up in batches of ten."""
        ((table, given),) = requests[0].parameters["RequestItems"].items()
        asked.append(len(given["Keys"]))
        some = {table: {**given, "Keys": given["Keys"][:10]}}
        answers = call([Request("BatchGetItem", {"RequestItems": some})])
        answers[0]["UnprocessedKeys"] = {table: {**given, "Keys": given["Keys"][10:]}} if asked[-1] > 10 else {}
        return answers

    given = {"only": "orphans", "partition": "COURSE#art", "limit": 500}
    assert len(data_json(of_design(school), given)["rows"]) == 130
    slow = SimpleNamespace(call=school.store.transport.call, call_all=half)
    assert len(data_json(replace(of_design(school), transport=slow), given)["rows"]) == 130
    assert max(asked) == 100, "the maximum of one request"


def test_a_search_can_be_limited_to_orphans(school: School) -> None:
    with pytest.raises(RequestError):
        data_json(of_design(school), {"only": "others"})


@pytest.mark.parametrize("name", ["blog", "cms", "papers", "shop", "social"])
def test_samples_of_the_systems_have_no_orphans(name: str) -> None:
    with system(name).design.open(":memory:", secret="s") as design:
        system(name).sample(design, 6, silent)
        made = data_json(of_design(design), {"only": "orphans", "limit": 500})
        assert {(row["kind"], row["fault"]) for row in made["rows"]} == set()


class Box(Entity):
    """Its key has the number with four digits."""

    box_id: int

    primary = Key("BOX#{box_id:04d}", "#BOX")


class Shelf(Entity):
    """A shelf."""

    shelf_id: str

    primary = Key("SHELF#{shelf_id}", "#SHELF")


class Place(Entity):
    """A box on a shelf; the box has any string as its number."""

    box_id: str
    shelf_id: str

    primary = Key("BOX#{box_id}", "SHELF#{shelf_id}")


class Store(Design):
    """A store."""

    table = Table("store", entities=[Box, Shelf, Place])


def test_a_parent_with_an_incompatible_key_is_not_reported() -> None:
    """No box has a number of letters, so only the shelf is reported."""
    with Store.open(":memory:") as store:
        store.put(Place(box_id="x", shelf_id="s"))
        assert [row["fault"] for row in data_json(of_design(store), {"only": "orphans"})["rows"]] == [
            "the Shelf is missing"
        ]
        assert len(run(Studio(of_design(store)), "map", {})["collections"]) == 3
        store.put(Shelf(shelf_id="s"))
        assert data_json(of_design(store), {"only": "orphans"})["rows"] == []


def test_a_table_without_a_design_has_no_orphans(school: School) -> None:
    _leave(school, "p0")
    assert data_json(replace(of_design(school), design=None), {"only": "orphans"})["rows"] == []
