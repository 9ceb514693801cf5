# mypy: disable-error-code="empty-body"
"""Ignored findings, order of findings, and source locations."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from keyplan import Design, Entity, Key, Page, Put, Table, Writes, read, write
from keyplan.analysis.check import Report, Severity, check
from keyplan.analysis.check.findings import Finding, compared
from keyplan.analysis.traffic import traffic_from
from keyplan.errors import DesignError


class Message(Entity):
    message_id: str
    at: datetime

    primary = Key("MESSAGES", "{at}#{message_id}")


class Base(Design):
    table = Table("inbox")

    @read("M1", newest_first=True)
    def messages(self, limit: int = 20) -> Page[Message]: ...

    @read("M2")
    def all_messages(self) -> list[Message]: ...


def inbox(ignore: Any) -> type[Design]:
    class Inbox(Design, ignore=ignore):
        table = Table("inbox")

        @read("M1", newest_first=True)
        def messages(self, limit: int = 20) -> Page[Message]: ...

    return Inbox


def codes(report: Report) -> list[str]:
    return [element.code for element in report.counted()]


@pytest.mark.parametrize(
    ("ignore", "result"),
    [
        ({}, ["KP201"]),
        ({"KP201": "a few a day"}, []),
        ({"KP201 Message.primary": "a few per day"}, []),
        ({"KP201 primary": "a few a day"}, []),
        ({"KP201 Message": "a few a day"}, ["KP201", "KP901"]),
        ({"KP202": "a few a day"}, ["KP201", "KP901"]),
        ({"KP201 Message.primary": " "}, ["KP201", "KP902"]),
        ({"KP901": "I don't want to know"}, ["KP201", "KP901"]),
    ],
)
def test_ignored_findings_are_omitted(ignore: dict[str, str], result: list[str]) -> None:
    assert codes(check(inbox(ignore))) == result


@pytest.mark.parametrize("wrong", [["KP201"], {"KP201": None}, {1: "x"}, "KP201"])
def test_the_ignore_option_must_map_findings_to_reasons(wrong: Any) -> None:
    with pytest.raises(DesignError) as caught:
        inbox(wrong)
    assert "ignore= must map each ignored finding" in str(caught.value)


def test_a_subclass_inherits_ignored_findings() -> None:
    class Quiet(Base, ignore={"KP201 Message.primary": "a few per day"}):
        pass

    class Quieter(Quiet, ignore={"KP303 all_messages": "an export"}):
        pass

    assert codes(check(Base)) == ["KP201", "KP303"]
    assert codes(check(Quiet)) == ["KP303"]
    assert codes(check(Quieter)) == []


def test_findings_have_the_line_numbers_of_their_source() -> None:
    result = {element.code: element.source for element in check(Base).findings}
    lines = [line.strip() for line in Path(__file__).read_text(encoding="utf-8").splitlines()]
    key, method = result["KP201"], result["KP303"]
    assert key is not None
    assert lines[key.line - 1] == 'primary = Key("MESSAGES", "{at}#{message_id}")'
    assert method is not None
    assert lines[method.line - 1] == "def all_messages(self) -> list[Message]: ..."
    assert key.file == method.file == __file__


def test_findings_in_a_design_class_defined_in_a_function_have_line_numbers() -> None:
    (element,) = check(inbox({"KP201": " "})).findings[1:]
    assert element.source is not None
    assert element.source.file == __file__


def test_findings_in_patterns_of_a_compiled_design_have_no_line_numbers() -> None:
    places = [(element.code, element.source is None) for element in check(Base.compiled).findings]
    assert places == [("KP201", False), ("KP303", True)]  # the entity has a class, the compiled design doesn't


def test_findings_are_sorted_by_severity() -> None:
    report = check(Base)
    assert [element.severity for element in report.findings] == sorted(
        (element.severity for element in report.findings), reverse=True
    )
    assert [int(each) for each in Severity] == [1, 2, 3]
    assert report.fails(Severity.WARNING)
    assert not report.fails(Severity.ERROR)
    assert not report.fails(None)
    assert str(report.findings[0]).startswith("KP201 warning: Message.primary: ")


def finding(silenced: str | None = None) -> Finding:
    return Finding("KP308", "lost-update", Severity.WARNING, "Bank.pay_in", "m", "h", silenced=silenced)


def test_ignored_findings_consume_no_baseline_entry() -> None:
    """If one of two identical findings is ignored, the other is still in the baseline."""
    report = Report("Bank", (finding("a few a day"), finding()), rules=1, traffic=False)
    known = Counter({("Bank", "KP308", "Bank.pay_in"): 1})
    assert [(element.silenced, element.known) for element in compared(report, known).findings] == [
        ("a few a day", False),
        (None, True),
    ]


@pytest.mark.parametrize(
    ("per_second", "severity"), [(480.0, None), (520.0, Severity.WARNING), (1100.0, Severity.ERROR)]
)
def test_a_partition_above_half_its_throughput_limit_is_reported(per_second: float, severity: Severity | None) -> None:
    class Hit(Entity):
        page: str
        number: int
        primary = Key("HITS#{page}", "{number:010d}")

    class Hits(Design):
        table = Table("hits", entities=[Hit])

        @write("W1")
        def hit(self, page: str, number: int) -> Writes:
            yield Put(Hit(page=page, number=number))

    traffic = traffic_from({"patterns": {"hit": {"per_second": per_second, "hottest": 1.0}}}, Hits.compiled)
    severities = [element.severity for element in check(Hits, traffic).findings if element.code == "KP501"]
    assert severities == ([] if severity is None else [severity])
