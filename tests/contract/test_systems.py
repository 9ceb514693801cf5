"""Every access pattern of every system returns the same result on every store.

The design's own writes fill each store, and each result, synchronous and asynchronous, is compared with a brute-force
filter over all items. The four large systems take minutes and are tested nightly.
``tests/systems/test_designs.py`` tests the embedded store, with more generated stores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyplan import Design
from keyplan.testing import verify
from keyplan_systems.blog.design import Blog
from keyplan_systems.cms.design import Cms
from keyplan_systems.papers.design import Papers
from keyplan_systems.shop.design import Shop
from keyplan_systems.social.design import Social
from tests.contract.remote import local_address, new_table, server_address
from tests.seeds import NEW, seed
from tests.systems.blog.strategies import STRATEGIES as BLOG
from tests.systems.cms.strategies import STRATEGIES as CMS
from tests.systems.papers.strategies import STRATEGIES as PAPERS
from tests.systems.shop.strategies import STRATEGIES as SHOP

STRATEGIES: dict[type[Design], Any] = {Blog: BLOG, Cms: CMS, Papers: PAPERS, Shop: SHOP}
STORES: dict[str, Callable[[], str]] = {"server": server_address, "dynamodb-local": local_address}


@pytest.mark.parametrize("store", ["server", pytest.param("dynamodb-local", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("design", [Blog, Cms, Papers, Shop, Social] if NEW else [Papers])
def test_reads_of_each_system_match_the_brute_force_results_on_every_store(design: type[Design], store: str) -> None:
    address = STORES[store]()
    verify(
        design,
        stores=15 if NEW else 4,
        seed=seed(20261121),
        open=lambda: design.open(f"dynamodb+http://{address}/{new_table()}", create=True),
        strategies=STRATEGIES.get(design),
    )
