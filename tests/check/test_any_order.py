# mypy: disable-error-code="empty-body"
"""Findings don't depend on the declaration order of entities, reads, writes and indexes."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from keyplan import Design
from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.rules import RULES
from keyplan.analysis.cost.write_costs import with_counts
from keyplan.analysis.traffic import traffic_from
from keyplan.analysis.traffic.traffic_file import Traffic, traffic_of
from keyplan.errors import TrafficError
from keyplan.model.compiled.compiled_design import CompiledDesign
from tests.check import test_flaws_in_writes
from tests.contract.design import Everything
from tests.cost.random_traffic import drawn
from tests.cost.test_estimates import Books
from tests.designs_as_published import blog, cms, social
from tests.studio.school import School

DESIGNS: dict[str, type[Design]] = {
    "everything": Everything, "school": School, "blog": blog.Blog, "cms": cms.Cms, "books": Books,
    "exams": test_flaws_in_writes.Exams, "club": test_flaws_in_writes.Club, "social": social.Social,
}  # fmt: skip


def reversed_design(design: CompiledDesign) -> CompiledDesign:
    return replace(
        design,
        entities=dict(reversed(design.entities.items())),
        reads=dict(reversed(design.reads.items())),
        writes=dict(reversed(design.writes.items())),
        by_name=dict(reversed(design.by_name.items())),
    )


def places(subject: Subject) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for rule in RULES:
        for remark in rule.find(subject):
            subject.found.append((rule.code, remark.place))
            found.append((rule.code, remark.place))
    return sorted(found)


def traffic_for(cls: type[Design], name: str) -> Traffic:
    try:
        return traffic_from(drawn(cls.compiled, Random(name), replicated=False), cls.compiled)
    except TrafficError:
        return traffic_of(cls.compiled)


@pytest.mark.parametrize("name", DESIGNS)
def test_findings_do_not_depend_on_declaration_order(name: str) -> None:
    cls = DESIGNS[name]
    traffic = with_counts(cls.compiled, cls, traffic_for(cls, name))
    first = Subject(cls.compiled, traffic, cls)
    second = Subject(reversed_design(cls.compiled), traffic, cls)
    found = places(first)
    second.__dict__["analyzer"] = first.analyzer
    assert places(second) == found
