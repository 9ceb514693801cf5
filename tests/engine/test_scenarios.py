"""The engine returns the responses recorded from DynamoDB Local, or DynamoDB's responses if these differ."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.store import Engine
from tests.engine.record import RECORDED
from tests.engine.scenarios import SCENARIOS, Step
from tests.engine.support import answer


def steps() -> list[Any]:
    """Return a test case for each compared step. Before the step, the previous steps of its scenario run."""
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
    recorded = json.loads((RECORDED / f"{name}.json").read_text())[number]
    return in_current_wording(step[0], recorded) if "error" in recorded else recorded


CURRENT_WORDING = (
    (r"^(ExpressionAttributeValues can only be specified when using expressions): .* null$", r"\1"),
    (r"^ExpressionAttributeValues contains invalid value: (.*) for key :\w+$", r"\1"),
    (r"^(Invalid operator used in Key|Invalid condition in Key)", r"Invalid KeyConditionExpression: \1"),
    (r"Value '\[\]' at 'transactItems'", "Value at 'TransactItems'"),
)


def in_current_wording(operation: str, error: dict[str, Any]) -> dict[str, Any]:
    """Return an error of DynamoDB Local in DynamoDB's wording, with the operation's prefix."""
    message = error["message"]
    for older, current in CURRENT_WORDING:
        if OPERATIONS[operation].wording != "older" or operation == "TransactWriteItems":
            message = re.sub(older, current, message)
    of_select = operation == "Query" and re.search(OF_SELECT, message)
    if of_select or (OPERATIONS[operation].wording == "enveloped" and re.search(OF_THE_REQUEST, message)):
        message = f"1 validation error detected: {message}"
    return {**error, "message": message}


OF_THE_REQUEST = (
    "^Can not use both"
    "|^Invalid (Condition|Update)Expression: |^Value provided in Expression|^ExpressionAttribute|^ReturnValues can only"
    "|^Supplied AttributeValue|may not be empty$|contains duplicates|numeric value|^Number (over|under)flow"
    "|^Nesting Levels|^Attempting to store more|Null attribute value types|^Empty attribute name$|not be empty$"
)

OF_SELECT = "when choosing to get|can be used only when Querying"


@pytest.mark.parametrize(("name", "number"), steps())
def test_scenarios_return_dynamodbs_responses(answers: dict[str, list[dict[str, Any]]], name: str, number: int) -> None:
    assert answers[name][number] == truth(name, number, SCENARIOS[name][number])
