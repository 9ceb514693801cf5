"""What is laid out for a read: partitions and items under names, in the order of the places that are known of them, and
what its stand-ins ask. Beside the finds of typical calls the same with the partitions the other way round.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from keyplan.cost.facts import Facts, _Finder
from keyplan.cost.layout import Layout, Partition
from keyplan.cost.stretches import End, ExpectedRange, Found
from keyplan.design.compiled.plans import ReadPattern
from keyplan.design.traffic.files import traffic_from
from keyplan.design.traffic.typical import Typical
from keyplan.errors import TrafficError
from tests.agreed import assert_agreed
from tests.contract.apart import Apart
from tests.contract.buckets import Timed
from tests.contract.design import Everything
from tests.contract.reading import Reading
from tests.cost.test_large_reads import Store
from tests.cost.test_many import Network

DESIGNS: dict[str, Any] = {cls.__name__: cls for cls in (Network, Store, Apart, Everything, Reading, Timed)}


def turned(result: Found) -> Found:
    """The same with its partitions in the other order, each known by its place."""

    def end(given: End | None) -> End | None:
        return None if given is None else given._replace(stretches=of(given.stretches, str(given.identity)))

    def of(stretches: tuple[ExpectedRange, ...], within: str = "") -> tuple[ExpectedRange, ...]:
        return tuple(
            replace(
                stretch,
                met=[met._replace(end=end(met.end)) for met in stretch.met],
                partition=(len(stretches) - at, within),
            )
            for at, stretch in enumerate(stretches)
        )

    return replace(result, stretches=of(result.stretches), also=tuple(map(of, result.also)), link=end(result.link))


def shown(pattern: ReadPattern, found: Found) -> str:
    """All that is laid out, a partition and an item a line."""
    layout = Layout(pattern, found)
    lines = [_partition(partition) for partition in layout.partitions.values()]
    for name, keyed in layout._keyed.items():
        lines.append(f"{name}: {keyed.size_bytes} {keyed.what} {dict(keyed.stands_for)} {keyed.claim_of or ''}")
    standins = layout.standins
    values = {name: value for name, value in standins._values.items() if value not in ("nowhere", [])}
    queries = [
        f"{match.entity.name} {[part.start({}) for part in match.sort]}"
        for plan in [getattr(standins.pattern.plan, "junction", standins.pattern.plan)]
        for match in getattr(plan, "matches", ())
    ]
    lines.append(f"{values} {layout._suffixes or ''} {'sorted' if layout.table.sort else 'unsorted'} {queries}")
    return "\n".join(f"  {line.rstrip()}" for line in lines)


def _partition(partition: Partition) -> str:
    held = ", ".join(
        f"{sort}/{own}{'' if met.end is None else f' to {partition.leads.get(met.end.identity)}'}"
        for met, sort, own in zip(partition.met, partition.sorts, partition.ids, strict=True)
    )
    flags = [name for name in ("is_sorted", "scanned", "closed") if getattr(partition, name)]
    return f"[{partition.name}] {partition.index.name if partition.index else ''} {' '.join(flags)}: {held}"


def facts_of(cls: Any) -> Facts:
    """A little of everything."""
    said = {
        "patterns": {name: {"items": 3} for name in cls.compiled.reads},
        "entities": {entity.name: {"per_partition": 2} for entity in cls.compiled.entities.values()},
    }
    try:
        traffic = traffic_from(said, cls.compiled)
    except TrafficError as error:  # a read of a single item has no number of them
        for fault in error.faults:
            del said["patterns"][str(fault.place).split(".")[1]]
        traffic = traffic_from(said, cls.compiled)
    return Facts(Typical(cls.compiled, traffic.entities), traffic)


def found(facts: Facts, pattern: ReadPattern) -> Found:
    """What is there for a typical call."""
    given = facts.finds.arguments(pattern)
    return _Finder(facts, pattern.as_called(given), given, within_a_write=False).found()[0]


@pytest.mark.parametrize("name", DESIGNS)
def test_what_is_laid_out_is_as_it_was_agreed_upon(name: str) -> None:
    cls = DESIGNS[name]
    facts = facts_of(cls)
    texts: list[str] = []
    for pattern in cls.compiled.reads.values():
        result = found(facts, pattern)
        texts += [pattern.name, shown(pattern, result)]
        if result.stretches or result.link is not None:
            texts += [f"{pattern.name}, turned", shown(pattern, turned(result))]
    assert_agreed("\n".join(texts))
