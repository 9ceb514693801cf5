"""Explanations: what a pattern asks of the store, exactly, without a store.

A pattern's own conversation is run with the arguments given, or with symbols such as ``{author_id}`` where there are
none, against a responder that answers with nothing. What it asks on the way is the explanation. How symbols get into
keys is in ``symbolic.py``.
"""

from __future__ import annotations

import difflib
import dis
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from types import CodeType
from typing import Any, TypeVar, cast, get_args

from keyplan.client.answers import Answer, end_values, first_of, query_reader
from keyplan.client.conversations import Conversation, Pause, Request
from keyplan.client.merges import MergeReader
from keyplan.client.reads import Target, batch_entities, get_item, read_claimed
from keyplan.client.symbolic import Symbol, Symbols, symbolic_arguments
from keyplan.client.verbs import Verbs
from keyplan.client.writes import WriteCompiler
from keyplan.design.entity import CompiledEntity
from keyplan.design.model import CompiledDesign, WritePattern, entities_in
from keyplan.design.plans import (
    BatchGetPlan,
    ClaimPlan,
    Filter,
    GetPlan,
    Plan,
    QueryPlan,
    ReadPattern,
    ScanPlan,
    ThroughPlan,
)
from keyplan.design.questions import Signature
from keyplan.design.shapes import ShapeKind
from keyplan.errors import AnswerError, KeyplanError, RequestError, UnknownPattern

__all__ = ["Explanation", "explain", "explain_all", "result_type"]

T = TypeVar("T")


@dataclass(frozen=True)
class Explanation:
    """What a pattern asks, which key answers it, and why no scan is needed.

    ``requests`` are the exact ones for the arguments given; ``symbolic`` says that none were given, and that their
    names in braces stand for them. ``note`` says what the requests leave open. ``limit`` is in items.
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
            "requests": [{"operation": one.operation, "parameters": one.parameters} for one in self.requests],
            "proof": self.proof,
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
    found = compiled.patterns.get(pattern)
    if found is None:
        raise _unknown(compiled, pattern)
    bound = None if arguments is None else found.signature.bind((), arguments, strict=False)
    if isinstance(found, ReadPattern):
        return _Read(compiled, found, bound).explanation()
    return _write(compiled, None if isinstance(design, CompiledDesign) else design, found, bound)


def explain_all(design: CompiledDesign | type[Any]) -> list[Explanation]:
    """All patterns of a design, in the order of its class: reads, then writes."""
    compiled = design if isinstance(design, CompiledDesign) else cast("CompiledDesign", design.compiled)
    return [explain(design, name) for name in compiled.patterns]


def result_type(pattern: ReadPattern | WritePattern) -> Any:
    """What a call of the pattern gives: a read's return type, a write's result (None for one that returns nothing)."""
    if isinstance(pattern, ReadPattern):
        return pattern.signature.returns
    parts = get_args(pattern.signature.returns)
    result = parts[2] if len(parts) == 3 else None
    return None if isinstance(result, TypeVar) or result is type(None) else result


def question_of(signature: Signature, result: Any) -> str:
    """The signature as people write it; a write's with its result for its return type."""
    return str(replace(signature, returns=result))


def _unknown(design: CompiledDesign, name: str) -> UnknownPattern:
    near = difflib.get_close_matches(name, design.patterns, n=1)
    hint = f"did you mean {near[0]}?" if near else f"its patterns are {', '.join(design.patterns)}"
    return UnknownPattern(f"{design.name} has no pattern {name!r}", place=design.name, hint=hint)


# Running conversations without a store


def _nothing(request: Request) -> dict[str, Any]:
    """The response of a store that holds nothing."""
    if request.operation == "BatchGetItem":
        return {"Responses": {}, "UnprocessedKeys": {}}
    return {"Items": [], "Count": 0, "ScannedCount": 0} if request.operation in {"Query", "Scan"} else {}


def _asked(conversation: Conversation[Any], respond: Callable[[Request], dict[str, Any]] = _nothing) -> list[Request]:
    """What a conversation asks when nothing is there. A missing item ends it, as it would end the call."""
    found: list[Request] = []
    with suppress(AnswerError):
        _ask(conversation, respond, found)
    return found


def _ask(conversation: Conversation[Any], respond: Callable[[Request], dict[str, Any]], found: list[Request]) -> None:
    """Run a conversation and note what it asks. Raises what the conversation raises."""

    def answer(step: Request | list[Request] | Pause) -> Any:
        if isinstance(step, Pause):
            return None
        requests = [step] if isinstance(step, Request) else step
        found.extend(Request(one.operation, deepcopy(one.parameters)) for one in requests)
        answers = [respond(one) for one in requests]
        return answers[0] if isinstance(step, Request) else answers

    try:
        step = next(conversation)
        while True:
            step = conversation.send(answer(step))
    except StopIteration:
        return
    finally:
        conversation.close()


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
        filters = list(_filters(pattern.plan))
        asked = [self.symbols.shown(one, filters, signature) for one in self._requests(values)]
        limit = next((values[one.name] for one in signature.parameters if one is pattern.limit), None)
        return Explanation(
            id=pattern.id,
            pattern=pattern.name,
            kind="read",
            question=question_of(signature, signature.returns),
            doc=signature.doc,
            operation=pattern.plan.operation,
            index=" → ".join(dict.fromkeys(_indexes(pattern.plan))) or None,
            key=" → ".join(_key_names(pattern.plan)),
            key_condition=_conditions(asked, pattern.plan),
            direction=_direction(pattern.plan),
            limit=limit,
            consistency="strong" if _consistent(pattern.plan) else "eventual",
            filter=" AND ".join(_filter_text(asked)) or None,
            requests=tuple(asked),
            proof=pattern.proof or f"{_proof(pattern.plan, pattern)}.",
            note=None if asked else "Nothing can lie in this range, so no request is made.",
            symbolic=self.bound is None,
        )

    def _requests(self, values: dict[str, Any]) -> list[Request]:
        plan = self.symbols.plan(self.pattern.plan)
        target = Target(self.design.table.name, self.design.table)
        if isinstance(plan, ThroughPlan):
            return self._through(plan, target, {**values, **self.pattern.constants})
        answer = Answer(replace(self.pattern, plan=plan), target, b"")
        if self.pattern.shape.kind is ShapeKind.ITERATOR:
            return _asked(answer.part(values, None, 0))
        return _asked(answer.converse(values), self._claimed(plan))

    def _claimed(self, plan: Plan) -> Callable[[Request], dict[str, Any]]:
        """A responder that knows the claim's owner, by its name only, so that the second read is asked too."""
        if not isinstance(plan, ClaimPlan):
            return _nothing
        entity = self.symbols.entity(plan.entity)
        owner = entity.item_key(entity.primary, _named(entity))
        answers = iter([{"Item": {"claim_of": {"M": owner}}}])
        return lambda _request: next(answers, {})

    def _through(self, plan: ThroughPlan, target: Target, values: dict[str, Any]) -> list[Request]:
        """The junction's requests, and those for one end that it could name."""
        one = self.pattern.shape.kind is ShapeKind.ONE
        limit = next(
            (values[name.name] for name in self.pattern.signature.parameters if name is self.pattern.limit), None
        )
        junction, end = plan.junction, plan.end
        if isinstance(junction, GetPlan):
            key = junction.entity.item_key(junction.entity.primary, values)
            asked = _asked(get_item(target, junction.entity, key, consistent=junction.consistent))
            entity = junction.entity
        elif isinstance(junction, ClaimPlan):
            entity = junction.entity
            claim = entity.item_key(junction.claim, values)
            read = read_claimed(target, entity, claim, consistent=junction.consistent)
            asked = _asked(read, self._claimed(junction))
        else:
            entity = junction.matches[0].entity
            whole = isinstance(end, QueryPlan)
            reading = (
                first_of(junction, target, values)
                if one
                else query_reader(junction, target).chunk(values, None if whole else limit, None)
            )
            asked = _asked(reading)
        link: Any = _Named(entity.name)
        known = end_values(plan, link, values)
        return [*asked, *_asked(_end(end, target, known, limit, one=one))]


class _Named:
    """A junction's item of which only the fields' names are known."""

    def __init__(self, entity: str) -> None:
        self._entity = entity

    def __getattr__(self, name: str) -> Symbol:
        return Symbol(f"{self._entity}.{name}")


def _named(entity: CompiledEntity) -> dict[str, Any]:
    return {name: Symbol(f"{entity.name}.{name}") for name in entity.fields}


def _end(
    end: GetPlan | QueryPlan, target: Target, known: dict[str, Any], limit: int | None, *, one: bool
) -> Conversation[Any]:
    if isinstance(end, QueryPlan):
        return first_of(end, target, known) if one else MergeReader(end, target).merge([known], limit, None)
    key = end.entity.item_key(end.entity.primary, known)
    if one:
        return get_item(target, end.entity, key, consistent=end.consistent)
    return batch_entities(target, end.entity, [key], consistent=end.consistent)


def _filters(plan: Plan) -> Iterator[Filter | None]:
    if isinstance(plan, ThroughPlan):
        yield from _filters(plan.junction)
        yield from _filters(plan.end)
    elif isinstance(plan, QueryPlan | ScanPlan):
        yield plan.filter


def _indexes(plan: Plan) -> Iterator[str]:
    if isinstance(plan, ThroughPlan):
        yield from _indexes(plan.junction)
        yield from _indexes(plan.end)
    elif isinstance(plan, QueryPlan) and plan.index is not None:
        yield plan.index.name


def _consistent(plan: Plan) -> bool:
    if isinstance(plan, ThroughPlan):
        return _consistent(plan.junction) and _consistent(plan.end)
    return plan.consistent


def _key_names(plan: Plan) -> list[str]:
    match plan:
        case GetPlan() | BatchGetPlan():
            return [f"{plan.entity.name}.{plan.entity.primary.name}"]
        case ClaimPlan():
            return [f"{plan.entity.name}.{plan.claim.name}", f"{plan.entity.name}.{plan.entity.primary.name}"]
        case QueryPlan():
            return [", ".join(f"{match.entity.name}.{match.key.name}" for match in plan.matches)]
        case ThroughPlan():
            return [*_key_names(plan.junction), *_key_names(plan.end)]
        case ScanPlan():
            return ["none"]


def _direction(plan: Plan) -> str | None:
    if isinstance(plan, ThroughPlan):
        return _direction(plan.end) if isinstance(plan.end, QueryPlan) else _direction(plan.junction)
    if not isinstance(plan, QueryPlan):
        return None
    names = list(dict.fromkeys(name for match in plan.matches for name, _ in match.order))
    turned = any(one for match in plan.matches for _, one in match.order)
    way = "ascending" if plan.forward is not turned else "descending"
    return f"{way} by {', '.join(names)}" if names else None


# The key condition in words: the request's own expression, with names and values in the place of placeholders


CONDITIONS_MAX = 3
_EACH = re.compile(r"\{(\w+)\.[12](:[^}]*)?\}")


def _conditions(requests: Iterable[Request], plan: Plan) -> str:
    if isinstance(plan, ScanPlan):
        return "none: every item of the table is read"
    texts = dict.fromkeys(_condition(one) for one in requests)
    shards = _shards(plan)
    if shards > 1 or any(_EACH.search(text) for text in texts):
        texts = dict.fromkeys(_every(text, shards) for text in texts)
    shown = list(texts)
    more = f" → and {len(shown) - CONDITIONS_MAX} more" if len(shown) > CONDITIONS_MAX else ""
    return " → ".join(shown[:CONDITIONS_MAX]) + more


def _shards(plan: Plan) -> int:
    if isinstance(plan, ThroughPlan):
        return max(_shards(plan.junction), _shards(plan.end))
    return plan.shards if isinstance(plan, QueryPlan) else 1


def _every(text: str, shards: int) -> str:
    """The condition for every value of an Each parameter, and every shard."""
    text = _EACH.sub(r"{each \1}", text)
    if shards > 1:
        digits = len(str(shards - 1))
        text = re.sub(rf"#\d{{{digits}}}(?=,|$)", f"#{0:0{digits}d}…#{shards - 1}", text, count=1)
    return text


def _condition(request: Request) -> str:
    parameters = request.parameters
    if "Key" in parameters:
        return _key_text(parameters["Key"])
    if "RequestItems" in parameters:
        keys = next(one["Keys"] for one in parameters["RequestItems"].values())
        more = f", and {len(keys) - 1} keys more" if len(keys) > 1 and not _EACH.search(_key_text(keys[0])) else ""
        return _key_text(keys[0]) + more
    clauses = _filled(parameters.get("KeyConditionExpression", ""), parameters)
    return re.sub(r" AND (?=\S+ [=<>]|begins_with|\S+ BETWEEN)", ", ", clauses)


def _key_text(key: Mapping[str, Mapping[str, Any]]) -> str:
    return ", ".join(f"{name} = {next(iter(value.values()))}" for name, value in key.items())


def _filled(expression: str, parameters: Mapping[str, Any]) -> str:
    """An expression with its placeholders replaced; a value beside an operator other than ``=`` stands in quotes."""
    names = parameters.get("ExpressionAttributeNames", {})
    values = parameters.get("ExpressionAttributeValues", {})

    def part(match: re.Match[str]) -> str:
        token = match.group()
        if token in names:
            return str(names[token])
        if token not in values:
            return token
        ((tag, value),) = values[token].items()
        bare = tag != "S" or expression[: match.start()].endswith(" = ")
        return str(value) if bare else json.dumps(value, ensure_ascii=False)

    return re.sub(r"[#:]\w+", part, expression)


def _filter_text(requests: Iterable[Request]) -> list[str]:
    found = [one.parameters for one in requests if "FilterExpression" in one.parameters]
    return list(dict.fromkeys(_filled(one["FilterExpression"], one) for one in found))[:1]


# The proof, in a sentence


def _proof(plan: Plan, pattern: ReadPattern) -> str:
    match plan:
        case GetPlan():
            fields = _list(plan.entity.key_fields)
            return f"{_fill(fields)} the whole primary key of {plan.entity.name}: one GetItem reads the one item"
        case ClaimPlan():
            fields = _list(dict.fromkeys(name for _, one in plan.claim.partition for name in one.fields))
            return (
                f"{_fill(fields)} the key of a claim: one GetItem reads the claim, and another its owner, by the "
                "primary key that the claim holds"
            )
        case BatchGetPlan():
            return (
                f"Each value of {plan.each} makes a whole primary key of {plan.entity.name}: BatchGetItem reads them "
                "by key, up to 100 a request"
            )
        case QueryPlan():
            return _query_proof(plan, pattern)
        case ThroughPlan():
            return _through_proof(plan, pattern)
        case ScanPlan():
            return "The pattern declares a scan: every item of the table is read, and paid for"


def _query_proof(plan: QueryPlan, pattern: ReadPattern) -> str:
    key = plan.key
    names = dict.fromkeys(name for _, one in key.partition for name in one.fields)
    fields = [f"{name} = {pattern.constants[name]!r}" if name in pattern.constants else name for name in names]
    where = f"the partition key of {key.place}" if key.index else "the table's partition key"
    lead = f"{_fill(_list(fields))} {where}" if fields else f"{where[0].upper()}{where[1:]} is fixed"
    if plan.each is not None:
        text = f"{lead}, so the partition of each {plan.each} is queried, and the answers are merged in order"
    elif plan.shards > 1:
        text = f"{lead}, so its {plan.shards} shards are queried in parallel, and merged in order"
    else:
        text = f"{lead}, so one Query reads one partition"
    bounds = list(dict.fromkeys(part.attribute.name for match in plan.matches for part in match.sort))
    if bounds:
        text += f", and of that the part that {_list(bounds)} {'bounds' if len(bounds) == 1 else 'bound'}"
    if len(plan.matches) > 1:
        text += f"; {_list(one.entity.name for one in plan.matches)} stand in it together"
    if plan.filter is not None:
        text += "; the filter then drops items, which are read and paid for all the same"
    return text


def _through_proof(plan: ThroughPlan, pattern: ReadPattern) -> str:
    junction = plan.junction.matches[0].entity if isinstance(plan.junction, QueryPlan) else plan.junction.entity
    fields = _list(plan.fields.values())
    first = _proof(plan.junction, pattern)
    if isinstance(plan.end, GetPlan):
        how = "in batches of 100" if pattern.shape.many else "with one GetItem"
        return f"{first}; {fields} of each {junction.name} is the key of the {plan.end.entity.name}, read by it {how}"
    end = plan.end.matches[0].entity.name
    place = plan.end.key.place
    return f"{first}; {fields} of each {junction.name} names a partition of {place} with its {end}, queried in turn"


def _fill(fields: str) -> str:
    several = " and " in fields
    return f"{fields} {'fill' if several else 'fills'}" if fields else "Nothing need be known to fill"


def _list(names: Iterable[str]) -> str:
    found = list(names)
    return " and ".join(filter(None, [", ".join(found[:-1]), *found[-1:]]))


# Writes

_SINGLE = {
    "Put": "PutItem",
    "Create": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "Check": "TransactWriteItems",
}


def _write(
    design: CompiledDesign, cls: type[Any] | None, pattern: WritePattern, bound: dict[str, Any] | None
) -> Explanation:
    code = _Code(design, cls, pattern)
    requests: tuple[Request, ...] = ()
    note = "The requests depend on the arguments" + (", and on what the reads find." if code.asks else ".")
    if bound is not None and cls is not None:
        requests, note = _rehearsal(design, cls, pattern, bound, asks=bool(code.asks))
    return Explanation(
        id=pattern.id,
        pattern=pattern.name,
        kind="write",
        question=question_of(pattern.signature, result_type(pattern)),
        doc=pattern.signature.doc,
        operation=code.operation,
        index=None,
        key="",
        key_condition="",
        direction=None,
        limit=None,
        consistency="strong",
        filter=None,
        requests=requests,
        proof=code.proof(pattern.attempts),
        note=note,
        symbolic=bound is None,
        asks=code.asks,
    )


def _rehearsal(
    design: CompiledDesign, cls: type[Any], pattern: WritePattern, bound: dict[str, Any], *, asks: bool
) -> tuple[tuple[Request, ...], str]:
    """What the write asks when nothing is there: all of it where it reads nothing first."""
    target = Target(design.table.name, design.table)
    answers = {name: Answer(read, target, b"") for name, read in design.reads.items()}
    verbs = Verbs(WriteCompiler(design.entities, target), target, answers)
    nowhere = object.__new__(cls)  # a design on no store: a write reaches it by its reads' ``ask`` alone
    asked: list[Request] = []
    ended = ""
    try:
        _ask(verbs.write(partial(pattern.function, nowhere, **bound), pattern.place, 1), _nothing, asked)
    except RequestError:
        raise
    except KeyplanError as error:
        ended = f" There it ends: {error.message}."
    except Exception as error:  # noqa: BLE001 - a write is its author's code, and nothing is at stake here
        ended = f" There it ends: {type(error).__name__}: {error}."
    if not asks:
        return tuple(asked), f"Moments and new ids are those of this explanation.{ended}"
    note = "These are the requests on an empty table; further ones depend on what the reads find."
    return tuple(asked), note + ended


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of the functions and comprehensions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


class _Code:
    """What a write's code mentions: the reads that it asks, and the kinds of its actions. Nothing is run."""

    def __init__(self, design: CompiledDesign, cls: type[Any] | None, pattern: WritePattern) -> None:
        self.design = design
        self.cls = cls
        self._asks: dict[str, None] = {}
        self._actions: list[str] = []
        self._loops = False
        self._entities = {one for each in pattern.signature.parameters for one in entities_in(each.annotation)}
        self._seen: set[Any] = set()
        self._walk(pattern.function)

    def _walk(self, function: Any) -> None:
        for code in _codes(function.__code__):
            for one in dis.get_instructions(code):
                name = one.argval if isinstance(one.argval, str) else ""
                if one.opname.startswith("LOAD_") and (name in _SINGLE or name == "Batch"):
                    self._actions.append(name)
                elif one.opname == "LOAD_GLOBAL":
                    self._global(function.__globals__.get(name))
                elif one.opname in {"LOAD_ATTR", "LOAD_METHOD"}:
                    self._mentioned(name)
                elif one.opname == "FOR_ITER" or ("BACKWARD" in one.opname and "NO_INTERRUPT" not in one.opname):
                    self._loops = True

    def _global(self, value: Any) -> None:
        if isinstance(value, type) and value in self.design.entities:
            self._entities.add(value)
        self._follow(value)

    def _mentioned(self, name: str) -> None:
        if name in self.design.reads:
            self._asks[name] = None
            self._entities.update(self.design.reads[name].shape.entities)
        elif self.cls is not None:
            self._follow(inspect.getattr_static(self.cls, name, None))

    def _follow(self, helper: Any) -> None:
        """A helper that yields actions or reads too: ``yield from self._editable(article_id)``."""
        if inspect.isgeneratorfunction(helper) and helper not in self._seen:
            self._seen.add(helper)
            self._walk(helper)

    @property
    def asks(self) -> tuple[str, ...]:
        return tuple(self._asks)

    @property
    def operation(self) -> str:
        """The operation of the write itself: one action is a single request, several are one transaction."""
        kinds = [one for one in self._actions if one != "Batch"]
        batch = ["BatchWriteItem"] if "Batch" in self._actions else []
        claims = any(self.design.entities[one].claims for one in self._entities)
        if len(kinds) == 1 and not self._loops and not claims:
            return ", ".join([_SINGLE[kinds[0]], *batch])
        return ", ".join([*["TransactWriteItems"] * bool(kinds), *batch]) or "none"

    def proof(self, attempts: int) -> str:
        kinds = list(dict.fromkeys(one for one in self._actions if one != "Batch"))
        parts: list[str] = []
        if self._asks:
            parts.append(f"It first asks {_list(self._asks)}, strongly consistent where their keys allow.")
        if kinds and self.operation.partition(",")[0] in {"PutItem", "UpdateItem", "DeleteItem"}:
            parts.append(f"Its one action ({kinds[0]}) is one conditional request.")
        elif kinds:
            parts.append(
                f"Its actions ({', '.join(kinds)}) go out together: one is one conditional request, several are one "
                "TransactWriteItems, all or nothing."
            )
        if "Batch" in self._actions:
            parts.append("Its Batch follows in BatchWriteItem requests of 25, which are not all-or-nothing.")
        if attempts > 1:
            parts.append(f"When a condition doesn't hold it is tried again, up to {attempts} times in all.")
        return " ".join(parts) or "It writes nothing."
