"""Fields that are stored only in a key attribute of the same name are read from the key, in any key format."""

from __future__ import annotations

import enum
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

import pytest

from keyplan import Binary, Entity, Index, Key, Number
from keyplan.model.stored.pydantic_values import Form
from tests.design.items import compiled, slowly

NOON = datetime(2026, 11, 21, 12, 30, 1, 250_000, tzinfo=UTC)
HELD = {"S": Index("HELD", "v", "w"), "N": Index("HELD", Number("v"), "w"), "B": Index("HELD", Binary("v"), "w")}


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Grade(enum.IntEnum):
    ONE = 1
    TWO = 2


@pytest.mark.parametrize(
    ("kind", "template", "attribute", "value", "stored", "form"),
    [
        (str, "{v}", "S", "a#b", "a#b", Form.OURS),
        (int, "{v}", "N", 7, "7", Form.OURS),
        (int, "{v:05d}", "S", 7, "00007", Form.KEYED),
        (int, "{v:05d:desc}", "S", 7, "99992", Form.KEYED),
        (Decimal, "{v}", "N", Decimal("2.5"), "2.5", Form.OURS),
        (bytes, "{v}", "B", b"a", "YQ==", Form.OURS),
        (bool, "{v}", "S", True, "true", Form.KEYED),
        (UUID, "{v}", "S", UUID(int=7), str(UUID(int=7)), Form.OURS),
        (date, "{v}", "S", NOON.date(), "2026-11-21", Form.OURS),
        (date, "{v:%Y-%m-%d}", "S", NOON.date(), "2026-11-21", Form.OURS),
        (date, "{v:%Y%m%d}", "S", NOON.date(), "20261121", Form.KEYED),
        (date, "{v:%Y/%m/%d}", "S", NOON.date(), "2026/11/21", Form.KEYED),
        (date, "{v:desc}", "S", NOON.date(), "7973-88-78", Form.KEYED),
        (datetime, "{v}", "S", NOON, "2026-11-21T12:30:01.250000Z", Form.OURS),
        (datetime, "{v:%Y-%m-%dT%H:%M:%S.%fZ}", "S", NOON, "2026-11-21T12:30:01.250000Z", Form.OURS),
        (datetime, "{v:%Y%m%d%H%M%S%f}", "S", NOON, "20261121123001250000", Form.KEYED),
        (datetime, "{v:desc}", "S", NOON, "7973-88-78T87:69:98.749999Z", Form.KEYED),
        (time, "{v}", "S", time(12, 30), "12:30:00.000000", Form.KEYED),
        (timedelta, "{v}", "N", timedelta(seconds=90), "90", Form.KEYED),
        (Level, "{v}", "S", Level.HIGH, "high", Form.OURS),
        (Level, "{v:rank}", "S", Level.HIGH, "1", Form.KEYED),
        (Grade, "{v}", "N", Grade.TWO, "2", Form.OURS),
        (Grade, "{v:rank}", "S", Grade.TWO, "1", Form.KEYED),
        (Literal["low", "high"], "{v}", "S", "high", "high", Form.OURS),
        (Literal["low", "high"], "{v:rank}", "S", "high", "1", Form.KEYED),
        (Literal["low", "high"], "{v:rank:desc}", "S", "high", "8", Form.KEYED),
        (Literal[3, 7], "{v:rank}", "S", 7, "1", Form.KEYED),
        (Literal[3, 7], "{v:02d}", "S", 7, "07", Form.KEYED),
    ],
)
def test_fields_stored_in_key_attributes_are_read(
    kind: Any, template: str, attribute: str, value: Any, stored: str, form: Form
) -> None:
    annotations = {"held_id": str, "v": kind}
    parts = {"primary": Key("HELD#{held_id}", "HEAD"), "by": Key(template, "{held_id}", index=HELD[attribute])}
    cls: Any = type("Held", (Entity,), {"__annotations__": annotations, "__module__": __name__, **parts})
    entity = compiled(cls, HELD[attribute])
    instance = cls(held_id="a", v=value)
    item = entity.to_item(instance)
    assert item["v"] == {attribute: stored}
    assert entity.fields["v"].form is form
    assert entity.encode_fields({"v": value}) == {"v": {attribute: stored}}
    assert [entity.from_item(item), slowly(entity, item)] == [instance, instance]
