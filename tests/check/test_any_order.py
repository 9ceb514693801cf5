# mypy: disable-error-code="empty-body"
"""What a rule finds isn't a matter of what stands before it: entities, reads, writes and indexes in another order have
the same findings. And of what is measured, what lies just within a rule's limit has none.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from keyplan import Cursor, Design, Entity, Key, Page, Table, Tokens, Update, Writes, read, write
from keyplan.check import check
from keyplan.check.rules import RULES
from keyplan.check.subject import Subject
from keyplan.cost.calls import with_counts
from keyplan.design.compiled.model import CompiledDesign
from keyplan.design.traffic import traffic_from
from keyplan.design.traffic.files import Traffic, traffic_of
from keyplan.errors import TrafficError
from tests.agreed import assert_agreed
from tests.cost.test_reports import drawn
from tests.rehearsal.test_writes import DESIGNS

NAMES = (
    "things", "ships", "paints", "kennels", "everything", "school", "blog", "cms", "books", "exams", "club", "social",
)  # fmt: skip


def turned(design: CompiledDesign) -> CompiledDesign:
    """The design with everything in the opposite order."""
    return replace(
        design,
        entities=dict(reversed(design.entities.items())),
        reads=dict(reversed(design.reads.items())),
        writes=dict(reversed(design.writes.items())),
        by_name=dict(reversed(design.by_name.items())),
    )


def places(subject: Subject) -> list[tuple[str, str]]:
    """The code and place of each finding."""
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


@pytest.mark.parametrize("name", NAMES)
def test_findings_are_the_same_in_any_order(name: str) -> None:
    cls = DESIGNS[name]
    traffic = with_counts(cls.compiled, cls, traffic_for(cls, name))
    first = Subject(cls.compiled, traffic, cls)
    second = Subject(turned(cls.compiled), traffic, cls)
    found = places(first)
    second.__dict__["accounts"] = first.accounts  # what is known of the writes is known
    assert places(second) == found


class Line(Entity):
    """Of few bytes, in a table by itself."""

    name: str
    text: str = ""
    applied: Tokens = set()  # noqa: RUF012 - pydantic copies it

    primary = Key("LINE#{name}", "HEAD")


class Lines(Design):
    table = Table("lines")

    @read("R1", where="text = :text")
    def lines(self, name: str, text: str, limit: int = 9, cursor: Cursor | None = None) -> Page[Line]: ...

    @write("W1")
    def write(self, name: str, text: str, event: str) -> Writes:
        yield Update(Line, name=name).set(text=text).once(event)


def said(data: dict[str, Any]) -> list[str]:
    report = check(Lines, traffic=traffic_from(data, Lines.compiled))
    return [
        f"    {finding}; {finding.hint}; {'; '.join(finding.arithmetic)}"
        for finding in report.findings
        if finding.code in {"KP302", "KP318", "KP506", "KP507", "KP103", "KP501", "KP502"}
    ]


def test_what_is_found_at_each_limit() -> None:
    """A share that is kept, bytes over a unit, how many items there are, and how large they are."""
    lines: list[str] = []
    cases: list[dict[str, Any]] = [
        *({"patterns": {"lines": {"kept": kept}}} for kept in (0.5, 0.49, 0.1, 0.09)),
        *({"entities": {"Line": {"item_bytes": size}}} for size in (1023, 1024, 1025, 1075, 1076, 2150, 2151)),
        *({"entities": {"Line": {"item_bytes": size}}} for size in (102_400, 102_401)),
        *({"entities": {"Line": {"count": count, "item_bytes": 60}}} for count in (999_999, 1_000_000)),
        *({"entities": {"Line": {"count": 1_000_000, "item_bytes": size}}} for size in range(55, 64)),
        *({"patterns": {"write": {"peak_per_second": rate, "hottest": 1.0}}} for rate in (250, 251, 500, 501, 1001)),
        *({"patterns": {"lines": {"peak_per_second": rate, "hottest": 1.0}}} for rate in (1000, 3000, 3001, 9000)),
    ]
    always = said({"patterns": {"lines": {"kept": 0.5}}})
    for data in [{}, *cases]:
        lines += [str(data), *(line for line in said(data) if line not in always)]
    assert_agreed("\n".join([*always, *lines]))
