"""The views Access patterns, Run, Cost, Check and Change show the same data as the commands."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from keyplan.analysis.check.checking import check
from keyplan.analysis.cost.estimate import estimate
from keyplan.analysis.explain.explanation import explain
from keyplan.analysis.traffic.traffic_file import read_traffic
from keyplan.cli.group import cli
from keyplan.errors import Refused, RequestError, UnknownPattern
from keyplan.session.design import Design
from keyplan.studio.changing import change_made, source_of
from keyplan.studio.reviewing import check_json, cost_json, questions_json
from keyplan.studio.running import form_json, run_json
from keyplan.studio.subject import Subject, of_design
from tests.cli.clinic import Clinic
from tests.studio.school import School

CHANGED = Path(__file__).with_name("school.py").read_text(encoding="utf-8")


def test_the_access_patterns_view_agrees_with_explain_and_cost() -> None:
    result = {question["pattern"]: question for question in questions_json(School)["questions"]}
    assert result.keys() == School.compiled.patterns.keys()
    known = {pattern.name: pattern for pattern in estimate(School).patterns}
    for name, value in result.items():
        assert value["key_condition"] == explain(School, name).key_condition
        assert (value["read_units"], value["write_units"]) == (known[name].read_units, known[name].write_units)
    assert result["pupils_of_course"]["usd_million"] > result["pupil"]["usd_million"] > 0


def test_the_check_view_has_the_findings_of_check_with_their_rules() -> None:
    result = check_json(School)
    assert [finding["code"] for finding in result["findings"]] == [finding.code for finding in check(School).findings]
    assert {finding["code"] for finding in result["findings"]} == result["manuals"].keys()


def test_the_access_patterns_view_shows_the_findings_of_each_pattern() -> None:
    shown = {
        each["pattern"]: [finding["code"] for finding in each["findings"]]
        for each in questions_json(Clinic)["questions"]
    }
    findings = [finding for finding in check(Clinic).findings if finding.counts]
    assert shown == {
        name: [finding.code for finding in findings if finding.place == f"Clinic.{name}"]
        for name in Clinic.compiled.patterns
    }
    assert any(shown.values())
    assert not all(shown.values())


def test_request_costs_are_proportional_to_traffic() -> None:
    element = cost_json(School, {"rates": {"pupil": 10}})
    ten = cost_json(School, {"rates": {"pupil": 100}})
    assert ten["chosen"]["usd"] == pytest.approx(10 * element["chosen"]["usd"])
    by_times = {each["times"]: each["on_demand"] for each in element["curve"]}
    assert by_times[10] == pytest.approx(ten["chosen"]["usd"])
    larger = cost_json(School, {"rates": {"pupil": 10}, "bytes": {"Pupil": 9000}})
    assert larger["chosen"]["usd"] > element["chosen"]["usd"]


def test_all_errors_of_the_traffic_in_a_request_are_reported() -> None:
    given = {"rates": {"nobody": 1, "pupil": -1, "reports": "x"}, "bytes": [1], "region": "mars"}
    with pytest.raises(RequestError) as caught:
        cost_json(School, given)
    assert {fault.place for fault in caught.value.errors} == {
        "rates.nobody",
        "rates.pupil",
        "rates.reports",
        "bytes",
        "region",
    }


def test_the_form_of_a_pattern_is_generated_from_its_signature(subject: Subject) -> None:
    result = form_json(subject, "reports_between")
    assert 'name="number.ge"' in result["fields"]
    assert result["examples"][0]["pupil_id"] == "p0"
    with pytest.raises(UnknownPattern):
        form_json(subject, "nothing")


def test_the_run_view_shows_the_result_and_the_requests_of_a_read(subject: Subject) -> None:
    made = run_json(subject, "reports", {"pupil_id": "p0", "limit": "3"}, send=False)
    assert [item["number"] for item in made["answer"]["items"]] == [9, 8, 7]
    assert made["answer"]["cursor"]
    assert made["steps"][0]["parameters"]["KeyConditionExpression"]
    assert made["steps"][0]["units"] > 0


def test_a_write_in_the_run_view_can_be_dry_run_and_executed(school: School) -> None:
    subject = of_design(school)
    given = {"course_id": "art", "pupil_id": "p3"}
    rehearsed = run_json(subject, "enrol", given, send=False)
    assert [(change["kind"], change["was"]) for change in rehearsed["changes"]] == [
        ("Enrolment", False),
        ("Pupil", True),
    ]
    before = [{name: change[name] for name in ("is", "attributes", "entries")} for change in rehearsed["changes"]]
    assert before[1]["entries"] == [{"index": "GSI1", "before": "YEAR#1 / PUPIL#p3", "after": "YEAR#2 / PUPIL#p3"}]
    assert school.pupils_of_course("art") == []
    done = run_json(subject, "enrol", given, send=True)
    assert before == [{name: change[name] for name in ("is", "attributes", "entries")} for change in done["changes"]]
    assert [element.pupil_id for element in school.pupils_of_course("art")] == ["p3"]
    pupil = next(change for change in done["changes"] if change["kind"] == "Pupil")
    assert {"name": "year", "before": {"N": "1"}, "after": {"N": "2"}} in pupil["attributes"]
    again = run_json(subject, "enrol", given, send=True)
    assert [change["kind"] for change in again["changes"]] == ["Pupil"], "an unchanged item isn't a change"
    with pytest.raises(Refused):
        run_json(of_design(school, writable=False), "enrol", given, send=True)


def test_entity_arguments_can_be_chosen_from_existing_items(school: School) -> None:
    subject = of_design(school)
    picks = form_json(subject, "join")["picks"]["pupil"]
    assert [pick["entity"] for pick in picks] == ["Pupil"] * 4
    pupil = next(pick["value"] for pick in picks if "PUPIL#p2" in pick["label"])
    answer = run_json(subject, "join", {"pupil": pupil}, send=False)
    assert answer["error"] is None
    written = answer["steps"][0]["parameters"]
    assert "Ünal 日本 2" in repr(written)
    gone = run_json(subject, "join", {"pupil": {"$key": {"pk": {"S": "PUPIL#no"}, "sk": {"S": "#PUPIL"}}}}, send=False)
    assert gone["error"]["code"] == "ItemNotFound"


# Change


@pytest.fixture
def opened(tmp_path: Path) -> Any:
    """The School design and its file, a copy that tests change."""
    path = tmp_path / "changing_school.py"
    path.write_text(CHANGED, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("changing_school", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["changing_school"] = module
    spec.loader.exec_module(module)
    yield module.School, path
    del sys.modules["changing_school"]


def changed(design: type[Design], text: str) -> dict[str, Any]:
    source = source_of(design)
    assert source is not None
    return change_made(source, CHANGED, text)


@pytest.mark.parametrize(
    ("before", "after", "says", "line"),
    [
        ("class Pupil(Entity):", "class Pupil(Entity)", "SyntaxError", None),
        ("PUPIL#{pupil_id}", "PUPIL#{pupil}", "error", None),
        ("from __future__ import annotations", "1/0", "ZeroDivisionError", 4),
        ("from keyplan import (", "import nothing\nfrom keyplan import (", "ModuleNotFoundError", 6),
        ("class School(Design)", "class Other(Design)", "no design School", None),
        ("from __future__ import annotations", "raise SystemExit(3)", "SystemExit", 4),
    ],
)
def test_an_error_in_a_changed_module_is_reported_with_its_line(
    opened: tuple[type[Design], Path], before: str, after: str, says: str, line: int | None
) -> None:
    design, _ = opened
    result = changed(design, CHANGED.replace(before, after))
    assert says in result["error"]["message"]
    assert line is None or result["error"]["line"] == line


def test_design_errors_in_a_changed_module_have_places(opened: tuple[type[Design], Path]) -> None:
    design, _ = opened
    result = changed(design, CHANGED.replace('Key("COURSE#{course_id}", "#COURSE")', 'Key("X#{no}", "Y")'))
    assert [fault["place"] for fault in result["error"]["errors"]] == ["Course.primary"]


def test_items_with_a_changed_key_are_marked_on_the_map(opened: tuple[type[Design], Path]) -> None:
    design, _ = opened
    assert changed(design, CHANGED)["same"] is True
    result = changed(design, CHANGED.replace("YEAR#{year}", "IN_YEAR#{year}"))
    assert {(change["code"], change["severity"]) for change in result["changes"]} >= {("key-changed", "migration")}
    assert 'class="row k0 update"' in result["map"]["svg"]


def test_the_change_view_shows_the_cost_of_an_added_pattern(opened: tuple[type[Design], Path]) -> None:
    design, _ = opened
    added = CHANGED.replace(
        '    @write("W1")',
        '    @read("Q9")\n    def course(self, course_id: str) -> Course | None:\n        ...\n\n    @write("W1")',
    )
    result = changed(design, added)
    assert [change["code"] for change in result["changes"]] == ["pattern-added"]
    assert result["prices"][1]["questions"]["course"] is not None


# Traffic


def test_the_cost_view_starts_with_the_rates_and_sizes_of_the_traffic_file(tmp_path: Path) -> None:
    path = tmp_path / "traffic.toml"
    path.write_text(
        '[table]\nregion = "eu-west-1"\n[patterns.Q1]\nper_second = 10\n[entities.Pupil]\nitem_bytes = 9000\n',
        encoding="utf-8",
    )
    traffic = read_traffic(path, School.compiled)
    result = cost_json(School, {}, traffic)
    assert result["region"] == "eu-west-1"
    assert result["traffic"] == str(path)
    assert {pattern["pattern"]: pattern["per_second"] for pattern in result["patterns"]}["pupil"] == 10
    assert cost_json(School, {"rates": {"pupil": 20}}, traffic)["chosen"]["usd"] > result["chosen"]["usd"]
    assert cost_json(School, {"bytes": {"Pupil": 100}}, traffic)["chosen"]["usd"] < result["chosen"]["usd"]
    questions = questions_json(School, traffic)
    assert questions["traffic"]
    assert questions["region"] == "eu-west-1"
    months = {question["pattern"]: question["usd_month"] for question in questions["questions"]}
    assert months["pupil"] == pytest.approx(
        {pattern["pattern"]: pattern["usd_month"] for pattern in result["patterns"]}["pupil"]
    )
    assert months["reports"] is None
    assert not questions_json(School)["traffic"]
    assert check_json(School, traffic)["traffic"]


def test_options_for_designs_are_rejected_if_the_studio_opens_an_endpoint() -> None:
    made = CliRunner().invoke(cli, ["studio", "dynamodb+http://127.0.0.1:1", "--sample", "3", "--traffic", "t.toml"])
    assert made.exit_code == 2
    assert "--sample, --traffic" in made.output
