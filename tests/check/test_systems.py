"""Systems have only ignored findings, with reasons, and no rule raises an exception for any design or traffic file."""

from __future__ import annotations

import importlib
import re
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyplan import Design
from keyplan.analysis.check import check
from keyplan.analysis.check.checking import refused
from keyplan.analysis.traffic.traffic_file import StoredItems, TableSettings, Traffic
from keyplan.errors import DesignError
from keyplan.model.declared.pattern_load import Load
from keyplan_systems.blog.design import Blog
from keyplan_systems.cms.design import Cms
from keyplan_systems.papers.design import Papers
from keyplan_systems.shop.design import Shop
from keyplan_systems.social.design import Social
from tests.repository.examples import Program, programs_of
from tests.repository.files import ROOT, written_files
from tests.seeds import examples

SYSTEMS: list[type[Design]] = [Blog, Cms, Papers, Shop, Social]


@pytest.mark.parametrize("design", SYSTEMS)
def test_the_five_systems_have_only_ignored_findings(design: type[Design]) -> None:
    assert [str(finding) for finding in check(design).counted()] == []


@pytest.mark.parametrize("design", SYSTEMS)
def test_reasons_for_ignored_findings_have_at_least_four_words(design: type[Design]) -> None:
    assert [reason for reason in design.compiled.ignore.values() if len(reason.split()) < 4] == []


@cache
def designs() -> list[type[Design]]:
    """All designs of the systems, the tests and the documentation."""
    result: dict[str, type[Design]] = {element.__name__: element for element in SYSTEMS}
    for path in written_files(".py", ROOT / "tests"):
        if re.search(r"^class \w+\(\w*Design\b", path.read_text(encoding="utf-8"), re.MULTILINE):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            try:
                module = importlib.import_module(name)
            except DesignError:
                continue  # deliberately invalid
            result |= {f"{name}.{key}": value for key, value in vars(module).items() if _is_design(value)}
    for path in written_files(".md", ROOT / "docs"):
        for number, program in enumerate(programs_of(path)):
            result |= {
                f"{path.name}:{number}.{design_class.__name__}": design_class
                for design_class in _designs_of(program, path)
            }
    return list(dict.fromkeys(result.values()))


def _is_design(value: object) -> bool:
    # Design itself isn't compiled, and designs without keys are input of the planner
    return isinstance(value, type) and issubclass(value, Design) and hasattr(value, "compiled")


def _designs_of(program: Program, path: Path) -> list[type[Design]]:
    """The designs in the first block of a documentation example. tests/repository runs complete examples."""
    if "class " not in (code := program.steps[0][1]):
        return []
    name = f"checked_{path.stem.replace('-', '_')}_{program.line}"
    module = type(sys)(name)
    sys.modules[name] = module
    try:
        exec(compile(re.split(r"^(?=\w+ = \w+\.open\()", code, flags=re.MULTILINE)[0], name, "exec"), vars(module))
        return [value for value in vars(module).values() if _is_design(value)]
    except DesignError:
        return []  # deliberately invalid
    finally:
        del sys.modules[name]


def test_more_than_60_designs_are_checked() -> None:
    assert len(designs()) > 60


def test_no_rule_raises_on_any_design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the body of a write without source is run, and KP312's example writes a file
    for design in designs():
        for report in (check(design), check(design.compiled)) if design in SYSTEMS else (check(design),):
            assert report.rules > 40
            for finding in report.findings:
                assert finding.message
                assert finding.hint
                assert finding.place


def test_a_design_error_without_a_place_is_reported_as_kp100() -> None:
    report = refused(DesignError("no table"))
    (finding,) = report.findings
    assert (finding.code, finding.message) == ("KP100", "no table")
    assert (report.design, report.rules, report.traffic) == ("the design", 1, False)
    assert refused(DesignError("no table", place="Shop")).design == "Shop"


rates = st.none() | st.floats(min_value=0, max_value=2e8) | st.integers(0, 10**8).map(float)
counts = st.none() | st.floats(min_value=0, max_value=1e15)
counts_of_a_key = st.none() | st.floats(min_value=0, max_value=3000)
loads = st.builds(
    Load,
    per_second=rates,
    peak_per_second=rates,
    items=counts_of_a_key,
    item_bytes=st.none() | st.integers(1, 400 * 1024),
    kept=st.none() | st.floats(0.001, 1),
    hottest=st.none() | st.floats(0.001, 1),
)
entities = st.builds(
    StoredItems,
    count=counts,
    item_bytes=st.none() | st.integers(1, 400 * 1024),
    per_partition=counts_of_a_key,
    per_partition_max=counts,
)
tables = st.builds(
    TableSettings,
    billing=st.sampled_from(["on-demand", "provisioned"]),
    point_in_time_recovery=st.none() | st.booleans(),
    stream=st.none() | st.just("KEYS_ONLY"),
    stream_readers=st.none() | st.integers(0, 9),
    replicas=st.lists(st.sampled_from(["us-east-1", "eu-west-3"]), max_size=2).map(tuple),
    strong_across_regions=st.booleans(),
)


@settings(max_examples=examples(8, 40), deadline=None)
@given(data=st.data())
def test_no_rule_raises_on_random_traffic(data: st.DataObject) -> None:
    design = data.draw(st.sampled_from(SYSTEMS)).compiled
    traffic = Traffic(
        data.draw(tables),
        {name: data.draw(loads) for name in design.patterns},
        {entity.name: data.draw(entities) for entity in design.entities.values()},
    )
    for finding in check(design, traffic).findings:
        assert "nan" not in finding.message
        assert "inf" not in finding.message
