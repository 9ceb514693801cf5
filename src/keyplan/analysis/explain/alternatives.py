"""Why the key that serves a question, and not another: each other key of its entities with the reason.

Which keys were considered is the compiler's to say; here it is put into words, for explanations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from keyplan.analysis.explain.wording import key_names
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.compiler import keys_considered
from keyplan.model.compiled.key_matching import Miss, lacking_while_none
from keyplan.model.compiled.plans import ClaimPlan, GetPlan, KeyMatch, QueryPlan, ReadPattern, ThroughPlan
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.stored.stored_keys import CompiledKey

__all__ = ["Alternative", "alternatives"]


@dataclass(frozen=True, slots=True)
class Alternative:
    """A key that wasn't taken: ``Article.by_author``, where it is, and why."""

    key: str
    place: str
    reason: str

    def as_json(self) -> dict[str, Any]:
        """The alternative as JSON data."""
        return {"key": self.key, "place": self.place, "reason": self.reason}


def alternatives(design: CompiledDesign, pattern: ReadPattern) -> tuple[Alternative, ...]:
    """The keys of the pattern's entities that don't serve it, or that another goes before. None for a scan."""
    if pattern.options.scan:
        return ()
    taken = {name for text in key_names(pattern.plan) for name in text.split(", ")}
    rejected: list[Alternative] = []
    for entity, result in keys_considered(pattern, design.entities):
        name = f"{entity.name}.{result.key.name}"
        if name not in taken:
            reason = result.reason if isinstance(result, Miss) else _passed_over(result, pattern)
            rejected.append(Alternative(name, result.key.place, reason))
    return tuple(rejected)


def _passed_over(match: KeyMatch, pattern: ReadPattern) -> str:
    """Why a key that could serve wasn't taken."""
    chosen = _chosen(pattern)
    options = pattern.options
    order = " and ".join(name for name, _ in match.order)
    wanted = (options.order_by or "").lstrip("-")
    ordered = options.newest_first or wanted or pattern.direction
    if pattern.shape.kind is ShapeKind.ONE and not match.full and not ordered:
        return f"{order} is open in it, so it names many items"
    if wanted and (not match.order or match.order[0][0] != wanted):
        return f"its order is {order or 'none'}, and {wanted} is asked for"
    unmet = [name for name in pattern.constants if name not in match.used and name in match.entity.fields]
    if unmet and chosen is not None and all(name in chosen.fields for name in unmet):
        return f"it would need a filter on {' and '.join(unmet)}"
    if match.key.is_claim:
        return "it serves too, with two reads: the claim, then the item"
    missing = next(lacking_while_none(match), None)
    if missing is not None:
        return f"it lacks the items whose {missing} is None"
    if len(pattern.shape.entities) > 1 and match.key.index is None and chosen is not None and chosen.index is not None:
        return "it serves too, but the other entities of the answer don't stand there"
    if chosen is not None and match.key.index is not None and chosen.index is None:
        return "it serves too; the table goes before an index"
    if chosen is not None and match.key.shards > chosen.shards:
        return f"it serves too, with {match.key.shards} partitions to read instead of {chosen.shards}"
    return "it serves too; the other one goes before it"


def _chosen(pattern: ReadPattern) -> CompiledKey | None:
    plan = pattern.plan.junction if isinstance(pattern.plan, ThroughPlan) else pattern.plan
    match plan:
        case QueryPlan():
            return plan.key
        case ClaimPlan():
            return plan.claim
        case GetPlan():
            return plan.entity.primary
        case _:
            return None
