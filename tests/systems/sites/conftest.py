"""Fixtures for tests of the sites: password hashing is fast."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher


@pytest.fixture(autouse=True, scope="package")
def quick_hashes() -> Iterator[None]:
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    nobodys = quick.hash("nobody's")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("keyplan_systems.site.passwords._hasher", quick)
        patch.setattr("keyplan_systems.site.passwords._nobodys_hash", lambda: nobodys)
        yield
