"""Plans side by side, each kind of cell; and what the process that makes them says where it made none."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic_core import SchemaError

from keyplan import Index
from keyplan.studio import planning_process
from keyplan.studio.planning import Planner
from tests.studio.test_planning import SHOP, SMALL, TEXT, asked, request


def plan(indexes: list[Index], keys: list[Any], weighed: Any, **more: Any) -> Any:
    answers = [
        SimpleNamespace(question=name, id=f"Q{at}", operation="Query", key="Order.by_day", proof=f"proof of {name}")
        for at, name in enumerate(("orders", "by_day"), 1)
    ]
    given = {"named": {}, "all_of": {}, "notes": (), **more}
    return SimpleNamespace(
        indexes=indexes, keys=keys, weight=weighed, answers=answers, design=SimpleNamespace(__name__="Store"),
        compiled=SimpleNamespace(reads={"orders": None, "by_day": None}), **given,
    )  # fmt: skip


def told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: Mapping[str, Any]
) -> tuple[list[Any], list[tuple[int, int]]]:
    """What the process answers to a request, run in this one; and which streams it laid on others."""
    out = tmp_path / "out"
    laid: list[tuple[int, int]] = []
    opened = out.open("wb")
    monkeypatch.setattr("os.dup", lambda stream: stream)
    monkeypatch.setattr("os.fdopen", lambda *given: {(1, "wb"): opened}[given])
    monkeypatch.setattr("os.dup2", lambda stream, other: laid.append((stream, other)))
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(given) + "\n"))
    monkeypatch.setattr(planning_process, "_stop_at_end", lambda _given: None)
    with opened:
        planning_process.main()
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()], laid


def test_what_the_module_prints_is_no_answer_and_what_is_wrong_with_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (answer,), laid = told(monkeypatch, tmp_path, request("1 / 0"))
    assert answer["error"]["message"] == "ZeroDivisionError: division by zero"
    assert laid == [(2, 1)]


def test_stopped_before_there_is_a_plan(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(_request: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(planning_process, "read", interrupted)
    (answer,), _ = told(monkeypatch, tmp_path, request())
    assert answer == {"error": {"message": "stopped before there was a plan", "hint": None, "faults": []}}

    def wrong(_request: Any) -> Any:
        raise SchemaError("no interrupt")

    monkeypatch.setattr(planning_process, "read", wrong)
    with pytest.raises(SchemaError):
        told(monkeypatch, tmp_path, request())


def test_nobody_waits_for_it_any_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ended: list[int] = []

    def gone(_request: Any) -> Any:
        raise BrokenPipeError

    monkeypatch.setattr(planning_process, "read", gone)
    monkeypatch.setattr("os._exit", ended.append)
    assert (told(monkeypatch, tmp_path, request())[0], ended) == ([], [0])


def test_traffic_that_is_wrong_is_said_to_be_the_studios() -> None:
    traffic = {"table": {}, "patterns": {"orders": {"per_second": -1}}, "entities": {}}
    answer: Any = asked(request(SMALL, traffic=traffic), lambda _answer: None)
    assert "the studio's traffic" in json.dumps(answer["error"])


def test_without_the_extra_that_verifies_plans_they_are_not_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyplan.testing.planned", None)
    answer: Any = asked(request(SMALL), lambda _answer: None)
    assert {head["verified"] for head in answer["made"]["plans"]} == {None}
    assert answer["made"]["refused"] == []


def test_what_is_not_being_made_cannot_be_stopped() -> None:
    answer = Planner(SHOP).plan_json(stop=True)
    assert (answer["state"], answer["file"]) == ("none", str(SHOP.path))
    assert answer == Planner(SHOP).plan_json(stop=True, text=TEXT)
    assert answer["version"] != Planner(SHOP).plan_json(stop=True, text=TEXT, anew=True)["version"]
    assert answer["version"] != Planner(SHOP).plan_json(stop=True, text=TEXT, attributes=True)["version"]
