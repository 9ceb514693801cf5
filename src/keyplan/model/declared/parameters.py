"""Types in a pattern's signature: Page and Cursor, Range, Prefix, Each, Through.

A parameter's type determines the condition on its field: ``T`` tests for equality, ``Range[T]`` and ``Prefix`` limit a
sort key, and ``Each[T]`` matches any of several values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, NewType

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypeVar

from keyplan.errors import ArgumentError
from keyplan.model.declared.entity import Entity

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Cursor = NewType("Cursor", str)
"""The end of a page: an opaque string, valid for one pattern with the same arguments."""


class PrefixMark:
    """Marks a parameter that is a prefix of a string field."""


PREFIX = PrefixMark()
Prefix = Annotated[str, PREFIX]
"""A prefix of a string field in a sort key, compiled to ``begins_with``."""


class EachMark:
    """Marks a parameter that contains several values of its field."""


EACH = EachMark()
Each = Annotated[Sequence[T], EACH]
"""Several values of a field: keys are read in batches, partitions in parallel, merged in order."""


# No ``slots=True``: typing sets an attribute on the instance, so ``Page[Article](...)`` would fail in Python 3.11.
@dataclass(frozen=True)
class Page(Generic[T_co]):
    """One page of items in order. ``cursor`` marks the start of the next page; None: this is the last page."""

    items: list[T_co]
    cursor: Cursor | None = None

    def __iter__(self) -> Iterator[T_co]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __bool__(self) -> bool:
        return bool(self.items)


@dataclass(frozen=True, kw_only=True)
class Range(Generic[T]):
    """Values between two optional bounds: ``Range(ge=monday, lt=tuesday)``.

    ``ge``: at least; ``gt``: greater than; ``le``: at most; ``lt``: less than. Raises ArgumentError for two lower or
    two upper bounds, or no bound. A lower bound above the upper one is an empty range, not an error.
    """

    ge: T | None = None
    gt: T | None = None
    le: T | None = None
    lt: T | None = None

    def __post_init__(self) -> None:
        if self.ge is not None and self.gt is not None:
            raise ArgumentError("a range doesn't support both ge and gt", place="Range")
        if self.le is not None and self.lt is not None:
            raise ArgumentError("a range doesn't support both le and lt", place="Range")
        if self.lower is None and self.upper is None:
            raise ArgumentError("a range requires at least one bound", place="Range", hint="pass ge, gt, le or lt")

    @property
    def lower(self) -> T | None:
        """The lower bound, inclusive or exclusive."""
        return self.ge if self.ge is not None else self.gt

    @property
    def upper(self) -> T | None:
        """The upper bound, inclusive or exclusive."""
        return self.le if self.le is not None else self.lt

    def holds(self, value: Any) -> bool:
        """Whether the value is in the range."""
        return (
            (self.ge is None or value >= self.ge)
            and (self.gt is None or value > self.gt)
            and (self.le is None or value <= self.le)
            and (self.lt is None or value < self.lt)
        )

    def ranked(self, rank: Callable[[Any], int]) -> Range[int]:
        """The range of the values' ranks, for values without a natural order."""
        bounds = {"ge": self.ge, "gt": self.gt, "le": self.le, "lt": self.lt}
        return Range(**{name: rank(bound) for name, bound in bounds.items() if bound is not None})


@dataclass(frozen=True, init=False)
class Through:
    """A junction entity between the parameters and the result, with the junction's field for each field of the result:
    ``Through(Follow, user_id="followed_id")``.

    Fields with equal names need no mapping.
    """

    entity: type[Entity]
    fields: Mapping[str, str]

    def __init__(self, entity: type[Entity], /, **fields: str) -> None:
        object.__setattr__(self, "entity", entity)
        object.__setattr__(self, "fields", fields)


class InvalidItem(BaseModel):
    """An item whose key belongs to the entity but whose attributes are invalid: ``Page[Ticket | InvalidItem]`` returns
    such an item in its place, while ``Page[Ticket]`` raises InvalidItemError.

    ``entity`` is the entity's name, ``key`` is the stored primary key, ``message`` is the error of the item, and
    ``errors`` has the error of each attribute.
    """

    model_config = ConfigDict(frozen=True)

    entity: str
    key: dict[str, str]
    message: str
    errors: tuple[str, ...] = ()
