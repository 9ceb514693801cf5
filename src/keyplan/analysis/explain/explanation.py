"""Explanations: what a pattern asks of the store, exactly, without a store.

A pattern's own conversation is run with the arguments given, or with symbols such as ``{author_id}`` where there are
none, against a responder that answers with nothing. What it asks on the way is the explanation. How symbols get into
keys is in ``symbolic.py``, what is said of a plan in ``wording.py``, what can be said of a write in ``rehearsals.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from keyplan.analysis.explain import write_explanation as rehearsals
from keyplan.analysis.explain.alternatives import Alternative, alternatives
from keyplan.analysis.explain.symbolic_plans import Symbol, Symbols, symbolic_arguments
from keyplan.analysis.explain.wording import (
    as_stored,
    conditions,
    consistent,
    direction,
    filter_text,
    indexes,
    key_names,
    proof,
)
from keyplan.analysis.explain.write_explanation import asked_of, nothing, rehearsal
from keyplan.analysis.rehearsal.account import Accounts
from keyplan.client.conversations import Conversation, Request
from keyplan.client.junction_reads import end_values, query_reader
from keyplan.client.key_conditions import value_sets
from keyplan.client.merged_partitions import MergeReader
from keyplan.client.read_plans import batch_entities, get_item
from keyplan.client.results import Answer
from keyplan.client.target import Target
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern
from keyplan.model.compiled.plans import ClaimPlan, GetPlan, Plan, QueryPlan, ReadPattern, ScanPlan, ThroughPlan
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.compiled.signatures import ParameterKind

__all__ = ["Explanation", "explain", "explain_all"]


@dataclass(frozen=True)
class Explanation:
    """What a pattern asks, which key answers it, and why no scan is needed.

    ``requests`` are the exact ones for the arguments given; ``symbolic`` says that none were given, and that their
    names in braces stand for them. ``note`` says what the requests leave open. ``limit`` is in items.
    ``others`` are the keys that don't serve, with the reason.
    """

    id: str
    pattern: str
    kind: str
    question: str
    doc: str
    operation: str
    index: str | None
    key: str
    key_condition: str
    direction: str | None
    limit: int | None
    consistency: str
    filter: str | None
    requests: tuple[Request, ...]
    proof: str
    note: str | None = None
    symbolic: bool = True
    asks: tuple[str, ...] = ()
    others: tuple[Alternative, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The explanation as JSON data."""
        return {
            "id": self.id,
            "pattern": self.pattern,
            "kind": self.kind,
            "question": self.question,
            "doc": self.doc,
            "operation": self.operation,
            "index": self.index,
            "key": self.key,
            "key_condition": self.key_condition,
            "direction": self.direction,
            "limit": self.limit,
            "consistency": self.consistency,
            "filter": self.filter,
            "asks": list(self.asks),
            "symbolic": self.symbolic,
            "requests": [
                {"operation": request.operation, "parameters": request.parameters} for request in self.requests
            ],
            "proof": self.proof,
            "others": [alternative.as_json() for alternative in self.others],
            "note": self.note,
        }


def explain(
    design: CompiledDesign | type[Any], pattern: str, arguments: Mapping[str, Any] | None = None
) -> Explanation:
    """Explain one pattern of a design's class (or of the compiled design).

    ``arguments`` are texts or JSON values, as ``Design.call`` takes them; without them the requests are symbolic. A
    write's requests need arguments, and the class: they are those that it makes on an empty table.

    Raises UnknownPattern, ArgumentError, and KeyFieldError for values that can't stand in a key.
    """
    compiled = design if isinstance(design, CompiledDesign) else cast("CompiledDesign", design.compiled)
    result = compiled.pattern(pattern)
    bound = None if arguments is None else result.signature.bind((), arguments, strict=False)
    if isinstance(result, ReadPattern):
        return _Read(compiled, result, bound).explanation()
    return _write(compiled, None if isinstance(design, CompiledDesign) else design, result, bound)


def explain_all(design: CompiledDesign | type[Any]) -> list[Explanation]:
    """All patterns of a design, in the order of its class: reads, then writes."""
    compiled = design if isinstance(design, CompiledDesign) else cast("CompiledDesign", design.compiled)
    return [explain(design, name) for name in compiled.patterns]


# Reads


@dataclass
class _Read:
    """One read being explained."""

    design: CompiledDesign
    pattern: ReadPattern
    bound: dict[str, Any] | None
    symbols: Symbols = field(default_factory=Symbols)

    def explanation(self) -> Explanation:
        pattern = self.pattern
        signature = pattern.signature
        values = self.bound if self.bound is not None else symbolic_arguments(signature)
        asked = [self.symbols.shown(request) for request in self._requests(values)]
        plan = pattern.as_called(values).plan
        limit = next((values[parameter.name] for parameter in signature.parameters if parameter is pattern.limit), None)
        return Explanation(
            id=pattern.id,
            pattern=pattern.name,
            kind="read",
            question=str(signature),
            doc=signature.doc,
            operation=pattern.plan.operation,
            index=" → ".join(dict.fromkeys(indexes(pattern.plan))) or None,
            key=" → ".join(key_names(pattern.plan)),
            key_condition=conditions(asked, plan),
            direction=direction(plan, either=self.bound is None),
            limit=limit,
            consistency="strong" if consistent(pattern.plan) else "eventual",
            filter=" AND ".join(filter_text(asked)) or None,
            requests=tuple(asked),
            proof=pattern.proof or f"{proof(pattern.plan, pattern)}{as_stored(pattern.plan)}.",
            note=None if asked else self._nothing_asked(values),
            symbolic=self.bound is None,
            others=alternatives(self.design, pattern),
        )

    def _nothing_asked(self, values: Mapping[str, Any]) -> str:
        parameters = self.pattern.signature.parameters
        empty = [each.name for each in parameters if each.kind is ParameterKind.EACH and not values.get(each.name)]
        why = f"{empty[0]} has no values" if empty else "Nothing can lie in this range"
        return f"{why}, so no request is made."

    def _requests(self, values: dict[str, Any]) -> list[Request]:
        self.symbols.values = values
        plan = self.symbols.plan(self.pattern.plan)
        target = Target(self.design.table.name, self.design.table)
        answer = Answer(replace(self.pattern, plan=plan), target, b"")
        streamed = self.pattern.shape.kind is ShapeKind.ITERATOR
        asking = answer.part(values, None, 0) if streamed else answer.converse(values)
        asked = asked_of(asking, self._claimed(plan.junction if isinstance(plan, ThroughPlan) else plan))
        if isinstance(plan, QueryPlan | ScanPlan) and plan.completed:
            entity = plan.completed[0]
            key = entity.item_key(entity.primary, {name: Symbol(f"{entity.name}.{name}") for name in entity.fields})
            asked += asked_of(batch_entities(target, entity, [key], consistent=False))
        if isinstance(plan, ThroughPlan):
            for way in plan.ways:
                asked += self._beyond(way, target, {**values, **self.pattern.constants})
        return asked

    def _claimed(self, plan: Plan) -> Callable[[Request], dict[str, Any]]:
        """A responder that knows the claim's owner, by its name only, so that the second read is asked too."""
        if not isinstance(plan, ClaimPlan):
            return nothing
        entity = self.symbols.entity(plan.entity)
        owner = entity.item_key(entity.primary, {name: Symbol(f"{entity.name}.{name}") for name in entity.fields})
        answers = iter([{"Item": {"claim_of": {"M": owner}}}])
        return lambda _request: next(answers, {})

    def _beyond(self, plan: ThroughPlan, target: Target, values: dict[str, Any]) -> list[Request]:
        """The requests for one end that the junction could name."""
        junction = plan.junction.matches[0].entity if isinstance(plan.junction, QueryPlan) else plan.junction.entity
        link: Any = _Named(junction.name)
        known = end_values(plan, link, values)
        limit = next(
            (values[name.name] for name in self.pattern.signature.parameters if name is self.pattern.limit), None
        )
        return asked_of(_end(plan.end, target, known, limit, one=self.pattern.shape.kind is ShapeKind.ONE))


class _Named:
    """A junction's item of which only the fields' names are known."""

    def __init__(self, entity: str) -> None:
        self._entity = entity

    def __getattr__(self, name: str) -> Symbol:
        return Symbol(f"{self._entity}.{name}")


def _end(
    end: GetPlan | QueryPlan, target: Target, known: dict[str, Any], limit: int | None, *, one: bool
) -> Conversation[Any]:
    if isinstance(end, QueryPlan):
        if one:
            return query_reader(end, target).first(known)
        return MergeReader(end, target).merge(value_sets(end.each, known), limit, None)
    key = end.entity.item_key(end.entity.primary, known)
    if one:
        return get_item(target, end.entity, key, consistent=end.consistent)
    return batch_entities(target, end.entity, [key], consistent=end.consistent)


# Writes


def _write(
    design: CompiledDesign, cls: type[Any] | None, pattern: WritePattern, bound: dict[str, Any] | None
) -> Explanation:
    account = Accounts(design, cls).unrun(pattern)
    requests: tuple[Request, ...] = ()
    note = "The requests depend on the arguments" + (", and on what the reads find." if account.asked else ".")
    if bound is not None and cls is not None:
        requests, note = rehearsal(design, cls, pattern, bound, asks=bool(account.asked))
    return Explanation(
        id=pattern.id,
        pattern=pattern.name,
        kind="write",
        question=str(pattern.signature),
        doc=pattern.signature.doc,
        operation=account.operation,
        index=None,
        key="",
        key_condition="",
        direction=None,
        limit=None,
        consistency="strong",
        filter=None,
        requests=requests,
        proof=rehearsals.proof(account),
        note=note,
        symbolic=bound is None,
        asks=account.asked,
    )
