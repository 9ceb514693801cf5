"""Verify plans on a few generated stores before they are shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pydantic_core import SchemaError

from keyplan.errors import is_interrupt
from keyplan.planner import Plan, Verified, applied, compared
from keyplan.testing.verifying import looked_at

__all__ = ["STORES", "Outcome", "verified"]

STORES = 3
"""Stores for each plan: the first reveals most wrong keys."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Outcome:
    """The verified plans, best first; the plans with a wrong result, with its report; and whether Ctrl-C stopped the
    verification, so that some plans aren't verified.
    """

    plans: list[Plan]
    refused: list[tuple[Plan, str]]
    stopped: bool = False


def verified(plans: Sequence[Plan], *, stores: int = STORES, progress: Progress | None = None) -> Outcome:
    """Verify plans, and drop those that return a wrong result."""
    passed: list[Plan] = []
    refused: list[tuple[Plan, str]] = []
    try:
        for number, plan in enumerate(plans):

            def report(done: int, whole: int, before: int = number) -> None:
                if progress is not None:
                    progress(before * whole + min(done, whole), whole * len(plans))

            try:
                with applied(plan) as design:
                    result = looked_at(design, stores=stores, progress=report)
            except AssertionError as error:
                refused.append((plan, str(error)))
            else:
                reads = tuple(name for name in result.unanswered if name in plan.compiled.reads)
                passed.append(replace(plan, verified=Verified(result.stores, result.items, reads)))
    except (KeyboardInterrupt, SchemaError) as error:
        if not is_interrupt(error):
            raise
        rest = plans[len(passed) + len(refused) :]
        return Outcome(compared([*passed, *rest]), refused, stopped=True)
    return Outcome(compared(passed), refused)
