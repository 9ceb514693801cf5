"""The strings that each key format writes and reads, and the strings and values that it rejects."""

from __future__ import annotations

import enum
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from keyplan import Page
from keyplan.errors import ArgumentError, KeyFieldError
from keyplan.model.compiled.signatures import signature_of
from keyplan.model.stored.key_formats import format_for

LATE = datetime(2026, 1, 2, 1, 30, tzinfo=timezone(timedelta(hours=2)))
BARE = LATE.replace(tzinfo=None)
TEN, ELEVEN = tuple("abcdefghij"), tuple("abcdefghijk")


class Grade(enum.IntEnum):
    ONE = 1
    TWO = 2


def form(kind: Any, spec: str = "", attribute: str = "S", ranks: tuple[Any, ...] = ()) -> Any:
    return format_for(kind, spec, attribute_type=attribute, sorts=False, ranks=ranks)


CASES: list[tuple[Any, Any, str, list[str], list[Any]]] = [
    (form(int, "04d"), 7, "0007", ["7", "00007", "x", ""], [10_000, -1]),
    (form(int, "04d:desc"), 7, "9992", ["992", "99992"], [10_000, -1]),
    (form(int, "d"), -7, "-7", ["07", "+7", " 7", "", "7 "], []),
    (form(int, "d"), 0, "0", ["-0", "00"], []),
    (form(Grade, "02d"), 2, "02", ["2", "002"], [100]),
    (form(datetime), LATE, "2026-01-01T23:30:00.000000Z", ["2026-01-01T23:30:00Z", "2026-01-01"], [BARE]),
    (form(datetime, "desc"), LATE, "7973-98-98T76:69:99.999999Z", ["2026-01-01T23:30:00.000000Z"], [BARE]),
    (form(datetime, "%Y%m%d%H%M%S%f"), LATE, "20260101233000000000", ["2026010123300000000", "2026-01-01"], []),
    (form(date), date(2026, 1, 2), "2026-01-02", ["2026-13-01", "x", "2026-1-2"], []),
    (form(date, "%Y%m%d"), date(926, 1, 2), "09260102", ["926012", "0926-01-02", "0926012"], []),
    (form(date, "%Y/%m/%d:desc"), date(2026, 1, 2), "7973/98/97", ["2026/01/02", "7973/98/7"], []),
    (form(str, "rank", ranks=TEN), "j", "9", ["a", ""], ["k"]),
    (form(str, "rank", ranks=ELEVEN), "b", "01", ["11", "99"], ["l", None]),
    (form(str, "rank:desc", ranks=ELEVEN), "b", "98", ["88", "00"], ["l"]),
    (form(str, "rank:desc", ranks=TEN[:2]), "b", "8", ["7"], ["c"]),
    (form(time), time(1, 2, 3), "01:02:03.000000", ["x"], [time(1, tzinfo=UTC)]),
    (form(UUID), UUID(int=1), str(UUID(int=1)), [], []),
    (form(bool), True, "true", [], []),
]  # fmt: skip


@pytest.mark.parametrize(("held", "value", "text", "others", "refused"), CASES)
def test_values_in_each_key_format_round_trip(
    held: Any, value: Any, text: str, others: list[str], refused: list[Any]
) -> None:
    assert held.write(value) == text
    if held.exact and type(value) not in {UUID, bool}:
        assert held.read(text) == value
    for other in others:
        with pytest.raises(ValueError):
            held.read(other)
    for wrong in refused:
        with pytest.raises(KeyFieldError):
            held.write(wrong)


@pytest.mark.parametrize(
    ("value", "text"),
    [(7, "7"), (Decimal("2.50"), "2.5"), (0.1, "0.1"), (1e22, "10000000000000000000000"), (Decimal("1E+3"), "1000")],
)
def test_numbers_without_padding_in_keys_round_trip(value: Any, text: str) -> None:
    held = form(type(value), "", "N")
    assert held.write(value) == text
    assert Decimal(held.read(text)) == Decimal(str(value))


@pytest.mark.parametrize(("unit", "text"), [("ms", "1767310200125"), ("s", "1767310200")])
def test_timestamps_stored_as_numbers_in_keys_round_trip(unit: str, text: str) -> None:
    moment = LATE.replace(microsecond=125_000)
    held = form(datetime, unit, "N")
    assert held.write(moment if unit == "ms" else LATE) == text
    assert held.read(text) == (moment if unit == "ms" else LATE)


def asked(self: Any, owner: str, number: int = 3) -> Page[Any]: ...  # type: ignore[empty-body]


def nothing(self: Any) -> Page[Any]: ...  # type: ignore[empty-body]


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "faults"),
    [
        (asked, (), {}, ["owner: missing (pass a value of type str)"]),
        (asked, ("a", 1, 2), {}, ["the pattern takes 2 arguments, but got 3"]),
        (asked, ("a", 1), {"owner": "b"}, ["owner: duplicate"]),
        (asked, ("a",), {"onwer": "b"}, ["onwer: unknown parameter (did you mean owner?)"]),
        (asked, (), {"zzz": "b"}, ["zzz: unknown parameter (the pattern takes owner, number)",
            "owner: missing (pass a value of type str)"]),
        (nothing, (), {"zzz": "b"}, ["zzz: unknown parameter (the pattern takes no arguments)"]),
        (nothing, (1,), {}, ["the pattern takes 0 arguments, but got 1"]),
        (asked, (3, "x"), {}, ["owner: input should be a valid string; given: 3",
            "number: input should be a valid integer; given: 'x'"]),
    ],
)  # fmt: skip
def test_invalid_arguments_of_a_call_are_rejected(function: Any, args: Any, kwargs: Any, faults: list[str]) -> None:
    signature = signature_of(function, "Things.asked", {})
    with pytest.raises(ArgumentError) as caught:
        signature.bind(args, kwargs)
    assert [str(fault) for fault in caught.value.errors] == faults
    assert caught.value.message == ("wrong arguments" if len(faults) > 1 else "wrong argument")
    assert str(caught.value.hint) == f"the signature is {signature}"
