"""Plans have at most the number of indexes of published designs. For designs of up to three entities with four fields
and four reads, plans have the minimum number of indexes, found by trying every possible key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from random import Random
from typing import Any

import pytest

from keyplan import planner
from keyplan.errors import DesignError
from keyplan.planner import applied, plan
from keyplan.testing import verify
from keyplan.testing.verifying import looked_at
from tests.designs.settled import settled
from tests.designs.source import source_of
from tests.planner import published, published_in_books, strangers
from tests.planner.published import OnlineShop
from tests.planner.support import design
from tests.seeds import NEW, examples

PUBLISHED = [*published.PUBLISHED, *published_in_books.PUBLISHED]
VERIFIED = [published.PUBLISHED[0][0], *([made for made, _ in PUBLISHED] if NEW else [])]
INDEXES = {
    "Cases": 1, "Stores": 1, "Saas": 3, "Rides": 4, "Chats": 2,
    "Access": 1, "Feed": 4, "Hub": 3, "Queue": 3, "Staff": 4,
}  # fmt: skip


@pytest.mark.parametrize(("made", "indexes"), PUBLISHED, ids=[made.__name__ for made, _ in PUBLISHED])
def test_plans_need_no_more_indexes_than_published_designs(made: type[Any], indexes: int) -> None:
    best = planner.plan(made)[0]
    assert len(best.indexes) <= indexes
    assert not best.limits
    if made in VERIFIED:
        with applied(best) as planned:
            verify(planned, stores=20 if made is OnlineShop else 4)  # few results


@pytest.mark.parametrize("made", strangers.STRANGERS, ids=lambda value: value.__name__)
def test_reads_with_planned_keys_return_correct_results(made: type[Any]) -> None:
    first, *others = planner.plan(made)
    assert len(first.indexes) == INDEXES[made.__name__]
    if made.__name__ == "Access" or NEW:
        with applied(first) as planned:
            assert not first.compiled.reads.keys() & looked_at(planned, stores=8).unanswered
        for other in others[:1]:
            with applied(other) as planned:
                looked_at(planned, stores=2)


# Brute force

FIELDS = ("a", "b", "c", "d")
INDEXES_MAX = 3


@dataclass(frozen=True)
class Kind:
    """An entity: its fields in order, identifying fields, and optional fields."""

    fields: tuple[str, ...]
    identity: frozenset[str]
    optional: frozenset[str]


@dataclass(frozen=True)
class Read:
    """A read of entities: fixed fields, a range field, a sort field, and whether the read returns one item."""

    kinds: tuple[str, ...]
    known: tuple[str, ...]
    range: str = ""
    order: str = ""
    one: bool = False

    def source(self, number: int) -> str:
        given = [*(f"{name}: str" for name in self.known), *([f"{self.range}: Range[str]"] if self.range else [])]
        returns = f"{self.kinds[0]} | None" if self.one else f"list[{' | '.join(self.kinds)}]"
        order = f", order_by={self.order!r}" if self.order else ""
        return f"    @read('R{number}'{order})\n    def r{number}(self, {', '.join(given)}) -> {returns}: ...\n"

    def served(self, partition: frozenset[str], sort: Sequence[str], kind: Kind) -> bool:
        """Whether a key supports this read, by a simple implementation."""
        known, after = set(self.known), self.range or self.order
        front = known - partition
        if not partition <= known or (len(self.kinds) > 1 and front):
            return False
        if set(sort[: len(front)]) != front or (after and tuple(sort[len(front) : len(front) + 1]) != (after,)):
            return False
        if self.one and len(sort) != len(front):
            return False
        return not kind.optional & {*partition, *sort} - known - {after}


def drawn(chance: Random) -> tuple[dict[str, Kind], list[Read]]:
    kinds: dict[str, Kind] = {}
    for name in chance.sample(("Ant", "Bee", "Cat"), chance.randint(1, 3)):
        fields = chance.sample(FIELDS, chance.randint(3, 4))
        identity = frozenset(chance.sample(fields, chance.randint(1, 2)))
        optional = frozenset(field for field in fields if chance.random() < 0.12) - identity
        kinds[name] = Kind(tuple(fields), identity, optional)
    return kinds, [drawn_read(chance, kinds) for _ in range(chance.randint(1, 4))]


def drawn_read(chance: Random, kinds: Mapping[str, Kind]) -> Read:
    several = len(kinds) > 1 and chance.random() < 0.4
    names = sorted(chance.sample(sorted(kinds), chance.randint(2, len(kinds)) if several else 1))
    common = [field for field in kinds[names[0]].fields if all(field in kinds[name].fields for name in names)]
    known = tuple(chance.sample(common, chance.randint(1, min(2 if several else 4, len(common)))))
    rest = [field for field in common if field not in known]
    which = chance.choice(("plain", "order") if several else ("plain", "range", "order", "one"))
    field = chance.choice(rest) if rest else ""
    if which == "order" and any(field in kinds[name].optional for name in names):
        field = ""
    return Read(
        tuple(names),
        known,
        range=field if which == "range" else "",
        order=field if which == "order" else "",
        one=which == "one",
    )


def keys(names: Sequence[str]) -> Iterator[tuple[frozenset[str], tuple[str, ...]]]:
    """Every key of some fields: each partition key, with each sort key of the remaining fields."""
    for size in range(1, len(names) + 1):
        for partition in combinations(names, size):
            rest = [name for name in names if name not in partition]
            for length in range(len(rest) + 1):
                yield from ((frozenset(partition), sort) for sort in permutations(rest, length))


def fewest(kinds: Mapping[str, Kind], reads: Sequence[Read]) -> int | None:
    """The minimum number of indexes, found by trying each placement of collections and each key of each entity."""
    reads = [read for read in reads if not is_by_identity(read, kinds)]
    collections = [number for number, read in enumerate(reads) if len(read.kinds) > 1]
    for count in range(INDEXES_MAX + 1):
        for slots in places(len(collections), count):
            placed = dict(zip(collections, slots, strict=True))
            if all(fits(name, kind, reads, placed, count) for name, kind in kinds.items()):
                return count
    return None


def places(collections: int, indexes: int) -> Iterator[tuple[int, ...]]:
    """Each assignment of collections to the table (0) or an index."""
    if not collections:
        yield ()
        return
    for rest in places(collections - 1, indexes):
        yield from ((*rest, place) for place in range(indexes + 1))


def is_by_identity(read: Read, kinds: Mapping[str, Kind]) -> bool:
    """Whether a read fixes the identifying fields, so that its other parameters are filters."""
    plain = len(read.kinds) == 1 and not read.range and not read.order
    return plain and kinds[read.kinds[0]].identity <= set(read.known)


def fits(name: str, kind: Kind, reads: Sequence[Read], placed: Mapping[int, int], indexes: int) -> bool:
    """Whether an entity can have a primary key, and keys in the indexes that together support its reads."""
    own = frozenset(number for number, read in enumerate(reads) if name in read.kinds)

    def masks(names: Sequence[str], *, primary: bool) -> set[frozenset[int]]:
        made = ((p, s) for p, s in keys(names) if not primary or len(p) + len(s) == len(names))
        return {frozenset(n for n in own if reads[n].served(p, s, kind)) for p, s in made}

    identity = [field for field in kind.fields if field in kind.identity]
    choices: list[set[frozenset[int]]] = [
        masks(identity, primary=True),
        *[masks(kind.fields, primary=False) | {frozenset()}] * indexes,
    ]
    reached = {frozenset[int]()}
    for place, possible in enumerate(choices):
        here = {number for number, slot in placed.items() if slot == place and number in own}
        elsewhere = placed.keys() - here
        reached = {done | (mask - elsewhere) for done in reached for mask in possible if here <= mask}
    return own in reached or any(own <= done for done in reached)


def source(kinds: Mapping[str, Kind], reads: Sequence[Read]) -> str:
    text = ""
    for name, kind in kinds.items():
        text += f"class {name}(Entity):\n"
        for field in sorted(kind.fields, key=lambda field: field in kind.optional):
            plain = "str | None = None" if field in kind.optional else "str"
            text += f"    {field}: {'Id[str]' if field in kind.identity else plain}\n"
    text += f"class Zoo(Design):\n    table = Table('zoo', entities=[{', '.join(kinds)}])\n"
    return text + "".join(read.source(number) for number, read in enumerate(reads))


@pytest.mark.parametrize("first", range(0, examples(20, 1500), 20))
def test_the_planned_number_of_indexes_is_minimal(first: int) -> None:
    compared = 0
    for number in range(first, first + 20):
        kinds, reads = drawn(Random(number))
        least = fewest(kinds, reads)
        if least is not None:
            compared += 1
            text = source(kinds, reads)
            best = plan(design(text))[0]
            assert len(best.indexes) <= least, text
    assert compared > 10


@pytest.mark.parametrize("number", range(3, 3 + examples(2, 99)))  # the keys of 3 and 4 have no optional fields
def test_plans_need_no_more_indexes_than_generated_designs(number: int) -> None:
    """The planner ignores the existing keys, which prove that this number of indexes suffices."""
    made = settled(number)
    best = plan_or_none(made.cls)
    fields = [
        entity.fields[name]
        for entity in made.spec.entities
        for key in entity.keys[1:]
        for name in (*key.partition_fields, *(variable.name for variable in key.sort_variables))
        if name in entity.fields
    ]
    # Keys of optional fields lack some items, so they don't support a read of all items.
    if best is not None and not any(field.optional for field in fields):
        assert len(best.indexes) <= len(made.cls.table.indexes), source_of(made.spec)


def plan_or_none(cls: Any) -> planner.Plan | None:
    """The best plan, or None if the planner rejects the design as ambiguous."""
    try:
        return plan(cls, ignore_existing=True)[0]
    except DesignError as error:
        if any(words in str(error) for words in ("order_by=", "is a fraction", "turns the order")):
            return None
        raise
