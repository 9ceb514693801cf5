"""The studio of tables without a design: keys of every type, several indexes, unusual names, and no items."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from typing import Any

import boto3  # type: ignore[import-untyped]
import pytest
from boto3.dynamodb.types import Binary  # type: ignore[import-untyped]
from botocore.config import Config  # type: ignore[import-untyped]

from keyplan.errors import RequestError, StoreError
from keyplan.studio.actions import Studio, run
from keyplan.studio.subject import Endpoint, browsed
from tests.server.support import serving

STORES = ["keyplan", "dynamodb-local"]
ACCESS_KEY = f"browsing{secrets.token_hex(6)}"
"""DynamoDB Local has tables by access key: each run has its own."""


@pytest.fixture(scope="module", params=STORES)
def endpoint(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a store that contains the tables of this module."""
    if request.param == "keyplan":
        with serving(":memory:") as server:
            _fill(server.url)
            yield server.url
    elif (url := os.environ.get("KEYPLAN_DYNAMODB_LOCAL")) is None:
        pytest.skip("KEYPLAN_DYNAMODB_LOCAL isn't set")
    else:
        _fill(url)
        yield url
        for table in _resource(url).tables.all():
            table.delete()


@pytest.fixture
def studio(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Studio]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with browsed(f"{endpoint.replace('http', 'dynamodb+http')}?region=eu-west-1") as result:
        yield Studio(result.subject(result.table), endpoint=result)


def _resource(url: str) -> Any:
    return boto3.resource(
        "dynamodb",
        endpoint_url=url,
        region_name="eu-west-1",
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key="secret",
        config=Config(retries={"max_attempts": 0}),
    )


def _table(resource: Any, name: str, partition: str, sort: str | None = None, **indexes: tuple[str, str | None]) -> Any:
    """Create a table. Key attributes are given as ``name:type``."""

    def schema(*keys: str | None) -> list[dict[str, str]]:
        named = [key.rpartition(":")[0] for key in keys if key]
        return [{"AttributeName": text, "KeyType": kind} for text, kind in zip(named, ("HASH", "RANGE"), strict=False)]

    used = {text for text in (partition, sort, *(key for pair in indexes.values() for key in pair)) if text}
    more: dict[str, Any] = {}
    if indexes:
        more["GlobalSecondaryIndexes"] = [
            {"IndexName": index, "KeySchema": schema(*keys), "Projection": {"ProjectionType": "KEYS_ONLY"}}
            for index, keys in indexes.items()
        ]
    return resource.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=schema(partition, sort),
        AttributeDefinitions=[
            dict(zip(("AttributeName", "AttributeType"), text.rsplit(":", 1), strict=False)) for text in sorted(used)
        ],
        **more,
    )


def _fill(url: str) -> None:
    resource = _resource(url)
    numbers = _table(resource, "Numbers", "id:N", "at:N")
    for number in (1, -2, 10):
        for at in range(3):
            numbers.put_item(Item={"id": number, "at": at, "text": f"n{number}", "flag": at == 1})
    binary = _table(resource, "Binary", "id:B")
    for content in (b"\x00\x01", b"\xff" * 20):
        binary.put_item(Item={"id": Binary(content), "deep": {"a": [{"b": {"c": {1, 2}}}]}})
    _table(resource, "Empty", "pk:S")
    odd = _table(
        resource,
        "odd.name-1_",
        "the key.with dots:S",
        "söme #name:S",
        ByDay=("day:S", "söme #name:S"),
        ByN=("n:N", None),
    )
    for number in range(4):
        item = {"the key.with dots": f"ORDER#{number}", "söme #name": "#x", "day": f"d{number % 2}", "n": number}
        odd.put_item(Item={**item, "a.b": "dotted", "a": {"b": "nested", "list": ["first"]}})
    odd.put_item(Item={"the key.with dots": "<b>יום</b>", "söme #name": "{x}", "big": 2**100})


def asked(studio: Studio, action: str, table: str, **given: Any) -> dict[str, Any]:
    return run(studio, action, {"table": table, **given})


def test_the_studio_lists_all_tables_of_an_endpoint(studio: Studio) -> None:
    first = run(studio, "start", {})
    assert first["tables"] == ["Binary", "Empty", "Numbers", "odd.name-1_"]
    assert first["name"] == "Binary"
    assert first["views"] == ["map", "data", "design"]
    other = asked(studio, "start", "odd.name-1_")
    assert other["indexes"] == ["ByDay", "ByN"]
    assert other["keys"]["ByN"] == {"partition": [{"name": "n", "type": "N"}], "sort": []}


@pytest.mark.parametrize(("table", "collections"), [("Numbers", 3), ("Binary", 2), ("odd.name-1_", 4), ("Empty", 0)])
def test_each_table_without_a_design_has_a_map(studio: Studio, table: str, collections: int) -> None:
    made = asked(studio, "map", table)
    own = [collection for collection in made["collections"] if not collection["place"]]
    assert len(own) == collections
    assert made["svg"].startswith("<svg")
    assert made["complete"]


def test_items_with_numeric_keys_are_sorted_numerically(studio: Studio) -> None:
    made = asked(studio, "data", "Numbers", partition="-2")
    assert [row["key"]["at"] for row in made["rows"]] == [{"N": "0"}, {"N": "1"}, {"N": "2"}]
    between = {"name": "at", "operator": "between", "values": ["1", "10"]}
    assert len(asked(studio, "data", "Numbers", partition="10", conditions=[between])["rows"]) == 2


def test_items_with_binary_keys_are_found_and_distinguished(studio: Studio) -> None:
    titles = {collection["title"] for collection in asked(studio, "map", "Binary")["collections"]}
    assert titles == {"0x0001", "0xffffffffffffffff… 20 bytes"}
    (row,) = asked(studio, "data", "Binary", partition="AAE=")["rows"]
    assert row["key"] == {"id": {"B": "AAE="}}


def test_conditions_on_a_dotted_name_match_an_attribute_or_a_path(studio: Studio) -> None:
    def found(name: str, value: str) -> int:
        wanted = [{"name": name, "operator": "=", "values": [value]}]
        return len(asked(studio, "data", "odd.name-1_", conditions=wanted)["rows"])

    assert found("the key.with dots", "ORDER#1") == 1
    assert found("a.b", "dotted") == found("a.b", "nested") == 4
    assert found("a.list[0]", "first") == 4
    assert found("a..b", "nested") == found("[0]", "x") == 0


def test_an_index_can_be_queried_and_scanned(studio: Studio) -> None:
    assert len(asked(studio, "data", "odd.name-1_", index="ByDay", partition="d1")["rows"]) == 2
    assert len(asked(studio, "data", "odd.name-1_", index="ByN", partition=["2"])["rows"]) == 1
    assert len(asked(studio, "data", "odd.name-1_", index="ByN")["rows"]) == 4


def test_items_without_a_design_are_written_and_deleted_unchanged(studio: Studio) -> None:
    key = {"id": {"N": "77"}, "at": {"N": "1"}}
    create = {"do": "create", "item": {**key, "text": {"S": "new"}}}
    assert asked(studio, "edit", "Numbers", edits=[create], save=True)["changes"][0]["is"]
    change = {
        "do": "change",
        "key": key,
        "fields": {"text": {"S": "other"}, "more": {"BOOL": True}},
        "was": {"text": {"S": "new"}},
    }
    shown = asked(studio, "edit", "Numbers", edits=[change])["changes"][0]["attributes"]
    assert {value["name"]: value["after"] for value in shown} == {"text": {"S": "other"}, "more": {"BOOL": True}}
    asked(studio, "edit", "Numbers", edits=[change], save=True)
    with pytest.raises(RequestError, match="can't be saved") as caught:
        asked(studio, "edit", "Numbers", edits=[change], save=True)
    assert caught.value.errors[0].message == "the item was changed meanwhile: text"
    asked(studio, "edit", "Numbers", edits=[{"do": "delete", "key": key}], save=True)
    assert asked(studio, "data", "Numbers", partition="77")["rows"] == []


def test_an_unknown_table_is_rejected(studio: Studio, endpoint: str) -> None:
    with pytest.raises(StoreError, match="no table Nothing"):
        asked(studio, "map", "Nothing")
    url = f"{endpoint.replace('http', 'dynamodb+http')}/Numbers?region=eu-west-1"
    with browsed(url) as alone:
        element = Studio(alone.subject("Numbers"), endpoint=alone)
        assert run(element, "start", {})["tables"] == []
        with pytest.raises(RequestError, match="shows only one table"):
            run(element, "map", {"table": "Binary"})


def test_opening_an_endpoint_without_tables_is_an_error() -> None:
    with serving(":memory:") as server:
        opened = browsed(server.url.replace("http", "dynamodb+http"))
        with pytest.raises(StoreError, match="has no table"):
            opened.__enter__()


def test_a_table_created_after_the_studio_opened_is_listed(studio: Studio, endpoint: str) -> None:
    made = _table(_resource(endpoint), "Later", "pk:S")
    try:
        assert "Later" in run(studio, "start", {})["tables"]
        assert asked(studio, "data", "Later")["rows"] == []
    finally:
        made.delete()


def test_a_local_endpoint_is_marked_as_local(studio: Studio) -> None:
    assert isinstance(studio.endpoint, Endpoint)
    assert studio.endpoint.local
    assert studio.subject.writable


def test_a_first_design_is_inferred_from_the_items_of_a_table(studio: Studio) -> None:
    made = asked(studio, "first_design", "Numbers")
    assert (made["error"], made["items"]) == (None, 9)
    assert "Key(" in made["text"]
    with pytest.raises(RequestError, match="no items"):
        asked(studio, "first_design", "Empty")
