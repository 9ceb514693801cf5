"""A plan as it is shown: its keys with the reads of each, the access patterns with the reason why each works, what it
weighs, and why it isn't the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keyplan.analysis.explain.wording import key_names, proof
from keyplan.formatting.results import plain
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.keys import Key, Unique
from keyplan.planner.weighing import Weight

__all__ = ["Answer", "Plan", "PlannedKey", "Verified", "comparison"]


@dataclass(frozen=True)
class PlannedKey:
    """One key of a plan: its declaration, and the access patterns that it serves."""

    entity: type[Entity]
    name: str
    key: Key | Unique
    serves: tuple[str, ...]
    new: bool = True
    """Whether the design lacks it."""

    @property
    def where(self) -> str:
        """The index that it is in, or "the table"."""
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
        """Its templates and its place, on one line."""
        partition, sort = (", ".join(part) for part in self.templates)
        shards = f", shards={self.shards}" if self.shards > 1 else ""
        when = self.key.when if isinstance(self.key, Key) else None
        return f"{partition} | {sort} in {self.where}{shards}{f', when {dict(when)}' if when else ''}"

    @property
    def sentence(self) -> str:
        """Which access patterns it serves, as a sentence."""
        names = [serve.rpartition(".")[2] for serve in self.serves]
        if isinstance(self.key, Unique):
            return f"makes the value unique, and serves {_listed(names)}"
        if names:
            return f"serves {_listed(names)}"
        if self.key.index is None:
            return "identifies each item; no access pattern reads by it"
        return "serves no access pattern"


@dataclass(frozen=True)
class Verified:
    """The verification of a plan: generated stores and their items. ``unanswered``: the reads that found nothing,
    and aren't verified.
    """

    stores: int
    items: int
    unanswered: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The same as JSON data."""
        return {"stores": self.stores, "items": self.items, "unanswered": list(self.unanswered)}


@dataclass(frozen=True)
class Answer:
    """How an access pattern is served: by which operation and key, and why that needs no scan, in a sentence."""

    question: str
    id: str
    operation: str
    key: str
    proof: str


@dataclass(frozen=True)
class Plan:
    """Keys and indexes that serve every access pattern of a design, compiled.

    ``notes``: what the planner assumed, and what to know about the plan. ``limits``: the limits that the search
    reached, so that fewer indexes may be possible. ``best``: whether no other plan is as good in indexes, USD and the
    hottest key, and better in one. ``why``: why it isn't the first; empty for the first. ``named``: the key that a
    pattern's decorator must name, and ``filters``: the text for its ``where=``, by the pattern's place. ``stopped``:
    whether Ctrl-C ended the search. ``verified``: on what its results were compared with brute force; None if they
    weren't.
    """

    design: type[Any]
    indexes: tuple[Index, ...]
    keys: tuple[PlannedKey, ...]
    compiled: CompiledDesign
    weight: Weight
    notes: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    best: bool = True
    why: str = ""
    named: Mapping[str, str] = field(default_factory=dict[str, str])
    filters: Mapping[str, str] = field(default_factory=dict[str, str])
    stopped: bool = False
    verified: Verified | None = None

    @property
    def usd_per_million(self) -> float | None:
        """What a million calls cost on demand."""
        return self.weight.usd_per_million

    @property
    def reworded(self) -> dict[str, str]:
        """The option that each pattern's decorator must get, by the pattern's place."""
        named = {place: f"key={key}" for place, key in self.named.items()}
        return named | {place: f'where="{text}"' for place, text in self.filters.items()}

    @property
    def answers(self) -> list[Answer]:
        """Each access pattern with its operation, its key, and why that works."""
        return [
            Answer(name, read.id, read.plan.operation, ", ".join(key_names(read.plan)), proof(read.plan, read))
            for name, read in self.compiled.reads.items()
        ]

    @property
    def summary(self) -> str:
        """What it weighs, in a line: its indexes and unique values, USD, the hottest key."""
        weight = self.weight
        parts = [f"{weight.indexes} index{'es' if weight.indexes != 1 else ''}" if weight.indexes else "no index"]
        if weight.copies:
            parts.append(f"{weight.copies} claim{'s' if weight.copies > 1 else ''}")
        if weight.usd_a_month is not None:
            parts.append(f"${weight.usd_a_month:,.2f} per month")
        elif weight.usd_per_million is not None:
            parts.append(f"${weight.usd_per_million:,.2f} for a million calls")
        if weight.hottest is not None:
            parts.append(f"the hottest key is {weight.hottest}")
        return ", ".join(parts)

    def differs_from(self, other: Plan) -> str:
        """The keys that it has and another plan lacks, and the decorators that it changes."""
        theirs = {(key.place, str(key.templates), key.where, key.shards) for key in other.keys}
        own = [key for key in self.keys if (key.place, str(key.templates), key.where, key.shards) not in theirs]
        words = [f"{key.place} = {key.text}" for key in own]
        words += [f"{place} with {text}" for place, text in self.reworded.items() if place not in other.reworded]
        return ", ".join(words)

    def as_json(self) -> dict[str, Any]:
        """The plan as JSON data: what it weighs, its indexes and keys, and how each access pattern is served."""
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
            "named": dict(self.named),
            "filters": dict(self.filters),
            "stopped": self.stopped,
            "verified": None if self.verified is None else self.verified.as_json(),
            "notes": list(self.notes),
            "limits": list(self.limits),
        }


def comparison(plans: Sequence[Plan]) -> dict[str, Any]:
    """Plans side by side as JSON data, the best first, as ``keyplan plan --json`` prints them. ``rows`` has a row for
    each key that any plan has, with its declaration in each plan (None if a plan lacks it).
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
