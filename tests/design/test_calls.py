# mypy: disable-error-code="empty-body"
"""What fields and parameters take is known by their types; calls that don't fit are refused, every fault at once."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, NewType

import pytest
from annotated_types import Interval
from pydantic import AfterValidator, AwareDatetime, BaseModel, Field, PastDate
from typing_extensions import TypeAliasType

from keyplan import (
    Cursor,
    Design,
    Each,
    Entity,
    Id,
    Key,
    Page,
    Prefix,
    Put,
    Range,
    Table,
    Tokens,
    Ttl,
    Version,
    Writes,
    read,
    write,
)
from keyplan.design.declared.fields import (
    bounds_of,
    element_kinds,
    is_optional,
    kind_of,
    marks_of,
    unaliased,
    unbounded,
)
from keyplan.errors import ArgumentError
from tests.agreed import assert_agreed


class Color(enum.Enum):
    RED = "red"


class Place(BaseModel):
    city: str


Handle = NewType("Handle", str)
Few = TypeAliasType("Few", Annotated[int, Field(ge=5, le=9)])
Fewer = TypeAliasType("Fewer", Annotated[Few, Field(lt=8)])
Words = TypeAliasType("Words", list[str])
MaybeWords = TypeAliasType("MaybeWords", Words | None)

TYPES: dict[str, Any] = {
    "str": str,
    "Handle": Handle,
    "Handle | None": Handle | None,
    "Few": Few,
    "Fewer": Fewer,
    "Fewer | None": Fewer | None,
    "Words": Words,
    "MaybeWords": MaybeWords,
    "Annotated[MaybeWords]": Annotated[MaybeWords, "a mark"],
    "Annotated[set[Few], Len]": Annotated[set[Few], Field(min_length=2)],
    "list[Few] | None": list[Few] | None,
    "list[int] | set[str]": list[int] | set[str],
    "tuple[str, ...]": tuple[str, ...],
    "tuple[int, Handle]": tuple[int, Handle],
    "frozenset[Color]": frozenset[Color],
    "Sequence[str]": Sequence[str],
    "dict[str, int]": dict[str, int],
    "list": list,
    "int | str": int | str,
    "int | bool | None": int | bool | None,
    "Few | int": Few | int,
    "Literal[1, 2]": Literal[1, 2],
    "Literal['a', 1]": Literal["a", 1],
    "Literal['a', None]": Literal["a", None],
    "Color": Color,
    "Place": Place,
    "Ttl": Ttl,
    "Ttl | None": Ttl | None,
    "Version": Version,
    "Tokens": Tokens,
    "Id[str]": Id[str],
    "Id[Few]": Id[Few],
    "AwareDatetime": AwareDatetime,
    "PastDate | None": PastDate | None,
    "Annotated[int, gt, lt]": Annotated[int, Field(gt=0, lt=10)],
    "Annotated[Decimal, ge]": Annotated[Decimal, Field(ge=Decimal("0.5"))],
    "Annotated[date, ge]": Annotated[date, Field(ge=date(2026, 1, 1))],
    "Annotated[float, Interval]": Annotated[float, Interval(gt=0.5, le=1)],
    "Any": Any,
    "None": type(None),
}


def _named(annotation: Any) -> str:
    return getattr(annotation, "__name__", None) or repr(annotation)


def test_what_is_known_of_each_type() -> None:
    lines: list[str] = []
    for name, annotation in TYPES.items():
        known = [_named(kind_of(annotation))]
        known += ["optional"] * is_optional(annotation)
        elements = sorted(map(_named, element_kinds(annotation)))
        known += [f"of {' and '.join(elements)}"] if elements else []
        known += [f"{operator} {bound}" for operator, bound in bounds_of(annotation)]
        known += sorted(marks_of(annotation))
        known += ["another name"] * (unaliased(annotation) is not annotation)
        known += [f"without bounds {_named(kind_of(unbounded(annotation)))}"] * (
            unbounded(annotation) is not annotation
        )
        lines.append(f"{name}: {', '.join(known)}")
    assert_agreed("\n".join(lines).replace("typing.", "").replace(f"{__name__}.", ""))


def _counted(value: int) -> int:
    return 10 // value and value


class Note(Entity):
    shelf: str
    at: datetime
    number: int
    color: Color = Color.RED

    primary = Key("SHELF#{shelf}", "{at}#{number:03d}")


class Notes(Design):
    table = Table("notes", entities=[Note])

    @read("R1")
    def on_shelf(self, shelf: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Note]: ...

    @read("R2")
    def some(self, shelf: str, at: Range[datetime], limit: int | None = None) -> list[Note]: ...

    @read("R3")
    def note(self, shelf: str, at: datetime, number: Annotated[int, AfterValidator(_counted)]) -> Note | None: ...

    @read("R4")
    def on_shelves(self, shelf: Each[str]) -> list[Note]: ...

    @read("R5", where="color = :color")
    def of_color(self, shelf: str, color: Color, *, newest_first: bool = True) -> list[Note]: ...


MOMENT = datetime.fromisoformat("2026-03-01T10:00:00+00:00")

CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("on_shelf", ("a",), {}),
    *(("on_shelf", ("a", limit), {}) for limit in (0, 1, 1000, 1001, -1, True, "5", "0", 2.5, None)),
    ("on_shelf", ("a", 5, 7), {}),
    ("on_shelf", ("a", 5), {"cursor": "abc"}),
    ("on_shelf", (), {}),
    ("on_shelf", ("a",), {"shelf": "b"}),
    ("on_shelf", ("a", 1, None, 2), {}),
    ("on_shelf", ("a",), {"limits": 5}),
    ("on_shelf", (), {"shelv": "a", "limit": 0, "cursor": 5}),
    ("on_shelf", (5,), {}),
    ("on_shelf", ("\xe9\ud800",), {}),
    ("some", ("a", Range(gt=MOMENT)), {}),
    ("some", ("a", {"ge": "2026-03-01T10:00:00Z", "lt": "2026-03-02T10:00:00Z"}, 7), {}),
    ("some", ("a", "2026-03-01T10:00:00Z", None), {}),
    ("some", ("a", Range(gt="never"), 0), {}),
    ("some", ("a", {"above": 5}, 1001), {}),
    ("note", ("a", MOMENT, 3), {}),
    ("note", ("a", "2026-03-01T10:00:00Z", "3"), {}),
    ("note", ("a", MOMENT, 0), {}),
    ("note", ("a", "never"), {"number": 11}),
    ("on_shelves", (["a", "b"],), {}),
    ("on_shelves", ([],), {}),
    ("on_shelves", ("ab",), {}),
    ("of_color", ("a", Color.RED), {}),
    ("of_color", ("a", "red"), {"newest_first": False}),
    ("of_color", ("a", "blue"), {"newest_first": 5}),
]


@pytest.mark.parametrize("strict", [True, False])
def test_calls_are_bound_or_refused(strict: bool) -> None:
    lines: list[str] = []
    for name, args, kwargs in CALLS:
        given = [*map(ascii, args), *(f"{key}={value!a}" for key, value in kwargs.items())]
        lines.append(f"{name}({', '.join(given)})")
        try:
            bound = Notes.compiled.reads[name].signature.bind(args, kwargs, strict=strict)
        except ArgumentError as error:
            lines += [f"    {line}" for line in str(error).encode("ascii", "backslashreplace").decode().split("\n")]
        else:
            lines.append("    " + ", ".join(f"{key}={value!a}" for key, value in bound.items()))
    assert_agreed(re.sub(r"datetime\.timezone\.utc|TzInfo\((0|UTC)\)", "UTC", "\n".join(lines)))


class Written(Design):
    table = Table("written", entities=[Note])

    @write("W1")
    def nothing(self, note: Note) -> Writes:
        yield Put(note)

    @write("W2")
    def none(self, note: Note) -> Writes[None]:
        yield Put(note)

    @write("W3")
    def shelf_of(self, note: Note, *, twice: bool = False) -> Writes[str | None]:
        yield Put(note)
        return note.shelf


def test_what_patterns_are_called_as() -> None:
    signatures = [pattern.signature for pattern in Notes.compiled.reads.values()]
    signatures += [pattern.signature for pattern in Written.compiled.writes.values()]
    assert_agreed("\n".join(map(str, signatures)))


@pytest.mark.parametrize("prefix", ["a", "", 5])
def test_a_prefix_is_bound(prefix: Any) -> None:
    class Named(Entity):
        shelf: str
        name: str

        primary = Key("SHELF#{shelf}", "{name}")

    class Names(Design):
        table = Table("names", entities=[Named])

        @read("R1")
        def beginning(self, shelf: str, name: Prefix) -> list[Named]: ...

    signature = Names.compiled.reads["beginning"].signature
    if isinstance(prefix, str):
        assert signature.bind(["a", prefix], {}) == {"shelf": "a", "name": prefix}
    else:
        with pytest.raises(ArgumentError, match="name: input should be a valid string; given: 5"):
            signature.bind(["a", prefix], {})
