"""Why a key serves and another doesn't: every key of the entities is accounted for, with a reason that is true."""

from __future__ import annotations

import pytest

from keyplan.design.compiled.plans import ScanPlan, ThroughPlan
from keyplan.design.compiled.shapes import ShapeKind
from keyplan.explain.explanation import explain, explain_all
from tests.export.designs import NAMES, design
from tests.web.library import Library


def others(pattern: str, cls: type = Library) -> dict[str, str]:
    return {alternative.key: alternative.reason for alternative in explain(cls, pattern).others}


@pytest.mark.parametrize("name", NAMES)
def test_every_key_is_taken_or_told(name: str) -> None:
    compiled = design(name).compiled
    for explanation in explain_all(design(name)):
        if explanation.kind == "write":
            assert explanation.others == ()
            continue
        pattern = compiled.reads[explanation.pattern]
        if isinstance(pattern.plan, ScanPlan | ThroughPlan):
            continue
        result = {other.key for other in explanation.others}
        taken = {key for step in explanation.key.split(" → ") for key in step.split(", ")}
        claims = pattern.shape.kind is ShapeKind.ONE
        known = {
            f"{entity.name}.{key.name}"
            for entity in (compiled.entities[cls] for cls in pattern.shape.entities)
            for key in (*entity.keys, *(entity.claims if claims else ()))
        }
        assert not result & taken
        assert result | taken >= known
        assert all(other.reason for other in explanation.others)


def test_what_is_missing() -> None:
    assert others("book") == {
        "Book.by_shelf": "its partition key needs shelf",
        "Book.by_price": "its partition key needs kind",
    }


def test_another_order() -> None:
    result = others("trending_tags", design("Blog"))
    assert result["PostTag.by_name"] == "its order is tag, and rating_sk is asked for"


def test_consistency_and_what_serves_too() -> None:
    everything = design("Everything")
    reasons = {alternative.reason for explained in explain_all(everything) for alternative in explained.others}
    assert "a global index can't be read with strong consistency" in reasons
    assert any(reason.startswith("it serves too") for reason in reasons)


def test_a_scan_has_no_alternatives() -> None:
    assert others("expensive") == {}
    assert "others" in explain(Library, "expensive").as_json()
