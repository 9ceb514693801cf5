"""The load of a pattern, from its decorator or a traffic file: calls per second, items, bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, TypeAlias

from pydantic import ConfigDict, Field, PlainValidator, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from keyplan.dynamodb.limits import ITEM_BYTES_MAX
from keyplan.errors import ErrorDetail
from keyplan.model.declared.declaration_errors import Problem, lowered

PER_SECOND_MAX = 200_000_000
"""More than Amazon.com's peak on DynamoDB (151 million requests per second on Prime Day 2025): a typo."""
COUNT_MAX = 10**15

Rate: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=PER_SECOND_MAX)]
Count: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=COUNT_MAX)]
ItemBytes: TypeAlias = Annotated[int, Field(strict=True, ge=1, le=ITEM_BYTES_MAX)]
ValueBytes: TypeAlias = Annotated[int, Field(strict=True, ge=0, le=ITEM_BYTES_MAX)]
Days: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=36_525)]
Part: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1)]
"""A share from 0 to 1."""
Share: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=1)]


def _shares(given: Any) -> Any:
    kind: Any = dict[str, Share] if isinstance(given, Mapping) else Share
    try:
        return TypeAdapter(kind).validate_python(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        message = f"of {where}, {lowered(first['msg'])}" if where else first["msg"]
        raise PydanticCustomError("share", "{message}", {"message": message}) from None


Shares: TypeAlias = Annotated[float | dict[str, float], PlainValidator(_shares)]
Readers: TypeAlias = Annotated[int, Field(strict=True, ge=0, le=100)]
Flag: TypeAlias = Annotated[bool, Field(strict=True)]

FORBID_OTHERS = ConfigDict(extra="forbid")
"""Unknown members are errors."""


@dataclass(frozen=True, kw_only=True)
class Load:
    """The load of one pattern. A missing member is None.

    ``per_second``: average calls per second. ``peak_per_second``: calls in the busiest second. ``items``: the number of
    items that the key condition matches, before limit and filter (a read), or that one call writes (a write).
    ``item_bytes``: the size of one item in bytes, including attribute names. ``kept``: the share of items that a filter
    keeps. ``hottest``: the share of calls to the busiest partition key; if a pattern uses several keys, one share per
    key (``Post.by_status``). ``arguments``: the arguments of a typical call, as JSON values by parameter, for a write
    whose actions depend on its arguments. ``fails``: the share of a write's calls with a false condition.
    ``in_transaction``: whether ``transact`` executes the write in one transaction with other writes.
    """

    __pydantic_config__ = FORBID_OTHERS

    per_second: Rate | None = None
    peak_per_second: Rate | None = None
    items: Count | None = None
    item_bytes: ItemBytes | None = None
    kept: Share | None = None
    hottest: Shares | None = None
    arguments: dict[str, Any] | None = None
    fails: Part | None = None
    in_transaction: Flag | None = None

    @property
    def peak(self) -> float | None:
        """Calls in the busiest second: the peak if known, else the average."""
        return self.per_second if self.peak_per_second is None else self.peak_per_second

    def over(self, other: Load) -> Load:
        """The load, with missing members taken from the other load."""
        return replace(other, **self.given)

    @property
    def given(self) -> dict[str, Any]:
        """The given members by name."""
        members = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in members.items() if value is not None}


def checked_load(load: Load) -> Load:
    """The validated load of a decorator. Raises Problem for a negative or implausible rate."""
    if not load.given:
        return load
    try:
        return TypeAdapter(Load).validate_python(load.given)
    except ValidationError as error:
        raise Problem("; ".join(str(fault_of(element)) for element in error.errors(include_url=False))) from None


def fault_of(detail: ErrorDetails) -> ErrorDetail:
    """The error detail for an error of pydantic in a load."""
    given = repr(detail.get("input"))
    shown = given if len(given) <= 60 else f"{given[:57]}..."
    message = "the value must be a mapping of names to values" if detail["type"] in _NO_MAPPING else detail["msg"]
    place = ".".join(str(step) for step in detail["loc"])
    return ErrorDetail(place, f"{lowered(message)}; given: {shown}")


_NO_MAPPING = {"dataclass_type", "dict_type"}
