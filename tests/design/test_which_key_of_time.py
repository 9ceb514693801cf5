# mypy: disable-error-code="empty-body"
"""Which key answers a question where keys have several attributes, stand in buckets of time, hold a part of a field, or
are shared with another entity; and what the others lack.
"""

from __future__ import annotations

from datetime import datetime
from itertools import product
from typing import Any, Literal, NamedTuple, TypeAlias

import pytest

from keyplan import Entity, Index, Key, Number, Page, Range, Table
from tests.agreed import assert_agreed
from tests.design.test_which_key_answers import noted, planned

NATIVE, TIMES = Index("NATIVE", ["desk"], [Number("number"), "at"]), Index("TIMES", "xpk", "xsk")
PARTS, WHOLE = Index("PARTS", "vpk", "vsk"), Index("WHOLE", "wpk", "wsk")
Kind: TypeAlias = Literal["call", "chat", "mail"]


class Visit(Entity):
    """Its keys have several attributes, two times, a part of a field, and another field before the time."""

    desk: str
    number: int
    at: datetime
    until: datetime
    kind: Kind = "call"

    primary = Key("DESK#{desk}", "{at:%Y-%m}#{number:04d}#{at}")
    native = Key("{desk}", ["{number}", "{at}"], index=NATIVE)
    times = Key("TIMES#{at:%Y%m}#{until:%Y}", "{at}#{desk}", index=TIMES)
    parts = Key(
        "PARTS#{at:%Y%m}", "{number:04d:desc}#{at}#{desk}", index=PARTS, when={"kind": ["call", "chat", "mail"]}
    )
    whole = Key("WHOLE#{at:%Y%m}", "{at}#{desk}", index=WHOLE, when={"number": 7, "kind": ["call", "mail"]})


class Desk(Entity):
    """What stands beside visits."""

    desk: str

    primary = Key("DESK#{desk}", "HEAD")


class Both(NamedTuple):
    """A collection of the two."""

    desk: Desk
    visits: list[Visit]


LIST, ONE, PAGE = list[Visit], Visit | None, Page[Visit]
TIME, SPAN = datetime, Range[datetime]
VISITS: list[tuple[dict[str, Any], Any]] = [
    ({"desk": str}, LIST), ({"desk": str, "number": int}, LIST), ({"desk": str, "at": TIME}, LIST),
    ({"desk": str, "at": SPAN}, LIST), ({"number": int, "at": SPAN}, LIST), ({"desk": str, "number": Range[int]}, LIST),
    ({"at": SPAN}, LIST), ({"desk": str, "number": int, "at": SPAN}, LIST), ({"at": TIME}, LIST),
    ({"at": SPAN, "until": SPAN}, LIST), ({"at": SPAN, "until": TIME}, LIST), ({"at": SPAN | None}, LIST),
    ({"at": SPAN, "kind": Kind}, LIST), ({"desk": str}, Both), ({"desk": str, "at": SPAN}, Both), ({}, LIST),
    ({"at": TIME, "kind": Kind}, LIST), ({"desk": str, "at": TIME, "number": int}, ONE), ({"until": TIME}, ONE),
    ({"at": SPAN, "limit": int}, PAGE), ({"at": SPAN, "number": Literal[7], "kind": Literal["call"]}, LIST),
    ({"at": SPAN, "number": Literal[7], "kind": Literal["call", "chat", "mail"]}, LIST),
]  # fmt: skip
OPTIONS: list[dict[str, Any]] = [
    {}, {"newest_first": True}, {"order_by": "at"}, {"order_by": "number"}, {"key": Visit.parts}, {"key": Visit.whole},
    {"where": {"number": 7}}, {"where": {"number": 7, "kind": "mail"}},
]  # fmt: skip


def test_by_keys_of_several_attributes_and_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table("visits", indexes=[NATIVE, TIMES, PARTS, WHOLE], entities=[Visit, Desk])
    lines: list[str] = []
    missed, reasons = noted(monkeypatch)
    for (parameters, answer), options in product(VISITS, OPTIONS):
        if parameters.keys() & options.get("where", {}).keys():
            continue
        missed.clear()
        made = planned(table, parameters, answer, options)
        shown = {name: value.sort if isinstance(value, Key) else value for name, value in options.items()}
        given = ", ".join(f"{name} {getattr(kind, '__name__', kind)}" for name, kind in parameters.items())
        lines.append(f"{given}: {'one' if answer is ONE else answer.__name__}, {shown}".replace("typing.", ""))
        lines.append(f"    {made}")
        lines += [f"    missed: {', '.join(dict.fromkeys(missed))}"] if missed else []
    assert_agreed("\n".join([*lines, *(f"({number}) {reason}" for reason, number in reasons.items())]))
