"""A plugin of pytest that runs chosen tests in a given order, and leaves out the others of their files:
``-p tests.mutants.running``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

__all__ = ["CHOSEN"]

CHOSEN = "KEYPLAN_CHOSEN"
"""The environment variable that names a file of the tests, one a line."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    place = {test: number for number, test in enumerate(Path(os.environ[CHOSEN]).read_text("utf-8").split("\n"))}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in place])
    items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])
