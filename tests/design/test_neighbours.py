"""Which keys can be the same text, pair by pair; and whose items a query reads besides those that are asked for."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan import Entity, Index, Key
from keyplan.model.compiled.collisions import same_partition
from tests.design.items import compiled

ONE, TWO = Index("ONE", "opk"), Index("TWO", "tpk", "tsk")


def entity(name: str, *sources: str, **more: Any) -> Any:
    namespace = {"__annotations__": {"p": str, "n": int, "t": str}, "__module__": __name__, "primary": Key(*sources)}
    return type(name, (Entity,), {**namespace, **more})


@pytest.mark.parametrize("source", ["P#{p}", "P#{t}", "{p}"])
def test_items_of_one_partition(source: str) -> None:
    """In one place only: an index's partition isn't the table's."""
    first = compiled(entity("First", "P#{p}", "A#{n:03d}", by=Key("P#{p}", "A", index=TWO)), TWO)
    second = compiled(entity("Second", "Q#{p}", "B", by=Key(source, "Z#{n:03d}", index=TWO)), TWO)
    (own,), (other,) = first.index_keys, second.index_keys
    assert same_partition(own, other)
    assert not same_partition(first.primary, other)
    assert not same_partition(first.primary, second.primary)
