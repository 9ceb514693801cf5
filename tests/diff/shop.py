"""The source text of a design; tests replace some of its lines."""

from __future__ import annotations

import linecache
import sys
from itertools import count
from types import ModuleType

from keyplan import Design
from keyplan.analysis.diff.changes import Change
from keyplan.analysis.diff.diff_report import Difference, difference

SHOP = """
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, StringConstraints, computed_field

from keyplan import *

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
GSI2 = Index("GSI2", "gsi2pk", Number("gsi2sk"), projection=["total", "status", "note"])
LSI1 = Index("LSI1", "pk", "placed", local=True)


class Kind(Enum):
    SMALL = "small"
    LARGE = "large"


class Size(BaseModel):
    width: int
    title: str
    height: int | None = None


class Order(Entity):
    order_id: str
    merchant: str
    placed: str
    total: int = Field(default=0, ge=0)
    status: Literal["pending", "paid"] = "pending"
    note: str | None = None
    kind: Kind = Kind.SMALL
    size: Size | None = None
    parts: list[str] = []
    sizes: dict[str, int] = {}

    primary = Key("ORDER#{order_id}", "HEAD")
    pending = Key("MERCHANT#{merchant}", "{placed}#{order_id}", index=GSI1, when={"status": "pending"})


class User(Entity):
    user_id: str
    email: str
    name: str = "?"
    expires: Ttl | None = None

    @computed_field
    @property
    def initial(self) -> str:
        return self.name[:1]

    primary = Key("USER#{user_id}", "PROFILE")
    by_initial = Key("INITIAL#{initial}", "{user_id}", index=GSI1)
    email_claim = Unique("EMAIL#{email}")


class Shop(Design):
    table = Table("shop", indexes=[GSI1, GSI2, LSI1], entities=[User])

    @read("E1", consistent=True)
    def order(self, order_id: str) -> Order | None: ...

    @read("E2", where={"status": "pending"})
    def pending_orders(self, merchant: str, limit: int = 10) -> list[Order]: ...

    @write("W1")
    def place(self, order: Order) -> Writes[Order]:
        yield Put(order)
        return order
"""
_numbers = count()


def loaded(text: str) -> type[Design]:
    """The design that a source text defines."""
    module = ModuleType(f"shop_{next(_numbers)}")
    sys.modules[module.__name__] = module
    linecache.cache[module.__name__] = (len(text), None, text.splitlines(keepends=True), module.__name__)
    exec(compile(text, module.__name__, "exec", dont_inherit=True), vars(module))
    design: type[Design] = module.Shop
    return design


def changed(*changes: tuple[str, str], text: str = SHOP) -> str:
    """The source text after some replacements. Each replaced string must occur exactly once."""
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def compared(*changes: tuple[str, str]) -> Difference:
    return difference(loaded(SHOP).compiled, loaded(changed(*changes)).compiled)


def codes(changes: tuple[Change, ...]) -> list[str]:
    """A short form of each change, such as ``breaks table-renamed Shop.table``."""
    return [f"{change.severity.value} {change.code} {change.place.removeprefix('Shop.')}" for change in changes]
