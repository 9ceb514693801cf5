"""Results equal those of DynamoDB Local, for recorded cases, and for random conditions and updates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from keyplan.dynamodb.expressions import to_text, tree
from keyplan.dynamodb.values import check_item
from tests.expressions.cases import Case
from tests.expressions.local import KEY, Local, address
from tests.expressions.record import FAMILIES, read
from tests.expressions.running import normal, our_answer
from tests.expressions.strategies import (
    conditions,
    fitting_given_values,
    fitting_items,
    fitting_updates,
    given_values,
    items,
    updates,
)
from tests.expressions.test_properties import used
from tests.seeds import examples

pytestmark = pytest.mark.skipif(
    address() is None, reason="KEYPLAN_DYNAMODB_LOCAL doesn't name a running DynamoDB Local"
)
LIVE = settings(
    max_examples=examples(100, 400),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)


@pytest.fixture
def local() -> Iterator[Local]:
    connection = Local(address() or "")
    yield connection
    connection.reset()
    connection.close()


@pytest.mark.parametrize("family", FAMILIES)
def test_recorded_responses_equal_those_of_dynamodb_local(local: Local, family: str) -> None:
    kind, entries = FAMILIES[family]
    answers = [normal(local.answer(kind, entry)) for entry in entries]
    assert answers == [normal(entry["answer"]) for entry in read(family)]


def _compare(kind: str, case: Case, item: dict[str, Any], local: Local) -> None:
    item = check_item({**KEY, **item})
    local.reset(item)
    theirs, ours = normal(local.answer(kind, case)), normal(our_answer(kind, case, item))
    assert set(ours) == set(theirs) if isinstance(theirs, dict) else ours == theirs
    # Of two errors, DynamoDB Local may report the other; the recorded cases cover single errors.
    if not (isinstance(theirs, dict) and "error" in theirs):
        assert ours == theirs


@LIVE
@given(conditions, items, given_values)
def test_random_conditions_have_the_result_of_dynamodb_local(
    local: Local, condition: tree.Condition, item: dict[str, Any], values: dict[str, Any]
) -> None:
    text = to_text(condition)
    case = {"text": text, "names": None, "values": used(text, values)}
    _compare("FilterExpression", case, item, local)


@pytest.mark.nightly
@LIVE
@given(fitting_updates(), fitting_items, fitting_given_values)
def test_random_valid_updates_have_the_result_of_dynamodb_local(
    local: Local, update: tree.Update, item: dict[str, Any], values: dict[str, Any]
) -> None:
    text = to_text(update)
    case = {"text": text, "names": None, "values": used(text, values)}
    _compare("UpdateExpression", case, item, local)


@pytest.mark.nightly
@LIVE
@given(updates, items, given_values)
def test_random_updates_agree(local: Local, update: tree.Update, item: dict[str, Any], values: dict[str, Any]) -> None:
    text = to_text(update)
    case = {"text": text, "names": None, "values": used(text, values)}
    _compare("UpdateExpression", case, item, local)
