"""Designs published by AWS: each access pattern is compared with a brute-force filter, on each store."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyplan import Design
from tests.contract.stores import check_generated, generated
from tests.designs_as_published.battle_royale import BattleRoyale
from tests.designs_as_published.complaints import ComplaintManagement
from tests.designs_as_published.game_scores import GameScores
from tests.designs_as_published.recurring_payments import RecurringPayments

PUBLISHED = (BattleRoyale, ComplaintManagement, GameScores, RecurringPayments)


@pytest.mark.parametrize("design", PUBLISHED)
@pytest.mark.parametrize(("store", "stores"), generated(6, 4, 4))
def test_reads_match_brute_force_results(design: type[Design], store: str, stores: int, tmp_path: Path) -> None:
    check_generated(design, store, stores, tmp_path)


def test_indexes_of_published_designs_equal_the_published_definitions() -> None:
    """The keys and the projections are equal. A projection doesn't list key attributes."""
    request = RecurringPayments.compiled.table.create_request()
    reminders, payments = request["GlobalSecondaryIndexes"]
    assert reminders["Projection"]["NonKeyAttributes"] == ["SKU", "Email", "NextPaymentDate"]
    assert payments["Projection"]["NonKeyAttributes"] == ["Email", "PaymentDay", "PaymentAmount", "PaymentDetails"]
    assert [value["AttributeName"] for value in payments["KeySchema"]] == ["NextPaymentDate", "LastPaymentDate"]
    (scores,) = GameScores.compiled.table.create_request()["GlobalSecondaryIndexes"]
    assert scores["Projection"] == {"ProjectionType": "KEYS_ONLY"}
