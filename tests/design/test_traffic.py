"""Traffic files and traffic settings in decorators are read and merged, and errors name their place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import field_validator

from keyplan import Design, Entity, Key, Table, Writes, read, write
from keyplan.analysis.traffic.traffic_file import StoredItems, read_traffic, traffic_from, traffic_of
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.errors import DesignError, TrafficError
from keyplan.model.declared.pattern_load import Load


class Thing(Entity):
    name: str
    text: str = ""

    primary = Key("THING#{name}", "HEAD")


class Things(Design):
    table = Table("things")

    @read("T1", per_second=4, items=10, item_bytes=200)
    def thing(self, name: str) -> Thing | None: ...

    @write("T2", per_second=1)
    def make(self, thing: Thing) -> Writes:
        yield from ()


class Renamed(Design):
    table = Table("things")

    @read("T1")
    def one_thing(self, name: str) -> Thing | None: ...


def faults(data: Any, *others: type[Design]) -> dict[str, str]:
    with pytest.raises(TrafficError) as caught:
        traffic_from(data, Things.compiled, *(design_class.compiled for design_class in others))
    return {fault.place: str(fault) for fault in caught.value.errors}


def test_a_typical_item_in_a_traffic_file_is_validated_once() -> None:
    """A validator that changes its input, such as one that hashes a password, must not receive its own result."""

    class Account(Entity):
        name: str
        secret: str = "x"

        primary = Key("ACCOUNT#{name}", "HEAD")

        @field_validator("secret")
        @classmethod
        def _hashed(cls, secret: str) -> str:
            return secret * 10

    class Accounts(Design):
        table = Table("accounts", entities=[Account])

    account = Accounts.compiled.entities[Account]
    typical = Typical(Accounts.compiled, {})
    assert typical.instance(account, {"of_another": 1}) is typical.instance(account)
    assert typical.instance(account, {"name": "a"}).model_dump()["name"] == "a"


def test_traffic_can_be_set_in_decorators_without_a_file() -> None:
    traffic = traffic_of(Things.compiled)
    assert traffic.patterns == {"thing": Load(per_second=4, items=10, item_bytes=200), "make": Load(per_second=1)}
    assert traffic.entities == {"Thing": StoredItems()}
    assert traffic.known
    assert not traffic_of(Renamed.compiled).known


def test_each_value_in_the_traffic_file_overrides_that_of_the_decorator() -> None:
    traffic = traffic_from({"patterns": {"T1": {"per_second": 9, "hottest": 0.5}}}, Things.compiled)
    assert traffic.patterns["thing"] == Load(per_second=9, items=10, item_bytes=200, hottest=0.5)
    assert traffic.patterns["thing"].peak == 9
    assert traffic.patterns["make"].peak == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("traffic.toml", '[patterns.thing]\nper_second = 7\n[table]\nregion = "eu-west-1"\n'),
        ("traffic.json", json.dumps({"patterns": {"thing": {"per_second": 7}}, "table": {"region": "eu-west-1"}})),
    ],
)
def test_traffic_files_in_toml_and_json_are_read(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    traffic = read_traffic(path, Things.compiled)
    assert (traffic.patterns["thing"].per_second, traffic.table.region, traffic.source) == (7, "eu-west-1", str(path))


def test_all_errors_of_a_traffic_file_are_reported_together_with_their_places() -> None:
    result = faults(
        {
            "tabel": {},
            "table": {"region": "eu-wst-1", "replicas": ["mars-1"], "billing": "free", "x": 1},
            "patterns": {
                "thin": {},
                "thing": {"per_second": -1, "kept": 2, "hottest": 0, "items": float("nan"), "rate": 3},
                "T1": {},
                "make": {"per_second": 1e12, "item_bytes": 1.5},
            },
            "entities": {"Thin": {}, "Thing": {"count": "many", "fields": {"txt": 3}}},
        }
    )
    assert set(result) == {
        "tabel", "table.region", "table.replicas.0", "table.billing", "table.x", "patterns.thin", "patterns.T1",
        "patterns.thing.per_second", "patterns.thing.kept", "patterns.thing.hottest", "patterns.thing.items",
        "patterns.thing.rate", "patterns.make.per_second", "patterns.make.item_bytes", "entities.Thin",
        "entities.Thing.count", "entities.Thing.fields.txt",
    }  # fmt: skip
    assert "did you mean thing?" in result["patterns.thin"]
    assert "did you mean eu-west-1?" in result["table.region"]
    assert "did you mean text?" in result["entities.Thing.fields.txt"]
    assert "given: -1" in result["patterns.thing.per_second"]


@pytest.mark.parametrize("wrong", [True, "4", None, float("inf"), [], {}])
def test_traffic_rates_that_are_not_numbers_are_reported(wrong: Any) -> None:
    if wrong is None:
        assert traffic_from({"patterns": {"thing": {"per_second": None}}}, Things.compiled).patterns["thing"]
        return
    assert "patterns.thing.per_second" in faults({"patterns": {"thing": {"per_second": wrong}}})


OTHER_FORMS: list[Any] = [[], 3, "x", None, {"patterns": []}, {"patterns": {"thing": 3}}, {"entities": {"Thing": 1}}]


@pytest.mark.parametrize("wrong", OTHER_FORMS)
def test_traffic_values_of_wrong_types_are_reported(wrong: Any) -> None:
    assert "the value must be a mapping of names to values" in next(iter(faults(wrong).values()))


def test_contradictory_traffic_values_are_reported() -> None:
    result = faults(
        {
            "patterns": {"thing": {"per_second": 9, "peak_per_second": 3}},
            "entities": {"Thing": {"per_partition": 9, "per_partition_max": 3}},
        }
    )
    assert "below the average" in result["patterns.thing.peak_per_second"]
    assert "below the average" in result["entities.Thing.per_partition_max"]


def test_contradictory_traffic_values_are_reported_together_with_other_errors() -> None:
    result = faults(
        {
            "patterns": {"thing": {"per_second": 9, "peak_per_second": 3, "kept": 2}, "make": {"peak_per_second": "x"}},
            "entities": {"Thing": {"per_partition": "many", "per_partition_max": 3}, "Thin": 3},
        }
    )
    assert "below the average" in result["patterns.thing.peak_per_second"]
    assert set(result) == {
        "patterns.thing.peak_per_second", "patterns.thing.kept", "patterns.make.peak_per_second",
        "entities.Thing.per_partition", "entities.Thin",
    }  # fmt: skip


def test_one_traffic_file_can_describe_two_versions_of_a_design() -> None:
    data = {"patterns": {"thing": {"per_second": 9}, "one_thing": {"per_second": 3}}}
    assert "patterns.one_thing" in faults(data)
    assert traffic_from(data, Things.compiled, Renamed.compiled).patterns["thing"].per_second == 9
    assert traffic_from(data, Renamed.compiled, Things.compiled).patterns["one_thing"].per_second == 3


@pytest.mark.parametrize(("name", "text"), [("a.toml", "[x"), ("a.json", "{"), ("a.json", "[" * 100_000)])
def test_unreadable_traffic_files_are_reported(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(TrafficError, match=r"invalid (TOML|JSON): "):
        read_traffic(path, Things.compiled)
    with pytest.raises(TrafficError, match="can't be read"):
        read_traffic(tmp_path / "none.toml", Things.compiled)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(TrafficError, match="UTF-8"):
        read_traffic(path, Things.compiled)


@pytest.mark.parametrize(
    ("given", "told"),
    [({"per_second": -1}, "greater than or equal to 0"), ({"items": "many"}, "valid number"), ({"item_bytes": 0}, "1")],
)
def test_traffic_in_decorators_is_checked_when_the_class_is_created(given: dict[str, Any], told: str) -> None:
    with pytest.raises(DesignError) as caught:

        class Wrong(Design):
            table = Table("wrong")

            @read("T1", **given)
            def thing(self, name: str) -> Thing | None: ...

            @write("T2", **given)
            def make(self, thing: Thing) -> Writes:
                yield from ()

    assert [fault.place for fault in caught.value.errors] == ["Wrong.thing", "Wrong.make"]
    assert told in caught.value.errors[0].message
    assert next(iter(given)) in caught.value.errors[0].message
