"""Values that are read for an attribute that an item lacks, before and after a change of the design."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from keyplan import Design, Entity, Field, Key, Table, now
from keyplan.analysis.diff.diff_report import difference


def _design(**fields: Any) -> type[Design]:
    annotations = {"name": str, **{name: annotation for name, (annotation, _) in fields.items()}}
    defaults = {name: default for name, (_, default) in fields.items() if default is not ...}
    body = {"__annotations__": annotations, "__module__": __name__, "primary": Key("ITEM#{name}", "HEAD"), **defaults}
    item: Any = type("Item", (Entity,), body)
    return type("Items", (Design,), {"table": Table("items", entities=[item])})


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({}, {"n": (int, 5)}, ("safe", "field-added")),
        ({}, {"made_at": (datetime, Field(default_factory=now))}, ("migration", "field-added")),
        ({"n": (int, 5)}, {"n": (int, Field(default_factory=lambda: 5))}, ("migration", "default-changed")),
        ({"tags": (set[str], set())}, {"tags": (set[str], {"a"})}, ("migration", "default-changed")),
        ({"tags": (set[str], ...)}, {"tags": (set[str], {"a"})}, ("migration", "default-changed")),
        ({"n": (int | None, ...)}, {"n": (int | None, 5)}, ("migration", "default-changed")),
        ({"n": (int, 5)}, {"n": (int, 6)}, ("safe", "default-changed")),
        ({"words": (list[str], [])}, {"words": (list[str], ["a"])}, ("safe", "default-changed")),
        ({"tags": (set[str], Field(default_factory=set))}, {"tags": (set[str], set())}, None),
        ({"n": (int, ...)}, {"n": (int, 5)}, None),
    ],
    ids=str,
)  # fmt: skip
def test_changed_defaults_of_missing_attributes_are_reported(
    before: Any, after: Any, told: tuple[str, str] | None
) -> None:
    changes = difference(_design(**before).compiled, _design(**after).compiled).changes
    assert [(change.severity.value, change.code) for change in changes] == ([] if told is None else [told])
