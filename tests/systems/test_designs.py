"""The five designs support their published access patterns without scans, and return the results of a brute-force
filter.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from keyplan import Design
from keyplan.model.compiled.plans import ScanPlan
from keyplan.testing import verify
from keyplan_systems.blog.design import Blog
from keyplan_systems.cms.design import Cms
from keyplan_systems.papers.design import Papers
from keyplan_systems.shop.design import Shop
from keyplan_systems.social.design import Social
from tests.seeds import examples, seed
from tests.systems.blog.strategies import STRATEGIES as BLOG
from tests.systems.cms.strategies import STRATEGIES as CMS
from tests.systems.papers.strategies import STRATEGIES as PAPERS
from tests.systems.shop.strategies import STRATEGIES as SHOP
from tests.systems.social.support import STRATEGIES as SOCIAL

STRATEGIES: dict[type[Design], Any] = {Blog: BLOG, Cms: CMS, Papers: PAPERS, Shop: SHOP, Social: SOCIAL}
DESIGNS: dict[type[Design], list[str]] = {
    Blog: [f"B{number}" for number in range(1, 16)],
    Cms: [f"AP{number}" for number in range(1, 9)],
    Papers: [f"A{number}" for number in range(1, 6)],
    Shop: [f"E{number}" for number in range(1, 9)],
    Social: [f"S{number}" for number in range(1, 8)],
}


@pytest.mark.parametrize("design", DESIGNS)
def test_every_published_access_pattern_is_implemented_by_its_system(design: type[Design]) -> None:
    # B13a and B13b are two parts of one access pattern
    ids = {re.sub(r"[a-z]$", "", pattern.id) for pattern in design.compiled.patterns.values()}
    assert set(DESIGNS[design]) <= ids


@pytest.mark.parametrize("design", DESIGNS)
def test_no_access_pattern_scans_the_table(design: type[Design]) -> None:
    assert not [pattern.name for pattern in design.compiled.reads.values() if isinstance(pattern.plan, ScanPlan)]


@pytest.mark.parametrize(
    "design", [pytest.param(design, marks=() if design is Cms else pytest.mark.nightly) for design in DESIGNS]
)
def test_every_read_of_a_system_returns_the_brute_force_results(design: type[Design]) -> None:
    stores = examples(4 if design is Shop else 10, 80)  # rare writes get more examples
    report = verify(design, stores=stores, seed=seed(20261121), strategies=STRATEGIES.get(design))
    assert all(pattern.answered for pattern in report.patterns if pattern.kind == "read")
