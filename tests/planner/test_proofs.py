"""Why each question of many designs needs no scan, in a line each, as it was agreed upon."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.planner.plans import _answer, proof_of
from keyplan_systems.blog.design import Blog
from keyplan_systems.papers.design import Papers
from keyplan_systems.shop.design import Shop
from keyplan_systems.social.design import Social
from tests.agreed import assert_agreed
from tests.cli.clinic import Clinic
from tests.contract.design import Everything
from tests.studio.school import School
from tests.web.library import Library

DESIGNS = [Blog, Papers, Shop, Social, Clinic, Everything, School, Library]


@pytest.mark.parametrize("design", DESIGNS)
def test_each_question_has_a_proof(design: Any) -> None:
    reads = design.compiled.reads.items()
    assert_agreed("\n".join(f"{name}: {' | '.join(_answer(read.plan))} | {proof_of(read)}" for name, read in reads))
