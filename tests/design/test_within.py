"""Changes within a field in a plain account: what each makes of each value, and which types stand along a path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, Optional

import pytest
from pydantic import BaseModel, Field, RootModel
from typing_extensions import TypeAliasType

from keyplan import Add, Append, Once, Remove
from keyplan.design.declared.actions import Within
from keyplan.design.stored.within import in_map, needs_value, type_at, within
from keyplan.errors import ArgumentError, UpdateRefused
from tests.agreed import assert_agreed

Counts = TypeAliasType("Counts", Annotated[dict[str, int] | None, Field(max_length=3)])


class Street(BaseModel):
    name: str = "Main"
    numbers: list[int] = Field(default_factory=lambda: [1])
    note: str | None = None
    code: Annotated[int, Field(ge=3)] = Field(le=9, default=5)


class Town(BaseModel):
    title: str
    streets: list[Street] = []
    mayor: str | None
    counts: dict[str, int] = {}


class Pair(NamedTuple):
    left: int
    right: str


class Names(RootModel[list[Annotated[str, Field(max_length=3)]]]):
    """A list by another name."""


TOWN = Town(title="Bern", streets=[Street(numbers=[4, 5])], mayor=None, counts={"a": 1})
CHANGES: list[tuple[Any, tuple[str | int, ...]]] = [
    (TOWN, ("title",)), (TOWN, ("mayor",)), (TOWN, ("streets",)), (TOWN, ("streets", 0)), (TOWN, ("streets", 1)),
    (TOWN, ("streets", 0, "numbers", 1)), (TOWN, ("streets", 0, "numbers", 2)), (TOWN, ("streets", 0, "note")),
    (TOWN, ("streets", 0, "code")), (TOWN, ("streets", 0, "name")), (TOWN, ("streets", 0, "numbers")),
    (TOWN, ("counts", "a")), (TOWN, ("counts", "b")), (TOWN, ("counts", "b", "c")),
    ({"a": {"b": 1, "c": 2}, "d": 3}, ("a", "b")), ({"a": {"b": 1}}, ("a",)), ({"a": {"b": 1}}, ("x", "b")),
    ({"a": None}, ("a",)), ([1, 2, 3], (1,)), ([1, 2, 3], (3,)), ([[1], [2]], (1, 0)), ((1, 2), (0,)), (None, ("a",)),
    ("text", (0,)), ([1], ("a",)), ({}, ("a",)),
]  # fmt: skip
BY: list[Any] = [Add(2), Append([7]), Append(["x"]), Once(9), Remove(), "new", None]


def _changed(value: Any, steps: tuple[str | int, ...], change: Any) -> str:
    try:
        return repr(within(value, Within(((steps, change),)), "place"))
    except ArgumentError as error:
        return f"{type(error).__name__}: {error}"
    except (TypeError, KeyError) as error:
        return type(error).__name__


def test_what_changes_make_of_values() -> None:
    before = repr([value for value, _ in CHANGES])
    lines: list[str] = []
    for value, steps in CHANGES:
        lines.append(f"{value!r} at {steps}")
        lines += [f"    {change!r}: {_changed(value, steps, change)}" for change in BY]
    assert_agreed("\n".join(lines))
    assert repr([value for value, _ in CHANGES]) == before, "a value was changed in its place"


def test_one_change_after_the_other() -> None:
    both = Within(((("a",), Add(1)), (("a",), Add(10)), (("b", "c"), "x")))
    assert within({"a": 1, "b": {"c": 0, "d": 1}}, both, "") == {"a": 12, "b": {"c": "x", "d": 1}}


TYPES: list[Any] = [
    int, str, Any, None, dict, list, tuple, dict[str, int], Mapping[str, list[int]], list[str], list[int] | None,
    Optional[dict[str, str | None]], Counts, Annotated[list[Annotated[int, Field(ge=1)]], Field(max_length=2)],  # noqa: UP045 - aliases have no |
    Annotated[dict[str, float] | None, "mark"], set[int], frozenset[str], tuple[int, str], tuple[int, ...],
    tuple[int, str] | None, Pair, Street, Town, Town | None, Names, Names | None, RootModel[dict[str, int]], object,
    list[int] | dict[str, int],
]  # fmt: skip
STEPS: list[str | int] = [0, 1, 2, "name", "numbers", "note", "code", "title", "mayor", "other"]


def _text(value: Any) -> str:
    shown = value.__name__ if isinstance(value, type) and not hasattr(value, "__args__") else repr(value)
    return shown.replace("typing.", "").replace(f"{__name__}.", "")


def _is_needed(annotation: Any, step: str | int) -> str:
    try:
        return "needed" if needs_value(annotation, step) else ""
    except UpdateRefused as error:
        return f"refused: {error}"


@pytest.mark.parametrize("annotation", TYPES, ids=range(len(TYPES)))
def test_what_stands_along_a_path(annotation: Any) -> None:
    lines = [f"{_text(annotation)}{' is a map' * in_map(annotation)}"]
    lines += [f"    {step}: {_text(type_at(annotation, step))} {_is_needed(annotation, step)}" for step in STEPS]
    assert_agreed("\n".join(lines))
