"""Jobs of the shop that the site runs every minute: releasing unpaid orders and paying refunds.

Several processes can run them: a status changes only once, and refunds are idempotent by their key.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from functools import partial

from keyplan import Range, now
from keyplan.errors import Refused
from keyplan_systems.paging import items_of
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import HELD
from keyplan_systems.shop.payments import Declined, Provider

_LOG = logging.getLogger("keyplan.shop")


def release_unpaid(shop: Shop, *, held: timedelta = HELD, moment: datetime | None = None) -> int:
    """Cancel orders that are unpaid for ``held``; returns their number."""
    before = (moment or now()) - held
    released = 0
    for payment in items_of(partial(shop.unpaid_orders, Range(lt=before))):
        try:
            shop.release(payment.order_id, before)
        except Refused:
            continue  # the order was paid or cancelled meanwhile
        released += 1
    return released


def pay_refunds(shop: Shop, provider: Provider) -> int:
    """Refund due payments through the provider; returns their number. A declined one stays due and is logged."""
    paid = 0
    for payment in items_of(shop.unpaid_refunds):
        key = f"{payment.order_id}/refund"
        try:
            refund_id = provider.give_back(key, payment.external_id or payment.order_id, payment.amount_cents)
        except Declined as error:
            _LOG.warning("refund %s was declined: %s", key, error)
            continue
        shop.settle_refund(payment.order_id, refund_id)
        paid += 1
    return paid
