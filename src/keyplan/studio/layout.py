"""Calculates the layout of the map: cards of item collections, rows of items, and lines between rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from keyplan.studio.collections import Collection, Entry, Picture, Place, Tie
from keyplan.studio.sampling import Count

CARD_WIDTH = 400
ENTRY_WIDTH = 330
HEAD_HEIGHT = 38
ROW_HEIGHT = 42
ENTRY_HEIGHT = 38
GAP = 24
"""Space between the cards of a column."""
GAP_COLUMNS = 44
"""Space between the columns of the table or of an index, which contains the lines of junctions."""
GAP_PLACES = 150
"""Space between the table and the indexes, which contains the lines to index entries."""
GAP_INDEXES = 90
"""Space between columns of indexes."""
TITLE_HEIGHT = 64
MARGIN = 32
FOOT_HEIGHT = 26
CAPTION_HEIGHT = 24
SHAPE = 1.7
"""Target ratio of width to height of the table's area."""
COLUMNS_MAX = 8
LANES = 5


@dataclass(frozen=True)
class Row:
    """One entry with its position."""

    entry: Entry
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True)
class Box:
    """An item collection, drawn as a card."""

    collection: Collection
    index: str
    x: int
    y: int
    width: int
    height: int
    rows: Sequence[Row]
    foot: str
    """The text below the rows: the number of items."""


@dataclass(frozen=True)
class Zone:
    """The area of the table or an index."""

    place: Place
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True)
class Line:
    """A tie, drawn as a cubic curve."""

    tie: Tie
    points: tuple[tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int]]


@dataclass
class Layout:
    """The size of the map, and its positioned elements."""

    width: int = field(init=False)
    height: int = field(init=False)
    zones: list[Zone] = field(default_factory=list[Zone])
    boxes: list[Box] = field(default_factory=list[Box])
    lines: list[Line] = field(default_factory=list[Line])


def laid_out(picture: Picture) -> Layout:
    layout = Layout()
    table, *indexes = picture.places
    heights = [_height(collection, "") for collection in table.collections]
    columns = _columns(heights)
    tallest = max(_bottoms(heights, columns))
    depth = _place_cards(layout, table, heights, columns, (MARGIN, MARGIN), CARD_WIDTH)
    right, bottom = MARGIN + _zone_width(columns, CARD_WIDTH), depth
    x, y, width = right + GAP_PLACES, MARGIN, 0
    for place in indexes:
        heights = [_height(collection, place.index) for collection in place.collections]
        # An index that is taller than the table gets a second column. Short indexes are placed below each other, up to
        # the height of the table
        columns = 1 if sum(heights) <= max(tallest, 500) * 1.25 else 2
        need = TITLE_HEIGHT + max(_bottoms(heights, columns))
        if y > MARGIN and y + need > max(tallest, 700) + MARGIN + TITLE_HEIGHT:
            x, y, width = x + width + GAP_INDEXES, MARGIN, 0
        depth = _place_cards(layout, place, heights, columns, (x, y), ENTRY_WIDTH)
        width = max(width, _zone_width(columns, ENTRY_WIDTH))
        right, bottom, y = max(right, x + width), max(bottom, depth), depth + GAP * 3
    layout.width, layout.height = right + MARGIN, bottom + MARGIN
    _draw_lines(layout, picture)
    return layout


def _zone_width(columns: int, width: int) -> int:
    return columns * width + (columns - 1) * GAP_COLUMNS


def _height(collection: Collection, index: str) -> int:
    each = ENTRY_HEIGHT if index else ROW_HEIGHT
    gaps = sum(entry.gap for entry in collection.entries)
    return _top(collection) + each * len(collection.entries) + 14 * gaps + (FOOT_HEIGHT if _foot(collection) else 8)


def _top(collection: Collection) -> int:
    return HEAD_HEIGHT + (CAPTION_HEIGHT if collection.condition else 0)


def _foot(collection: Collection) -> str:
    if not collection.partition_value:
        return ""
    shown = len(collection.entries)
    if collection.count is None or shown > collection.count.items:  # a dry run adds items that don't exist yet
        return f"{shown} shown"
    total = f"{collection.count} item{'' if str(collection.count) == '1' else 's'}"
    return total if collection.count == Count(shown, exact=True) else f"{shown} of {total}"


def _columns(heights: Sequence[int]) -> int:
    def distance(columns: int) -> float:
        return abs((columns * (CARD_WIDTH + GAP_COLUMNS)) / max(_bottoms(heights, columns)) - SHAPE / 1.6)

    return min(range(1, min(COLUMNS_MAX, len(heights)) + 1), key=distance) if heights else 1


def _bottoms(heights: Sequence[int], columns: int) -> list[int]:
    result = [0] * columns
    for height in heights:
        shortest = result.index(min(result))
        result[shortest] += height + GAP
    return result


def _place_cards(
    layout: Layout, place: Place, heights: Sequence[int], columns: int, corner: tuple[int, int], width: int
) -> int:
    """Place each card in the shortest column. Returns the lower edge of the lowest card."""
    x, y = corner
    bottoms = [y + TITLE_HEIGHT] * columns
    for collection, height in zip(place.collections, heights, strict=True):
        column = bottoms.index(min(bottoms))
        left, upper = x + column * (width + GAP_COLUMNS), bottoms[column]
        layout.boxes.append(_box(collection, place.index, left, upper, width, height))
        bottoms[column] += height + GAP
    depth = max(bottoms) - GAP if place.collections else y + TITLE_HEIGHT + 40
    layout.zones.append(Zone(place, x, y, _zone_width(columns, width), depth - y))
    return depth


def _box(collection: Collection, index: str, x: int, y: int, width: int, height: int) -> Box:
    each = ENTRY_HEIGHT if index else ROW_HEIGHT
    top = y + _top(collection)
    rows: list[Row] = []
    for entry in collection.entries:
        top += 14 if entry.gap else 0
        rows.append(Row(entry, x, top, width, each))
        top += each
    return Box(collection, index, x, y, width, height, rows, _foot(collection))


# Lines


def _draw_lines(layout: Layout, picture: Picture) -> None:
    rows = {row.entry.id: row for box in layout.boxes for row in box.rows}
    for number, tie in enumerate(picture.ties):
        source, target = rows.get(tie.source), rows.get(tie.target)
        if source is not None and target is not None:
            layout.lines.append(Line(tie, _curve(source, target, number % LANES)))


def _curve(
    source: Row, target: Row, lane: int
) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int]]:
    """A curve between the nearest sides of two rows, or around their left side. ``lane`` separates parallel lines."""
    start, end = source.y + source.height // 2, target.y + target.height // 2
    if target.x >= source.x + source.width:
        left, right = source.x + source.width, target.x
        bend = (right - left) // 2 + 7 * (lane - LANES // 2)
        return (left, start), (left + bend, start), (right - bend, end), (right, end)
    if target.x + target.width <= source.x:
        left, right = source.x, target.x + target.width
        bend = (left - right) // 2 + 7 * (lane - LANES // 2)
        return (left, start), (left - bend, start), (right + bend, end), (right, end)
    bend = 12 + 5 * lane
    return (source.x, start), (source.x - bend, start), (target.x - bend, end), (target.x, end)
