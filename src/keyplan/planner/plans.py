"""A plan's keys, its weight (indexes, USD, load of the busiest partition), and why it isn't the first plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keyplan.analysis.check.check_subject import BusiestPartition, Subject, busiest_partitions
from keyplan.analysis.check.demand import demands
from keyplan.analysis.cost.bills import Payer
from keyplan.analysis.cost.estimate import estimate
from keyplan.analysis.cost.pricelist import price_list
from keyplan.analysis.cost.write_costs import with_counts
from keyplan.analysis.explain.wording import key_names, listed, proof
from keyplan.analysis.traffic.traffic_file import Traffic, traffic_of
from keyplan.formatting.results import plain
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.plans import QueryPlan
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.keys import Key, Unique

REGION = "us-east-1"
"""The region whose prices are used if the traffic has none, or one without a price list."""
CENT = 0.005
"""A difference in USD that doesn't matter."""
HAIR = 1e-3
"""A difference in a partition's load that doesn't matter."""


@dataclass(frozen=True)
class HotKey:
    """The busiest partition of a key at peak load. ``shards``: how many shards keep each partition below its limit."""

    keys: tuple[str, ...]
    place: str
    kind: str
    units_per_second: float
    limit: int
    shards: int
    one_item: bool

    @property
    def share(self) -> float:
        return self.units_per_second / self.limit

    def __str__(self) -> str:
        return f"{self.keys[0]}: {self.units_per_second:,.0f} of {self.limit:,} {self.kind} units per second"


@dataclass(frozen=True)
class Weight:
    """The criteria that plans are compared by. ``usd_per_million``: the price of a million calls with on-demand
    capacity, with patterns weighted by their rates if known. ``usd_a_month``: the monthly bill; None without rates.
    ``hot``: the busiest partition of each key with a known load, the hottest first. ``copies``: the number of unique
    values (separate items). ``filtered``: the number of reads whose constants are filtered after reading. ``reworded``:
    the number of patterns whose decorators must change.
    """

    indexes: int
    usd_per_million: float | None
    usd_a_month: float | None
    hot: tuple[HotKey, ...]
    copies: int = 0
    filtered: int = 0
    reworded: int = 0

    @property
    def hottest(self) -> HotKey | None:
        return self.hot[0] if self.hot else None

    @property
    def heat(self) -> float:
        """The load on the hottest key as a share of its limit; 0 if unknown."""
        return self.hot[0].share if self.hot else 0.0

    @property
    def over(self) -> int:
        return sum(key.share > 1 for key in self.hot)

    @property
    def excess(self) -> float:
        """The total load above the limits, where 1 is the limit of a partition."""
        return sum(max(key.share - 1, 0.0) for key in self.hot)

    @property
    def usd(self) -> float:
        """The monthly bill or, without rates, the price of a million calls."""
        return (self.usd_per_million if self.usd_a_month is None else self.usd_a_month) or 0.0

    @property
    def order(self) -> tuple[float, ...]:
        """The sort key of plans: load above the limits, reads with a filter that a key could replace, indexes (a unique
        value counts as one), unique values, changed decorators, cost, and the hottest key's load.
        """
        items = (round(self.excess, 2), self.filtered, self.indexes + self.copies, self.copies, self.reworded)
        return (*items, round(self.usd, 2), round(self.heat, 3))

    def as_json(self) -> dict[str, Any]:
        return {
            "indexes": self.indexes,
            "usd_per_million": self.usd_per_million,
            "usd_a_month": self.usd_a_month,
            "hottest": None if self.hottest is None else self.hottest.keys[0],
            "hot": [
                {
                    "keys": list(key.keys),
                    "in": key.place,
                    "kind": key.kind,
                    "units_per_second": key.units_per_second,
                    "limit": key.limit,
                    "share": key.share,
                    "shards": key.shards,
                }
                for key in self.hot
            ],
        }


def dominates(weight: Weight, other: Weight) -> bool:
    """Whether a plan is at least as good as another in indexes, USD and hottest key, and better in one of these."""
    if weight.copies > other.copies or weight.filtered > other.filtered or weight.indexes > other.indexes:
        return False
    if weight.usd > other.usd + CENT or weight.heat > other.heat + HAIR:
        return False
    return weight.indexes < other.indexes or weight.usd < other.usd - CENT or weight.heat < other.heat - HAIR


def front(weights: Iterable[Weight]) -> list[bool]:
    """For each weight, whether no other weight dominates it and no earlier weight is equal."""
    given = list(weights)
    return [
        not any(dominates(other, weight) for other in given)
        and not any(_same(other, weight) for other in given[:number])
        for number, weight in enumerate(given)
    ]


def _same(weight: Weight, other: Weight) -> bool:
    counts = [(each.indexes, each.copies, each.filtered) for each in (weight, other)]
    return counts[0] == counts[1] and abs(weight.usd - other.usd) <= CENT and abs(weight.heat - other.heat) <= HAIR


def weighed(cls: type[Any], compiled: CompiledDesign, traffic: Traffic | None, copies: int, reworded: int) -> Weight:
    """The weight of a compiled design with this traffic, by default the traffic in the decorators."""
    result = estimate(cls, traffic or traffic_of(compiled))
    prices = price_list(result.traffic.table.region or REGION)
    payer = Payer(result, prices if prices.usd else price_list(REGION))
    rates = [pattern.load.per_second or 0.0 for pattern in result.patterns]
    shares = [rate / sum(rates) if any(rates) else 1 / len(rates) for rate in rates]
    usd = [payer.call_usd(pattern) or 0.0 for pattern in result.patterns]
    hot: list[HotKey] = []
    if any(pattern.load.peak for pattern in result.patterns):
        subject = Subject(compiled, with_counts(compiled, cls, result.traffic), cls)
        hot = sorted(map(_hot_key, busiest_partitions(demands(subject))), key=lambda key: -key.share)
    filtered = sum(
        isinstance(read.plan, QueryPlan) and read.plan.filter is not None and isinstance(read.options.where, Mapping)
        for read in compiled.reads.values()
    )
    return Weight(
        len(compiled.table.indexes),
        sum(share * each for share, each in zip(shares, usd, strict=True)) * 1_000_000,
        payer.chosen().known_usd if any(rates) else None,
        tuple(hot),
        copies,
        filtered,
        reworded,
    )


def _hot_key(partition: BusiestPartition) -> HotKey:
    ordered = sorted(partition.demands, key=lambda demand: -demand.per_second)
    names = tuple(dict.fromkeys(f"{demand.entity.name}.{demand.key.name}" for demand in ordered))
    shards, one_item = 1, partition.worst.one_item
    # Shards distribute only writes: a read queries every shard, and all requests for one item use one shard.
    if partition.kind == "write" and not one_item and partition.per_second > partition.limit:
        shards = partition.shards_needed
    return HotKey(names, partition.place, partition.kind, partition.per_second, partition.limit, shards, one_item)


def why_not_first(other: Weight, first: Weight) -> str:
    """A plan's advantages and drawbacks, compared with the first plan."""
    against = " and ".join(_worse(other, first))
    good = " and ".join(_differences(first, other, "less", "cooler", hotter=other))
    if against and good:
        return f"{good}, but {against}"
    return against or good or "equal in indexes, cost and load; the first plan has simpler keys"


def _worse(weight: Weight, than: Weight) -> Iterator[str]:
    if weight.excess > than.excess + HAIR and weight.hottest is not None:
        yield f"throttled: {weight.hottest}"
    if weight.filtered > than.filtered:
        yield f"{_counted(weight.filtered - than.filtered, 'more read')} filtered after reading"
    if weight.copies > than.copies:
        yield f"{_counted(weight.copies - than.copies, 'more claim')} for unique values"
    if weight.reworded > than.reworded:
        yield f"{_counted(weight.reworded - than.reworded, 'access pattern')} declared with key= or where="
    yield from _differences(weight, than, "more", "hotter")


def _differences(more: Weight, less: Weight, word: str, heat: str, hotter: Weight | None = None) -> Iterator[str]:
    if more.indexes > less.indexes:
        yield _counted(more.indexes - less.indexes, f"{'fewer' if word == 'less' else word} index")
    if more.usd > less.usd + CENT:
        what = "per million calls" if more.usd_a_month is None else "per month"
        yield f"${more.usd - less.usd:,.2f} {word} {what}"
    if more.heat > less.heat + HAIR and more.excess <= less.excess + HAIR:
        shown = hotter or more
        yield f"{heat}: {shown.hottest}" if shown.hottest is not None else f"{heat} keys"


def _counted(number: int, noun: str) -> str:
    ending = "es" if noun.endswith("x") else "s"
    return f"{number} {noun if number == 1 else noun + ending}"


@dataclass(frozen=True)
class PlannedKey:
    """A key's declaration in a plan, and the access patterns that the key supports."""

    entity: type[Entity]
    name: str
    key: Key | Unique
    serves: tuple[str, ...]
    new: bool = True
    """Whether the design lacks it."""

    @property
    def where(self) -> str:
        return self.key.index.name if isinstance(self.key, Key) and self.key.index is not None else "the table"

    @property
    def templates(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        key = self.key
        return ((key.partition,), (key.sort,)) if isinstance(key, Unique) else (key.partition, key.sort)

    @property
    def place(self) -> str:
        return f"{self.entity.__name__}.{self.name}"

    @property
    def shards(self) -> int:
        return self.key.shards if isinstance(self.key, Key) else 1

    @property
    def text(self) -> str:
        partition, sort = (", ".join(part) for part in self.templates)
        shards = f", shards={self.shards}" if self.shards > 1 else ""
        when = self.key.when if isinstance(self.key, Key) else None
        return f"{partition} | {sort} in {self.where}{shards}{f', when {dict(when)}' if when else ''}"

    @property
    def sentence(self) -> str:
        names = [serve.rpartition(".")[2] for serve in self.serves]
        if isinstance(self.key, Unique):
            return f"makes the value unique, and supports {listed(names)}"
        if names:
            return f"supports {listed(names)}"
        if self.key.index is None:
            return "identifies each item; no access pattern reads by it"
        return "supports no access pattern"


@dataclass(frozen=True)
class Verified:
    """The verification of a plan on generated stores. ``unanswered``: the reads that returned no items."""

    stores: int
    items: int
    unanswered: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {"stores": self.stores, "items": self.items, "unanswered": list(self.unanswered)}


@dataclass(frozen=True)
class Answer:
    """The operation and key of an access pattern, and why it needs no scan."""

    pattern: str
    id: str
    operation: str
    key: str
    proof: str


@dataclass(frozen=True)
class Plan:
    """Keys and indexes that support every access pattern of a design, and the compiled design.

    ``notes``: the planner's assumptions, and facts about the plan. ``limits``: the limits that the search reached, so
    that a plan with fewer indexes may exist. ``best``: whether no other plan dominates this one. ``why``: why this plan
    isn't the first; empty for the first. ``named``: the value of ``key=`` that a decorator needs, and ``filters``: the
    value of ``where=``, by the pattern's place. ``stopped``: whether Ctrl-C ended the search. ``verified``: the
    generated data on which the plan's results were compared with a brute-force filter, if they were.
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
    def reworded(self) -> dict[str, str]:
        """The option to add to each pattern's decorator, by the pattern's place."""
        named = {place: f"key={key}" for place, key in self.named.items()}
        return named | {place: f'where="{text}"' for place, text in self.filters.items()}

    @property
    def answers(self) -> list[Answer]:
        return [
            Answer(name, read.id, read.plan.operation, ", ".join(key_names(read.plan)), proof(read.plan, read))
            for name, read in self.compiled.reads.items()
        ]

    @property
    def summary(self) -> str:
        """The plan's weight in one line: indexes, unique values, USD, and the hottest key."""
        weight = self.weight
        parts = [f"{weight.indexes} index{'es' if weight.indexes != 1 else ''}" if weight.indexes else "no index"]
        if weight.copies:
            parts.append(f"{weight.copies} claim{'s' if weight.copies > 1 else ''}")
        if weight.usd_a_month is not None:
            parts.append(f"${weight.usd_a_month:,.2f} per month")
        elif weight.usd_per_million is not None:
            parts.append(f"${weight.usd_per_million:,.2f} per million calls")
        if weight.hottest is not None:
            parts.append(f"the hottest key is {weight.hottest}")
        return ", ".join(parts)

    def differs_from(self, other: Plan) -> str:
        """The keys and changed decorators of this plan that the other plan lacks."""
        theirs = {(key.place, str(key.templates), key.where, key.shards) for key in other.keys}
        own = [key for key in self.keys if (key.place, str(key.templates), key.where, key.shards) not in theirs]
        words = [f"{key.place} = {key.text}" for key in own]
        words += [f"{place} with {text}" for place, text in self.reworded.items() if place not in other.reworded]
        return ", ".join(words)

    def as_json(self) -> dict[str, Any]:
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
            "patterns": [
                {"name": each.pattern, "id": each.id, "operation": each.operation, "key": each.key, "proof": each.proof}
                for each in self.answers
            ],
            "named": dict(self.named),
            "filters": dict(self.filters),
            "stopped": self.stopped,
            "verified": None if self.verified is None else self.verified.as_json(),
            "notes": list(self.notes),
            "limits": list(self.limits),
        }


def comparison(plans: Sequence[Plan]) -> dict[str, Any]:
    """Plans side by side as JSON data, the best first. ``rows``: each key with its declaration in each plan."""
    places = dict.fromkeys(key.place for plan in plans for key in plan.keys)
    keys = [{key.place: key for key in plan.keys} for plan in plans]
    rows = [{"place": at, "in_plans": [own[at].text if at in own else None for own in keys]} for at in places]
    return {"plans": [plan.as_json() for plan in plans], "rows": rows}
