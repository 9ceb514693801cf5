# mypy: disable-error-code="empty-body"
"""Each design of a family against each other one: what is reported of patterns, keys, fields and tables."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from datetime import datetime
from enum import Enum
from itertools import permutations
from typing import Annotated, Any

from pydantic import Field

from keyplan import (
    Cursor,
    Delete,
    Design,
    Each,
    Entity,
    Index,
    Key,
    KeyStyle,
    Label,
    Number,
    Page,
    Range,
    Table,
    Through,
    Ttl,
    Unique,
    Version,
    Writes,
    read,
    write,
)
from keyplan.diff.changes import Severity
from keyplan.diff.report import difference
from tests.agreed import assert_agreed

DAILY, MONTHLY, PLAIN = (Index(name, f"{name}_pk", f"{name}_sk") for name in ("daily", "monthly", "plain"))


class Reading(Entity):
    sensor: str
    at: datetime
    value: int = 0
    mark: str | None = None

    primary = Key("SENSOR#{sensor}", "{at}")
    daily = Key("DAY#{sensor}#{at:%Y-%m-%d}", "{at}", index=DAILY)
    monthly = Key("MONTH#{sensor}#{at:%Y-%m}", "{at}", index=MONTHLY)
    by_value = Key("VALUE#{value}", "{at:desc}#{sensor}", index=PLAIN)


class Owner(Entity):
    owner: str
    sensor: str

    primary = Key("OWNER#{owner}", "{sensor}")


class Renter(Entity):
    owner: str
    sensor: str

    primary = Key("RENTER#{owner}", "{sensor}")


class Sensor(Entity):
    sensor: str
    title: str = ""

    primary = Key("THE_SENSOR#{sensor}", "HEAD")


class Patterns:
    """What a pattern is changed to."""

    def by_sensor(self, sensor: str) -> list[Reading]: ...

    def limited(self, sensor: str, limit: int = 5) -> list[Reading]: ...

    def limited_more(self, sensor: str, limit: int = 6) -> list[Reading]: ...

    def paged(self, sensor: str, limit: int = 5, cursor: Cursor | None = None) -> Page[Reading]: ...

    def in_range(self, sensor: str, at: Range[datetime]) -> list[Reading]: ...

    def may_be_in_range(self, sensor: str, at: Range[datetime] | None = None) -> list[Reading]: ...

    async def awaited(self, sensor: str) -> list[Reading]: ...

    def flowing(self, sensor: str) -> Iterator[Reading]: ...

    def flowing_awaited(self, sensor: str) -> AsyncIterator[Reading]: ...

    def of_several(self, sensor: Each[str]) -> list[Reading]: ...

    def first(self, sensor: str) -> Reading | None: ...

    def counted(self, sensor: str) -> int: ...

    def by_value(self, value: int) -> list[Reading]: ...

    def of_owner(self, owner: str) -> list[Sensor]: ...

    def all_of_them(self) -> Iterator[Reading]: ...

    def removed(self, sensor: str, at: datetime) -> Writes[None]:
        yield Delete(Reading, sensor=sensor, at=at)


READS: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": ("by_sensor", {}), "newest": ("by_sensor", {"newest_first": True}),
    "strong": ("by_sensor", {"consistent": True}), "limited": ("limited", {}), "limited more": ("limited_more", {}),
    "paged": ("paged", {}), "in range": ("in_range", {}), "daily": ("in_range", {"key": Reading.daily}),
    "monthly": ("in_range", {"key": Reading.monthly}), "may be in range": ("may_be_in_range", {}),
    "awaited": ("awaited", {}), "flowing": ("flowing", {}), "flowing awaited": ("flowing_awaited", {}),
    "of several": ("of_several", {"order_by": "at"}), "first": ("first", {"newest_first": True}),
    "counted": ("counted", {"of": (Reading,)}), "total": ("counted", {"of": (Reading,), "total": "value"}),
    "marked": ("by_sensor", {"where": {"mark": "x"}}),
    "by value": ("by_value", {}),
    "owner's": ("of_owner", {"through": Owner}),
    "renter's": ("of_owner", {"through": Through(Renter, sensor="sensor")}),
    "all": ("all_of_them", {"scan": True}),
    "in segments": ("all_of_them", {"scan": True, "segments": 4}),
}  # fmt: skip


def _with_pattern(name: str, options: dict[str, Any], *, writes: bool = False, called: str = "found") -> Any:
    function = getattr(Patterns, name)
    indexes = [DAILY, MONTHLY, PLAIN]
    entities: list[type[Entity]] = [Reading, Owner, Renter, Sensor]
    table = Table("readings", indexes=indexes, entities=entities)
    decorated = write("X1")(function) if writes else read("X1", **options)(function)
    return type("Readings", (Design,), {"table": table, called: decorated, "__module__": __name__})


def _report(designs: Mapping[str, Any], pairs: Iterable[tuple[str, str]]) -> str:
    """What is reported of each pair; each text about an effect once, by its number."""
    lines: list[str] = []
    effects: dict[str, int] = {}
    for old, new in pairs:
        result = difference(designs[old].compiled, designs[new].compiled)
        lines.append(f"{old} → {new}: {result.summary}")
        for change in result.changes:
            number = effects.setdefault(
                f"{change.effect}{f'; do: {change.action}' * bool(change.action)}", len(effects)
            )
            lines.append(f"    {change.severity.value} {change.code} {change.place}: {change.what} ({number})")
    return "\n".join([*lines, *(f"({number}) {effect}" for effect, number in effects.items())])


def test_patterns() -> None:
    designs = {name: _with_pattern(*each) for name, each in READS.items()}
    designs["a write"] = _with_pattern("removed", {}, writes=True)
    designs["other name"] = _with_pattern("by_sensor", {}, called="sought")
    near = ["plain", "daily", "monthly", "in range", "owner's", "renter's", "by value", "counted"]
    pairs = [*(("plain", name) for name in designs if name != "plain"), *permutations(near, 2)]
    pairs += [(name, "plain") for name in designs if name not in near]
    assert_agreed(_report(designs, pairs))


class Rank(Enum):
    LOW = "low"
    HIGH = "high"


class Ranks(Enum):
    LOW = "low"
    MIDDLE = "middle"
    HIGH = "high"


class More(Enum):
    LOW = "low"
    HIGH = "high"
    HIGHEST = "highest"


LIST: Any = list
GSI, LSI = Index("GSI", "gsi_pk", "gsi_sk"), Index("LSI", "pk", "lsi_sk", local=True)
RENAMED = Index("GSI", "gsi_pk", "other_sk")
RAW, UPPER = KeyStyle(raw=True), KeyStyle(case="upper")


def _notes(
    fields: Mapping[str, Any] | None = None, *, indexes: Iterable[Index] = (GSI, LSI), name: str = "Note",
    table: Mapping[str, Any] | None = None, **members: Any
) -> Any:  # fmt: skip
    """A design of one entity, with these fields besides its own and these members."""
    body: dict[str, Any] = {"__module__": __name__, "primary": Key("NOTE#{note_id}", "HEAD"), **members}
    body["__annotations__"] = {"note_id": str, "town": str, "number": int, "rank": Rank}
    for field, value in (fields or {}).items():
        kind, *default = value if isinstance(value, tuple) else (value,)
        body["__annotations__"][field] = kind
        body.update((field, each) for each in default)
    entity = type(name, (Entity,), body)
    made = Table(**{"name": "notes", "indexes": indexes, "entities": [entity], **(table or {})})
    return type("Notes", (Design,), {"table": made, "__module__": __name__})


def _town(partition: str = "TOWN#{town}", sort: str = "{number:04d}", **more: Any) -> dict[str, Any]:
    return {"by_town": Key(partition, sort, **{"index": GSI, **more})}


KEYS: dict[str, Callable[[], Any]] = {
    "none": _notes,
    "plain": lambda: _notes(**_town()),
    "other text": lambda: _notes(**_town("CITY#{town}")),
    "descending": lambda: _notes(**_town(sort="{number:04d:desc}")),
    "wider": lambda: _notes(**_town(sort="{number:06d}")),
    "ranked": lambda: _notes(**_town(sort="{rank:rank}")),
    "more ranks": lambda: _notes({"rank": More}, **_town(sort="{rank:rank}")),
    "ranks between": lambda: _notes({"rank": Ranks}, **_town(sort="{rank:rank}")),
    "raw": lambda: _notes(**_town("{note_id}#{town}", style=RAW)),
    "escaped": lambda: _notes(**_town("{note_id}#{town}")),
    "upper": lambda: _notes(**_town("{note_id}#{town}", style=UPPER)),
    "sharded": lambda: _notes(**_town(shards=4)),
    "more shards": lambda: _notes(**_town(shards=8)),
    "sparse": lambda: _notes(**_town(when={"rank": Rank.LOW})),
    "less sparse": lambda: _notes(**_town(when={"rank": [Rank.LOW, Rank.HIGH]})),
    "other name": lambda: _notes(in_town=Key("TOWN#{town}", "{number:04d}", index=GSI)),
    "local": lambda: _notes(by_number=Key("NOTE#{note_id}", "{number:04d}", index=LSI)),
    "other attribute": lambda: _notes(
        by_town=Key("TOWN#{town}", "{number:04d}", index=RENAMED), indexes=[RENAMED, LSI]
    ),
    "claim": lambda: _notes(one=Unique("TOWN#{town}")),
    "other claim": lambda: _notes(one=Unique("TOWN#{town}#{number}")),
    "claim by name": lambda: _notes(single=Unique("TOWN#{town}")),
    "other key": lambda: _notes(primary=Key("NOTES#{note_id}", "HEAD")),
    "other entity": lambda: _notes(name="Memo", **_town()),
    "other entity and key": lambda: _notes(name="Memo", primary=Key("MEMO#{note_id}", "HEAD")),
    "labelled": lambda: _notes(label=Label("_et", "Note")),
    "other label": lambda: _notes(label=Label("_et", "Memo")),
    "other label's name": lambda: _notes(label=Label("_type", "Note")),
}
FIELDS: dict[str, Callable[[], Any]] = {
    "none": _notes,
    "in a key": lambda: _notes(**_town()),
    "version": lambda: _notes({"version": (Version, 0)}),
    "other version": lambda: _notes({"revision": (Version, 0)}),
    "number": lambda: _notes({"version": (int, 0)}),
    "expires": lambda: _notes({"expires": (Ttl | None, None)}),
    "ends": lambda: _notes({"ends": (Ttl | None, None)}),
    "required": lambda: _notes({"more": int}),
    "optional": lambda: _notes({"more": int | None}),
    "default": lambda: _notes({"more": (int, 3)}),
    "other default": lambda: _notes({"more": (int, 4)}),
    "none by default": lambda: _notes({"more": (int | None, None)}),
    "alias": lambda: _notes({"more": (int, Field(alias="m"))}),
    "optional alias": lambda: _notes({"more": (int | None, Field(alias="m"))}),
    "default alias": lambda: _notes({"more": (int, Field(alias="m", default=3))}),
    "alias in a key": lambda: _notes({"town": (str, Field(alias="t"))}, **_town()),
    "bounded": lambda: _notes({"more": Annotated[int, Field(ge=3)]}),
    "bounded less": lambda: _notes({"more": Annotated[int, Field(ge=2)]}),
}
INCLUDED = [Index("GSI", "gsi_pk", "gsi_sk", projection=projection) for projection in (["a"], ["b", "a"], "KEYS_ONLY")]
TABLES: dict[str, Callable[[], Any]] = {
    "plain": lambda: _notes(indexes=[GSI]),
    "used": lambda: _with_read(**_town()),
    "none": lambda: _notes(indexes=[]),
    "local": lambda: _notes(indexes=[LSI]),
    "local, once global": lambda: _notes(indexes=[Index("GSI", "pk", "gsi_sk", local=True)]),
    "number": lambda: _notes(indexes=[Index("GSI", "gsi_pk", Number("gsi_sk"))]),
    "without sort key": lambda: _notes(indexes=[Index("GSI", "gsi_pk")]),
    "one": lambda: _notes(indexes=[INCLUDED[0]]),
    "two": lambda: _notes(indexes=[INCLUDED[1]]),
    "keys": lambda: _notes(indexes=[INCLUDED[2]]),
    "other name": lambda: _notes(indexes=[Index("OTHER", "gsi_pk", "gsi_sk")]),
    "another table": lambda: _notes(indexes=[GSI], table={"name": "memos"}),
    "other keys": lambda: _notes(indexes=[GSI], table={"partition": "a", "sort": "b"}),
    "other type": lambda: _notes({"note_id": int}, primary=Key("{note_id}", "HEAD"), indexes=[GSI],
                                 table={"partition": Number("pk")}),
    "no sort key": lambda: _notes(primary=Key("NOTE#{note_id}"), indexes=[GSI], table={"sort": None}),
}  # fmt: skip


def _with_read(**keys: Any) -> Any:
    plain = _notes(indexes=[GSI], **keys)
    (entity,) = plain.compiled.entities

    def in_town(self: Any, town: str) -> Any: ...

    in_town.__annotations__ = {"town": str, "return": LIST[entity]}
    return type("Notes", (Design,), {"table": plain.table, "in_town": read("N1")(in_town), "__module__": __name__})


def test_keys() -> None:
    near = ["none", "plain", "raw", "escaped", "upper", "ranked", "ranks between", "labelled", "other label"]
    designs = {name: make() for name, make in KEYS.items()}
    pairs = [pair for pair in permutations(designs, 2) if {*pair} & {"none", "plain"} or {*pair} <= {*near}]
    pairs += [("ranked", "more ranks"), ("more ranks", "ranked"), ("claim", "other claim"), ("claim", "claim by name")]
    pairs += [("sharded", "more shards"), ("sparse", "less sparse"), ("less sparse", "sparse")]
    assert_agreed(_report(designs, pairs))


def test_fields() -> None:
    designs = {name: make() for name, make in FIELDS.items()}
    pairs = [pair for pair in permutations(designs, 2) if {*pair} & {"none", "default", "alias"}]
    pairs += [("bounded", "bounded less"), ("bounded less", "bounded"), ("in a key", "alias in a key")]
    assert_agreed(_report(designs, pairs))


def test_tables() -> None:
    designs = {name: make() for name, make in TABLES.items()}
    pairs = [pair for pair in permutations(designs, 2) if {*pair} & {"plain", "used", "local"}]
    assert_agreed(_report(designs, [*pairs, ("one", "two"), ("two", "one"), ("keys", "one")]))


def test_how_grave_it_is() -> None:
    before, after = (KEYS[name]().compiled for name in ("plain", "other key"))
    result = difference(before, after)
    gravest = result.changes[0].severity
    ranks = sorted(Severity, key=lambda severity: severity.rank)
    assert [severity for severity in ranks if result.reaches(severity)] == ranks[ranks.index(gravest) :]
    assert not any(difference(before, before).reaches(severity) for severity in Severity)
    assert_agreed(
        f"{result.markdown()}\n{json.dumps(result.as_json(), indent=1)}\n{difference(before, before).markdown()}"
    )
    added = difference(_notes().compiled, _notes({"more": (int | None, None)}).compiled)
    assert_agreed(added.markdown())
