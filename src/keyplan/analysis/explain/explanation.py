"""Explain a pattern: its exact requests, determined without a store.

The client's code runs with the arguments, or with symbols such as ``{author_id}``, against a responder that returns no
items. The explanation shows the recorded requests. ``symbolic_plans.py`` creates the symbols, and ``wording.py`` the
sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

from keyplan.analysis.explain.symbolic_plans import Symbol, Symbols, symbolic_arguments
from keyplan.analysis.explain.wording import (
    as_stored,
    conditions,
    consistent,
    direction,
    filter_text,
    indexes,
    key_names,
    listed,
    proof,
)
from keyplan.analysis.write_analysis.analysis import WriteAnalysis, WriteAnalyzer
from keyplan.client.batches import batch_write
from keyplan.client.conversations import Conversation, Request, Target, converse, relay
from keyplan.client.junction_reads import end_values, query_reader
from keyplan.client.key_conditions import value_sets
from keyplan.client.merged_partitions import MergeReader
from keyplan.client.read_plans import batch_entities, get_item
from keyplan.client.results import Answer
from keyplan.client.write_attempts import Actions, Attempt, run_write
from keyplan.client.write_compiler import WriteCompiler
from keyplan.errors import KeyplanError, RequestError, ResponseError
from keyplan.model.compiled import plans
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern
from keyplan.model.compiled.compiler import keys_considered
from keyplan.model.compiled.key_matching import Miss, lacking_while_none
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.compiled.signatures import ParameterKind
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey


@dataclass(frozen=True, slots=True)
class Alternative:
    """A key that the pattern doesn't use, such as ``Article.by_author``, its table or index, and the reason."""

    key: str
    place: str
    reason: str


def alternatives(design: CompiledDesign, pattern: plans.ReadPattern) -> tuple[Alternative, ...]:
    """The keys of the pattern's entities that the pattern doesn't use. Empty for a scan."""
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


def _passed_over(match: plans.KeyMatch, pattern: plans.ReadPattern) -> str:
    """Why a key that supports the pattern isn't used."""
    chosen = _chosen(pattern)
    options = pattern.options
    order = " and ".join(name for name, _ in match.order)
    wanted = (options.order_by or "").lstrip("-")
    ordered = options.newest_first or wanted or pattern.direction
    if pattern.shape.kind is ShapeKind.ONE and not match.full and not ordered:
        return f"no parameter sets {order}, so the key matches many items"
    if wanted and (not match.order or match.order[0][0] != wanted):
        return f"the key's order is {order or 'none'}, not {wanted}"
    unmet = [name for name in pattern.constants if name not in match.used and name in match.entity.fields]
    if unmet and chosen is not None and all(name in chosen.fields for name in unmet):
        return f"the key would need a filter on {' and '.join(unmet)}"
    if match.key.is_claim:
        return "the key also supports the pattern, with two reads (claim and item)"
    missing = next(lacking_while_none(match), None)
    if missing is not None:
        return f"the key doesn't contain items whose {missing} is None"
    if len(pattern.shape.entities) > 1 and match.key.index is None and chosen is not None and chosen.index is not None:
        return "the key also supports the pattern, but doesn't contain all entities of the result"
    if chosen is not None and match.key.index is not None and chosen.index is None:
        return "the key also supports the pattern, but the table is preferred"
    if chosen is not None and match.key.shards > chosen.shards:
        return f"the key also supports the pattern, with {match.key.shards} partitions instead of {chosen.shards}"
    return "the key also supports the pattern, but the chosen key is preferred"


def _chosen(pattern: plans.ReadPattern) -> CompiledKey | None:
    plan = pattern.plan.junction if isinstance(pattern.plan, plans.ThroughPlan) else pattern.plan
    match plan:
        case plans.QueryPlan():
            return plan.key
        case plans.ClaimPlan():
            return plan.claim
        case plans.GetPlan():
            return plan.entity.primary
        case _:
            return None


def nothing(request: Request) -> dict[str, Any]:
    if request.operation == "BatchGetItem":
        return {"Responses": {}, "UnprocessedKeys": {}}
    return {"Items": [], "Count": 0, "ScannedCount": 0} if request.operation in {"Query", "Scan"} else {}


def asked_of(conversation: Conversation[Any], respond: Callable[[Request], dict[str, Any]] = nothing) -> list[Request]:
    """The requests of a conversation with ``respond``. A missing item ends the conversation, as in a real call."""
    requests: list[Request] = []
    with suppress(ResponseError):
        _ask(conversation, respond, requests)
    return requests


def _ask(conversation: Conversation[Any], respond: Callable[[Request], dict[str, Any]], result: list[Request]) -> None:
    """Run a conversation and add its requests to ``result``. Errors of the conversation propagate."""

    def observe(step: Request | list[Request], _answer: Any, _error: Exception | None) -> None:
        requests = [step] if isinstance(step, Request) else step
        result.extend(Request(request.operation, deepcopy(request.parameters)) for request in requests)

    converse(relay(conversation, observe, pauses=False), _Responding(respond))


class _Responding:
    def __init__(self, respond: Callable[[Request], dict[str, Any]]) -> None:
        self._respond = respond

    def call(self, operation: str, parameters: dict[str, Any], /) -> dict[str, Any]:
        return self._respond(Request(operation, parameters))

    def call_all(self, requests: list[Request], /) -> list[dict[str, Any]]:
        return [self._respond(request) for request in requests]


def requests_of_write(
    analysis: WriteAnalysis, cls: type[Any], bound: dict[str, Any]
) -> tuple[tuple[Request, ...], str]:
    """The requests of a write on an empty table, and a note about requests that depend on data."""
    design, pattern, code = analysis.design, analysis.pattern, analysis.code
    if code.not_run:
        return (), f"The requests are unknown, because {code.not_run}."
    target = Target(design.table.name, design.table)
    answers = {name: Answer(read, target, b"") for name, read in design.reads.items()}
    compiler = WriteCompiler(design.entities, target)
    nowhere = object.__new__(cls)  # a design without a store: the body only calls its reads
    make: Callable[[], Actions[Any]] = partial(pattern.function, nowhere, **bound)
    if pattern.load.in_transaction:
        conversation = _joined(Attempt(compiler, answers, pattern.place, None), make, target)
    else:
        conversation = run_write(compiler, answers, make, pattern.place, 1)
    requests: list[Request] = []
    ended = ""
    try:
        _ask(conversation, nothing, requests)
    except RequestError:
        raise
    except KeyplanError as error:
        ended = f" The call ends with an error: {error.message}."
    except Exception as error:  # noqa: BLE001 - the body can raise any error
        ended = f" The call ends with an error: {type(error).__name__}: {error}."
    if not analysis.asked:
        return tuple(requests), f"Timestamps and generated ids are examples.{ended}"
    note = "These are the requests on an empty table; other requests depend on the items that the reads find."
    return tuple(requests), note + ended


def _joined(attempt: Attempt, make: Callable[[], Actions[Any]], target: Target) -> Conversation[None]:
    """The requests of a write that is part of a transaction with other writes."""
    yield from attempt.gather(make)
    parts = [{operation.kind: operation.parameters} for operation in attempt.operations]
    if parts:
        yield Request("TransactWriteItems", {"TransactItems": parts})
    for batch in attempt.batches:
        yield from batch_write(target.name, batch)


def _write_proof(analysis: WriteAnalysis) -> str:
    batch_alone = analysis.operation == "BatchWriteItem"
    kinds = [kind for kind in analysis.kinds if kind != "Batch" and not batch_alone]
    parts: list[str] = []
    if analysis.asked:
        parts.append(f"The write first reads {listed(analysis.asked)}, with strong consistency if their keys allow it.")
    if kinds and analysis.operation.partition(",")[0] in {"PutItem", "UpdateItem", "DeleteItem"}:
        parts.append(f"The only action ({kinds[0]}) is sent as one request.")
    elif kinds:
        together = "together (a single action as one request, several as one TransactWriteItems)"
        if analysis.joined:
            together = "in one TransactWriteItems with the actions of the writes that it calls"
        parts.append(f"The actions ({', '.join(kinds)}) are sent {together}, all or nothing.")
    if "Batch" in analysis.kinds:
        goes = "is sent" if batch_alone else "follows"
        parts.append(f"The Batch {goes} in BatchWriteItem requests of up to 25 items, which aren't atomic.")
    if analysis.pattern.attempts > 1:
        parts.append(f"If a condition fails, the write is retried: {analysis.pattern.attempts} attempts in total.")
    return " ".join(parts) or "The write has no actions."


@dataclass(frozen=True)
class Explanation:
    """The requests of a pattern, its key, and why it needs no scan.

    ``requests``: the exact requests; if ``symbolic``, they contain names in braces instead of values. ``note``: a
    remark on requests that depend on data. ``others``: the keys that aren't used, with the reasons.
    """

    id: str
    pattern: str
    kind: str
    signature: str
    doc: str
    operation: str
    consistency: str
    requests: tuple[Request, ...]
    proof: str
    index: str | None = None
    key: str = ""
    key_condition: str = ""
    direction: str | None = None
    limit: int | None = None
    filter: str | None = None
    note: str | None = None
    symbolic: bool = True
    asks: tuple[str, ...] = ()
    others: tuple[Alternative, ...] = ()

    def as_json(self) -> dict[str, Any]:
        data = {each.name: getattr(self, each.name) for each in fields(self)}
        requests = [{"operation": request.operation, "parameters": request.parameters} for request in self.requests]
        return data | {"asks": list(self.asks), "requests": requests, "others": [*map(asdict, self.others)]}


def explain(
    design: CompiledDesign | type[Any], pattern: str, arguments: Mapping[str, Any] | None = None
) -> Explanation:
    """Explain one pattern of a design class or of a compiled design.

    ``arguments``: strings or JSON values; without arguments, the requests are symbolic. The requests of a write need
    arguments and the design class, and assume an empty table. Raises UnknownPattern, ArgumentError, and
    KeyFieldError for values that a key can't contain.
    """
    compiled = design if isinstance(design, CompiledDesign) else cast("CompiledDesign", design.compiled)
    result = compiled.pattern(pattern)
    bound = None if arguments is None else result.signature.bind((), arguments, strict=False)
    if isinstance(result, plans.ReadPattern):
        return _Read(compiled, result, bound).explanation()
    return _write(compiled, None if isinstance(design, CompiledDesign) else design, result, bound)


def explain_all(design: CompiledDesign | type[Any]) -> list[Explanation]:
    """Explain all patterns of a design, in the order of its class: reads, then writes."""
    patterns = design.patterns if isinstance(design, CompiledDesign) else design.compiled.patterns
    return [explain(design, name) for name in patterns]


# Reads


@dataclass
class _Read:
    design: CompiledDesign
    pattern: plans.ReadPattern
    bound: dict[str, Any] | None
    symbols: Symbols = field(default_factory=Symbols)

    def explanation(self) -> Explanation:
        pattern = self.pattern
        signature = pattern.signature
        values = self.bound if self.bound is not None else symbolic_arguments(signature)
        asked = [self.symbols.shown(request) for request in self._requests(values)]
        plan = pattern.as_called(values).plan
        return Explanation(
            id=pattern.id,
            pattern=pattern.name,
            kind="read",
            signature=str(signature),
            doc=signature.doc,
            operation=pattern.plan.operation,
            index=" → ".join(dict.fromkeys(indexes(pattern.plan))) or None,
            key=" → ".join(key_names(pattern.plan)),
            key_condition=conditions(asked, plan),
            direction=direction(plan, either=self.bound is None),
            limit=self._limit(values),
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
        why = f"{empty[0]} has no values" if empty else "The range is empty"
        return f"{why}, so no request is sent."

    def _requests(self, values: dict[str, Any]) -> list[Request]:
        self.symbols.values = values
        plan = self.symbols.plan(self.pattern.plan)
        target = Target(self.design.table.name, self.design.table)
        answer = Answer(replace(self.pattern, plan=plan), target, b"")
        streamed = self.pattern.shape.kind is ShapeKind.ITERATOR
        asking = answer.part(values, None, 0) if streamed else answer.converse(values)
        asked = asked_of(asking, self._claimed(plan.junction if isinstance(plan, plans.ThroughPlan) else plan))
        if isinstance(plan, plans.QueryPlan | plans.ScanPlan) and plan.completed:
            entity = plan.completed[0]
            key = entity.item_key(entity.primary, _symbols(entity))
            asked += asked_of(batch_entities(target, entity, [key], consistent=False))
        if isinstance(plan, plans.ThroughPlan):
            for way in plan.ways:
                asked += self._beyond(way, target, {**values, **self.pattern.constants})
        return asked

    def _claimed(self, plan: plans.Plan) -> Callable[[Request], dict[str, Any]]:
        """A responder that returns a claim once, so that the read of the claim's item is sent too."""
        if not isinstance(plan, plans.ClaimPlan):
            return nothing
        entity = self.symbols.entity(plan.entity)
        owner = entity.item_key(entity.primary, _symbols(entity))
        answers = iter([{"Item": {"claim_of": {"M": owner}}}])
        return lambda _request: next(answers, {})

    def _beyond(self, plan: plans.ThroughPlan, target: Target, values: dict[str, Any]) -> list[Request]:
        """The requests for the end item of one junction item."""
        junction = (
            plan.junction.matches[0].entity if isinstance(plan.junction, plans.QueryPlan) else plan.junction.entity
        )
        link: Any = SimpleNamespace(**_symbols(junction))
        known = end_values(plan, link, values)
        one = self.pattern.shape.kind is ShapeKind.ONE
        return asked_of(_end(plan.end, target, known, self._limit(values), one=one))

    def _limit(self, values: Mapping[str, Any]) -> int | None:
        return None if self.pattern.limit is None else values[self.pattern.limit.name]


def _symbols(entity: CompiledEntity) -> dict[str, Any]:
    return {name: Symbol(f"{entity.name}.{name}") for name in entity.fields}


def _end(
    end: plans.GetPlan | plans.QueryPlan, target: Target, known: dict[str, Any], limit: int | None, *, one: bool
) -> Conversation[Any]:
    if isinstance(end, plans.QueryPlan):
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
    analysis = WriteAnalyzer(design, cls).from_code(pattern)
    requests: tuple[Request, ...] = ()
    note = "Pass arguments to see the requests, with their conditions."
    if analysis.asked:
        note += " The requests also depend on the results of the reads."
    if bound is not None and cls is not None:
        requests, note = requests_of_write(analysis, cls, bound)
    return Explanation(
        id=pattern.id,
        pattern=pattern.name,
        kind="write",
        signature=str(pattern.signature),
        doc=pattern.signature.doc,
        operation=analysis.operation,
        consistency="strong",
        requests=requests,
        proof=_write_proof(analysis),
        note=note,
        symbolic=bound is None,
        asks=analysis.asked,
    )
