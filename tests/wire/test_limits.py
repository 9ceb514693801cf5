"""What each member of each request may be: the limits that botocore's model doesn't bring stand nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields

from keyplan.wire.operations import OPERATIONS
from keyplan.wire.shapes import Flag, ListOf, MapOf, Real, Shape, Structure, Text, Value, Whole
from tests.agreed import assert_agreed

INSIDE = {"of", "key", "members", "required"}
"""What is followed, and isn't told by its repr."""


def told(shape: Shape) -> str:
    """What a shape says that isn't so by default."""
    options = [
        f"{option.name}={getattr(shape, option.name)!r}"
        for option in fields(shape)
        if option.name not in INSIDE
        and getattr(shape, option.name) != (None if option.default is MISSING else option.default)
    ]
    return f"{type(shape).__name__}({', '.join(options)})"


def lines(shape: Shape, place: str, seen: dict[int, str]) -> Iterator[str]:
    """A line for each member; a structure that was told before is named by its place there."""
    yield f"  {place or 'request'}: {told(shape)}{f' as {seen[id(shape)]}' if id(shape) in seen else ''}"
    if id(shape) in seen:
        return
    if not isinstance(shape, Text | Whole | Real | Flag | Value):
        seen[id(shape)] = place
    match shape:
        case ListOf():
            yield from lines(shape.of, f"{place}[]", seen)
        case MapOf():
            if shape.key is not None:
                yield from lines(shape.key, f"{place} (keys)", seen)
            yield from lines(shape.of, f"{place}{{}}", seen)
        case Structure():
            for name, member in shape.members.items():
                mark = "!" if name in shape.required else ""
                yield from lines(member, f"{place}.{name}{mark}" if place else f"{name}{mark}", seen)
        case _:
            pass


def test_what_requests_may_hold_is_as_agreed() -> None:
    """``!`` is a member that is required."""
    text: list[str] = []
    seen: dict[int, str] = {}
    for operation in OPERATIONS.values():
        options = (operation.kind, operation.wording, operation.api)
        marks = [name for name in ("table_first", "reads_strictly") if getattr(operation, name)]
        lists = [
            f"{name}: {', '.join(getattr(operation, name))}"
            for name in ("legacy", "expressions", "not_there")
            if getattr(operation, name)
        ]
        text.append("; ".join([f"{operation.name}: {', '.join([*options, *marks])}", *lists]))
        text += lines(operation.request, "", seen)
    assert_agreed("\n".join(text))
