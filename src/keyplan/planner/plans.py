"""A plan as it is shown: its keys with what each serves, the questions with their proofs, what it weighs, and why it
isn't the first.

How plans are made is in ``planning.py``, how they are weighed in ``weighing.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keyplan.formatting.results import plain
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.plans import (
    BatchGetPlan,
    ClaimPlan,
    GetPlan,
    QueryPlan,
    ReadPattern,
    ScanPlan,
    ThroughPlan,
)
from keyplan.model.compiled.plans import Plan as PlanOfRead
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.keys import Key, Unique
from keyplan.model.stored.key_templates import Variable
from keyplan.planner.mirrors import Mirror
from keyplan.planner.weighing import Weight

__all__ = ["Answer", "Plan", "PlannedKey", "comparison", "proof_of"]


@dataclass(frozen=True)
class PlannedKey:
    """One key of a plan: its declaration, and the questions that it serves."""

    entity: type[Entity]
    name: str
    key: Key | Unique
    serves: tuple[str, ...]
    new: bool = True
    """Whether the design hasn't it yet."""

    @property
    def where(self) -> str:
        """The index that it stands in, or "the table"."""
        return self.key.index.name if isinstance(self.key, Key) and self.key.index is not None else "the table"

    @property
    def templates(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The templates of its partition and of its sort attributes."""
        return (
            ((self.key.partition,), (self.key.sort,))
            if isinstance(self.key, Unique)
            else (self.key.partition, self.key.sort)
        )

    @property
    def place(self) -> str:
        """``Order.by_customer``."""
        return f"{self.entity.__name__}.{self.name}"

    @property
    def shards(self) -> int:
        """Over how many partitions each of its partitions is spread."""
        return self.key.shards if isinstance(self.key, Key) else 1

    @property
    def text(self) -> str:
        """Its templates and where it stands, in one line."""
        partition, sort = (", ".join(part) for part in self.templates)
        shards = f", shards={self.shards}" if self.shards > 1 else ""
        when = self.key.when if isinstance(self.key, Key) else None
        return f"{partition} | {sort} in {self.where}{shards}{f', when {dict(when)}' if when else ''}"

    @property
    def sentence(self) -> str:
        """Which questions it serves, as a sentence."""
        names = [serve.rpartition(".")[2] for serve in self.serves]
        if isinstance(self.key, Unique):
            return f"lets one item have the value, and answers {_listed(names)}"
        if names:
            return f"answers {_listed(names)}"
        if self.key.index is None:
            return "names each item; no question asks more of it"
        return "no question needs it any more" if not self.new else "answers nothing by itself"


@dataclass(frozen=True)
class Verified:
    """What a plan was verified on: generated stores and their items. ``unanswered``: the reads that had no answer on
    any of them, so that nothing is proved of these.
    """

    stores: int
    items: int
    unanswered: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The same as JSON data."""
        return {"stores": self.stores, "items": self.items, "unanswered": list(self.unanswered)}


@dataclass(frozen=True)
class Answer:
    """A question with its proof: the operation that answers it, by which key, and what of the key is known.

    ``proof`` is one line: ``one partition, PROJECT#{project}; in the order of opened_at, from its end``.
    """

    question: str
    id: str
    operation: str
    key: str
    proof: str


@dataclass(frozen=True)
class Plan:
    """Keys and indexes that serve every question of a design, compiled. ``notes``: what the planner had to guess.

    ``best``: whether no other plan is as good in indexes, USD and the hottest key, and better in one of these. ``why``:
    why it isn't the first; empty for the first.
    """

    design: type[Any]
    indexes: tuple[Index, ...]
    keys: tuple[PlannedKey, ...]
    compiled: CompiledDesign
    weight: Weight
    notes: tuple[str, ...] = ()
    best: bool = True
    why: str = ""
    scan_index: Mapping[str, str] = field(default_factory=dict[str, str])
    """The questions that read an index whole, with its name: where they don't say so, their decorators are to."""
    named: Mapping[str, str] = field(default_factory=dict[str, str])
    """The questions that several keys would answer, each in its own order, with the key that does: their decorators are
    to name it.
    """
    mirrors: tuple[Mirror, ...] = ()
    """The mirror items that are to be added, with what the writes must do."""
    stopped: bool = False
    """Whether Ctrl-C ended the search before all choices were weighed."""
    verified: Verified | None = None
    """What its answers were compared on with brute force; None where they weren't."""

    @property
    def usd_per_million(self) -> float | None:
        """What a million calls cost on demand."""
        return self.weight.usd_per_million

    @property
    def filters(self) -> bool:
        """Whether constants of a question are filtered after it is read."""
        return any(
            isinstance(pattern.plan, QueryPlan)
            and pattern.plan.filter is not None
            and isinstance(pattern.options.where, Mapping)
            for pattern in self.compiled.reads.values()
        )

    @property
    def answers(self) -> list[Answer]:
        """Each question with its operation, the key that answers it, and the proof."""
        return [
            Answer(name, pattern.id, *_answer(pattern.plan), proof_of(pattern))
            for name, pattern in self.compiled.reads.items()
        ]

    @property
    def summary(self) -> str:
        """What it weighs, in a line: its indexes and claims, USD, the hottest key."""
        weight = self.weight
        parts = [f"{weight.indexes} index{'es' if weight.indexes != 1 else ''}" if weight.indexes else "no index"]
        if weight.copies:
            parts.append(f"{weight.copies} claim{'s' if weight.copies > 1 else ''}")
        if weight.usd_a_month is not None:
            parts.append(f"${weight.usd_a_month:,.2f} a month")
        elif weight.usd_per_million is not None:
            parts.append(f"${weight.usd_per_million:,.2f} for a million calls")
        if weight.hottest is not None:
            parts.append(f"the hottest key is {weight.hottest}")
        return ", ".join(parts)

    def differs_from(self, other: Plan) -> str:
        """The keys that it has and another plan hasn't, and the questions that it asks in another way."""
        theirs = {(key.place, str(key.templates), key.where, key.shards) for key in other.keys}
        own = [key for key in self.keys if (key.place, str(key.templates), key.where, key.shards) not in theirs]
        words = [f"{key.place} = {key.text}" for key in own]
        words += [
            f"{place} reads all of {index}" for place, index in self.scan_index.items() if place not in other.scan_index
        ]
        return ", ".join(words)

    def as_json(self) -> dict[str, Any]:
        """The plan as JSON data: what it weighs, its indexes and keys, each question's answer."""
        return {
            "design": self.design.__name__,
            "indexes": [
                {
                    "name": index.name,
                    "partition": [{"name": each.name, "type": each.type} for each in index.partition],
                    "sort": [{"name": each.name, "type": each.type} for each in index.sort],
                    "projection": index.projection if isinstance(index.projection, str) else list(index.projection),
                }
                for index in self.indexes
            ],
            "weight": self.weight.as_json(),
            "best": self.best,
            "why_not_first": self.why,
            "keys": [
                {
                    "place": key.place,
                    "in": key.where,
                    "partition": list(key.templates[0]),
                    "sort": list(key.templates[1]),
                    "when": plain(dict(key.key.when or {})) if isinstance(key.key, Key) else {},
                    "shards": key.shards,
                    "claim": isinstance(key.key, Unique),
                    "serves": list(key.serves),
                    "sentence": key.sentence,
                    "new": key.new,
                }
                for key in self.keys
            ],
            "questions": [
                {
                    "name": answer.question,
                    "id": answer.id,
                    "operation": answer.operation,
                    "key": answer.key,
                    "proof": answer.proof,
                }
                for answer in self.answers
            ],
            "scan_index": dict(self.scan_index),
            "named": dict(self.named),
            "mirrors": [mirror.as_json() for mirror in self.mirrors],
            "stopped": self.stopped,
            "verified": None if self.verified is None else self.verified.as_json(),
            "notes": list(self.notes),
        }


def comparison(plans: Sequence[Plan]) -> dict[str, Any]:
    """Plans side by side as JSON data, the first the best: what ``keyplan plan --json`` prints, and what a page can
    show. Each has what it weighs (``weight``), whether no other beats it (``best``), why it isn't the first
    (``why_not_first``), its indexes, keys with the sentence of what they serve, questions with their proofs; ``rows``
    has one row for each key that any of them has, with its declaration in each plan (None where a plan hasn't it).
    """
    places = dict.fromkeys(key.place for plan in plans for key in plan.keys)
    keys = [{key.place: key for key in plan.keys} for plan in plans]
    rows = [
        {"place": place, "in_plans": [own[place].text if place in own else None for own in keys]} for place in places
    ]
    return {"plans": [plan.as_json() for plan in plans], "rows": rows}


def _listed(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _answer(plan: PlanOfRead) -> tuple[str, str]:
    match plan:
        case GetPlan():
            return "GetItem", f"{plan.entity.name}.{plan.entity.primary.name}"
        case ClaimPlan():
            return "GetItem, GetItem", f"{plan.entity.name}.{plan.claim.name}"
        case BatchGetPlan():
            return "BatchGetItem", f"{plan.entity.name}.{plan.entity.primary.name}"
        case QueryPlan():
            keys = ", ".join(f"{match.entity.name}.{match.key.name}" for match in plan.matches)
            return "Query" + (" and a filter" if plan.filter is not None else ""), keys
        case ScanPlan():
            return "Scan", "no key" if plan.index is None else f"all of {plan.index.name}"
        case ThroughPlan():
            ways = [_answer(part) for way in plan.ways for part in (way.junction, way.end)]
            return ", ".join(text for text, _ in ways), ", ".join(key for _, key in ways)


# Proofs


def proof_of(read: ReadPattern) -> str:
    """Why a question's plan answers it without a scan, in a line."""
    return "; then ".join(_proofs(read.plan)) + (", strongly consistent" if read.options.consistent else "")


def _proofs(plan: PlanOfRead) -> Iterator[str]:
    match plan:
        case GetPlan():
            yield f"all of {plan.entity.name}'s primary key is known ({', '.join(plan.entity.key_fields)})"
        case BatchGetPlan():
            yield f"all of {plan.entity.name}'s primary key is known, for each {' and '.join(plan.each)}"
        case ClaimPlan():
            fields = ", ".join(sorted(plan.claim.fields))
            yield f"{fields} names one claim, and that the item"
        case QueryPlan():
            yield _query_proof(plan)
        case ScanPlan():
            yield "it asks for a scan" if plan.index is None else _whole_proof(plan)
        case ThroughPlan():
            for way in plan.ways:
                for part in (way.junction, way.end):
                    yield from _proofs(part)


def _whole_proof(plan: ScanPlan) -> str:
    """Why an index that is read whole holds what is asked for, and no more."""
    states = dict.fromkeys(name for key in plan.keys for name in key.when)
    fields = (
        name for entity in plan.entities for key in plan.keys for name in key.fields if entity.fields[name].optional
    )
    held = f"with {', '.join(states)} as asked" if states else f"that have {', '.join(dict.fromkeys(fields))}"
    return f"no more than the items {held} stand in it"


def _query_proof(plan: QueryPlan) -> str:
    first = plan.matches[0]
    partition = " and ".join(template.source for _, template in first.key.partition)
    parts = [
        f"one partition, {partition}"
        if not plan.each
        else f"one partition for each {' and '.join(plan.each)}, {partition}"
    ]
    if plan.shards > 1:
        parts[0] = f"{plan.shards} shards of {parts[0]}, merged"
    known = [element.field for part in first.sort for element in part.known if isinstance(element, Variable)]
    if known:
        parts.append(f"its sort key begins with {', '.join(known)}")
    ranges = [part.condition.field for part in first.sort if part.condition is not None]
    if ranges:
        parts.append(f"{ranges[0]} stands next")
    elif any(match.order for match in plan.matches):
        name = next(match.order[0][0] for match in plan.matches if match.order)
        parts.append(f"in the order of {name}{'' if plan.forward else ', from its end'}")
    if first.key.when:
        parts.append(f"only items with {', '.join(first.key.when)} as asked stand in it")
    if plan.filter is not None:
        parts.append("what else is asked is filtered after it is read")
    return "; ".join(parts)
