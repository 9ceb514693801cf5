"""Changes generated designs until they compile: ambiguous reads are resolved as the compiler's errors suggest.

The generator may create a read that two keys support in different orders, a read with an order that can't vary, or a
read of entities without a common order. The compiler must reject these reads with a specific error; any other rejection
is a failure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from keyplan.errors import DesignError, ErrorDetail
from tests.designs.designs import DesignSpec, ReadSpec, design_of
from tests.designs.source import module_of, source_of

ROUNDS = 12


@dataclass(frozen=True)
class Settled:
    """A compiled design and the data from which the expected results are computed."""

    spec: DesignSpec
    cls: type[Any]

    @property
    def module(self) -> Any:
        return __import__("sys").modules[self.cls.__module__]


@cache
def settled(number: int) -> Settled:
    """Return the compiled random design with this number. Raise AssertionError for an unexpected rejection."""
    spec = design_of(number)
    for _ in range(ROUNDS):
        try:
            module = module_of(spec)
        except DesignError as error:
            spec = _answered(spec, error)
        else:
            return Settled(spec, vars(module)[f"D{number}"])
    raise AssertionError(f"design {number} is still refused:\n{source_of(spec)}")


def _answered(spec: DesignSpec, error: DesignError) -> DesignSpec:
    """Return the design after applying the hints in the compiler's error."""
    reads = {read_spec.name: read_spec for read_spec in spec.reads}
    for fault in error.errors or (ErrorDetail(error.place or "", error.message),):
        name = fault.place.rpartition(".")[2]
        read = reads.get(name)
        if read is not None and "several keys match" in fault.message and not read.order_by:
            ordered = _ordered(read)
            reads.pop(name)
            if ordered is not None:
                reads[name] = ordered
        elif read is not None and "newest_first requires an ordered result" in fault.message:
            reads[name] = replace(read, directed=False, newest_first=False)
        elif read is not None and "requires an ordered result" in fault.message:
            reads[name] = replace(read, newest_first=False)
        elif read is not None and any(text in fault.message for text in _DESERVED):
            reads.pop(name)
        else:
            raise AssertionError(f"design {spec.number} is refused: {fault}\n{source_of(spec)}") from error
    writes = tuple(write_spec for write_spec in spec.writes if not write_spec.get or write_spec.get in reads)
    return replace(spec, reads=tuple(reads.values()), writes=writes)


_DESERVED = ("so the result has no common order", "several keys match")


def _ordered(read: ReadSpec) -> ReadSpec | None:
    """Return the read with an explicit order, or None if the read fixes all fields of the key."""
    if read.key is None:
        return None
    if read.directed or len(read.name) % 2:
        return None if read.named else replace(read, named=True)
    for variable in read.key.sort_variables:
        if variable.name not in {*read.fixed, read.each, read.each_too}:
            return replace(read, order_by="-" * read.newest_first + variable.name, newest_first=False)
    return None
