"""Typical items: which values their fields have and where these are from, how large they are made, and what claims and
indexes hold of them; by each way in which a traffic file speaks of them.
"""

from __future__ import annotations

import enum
import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import ConfigDict, StringConstraints, field_validator

from keyplan import Binary, Design, Entity, Field, Index, Key, Number, Table, Ttl, Unique, Version, ulid
from keyplan.design.declared.problems import Problem
from keyplan.design.traffic.files import Stored
from keyplan.design.traffic.typical import Typical
from tests.agreed import assert_agreed

BY_STATE = Index("BY_STATE", "state_pk", "state_sk", projection=["body"])
BY_RANK = Index("BY_RANK", "rank_pk", [Number("points")], projection="KEYS_ONLY")
BY_PLACE = Index("BY_PLACE", "place_pk", Binary("raw"))


class State(enum.Enum):
    NEW = "new"
    DONE = "done"


class Note(Entity):
    note_id: str = Field(default_factory=ulid)
    author_id: str
    title: str = "A title"
    body: str = ""
    slug: Annotated[str, StringConstraints(min_length=3, max_length=5)] = "abc"
    kind: Literal["short", "rather long"] = "rather long"
    state: State = State.NEW
    points: int
    price: Decimal = Decimal("2.50")
    raw: bytes = b"1234"
    tags: set[str] = Field(default_factory=set)
    closed: datetime | None = None
    flag: bool
    seen: Annotated[int, Field(examples=[3, 40, 500])]
    expires: Ttl | None = None
    version: Version = 0

    primary = Key("NOTE#{note_id}", "HEAD")
    by_state = Key("STATE#{state}", "{points:04d}#{note_id}", index=BY_STATE, when={"closed": None})
    by_rank = Key("AUTHOR#{author_id}", "{points}", index=BY_RANK)
    by_place = Key("PLACE#{author_id}", "{raw}", index=BY_PLACE)
    one_title = Unique("TITLE#{title}")


class Odd(Entity):
    """Its validators refuse what is usual."""

    model_config = ConfigDict(validate_default=True)
    name: str
    word: str = "ok"
    code: str

    primary = Key("ODD#{name}", "HEAD")
    claim = Unique("CODE#{code}")

    @field_validator("word")
    @classmethod
    def _word(cls, word: str) -> str:
        if word != "ok":
            raise ValueError(word)
        return word


class Notes(Design):
    table = Table("notes", indexes=[BY_STATE, BY_RANK, BY_PLACE], entities=[Note, Odd])


COMPILED = Notes.compiled
NOTE, ODD = COMPILED.entities[Note], COMPILED.entities[Odd]
FILES: dict[str, Stored] = {
    "nothing": Stored(),
    "fields": Stored(fields={"title": 30, "body": 0, "slug": 4, "points": 2, "raw": 4, "price": 3, "kind": 9}),
    "a field as large as it is": Stored(fields={"title": 9, "price": 2}),
    "a small item": Stored(item_bytes=1),
    "a large item": Stored(item_bytes=1500),
    "a large item with a large field": Stored(item_bytes=1500, fields={"body": 1000}),
}


def _short(item: Any) -> dict[str, str]:
    texts = {name: json.dumps(value, default=sorted) for name, value in item.items()}
    return {name: text if len(text) < 50 else f"{text[:40]}...{len(text)}" for name, text in texts.items()}


@pytest.mark.parametrize("name", FILES)
def test_items_by_what_a_traffic_file_says(name: str) -> None:
    typical = Typical(COMPILED, {"Note": FILES[name], "Odd": Stored(item_bytes=FILES[name].item_bytes)})
    lines: list[str] = []
    for entity in (NOTE, ODD):
        for serial in (0, 1, 7):
            instance = typical.instance(entity, serial=serial)
            item = typical.item(instance.model_copy(update={"expires": None}))
            lines += [f"{entity.name} {serial}", *(f"    {each}: {text}" for each, text in _short(item).items())]
        sizes = typical.sizes(entity)
        lines.append(f"{sizes.item_bytes} bytes, of keys {sizes.key_bytes}, entries {dict(sizes.entries)}")
        lines += [
            f"    {each.field}: {each.size_bytes} by {each.source}{', exact' * each.exact}" for each in sizes.fields
        ]
        lines.append(f"    open: {', '.join(each.field for each in sizes.open_fields)}")
        lines.append(f"    claims: {[typical.claim_bytes(entity, claim) for claim in entity.claims]}")
    assert_agreed("\n".join(lines))


KNOWN: dict[str, dict[str, Any]] = {
    "nothing": {},
    "what keeps it out of an index": {"closed": datetime(2026, 1, 1, tzinfo=UTC)},
    "nothing where a claim is": {"title": None},
    "other values": {"state": State.DONE, "points": 12},
    "what no key takes": {"points": -1},
    "a long key": {"author_id": "a" * 1100},
    "a key that is too long": {"author_id": "a" * 2100},
    "another's field": {"no": 1},
}


@pytest.mark.parametrize("name", KNOWN)
def test_entries_in_indexes_by_what_is_known(name: str) -> None:
    """Sizes of a sparse key that a value keeps the item out of; what can't stand in a key has no typical item."""
    typical = Typical(COMPILED)
    try:
        made = f"{dict(typical.entries(NOTE, KNOWN[name]))}"
    except Problem as problem:
        made = f"{problem}; {problem.hint}"
    sized = typical.of_size(["Note"], 2000)
    assert_agreed(
        f"{made}\n{sized.sizes(NOTE).item_bytes} {dict(sized.sizes(NOTE).entries)}\n{sized.sizes(ODD).item_bytes}"
    )
