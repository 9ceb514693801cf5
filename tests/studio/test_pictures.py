"""Pictures that nobody stored, as they are drawn: cards of every length and width, texts of every script, more kinds
than colours, rows that an answer numbers and a write marks, lines between near and far.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from keyplan.studio.collections import Collection, Entry, Picture, Place, Tie
from keyplan.studio.drawing import drawing, standalone
from keyplan.studio.items import Kind, Piece
from keyplan.studio.layout import _columns, laid_out
from keyplan.studio.sampling import Count
from tests.agreed import assert_agreed

COLOURS = 12

TEXTS = (
    "ART",
    "ARTICLE#2026",
    "日本語の名前",
    "Ünal",
    "e\u0301te\u0301" * 9,
    "x" * 40,
    "a" * 600,
    "<&>\"'",
    "",
    "\x07b",
)
KINDS = [f"Kind{number}" for number in range(COLOURS + 2)]
MARKS = ("", "", "", "put", "update", "delete", "check")


class _Drawn:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.names: list[str] = []

    def pieces(self) -> list[Piece]:
        choice = self.random.choice
        return [Piece(choice(TEXTS), choice((None, "name"))) for _ in range(choice((1, 2, 3)))]

    def entry(self) -> Entry:
        choice = self.random.choice
        name = f"e{len(self.names)}"
        self.names.append(name)
        facts = [("", choice(TEXTS))] if choice((False, False, True)) else []
        facts = facts or [(choice(("n", "title", "a_long_name")), choice(TEXTS)) for _ in range(choice((0, 1, 2, 5)))]
        badge = choice((None, None, 1, 12))
        return Entry(
            name, f"i{name}", choice([*KINDS, "nobody's"]), self.pieces(), facts, "", choice((False, True)), badge,
            choice(MARKS),
        )  # fmt: skip

    def collections(self, most: int) -> Iterator[Collection]:
        choice = self.random.choice
        for number in range(choice(range(most + 1))):
            entries = [self.entry() for _ in range(choice((1, 1, 2, 3, 9)))]
            count = choice(
                (None, Count(len(entries), exact=True), Count(len(entries), exact=False), Count(3000, exact=True))
            )
            condition = choice(("", "", "pk = ARTICLE#7", "sk begins with " + "x" * 80))
            yield Collection(f"c{len(self.names)}-{number}", self.pieces(), [], "", entries, count, condition)

    def picture(self) -> Picture:
        choice = self.random.choice
        places = [Place("", "The table", "pk, sk", "in the table", [*self.collections(7)])]
        for number in range(choice((0, 1, 2, 3))):
            title = choice(("GSI", "A long name of an index that " * 3))
            places.append(Place(f"GSI{number}", title, "gsi1pk", choice(("all", "keys only")), [*self.collections(4)]))
        ties = [
            Tie(choice(("index", "junction")), choice(self.names), choice([*self.names, "gone"]), choice(KINDS), "")
            for _ in range(min(12, 2 * len(self.names)))
        ]
        kinds = [Kind(name, "entity") for name in KINDS]
        return Picture(choice(("Shop", "<Shop>")), places, ties, kinds, symbolic=choice((False, True)))


@pytest.mark.parametrize("seed", range(8))
def test_a_picture_is_drawn_as_it_was_agreed_upon(seed: int) -> None:
    picture = _Drawn(seed).picture()
    layout = laid_out(picture)
    assert_agreed(drawing(picture, layout).replace("><", ">\n<"))
    head = standalone(picture, layout).partition("<style>")
    assert_agreed(head[0] + head[2].partition("</style>")[2][:80])


def test_another_attribute_is_begun_where_there_is_room() -> None:
    """Of the width of a row what is left for a fifth: 60.6, or 54.3 by a character more."""
    for last, shown in (("", True), ("x", False)):
        facts = [("name", "value"), ("name", "value"), ("name", "value"), ("name", f"values!{last}"), ("more", "m")]
        entry = Entry("e", "i", "Kind", [Piece("x")], facts, "")
        layout = laid_out(Picture("P", [Place("", "T", "pk", "", [Collection("c", [], [], "", [entry], None)])]))
        assert (">more<" in drawing(Picture("P", []), layout)) is shown


@pytest.mark.parametrize(
    ("heights", "columns"),
    [([], 1), ([100], 1), ([2000], 1), ([2000, 2000], 2), ([100] * 4, 1), ([400] * 6, 2), ([3000] * 40, 8)],
)
def test_cards_stand_in_as_many_columns_as_make_a_pleasant_shape(heights: list[int], columns: int) -> None:
    """Of two that come as near, the fewer; never more than there are cards, or than eight."""
    assert _columns(heights) == columns
