"""What holds for every test: where random tests begin, and how often Python looks for garbage.

``make test`` draws the same examples each time: what fails, fails for everybody. ``make nightly`` sets
``KEYPLAN_SEEDS=new`` and draws new ones; what that finds becomes an ``@example``, or a test of its own. No example
has a time limit, since that would measure what else the machine does.
"""

from __future__ import annotations

import gc
import os
import random
import signal

import hypothesis
import pytest

from tests.seeds import NEW

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as a shell sets it for a job in the background, and tests send it
    signal.signal(signal.SIGINT, signal.default_int_handler)

gc.set_threshold(100_000, 20, 20)  # by the usual thresholds garbage takes a third of the time of collecting tests

hypothesis.settings.register_profile("fixed", deadline=None, derandomize=True, database=None)
hypothesis.settings.register_profile("new", deadline=None, print_blob=True)
hypothesis.settings.load_profile("new" if NEW else "fixed")


@pytest.fixture(autouse=True)
def _same_chance(request: pytest.FixtureRequest) -> None:
    """What draws from Python's own generator draws the same in each test, whichever ran before."""
    if not NEW:
        random.seed(request.node.nodeid)


def pytest_collection_finish() -> None:
    """What is there now stays: half a million objects that needn't be looked at again."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests marked ``nightly`` unless ``KEYPLAN_NIGHTLY=1``, as ``make nightly`` sets it."""
    if os.environ.get("KEYPLAN_NIGHTLY") == "1":
        return
    skip = pytest.mark.skip(reason="make nightly runs it (KEYPLAN_NIGHTLY=1)")
    for item in items:
        if item.get_closest_marker("nightly"):
            item.add_marker(skip)
