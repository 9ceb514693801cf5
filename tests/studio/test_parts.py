"""The studio's smaller steps, at every length and kind: what is agreed upon of texts, keys, tables that are described,
numbers that are given; and each question of two systems, asked by what is there.
"""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.client.conversations import Pause
from keyplan.studio.application import _static
from keyplan.studio.collections import Collection, Entry, Picture, Place
from keyplan.studio.layout import laid_out
from keyplan.studio.paths import Path as Asked
from keyplan.studio.paths import followed
from keyplan.studio.sampling import Count

# Questions by what is there


# The map


def collection(entries: int, gaps: int = 0, condition: str = "", count: int | None = None) -> Collection:
    made = [Entry(f"e{entries}-{at}", "i", "Thing", [], [], "", gap=at < gaps) for at in range(entries)]
    shown = None if count is None else Count(count, exact=True)
    return Collection(f"c{entries}", [], [], "", made, shown, condition)


def zones(table: list[Collection], *indexes: list[Collection]) -> list[tuple[int, int, int, int]]:
    places = [Place("", "", "", "", table), *(Place(f"I{at}", "", "", "", own) for at, own in enumerate(indexes))]
    return [(zone.x, zone.y, zone.width, zone.height) for zone in laid_out(Picture("P", places)).zones]


def test_an_index_that_would_be_the_tallest_has_a_second_column() -> None:
    low = collection(1)
    assert [zones([low], [own])[1][2] for own in (collection(14, 2, "pk"), collection(12, 3, "", 99))] == [704, 330]
    table = [collection(10, 1)]  # 504 with the gap below it, so that 630 is as high as an index may be
    assert [zones(table, [own])[1][2] for own in (collection(14, 2, "pk"), collection(14, 3, "pk"))] == [330, 704]
    # 625 is the most beside any lower table
    several = [collection(6, 1, "", 99), collection(6, 2, "", 99)]
    assert zones([low], several)[1][2] == 704


# Requests of a conversation


def test_a_pause_is_made_only_where_something_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)

    def waiting() -> Any:
        yield Pause(0.25)
        return 7

    nowhere: Any = None
    for send, expected in ((False, []), (True, [0.25])):
        assert followed(waiting(), nowhere, Asked({}), send=send) == 7
        assert slept == expected


@pytest.mark.parametrize(
    "path",
    ["../actions.py", "../studio.js", "vendor/../../x.js", "..", "a b.js", "vendor", "vendor/", "nothing.js", ""],
)
def test_only_files_that_are_meant_are_static(path: str) -> None:
    assert _static(path) is None
    assert _static("vendor/preact.js") is not None


def test_a_column_of_indexes_is_as_high_as_the_table_may_be() -> None:
    low, upper, lower = collection(1), collection(5, 3, "", 99), collection(4, 2, "", 99)
    at_the_limit, over = (zones([low], [upper], [own]) for own in (lower, collection(4, 3, "", 99)))
    assert at_the_limit[2][0] == at_the_limit[1][0]
    assert over[2][0] > over[1][0]
