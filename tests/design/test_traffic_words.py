# mypy: disable-error-code="empty-body"
"""What a traffic file is told of its faults, word by word: each name that there is none of, with the nearest one; each
number that can't be.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import computed_field

from keyplan import Create, Design, Entity, Index, Key, Table, Unique, Writes, read, write
from keyplan.analysis.traffic.traffic_file import StoredItems, TableSettings, read_traffic, traffic_from
from keyplan.errors import TrafficError
from keyplan.model.declared.pattern_load import Load

BY_STATE, BY_NOTE = Index("BY_STATE", "spk", "ssk"), Index("BY_NOTE", "npk", "nsk")


class Ticket(Entity):
    ticket_id: str
    state: Literal["open", "closed", "lost"] = "open"
    kind: Literal["bug", "wish"] = "bug"
    note: str | None = None
    title: str = ""

    primary = Key("TICKET#{ticket_id}", "HEAD")
    named = Unique("TITLE#{title}", "HEAD")
    opened = Key("OPEN", "{ticket_id}", index=BY_STATE, when={"state": "open"})
    closed = Key("CLOSED", "{shown}#{ticket_id}", index=BY_STATE, when={"state": ["closed", "lost"]})
    bugs = Key("BUG#{note}", "{ticket_id}", index=BY_NOTE, when={"kind": "bug"})

    @computed_field
    def shown(self) -> str:
        return self.title.upper()


class Tickets(Design):
    table = Table("tickets", entities=[Ticket], indexes=[BY_STATE, BY_NOTE])

    @read("R1", per_second=3)
    def ticket(self, ticket_id: str) -> Ticket | None: ...

    @read("R2", key=Ticket.opened, where={"state": "open"})
    def open_ones(self, limit: int = 5) -> list[Ticket]: ...

    @write("W1", items=2)
    def add(self, ticket_id: str, title: str = "") -> Writes:
        yield Create(Ticket(ticket_id=ticket_id, title=title))


class Older(Design):
    """A version before, with a pattern of its own."""

    table = Table("tickets", entities=[Ticket], indexes=[BY_STATE, BY_NOTE])

    @read("R9")
    def old_one(self, ticket_id: str) -> Ticket | None: ...


def told(data: Any, *designs: type[Design]) -> str:
    try:
        traffic_from(data, *(each.compiled for each in designs))
    except TrafficError as error:
        faults = sorted(f"  {fault}" for fault in error.errors)
        return "\n".join([f"{data}: {error.message} ({error.place})", *faults])
    return f"{data}: taken"


@pytest.mark.parametrize("count", [30, 31])
def test_how_many_names_are_shown(count: int) -> None:
    fields = {f"field_{number:02d}": str for number in range(count)}
    wide: Any = type(
        "Wide", (Entity,), {"__annotations__": fields, "primary": Key("W#{field_00}"), "__module__": __name__}
    )
    table = Table("wide", sort=None, entities=[wide])
    design: Any = type("Widely", (Design,), {"table": table, "__module__": __name__})
    shown = told({"entities": {"Wide": {"fields": {"zzz": 1}}}}, design)
    assert shown.endswith(f"(it has {', '.join(fields)})" if count == 30 else "(there are 31, among them field_00)")


def test_what_a_file_says_of_each() -> None:
    data = {
        "patterns": {
            "R1": {"items": 4, "per_second": 0},
            "add": {"fails": 0.25, "in_transaction": True},
            "R9": {"items": 1},
        },
        "entities": {
            "Ticket": {"count": 4, "filled": {"note": 0.5, "kind": 1}, "fields": {"title": 0}, "kept_days": 0.5}
        },
    }  # fmt: skip
    traffic = traffic_from(data, Tickets.compiled, Older.compiled)
    assert traffic.patterns == {
        "ticket": Load(per_second=0, items=4), "open_ones": Load(),
        "add": Load(items=2, fails=0.25, in_transaction=True),
    }  # fmt: skip
    stored = StoredItems(count=4, filled={"note": 0.5, "kind": 1}, fields={"title": 0}, kept_days=0.5)
    assert (traffic.entities, traffic.source, traffic.known) == ({"Ticket": stored}, "traffic", True)
    assert traffic.table == TableSettings()
    assert not traffic_from({}, Older.compiled).known
    by_name = {"patterns": {"old_one": {"items": 3}, "R1": {"items": 5}}}
    assert traffic_from(by_name, Older.compiled, Tickets.compiled).patterns == {"old_one": Load(items=3)}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.toml", b"\xff", "a.toml can't be read: it isn't UTF-8"),
        ("a.toml", None, "a.toml can't be read: No such file or directory"),
        ("a.toml", b"x = ", "it isn't TOML: "),
        ("a.json", b"{", "it isn't JSON: "),
        ("a.json", b"[" * 100_000, "it isn't JSON: "),
    ],
)
def test_files_that_hold_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes | None, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path(name).write_bytes(content)
    with pytest.raises(TrafficError) as caught:
        read_traffic(name, Tickets.compiled)
    assert caught.value.message.startswith(said)
    assert caught.value.place == name
