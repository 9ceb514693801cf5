"""Limits of the nesting depth of values in PartiQL statements."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.dynamodb.values.validation import CONTAINER_DEPTH_MAX
from keyplan.store import Engine
from tests.engine.support import answer, create

DEEP = ("Nesting Levels have exceeded supported limits", " under ")


@pytest.mark.parametrize("kind", ["list", "map", "both"])
def test_values_in_statements_nested_more_than_32_levels_are_rejected(kind: str) -> None:
    def nested(depth: int) -> str:
        text = "1"
        for level in range(depth):
            is_list = kind == "list" or (kind == "both" and level % 2)
            text = f"[{text}]" if is_list else f"{{'a': {text}}}"
        return text

    with Engine.open(":memory:") as engine:
        create(engine)
        answers: list[Any] = []
        for depth in (1, *range(CONTAINER_DEPTH_MAX - 1, CONTAINER_DEPTH_MAX + 3)):
            statement = f"INSERT INTO orders VALUE {{'pk': 'a', 'sk': '{depth}', 'x': {nested(depth)}}}"
            answers.append(
                answer(engine, "ExecuteStatement", {"Statement": statement}).get("message", "").partition(" under ")[:2]
            )
        assert answers == [("", ""), ("", ""), ("", ""), DEEP, DEEP]
