"""The plans of a child process: the studio's traffic, and verification without its extra."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from tests.studio.test_planning import SMALL, asked, request


def test_traffic_that_is_wrong_is_said_to_be_the_studios() -> None:
    traffic = {"table": {}, "patterns": {"orders": {"per_second": -1}}, "entities": {}}
    answer: Any = asked(request(SMALL, traffic=traffic), lambda _answer: None)
    assert "the studio's traffic" in json.dumps(answer["error"])


def test_without_the_extra_that_verifies_plans_they_are_not_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyplan.testing.plan_verification", None)
    answer: Any = asked(request(SMALL), lambda _answer: None)
    assert {head["verified"] for head in answer["made"]["plans"]} == {None}
    assert answer["made"]["refused"] == []
