# mypy: disable-error-code="empty-body"
"""Items of others that lie between those that are asked for are found by the checker, and predicted as metered."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from keyplan import Design, Entity, Key, Table, read
from keyplan.check import check
from keyplan.cost.estimate import estimate
from keyplan.design.traffic.files import traffic_from
from tests.client.support import record


class Alpha(Entity):
    owner: str
    number: int
    primary = Key("OWNER#{owner}", "A#{number:04d}")


class Between(Entity):
    owner: str
    number: int
    text: str
    primary = Key("OWNER#{owner}", "B#{number:04d}")


class Gamma(Entity):
    owner: str
    number: int
    primary = Key("OWNER#{owner}", "C#{number:04d}")


class Pair(NamedTuple):
    alphas: list[Alpha]
    gammas: list[Gamma]


class Owners(Design):
    table = Table("owners", entities=[Between])

    @read("O1")
    def pair(self, owner: str) -> Pair | None: ...

    @read("O2")
    def both(self, owner: str) -> list[Alpha | Gamma]: ...

    @read("O3")
    def alphas(self, owner: str) -> list[Alpha]: ...


def test_the_checker_names_what_lies_between() -> None:
    result = {finding.place: finding.message for finding in check(Owners).findings if finding.code == "KP207"}
    assert set(result) == {"Owners.pair", "Owners.both"}
    assert "one query reads Alpha and Gamma in the table, and leaves out Between" in result["Owners.pair"]


@pytest.mark.parametrize("name", ["pair", "both"])
def test_what_lies_between_is_predicted_as_it_is_metered(name: str) -> None:
    traffic: dict[str, Any] = {
        "patterns": {"both": {"items": 2}},
        "entities": {
            "Alpha": {"per_partition": 1},
            "Gamma": {"per_partition": 1},
            "Between": {"per_partition": 100, "item_bytes": 4000},
        },
    }
    predicted = next(
        pattern for pattern in estimate(Owners, traffic_from(traffic, Owners.compiled)).patterns if pattern.name == name
    )
    with Owners.open(":memory:") as owners:
        owners.put(Alpha(owner="o", number=1))
        owners.put(Gamma(owner="o", number=1))
        for number in range(100):
            owners.put(Between(owner="o", number=number, text="x" * 3950))
        metered: list[float] = []

        def counted(call: Any, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
            response: dict[str, Any] = call(operation, {**parameters, "ReturnConsumedCapacity": "TOTAL"})
            metered.append(response["ConsumedCapacity"]["CapacityUnits"])
            return response

        record(owners).around = counted
        owners.call(name, {"owner": "o"})
    assert sum(metered) > 40
    assert predicted.read_units == pytest.approx(sum(metered), rel=0.05)
