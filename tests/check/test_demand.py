# mypy: disable-error-code="empty-body"
"""Estimated capacity units per second, per partition and in total, at peak load."""

from __future__ import annotations

import random
from typing import Any

import pytest

from keyplan import (
    Add,
    Batch,
    Create,
    Design,
    Entity,
    Field,
    Index,
    Key,
    Page,
    Put,
    Table,
    Update,
    Writes,
    read,
    ulid,
    write,
)
from keyplan.analysis.check.check_subject import Demand, Subject, length_max, numbers_in, values_of
from keyplan.analysis.check.demand import demands
from keyplan.analysis.cost.estimate import estimate
from keyplan.analysis.cost.unit_counts import TABLE
from keyplan.analysis.traffic.traffic_file import traffic_from
from keyplan.errors import TrafficError
from keyplan_systems.cms.design import Cms
from keyplan_systems.shop.design import Shop

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Event(Entity):
    event_id: str = Field(default_factory=ulid)
    kind: str

    primary = Key("EVENT#{event_id}", "HEAD")
    all_of_them = Key("EVENTS", "{event_id}", index=GSI1, shards=4)


class Tally(Entity):
    page: str
    part: int = Field(ge=0, lt=20)
    views: int = 0

    primary = Key("TALLY#{page}#{part}", "HEAD")


class Log(Design):
    table = Table("log", indexes=[GSI1])

    @read("L1", newest_first=True)
    def events(self, limit: int = 10) -> Page[Event]: ...

    @read("L2")
    def tally(self, page: str, part: int) -> Tally | None: ...

    @write("L3")
    def record(self, event: Event) -> Writes:
        yield Create(event)

    @write("L7")
    def record_all(self, events: list[Event]) -> Writes:
        yield Batch(Put(event) for event in events)

    @write("L6")
    def rename(self, event: Event, kind: str) -> Writes:
        yield Update(event, kind=kind)

    @write("L4")
    def view(self, page: str) -> Writes:
        yield Update(Tally, page=page, part=random.randrange(20)).set(views=Add(1))

    @write("L5")
    def view_part(self, page: str, part: int) -> Writes:
        yield Update(Tally, page=page, part=part).set(views=Add(1))


def demanded(**patterns: Any) -> list[Demand]:
    return demands(Subject(Log.compiled, traffic_from({"patterns": patterns}, Log.compiled), Log)).partitions


def test_shards_divide_the_write_load_and_multiply_the_read_requests() -> None:
    (demand,) = demanded(record={"per_second": 100, "peak_per_second": 8000})
    assert (demand.key.name, demand.kind, demand.per_second) == ("all_of_them", "write", 2000)
    assert demand.line.endswith("÷ 4 shards = 2,000 units/s")
    (demand,) = demanded(events={"per_second": 100})
    assert (demand.key.name, demand.kind, demand.per_second) == ("all_of_them", "read", 50)


def test_a_key_parameter_with_20_values_divides_the_write_load() -> None:
    (demand,) = demanded(view={"per_second": 1000, "hottest": 1})
    assert (demand.key.name, demand.one_item, demand.per_second) == ("primary", True, 50)
    (demand,) = demanded(view_part={"per_second": 1000, "hottest": 0.5})
    assert demand.per_second == 500


def test_shards_do_not_divide_the_load_of_one_item() -> None:
    """Half of the calls change one event; the other calls are spread over the remaining events."""
    (demand,) = [
        each for each in demanded(rename={"per_second": 800, "hottest": 0.5}) if each.key.name == "all_of_them"
    ]
    assert (demand.one_item, demand.per_second) == (True, 400 + 400 / 4)
    assert demand.line.endswith("× 50% on the busiest item + 400 ÷ 4 shards = 500 units/s")
    (demand,) = [each for each in demanded(rename={"per_second": 800}) if each.key.name == "all_of_them"]
    assert (demand.one_item, demand.per_second) == (False, 200)


def test_a_constant_partition_key_receives_the_load_of_all_calls() -> None:
    (demand,) = demanded(record={"per_second": 800, "hottest": 0.1})
    assert (demand.key.name, demand.per_second) == ("all_of_them", 200)


def test_the_traffic_file_sets_the_items_and_size_of_a_write() -> None:
    """Without the traffic file, a typical call writes three small items."""
    patterns = {"record_all": {"per_second": 10, "items": 60, "item_bytes": 2000}}
    traffic = traffic_from({"patterns": patterns}, Log.compiled)
    result = demands(Subject(Log.compiled, traffic, Log))
    (priced,) = [pattern for pattern in estimate(Log, traffic).patterns if pattern.name == "record_all"]
    assert priced.units("write") == {TABLE: 120, "GSI1": 120}
    assert result.totals == {("the table", "write"): [("record_all", 1200)], ("GSI1", "write"): [("record_all", 1200)]}
    (demand,) = result.partitions
    assert (demand.key.name, demand.per_second) == ("all_of_them", 1200 / 4)
    assert "× 20 items per call" in demand.line


def test_a_partition_with_an_unknown_share_of_the_load_is_not_reported() -> None:
    assert demanded(view={"per_second": 1000}) == []
    assert demanded(tally={"per_second": 1000}) == []
    assert demanded() == []


def test_the_demand_of_writes_is_unknown_without_the_design_class() -> None:
    traffic = traffic_from({"patterns": {"record": {"per_second": 9}}}, Log.compiled)
    result = demands(Subject(Log.compiled, traffic))
    assert (result.totals, result.partitions) == ({}, [])


@pytest.mark.parametrize("design", [Cms, Shop])
def test_the_total_demand_equals_the_cost_estimate(design: type[Design]) -> None:
    rates = {name: {"per_second": 2 + number} for number, name in enumerate(design.compiled.patterns)}
    traffic = traffic_from({"patterns": rates}, design.compiled)
    totals = demands(Subject(design.compiled, traffic, design)).totals
    for target, rate in estimate(design, traffic).throughput(peak=True).items():
        place = "the table" if target == TABLE else target
        for kind, wanted in (("read", rate.reads), ("write", rate.writes)):
            assert sum(units for _, units in totals.get((place, kind), ())) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("annotation", "values", "numbers", "length"),
    [
        (bool, (False, True), None, None),
        (str, None, None, None),
        (Event.model_fields["kind"].annotation, None, None, None),
    ],
)
def test_the_number_of_values_and_the_maximum_length_are_derived_from_a_type(
    annotation: Any, values: Any, numbers: int | None, length: int | None
) -> None:
    assert (values_of(annotation), numbers_in(annotation), length_max(annotation)) == (values, numbers, length)


def test_the_number_of_values_of_a_bounded_integer_type_is_computed() -> None:
    annotation = Log.compiled.by_name["Tally"].fields["part"].annotation
    assert numbers_in(annotation) == 20
    assert numbers_in(int) is None


def test_the_share_of_one_key_does_not_affect_other_keys() -> None:
    """The write changes an item with several keys."""
    result = demanded(record={"per_second": 800, "hottest": {"Event.all_of_them": 0.5}})
    assert [demand.key.name for demand in result] == ["all_of_them"]
    (demand,) = demanded(view={"per_second": 1000, "hottest": {"Tally.primary": 1}})
    assert demand.per_second == 50


def test_generated_ids_give_each_call_its_own_partition() -> None:
    result = demanded(record={"per_second": 8000, "hottest": 1})
    assert [demand.key.name for demand in result] == ["all_of_them"]


def test_an_unknown_key_in_a_traffic_file_is_an_error() -> None:
    with pytest.raises(TrafficError, match=r"patterns\.view\.hottest\.Tally\.primry: the design has no such key"):
        demanded(view={"per_second": 1, "hottest": {"Tally.primry": 1}})
