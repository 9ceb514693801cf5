# mypy: disable-error-code="empty-body"
"""Fractional changes keep number fields within their bounds."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated

import pytest

from keyplan import Add, Design, Entity, Field, Key, Table, Update, Writes, read, write
from keyplan.errors import WriteFailed


class Jar(Entity):
    name: str
    litres: Annotated[Decimal, Field(ge=1, le=10)] = Decimal(1)
    drops: Annotated[Decimal, Field(gt=-1, lt=1)] = Decimal(0)

    primary = Key("JAR#{name}", "HEAD")


class Jars(Design):
    table = Table("jars")

    @read("J1")
    def jar(self, name: str) -> Jar: ...

    @write("J2")
    def filled(self, name: str, litres: Decimal) -> Writes:
        yield Update(Jar, name=name).set(litres=Add(litres))

    @write("J3")
    def dropped(self, name: str, drops: Decimal) -> Writes:
        yield Update(Jar, name=name).set(drops=Add(drops))


@pytest.fixture
def jars() -> Iterator[Jars]:
    with Jars.open(":memory:") as design:
        yield design


@pytest.mark.parametrize(
    ("before", "amount", "holds"),
    [
        ("9.75", "0.5", False),
        ("9.5", "0.5", True),
        ("9.75", "0.25", True),
        ("9", "1", True),
        ("9.5", "1", False),
        ("1.25", "-0.5", False),
        ("1.5", "-0.5", True),
        ("10", "-0.5", True),
        ("10", "0", True),
        ("1", "0.5", True),
    ],
)
def test_fractional_changes_keep_numbers_within_their_bounds(jars: Jars, before: str, amount: str, holds: bool) -> None:
    jars.create(Jar(name="a", litres=Decimal(before)))
    if holds:
        jars.filled("a", Decimal(amount))
    else:
        with pytest.raises(WriteFailed):
            jars.filled("a", Decimal(amount))
    assert jars.jar("a").litres == Decimal(before) + (Decimal(amount) if holds else 0)


@pytest.mark.parametrize(("amount", "holds"), [("0.5", True), ("1", False), ("-0.5", True), ("-1", False)])
def test_fractional_changes_never_reach_an_exclusive_bound(jars: Jars, amount: str, holds: bool) -> None:
    jars.create(Jar(name="a"))
    if holds:
        jars.dropped("a", Decimal(amount))
    else:
        with pytest.raises(WriteFailed):
            jars.dropped("a", Decimal(amount))
    assert jars.jar("a").drops == (Decimal(amount) if holds else 0)
