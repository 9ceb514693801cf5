"""The engine answers the scenarios as recorded, or as the service does where the recording is known to differ."""

from __future__ import annotations

import json
from typing import Any

import pytest

from keyplan.engine import Engine
from tests.engine.record import RECORDED
from tests.engine.scenarios import SCENARIOS, Step
from tests.engine.support import answer


def steps() -> list[Any]:
    """One test a step that is judged; the steps before it set the stage."""
    return [
        pytest.param(name, number, id=f"{name}-{number}-{step[0]}")
        for name, scenario in SCENARIOS.items()
        for number, step in enumerate(scenario)
        if len(step) < 3 or step[2] != "ignore"
    ]


@pytest.fixture(scope="module")
def answers() -> dict[str, list[dict[str, Any]]]:
    run: dict[str, list[dict[str, Any]]] = {}
    for name, scenario in SCENARIOS.items():
        with Engine.open(":memory:") as engine:
            run[name] = [answer(engine, step[0], step[1]) for step in scenario]
            assert engine.check() == []
    return run


def truth(name: str, number: int, step: Step) -> Any:
    if len(step) == 3:
        return step[2]
    return json.loads((RECORDED / f"{name}.json").read_text())[number]


@pytest.mark.parametrize(("name", "number"), steps())
def test_a_step_answers_as_dynamodb_does(answers: dict[str, list[dict[str, Any]]], name: str, number: int) -> None:
    assert answers[name][number] == truth(name, number, SCENARIOS[name][number])
