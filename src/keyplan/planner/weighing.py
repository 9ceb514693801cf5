"""What a plan weighs: its indexes, USD, and the busiest partition of its keys, by the cost model and the checker's
demands; which plan weighs less, and how many shards a key needs.

Nothing here makes a plan: that is ``planning.py``'s work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.demand import demands
from keyplan.analysis.check.peak_demand import BusiestPartition, busiest_partitions
from keyplan.analysis.cost.bills import Payer
from keyplan.analysis.cost.estimate import Estimate, estimate
from keyplan.analysis.cost.hot_partitions import shards_for
from keyplan.analysis.cost.pricelist import price_list
from keyplan.analysis.cost.typical_calls import with_counts
from keyplan.analysis.traffic.traffic_file import Traffic, traffic_of
from keyplan.model.compiled.compiled_design import CompiledDesign

__all__ = ["HotKey", "Weight", "dominates", "front", "weighed", "why_not_first"]

REGION = "us-east-1"
"""Whose prices are taken where the traffic doesn't say a region, or one without a price list."""
CENT = 0.005
"""USD that two plans may differ by and cost the same."""


@dataclass(frozen=True)
class HotKey:
    """The busiest partition of one key at the peak. ``share``: of what a partition gives or takes, 1 is all of it.
    ``shards``: how many spread it below its ceiling; 1 where that isn't needed, or wouldn't help.
    """

    keys: tuple[str, ...]
    place: str
    kind: str
    units_per_second: float
    limit: int
    shards: int
    one_item: bool

    @property
    def share(self) -> float:
        """The part of the partition's ceiling that is used."""
        return self.units_per_second / self.limit

    def __str__(self) -> str:
        return f"{self.keys[0]}: {self.units_per_second:,.0f} of {self.limit:,} {self.kind} units a second"


@dataclass(frozen=True)
class Weight:
    """What a plan costs. ``usd_per_million``: a million calls on demand, the patterns weighted by their rates where
    these are known, and alike where they aren't. ``usd_a_month``: the month's bill; None without rates. ``hot``: the
    busiest partition of each key whose load is known, the hottest first.
    """

    indexes: int
    usd_per_million: float | None
    usd_a_month: float | None
    hot: tuple[HotKey, ...]
    copies: int
    """Claim items, which are written besides."""
    mirrors: int = 0
    """Mirror items that the writes must keep."""
    reworded: int = 0
    """Questions that would have to be declared in another way: to read all of an index, or by a key that they name."""

    terse: bool = False
    """Whether the words in its keys are a letter or two."""

    @property
    def hottest(self) -> HotKey | None:
        """The key that is nearest to its ceiling."""
        return self.hot[0] if self.hot else None

    @property
    def heat(self) -> float:
        """The hottest key's share of what a partition gives; 0 where no load is known."""
        return self.hot[0].share if self.hot else 0.0

    @property
    def over(self) -> int:
        """How many keys ask more of a partition than it gives."""
        return sum(key.share > 1 for key in self.hot)

    @property
    def usd(self) -> float:
        """USD a month where rates are known, else of a million calls."""
        return (self.usd_per_million if self.usd_a_month is None else self.usd_a_month) or 0.0

    @property
    def order(self) -> tuple[float, ...]:
        """Plans are ordered by it: what the planner can't write goes behind; no key over its ceiling, fewer indexes (a
        claim counts as one), the questions as they are, then the cost.
        """
        items = (self.mirrors, self.over, self.indexes + self.copies, self.copies, self.reworded)
        return (*items, round(self.usd, 2), round(self.heat, 3))

    def as_json(self) -> dict[str, Any]:
        """The weight as JSON data; the keys with a known load under ``hot``."""
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
    """Whether a plan is as good as another in indexes, USD and its hottest key, and better in one of these. One with
    claims, which make values unique, or mirror items doesn't stand for one without.
    """
    no_worse = (
        weight.copies <= other.copies
        and weight.mirrors <= other.mirrors
        and weight.terse <= other.terse
        and weight.indexes <= other.indexes
        and weight.usd <= other.usd + CENT
        and weight.heat <= other.heat + 1e-3
    )
    better = weight.indexes < other.indexes or weight.usd < other.usd - CENT or weight.heat < other.heat - 1e-3
    return no_worse and better


def front(weights: Iterable[Weight]) -> list[bool]:
    """For each weight, whether none of the others dominates it, nor an earlier one is the same."""
    scan_index = list(weights)
    return [
        not any(dominates(other, weight) for other in scan_index)
        and not any(_same(other, weight) for other in scan_index[:number])
        for number, weight in enumerate(scan_index)
    ]


def _same(weight: Weight, other: Weight) -> bool:
    same = (weight.indexes, weight.copies, weight.mirrors, weight.terse) == (
        other.indexes,
        other.copies,
        other.mirrors,
        other.terse,
    )
    return same and abs(weight.usd - other.usd) <= CENT and abs(weight.heat - other.heat) <= 1e-3


def weighed(
    cls: type[Any],
    compiled: CompiledDesign,
    traffic: Traffic | None,
    copies: int,
    besides: Callable[[Estimate], Estimate] | None,
) -> Weight:
    """The weight of a design's class as it is compiled, under its traffic (without one: under what decorators say), and
    with what its writes must do ``besides``.
    """
    traffic = traffic or traffic_of(compiled)
    result = estimate(cls, traffic)
    if besides is not None:
        result = besides(result)
    prices = price_list(result.traffic.table.region or REGION)
    if not prices.usd:
        prices = price_list(REGION)
    payer = Payer(result, prices)
    rates = [pattern.load.per_second or 0.0 for pattern in result.patterns]
    weights = [rate / sum(rates) for rate in rates] if any(rates) else [1 / len(rates) for _ in rates] if rates else []
    usd = [payer.call_usd(pattern) or 0.0 for pattern in result.patterns]
    a_million = sum(weight * each for weight, each in zip(weights, usd, strict=True)) * 1_000_000
    hot: list[HotKey] = []
    if any(pattern.load.peak for pattern in result.patterns):
        subject = Subject(compiled, with_counts(compiled, cls, result.traffic), cls)
        hot = sorted(map(_hot_key, busiest_partitions(demands(subject))), key=lambda key: -key.share)
    return Weight(
        len(compiled.table.indexes),
        a_million,
        payer.chosen().known_usd if any(rates) else None,
        tuple(hot),
        copies,
    )


def _hot_key(partition: BusiestPartition) -> HotKey:
    ordered = sorted(partition.demands, key=lambda each: -each.per_second)
    names = tuple(dict.fromkeys(f"{each.entity.name}.{each.key.name}" for each in ordered))
    return HotKey(
        names,
        partition.place,
        partition.kind,
        partition.per_second,
        partition.limit,
        _shards(partition),
        partition.worst.one_item,
    )


def _shards(partition: BusiestPartition) -> int:
    """Shards spread writes. What is read is asked of every shard, and what goes to one item stands in one shard."""
    if partition.kind != "write" or partition.worst.one_item or partition.per_second <= partition.limit:
        return 1
    return shards_for(partition.per_second * partition.worst.key.shards)


# Why a plan isn't the first


def why_not_first(other: Weight, first: Weight) -> str:
    """What speaks against a plan beside the first, and what for it."""
    against = list(_worse(other, first))
    good = list(_better(other, first))
    if against and good:
        return f"{' and '.join(good)}, but {' and '.join(against)}"
    if against:
        return " and ".join(against)
    return " and ".join(good) or "equal in indexes, cost and load; the first has the plainer keys"


def _worse(weight: Weight, than: Weight) -> Iterator[str]:
    if weight.over > than.over and weight.hottest is not None:
        yield f"{weight.hottest} would be throttled"
    if weight.copies > than.copies:
        yield f"{_counted(weight.copies - than.copies, 'claim')} more, whose values become unique"
    if weight.mirrors > than.mirrors:
        yield f"{_counted(weight.mirrors - than.mirrors, 'mirror item')} for each item, kept by every write of it"
    if weight.reworded > than.reworded:
        yield f"{_counted(weight.reworded - than.reworded, 'question')} declared anew, with scan_index= or key="
    if weight.terse > than.terse:
        yield "words of a letter or two in its keys"
    yield from _differences(weight, than, "more", "hotter")


def _better(weight: Weight, than: Weight) -> Iterator[str]:
    yield from _differences(than, weight, "less", "cooler", hotter=weight)


def _differences(more: Weight, less: Weight, word: str, heat: str, hotter: Weight | None = None) -> Iterator[str]:
    if more.indexes > less.indexes:
        yield f"{_counted(more.indexes - less.indexes, 'index')} {word}"
    if more.usd > less.usd + CENT:
        what = "for a million calls" if more.usd_a_month is None else "a month"
        yield f"${more.usd - less.usd:,.2f} {word} {what}"
    if more.heat > less.heat + 1e-3 and more.over == less.over:
        shown = hotter or more
        yield f"{heat}: {shown.hottest}" if shown.hottest is not None else f"{heat} keys"


def _counted(number: int, noun: str) -> str:
    plural = {"index": "indexes"}
    return f"{number} {noun if number == 1 else plural.get(noun, f'{noun}s')}"
