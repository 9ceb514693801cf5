"""Plans that are compared, word by word, with those that were agreed upon."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from keyplan import planner
from keyplan.planner import Plan
from keyplan.planner.module import rewritten
from tests.agreed import assert_agreed

__all__ = ["plan", "written"]


def plan(design: type[Any], *given: Any, **options: Any) -> list[Plan]:
    """What ``keyplan.planner.plan`` gives, as it was agreed upon: each plan with its proofs, its weight, its reason."""
    plans = planner.plan(design, *given, **options)
    lines = [*_lines(plans[0])]
    for made in plans[1:]:
        lines += [f"{made.summary}, {made.best}: {made.why}", f"  {made.differs_from(plans[0])}"]
        lines += [mirror.code for mirror in made.mirrors]
    assert_agreed("\n".join(lines))
    return plans


def _lines(made: Plan) -> Iterator[str]:
    """The plan as JSON, a line for each index, key, question and number."""
    yield made.summary
    for name, given in made.as_json().items():
        each = given if isinstance(given, list) else given.items() if isinstance(given, dict) else [given]
        for part in each:
            values = [*part.values()] if isinstance(part, dict) else part
            yield f"{name}: {json.dumps(values, ensure_ascii=False)}"


def written(made: Plan) -> str:
    """What the plan changes in its design's module, without the numbers of lines."""
    return "\n".join(line for line in rewritten(made).diff.splitlines() if not line.startswith(("@@", "---", "+++")))
