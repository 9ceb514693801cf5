# mypy: disable-error-code="empty-body"
"""Estimates equal examples from the price list and AWS's documentation, exact to the cent and to the unit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from keyplan import Design, Entity, Index, Key, Page, Table, Update, Writes, read, write
from keyplan.analysis.cost.bills import Payer, break_even, capacity_units, storage_break_even
from keyplan.analysis.cost.cost_wording import number
from keyplan.analysis.cost.estimate import EntityEstimate, Estimate, PatternEstimate, estimate
from keyplan.analysis.cost.pricelist import price_list
from keyplan.analysis.cost.unit_counts import TABLE, Direction, Line, Request, batch_get, get_item, page_read
from keyplan.analysis.cost.write_costs import lines_of
from keyplan.analysis.traffic.traffic_file import TableSettings, Traffic, traffic_from
from keyplan.analysis.write_analysis.dry_run import Mutation
from keyplan.dynamodb.values import item_size
from keyplan.model.compiled.item_sizes import ItemSizes
from keyplan.model.declared.pattern_load import Load

GB = 1024**3
MONTH_SECONDS = 2_628_000


def estimated(
    *, reads: float = 0.0, writes: float = 0.0, peak: float = 1.0, gb: float = 0.0, **settings: Any
) -> Estimate:
    """An estimate of a table with these units per month; the rate at peak is ``peak`` times the average."""
    asked: list[tuple[str, Direction, float]] = [("reads", "read", reads), ("writes", "write", writes)]
    patterns = [
        PatternEstimate(
            name,
            name,
            "read",
            name,
            (Request(name, (Line(direction, TABLE, 1.0, ""),)),),
            Load(per_second=units / MONTH_SECONDS, peak_per_second=peak * units / MONTH_SECONDS),
        )
        for name, direction, units in asked
    ]
    stored = EntityEstimate(ItemSizes("Thing", 924, (), 0, {}), gb * GB / 1024)  # plus 100 B: 1 KB per item
    traffic = Traffic(TableSettings(**settings), {}, {})
    return Estimate("Design", "", "things", (TABLE,), frozenset(), traffic, tuple(patterns), (stored,))


# Prices


def test_the_estimate_equals_the_example_of_the_pricing_calculator() -> None:
    """10 million writes, 10 million eventually consistent reads of up to 4 KB, and 10 GB cost $9.375."""
    bill = Payer(estimated(reads=5e6, writes=10e6, gb=10), price_list("us-east-1")).on_demand()
    assert bill.usd == pytest.approx(9.375, abs=1e-9)
    assert [round(charge.usd or 0, 4) for charge in bill.charges] == [0.625, 6.25, 2.5]


def test_the_estimate_for_tokyo_uses_the_prices_of_tokyo() -> None:
    """The same requests and storage as in us-east-1 cost 0.7125 + 7.15 + 2.85 USD."""
    assert Payer(estimated(reads=5e6, writes=10e6, gb=10), price_list("ap-northeast-1")).on_demand().usd == (
        pytest.approx(10.7125, abs=1e-9)
    )


def test_prices_that_a_region_lacks_are_reported() -> None:
    """The bill names the missing prices and has no total."""
    bill = Payer(estimated(reads=1e6), price_list("ap-northeast-1")).provisioned()
    assert bill.usd is None
    assert bill.missing == ("a read capacity unit for an hour", "a write capacity unit for an hour")


def test_standard_infrequent_access_has_the_published_prices() -> None:
    """Requests cost about 25% more than in the standard class, and storage costs $0.10 per GB."""
    payer = Payer(estimated(reads=1e6, writes=1e6, gb=100), price_list("us-east-1"))
    assert payer.on_demand("standard-infrequent-access").usd == pytest.approx(0.155 + 0.78 + 10.0)
    assert payer.on_demand().usd == pytest.approx(0.125 + 0.625 + 25.0)
    assert storage_break_even(price_list("us-east-1")) == pytest.approx(0.4133, abs=1e-4)


def test_capacity_is_provisioned_for_the_peak_load() -> None:
    """70 units per second at 70% utilization take 100 units for 730 hours. The peak is three times the average."""
    payer = Payer(estimated(reads=70 / 3 * MONTH_SECONDS, peak=3), price_list("us-east-1"))
    assert payer.provisioned().usd == pytest.approx(100 * 730 * 0.00013 + 730 * 0.00065)
    scaled = payer.provisioned(peak=False)
    assert scaled.usd == pytest.approx(34 * 730 * 0.00013 + 730 * 0.00065)
    assert [capacity_units(rate) for rate in (0, 0.7, 0.71, 70)] == [1, 1, 2, 100]


def test_provisioned_capacity_is_cheaper_above_29_percent_utilization() -> None:
    """A million writes cost $0.18 at full utilization, compared with $0.625 on demand."""
    for direction in ("Read", "Write"):
        assert break_even(price_list("us-east-1"), direction) == pytest.approx(0.2889, abs=1e-4)


def test_reserved_capacity_has_the_published_price() -> None:
    """100 read units cost $30 upfront and $0.0025 per hour; 100 write units cost $150 and $0.0128."""
    bill = Payer(estimated(reads=70 * MONTH_SECONDS), price_list("us-east-2")).reserved("1yr")
    assert bill is not None
    assert bill.usd == pytest.approx((30 + 150) / 12 + 730 * (0.0025 + 0.0128))
    assert Payer(estimated(), price_list("us-east-2")).reserved("3yr") is None


def test_point_in_time_recovery_and_storage_of_idle_tables_are_charged() -> None:
    """Point-in-time recovery costs $0.20 per GB. Without requests, only recovery and storage are charged."""
    payer = Payer(estimated(writes=1e6, gb=50, point_in_time_recovery=True), price_list("us-east-1"))
    assert payer.idle().usd == pytest.approx(50 * 0.25 + 50 * 0.20)


def test_global_table_writes_are_charged_in_every_region() -> None:
    """Reads are charged in one region. Each item of a global table has 48 additional bytes."""
    prices = price_list("us-east-1")
    result = estimated(reads=1e6, writes=1e6, gb=10, replicas=("us-east-1",))
    bill = Payer(result, prices, [replace(prices, region="us-west-9")]).on_demand()
    storage = 10 * 0.25 * (1024 + 48) / 1024
    assert bill.usd == pytest.approx(0.125 + 2 * 0.625 + 2 * storage)
    assert "writes of the table in us-west-9" in [charge.what for charge in bill.charges]


def test_stream_reads_are_charged_per_consumer() -> None:
    """Each of two consumers of one shard sends one request per second."""
    result = estimated(stream="NEW_IMAGE", stream_readers=2)
    (charge,) = [element for element in Payer(result, price_list("us-east-1")).stored() if "stream" in element.what]
    assert charge.usd == pytest.approx(2 * MONTH_SECONDS * 0.2e-6)


@pytest.mark.parametrize(
    ("writes", "gb", "told"), [(1000, 1, "1 shard ×"), (1001, 1, "2 shards ×"), (1, 25, "3 shards ×")]
)
def test_stream_reads_are_charged_per_shard(writes: float, gb: float, told: str) -> None:
    """A stream has one shard per 1,000 writes per second or per 10 GB, whichever is more."""
    result = estimated(writes=writes * MONTH_SECONDS, gb=gb, stream="NEW_IMAGE", stream_readers=1)
    (charge,) = [element for element in Payer(result, price_list("us-east-1")).stored() if "stream" in element.what]
    assert told in charge.why
    assert charge.usd == pytest.approx(int(told[0]) * MONTH_SECONDS * 0.2e-6)


def test_the_cost_of_an_hour_at_peak_load_is_calculated() -> None:
    """1,000 write units per second are 3.6 million units per hour."""
    payer = Payer(estimated(writes=100 * MONTH_SECONDS, peak=10), price_list("us-east-1"))
    assert payer.peak_hour_usd() == pytest.approx(3.6 * 0.625)


def test_very_large_numbers_are_shown_in_scientific_notation() -> None:
    """A mistyped number in a traffic file must not fill the report with digits."""
    assert [number(element) for element in (1e15, 9e43, 999_999_999_999_999, 12.25, 0.5)] == [
        "1e+15", "9e+43", "999,999,999,999,999", "12.2", "0.5"
    ]  # fmt: skip


# Units


def test_a_query_is_charged_for_the_rounded_total_size_of_its_items() -> None:
    """Five items of 1 KB take two blocks of 4 KB, as do ten of 512 B: one eventually consistent unit."""
    assert page_read("Query", None, [1024] * 5, consistent=False).units("read") == 1
    assert page_read("Query", None, [512] * 10, consistent=False).units("read") == 1
    assert page_read("Query", None, [], consistent=False).units("read") == 0.5


def test_a_batch_read_is_charged_for_the_rounded_size_of_each_item() -> None:
    """100 small items take 50 units. A missing item takes the minimum."""
    assert batch_get([200] * 100, consistent=False).units("read") == 50
    assert batch_get([200, None, 5000], consistent=True).units("read") == 4
    assert get_item(None, consistent=True).units("read") == 1


def item(size: int, **more: str) -> dict[str, Any]:
    result: dict[str, Any] = {"pk": {"S": "p"}, "sk": {"S": "s"}, **{name: {"S": text} for name, text in more.items()}}
    return {**result, "x": {"S": "x" * (size - item_size(result) - 1)}}


ALL = Index("ALL", "status", "sk")
KEYS = Index("KEYS", "status", "sk", projection="KEYS_ONLY")
SOME = Index("SOME", "status", "sk", projection=["y"])


def units(index: Index, before: dict[str, Any] | None, after: dict[str, Any] | None, **how: bool) -> dict[str, float]:
    lines = lines_of(
        Mutation("Write", before, after), Table("things", indexes=[index]), transactional=how.get("twice", False)
    )
    return {line.target: line.units for line in lines}


def test_a_change_of_an_item_costs_up_to_two_index_writes() -> None:
    """An index entry is created, removed, moved to another key, or changed in a projected attribute."""
    draft, live = item(4096, status="draft"), item(4096, status="live")
    assert units(ALL, None, draft) == {"": 4, "ALL": 4}
    assert units(KEYS, None, draft) == {"": 4, "KEYS": 1}
    assert units(KEYS, draft, live) == {"": 4, "KEYS": 2}
    assert units(ALL, draft, live) == {"": 4, "ALL": 8}
    assert units(ALL, draft, item(4096)) == {"": 4, "ALL": 4}
    assert units(ALL, draft, None) == {"": 4, "ALL": 4}
    assert units(ALL, item(4096), item(2000)) == {"": 4}
    assert units(KEYS, draft, {**draft, "z": {"S": "new"}}) == {"": 5}
    assert units(SOME, draft, {**draft, "y": {"S": "new"}}) == {"": 5, "SOME": 1}
    assert units(SOME, draft, draft) == {"": 4}


def test_a_transaction_doubles_only_table_units() -> None:
    """Units of indexes aren't doubled. A condition check costs as much as a write."""
    draft = item(1500, status="draft")
    assert units(ALL, None, draft, twice=True) == {"": 4, "ALL": 2}
    assert units(ALL, draft, draft, twice=True) == {"": 4}
    assert units(ALL, None, None, twice=True) == {"": 2}


# A design whose every number can be calculated by hand


BY_STATE = Index("BY_STATE", "state_pk", "state_sk")


class Note(Entity):
    """A note; the traffic file sets its size to 1,000 bytes."""

    owner: str
    number: int
    text: str
    state: str = "open"

    primary = Key("N#{owner}", "{number:04d}")
    by_state = Key("S#{state}", "{owner}#{number:04d}", index=BY_STATE)


class Notes(Design):
    """Notes, read by owner. An index contains the notes by state."""

    table = Table("notes", indexes=[BY_STATE])

    @read("N1")
    def notes(self, owner: str, limit: int = 20) -> Page[Note]: ...

    @write("W1")
    def finish(self, note: Note) -> Writes:
        yield Update(note, state="closed")


def test_estimates_equal_a_calculation_by_hand() -> None:
    """21 notes of 1,000 B take six blocks: 3 units. Finishing a note moves its index entry: 1 + 2 units."""
    data = {
        "patterns": {"notes": {"per_second": 10, "items": 500}, "finish": {"per_second": 1}},
        "entities": {"Note": {"count": 1_000_000, "item_bytes": 1000}},
    }
    result = estimate(Notes, traffic_from(data, Notes.compiled))
    notes, finish = result.patterns
    assert (notes.read_units, finish.write_units, finish.amplification) == (3, 3, 3)
    assert result.entities[0].sizes.item_bytes == 1000
    assert result.stored_bytes() == {"": 1_100_000_000, "BY_STATE": 1_100_000_000}
    payer = Payer(result, price_list("us-east-1"))
    assert payer.pattern_usd(notes) == pytest.approx(30 * 2.628 * 0.125)
    assert payer.pattern_usd(finish) == pytest.approx(3 * 2.628 * 0.625)
    assert payer.call_usd(finish) == pytest.approx(3 * 0.625e-6)
    assert payer.target_usd("BY_STATE") == pytest.approx(2 * 2.628 * 0.625 + 1.1e9 / GB * 0.25)


@pytest.mark.parametrize("meter", ["WriteCapacityUnit-Hrs", "WriteRequestUnits"])
def test_the_break_even_utilization_is_unknown_if_a_price_is_missing(meter: str) -> None:
    whole = price_list("us-east-1")
    prices = {name: usd for name, usd in whole.usd.items() if name != meter}
    assert break_even(replace(whole, usd=prices)) is None
    assert break_even(replace(whole, usd={**prices, "WriteRequestUnits": 0.0})) is None


@pytest.mark.parametrize(
    "meter", ["TimedStorage-ByteHrs", "IA-TimedStorage-ByteHrs", "WriteRequestUnits", "IA-WriteRequestUnits"]
)
def test_the_storage_break_even_is_unknown_if_a_price_is_missing(meter: str) -> None:
    whole = price_list("us-east-1")
    assert (
        storage_break_even(replace(whole, usd={name: usd for name, usd in whole.usd.items() if name != meter})) is None
    )
