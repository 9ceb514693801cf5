"""Orphans are items whose parent item is missing, and items that match no entity."""

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


def test_items_with_existing_parents_are_not_reported_as_orphans(school: School) -> None:
    assert found(school) == {}


def test_items_without_a_parent_or_an_entity_are_reported_as_orphans(school: School) -> None:
    school.delete(Course, course_id="maths")
    _leave(school, "p0")
    school.store.transport.call("PutItem", {"TableName": "school", "Item": {"pk": {"S": "?"}, "sk": {"S": "x"}}})
    orphans = found(school)
    assert orphans["? / x"] == "the item's key matches no entity"
    assert orphans["COURSE#maths / PUPIL#p0"] == "the Pupil is missing; the Course is missing"
    assert orphans["COURSE#maths / PUPIL#p1"] == "the Course is missing"
    assert len([orphan for orphan in orphans if "REPORT#" in orphan]) == 9
    assert len(orphans) == 13


def test_the_search_for_orphans_reads_parents_in_other_partitions(school: School) -> None:
    made = data_json(of_design(school), {"only": "orphans", "partition": "COURSE#maths"})
    assert made["rows"] == []
    _leave(school, "p1")
    made = data_json(of_design(school), {"only": "orphans", "partition": "COURSE#maths"})
    assert [row["fault"] for row in made["rows"]] == ["the Pupil is missing"]
    school.batch([Put(Enrolment(course_id="art", pupil_id=f"n{number:03d}")) for number in range(130)])
    asked: list[int] = []
    call = school.store.transport.call_all

    def half(requests: list[Request]) -> list[dict[str, Any]]:
        """Process ten keys of a batch, and return the remaining keys as unprocessed."""
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


def test_a_search_for_an_unknown_kind_of_items_is_rejected(school: School) -> None:
    with pytest.raises(RequestError):
        data_json(of_design(school), {"only": "others"})


@pytest.mark.parametrize("name", ["blog", "cms", "papers", "shop", "social"])
def test_sample_data_of_the_systems_has_no_orphans(name: str) -> None:
    with system(name).design.open(":memory:", secret="s") as design:
        system(name).sample(design, 6, silent)
        made = data_json(of_design(design), {"only": "orphans", "limit": 500})
        assert {(row["kind"], row["fault"]) for row in made["rows"]} == set()


class Box(Entity):
    """A box, whose key contains its number with four digits."""

    box_id: int

    primary = Key("BOX#{box_id:04d}", "#BOX")


class Shelf(Entity):
    """A shelf."""

    shelf_id: str

    primary = Key("SHELF#{shelf_id}", "#SHELF")


class Place(Entity):
    """The place of a box on a shelf. The ID of the box can be any string."""

    box_id: str
    shelf_id: str

    primary = Key("BOX#{box_id}", "SHELF#{shelf_id}")


class Store(Design):
    """A design of boxes, shelves and places."""

    table = Table("store", entities=[Box, Shelf, Place])


def test_a_parent_that_cannot_exist_is_not_reported_as_missing() -> None:
    """The number of a box can't contain letters, so only the shelf is reported."""
    with Store.open(":memory:") as store:
        store.put(Place(box_id="x", shelf_id="s"))
        assert [row["fault"] for row in data_json(of_design(store), {"only": "orphans"})["rows"]] == [
            "the Shelf is missing"
        ]
        assert len(run(Studio(of_design(store)), "map", {})["collections"]) == 3
        store.put(Shelf(shelf_id="s"))
        assert data_json(of_design(store), {"only": "orphans"})["rows"] == []


def test_no_orphans_are_reported_without_a_design(school: School) -> None:
    _leave(school, "p0")
    assert data_json(replace(of_design(school), design=None), {"only": "orphans"})["rows"] == []
