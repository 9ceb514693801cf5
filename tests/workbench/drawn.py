"""Models drawn at random, of what people's models are made of: keys of every spelling, items with and without what says
what they are, slips, facets with aliases, a schema beside the sample.
"""

from __future__ import annotations

from random import Random
from typing import Any

from tests.workbench.support import item, table

__all__ = ["drawn_model"]

Row = dict[str, Any]

_KINDS = ("user", "order", "order line", "Invoice", "PAYMENT", "shipment", "customer note", "Device")
_NAMED_FOR = {"user": ["u", "USER", "user"], "order": ["o", "ORDER", "ord"], "order line": ["LINE", "l", "orderLine"]}
_WORDS = ("META", "#META#", "profile", "A", "info", "METADATA")
_MARKS = ("#", "#", "#", "|", ":", "_", "/")
_TOWNS = ("lisbon", "Porto", "OSLO", "bern")


class _Drawn:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.mark = self.random.choice(_MARKS)
        self.kinds = self.random.sample(_KINDS, self.random.randint(1, 4))
        self.says = self.random.choice(("", "", "type", "entityType", "_et", "kind"))
        self.words = {kind: self.random.choice(_NAMED_FOR.get(kind, [kind, kind.upper(), kind[:3]])) for kind in _KINDS}
        self.spelling = self.random.choice(("number", "padded", "code", "moment", "town", "mixed"))
        self.bare = self.random.random() < 0.15

    def value(self, serial: int) -> str:
        """What names an item."""
        spelling = self.spelling
        if spelling == "mixed":
            spelling = self.random.choice(("number", "padded", "code", "moment", "town"))
        return {
            "number": str(serial + 7),
            "padded": f"{serial:04d}",
            "code": f"{'abcx'[serial % 4]}{serial}f",
            "moment": f"2026-03-{serial % 27 + 1:02d}T08:{serial % 60:02d}:00",
            "town": _TOWNS[serial % 4],
        }[spelling]

    def key(self, kind: str, *values: str) -> str:
        """A key's text: the kind's word, and values."""
        return self.mark.join(values if self.bare else (self.words[kind], *values))

    def rows(self, kind: str, owner: str) -> list[Row]:
        """The sample of one kind: items with a partition of their own, or in its owner's."""
        alone = kind == owner or self.random.random() < 0.4
        number = self.random.choice((1, 2, 3, 5))
        word = self.random.choice(_WORDS)
        name = f"{kind.split(maxsplit=1)[0].lower()}{self.random.choice(('Id', '_id', 'ID'))}"
        deep = self.random.random() < 0.3
        rows: list[Row] = []
        for serial in range(number):
            value = self.value(serial)
            above = self.value(serial % 2)
            row: Row = {
                "PK": self.key(kind, value),
                "SK": self.random.choice((word, word, word, self.key(kind, value))),
            }
            if not alone:
                row = {"PK": self.key(owner, above), "SK": self.key(kind, value, *(["x", str(serial)] if deep else []))}
            if self.random.random() < 0.7:
                row[name] = value
            if self.says and self.random.random() < 0.92:
                row[self.says] = kind
            row |= self.more(kind, serial)
            rows.append(row)
        return rows

    def more(self, kind: str, serial: int) -> Row:
        """Attributes that are no key of the table's."""
        choice = self.random.random
        row: Row = {}
        if choice() < 0.5:
            row["createdAt"] = f"2026-01-{serial + 1:02d}T10:00:00.000000Z"
        if choice() < 0.4:
            row["status"] = self.random.choice(("open", "paid"))
        if choice() < 0.3:
            row["total"] = self.random.choice((serial, {"N": "2.50"}, {"N": "-3"}))
        if choice() < 0.2:
            row["tags"] = self.random.choice(({"SS": ["b", "a"]}, {"NS": ["1", "2"]}, {"L": [{"S": "a"}]}, {"L": []}))
        if choice() < 0.2:
            row["where"] = self.random.choice(({"M": {"town": {"S": "Bern"}}}, {"NULL": True}, {"BOOL": False}, "Bern"))
        if choice() < 0.35:
            row["GSI1PK"] = self.random.choice((self.key(kind, row.get("status", "open")), "ALL", "ada@example.com"))
            row["GSI1SK"] = row.get("createdAt", self.key(kind, str(serial)))
        return row


def drawn_model(seed: int) -> dict[str, Any]:
    """The model of a number."""
    drawn = _Drawn(seed)
    owner = drawn.kinds[0]
    held = {kind: drawn.rows(kind, owner) for kind in drawn.kinds}
    more: dict[str, Any] = {}
    if drawn.random.random() < 0.2:
        templates = {"PK": {"value": f"{drawn.words[owner]}{drawn.mark}${{{owner}Id}}"}, "SK": {"value": "${PK}"}}
        more["ModelSchema"] = {"models": {owner: templates}}
    if drawn.random.random() < 0.5:
        rows = [row for its in held.values() for row in its]
        drawn.random.shuffle(rows)
        return table({}, TableFacets=[], TableData=[item(row) for row in rows], **more)
    aliases = [("PK", "SK"), (f"{owner}Id", "SK"), ("ownerId", "itemId"), ("USER#{id}", "{at}"), ("<id>", "x#[y]")]
    return table({kind: (drawn.random.choice(aliases), its) for kind, its in held.items()}, **more)
