"""Each studio action responds to invalid requests with an error, never with an internal failure."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from keyplan.studio.access import HEADER, Access
from keyplan.studio.actions import ACTIONS, Studio
from keyplan.studio.application import Beside, studio_application
from keyplan.studio.subject import of_design
from keyplan.web import app
from tests.studio.school import School
from tests.web.support import TestClient

REQUESTS = 500
MEMBERS = (
    "arguments", "conditions", "edits", "entity", "form", "index", "item", "limit", "only", "partition", "question",
    "rates", "region", "rows", "save", "send", "sizes", "start", "table", "version", "do", "key", "fields", "was",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 2**63, 10**40, 0.5, "", "x", "\x00", "\ud800", "é" * 300, "Pupil", "GSI1", "csv", "jsonl",
    "orphans", "pupil", "enrol", "PUPIL#p0", "create", "change", "delete", "between", "us-east-1", [], {}, [[]],
    {"S": "x"}, {"N": "x"}, {"pk": {"S": "PUPIL#p0"}, "sk": {"S": "#PUPIL"}}, {"pk": {"N": "1"}, "sk": {"S": ""}},
    'course_id,title\nart,"x"', '{"Item": {"pk": {"S": "a"}, "sk": {"S": "b"}}}', {"year": "x"}, {"pupil": 1},
    [{"name": "year", "operator": "<", "values": ["1"]}], [{"do": "create", "entity": "Pupil", "fields": {"year": []}}],
)  # fmt: skip


def value(random: Random, depth: int = 0) -> Any:
    """Random JSON data. Most values are valid for some action."""
    kind = random.random()
    if kind < 0.6 or depth > 3:
        return random.choice(VALUES)
    if kind < 0.8:
        return [value(random, depth + 1) for _ in range(random.randrange(4))]
    return {random.choice(MEMBERS): value(random, depth + 1) for _ in range(random.randrange(5))}


def test_random_requests_cause_no_internal_error(school: School) -> None:
    random = Random(1)
    served = Beside(app(school), studio_application(Studio(of_design(school)), Access("t", ("testserver",))))
    headers = {HEADER: "t", "content-type": "application/json"}
    refused = 0
    with TestClient(served) as http:
        for _ in range(REQUESTS):
            action = random.choice([name for name in ACTIONS if name != "change"])
            given = {name: value(random) for name in random.sample([*MEMBERS, "text"], 6)}
            answer = http.post(f"/studio/do/{action}", content=json.dumps(given).encode(), headers=headers)
            assert answer.status_code in {200, 400, 404}, (action, given, answer.text)
            refused += answer.status_code != 200
    assert REQUESTS / 4 < refused < REQUESTS * 3 / 4
