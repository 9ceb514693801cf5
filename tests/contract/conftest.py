"""Fixtures that run each test on every store, synchronously and asynchronously."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.stores import CALLERS, STORES, WAYS, Caller


@pytest.fixture(params=WAYS)
def every(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Caller]:
    """Return a caller of the design ``Everything`` on an empty store."""
    store, way = request.param
    caller = CALLERS[way](STORES[store](tmp_path))
    yield caller
    caller.close()
