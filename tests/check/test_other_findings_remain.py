# mypy: disable-error-code="empty-body"
"""What is let pass by a rule keeps nothing behind it from being judged."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from keyplan import Design, Entity, Key, Table, Ttl, read
from keyplan.analysis.check import check
from keyplan.analysis.traffic import traffic_from


class Visit(Entity):
    site: str
    at: datetime
    page: str
    country: str
    gone_at: Ttl

    primary = Key("SITE#{site}", "{at}")


class Visits(Design):
    table = Table("visits")

    @read("V1", where="gone_at > :now")
    def living(self, site: str, now: datetime) -> list[Visit]: ...

    @read("V2")
    def every(self, site: str) -> list[Visit]: ...

    @read("V3", where="page = :page")
    def of_most_pages(self, site: str, page: str) -> list[Visit]: ...

    @read("V4", where="country = :country AND gone_at > :now")
    def of_country(self, site: str, country: str, now: datetime) -> list[Visit]: ...

    @read("V5", where="page = :page AND page <> :other")
    def of_few_pages(self, site: str, page: str, other: str) -> list[Visit]: ...


def test_filters_behind_those_that_are_let_pass() -> None:
    traffic = {
        "patterns": {"of_most_pages": {"kept": 0.5}, "of_few_pages": {"kept": 0.09}, "of_country": {"kept": 0.1}}
    }
    report = check(Visits, traffic=traffic_from(traffic, Visits.compiled))
    assert [(each.place, each.severity.name) for each in report.findings if each.code == "KP302"] == [
        ("Visits.of_few_pages", "ERROR"),
        ("Visits.of_country", "WARNING"),
    ]


@pytest.mark.parametrize(
    ("table", "arithmetic"),
    [
        ({"stream_readers": 2}, None),
        ({"stream_readers": 3}, "3 readers > 2 of one table"),
        ({"stream_readers": 1, "replicas": ["eu-west-1"]}, None),
        ({"stream_readers": 2, "replicas": ["eu-west-1"]}, "2 readers > 1 of a global table"),
    ],
)
def test_readers_of_a_stream(table: dict[str, Any], arithmetic: str | None) -> None:
    data = {"table": {"stream": "NEW_IMAGE", **table}}
    report = check(Visits, traffic=traffic_from(data, Visits.compiled))
    told = [each.arithmetic for each in report.findings if each.code == "KP603"]
    assert told == ([] if arithmetic is None else [(arithmetic,)])
