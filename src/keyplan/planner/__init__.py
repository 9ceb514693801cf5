"""The planner: keys and indexes derived from a design's questions alone.

``needs.py`` reads what the questions ask of each entity's keys; ``candidates.py`` makes the keys that could serve them;
``search.py`` chooses the fewest, exactly; ``templates.py`` writes them as the language has them; ``compiling.py``
compiles them with the real compiler, ``weighing.py`` weighs what comes of it; ``planning.py`` puts that together, and
``plans.py`` is what is shown; ``module.py`` puts the declarations into the source. The planner makes no requests, and
opens no store.
"""

from keyplan.planner.planning import applied, compared, plan, spare_indexes
from keyplan.planner.plans import Plan, PlannedKey, comparison

__all__ = ["Plan", "PlannedKey", "applied", "compared", "comparison", "plan", "spare_indexes"]
