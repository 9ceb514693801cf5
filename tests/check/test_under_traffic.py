"""What is found in the tests' designs under traffic drawn at random, and what a traffic file's mistakes are called."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from keyplan import Design
from keyplan.check import check
from keyplan.design.traffic.files import traffic_from
from keyplan.errors import TrafficError
from tests.agreed import assert_agreed
from tests.cost.test_reports import drawn
from tests.rehearsal.test_writes import DESIGNS as ALL

DESIGNS = {name: design for name, design in ALL.items() if name not in {"joiners", "never", "trips"}}


def with_fields(design: type[Design], random: Random, data: dict[str, Any]) -> dict[str, Any]:
    """The traffic, with the bytes of some fields and the share of the items that have some."""
    for entity in design.compiled.entities.values():
        own = data["entities"][entity.name]
        if "item_bytes" not in own:
            own["fields"] = {name: random.choice((0, 40, 3000)) for name in entity.fields if random.random() < 0.3}
        own["filled"] = {name: random.choice((0, 0.02, 0.5, 1)) for name in entity.fields if random.random() < 0.3}
    for load in data["patterns"].values():
        if random.random() < 0.3:
            load["hottest"] = random.choice((0.001, 0.2, 1.0))
        if random.random() < 0.1:
            load["joined"] = True
        if random.random() < 0.1:
            load["kept"] = random.choice((0.5, 0, 2))
    return data


@pytest.mark.parametrize("name", DESIGNS)
def test_what_is_found_is_as_it_was_agreed_upon(name: str) -> None:
    design = DESIGNS[name]
    lines: list[str] = []
    for number in range(2):
        random = Random(f"{name} {number}")
        data = with_fields(design, random, drawn(design.compiled, random, replicated=number == 1))
        for _ in range(4):
            try:
                traffic = traffic_from(data, design.compiled)
                break
            except TrafficError as error:
                lines += [f"refused: {fault.place}: {fault.message} ({fault.hint})" for fault in error.faults]
                for place in dict.fromkeys(fault.place for fault in error.faults):
                    drop(data, place.split("."))
        for finding in check(design, traffic=traffic).findings:
            lines.append(f"{finding.severity} {finding.code} {finding.place}: {finding.message} ({finding.hint})")
            lines += [f"    {line}" for line in finding.arithmetic]
        lines.append("")
    assert_agreed("\n".join(lines))


def drop(data: Any, place: list[str]) -> None:
    """Take out what stands at a place, or what it stands in."""
    name, *inner = place
    if not inner or not isinstance(data.get(name), dict) or inner[0] not in data[name]:
        data.pop(name, None)
    else:
        drop(data[name], inner)
