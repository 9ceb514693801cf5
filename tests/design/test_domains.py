"""Which types have few values, so that a question or a key is known to mean them all."""

from __future__ import annotations

import enum
from typing import Annotated, Any, Literal, NewType

import pytest
from typing_extensions import TypeAliasType

from keyplan.model.compiled.constants import domain_of


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Right(enum.Flag):
    READ = 1
    WRITE = 2


State = Literal["open", "done"]


@pytest.mark.parametrize(
    ("annotation", "domain"),
    [
        (None, (None,)),
        (type(None), (None,)),
        (bool, (False, True)),
        (State, ("open", "done")),
        (State | None, ("open", "done", None)),
        (bool | Literal["maybe"], (False, True, "maybe")),
        (Annotated[bool, "a note"], (False, True)),
        (Colour | None, (Colour.RED, Colour.BLUE, None)),
        (Colour, (Colour.RED, Colour.BLUE)),
        (NewType("Paint", Colour), (Colour.RED, Colour.BLUE)),
        (TypeAliasType("Answer", bool), (False, True)),
        (str, None),
        (str | None, None),
        (Annotated[int, "a note"], None),
        (Right, None),
        (list[bool], None),
    ],
)
def test_types_of_few_values(annotation: Any, domain: tuple[Any, ...] | None) -> None:
    assert domain_of(annotation) == domain
