"""The planner: keys and indexes derived from a design's questions alone.

``needs.py`` reads what the questions ask of each entity's keys; ``candidates.py`` makes the keys that could serve them;
``search.py`` chooses the fewest, exactly; ``templates.py`` writes them as the language has them; ``planning.py``
compiles every plan with the real compiler and prices it; ``module.py`` puts the declarations into the source. The
planner makes no requests, and opens no store.
"""

from keyplan.planner.planning import Plan, PlannedKey, applied, plan, spare_indexes

__all__ = ["Plan", "PlannedKey", "applied", "plan", "spare_indexes"]
