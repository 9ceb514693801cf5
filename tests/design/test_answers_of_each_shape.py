# mypy: disable-error-code="empty-body"
"""What a question of each shape is answered by, and what the keys that don't serve lack: one item, any, how many, a
sum, lists, pages, views, whole tables and indexes; of one entity and of two.
"""

from __future__ import annotations

from datetime import datetime
from itertools import product
from typing import Any, Literal, TypeAlias

import pytest

from keyplan import Each, Entity, Index, Key, Page, Range, Slots, Table, Unique, View
from tests.agreed import assert_agreed
from tests.design.test_which_key_answers import noted, planned

BY_CITY = Index("BY_CITY", "cpk", "csk", projection="KEYS_ONLY")
BY_DAY = Index("BY_DAY", "dpk", "dsk")
BY_STATE = Index("BY_STATE", "spk", "ssk", projection=["title"])
NEAR = Index("NEAR", "pk", "nsk", local=True)
State: TypeAlias = Literal["new", "old"]


class Note(Entity):
    """It is found by itself, by its title, by its city, by its day, while it is new, and by its length."""

    owner: str
    number: int
    title: str
    city: str
    at: datetime
    state: State = "new"
    length: int = 0
    mark: str | None = None

    primary = Key("OWNER#{owner}", "NOTE#{number:04d}")
    titled = Unique("TITLE#{title}", "HEAD")
    by_city = Key("CITY#{city}", "{title}#{number:04d}", index=BY_CITY)
    by_day = Key("DAY#{at:%Y%m%d}", "NOTE#{at}", index=BY_DAY)
    new = Key("STATE#{city}", "{at}", index=BY_STATE, when={"state": "new"})
    near = Key("OWNER#{owner}", "{length:04d}#{number:04d}", index=NEAR)


class Task(Entity):
    """It stands beside notes, under their owner and their day."""

    owner: str
    code: str
    at: datetime
    state: State = "new"
    length: int = 0
    mark: str | None = None

    primary = Key("OWNER#{owner}", "TASK#{code}")
    by_day = Key("DAY#{at:%Y%m%d}", "TASK#{at}", index=BY_DAY)


class Tally(Entity):
    owner: str
    slot: int = Slots(3)
    total: int = 0

    primary = Key("TALLY#{owner}#{slot:d}", "HEAD")


class Card(View[Note]):
    owner: str
    number: int
    title: str
    city: str


class Short(View[Note]):
    owner: str
    title: str
    mark: str | None


SPAN: Any = Range[datetime]
ONE: dict[str, tuple[Any, dict[str, Any]]] = {
    "one": (Note | None, {}), "list": (list[Note], {}), "page": (Page[Note], {}), "card": (Card | None, {}),
    "cards": (list[Card], {}), "shorts": (list[Short], {}), "any": (bool, {"of": Note}), "many": (int, {"of": Note}),
    "sum": (int, {"of": Note, "total": "length"}), "both": (list[Note | Task], {}),
    "many of both": (int, {"of": (Note, Task)}), "sum of both": (int, {"of": [Note, Task], "total": "length"}),
    "any of both": (bool, {"of": (Note, Task)}),
}  # fmt: skip
ASKED: list[dict[str, Any]] = [
    {}, {"owner": str}, {"owner": str, "number": int}, {"title": str}, {"owner": Each[str], "number": int},
    {"owner": Each[str]}, {"city": str}, {"city": str, "state": Literal["new"]}, {"at": SPAN}, {"at": datetime},
    {"city": str, "at": SPAN}, {"owner": str, "length": int}, {"owner": str, "state": State},
]  # fmt: skip
WHOLE: list[dict[str, Any]] = [
    {}, {"consistent": True}, {"where": {"state": "new"}}, {"where": {"number": 3}}, {"complete": True},
    {"newest_first": True}, {"order_by": "number"}, {"segments": 4},
]  # fmt: skip
INDEXED: list[dict[str, Any]] = [{}, {"consistent": True}, {"where": {"state": "new"}}, {"complete": True}]
FURTHER: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    *(("one", {"owner": str}, each) for each in (
        {"newest_first": True}, {"newest_first": False}, {"order_by": "length"})),
    *(("one", {"city": str}, each) for each in ({"newest_first": True}, {"complete": True}, {"order_by": "-at"})),
    *(("one", {"owner": str, "number": int}, each) for each in ({"consistent": True}, {"where": {"state": "new"}},
        {"key": Note.near}, {"key": Note.primary}, {"newest_first": True})),
    *(("any", {"owner": str, "number": int}, each) for each in ({"consistent": True}, {"where": {"length": 3}})),
    *(("any", {"title": str}, each) for each in (
        {"consistent": True}, {"where": {"length": 3}}, {"key": Note.by_city})),
    *(("one", {"title": str}, each) for each in ({"consistent": True}, {"where": {"length": 3}})),
    *(("list", {"owner": Each[str], "number": int}, each) for each in ({"consistent": True}, {"order_by": "number"},
        {"newest_first": True}, {"key": Note.near}, {"where": {"length": 3}})),
    *((shape, {}, {"scan": True, **each}) for shape, each in product(("list", "many", "both", "sum", "cards"), WHOLE)),
    *((shape, {}, {"all_of": index, **each})
        for shape, index, each in product(("list", "many", "cards"), (BY_CITY, BY_STATE, NEAR), INDEXED)),
    *(("list", {"city": str, **more}, {"where": text}) for more, text in (
        ({"state_is": Literal["new"]}, "state = :state_is"), ({"state_is": State}, "state = :state_is"),
        ({"state_is": str}, "state = :state_is"), ({"one": Literal["new"]}, "state IN (:one, 'old')"),
        ({"one": Literal["new"], "two": Literal["new"]}, "state IN (:one, :two)"))),
    *(("list", {"city": str}, each) for each in ({"complete": True}, {"order_by": "title"}, {"order_by": "at"},
        {"key": Note.by_city}, {"key": Note.new}, {"where": {"state": "new"}},
        {"where": {"state": "new"}, "order_by": "at"})),
    *(("both", {"at": SPAN}, each) for each in ({"key": Task.by_day}, {"key": Note.by_day}, {"order_by": "at"},
        {"newest_first": True}, {"where": {"mark": "a"}}, {"where": {"number": 3}})),
    *(("both", {"owner": str}, each) for each in ({"consistent": True}, {"key": Task.primary}, {"key": Note.near},
        {"where": {"state": "new"}}, {"order_by": "number"})),
    *(("list", {"owner": str, "newest_first": bool}, each) for each in (
        {}, {"order_by": "length"}, {"order_by": "-length"})),
    ("one", {"owner": str, "newest_first": bool}, {}), ("one", {"owner": str, "number": int, "newest_first": bool}, {}),
    ("many", {"owner": str, "newest_first": bool}, {}), ("many", {"owner": str}, {"newest_first": True}),
    ("sum", {"owner": str}, {"total": "title"}), ("sum", {"owner": str}, {"order_by": "length"}),
    ("cards", {"owner": str, "at": SPAN}, {}), ("shorts", {"city": str, "at": SPAN}, {}),
    ("cards", {"city": str, "number": Range[int]}, {}),
]  # fmt: skip


def shown(options: dict[str, Any]) -> str:
    names = {id(value): name for owner in (Note, Task) for name, value in vars(owner).items() if isinstance(value, Key)}
    return ", ".join(f"{name}={getattr(value, 'name', names.get(id(value), value))}" for name, value in options.items())


def lines(monkeypatch: pytest.MonkeyPatch, questions: list[tuple[str, dict[str, Any], dict[str, Any]]]) -> str:
    missed, reasons = noted(monkeypatch)
    table = Table("notes", indexes=[BY_CITY, BY_DAY, BY_STATE, NEAR], entities=[Note, Task])
    result: list[str] = []
    for shape, parameters, options in questions:
        missed.clear()
        answer, own = ONE[shape]
        asked = {**parameters, **({"limit": int} if shape == "page" else {})}
        made = planned(table, asked, answer, {**own, **options})
        given = ", ".join(f"{name} {getattr(kind, '__name__', kind)}" for name, kind in asked.items())
        result.append(f"{shape} by {given or 'nothing'} {shown(options)}".replace("typing.", "").rstrip())
        result.append(f"    {made}")
        result += [f"    missed: {', '.join(dict.fromkeys(missed))}"] if missed else []
    return "\n".join([*result, *(f"({number}) {reason}" for reason, number in reasons.items())])


@pytest.mark.parametrize("shape", ONE)
def test_by_what_is_asked(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_agreed(lines(monkeypatch, [(shape, each, {}) for each in ASKED]))


@pytest.mark.parametrize("part", range(6))
def test_by_what_is_said_besides(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_agreed(lines(monkeypatch, FURTHER[part::6]))


SLOTS: list[dict[str, Any]] = [{"owner": str}, {"owner": str, "slot": int}, {}]
SAID: list[dict[str, Any]] = [{}, {"total": "total"}, {"scan": True}]


@pytest.mark.parametrize("answer", [list[Tally], int, Tally | None, Page[Tally]])
def test_slots_that_nobody_names(answer: Any) -> None:
    table = Table("tallies", entities=[Tally])
    limit: dict[str, Any] = {"limit": int} if answer == Page[Tally] else {}
    of: dict[str, Any] = {"of": Tally} if answer is int else {}
    made = [planned(table, {**parameters, **limit}, answer, {**said, **of}) for parameters in SLOTS for said in SAID]
    assert_agreed("\n".join(made))
