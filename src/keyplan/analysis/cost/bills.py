"""The bill in USD per month (730 hours) for each billing mode. Each charge shows its arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from keyplan.analysis.cost.estimate import Estimate, PatternEstimate, Throughput
from keyplan.analysis.cost.pricelist import METERS, PriceList, Reserved
from keyplan.analysis.cost.unit_counts import TABLE
from keyplan.analysis.traffic.traffic_file import TableSettings
from keyplan.model.compiled.item_sizes import REPLICA_BYTES

HOURS = 730
"""Hours per month, as in AWS's calculator."""
SECONDS = HOURS * 3600
GB = 1024**3
UTILISATION = 0.7
"""The target utilization of provisioned capacity: AWS's default for auto scaling."""
RESERVED_BLOCK = 100
"""Reserved capacity is sold in blocks of 100 units. Source: "Reserved capacity" on DynamoDB's pricing page."""
EXCLUDED = "data transfer, KMS keys, DAX, Lambda, CloudWatch, backups, exports, imports, restores and the free tier"
"""Costs that aren't estimated."""
STREAM_READS_A_SECOND = 1
"""The reads per second of one shard by one reader. The Kinesis Client Library also polls idle shards. Lambda's reads
are free."""

TableClass = Literal["standard", "standard-infrequent-access"]


@dataclass(frozen=True, slots=True)
class Charge:
    """One line of a bill. ``usd`` is None if the price list has no price for ``meter``. ``why`` has the arithmetic."""

    what: str
    usd: float | None
    why: str
    meter: str


@dataclass(frozen=True, slots=True)
class Bill:
    """The charges of one billing mode for one month."""

    name: str
    charges: tuple[Charge, ...]

    @property
    def usd(self) -> float | None:
        return _total(self.charges)

    @property
    def known_usd(self) -> float:
        return math.fsum(charge.usd for charge in self.charges if charge.usd is not None)

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(METERS[charge.meter] for charge in self.charges if charge.usd is None))


class Payer:
    """Calculates the bills of an estimate, at the prices of the table's region and of the replicas' regions."""

    def __init__(self, estimate: Estimate, prices: PriceList, replicas: Sequence[PriceList] = ()) -> None:
        self.estimate = estimate
        self.prices = prices
        self.replicas = tuple(replicas)
        self.settings: TableSettings = estimate.traffic.table

    # Bills of the whole table

    def on_demand(self, table_class: TableClass = "standard") -> Bill:
        """The on-demand bill: request units at the average rates, storage, and enabled features."""
        rates = self.estimate.throughput(peak=False)
        charges = [charge for target, rate in rates.items() for charge in self._requests(target, rate, table_class)]
        return Bill(_named("on-demand", table_class), (*charges, *self.stored(table_class)))

    def provisioned(self, table_class: TableClass = "standard", *, peak: bool = True) -> Bill:
        """The bill for capacity provisioned for the peak, or for the average rate, the best case of auto scaling."""
        rates = self.estimate.throughput(peak=peak)
        charges = [charge for target, rate in rates.items() for charge in self._capacity(target, rate, table_class)]
        name = "provisioned for the peak" if peak else "provisioned, scaled to the average"
        return Bill(_named(name, table_class), (*charges, *self.stored(table_class)))

    def reserved(self, term: Literal["1yr", "3yr"]) -> Bill | None:
        """The bill for capacity reserved for the peak, in the Standard table class. The upfront price is spread over
        the months of the term. None for a global table, or if the price list has no prices for the term.
        """
        prices = self.prices.reserved.get(term)
        if prices is None or self.replicas:
            return None
        rates = self.estimate.throughput(peak=True)
        charges = tuple(_reserved_charges(rates, prices, 12 if term == "1yr" else 36))
        return Bill(
            f"reserved for {'a year' if term == '1yr' else 'three years'}", (*charges, *self.stored("standard"))
        )

    def idle(self) -> Bill:
        table_class = self.settings.table_class
        return Bill(_named("idle", table_class), tuple(self.stored(table_class)))

    def bills(self) -> list[Bill]:
        classes: tuple[TableClass, ...] = ("standard", "standard-infrequent-access")
        result = [self.on_demand(class_) for class_ in classes]
        result += [self.provisioned(class_, peak=peak) for peak in (True, False) for class_ in classes]
        result += [bill for bill in (self.reserved("1yr"), self.reserved("3yr")) if bill is not None]
        return result

    def by_name(self) -> dict[str, Bill]:
        """The bills by name: one for each billing mode, and one for a month without requests."""
        return {bill.name: bill for bill in (*self.bills(), self.idle())}

    def chosen(self) -> Bill:
        """The bill for the billing mode and the table class that the traffic file sets."""
        if self.settings.billing == "provisioned":
            return self.provisioned(self.settings.table_class)
        return self.on_demand(self.settings.table_class)

    def peak_hour_usd(self) -> float | None:
        """The on-demand cost of an hour with every pattern at its peak, without storage."""
        rates = self.estimate.throughput(peak=True)
        table_class = self.settings.table_class
        a_month = _total(each for target, rate in rates.items() for each in self._requests(target, rate, table_class))
        return None if a_month is None else a_month / HOURS

    # Costs of one pattern, the table or one index

    def call_usd(self, pattern: PatternEstimate) -> float | None:
        """The on-demand cost of one call of a pattern; None if the estimate failed, or a price is missing."""
        if pattern.failure is not None:
            return None
        a_month = _total(self._of_pattern(pattern, 1.0))
        return None if a_month is None else a_month / SECONDS

    def pattern_usd(self, pattern: PatternEstimate) -> float | None:
        """The on-demand cost of a pattern per month; None if the estimate failed, or a price or the rate is unknown."""
        if pattern.failure is not None or pattern.load.per_second is None:
            return None
        return _total(self._of_pattern(pattern, pattern.load.per_second))

    def pattern_charges(self, pattern: PatternEstimate) -> list[Charge]:
        """The on-demand charges of a pattern per month, separately for the table and each index."""
        return list(self._of_pattern(pattern, pattern.load.per_second or 0.0))

    def _of_pattern(self, pattern: PatternEstimate, rate: float) -> Iterator[Charge]:
        reads, writes = pattern.units("read"), pattern.units("write")
        for target in dict.fromkeys((*reads, *writes)):
            units = Throughput(rate * reads.get(target, 0.0), rate * writes.get(target, 0.0))
            yield from self._requests(target, units, self.settings.table_class)

    def target_usd(self, target: str) -> float | None:
        """The on-demand cost of the table or of one index per month, including storage."""
        rate, table_class = self.estimate.throughput(peak=False)[target], self.settings.table_class
        stored = (self._storage(target, table_class, prices) for prices in (self.prices, *self.replicas))
        return _total([*self._requests(target, rate, table_class), *stored])

    # Charges

    def _requests(self, target: str, rate: Throughput, table_class: TableClass) -> Iterator[Charge]:
        """Charges for request units: for reads in the table's region, for writes in every region of a global table."""
        prefix = _prefix(table_class)
        if rate.reads:
            yield _throughput(f"reads of {_shown(target)}", rate.reads, self.prices, f"{prefix}ReadRequestUnits")
        if rate.writes:
            for prices in (self.prices, *self.replicas):
                meter = "ReplWriteRequestUnits" if self.replicas and target == TABLE else "WriteRequestUnits"
                what = f"writes of {_shown(target)}{self._in(prices)}"
                yield _throughput(what, rate.writes, prices, prefix + meter)

    def _capacity(self, target: str, rate: Throughput, table_class: TableClass) -> Iterator[Charge]:
        prefix = _prefix(table_class)
        yield _hours(f"read capacity of {_shown(target)}", rate.reads, self.prices, f"{prefix}ReadCapacityUnit-Hrs")
        for prices in (self.prices, *self.replicas):
            replicated = self.replicas and target == TABLE
            meter = "ReplWriteCapacityUnit-Hrs" if replicated else "WriteCapacityUnit-Hrs"
            yield _hours(f"write capacity of {_shown(target)}{self._in(prices)}", rate.writes, prices, prefix + meter)

    def stored(self, table_class: TableClass = "standard") -> Iterator[Charge]:
        """The charges other than throughput: storage, point-in-time recovery and stream readers."""
        for prices in (self.prices, *self.replicas):
            for target in self.estimate.targets:
                yield self._storage(target, table_class, prices)
            if self.settings.point_in_time_recovery:
                yield self._recovery(prices)
        readers = self.settings.stream_readers
        if self.settings.stream is not None and readers:
            yield self._stream(readers)

    def _bytes(self) -> dict[str, float]:
        return self.estimate.stored_bytes(replicated_bytes=REPLICA_BYTES if self.replicas else 0)

    def _storage(self, target: str, table_class: TableClass, prices: PriceList) -> Charge:
        what = f"storage of {_shown(target)}{self._in(prices)}"
        return _gb(what, self._bytes()[target], prices, f"{_prefix(table_class)}TimedStorage-ByteHrs")

    def _recovery(self, prices: PriceList) -> Charge:
        """Point-in-time recovery is billed by the size of the table and its local indexes."""
        result = self._bytes()
        size_bytes = sum(result[target] for target in (TABLE, *self.estimate.local))
        return _gb(f"point-in-time recovery{self._in(prices)}", size_bytes, prices, "TimedPITRStorage-ByteHrs")

    def _stream(self, readers: int) -> Charge:
        rates = self.estimate.throughput(peak=True)[TABLE]
        shards = max(1, math.ceil(rates.writes / 1000), math.ceil(self._bytes()[TABLE] / (10 * GB)))
        reads = readers * shards * STREAM_READS_A_SECOND * SECONDS
        meter = "Streams-Requests"
        price = self.prices.price(meter)
        plural = "s" if shards > 1 else ""
        why = f"{readers} × {shards} shard{plural} × {STREAM_READS_A_SECOND}/s × {SECONDS:,} s × {_usd(price)}"
        return Charge("stream readers", _times(reads, price), why, meter)

    def _in(self, prices: PriceList) -> str:
        return f" in {prices.region}" if self.replicas else ""


def capacity_units(rate: float) -> int:
    """The capacity units to provision for a rate in units per second, at the target utilization; at least 1."""
    return max(1, math.ceil(round(rate / UTILISATION, 6)))


def break_even(prices: PriceList, direction: Literal["Read", "Write"] = "Write") -> float | None:
    """The utilization, from 0 to 1, above which provisioned capacity is cheaper than on-demand requests."""
    hour, unit = prices.price(f"{direction}CapacityUnit-Hrs"), prices.price(f"{direction}RequestUnits")
    return None if hour is None or not unit else hour / 3600 / unit


def storage_break_even(prices: PriceList) -> float | None:
    """The ratio of storage cost to throughput cost above which Standard-IA is cheaper, such as 0.41 for 41 %."""
    names = ("TimedStorage-ByteHrs", "IA-TimedStorage-ByteHrs", "WriteRequestUnits", "IA-WriteRequestUnits")
    standard, infrequent, write, dearer = (prices.price(name) for name in names)
    if not standard or infrequent is None or not write or dearer is None or infrequent >= standard:
        return None
    return (dearer / write - 1) / (1 - infrequent / standard)


def _total(charges: Iterable[Charge]) -> float | None:
    prices = [charge.usd for charge in charges]
    return None if None in prices else math.fsum(price for price in prices if price is not None)


def _reserved_charges(rates: Mapping[str, Throughput], prices: Reserved, months: int) -> Iterator[Charge]:
    reads = sum(capacity_units(rate.reads) for rate in rates.values())
    writes = sum(capacity_units(rate.writes) for rate in rates.values())
    for what, meter, units, upfront, hour in (
        ("read capacity", "ReadCapacityUnit-Hrs", reads, prices.read_upfront, prices.read_hour),
        ("write capacity", "WriteCapacityUnit-Hrs", writes, prices.write_upfront, prices.write_hour),
    ):
        blocks = math.ceil(units / RESERVED_BLOCK) * RESERVED_BLOCK
        usd = blocks * (upfront / months + hour * HOURS)
        why = f"{units:,} → {blocks:,} units × ({_usd(upfront)} / {months} months + {HOURS} h × {_usd(hour)})"
        yield Charge(what, usd, why, meter)


def _throughput(what: str, rate: float, prices: PriceList, meter: str) -> Charge:
    price = prices.price(meter)
    shown = "no price" if price is None else f"${price * 1e6:g} a million"
    why = f"{rate:,.4g} units/s × {SECONDS:,} s × {shown}"
    return Charge(what, _times(rate * SECONDS, price), why, meter)


def _hours(what: str, rate: float, prices: PriceList, meter: str) -> Charge:
    units = capacity_units(rate)
    price = prices.price(meter)
    why = f"{rate:,.4g} units/s at {UTILISATION:.0%} → {units:,} units × {HOURS} h × {_usd(price)}"
    return Charge(what, _times(units * HOURS, price), why, meter)


def _gb(what: str, size_bytes: float, prices: PriceList, meter: str) -> Charge:
    size, price = size_bytes / GB, prices.price(meter)
    return Charge(what, _times(size, price), f"{size:,.3f} GB × {_usd(price)}", meter)


def _times(quantity: float, price: float | None) -> float | None:
    return None if price is None else quantity * price


def _usd(price: float | None) -> str:
    return "no price" if price is None else f"${price:.10f}".rstrip("0").rstrip(".")


def _prefix(table_class: TableClass) -> str:
    return "" if table_class == "standard" else "IA-"


def _named(name: str, table_class: TableClass) -> str:
    return name if table_class == "standard" else f"{name}, Standard-IA"


def _shown(target: str) -> str:
    return target or "the table"
