"""What the tests of the engine share."""

from __future__ import annotations

from typing import Any

from keyplan.engine import Engine
from keyplan.errors import DynamoDBError
from tests.engine.local import normal


def answer(engine: Engine, operation: str, params: dict[str, Any]) -> dict[str, Any]:
    """The engine's answer in the comparable form: an error is ``{"error": type, "message": ...}``."""
    try:
        return normal(engine.call(operation, params))
    except DynamoDBError as error:
        return normal({"error": error.type, "message": error.message, **error.fields})
