"""Unexpected items in every view: invalid items, items with only keys, index entries that match no entity, numbers that
JavaScript can't represent, and strings that a field parses as another type.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from keyplan import Create, Entity, Id, Key, Table, Unique, read
from keyplan.errors import RequestError, StoreError
from keyplan.session.design import Design
from keyplan.studio import actions
from keyplan.studio.actions import Studio, run
from keyplan.studio.subject import Endpoint, Subject, of_design
from tests.studio.school import Enrolment, School
from tests.studio.test_data import P0


def item(pk: str, sk: str, kind: str = "", **attributes: Any) -> dict[str, Any]:
    typed = {"_type": {"S": kind}} if kind else {}
    return {"pk": {"S": pk}, "sk": {"S": sk}, **typed, **attributes}


S, N = "S", "N"
TORN = item("COURSE#torn", "#COURSE", "Course", course_id={S: "torn"}, title={"L": []}, gsi1pk={S: "ROOM#7"})
ODD = {
    "torn": TORN,
    "of a junction": item("COURSE#torn", "PUPIL#p1", "Enrolment", course_id={S: "torn"}, pupil_id={N: "1"}),
    "another key": item("COURSE#x", "#COURSE", "Course", course_id={S: "y"}, title={S: "T"}),
    "a bare key": item("PUPIL#p9", "REPORT#9990"),
    "a claim": item("EMAIL#nobody@example.org", "CLAIM"),
    "no entity": item("?", "x", n={N: "1"}, big={N: "90071992547409930"}, half={N: "0.5"}),
    "no entity, in the index": item("#", "y", gsi1pk={S: "ROOM#7"}, gsi1sk={S: "z"}, a={S: "x" * 90}, b={"BOOL": True}),
    "a large number": item(
        "PUPIL#p1", "REPORT#9005", "Report",
        pupil_id={S: "p1"}, number={N: "994"}, text={S: "x" * 500}, more={"NULL": True},
    ),
}  # fmt: skip


def key(odd: dict[str, Any]) -> dict[str, Any]:
    return {"pk": odd["pk"], "sk": odd["sk"]}


@pytest.fixture
def studio(school: School) -> Studio:
    """The studio of the School design, with some unexpected items."""
    for odd in ODD.values():
        school.store.transport.call("PutItem", {"TableName": "school", "Item": odd})
    school.put(Enrolment(course_id="maths", pupil_id="gone"))
    return Studio(of_design(school))


class Counter(Entity):
    """A counter whose numbers can be too large for JavaScript."""

    counter_id: Id[str]
    count: int = 0
    part: float = 0.5
    parts: tuple[int, ...] = ()

    primary = Key("COUNTER#{counter_id}", "#")


class Named(Entity):
    """An entity with a claim."""

    name: str

    primary = Key("NAMED#{name}", "#")
    claim = Unique("NAME#{name}")


class Counters(Design):
    """A design of counters."""

    table = Table("counters", entities=[Counter, Named])

    @read("C1")
    def counter(self, counter_id: str) -> Counter | None: ...


@pytest.fixture
def counters() -> Iterator[Studio]:
    """The studio of two counters, with some numbers that are too large for JavaScript."""
    with Counters.open(":memory:") as design:
        design.put(Counter(counter_id="a", count=2**53, parts=(1, 2**60)))
        design.put(Counter(counter_id="b", count=2**53 - 1, parts=(-(2**53),)))
        yield Studio(of_design(design))


def test_large_numbers_are_shown_exactly(counters: Studio) -> None:
    rows = run(counters, "data", {"entity": "Counter"})["rows"]
    assert {row["fields"]["counter_id"]: (row["fields"]["count"], row["fields"]["parts"]) for row in rows} == {
        "a": (str(2**53), [1, str(2**60)]),
        "b": (2**53 - 1, [str(-(2**53))]),
    }


def test_items_that_match_no_entity_are_last_on_the_map(counters: Studio) -> None:
    """Items that match no entity follow the claims of all entities."""
    design = counters.subject.design
    assert design is not None
    design.transact(Create(Named(name="x")))
    design.store.transport.call("PutItem", {"TableName": "counters", "Item": {"pk": {"S": "A"}, "sk": {"S": "?"}}})
    made = run(counters, "map", {})
    assert [kind["label"] for kind in made["kinds"]] == ["Counter", "Named", "Named claim", "matches no entity"]
    assert [each["title"] for each in made["collections"]][-2:] == ["NAME#x", "A"]


def test_refreshing_a_table_of_an_endpoint_opens_a_new_studio(studio: Studio) -> None:
    """For each other table of the endpoint, another studio describes the table again."""
    school = studio.subject
    assert run(studio, "start", {"table": "school"})["table"] == "school"
    assert (studio.at("school", refresh=True), studio.at(None)) == (studio, studio)
    endpoint = Endpoint("http://x", school.transport, local=True, writable=True, table="school", others=False)
    browsing = Studio(endpoint.subject("school"), endpoint=endpoint)
    anew = browsing.at("school", refresh=True)
    assert anew is not browsing
    assert (browsing.at("school"), browsing.at(None, refresh=True)) == (browsing, browsing)
    assert browsing.at("school", refresh=True) is not anew
    assert anew.subject == browsing.subject
    with pytest.raises(RequestError, match="shows only one table"):
        browsing.at("other")
    others = Studio(browsing.subject, endpoint=replace(endpoint, others=True))
    with pytest.raises(StoreError, match="has no table other"):
        others.at("other")


def test_the_studio_forgets_the_least_recently_shown_items(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "SEEN_MAX", 3)
    studio = Studio(subject)
    for names in ("a", "bc", "a", "d"):
        studio.remember(dict.fromkeys(names, P0))
    assert [*studio.seen] == ["c", "a", "d"]
    studio.remember(dict.fromkeys("efghc", P0))
    assert [*studio.seen] == ["g", "h", "c"]


def test_items_in_the_result_of_a_run_can_be_inspected(studio: Studio) -> None:
    made = run(studio, "run", {"question": "reports", "arguments": {"pupil_id": "p1"}})
    (found,) = [item["id"] for step in made["steps"] for item in step["items"]]
    assert run(studio, "item", {"item": found})["kind"] == "Report"
