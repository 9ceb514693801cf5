"""Plans that are compared, word by word, with those that were agreed upon."""

from __future__ import annotations

from keyplan.planner import Plan
from keyplan.planner.module import rewritten

__all__ = ["written"]


def written(made: Plan) -> str:
    """What the plan changes in its design's module, without the numbers of lines."""
    return "\n".join(line for line in rewritten(made).diff.splitlines() if not line.startswith(("@@", "---", "+++")))
