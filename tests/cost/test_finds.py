"""What is there for a typical call of each read, as it was agreed upon: how many items in which partitions, of which
bytes, what they lead to, what was assumed; under traffic that says nothing, a little, and more than is gone through.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from keyplan.cost import facts as facts_module
from keyplan.cost.facts import Facts, _Finder
from keyplan.cost.stretches import End, ExpectedItem, ExpectedRange, Found
from keyplan.design.compiled.plans import ReadPattern
from keyplan.design.traffic.files import traffic_from
from keyplan.design.traffic.typical import Typical
from keyplan.errors import TrafficError
from keyplan.testing.costs import metering
from tests.agreed import assert_agreed
from tests.cost.actual import metered, predicted
from tests.cost.test_layouts import DESIGNS as ALL
from tests.cost.test_shares import Notes
from tests.cost.ways import Ways

DESIGNS = {**ALL, "Ways": Ways}
SAID: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "nothing": ({}, {}),
    "a little": ({"items": 3, "kept": 0.4, "item_bytes": 555}, {"per_partition": 2}),
    "of entities": ({"kept": 0.5}, {"per_partition": 9, "count": 5}),
    "much": ({"items": 100}, {"per_partition": 50, "count": 90}),
    "what is usual": ({}, {"per_partition": 4, "item_bytes": 5000}),
}
"""What is said of each pattern and of each entity."""
BOUNDS = {"SIMULATED_MAX": 30, "ENDS_SIMULATED_MAX": 120, "PARTS_SIMULATED_MAX": 60, "COMBINATIONS_MAX": 15}
"""So many are gone through here, so that little is much."""


def facts_of(cls: Any, pattern: dict[str, Any], entity: dict[str, Any]) -> Facts:
    """The traffic that says this, without what can't be said of a read of single items."""
    said = {
        "patterns": {name: {**pattern} for name in cls.compiled.reads},
        "entities": {each.name: entity for each in cls.compiled.entities.values()},
    }
    try:
        traffic = traffic_from(said, cls.compiled)
    except TrafficError as error:
        for fault in error.faults:
            _, name, member = str(fault.place).split(".")
            del said["patterns"][name][member]
        traffic = traffic_from(said, cls.compiled)
    return Facts(Typical(cls.compiled, traffic.entities), traffic)


def shown(facts: Facts, pattern: ReadPattern) -> Iterator[str]:
    given = facts.finds.arguments(pattern)
    pattern = pattern.as_called(given)
    finder = _Finder(facts, pattern, given, within_a_write=False)
    found, times = finder.found()
    yield f"{pattern.name}: × {times:.6g}, assumed {finder.assumed}; {'; '.join(finder.notes)}"
    yield from (f"  {line}" for line in _lines(found))
    entities = [entity.name for entity in facts_module._entities_in(pattern.plan)]
    nothing = facts.read(pattern, nothing=True).requests
    units = [f"{request.operation} {request.units('read'):g}" for request in nothing]
    yield f"  of {', '.join(entities)}; where nothing is: {', '.join(units)}"


def _lines(found: Found) -> Iterator[str]:
    if found.items:
        yield f"{len(found.items)} items: {sorted({size or 0 for size in found.items})}"
    if found.link is not None:
        yield f"leads to {_end(found.link)}"
    for way in (found.stretches, *found.also):
        yield f"{len(way)} partitions"
        yield from (f"  {line}" for line in dict.fromkeys(_range(stretch) for stretch in (*way[:2], *way[-1:])))


def _range(stretch: ExpectedRange) -> str:
    kinds = [
        f"{sum(met.kind == kind for met in stretch.met)} {kind}" for kind in {met.kind: None for met in stretch.met}
    ]
    items = [_item(met) for met in (*stretch.met[:2], *stretch.met[2:][-1:])]
    return f"bucket {stretch.bucket}, last {stretch.last_kind}: {', '.join(kinds)}: {'; '.join(items)}"


def _item(met: ExpectedItem) -> str:
    leads = "" if met.end is None else f" to {_end(met.end)}"
    return f"{met.size_bytes} at {met.place}{' filtered' * met.filtered}{leads}"


def _end(end: End) -> str:
    sizes = [f"{len(stretch.met)} {[each.place for each in stretch.met[:2]]}" for stretch in end.stretches[:2]]
    return f"{end.identity} {end.size_bytes} {len(end.stretches)} {', '.join(sizes)}".strip()


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("said", SAID)
def test_what_is_there_is_as_it_was_agreed_upon(name: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for bound, number in BOUNDS.items():
        monkeypatch.setattr(facts_module, bound, number)
    facts = facts_of(DESIGNS[name], *SAID[said])
    reads = DESIGNS[name].compiled.reads.values()
    assert_agreed("\n".join(line for pattern in reads for line in shown(facts, pattern)))


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


def test_reads_of_what_only_some_items_have_are_as_agreed_upon() -> None:
    """Averages of what is found with each combination of fields, in indexes that hold some of them."""
    lines: list[str] = []
    for cls, name, fields in ((Ways, "Pet", ("text", "state", "chip")), (Notes, "Note", ("text", "state"))):
        for field in fields:
            said = {"entities": {name: {"filled": {field: 0.25}, "count": 8}}}
            traffic = traffic_from(said, cls.compiled)
            facts = Facts(Typical(cls.compiled, traffic.entities), traffic)
            for pattern in cls.compiled.reads.values():
                cost = facts.read(pattern)
                lines.append(f"{field}: {pattern.name}, assumed {facts.assumed_items(pattern)} {'; '.join(cost.notes)}")
                lines += [f"  {each.operation} {line.why}" for each in cost.requests for line in each.lines]
    assert_agreed("\n".join(lines))
