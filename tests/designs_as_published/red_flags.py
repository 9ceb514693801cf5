# mypy: disable-error-code="empty-body"
"""Anti-patterns of the design guide in one design: partition keys by status, country and current hour, one partition
key for all items, a filtered scan, and an index without an access pattern.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from keyplan import Cursor, Design, Entity, Index, Key, Page, Table, read

BY_STATUS = Index("BY_STATUS", "status_pk", "status_sk")
BY_COUNTRY = Index("BY_COUNTRY", "country_pk", "country_sk")
BY_HOUR = Index("BY_HOUR", "hour_pk", "hour_sk")
LATER = Index("LATER", "later_pk", "later_sk")


class Order(Entity):
    order_id: str
    status: Literal["pending", "done"] = "pending"
    country: Literal["us", "ch", "fr"] = "us"
    at: datetime

    primary = Key("SHOP", "ORDER#{order_id}")
    by_status = Key("STATUS#{status}", "{order_id}", index=BY_STATUS)
    by_country = Key("COUNTRY#{country}", "{order_id}", index=BY_COUNTRY)
    by_hour = Key("HOUR#{at:%Y%m%d%H}", "{order_id}", index=BY_HOUR)
    later = Key("LATER#{order_id}", "{order_id}", index=LATER)


class RedFlags(Design):
    """Orders whose keys and reads have every anti-pattern."""

    table = Table("red-flags", indexes=[BY_STATUS, BY_COUNTRY, BY_HOUR, LATER])

    @read("R1")
    def order(self, order_id: str) -> Order | None: ...

    @read("R2")
    def orders_by_status(
        self, status: Literal["pending", "done"], limit: int = 10, cursor: Cursor | None = None
    ) -> Page[Order]: ...

    @read("R3")
    def orders_by_country(
        self, country: Literal["us", "ch", "fr"], limit: int = 10, cursor: Cursor | None = None
    ) -> Page[Order]: ...

    @read("R4", scan=True, where="country = :of")
    def scanned(self, of: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Order]: ...
