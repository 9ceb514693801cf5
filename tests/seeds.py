"""Seeds and numbers of examples of random tests: fixed in normal runs, new and larger in nightly runs."""

from __future__ import annotations

import os
import random

NEW = os.environ.get("KEYPLAN_SEEDS") == "new"
"""Whether this run draws new examples (``make nightly``)."""


def seed(fixed: int) -> int:
    """Return the given seed, or a new one in a nightly run. Failures print the seed."""
    return random.SystemRandom().randrange(1 << 32) if NEW else fixed


def examples(few: int, many: int) -> int:
    """Return the number of examples: small in normal runs, large in nightly ones."""
    return many if NEW else few
