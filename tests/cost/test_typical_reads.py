"""What is there for a typical call of each read, as it was agreed upon: how many items in which partitions, of which
bytes, what they lead to, what was assumed; under traffic that says nothing, a little, and more than is gone through.
"""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.analysis.cost import read_facts as facts_module
from keyplan.analysis.cost.read_facts import Facts
from keyplan.analysis.traffic.traffic_file import traffic_from
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.errors import TrafficError
from keyplan.testing.costs import metering
from tests.cost.actual import metered, predicted
from tests.cost.layout_cases import DESIGNS as ALL
from tests.cost.ways import Ways


def facts_of(cls: Any, pattern: dict[str, Any], entity: dict[str, Any]) -> Facts:
    """The traffic that says this, without what can't be said of a read of single items."""
    said = {
        "patterns": {name: {**pattern} for name in cls.compiled.reads},
        "entities": {each.name: entity for each in cls.compiled.entities.values()},
    }
    try:
        traffic = traffic_from(said, cls.compiled)
    except TrafficError as error:
        for fault in error.errors:
            _, name, member = str(fault.place).split(".")
            del said["patterns"][name][member]
        traffic = traffic_from(said, cls.compiled)
    return Facts(Typical(cls.compiled, traffic.entities), traffic)


GIVEN: dict[str, dict[str, Any]] = {
    "owner_of_chip": {"chip": "c"},
    "owner_of": {"pet_id": "p"},
    "beside": {"pet_id": "p"},
    "that_are_away": {"kind": ["cat", "dog"], "owner_id": ["a", "b", "c"]},
    "all_away": {},
    "visited": {},
    "family": {"owner_id": "o"},
    "of_both": {"owner_id": "o"},
    "some_of_both": {"owner_id": "o"},
    "by_mail": {"mail": "m"},
}


@pytest.mark.parametrize("name", GIVEN)
def test_what_is_asked_where_nothing_is(name: str) -> None:
    """As much as a store without items is asked."""
    pattern = Ways.compiled.reads[name]
    with Ways.open(":memory:") as design, metering(design) as meter:
        answer: Any = design.stream(name, (), GIVEN[name]) if name == "all_away" else design.call(name, GIVEN[name])
        assert not list(answer or ())
    cost = facts_of(Ways, {}, {}).read(pattern, arguments=pattern.signature.bind((), GIVEN[name]), nothing=True)
    assert sorted(metered(meter)) == sorted(predicted(cost.requests))
    assert not cost.notes


def test_nothing_is_in_each_bucket_of_time() -> None:
    pattern = ALL["Timed"].compiled.reads["last_reading"]
    asked = facts_of(ALL["Timed"], {}, {}).read(pattern, nothing=True).requests
    assert len(asked) == facts_module.BUCKETS_ASSUMED == 2
