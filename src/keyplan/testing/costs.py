"""``assert_cost`` tests an access pattern's cost, metered on a store or predicted by the cost model."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from keyplan.analysis.cost.estimate import estimate_pattern
from keyplan.errors import RequestError
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.declared.patterns import Bound, Pattern
from keyplan.session.design import Design

_READS = frozenset({"GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems"})


@dataclass(frozen=True, slots=True)
class Metered:
    """A request with its consumed capacity units by index name; the name of the table is the empty string."""

    operation: str
    units: Mapping[str, float]

    @property
    def reads(self) -> bool:
        """Whether the units are read units."""
        return self.operation in _READS

    def __str__(self) -> str:
        units = ", ".join(f"{name or 'table'} {units:g}" for name, units in self.units.items())
        return f"{self.operation}: {units or 'no'} {'read' if self.reads else 'write'} units"


@dataclass
class _Meter:
    inner: Any
    metered: list[Metered] = field(default_factory=list[Metered])

    def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        response: dict[str, Any] = self.inner.call(operation, {**parameters, "ReturnConsumedCapacity": "INDEXES"})
        consumed = response.get("ConsumedCapacity") or []
        self.metered.append(Metered(operation, _units(consumed if isinstance(consumed, list) else [consumed])))
        return response

    def call_all(self, requests: list[Any]) -> list[dict[str, Any]]:
        return [self.call(request.operation, request.parameters) for request in requests]


def _units(consumed: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    result: dict[str, float] = {}
    for element in consumed:
        parts = {
            "": element.get("Table", {}),
            **element.get("LocalSecondaryIndexes", {}),
            **element.get("GlobalSecondaryIndexes", {}),
        }
        for name, capacity in parts.items():
            units = float(capacity.get("CapacityUnits", 0.0))
            if units:
                result[name] = result.get(name, 0.0) + units
    return result


@contextmanager
def metering(design: Design) -> Generator[list[Metered]]:
    """Record the consumed capacity of a design's synchronous requests, in a list that grows with each request."""
    plain = design.store.transport
    meter = _Meter(plain)
    design.store.transport = meter
    try:
        yield meter.metered
    finally:
        design.store.transport = plain


def assert_cost(
    pattern: object, /, *arguments: Any, read_units: float | None = None, write_units: float | None = None, **named: Any
) -> None:
    """Assert the cost of one call of an access pattern, in read units, write units, or both.

    ``assert_cost(cms.article, "1", read_units=0.5)`` calls the pattern of an open design, and uses the consumed
    capacity that the store returns. ``assert_cost(Cms.article, read_units=0.5)`` uses the prediction of the cost model
    for typical items, without a call. An iterator is read to its end. The units of a write include all indexes.

    Raises AssertionError with every request and its units, and RequestError if ``pattern`` isn't an access pattern.
    """
    if read_units is None and write_units is None:
        raise RequestError("no expected cost is given", hint="pass read_units=, write_units=, or both")
    if isinstance(pattern, Bound):
        result = _metered(pattern, arguments, named)
        title, lines = f"{pattern.name}(...)", [str(element) for element in result]
        reads = sum(sum(element.units.values()) for element in result if element.reads)
        writes = sum(sum(element.units.values()) for element in result if not element.reads)
    elif isinstance(pattern, Pattern) and pattern.owner is not None:
        if arguments or named:
            raise RequestError("arguments require an open design", hint="open one: design = Cms.open(':memory:')")
        predicted = estimate_pattern(pattern.owner, pattern.name)
        if predicted.failure is not None:
            raise RequestError(f"the typical cost can't be estimated: {predicted.failure}", place=pattern.name)
        title = f"{pattern.owner.__name__}.{pattern.name}, typically"
        lines = [
            f"{request.operation} on {line.target or 'the table'}: {line.units:g} {line.direction} units: {line.why}"
            for request in predicted.requests
            for line in request.lines
        ]
        reads, writes = predicted.read_units, predicted.write_units
    else:
        raise RequestError(f"{pattern!r} isn't an access pattern", hint="pass cms.article, or Cms.article")
    wrong = [
        f"{units:g} {kind} units, expected {wanted:g}"
        for kind, units, wanted in (("read", reads, read_units), ("write", writes, write_units))
        if wanted is not None and abs(units - wanted) > 1e-9
    ]
    if wrong:
        raise AssertionError("\n  ".join([f"{title} costs {'; '.join(wrong)}", *lines]))


def _metered(pattern: Bound, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> list[Metered]:
    design = pattern.runner
    if not isinstance(design, Design):
        raise RequestError(f"{pattern!r} doesn't belong to an open design")
    compiled = design.compiled.pattern(pattern.name)
    with metering(design) as metered:
        if not isinstance(compiled, ReadPattern):
            design.run_write(pattern.name, arguments, named)
        elif compiled.shape.kind is ShapeKind.ITERATOR:
            list(design.stream(pattern.name, arguments, named))
        else:
            design.run_read(pattern.name, arguments, named)
    return metered
