"""Pictures that nobody stored, as they are drawn: cards of every length and width, texts of every script, more kinds
than colours, rows that an answer numbers and a write marks, lines between near and far.
"""

from __future__ import annotations

import pytest

from keyplan.studio.collections import Collection, Entry, Picture, Place
from keyplan.studio.drawing import drawing
from keyplan.studio.items import Piece
from keyplan.studio.layout import _columns, laid_out


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
