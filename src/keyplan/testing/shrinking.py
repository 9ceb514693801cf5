"""Making a failing store smaller: steps are left out, and parts of steps, as long as it still fails.

hypothesis makes the stores; what it doesn't know is which step has nothing to do with a failure, and a store is
costly to try. Leaving out whole steps first needs few tries.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from keyplan.testing.steps import Change, Copy, Family, Step, Write

__all__ = ["smallest"]

SECONDS_MAX = 20.0
"""How long a failure is made smaller before it is reported."""
NUMBERS = 3
"""A smaller store is asked so many sets of questions before it passes for one that doesn't fail."""

Fails = Callable[[list[Step], int], AssertionError | None]


def smallest(steps: list[Step], number: int, fails: Fails) -> AssertionError | None:
    """The failure of as few of the steps as will do; None when it doesn't come again.

    ``number`` chooses the questions.
    """
    failure = fails(steps, number)
    if failure is None:
        return None
    deadline = time.monotonic() + SECONDS_MAX
    size = max(len(steps) // 2, 1)
    while time.monotonic() < deadline:
        for candidate in _without(steps, size) if size else _simpler(steps):
            result = _failure(candidate, number, fails)
            if result is not None:
                steps, (number, failure) = candidate, result
                break
            if time.monotonic() >= deadline:
                break
        else:
            if not size:
                break
            size //= 2
    return failure


def _failure(steps: list[Step], number: int, fails: Fails) -> tuple[int, AssertionError] | None:
    for other in range(number, number + NUMBERS):
        failure = fails(steps, other)
        if failure is not None:
            return other, failure
    return None


def _without(steps: list[Step], size: int) -> Iterator[list[Step]]:
    """The steps without a run of ``size`` of them; the last ones are left out first."""
    for start in range(len(steps) - size, -1, -size):
        yield [*steps[:start], *steps[start + size :]]


def _simpler(steps: list[Step]) -> Iterator[list[Step]]:
    for position, step in enumerate(steps):
        for simpler in _parts(step):
            yield [*steps[:position], simpler, *steps[position + 1 :]]


def _parts(step: Step) -> Iterator[Step]:
    """A step's simpler forms."""
    match step:
        case Family():
            yield Write(step.instance, create=bool(step.entity.claims))
            for position in range(len(step.changes)):
                yield replace(step, changes=[element for at, element in enumerate(step.changes) if at != position])
        case Copy() | Change() if len(step.changes) > 1:
            for named in step.changes:
                yield replace(step, changes={name: value for name, value in step.changes.items() if name != named})
        case _:
            return
