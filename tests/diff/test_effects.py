# mypy: disable-error-code="empty-body"
"""What a change of keys, fields and indexes does to what is stored, and what to do about it: the report's own words,
for the changes that ``test_changes.py``'s shop has no place for.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict

from keyplan import Design, Entity, Index, Key, Table, Unique, Version
from keyplan.diff.report import difference
from tests.agreed import assert_agreed

GSI = Index("GSI", "gsipk", "gsisk")


class Level(Enum):
    LOW = "low"
    HIGH = "high"


class Taller(Enum):
    MIDDLE = "middle"
    LOW = "low"
    HIGH = "high"


class Open(BaseModel):
    x: int = 0
    y: int = 0


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    x: int = 0


def design(fields: dict[str, Any], index: Index = GSI, *, primary: Any = ("NOTE#{a}", "HEAD"), **keys: Any) -> Any:
    """A design of one entity with these fields and index keys."""
    body: dict[str, Any] = {"__module__": __name__, "primary": Key(*primary)}
    body |= {"model_config": ConfigDict(arbitrary_types_allowed=True)}
    for name, value in fields.items():
        kind, *default = value if isinstance(value, tuple) else (value,)
        body.setdefault("__annotations__", {})[name] = kind
        body.update((name, each) for each in default)
    for name, value in keys.items():
        body[name] = Key(*value[:2], index=index, **value[2]) if isinstance(value, tuple) else value
    note = type("Note", (Entity,), body)
    indexes = [index] if keys or index is not GSI else []
    return type("Notes", (Design,), {"table": Table("notes", indexes=indexes, entities=[note]), "__module__": __name__})


A, TWO = {"a": str}, {"a": str, "b": str}
PAIRS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "ranks": lambda: (
        design({**A, "b": Level}, by=("ALL", "{b:rank}#{a}", {})),
        design({**A, "b": Taller}, by=("ALL", "{b:rank}#{a}", {})),
    ),
    "a condition": lambda: (
        design(TWO, by=("ALL", "{b}", {"when": {"b": "x"}})),
        design(TWO, by=("ALL", "{b}", {"when": {"b": ("x", "y")}})),
    ),
    "another key": lambda: (design(TWO, by=("ALL", "{b}", {})), design(TWO, by=("ALL", "{a}#{b}", {}))),
    "a key of key fields": lambda: (design(TWO), design(TWO, by=("ALL", "{a}", {}))),
    "a key of a field": lambda: (design(TWO), design(TWO, by=("ALL", "{b}", {}))),
    "a key, versions": lambda: (
        design({**TWO, "v": (Version, 0)}), design({**TWO, "v": (Version, 0)}, by=("ALL", "{b}", {})),
    ),
    "a key, versions and claims": lambda: (
        design({**TWO, "v": (Version, 0)}, claim=Unique("B#{b}")),
        design({**TWO, "v": (Version, 0)}, claim=Unique("B#{b}"), by=("ALL", "{b}", {})),
    ),
    "a key that stands already": lambda: (
        design(TWO, by=("ALL", "{b}", {})), design(TWO, by=("ALL", "{b}", {}), again=("ALL", "{b}", {})),
    ),
    "shards": lambda: (design(TWO, by=("ALL", "{b}", {})), design(TWO, by=("ALL", "{b}", {"shards": 3}))),
    "a field that a key holds": lambda: (
        design(A, primary=("NOTE#{a}", "{a}")), design(TWO, primary=("NOTE#{a}", "{b}")),
    ),
    "a field with a fixed default": lambda: (design(A), design({**A, "b": (str, "x")})),
    "a field without a default": lambda: (design(A), design(TWO)),
    "an optional field": lambda: (design(A), design({**A, "b": str | None})),
    "a set": lambda: (design(A), design({**A, "b": set[str]})),
    "a field less": lambda: (design(TWO), design(A)),
    "a model that is closed": lambda: (design({**A, "b": Open}), design({**A, "b": Closed})),
    "a model that is opened": lambda: (design({**A, "b": Closed}), design({**A, "b": Open})),
    "a literal less": lambda: (design({**A, "b": Literal["x", "y"]}), design({**A, "b": Literal["x"]})),
    "all, the keys only": lambda: (design(A), design(A, Index("GSI", "gsipk", "gsisk", projection="KEYS_ONLY"))),
    "a local index": lambda: (
        design(TWO, Index("IDX", "pk", "b2"), primary=("NOTE#{a}", "HEAD"), by=("NOTE#{a}", "{b}", {})),
        design(TWO, Index("IDX", "pk", "b2", local=True), by=("NOTE#{a}", "{b}", {})),
    ),
    "from all to the keys": lambda: (
        design(A, Index("IDX", "p", "s")), design(A, Index("IDX", "p", "s", projection="KEYS_ONLY")),
    ),
    "from the keys to some": lambda: (
        design(TWO, Index("IDX", "p", "s", projection="KEYS_ONLY")),
        design(TWO, Index("IDX", "p", "s", projection=["b"])),
    ),
    "another index": lambda: (design(TWO, Index("IDX", "p", "s")), design(TWO, Index("IDX", "p", "t"))),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_effects_of_changes(name: str) -> None:
    before, after = PAIRS[name]()
    changes = difference(before.compiled, after.compiled).changes
    assert_agreed("\n\n".join("\n".join(f"{part}" for part in _parts(change)) for change in changes))


def _parts(change: Any) -> list[str]:
    head = f"{change.severity.value} {change.code} {change.place}"
    return [head, *(f"  {name}: {value}" for name in ("what", "effect", "action") if (value := getattr(change, name)))]
