"""The designs that AWS publishes, written as they are published: each pattern against brute force, on each store."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from keyplan import Design
from keyplan.testing import verify
from tests.contract.stores import OPENERS
from tests.designs_as_published.battle_royale import BattleRoyale
from tests.designs_as_published.complaints import ComplaintManagement
from tests.designs_as_published.game_scores import GameScores
from tests.designs_as_published.recurring_payments import RecurringPayments

PUBLISHED = (BattleRoyale, ComplaintManagement, GameScores, RecurringPayments)


@pytest.mark.parametrize("design", PUBLISHED)
@pytest.mark.parametrize(
    ("store", "stores"),
    [
        ("memory", 6),
        pytest.param("server", 4, marks=pytest.mark.nightly),
        pytest.param("dynamodb-local", 4, marks=pytest.mark.nightly),
    ],
)
def test_every_pattern_answers_as_it_should(design: type[Design], store: str, stores: int, tmp_path: Path) -> None:
    folders = (tmp_path / str(number) for number in itertools.count())
    verify(design, stores=stores, seed=1, open=lambda: OPENERS[store](design, next(folders)))


def test_the_indexes_are_as_published() -> None:
    """Projections and keys, to the attribute: what stands in the keys isn't included again."""
    request = RecurringPayments.compiled.table.create_request()
    reminders, payments = request["GlobalSecondaryIndexes"]
    assert reminders["Projection"]["NonKeyAttributes"] == ["SKU", "Email", "NextPaymentDate"]
    assert payments["Projection"]["NonKeyAttributes"] == ["Email", "PaymentDay", "PaymentAmount", "PaymentDetails"]
    assert [value["AttributeName"] for value in payments["KeySchema"]] == ["NextPaymentDate", "LastPaymentDate"]
    (scores,) = GameScores.compiled.table.create_request()["GlobalSecondaryIndexes"]
    assert scores["Projection"] == {"ProjectionType": "KEYS_ONLY"}
