"""What requests ask, in tables of cases: older parameters, positions and projections of pages, keys in statements, new
definitions of tables.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from keyplan.engine import joining

# --- pages --------------------------------------------------------------------------------------------------


# --- keys ---------------------------------------------------------------------------------------------------


# --- definitions --------------------------------------------------------------------------------------------


def test_what_is_news_to_a_replica() -> None:
    old, same, new = ((moment, "eu-west-1") for moment in (1, 2, 3))
    table: Any = SimpleNamespace(stored=SimpleNamespace(layout=SimpleNamespace(id=1)))
    for known, version, is_there, expected in (
        (None, None, False, True),
        (None, None, True, False),
        (None, new, False, True),
        (same, None, False, False),
        (same, old, False, False),
        (same, same, False, True),
        (same, new, False, True),
        (same, new, True, False),
    ):
        replicas = SimpleNamespace(version=lambda *_, known=known: known)
        writer: Any = SimpleNamespace(replicas=replicas, find=lambda *_, is_there=is_there: (1,) if is_there else None)
        assert joining._is_news(writer, table, ("a", "b"), version) is expected
