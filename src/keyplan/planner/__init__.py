"""The planner: keys and indexes derived from a design's access patterns.

``facts.py`` reads the design's class, and ``needs.py`` what each access pattern needs of its entities' keys.
``candidates.py`` makes the keys that could serve them, and ``search.py`` chooses among them. ``templates.py`` writes
them as declarations, ``compiling.py`` compiles these, ``weighing.py`` prices them, and ``planning.py`` puts this
together. ``plans.py`` is what is shown, ``module.py`` changes the source. The planner makes no requests and opens no
store.
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
