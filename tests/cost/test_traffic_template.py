# mypy: disable-error-code="empty-body"
"""The traffic file that ``keyplan traffic`` prints lists every member, and all of its lines are commented out."""

from __future__ import annotations

import random
import re
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from keyplan import Cursor, Design, Entity, Key, Page, Table, read
from keyplan.analysis.cost.estimate import Estimate, PatternEstimate, estimate, estimate_pattern
from keyplan.analysis.cost.traffic_template import skeleton
from keyplan.analysis.traffic.traffic_file import StoredItems, TableSettings, Traffic, read_traffic, traffic_of
from keyplan.model.declared.pattern_load import Load
from tests.cli.support import run
from tests.contract.buckets import Timed
from tests.export.designs import NAMES, design

LARGE = {"Blog", "Shop", "Social"}
MARKED = [pytest.param(name, marks=pytest.mark.nightly if name in LARGE else ()) for name in NAMES]


KNOWN = re.compile(r"# (\w+ = .*?) +# .*(?:assumed|its example|its default|decorator says|as counted below)$")
"""A line whose value is the one that an estimate takes."""


def read_from(text: str, cls: type[Design], folder: Path) -> Traffic:
    path = folder / "traffic.toml"
    path.write_text(text, encoding="utf-8")
    return read_traffic(path, cls.compiled)


def units_of(pattern_estimate: PatternEstimate) -> tuple[Any, ...]:
    return (
        pattern_estimate.units("read"),
        pattern_estimate.units("write"),
        pattern_estimate.load.per_second,
        pattern_estimate.failure,
    )


def units(result: Estimate, cls: type[Design]) -> dict[str, Any]:
    """The units of an estimate. TTL fields are omitted, since a timestamp's size depends on its value."""
    expiring = {name for name, entity in cls.compiled.by_name.items() if entity.ttl is not None}
    patterns = {pattern.name: units_of(pattern) for pattern in result.patterns}
    entities = {
        entity.sizes.entity: (entity.sizes.item_bytes, dict(entity.sizes.entries), entity.claims)
        for entity in result.entities
    }
    entities = {name: element for name, element in entities.items() if name not in expiring}
    return {"patterns": patterns, "entities": entities, "failures": result.failures}


@cache
def estimated(name: str) -> Estimate:
    """The cost without a traffic file, computed once for all tests."""
    return estimate(design(name))


@pytest.mark.parametrize("name", MARKED)
def test_the_printed_traffic_template_does_not_change_the_estimate(name: str, tmp_path: Path) -> None:
    cls = design(name)
    traffic = read_from(skeleton(cls), cls, tmp_path)
    own = traffic_of(cls.compiled)
    assert (traffic.table, traffic.patterns, traffic.entities) == (own.table, own.patterns, own.entities)
    results: list[dict[str, Any]] = []
    for given in (traffic, own):
        random.seed(name)  # a write of the social network reads more in one of some calls
        results.append(units(estimate(cls, given), cls))
    assert results[0] == results[1]


@pytest.mark.parametrize("name", MARKED)
def test_every_line_of_the_traffic_template_is_valid_when_uncommented(name: str, tmp_path: Path) -> None:
    cls = design(name)
    text = re.sub(r"^# (?=\w+ = )", "", skeleton(cls), flags=re.MULTILINE)
    assert text != skeleton(cls)
    assert read_from(text, cls, tmp_path).known


@pytest.mark.parametrize("name", MARKED)
def test_uncommenting_assumptions_in_the_template_does_not_change_the_estimate(name: str, tmp_path: Path) -> None:
    """The estimate of a pattern is unchanged if one of its assumed numbers is uncommented, and the estimate of the
    design is unchanged if all item counts and sizes are uncommented together.
    """
    cls = design(name)
    lines = skeleton(cls).splitlines()
    wanted = units(estimated(name), cls)
    together = list(lines)
    pattern, changed = "", 0
    for place, line in enumerate(lines):
        table = re.match(r"\[(\w+)\.?(\w*)\]", line)
        if table is not None:
            pattern = table.group(2) if table.group(1) == "patterns" else ""
        match = KNOWN.match(line)
        if match is None:
            continue
        changed += 1
        if not pattern:
            together[place] = match.group(1)
            continue
        text = "\n".join([*lines[:place], match.group(1), *lines[place + 1 :]])
        one_pattern = estimate_pattern(cls, pattern, read_from(text, cls, tmp_path))
        assert units_of(one_pattern) == wanted["patterns"][pattern], line
    result = units(estimate(cls, read_from("\n".join(together), cls, tmp_path)), cls)
    assert result["entities"] == wanted["entities"]
    for read_pattern in cls.compiled.reads.values():
        assert result["patterns"][read_pattern.name] == wanted["patterns"][read_pattern.name]
    assert changed


def test_the_template_lists_every_member_of_a_traffic_file() -> None:
    text = "".join(skeleton(design(name)) for name in NAMES)
    for kind in (TableSettings, Load, StoredItems):
        for member in fields(kind):
            assert re.search(rf"^# {member.name} = ", text, re.MULTILINE), member.name


def test_every_pattern_and_entity_has_a_table_in_the_traffic_template() -> None:
    for name in NAMES:
        compiled = design(name).compiled
        text = skeleton(design(name))
        assert re.findall(r"^\[patterns\.(\w+)\]", text, re.MULTILINE) == [*compiled.patterns]
        assert set(re.findall(r"^\[entities\.(\w+)\]", text, re.MULTILINE)) == set(compiled.by_name)


def test_the_traffic_command_prints_or_writes_the_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed = run("traffic", "cms")
    assert printed.exit_code == 0
    assert run("traffic", "cms", "-o", "traffic.toml").output == "Wrote traffic.toml.\n"
    assert (tmp_path / "traffic.toml").read_text(encoding="utf-8") == printed.stdout
    assert run("check", "cms", "--traffic", "traffic.toml").exit_code == run("check", "cms").exit_code
    assert run("traffic", "nothing").exit_code == 2


class Fan(Entity):
    """A junction of a user and a star."""

    who: str
    other: str
    weight: int = 0

    primary = Key("FANS#{who}", "{other}")


class Star(Entity):
    """The entity that the junction leads to."""

    other: str

    primary = Key("STAR#{other}", "HEAD")


class Fans(Design):
    table = Table("fans")

    @read("F1", through=Fan, where={"weight": 3})
    def heavy(self, who: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Star]: ...

    @read("F2", through=Fan)
    def every(self, who: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Star]: ...

    @read("F3", where="weight > :least")
    def fans(self, who: str, least: int) -> list[Fan]: ...

    @read("F4", scan=True, where="weight > :least")
    def anywhere(self, least: int) -> list[Fan]: ...

    @read("F5")
    def star(self, other: str) -> Star: ...


def of_pattern(cls: type[Design], name: str) -> str:
    return skeleton(cls).partition(f"[patterns.{name}]\n")[2].partition("\n[")[0]


@pytest.mark.parametrize(
    ("cls", "name", "filters", "buckets"),
    [
        (Fans, "heavy", True, ""),
        (Fans, "every", False, ""),
        (Fans, "fans", True, ""),
        (Fans, "anywhere", True, ""),
        (Fans, "star", False, ""),
        (Timed, "readings", False, '{ at = { ge = "2026-11-01T00:00:00Z", lt = "2026-12-01T00:00:00Z" } }'),
        (Timed, "how_many_noted", True, '{ at = { ge = "2026-11-01T00:00:00Z", lt = "2026-12-01T00:00:00Z" } }'),
        (Timed, "of_kind", True, '{ at = { ge = "2026-11-01T00:00:00Z", lt = "2026-12-01T00:00:00Z" } }'),
        (Timed, "visits", True, '{ day = { ge = "2026-11-01", lt = "2026-12-01" } }'),
        (Timed, "totals", True, '{ day = { ge = "2026-11-01", lt = "2026-12-01" } }'),
    ],
)
def test_filters_and_buckets_have_template_lines(cls: type[Design], name: str, filters: bool, buckets: str) -> None:
    text = of_pattern(cls, name)
    assert ("# kept = 1.0" in text) == filters
    assert re.findall(r"^# arguments = (\{.*\}) ", text, re.MULTILINE) == ([buckets] if buckets else [])
