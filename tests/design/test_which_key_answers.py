# mypy: disable-error-code="empty-body"
"""Which key answers a question, and what the others lack: one entity with keys of all kinds, and the questions that can
be put to it, one by one. What each key misses is told with its distance, by which the nearest is named to the caller.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import product
from typing import Any, Literal, TypeAlias

import pytest

from keyplan import Design, Each, Entity, Index, Key, Page, Prefix, Range, Table, read
from keyplan.design.compiled.matching import Miss
from keyplan.errors import DesignError
from tests.agreed import assert_agreed
from tests.design.test_plan_texts import _members

BY_KIND = Index("BY_KIND", "kpk", "ksk")
BY_TOWN = Index("BY_TOWN", "tpk", "tsk")
WAITING = Index("WAITING", "wpk", "wsk")
LATEST = Index("LATEST", "pk", "lsk", local=True)
Kind: TypeAlias = Literal["call", "chat", "mail"]
CHAT_OR_CALL: Any = Literal["chat", "call"]


class Case(Entity):
    """Found by itself, by its kind in a month, by its town in shards, while it waits, and by time."""

    desk: str
    town: str
    number: int
    kind: Kind
    at: datetime

    primary = Key("DESK#{desk}", "TOWN#{town}#{number:04d}")
    by_kind = Key("KIND#{kind}#{at:%Y%m}", "{at}#{desk}", index=BY_KIND)
    by_town = Key("TOWN#{town}", "{number:04d:desc}#{at:%Y-%m-%d}", index=BY_TOWN, shards=4)
    waiting = Key("WAITING#{desk}", "{at:%Y-%m-%d}#{town}", index=WAITING, when={"kind": ["call", "chat"]})
    latest = Key("DESK#{desk}", "{at}", index=LATEST)


PARAMETERS: dict[str, dict[str, Any]] = {
    "desk": {"value": str, "each": Each[str], "prefix": Prefix, "optional": str | None},
    "town": {"value": str, "each": Each[str], "prefix": Prefix},
    "number": {"value": int, "range": Range[int], "each": Each[int]},
    "kind": {
        "value": Kind, "call": Literal["call"], "two": Literal["chat", "call"], "each of two": Each[CHAT_OR_CALL],
        "each": Each[Kind],
    },
    "at": {"value": datetime, "range": Range[datetime], "optional range": Range[datetime] | None},
}  # fmt: skip
FIXED: list[dict[str, Any]] = [
    {"kind": "call"}, {"kind": ["call", "chat"]}, {"kind": ["call", "mail"]}, {"town": "Bern"}, {"number": 7},
]  # fmt: skip
OPTIONS: list[dict[str, Any]] = [
    {"consistent": True}, {"newest_first": True}, {"order_by": "number"}, {"order_by": "-number"}, {"order_by": "at"},
    {"order_by": "-at"}, {"order_by": "town"}, {"key": Case.by_town}, {"key": Case.latest}, {"key": Case.waiting},
]  # fmt: skip


ANSWERS: dict[str, Any] = {"list": list[Case], "page": Page[Case], "one": Case | None, "count": int}
Question: TypeAlias = tuple[Mapping[str, str], str, dict[str, Any]]
"""What is given of which field, the answer, and the options."""


def planned(table: Table, parameters: Mapping[str, Any], answer: Any, options: Mapping[str, Any]) -> str:
    """The plan of a design's one question, or why there is none."""
    scope: dict[str, Any] = {}
    exec(
        f"def asked({', '.join(['self', *('limit=5' if name == 'limit' else name for name in parameters)])}): ...",
        scope,
    )
    function: types.FunctionType = scope["asked"]
    function.__annotations__ = {**parameters, "return": answer}
    try:
        design: Any = type("Asking", (Design,), {"table": table, "asked": read("Q", **options)(function)})
    except DesignError as error:
        return " / ".join(f"{fault.message.partition('; ')[0]}; {fault.hint}" for fault in error.faults)
    plan = design.compiled.reads["asked"].plan
    return f"{type(plan).__name__} {' '.join(_members(plan))}"


def noted(monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], dict[str, int]]:
    """What keys will have missed, and the reasons by their numbers."""
    reasons: dict[str, int] = {}
    missed: list[str] = []
    plain = Miss.__init__

    def noting(self: Miss, key: Any, reason: str, distance: int) -> None:
        plain(self, key, reason, distance)
        missed.append(f"{key.name} by {distance} ({reasons.setdefault(reason, len(reasons))})")

    monkeypatch.setattr(Miss, "__init__", noting)
    return missed, reasons


def _lines(monkeypatch: pytest.MonkeyPatch, questions: Iterable[Question]) -> Iterator[str]:
    missed, reasons = noted(monkeypatch)
    table = Table("cases", indexes=[BY_KIND, BY_TOWN, WAITING, LATEST])
    for kinds, answer, options in questions:
        missed.clear()
        parameters: dict[str, Any] = {name: PARAMETERS[name][kind] for name, kind in kinds.items()}
        parameters |= {"limit": int} if answer == "page" else {}
        made = planned(table, parameters, ANSWERS[answer], options)
        given = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
        yield f"{given}: {answer}{''.join(f', {name}={value}' for name, value in options.items())}"
        yield f"    {made}"
        yield from ([f"    missed: {', '.join(dict.fromkeys(missed))}"] if missed else ())
    yield from (f"({number}) {reason}" for reason, number in reasons.items())


def _pairs(first: str) -> Iterator[dict[str, str]]:
    for name, kind in product(PARAMETERS, PARAMETERS[first]):
        if [*PARAMETERS].index(name) > [*PARAMETERS].index(first):
            yield from ({first: kind, name: other} for other in PARAMETERS[name])


@pytest.mark.parametrize("name", PARAMETERS)
def test_by_one_field_or_two(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = [*({name: kind} for kind in PARAMETERS[name]), *_pairs(name)]
    assert_agreed("\n".join(_lines(monkeypatch, ((each, "list", {}) for each in questions))))


SEVERAL: list[dict[str, str]] = [
    {"desk": "value"}, {"town": "value"}, {"desk": "value", "town": "value"}, {"kind": "value", "at": "range"},
    {"desk": "value", "town": "value", "number": "value"}, {"desk": "each", "town": "each", "number": "each"},
    {"desk": "value", "at": "range"}, {"town": "each"}, {"town": "value", "number": "range", "kind": "call"},
]  # fmt: skip


def test_by_what_is_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    questions: list[Question] = [(each, "list", {"where": where}) for each, where in product(SEVERAL, FIXED)]
    assert_agreed("\n".join(_lines(monkeypatch, questions)))


@pytest.mark.parametrize("answer", ANSWERS)
def test_by_options(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options: list[dict[str, Any]] = [{}, *OPTIONS] if answer == "page" else [{}, *OPTIONS[:2]]
    assert_agreed("\n".join(_lines(monkeypatch, ((each, answer, more) for each, more in product(SEVERAL, options)))))
