"""DynamoDB's operations, one per module (``get_item`` implements ``GetItem``)."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from keyplan.store.database import Database

__all__ = ["Action", "action_of"]

Action = Callable[[Database, dict[str, Any]], dict[str, Any]]


def action_of(operation: str) -> Action:
    """The function of an operation. The operation's module is imported on the first call."""
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", operation).lower()
    return cast("Action", getattr(import_module(f"{__name__}.{name}"), name))
