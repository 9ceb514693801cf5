# mypy: disable-error-code="empty-body"
"""For pairs of similar designs, the changes of patterns, keys, fields and tables have the expected severities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any

from keyplan import Design, Discriminator, Entity, Index, Key, KeyStyle, Table, Unique
from keyplan.analysis.diff.changes import Severity
from keyplan.analysis.diff.diff_report import difference


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


GSI, LSI = Index("GSI", "gsi_pk", "gsi_sk"), Index("LSI", "pk", "lsi_sk", local=True)
RENAMED = Index("GSI", "gsi_pk", "other_sk")
RAW, UPPER = KeyStyle(raw=True), KeyStyle(case="upper")


def _notes(
    fields: Mapping[str, Any] | None = None, *, indexes: Iterable[Index] = (GSI, LSI), name: str = "Note",
    table: Mapping[str, Any] | None = None, **members: Any
) -> Any:  # fmt: skip
    """A design with the entity Note and the given additional fields and members."""
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
    "labelled": lambda: _notes(label=Discriminator("_et", "Note")),
    "other label": lambda: _notes(label=Discriminator("_et", "Memo")),
    "other label's name": lambda: _notes(label=Discriminator("_type", "Note")),
}


def test_changes_between_two_designs_have_the_expected_severity() -> None:
    before, after = (KEYS[name]().compiled for name in ("plain", "other key"))
    result = difference(before, after)
    gravest = result.changes[0].severity
    ranks = sorted(Severity, key=lambda severity: severity.rank)
    assert [severity for severity in ranks if result.reaches(severity)] == ranks[ranks.index(gravest) :]
    assert not any(difference(before, before).reaches(severity) for severity in Severity)
