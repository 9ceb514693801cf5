"""Settings for all tests: seeds of random tests, and the frequency of garbage collection.

``make test`` draws the same examples each time. ``make nightly`` sets ``KEYPLAN_SEEDS=new`` and draws new
examples; add each failing one as an ``@example`` or a test. Examples have no deadline, since the machine may be busy.
"""

from __future__ import annotations

import gc
import os
import random
import signal

import hypothesis
import pytest

from tests.seeds import NEW

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # shells set this for background jobs
    signal.signal(signal.SIGINT, signal.default_int_handler)

gc.set_threshold(100_000, 20, 20)  # the default collects too often

hypothesis.settings.register_profile("fixed", deadline=None, derandomize=True, database=None)
hypothesis.settings.register_profile("new", deadline=None, print_blob=True)
hypothesis.settings.load_profile("new" if NEW else "fixed")


@pytest.fixture(autouse=True)
def _same_chance(request: pytest.FixtureRequest) -> None:
    """Seed Python's random generator for each test."""
    if not NEW:
        random.seed(request.node.nodeid)


def pytest_collection_finish() -> None:
    """Exempt existing objects (half a million) from garbage collection."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests marked ``nightly`` unless ``make nightly`` sets ``KEYPLAN_NIGHTLY=1``."""
    if os.environ.get("KEYPLAN_NIGHTLY") == "1":
        return
    skip = pytest.mark.skip(reason="make nightly runs it (KEYPLAN_NIGHTLY=1)")
    for item in items:
        if item.get_closest_marker("nightly"):
            item.add_marker(skip)
