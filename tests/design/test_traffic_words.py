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
from keyplan.design.declared.load import Load
from keyplan.design.traffic.files import Stored, TableSettings, read_traffic, traffic_from
from keyplan.errors import TrafficError
from tests.agreed import assert_agreed

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


WRONG: list[Any] = [
    {"patern": {}},
    {"table": {"regions": "x"}},
    {"table": {"region": "eu-west-11"}},
    {"table": {"region": "EU (Ireland)"}},
    {"table": {"region": 3, "replicas": "eu-west-1"}},
    {"table": {"replicas": ["eu-west-1", "us-esat-1", 7]}},
    {"table": {"replicas": ("us-wets-2",), "billing": "provisional", "stream": "ALL"}},
    {"table": {"table_class": "standard-ia", "stream_readers": 101, "max_read_units": -1, "max_write_units": "4"}},
    {"table": {"point_in_time_recovery": "yes", "strong_across_regions": 1, "deletion_protection": 0}},
    {"table": []},
    {"patterns": {"tickt": {}}},
    {"patterns": {"R11": {}, "zzz": {}}},
    {"patterns": {"ticket": {"per_secnd": 1}}},
    {"patterns": {"ticket": {"per_second": 1}, "R1": {"per_second": 2}}},
    {"patterns": {"R1": {}, "ticket": {}}},
    {"patterns": {"old_one": {"arguments": {"ticket": "a"}}, "R9": {}}},
    {"patterns": {"ticket": {"fails": 0.5, "joined": True}, "add": {"fails": 0.5, "joined": True}}},
    {"patterns": {"R2": {"joined": False}, "R9": {"fails": 0}}},
    {"patterns": {"add": {"arguments": {"tite": "a", "ticket_id": "b", "zzz": 1}}, "ticket": {"arguments": {"x": 1}}}},
    {"patterns": {"add": {"arguments": []}, "ticket": {"hottest": {"Ticket.primry": 0.5, "Ticket.named": 0.1}}}},
    {"patterns": {"open_ones": {"hottest": {"Ticket.opened": 2, "opened": 0.5}}}},
    {"patterns": {"open_ones": {"hottest": 2, "kept": 0, "items": -1, "per_second": float("inf")}}},
    {"patterns": {"ticket": {"per_second": 3, "peak_per_second": 2.5}, "add": {"per_second": 3, "peak_per_second": 3}}},
    {"patterns": {"ticket": {"per_second": "3", "peak_per_second": 2}, "add": None}},
    {"entities": {"Tickt": {}, "Ticket": {"counts": 1}}},
    {"entities": {"Ticket": {"fields": {"titel": 1, "note": -1, "zzz": 2}}}},
    {"entities": {"Ticket": {"fields": [], "filled": 3}}},
    {"entities": {"Ticket": {"filled": {"nte": 0.5, "note": 2, "title": 0.5, "shown": 0.5, "state": 0.5, "kind": 1}}}},
    {"entities": {"Ticket": {"per_partition": 3, "per_partition_max": 2}}},
    {"entities": {"Ticket": {"per_partition": 2, "per_partition_max": 2, "kept_days": 0, "item_bytes": 409_601}}},
    {"entities": {"Ticket": 3}, "patterns": {"ticket": 3}, "table": 3},
    {"entities": [], "patterns": "x"},
    "x",
    None,
]  # fmt: skip


def told(data: Any, *designs: type[Design]) -> str:
    try:
        traffic_from(data, *(each.compiled for each in designs))
    except TrafficError as error:
        faults = sorted(f"  {fault}" for fault in error.faults)
        return "\n".join([f"{data}: {error.message} ({error.place})", *faults])
    return f"{data}: taken"


def test_each_fault_in_words() -> None:
    assert_agreed("\n".join(told(each, Tickets) for each in WRONG))


def test_faults_of_two_versions() -> None:
    given = [each for each in WRONG if isinstance(each, dict) and "patterns" in each]
    assert_agreed("\n".join(told(each, Tickets, Older) for each in given))


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
        "patterns": {"R1": {"items": 4, "per_second": 0}, "add": {"fails": 0.25, "joined": True}, "R9": {"items": 1}},
        "entities": {
            "Ticket": {"count": 4, "filled": {"note": 0.5, "kind": 1}, "fields": {"title": 0}, "kept_days": 0.5}
        },
    }  # fmt: skip
    traffic = traffic_from(data, Tickets.compiled, Older.compiled)
    assert traffic.patterns == {
        "ticket": Load(per_second=0, items=4), "open_ones": Load(), "add": Load(items=2, fails=0.25, joined=True),
    }  # fmt: skip
    stored = Stored(count=4, filled={"note": 0.5, "kind": 1}, fields={"title": 0}, kept_days=0.5)
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
