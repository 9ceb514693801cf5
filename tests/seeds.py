"""Where random tests begin: at the same place each time, or at a new one in a nightly run."""

from __future__ import annotations

import os
import random

__all__ = ["NEW", "seed"]

NEW = os.environ.get("KEYPLAN_SEEDS") == "new"
"""Whether this run draws new examples (``make nightly``)."""


def seed(fixed: int) -> int:
    """The number to begin with: this one, or a new one in a nightly run. What fails names it."""
    return random.SystemRandom().randrange(1 << 32) if NEW else fixed
