"""Where random tests begin: at the same place each time, or at a new one in a nightly run; and how many they draw."""

from __future__ import annotations

import os
import random

__all__ = ["NEW", "examples", "seed"]

NEW = os.environ.get("KEYPLAN_SEEDS") == "new"
"""Whether this run draws new examples (``make nightly``)."""


def seed(fixed: int) -> int:
    """The number to begin with: this one, or a new one in a nightly run. What fails names it."""
    return random.SystemRandom().randrange(1 << 32) if NEW else fixed


def examples(few: int, many: int) -> int:
    """How many examples are drawn: few in each run, many in a nightly one, where what is merely repeated is at home."""
    return many if NEW else few
