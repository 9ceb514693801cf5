"""Plans are compared with what experts published, and with brute force over every key that could be written."""

from __future__ import annotations

from itertools import chain, combinations, permutations
from random import Random
from typing import Any

import pytest

from keyplan import planner
from keyplan.errors import DesignError
from keyplan.model.deferral import deferred
from keyplan.planner import applied, plan
from keyplan.testing import verify
from tests.planner import published, published_by_others, published_examples, published_in_books
from tests.planner.published import OnlineShop
from tests.planner.published_by_others import BlogSystem
from tests.planner.published_examples import VersionControl
from tests.seeds import NEW

PUBLISHED = [
    *published.PUBLISHED,
    *published_in_books.PUBLISHED,
    *published_examples.PUBLISHED,
    *published_by_others.PUBLISHED,
]
FIELDS = ("one", "two", "three", "four")


@pytest.mark.parametrize(("design", "indexes"), PUBLISHED, ids=[element.__name__ for element, _ in PUBLISHED])
def test_no_more_indexes_than_experts_published(design: type[Any], indexes: int) -> None:
    best = planner.plan(design)[0]
    assert len(best.indexes) <= indexes
    if not NEW and PUBLISHED.index((design, indexes)) % 3:
        return  # its answers are compared in a nightly run
    with applied(best) as planned:
        verify(planned, stores=20 if design in {VersionControl, BlogSystem, OnlineShop} else 4)  # few answers


class Asked:
    """A question of one entity: fields known by equality, one in a range, one that orders."""

    def __init__(self, chance: Random) -> None:
        names = chance.sample(FIELDS, chance.randint(1, 3))
        self.known = tuple(names[: chance.randint(1, len(names))])
        rest = [name for name in FIELDS if name not in self.known]
        kind = chance.choice(("plain", "range", "order"))
        self.range = chance.choice(rest) if kind == "range" else ""
        self.order = chance.choice(rest) if kind == "order" else ""

    def source(self, number: int) -> str:
        parameters = [*(f"{name}: str" for name in self.known), *([f"{self.range}: Range[str]"] if self.range else [])]
        order = f', order_by="{self.order}"' if self.order else ""
        return f'    @read("R{number}"{order})\n    def r{number}(self, {", ".join(parameters)}) -> list[Thing]: ...'

    def served(self, partition: frozenset[str], sort: tuple[str, ...]) -> bool:
        """Whether a key serves it, said as plainly as can be."""
        if not partition <= set(self.known):
            return False
        front = set(self.known) - partition
        behind = self.range or self.order
        return set(sort[: len(front)]) == front and (not behind or sort[len(front) : len(front) + 1] == (behind,))


def keys(names: tuple[str, ...]) -> list[tuple[frozenset[str], tuple[str, ...]]]:
    """Every partition of these fields, with every sort key of the others."""
    partitions = chain.from_iterable(combinations(names, size) for size in range(1, len(names) + 1))
    return [
        (frozenset(partition), sort)
        for partition in partitions
        for size in range(len(names) - len(partition) + 1)
        for sort in permutations([name for name in names if name not in partition], size)
    ]


def fewest(identity: tuple[str, ...], asked: list[Asked]) -> int:
    """The least number of indexes, by trying all primary keys and all sets of index keys."""
    every = frozenset(range(len(asked)))
    masks = {frozenset(n for n, element in enumerate(asked) if element.served(*key)) for key in keys(FIELDS)}
    primaries = {
        frozenset(
            n for n, element in enumerate(asked) if element.served(*key) and len(key[0]) + len(key[1]) == len(identity)
        )
        for key in keys(identity)
    }
    for count in range(len(asked) + 1):
        for chosen in combinations(masks, count):
            if any(every <= primary.union(*chosen) for primary in primaries):
                return count
    raise AssertionError("each question has a key of its own")


def design_of(identity: tuple[str, ...], asked: list[Asked]) -> type[Any]:
    fields = "\n".join(f"    {name}: {'Id[str]' if name in identity else 'str'}" for name in FIELDS)
    reads = "\n\n".join(element.source(number) for number, element in enumerate(asked))
    text = (
        f"from keyplan import *\n\nclass Thing(Entity):\n{fields}\n\nclass Things(Design):\n"
        f'    table = Table("things", entities=[Thing])\n\n{reads}\n'
    )
    namespace: dict[str, Any] = {"__name__": __name__}
    with deferred():
        exec(compile(text, "<things>", "exec", dont_inherit=True), namespace)
    result: type[Any] = namespace["Things"]
    result.uncompiled = namespace
    return result


@pytest.mark.parametrize("first", range(0, 200, 25))
def test_the_number_of_indexes_is_the_least(first: int) -> None:
    compared = 0
    for number in range(first, first + 25):
        chance = Random(number)
        identity = tuple(sorted(chance.sample(FIELDS, chance.randint(1, 3))))
        asked = [Asked(chance) for _ in range(chance.randint(1, 4))]
        asked = [
            element for element in asked if not set(identity) <= set(element.known)
        ]  # one item at most has no order
        design = design_of(identity, asked)
        try:
            best = plan(design)[0]
        except DesignError as error:
            if "say which with order_by=" in str(error):
                continue  # the compiler asks for an order where keys give two
            raise
        compared += 1
        assert len(best.indexes) == fewest(identity, asked), "\n".join(
            element.source(n) for n, element in enumerate(asked)
        )
    assert compared > 12
