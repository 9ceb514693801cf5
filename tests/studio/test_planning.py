"""The Plan view compares plans and reports reads that can't be planned with their place. The planner runs in its own
process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from keyplan.analysis.traffic.traffic_file import traffic_from
from keyplan.errors import RequestError, StoreError
from keyplan.model.deferral import deferred
from keyplan.planner import plan, provisional_design
from keyplan.studio.actions import Studio, run
from keyplan.studio.changing import Source, loaded, source_of
from keyplan.studio.module_process import answered, read
from keyplan.studio.module_runs import ModuleRunner
from keyplan.studio.subject import Subject, of_uncompiled
from tests.studio.school import School

SHOP = Source(Path(__file__).parent.parent / "planner" / "shop.py", "Store", None)
TEXT = SHOP.text()


def request(text: str = TEXT, source: Source = SHOP, **more: Any) -> dict[str, Any]:
    given = {
        "path": str(source.path),
        "class_name": source.class_name,
        "package": source.package,
        "traffic": None,
        "task": "plan",
    }
    return {**given, "text": text, "ignore_existing": False, "attributes": False, **more}


def silent(answer: Mapping[str, Any]) -> None:
    assert answer.keys() == {"progress"}


def asked(given: dict[str, Any], tell: Callable[[Mapping[str, Any]], None]) -> Any:
    """The response of the planning process, computed in the test's process."""
    design = read(given)
    return answered(design, given, tell) if isinstance(design, type) else {"error": design}


@pytest.fixture(scope="module")
def made() -> Any:
    return json.loads(json.dumps(asked(request(), silent)["made"]))


def rows_of(made: Any) -> dict[str, dict[str, Any]]:
    return {f"{group['title']}.{row['label']}": row for group in made["groups"] for row in group["rows"]}


def test_the_plan_view_compares_the_plans_of_the_planner(made: Any) -> None:
    with deferred():
        design = loaded(SHOP, TEXT)
    assert isinstance(design, type)
    plans = plan(design)
    assert [head["summary"] for head in made["plans"]] == [each.summary for each in plans]
    assert [head["why"] for head in made["plans"]] == [each.why for each in plans]
    assert all(head["verified"]["stores"] == 3 for head in made["plans"])
    rows = rows_of(made)
    for number, each in enumerate(plans):
        for key in each.keys:
            cell = rows[key.place]["cells"][number]
            assert (cell["text"], cell["note"], cell["new"]) == (key.text, key.sentence, True)
        for answer in each.answers:
            cell = rows[f"Access patterns.{answer.pattern}"]["cells"][number]
            assert cell["text"] == f"{answer.operation} by {answer.key}"
            assert cell["note"].startswith(answer.proof)


def test_each_row_of_the_comparison_shows_whether_the_plans_differ(made: Any) -> None:
    rows = rows_of(made)
    for row in rows.values():
        if "least" not in (row["cells"][0] or {}):
            assert row["same"] is all(cell == row["cells"][0] for cell in row["cells"])
    assert rows["Customer.primary"]["same"] is True
    assert not all(row["same"] for row in rows.values())
    weights = rows["Criteria.Indexes"]["cells"]
    fewest = min(int(cell["text"]) for cell in weights)
    assert [cell["least"] for cell in weights] == [int(cell["text"]) == fewest for cell in weights]


def test_notes_of_a_plan_are_shown_at_their_key_or_pattern(made: Any) -> None:
    rows = rows_of(made)
    assert "Field(ge=0, le=...)" in rows["Line.primary"]["cells"][0]["noted"][0]
    assert "newest_first is assumed to order by order_id" in rows["Access patterns.orders_of"]["cells"][0]["noted"][0]


def test_each_plan_has_a_patch_and_the_resulting_module(made: Any) -> None:
    first = made["plans"][0]
    assert '+    by_email = Key("EMAIL#{email}", "#CUSTOMER", index=GSI1)' in first["patch"]
    compiled = loaded(SHOP, first["module"])
    assert isinstance(compiled, type)


def test_reads_that_cannot_be_planned_are_reported_with_line_numbers() -> None:
    text = TEXT.replace("def lines_with(self, product_id: str)", "def lines_with(self, status: str)")
    text = text.replace('@read("S2")', '@read("S2", consistent=True, order_by="nmae")')
    error: Any = asked(request(text), silent)["error"]
    assert error["message"] == "these access patterns can't be planned"
    places = {fault["place"]: fault for fault in error["errors"]}
    assert places.keys() == {"Store.customer_by_email", "Store.lines_with"}
    lines = text.splitlines()
    assert all(place.split(".")[1] in lines[fault["line"] - 1] for place, fault in places.items())
    assert "copy Order.status to a field of Line" in places["Store.lines_with"]["hint"]
    broken: Any = read(request("1 / 0"))
    assert (broken["message"], broken["line"]) == ("ZeroDivisionError: division by zero", 1)


def test_plans_keep_existing_keys_and_list_unused_indexes() -> None:
    source = source_of(School)
    assert source is not None
    text = source.text()
    held: Any = asked(request(text, source), silent)["made"]
    assert [head["new"] for head in held["plans"]] == [False]
    assert held["spare"] == []
    more = text + (
        "\n\nclass Grown(School):\n    table = School.table\n\n"
        '    @read("Q90")\n    def courses_called(self, title: str) -> list[Course]: ...\n'
    )
    grown: Any = asked(request(more, Source(source.path, "Grown", source.package)), silent)["made"]
    new = [place for place, row in rows_of(grown).items() if any(cell and cell.get("new") for cell in row["cells"])]
    assert "Course.by_title" in new
    assert "Pupil.by_year" not in new


def test_stopping_the_planner_shows_the_best_plan_so_far() -> None:
    def stop(answer: Mapping[str, Any]) -> None:
        progress = answer["progress"]
        if progress["what"] == "weighing plans" and progress["done"] == 2:
            raise KeyboardInterrupt

    stopped: Any = asked(request(), stop)["made"]
    assert stopped["plans"][0]["stopped"] is True
    assert stopped["plans"][0]["verified"] is None


SMALL = """
from keyplan import Design, Entity, Id, Table, read

class Order(Entity):
    order_id: Id[str]
    customer: str

class Store(Design):
    table = Table("store")

    @read("O1")
    def orders(self, customer: str) -> list[Order]: ...
"""


def test_plans_consider_the_traffic_set_in_the_studio() -> None:
    with deferred():
        design = loaded(SHOP, TEXT)
    assert isinstance(design, type)
    compiled = provisional_design(design)
    document = {
        "patterns": {"pending": {"per_second": 50}, "pay": {"per_second": 2}},
        "entities": {"Order": {"count": 9}},
    }
    traffic = traffic_from(document, compiled, source="traffic.toml")
    sent = ModuleRunner(SHOP, traffic).traffic
    assert sent is not None
    assert sent["patterns"] == document["patterns"]
    answer: Any = asked(request(TEXT.replace("def pay(", "def pay_for("), traffic=sent), silent)
    assert "per month" in answer["made"]["plans"][0]["summary"]


def test_the_studio_of_a_design_without_keys_has_only_the_plan_view(subject: Subject) -> None:
    with deferred():
        design = loaded(SHOP, TEXT)
    assert isinstance(design, type)
    unplanned = Studio(of_uncompiled(design), runner=ModuleRunner(SHOP))
    assert run(unplanned, "start", {})["views"] == ["plan"]
    with pytest.raises(StoreError, match="can't be opened"):
        run(unplanned, "data", {})
    with pytest.raises(RequestError):
        run(Studio(subject), "plan", {"text": 3})
