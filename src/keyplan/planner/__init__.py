"""The planner derives keys and indexes from a design's access patterns, without sending requests.

``facts.py`` reads the class, ``needs.py`` derives each access pattern's needs, ``candidates.py`` generates possible
keys, and ``search.py`` chooses among them. ``templates.py`` writes declarations, ``compiling.py`` compiles them,
``plans.py`` compares plans, ``planning.py`` runs these steps, and ``module.py`` changes the design's source.
"""

from keyplan.planner.compiling import applied
from keyplan.planner.module import Rewritten, rewritten
from keyplan.planner.planning import compared, plan, provisional_design, spare_indexes
from keyplan.planner.plans import Plan, PlannedKey, Verified, comparison

__all__ = [
    "Plan",
    "PlannedKey",
    "Rewritten",
    "Verified",
    "applied",
    "compared",
    "comparison",
    "plan",
    "provisional_design",
    "rewritten",
    "spare_indexes",
]
