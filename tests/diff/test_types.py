"""Every change from one type of a field to another, and of its default: what is reported is as it was agreed upon."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel

from keyplan import Design, Entity, Field, Key, Stored, Table
from keyplan.diff.changes import Change
from keyplan.diff.report import difference
from tests.agreed import assert_agreed


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Spot(BaseModel):
    x: int
    title: str = ""


class Place(BaseModel):
    x: int
    y: int
    title: str = ""


TYPES: dict[str, Any] = {
    "int": int,
    "1 to 9": Annotated[int, Field(ge=1, le=9)],
    "1 to 8": Annotated[int, Field(ge=1, le=8)],
    "above 1, below 9": Annotated[int, Field(gt=1, lt=9)],
    "above 2, below 9": Annotated[int, Field(gt=2, lt=9)],
    "above 1, below 8": Annotated[int, Field(gt=1, lt=8)],
    "int or none": int | None,
    "float": float,
    "decimal": Decimal,
    "bool": bool,
    "str": str,
    "2 to 5 letters": Annotated[str, Field(min_length=2, max_length=5)],
    "3 to 5 letters": Annotated[str, Field(min_length=3, max_length=5)],
    "2 to 4 letters": Annotated[str, Field(min_length=2, max_length=4)],
    "digits": Annotated[str, Field(pattern=r"^\d+$")],
    "red": Literal["red"],
    "red or green": Literal["red", "green"],
    "colour": Colour,
    "str or int": str | int,
    "list": list[int],
    "1 to 3 items": Annotated[list[int], Field(min_length=1, max_length=3)],
    "2 to 3 items": Annotated[list[int], Field(min_length=2, max_length=3)],
    "1 to 2 items": Annotated[list[int], Field(min_length=1, max_length=2)],
    "texts": list[str],
    "set": set[str],
    "dict": dict[str, int],
    "spot": Spot,
    "place": Place,
    "moment": datetime,
    "seconds": Annotated[datetime, Stored("s")],
    "day": date,
    "uuid": UUID,
    "any": Any,
}
DEFAULTS: dict[str, Any] = {"int": 3, "int or none": None, "1 to 9": 3, "str": "", "set": set(), "any": None}


def design(kind: Any, *default: Any) -> type[Design]:
    annotations = {"name": str, "value": kind}
    members = {"__annotations__": annotations, "__module__": __name__, "primary": Key("THING#{name}", "HEAD")}
    given = {"value": Field(default_factory=set) if default == (set(),) else default[0]} if default else {}
    entity: Any = type("Thing", (Entity,), {**members, **given})
    return type("Things", (Design,), {"__module__": __name__, "table": Table("things", entities=[entity])})


DESIGNS = {name: design(kind) for name, kind in TYPES.items()}
DESIGNS |= {f"{name}, by default {value!r}": design(TYPES[name], value) for name, value in DEFAULTS.items()}


@pytest.mark.parametrize("name", DESIGNS)
def test_a_change_of_type_is_reported_as_it_was_agreed_upon(name: str) -> None:
    reports: dict[str, list[str]] = {}
    for other, after in DESIGNS.items():
        changes = difference(DESIGNS[name].compiled, after.compiled).changes
        said = [f"{each.severity.value} {each.code}: {_short(each)}" for each in changes]
        reports.setdefault("\n    ".join(said) or "nothing", []).append(other)
    assert_agreed("\n".join(f"{'; '.join(others)}\n    {report}" for report, others in reports.items()))


def _short(change: Change) -> str:
    """What is reported, without the types' names and without what each narrowing says."""
    what = "" if change.what.startswith("its type was") else change.what
    return f"{what} ({change.effect.rpartition('taken any more: ')[2]})"
