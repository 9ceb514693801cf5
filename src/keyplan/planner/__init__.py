"""The planner: keys and indexes derived from a design's access patterns, without requests.

``facts.py`` reads the class, ``needs.py`` what each access pattern needs, ``candidates.py`` makes possible keys, and
``search.py`` chooses. ``templates.py`` writes declarations, ``compiling.py`` compiles and ``plans.py`` weighs them,
``planning.py`` combines this, and ``module.py`` changes the source.
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
