# mypy: disable-error-code="empty-body"
"""The cost of reads of very many items is extrapolated from a part of the items."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest

from keyplan import Cursor, Design, Each, Entity, Key, Page, Table, Through, read
from keyplan.analysis.cost import read_facts as facts
from keyplan.analysis.cost.estimate import estimate
from keyplan.analysis.traffic.traffic_file import traffic_from
from keyplan.model.declared.pattern_load import COUNT_MAX


class User(Entity):
    user_id: str

    primary = Key("USER#{user_id}", "HEAD")


class Follow(Entity):
    user_id: str
    followed_id: str

    primary = Key("USER#{user_id}", "FOLLOWS#{followed_id}")


class Post(Entity):
    user_id: str
    number: int
    text: str

    primary = Key("POSTS#{user_id}", "{number:08d}")


class Whole(NamedTuple):
    user: User
    follows: list[Follow]


class Network(Design):
    table = Table("network")

    @read("N1")
    def whole(self, user_id: str) -> Whole | None: ...

    @read("N2")
    def users(self, user_id: Each[str]) -> list[User]: ...

    @read("N3")
    def posts_of(self, user_id: Each[str]) -> list[Post]: ...

    @read("N4", scan=True)
    def every(self) -> Iterator[Post]: ...

    @read("N5", through=Through(Follow, user_id="followed_id"))
    def followed(self, user_id: str) -> list[User]: ...

    @read("N6", through=Through(Follow, user_id="followed_id"), newest_first=True)
    def posts(self, user_id: str) -> list[Post]: ...

    @read("N7", through=Through(Follow, user_id="followed_id"), newest_first=True)
    def flow(self, user_id: str) -> Iterator[Post]: ...

    @read("N8", through=Through(Follow, user_id="followed_id"), newest_first=True)
    def feed(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Post]: ...


NAMES = tuple(Network.compiled.reads)


def estimated(items: float, per_partition: float) -> dict[str, Any]:
    data = {
        "patterns": {name: {"items": items} for name in NAMES if name != "whole"},
        "entities": {"Follow": {"per_partition": items}, "Post": {"per_partition": per_partition, "count": items}},
    }
    return {pattern.name: pattern for pattern in estimate(Network, traffic_from(data, Network.compiled)).patterns}


@cache
def of_all() -> dict[str, Any]:
    return estimated(2000, 6)


@pytest.mark.parametrize("name", NAMES)
def test_the_cost_of_a_read_is_extrapolated_from_a_sample_of_items(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = of_all()[name]
    monkeypatch.setattr(facts, "SIMULATED_MAX", 12_000 if name == "flow" else 1500)
    part = estimated(2000, 6)[name]
    assert part.read_units == pytest.approx(exact.read_units, rel=0.4 if name == "flow" else 0.15)
    if name != "posts_of":  # its ten partitions have few items
        assert len(part.requests) <= len(exact.requests)
        assert all("only a part of the items is counted" in request.lines[0].why for request in part.requests)


def test_reads_of_the_largest_item_counts_are_estimated_from_few_requests() -> None:
    result = estimated(COUNT_MAX, COUNT_MAX)
    for name in NAMES:
        assert 1 <= len(result[name].requests) < 12_000, name
        assert result[name].read_units > COUNT_MAX / 100, name
