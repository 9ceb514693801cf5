"""The server and DynamoDB Local must return the same responses to generated sequences of operations.

The tests run if ``KEYPLAN_DYNAMODB_LOCAL`` is set (``http://127.0.0.1:8000``). ``KEYPLAN_SEQUENCES`` sets the number of
sequences and ``KEYPLAN_SEED`` the first seed; ``make differential`` runs thousands.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator

import pytest

from keyplan.store import check_file
from tests.seeds import seed as first_seed
from tests.server.differential.compare import Answer, Endpoint, is_earlier, only_removes, same, same_meaning
from tests.server.differential.legacy import LegacySequence
from tests.server.differential.partiql import StatementSequence
from tests.server.differential.sequences import Sequence
from tests.server.differential.tables import TableSequence
from tests.server.support import serving

URL = os.environ.get("KEYPLAN_DYNAMODB_LOCAL")
SEQUENCES = int(os.environ.get("KEYPLAN_SEQUENCES", "100"))
SEED = int(os.environ.get("KEYPLAN_SEED") or first_seed(0))
PARTS = 10
"""Tests that share the sequences, so that a failure names few seeds and workers share the load."""

needs_local = pytest.mark.skipif(URL is None, reason="KEYPLAN_DYNAMODB_LOCAL isn't set")


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Endpoint, Endpoint]]:
    """Keyplan's server on a file, and DynamoDB Local."""
    assert URL is not None
    db = str(tmp_path_factory.mktemp("differential") / "store.db")
    with serving(db, sync="normal") as server:
        ours, local = Endpoint(server.url), Endpoint(URL, "differential")
        yield ours, local
        ours.close()
        local.clear()
        local.close()
    assert check_file(db) == []


def compare(stores: tuple[Endpoint, Endpoint], seed: int, requests: Iterable[tuple[str, Answer]]) -> int:
    """Send the requests to both stores, and return the number of responses that were compared."""
    ours, local = stores
    ours.clear()
    local.clear()
    for number, (operation, params) in enumerate(requests, 1):
        mine, theirs = ours.ask(operation, params), local.ask(operation, params)
        assert mine == theirs or same(operation, params, mine, theirs), (
            f"seed {seed}, step {number}: {operation} {json.dumps(params, ensure_ascii=False)}\n"
            f"ours:  {json.dumps(mine, ensure_ascii=False)}\n"
            f"local: {json.dumps(theirs, ensure_ascii=False)}"
        )
        if "error" not in mine and only_removes(operation, params):
            delete_extra_items(stores, operation, params)
        if ("error" in mine) != ("error" in theirs):
            return number  # the stored items may differ from here on
    return number


def delete_extra_items(stores: tuple[Endpoint, Endpoint], operation: str, params: Answer) -> None:
    """Delete items that an update creates in DynamoDB Local although it only removes attributes."""
    ours, local = stores
    for update in [params] if operation == "UpdateItem" else [each.get("Update") for each in params["TransactItems"]]:
        if update is None:
            continue
        place = {"TableName": update["TableName"], "Key": update["Key"]}
        result = [store.ask("GetItem", place).get("Item") for store in (ours, local)]
        if result[0] is None and result[1] is not None:
            local.ask("DeleteItem", place)


@needs_local
@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.nightly) for part in range(1, PARTS))])
def test_item_operations_return_the_responses_of_dynamodb_local(stores: tuple[Endpoint, Endpoint], part: int) -> None:
    compared = sum(
        compare(stores, seed, Sequence(seed).requests()) for seed in range(SEED + part, SEED + SEQUENCES, PARTS)
    )
    assert compared > SEQUENCES // PARTS * 20


@pytest.mark.nightly
@needs_local
def test_legacy_parameters_return_the_responses_of_dynamodb_local(stores: tuple[Endpoint, Endpoint]) -> None:
    compared = sum(
        compare(stores, seed, LegacySequence(seed).requests()) for seed in range(SEED, SEED + SEQUENCES // 4)
    )
    assert compared > SEQUENCES // 4 * 20


@needs_local
def test_partiql_statements_return_the_responses_of_dynamodb_local(stores: tuple[Endpoint, Endpoint]) -> None:
    seeds = range(SEED, SEED + SEQUENCES // 10)
    compared = sum(compare(stores, seed, StatementSequence(seed).requests()) for seed in seeds)
    assert compared > SEQUENCES


@pytest.mark.nightly
@needs_local
def test_table_operations_return_the_responses_of_dynamodb_local(stores: tuple[Endpoint, Endpoint]) -> None:
    compared = sum(compare(stores, seed, TableSequence(seed).requests()) for seed in range(SEED, SEED + SEQUENCES // 4))
    assert compared > SEQUENCES // 4 * 5


def test_comparison_with_dynamodb_local_accepts_only_known_differences() -> None:
    ok: Answer = {"Items": [{"pk": {"S": "a"}}, {"pk": {"S": "b"}}], "Count": 2, "ScannedCount": 2}
    assert same("Scan", {}, ok, {**ok, "Items": ok["Items"][::-1]})
    assert not same("Scan", {}, ok, {**ok, "Count": 1})
    assert not same("Scan", {}, ok, {**ok, "Items": ok["Items"][:1]})
    assert not same("GetItem", {}, {"Item": {"n": {"N": "1"}}}, {"Item": {"n": {"N": "2"}}})
    assert same("GetItem", {}, {"Item": {"n": {"N": "1"}}}, {"Item": {"n": {"N": "1.0"}}})
    capacity = [{"ConsumedCapacity": {"TableName": "t", "CapacityUnits": units}} for units in (1.0, 2.0)]
    assert not same("PutItem", {}, *capacity)
    assert same("DeleteItem", {}, *capacity)
    refused = {"error": "ValidationException", "message": "Missing the key pk in the item"}
    assert same("PutItem", {}, refused, {**refused, "message": "One of the required keys was not given a value"})
    assert not same("PutItem", {}, refused, {**refused, "message": "Something else"})
    assert not same("PutItem", {}, refused, {})
    assert not same("PutItem", {}, {}, refused)
    assert not same("PutItem", {}, refused, {**refused, "error": "ResourceNotFoundException"})
    assert same_meaning("x", "x")
    assert is_earlier("Invalid UpdateExpression: x", "Cannot do operations on a non-existent table")
    assert not is_earlier("Cannot do operations on a non-existent table", "Invalid UpdateExpression: x")
