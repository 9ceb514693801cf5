"""What the studio asks of a store, request by request, as agreed upon: on this machine, and elsewhere, where each
costs. The store gives one item a page, so that the bounds are reached.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import pytest

from keyplan.client.conversations import Request, Transport
from keyplan.plain.answers import json_text
from keyplan.studio.actions import Studio, run
from keyplan.studio.items import identity
from keyplan.studio.subject import of_design
from tests.agreed import assert_agreed
from tests.studio.school import Report, School

BESIDE = ("Limit", "TotalSegments", "Select", "ConsistentRead", "ScanIndexForward")
P0 = {"pk": {"S": "PUPIL#p0"}, "sk": {"S": "#PUPIL"}}
ENROLMENT = {"course_id": "art", "pupil_id": "p0"}
ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("map", {}),
    ("map", {"each": 2, "rows": 3}),
    ("map", {"question": "reports_between"}),
    ("map", {"question": "pupils_of_course"}),
    ("data", {}),
    ("data", {"entity": "Report", "limit": 5}),
    ("data", {"only": "orphans"}),
    ("data", {"entity": "Course", "conditions": [{"name": "title", "operator": "=", "values": ["nothing"]}]}),
    ("take", {"form": "jsonl"}),
    ("run", {"question": "reports", "arguments": {"pupil_id": "p1"}}),
    ("run", {"question": "enrol", "arguments": ENROLMENT}),
    ("run", {"question": "enrol", "arguments": ENROLMENT, "send": True}),
    ("edit", {"edits": [{"do": "change", "key": P0, "fields": {"year": 9}}]}),
    ("edit", {"edits": [{"do": "change", "key": P0, "fields": {"year": 9}}], "save": True}),
    ("bring", {"form": "jsonl", "entity": "Course", "text": '{"course_id": "art", "title": "A"}'}),
    ("form", {"question": "reports"}),
    ("item", {"item": identity(P0)}),
)


@dataclass
class _Noted:
    """A store whose pages hold one item, and what it was asked."""

    inner: Transport
    asked: list[str] = field(default_factory=list[str])

    def call(self, operation: str, parameters: dict[str, Any], /) -> dict[str, Any]:
        self.asked.append(_said(operation, parameters))
        paged = {**parameters, "Limit": 1} if operation in {"Query", "Scan"} else parameters
        return self.inner.call(operation, paged)

    def call_all(self, requests: list[Request], /) -> list[dict[str, Any]]:
        self.asked.append(f"{len(requests)} together:")
        return [self.call(operation, parameters) for operation, parameters in requests]


def _said(operation: str, parameters: dict[str, Any]) -> str:
    """A request without its keys and names: those are agreed upon elsewhere."""
    told = [f"{name}={parameters[name]}" for name in BESIDE if name in parameters]
    number = (
        sum(len(each["Keys"]) for each in parameters["RequestItems"].values()) if "RequestItems" in parameters else 0
    )
    return " ".join([operation, *told, *([f"{number} keys"] if number else [])])


@pytest.mark.parametrize("local", [True, False])
def test_what_is_asked_is_as_it_was_agreed_upon(local: bool, school: School) -> None:
    for number in range(10, 45):
        school.put(Report(pupil_id="p1", number=number, text="good"))
    for action, given in ASKED:
        noted = _Noted(school.store.transport)
        studio = Studio(replace(of_design(school), local=local, transport=noted), seen={identity(P0): P0})
        answer = run(studio, action, given)
        told = [f"{len([*same])} × {text}" for text, same in groupby(noted.asked)]
        more = answer.get("more", answer.get("next"))
        assert_agreed("\n".join([f"{action} {json_text(given)}", *told, f"{'more' if more else 'no more'} follow"]))
