"""Draws the map as SVG, for the page and for exported files. Colors are CSS classes of ``static/map.css``."""

from __future__ import annotations

import inspect
import re
import unicodedata
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from keyplan.dynamodb.values import item_size
from keyplan.model.compiled.signatures import type_name
from keyplan.model.declared.indexes import Index
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey
from keyplan.studio import items
from keyplan.studio.access import static_text
from keyplan.studio.collections import Entry, Picture, sharded
from keyplan.studio.layout import CAPTION_HEIGHT, HEAD_HEIGHT, MARGIN, Box, Layout, Line, Row, Zone, laid_out
from keyplan.studio.subject import Subject

COLOURS = 12
"""Number of colors. If there are more kinds of items, colors repeat with a different sign."""
SIGNS = "●■▲▼★"
"""Signs that mark kinds of items. Colors and signs together distinguish 60 kinds."""
MONO = 7.25
"""The width of a character of the keys' font at 12 pixels."""
SANS = 6.3
"""The average width of a character of the labels' font at 11 pixels, rounded up."""
FACT_WIDTH_MIN = 60
"""Minimum remaining width for showing another attribute."""


def drawing(picture: Picture, layout: Layout) -> str:
    """The map as one SVG element, without the CSS of its colors."""
    colours = {kind.label: f"k{number % COLOURS}" for number, kind in enumerate(picture.kinds)}
    signs = {kind.label: SIGNS[number % len(SIGNS)] for number, kind in enumerate(picture.kinds)}
    joins = {tie.source for tie in picture.ties if tie.kind == "junction"}
    junctions = [line for line in layout.lines if line.tie.kind == "junction"]
    caption, bottom = _caption(picture, layout, colours, signs)
    hits = {row.entry.id for box in layout.boxes for row in box.rows if row.entry.badge is not None}
    is_lit = any(entry.badge is not None or entry.mark for box in layout.boxes for entry in box.collection.entries)
    head = (
        f'<svg class="map{" lit" if is_lit else ""}" xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {layout.width} {layout.height + bottom}" width="{layout.width}" '
        f'height="{layout.height + bottom}" '
        f'role="group" aria-label="{_attribute(_summary(picture, layout))}"><g class="paper">'
    )
    parts = [
        head,
        *(_zone(zone) for zone in layout.zones),
        '<g class="ties" aria-hidden="true">',
        *(_tie(line, colours, hits) for line in layout.lines),
        "</g>",
        *(_box(box, colours, signs, joins) for box in layout.boxes),
        '<g class="ties" aria-hidden="true">',
        *(_ends(junction, colours) for junction in junctions),
        "</g></g>",
        caption,
        "</svg>",
    ]
    return "".join(parts)


def picture_json(picture: Picture) -> dict[str, Any]:
    layout = laid_out(picture)
    return {
        "svg": drawing(picture, layout),
        "width": layout.width,
        "height": layout.height,
        "kinds": [
            {"label": kind.label, "role": kind.role, "colour": number % COLOURS, "sign": SIGNS[number % len(SIGNS)]}
            for number, kind in enumerate(picture.kinds)
        ],
    }


def _caption(picture: Picture, layout: Layout, colours: Mapping[str, str], signs: Mapping[str, str]) -> tuple[str, int]:
    """The title and the legend below the map, and their total height. The studio's page hides title and legend."""
    x, y = MARGIN, layout.height + 30
    parts = [f'<text class="title" x="{x}" y="{y}">{_text(picture.name)}</text>']
    y += 28
    for kind in picture.kinds:
        width = round(_width(kind.label, SANS)) + 50
        if x > MARGIN and x + width > layout.width:
            x, y = MARGIN, y + 22
        name = f'<tspan class="sign">{signs[kind.label]}</tspan><tspan dx="6">{_text(kind.label)}</tspan>'
        parts.append(f'<text class="{colours[kind.label]}" x="{x}" y="{y}">{name}</text>')
        x += width
    return f'<g class="caption">{"".join(parts)}</g>', y + 20 - layout.height


def standalone(picture: Picture, layout: Layout) -> str:
    head, _, rest = drawing(picture, layout).partition('<g class="paper">')
    title = f"<title>{_text(picture.name)}</title><style>{escape(static_text('map.css'), quote=False)}</style>"
    return f'{head}{title}<rect class="ground" width="100%" height="100%"/><g class="paper">{rest}\n'


def _summary(picture: Picture, layout: Layout) -> str:
    rows, cards = sum(len(box.rows) for box in layout.boxes), len(layout.boxes)
    what = "template" if picture.symbolic else "item or index entry"
    whats = "templates" if picture.symbolic else "items and index entries"
    collections = "1 item collection" if cards == 1 else f"{cards} item collections"
    return f"Map of {picture.name}: {collections} with {rows} {what if rows == 1 else whats}"


# Places


def _zone(zone: Zone) -> str:
    place = zone.place
    classes = "zone index" if place.index else "zone"
    x, y = zone.x - 16, zone.y - 8
    note = f"{place.keys}  ·  {place.note}"
    title = _cut(place.title, zone.width, 12 if place.index else 14)
    return (
        f'<g class="{classes}"><rect x="{x}" y="{y}" width="{zone.width + 32}" height="{zone.height + 24}" rx="16"/>'
        f'<text class="title" x="{zone.x}" y="{zone.y + 24}">{_text(title)}</text>'
        f'<text class="note" x="{zone.x}" y="{zone.y + 44}">{_text(_cut(note, zone.width, SANS))}</text>'
        + ("" if place.collections else f'<text class="note" x="{zone.x}" y="{zone.y + 84}">no items shown</text>')
        + "</g>"
    )


def _box(box: Box, colours: Mapping[str, str], signs: Mapping[str, str], joins: set[str]) -> str:
    collection = box.collection
    classes = ["card", "index" if box.index else "", "asked" if collection.condition else ""]
    title = "".join(piece.text for piece in collection.partition)
    partition = _pieces(collection.partition, box.width - 28 - 8 * len(box.foot), MONO * 1.08)
    parts = [
        f'<g class="{" ".join(filter(None, classes))}" id="{collection.id}" data-title="{_attribute(title)}">',
        f'<rect class="body" x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}" rx="10"/>',
        f'<path class="head" d="{_head(box)}"/>',
        f'<text class="partition" id="{collection.id}-key" x="{box.x + 14}" y="{box.y + 24}">{partition}</text>',
    ]
    if collection.condition:
        text = _cut(collection.condition, box.width - 28, MONO * 0.94)
        y = box.y + HEAD_HEIGHT + CAPTION_HEIGHT - 7
        parts.append(f'<text class="condition" x="{box.x + 14}" y="{y}">{_text(text)}</text>')
    parts += [_row(row, colours, signs, collection.id, joins) for row in box.rows]
    if box.foot:
        more = f' data-more="{collection.id}"' if " of " in box.foot else ""
        parts.append(f'<text class="foot" x="{box.x + 14}" y="{box.y + box.height - 9}"{more}>{_text(box.foot)}</text>')
    return "".join([*parts, "</g>"])


def _head(box: Box) -> str:
    x, y, width = box.x, box.y, box.width
    return f"M{x} {y + HEAD_HEIGHT}V{y + 10}a10 10 0 0 1 10 -10H{x + width - 10}a10 10 0 0 1 10 10V{y + HEAD_HEIGHT}Z"


# Rows


def _row(row: Row, colours: Mapping[str, str], signs: Mapping[str, str], card: str, joins: set[str]) -> str:
    """One entry as SVG. Screen readers announce its text as the name and the partition key as the description."""
    entry = row.entry
    classes = ["row", colours.get(entry.kind, "k11"), "" if entry.badge is None else "hit", entry.mark]
    name = f"{signs.get(entry.kind, '')} {entry.kind}".strip() + (" ◆" if entry.id in joins else "")
    name = _cut(name, row.width // 2, SANS)
    space = row.width - 34 - len(name) * SANS - 12
    head = (
        f'<g class="{" ".join(filter(None, classes))}" id="{entry.id}" data-item="{entry.item}" '
        f'data-kind="{_attribute(entry.kind)}" role="button" tabindex="-1" '
        f'aria-describedby="{card}-key">'
    )
    parts = [
        head,
        f'<path class="gap" d="M{row.x + 22} {row.y - 4}h10m4 0h10m4 0h10"/>' if entry.gap else "",
        f'<rect class="ground" x="{row.x + 1}" y="{row.y}" width="{row.width - 2}" height="{row.height}"/>',
        f'<rect class="stripe" x="{row.x + 8}" y="{row.y + 6}" width="4" height="{row.height - 12}" rx="2"/>',
        f'<text class="sort" x="{row.x + 22}" y="{row.y + 17}">{_pieces(entry.sort, space, MONO)}</text>',
        f'<text class="kind" x="{row.x + row.width - 12}" y="{row.y + 17}">{_text(name)}</text>',
        f'<text class="facts" x="{row.x + 22}" y="{row.y + 33}">{_facts(entry, row.width - 36)}</text>',
        _badge(row),
        "</g>",
    ]
    return " ".join(parts)


_SIGNS = {"put": "+", "update": "~", "delete": "−", "check": "✓"}


def _badge(row: Row) -> str:
    entry = row.entry
    text = str(entry.badge) if entry.badge is not None else _SIGNS.get(entry.mark, "")
    if not text:
        return ""
    x, y = row.x, row.y + row.height // 2
    return f'<g class="badge"><circle cx="{x}" cy="{y}" r="11"/><text x="{x}" y="{y + 4}">{text}</text></g>'


def _facts(entry: Entry, width: float) -> str:
    """Names and values of the attributes that fit in ``width``; for an index entry, the primary key."""
    if len(entry.facts) == 1 and not entry.facts[0][0]:
        return f'<tspan class="key">{_text(_cut(entry.facts[0][1], width, MONO * 0.88))}</tspan>'
    parts: list[str] = []
    left = width
    for name, value in entry.facts:
        if left >= FACT_WIDTH_MIN:
            shown = _cut(value, max(left - len(name) * SANS - 8, 24), SANS)
            left -= _width(name, SANS) + _width(shown, SANS) + 16
            gap = ' dx="10"' if parts else ""
            parts.append(f'<tspan{gap}>{_text(name)}</tspan><tspan class="value" dx="4">{_text(shown)}</tspan>')
    return "".join(parts)


def _pieces(given: Sequence[items.Piece], width: float, each: float) -> str:
    parts: list[str] = []
    left = width
    for piece in given:
        shown = _cut(piece.text, left, each)
        left -= _width(shown, each)
        parts.append(_text(shown) if piece.field is None else f'<tspan class="value">{_text(shown)}</tspan>')
        if shown != piece.text:
            break
    return "".join(parts)


# Lines


def _tie(line: Line, colours: Mapping[str, str], hits: set[str]) -> str:
    """A line behind the cards; a line to an index has an arrow. Lines to numbered items are highlighted."""
    way = line.tie.target in hits and (line.tie.kind == "index" or line.tie.source in hits)
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = line.points
    back = -6 if cx < dx else 6
    tip = f'<path class="tip" d="M{dx} {dy}l{back} -3.5v7z"/>' if line.tie.kind == "index" else ""
    curve = f'<path class="line" d="M{ax} {ay}C{bx} {by} {cx} {cy} {dx} {dy}"/>'
    return f"{_tie_group(line, colours, ' way' if way else '')}{curve}{tip}</g>"


def _ends(line: Line, colours: Mapping[str, str]) -> str:
    (ax, ay), _, _, (dx, dy) = line.points
    diamond = f'<path class="tip" d="M{ax - 5} {ay}l5 -5l5 5l-5 5z"/>'
    return f'{_tie_group(line, colours)}{diamond}<circle class="tip" cx="{dx}" cy="{dy}" r="3.5"/></g>'


def _tie_group(line: Line, colours: Mapping[str, str], way: str = "") -> str:
    tie = line.tie
    classes = f"tie {tie.kind} {colours.get(tie.entity, 'k11')}{way}"
    return f'<g class="{classes}" data-a="{tie.source}" data-b="{tie.target}">'


# Texts


def _text(text: str) -> str:
    return escape(_clean(text), quote=False)


def _attribute(text: str) -> str:
    return escape(_clean(text))


_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def _clean(text: str) -> str:
    """The text without characters that XML doesn't allow."""
    return _UNFIT.sub("�", text)


def _width(text: str, each: float) -> float:
    wide = (unicodedata.east_asian_width(word) in "WF" for word in text)
    return sum(each * (1.75 if w else 0 if unicodedata.combining(c) else 1) for c, w in zip(text, wide, strict=True))


def _cut(text: str, width: float, each: float) -> str:
    if _width(text[:500], each) <= width and len(text) <= 500:
        return text
    room = width - each
    kept: list[str] = []
    for character in text[:500]:
        room -= _width(character, each)
        if room < 0:
            break
        kept.append(character)  # combining characters are also kept, because their width is 0
    return "".join(kept) + "…"


def item_json(subject: Subject, item: items.Item) -> dict[str, Any]:
    kind = subject.kind_of(item)
    places = [_place(subject, kind, item, None)]
    for index in subject.table.indexes:
        partition, sort = subject.key_attributes(index)
        if all(attribute.name in item for attribute in (*partition, *sort)):
            places.append(_place(subject, kind, item, index))
    return {
        "id": subject.identity_of(item),
        "key": subject.key_of(item),
        "partition": item.get(subject.table.partition.name),
        "kind": kind.label,
        "entity": None if kind.entity is None else kind.entity.name,
        "colour": colour_of(subject, kind),
        "keys": places,
        "item": item,
        "bytes": item_size({name: dict(value) for name, value in item.items()}),
        "fault": items.fault_of(kind, item),
    }


def template_json(subject: Subject, name: str) -> dict[str, Any] | None:
    design = subject.compiled
    entity = None if design is None else next((e for e in design.entities.values() if name in _template_names(e)), None)
    if entity is None:
        return None
    return {
        "id": name,
        "kind": entity.name,
        "entity": entity.name,
        "colour": colour_of(subject, items.Kind(entity.name, "entity", entity)),
        "doc": inspect.cleandoc(entity.cls.__doc__ or "").replace("``", ""),
        "keys": [_template_place(key) for key in entity.keys],
        "fields": [{"name": each.name, "type": type_name(each.annotation)} for each in entity.fields.values()],
    }


def template_names(subject: Subject) -> list[str]:
    entities = [] if subject.compiled is None else subject.compiled.entities.values()
    return [name for entity in entities for name in _template_names(entity)]


def _template_names(entity: CompiledEntity) -> list[str]:
    return [f"template-{entity.name}", *(f"template-{entity.name}-{key.name}" for key in entity.siblings)]


def _template_place(key: CompiledKey) -> dict[str, Any]:
    attributes = [
        {
            "name": attribute.name,
            "pieces": [piece.as_json() for piece in items.template_pieces(template, sharded=sharded(key) and not at)],
            "template": None,
        }
        for at, (attribute, template) in enumerate(key.attributes)
    ]
    return {"place": key.place, "attributes": attributes}


def colour_of(subject: Subject, kind: items.Kind) -> int:
    """The number of an entity's color on the map; for other items, the last color."""
    design = subject.compiled
    if design is None or kind.entity is None:
        return COLOURS - 1
    return [entity.name for entity in design.entities.values()].index(kind.entity.name) % COLOURS


def _place(subject: Subject, kind: items.Kind, item: items.Item, index: Index | None) -> dict[str, Any]:
    partition, sort = subject.key_attributes(index)
    key = items.key_at(kind, index, item)
    templates = {} if key is None else {attribute.name: template for attribute, template in key.attributes}
    attributes: list[dict[str, Any]] = []
    for position, attribute in enumerate((*partition, *sort)):
        template = templates.get(attribute.name)
        text = items.attribute_text(item[attribute.name])
        is_sharded = sharded(key) and not position
        parts = items.plain_pieces(text) if template is None else items.pieces(text, template, sharded=is_sharded)
        attributes.append(
            {
                "name": attribute.name,
                "pieces": [piece.as_json() for piece in parts],
                "template": None if template is None else str(template),
            }
        )
    return {"place": "the table" if index is None else index.name, "attributes": attributes}
