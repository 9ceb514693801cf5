"""Tests of the Terraform export: the HCL is valid and equal to the JSON."""

from __future__ import annotations

import json
from typing import Any

import hcl2
import pytest

from keyplan.formats.deployment_options import Deployment
from keyplan.formats.terraform import hcl_text, terraform_hcl, terraform_json
from tests.export.designs import NAMES, design
from tests.export.test_cloudformation import WHOLE

RESOURCE = "aws_dynamodb_table"


def from_hcl(name: str, deployment: Deployment) -> tuple[str, Any]:
    (resource,) = hcl2.loads(terraform_hcl(design(name).compiled, deployment))["resource"]
    ((kind, labels),) = resource.items()
    assert _bare(kind) == RESOURCE
    ((label, body),) = [pair for pair in labels.items() if not pair[0].startswith("__")]
    return _bare(label), body


def from_json(name: str, deployment: Deployment) -> tuple[str, Any]:
    ((label, body),) = json.loads(terraform_json(design(name).compiled, deployment))["resource"][RESOURCE].items()
    return label, body


def _bare(text: str) -> str:
    return text.strip('"')


def plain(value: Any) -> Any:
    """Convert the parser's result to the JSON form: without quotes around strings, and a single block not in a list."""
    if isinstance(value, dict):
        result = {_bare(name): plain(element) for name, element in value.items() if not name.startswith("__")}
        return {
            name: element[0] if name in {"ttl", "point_in_time_recovery"} else element
            for name, element in result.items()
        }
    if isinstance(value, list):
        return [plain(element) for element in value]
    return _bare(value) if isinstance(value, str) else value


@pytest.mark.parametrize("deployment", [Deployment(), WHOLE], ids=["plain", "whole"])
@pytest.mark.parametrize("name", NAMES)
def test_the_hcl_resource_equals_the_json_resource(name: str, deployment: Deployment) -> None:
    label, body = from_hcl(name, deployment)
    other, wanted = from_json(name, deployment)
    assert label == other
    assert plain(body) == wanted


@pytest.mark.parametrize("name", NAMES)
def test_the_terraform_resource_matches_the_table_of_the_design(name: str) -> None:
    table = design(name).compiled.table
    label, body = from_json(name, Deployment())
    assert label.isidentifier()
    assert body["name"] == table.name
    assert body["billing_mode"] == "PAY_PER_REQUEST"
    assert (body["hash_key"], body.get("range_key")) == (table.partition.name, table.sort.name if table.sort else None)
    request = table.create_request()
    assert body["attribute"] == [
        {"name": definition["AttributeName"], "type": definition["AttributeType"]}
        for definition in request["AttributeDefinitions"]
    ]
    for member, key in (("global_secondary_index", "GlobalSecondary"), ("local_secondary_index", "LocalSecondary")):
        wanted = [(value["IndexName"], _schema(value["KeySchema"])) for value in request.get(f"{key}Indexes", ())]
        result = [(value["name"], _keys(value, body if "local" in member else value)) for value in body.get(member, ())]
        assert result == wanted


def _schema(schema: list[dict[str, str]]) -> list[tuple[str, str]]:
    return [(element["AttributeName"], element["KeyType"]) for element in schema]


def _keys(index: dict[str, Any], partition_of: dict[str, Any]) -> list[tuple[str, str]]:
    if "key_schema" in index:
        return [(value["attribute_name"], value["key_type"]) for value in index["key_schema"]]
    sort = [(index["range_key"], "RANGE")] if "range_key" in index else []
    return [(partition_of["hash_key"], "HASH"), *sort]


def test_deployment_options_become_terraform_arguments() -> None:
    _, body = from_json("Odd", WHOLE)
    assert (body["read_capacity"], body["write_capacity"], body["billing_mode"]) == (5, 7, "PROVISIONED")
    assert [value["read_capacity"] for value in body["global_secondary_index"]] == [5, 5]
    assert body["table_class"] == "STANDARD_INFREQUENT_ACCESS"
    assert body["deletion_protection_enabled"] is True
    assert (body["stream_enabled"], body["stream_view_type"]) == (True, "NEW_AND_OLD_IMAGES")
    assert body["tags"] == dict(WHOLE.tags)
    assert body["point_in_time_recovery"] == {"enabled": True}
    assert body["ttl"] == {"attribute_name": "gone", "enabled": True}


def test_template_characters_in_strings_are_escaped() -> None:
    """Strings in HCL and JSON can contain templates; a doubled start (``$${``) makes them plain text."""
    text = hcl_text(["resource", 'a"b'], {"name": "${x} %{if} \\ é", "tags": {"${k}": "v"}})
    (resource,) = hcl2.loads(text)["resource"]
    body = next(iter(resource.values()))
    assert body["name"] == '"$${x} %%{if} \\\\ é"'
    assert '"$${k}" = "v"' in text


def test_terraform_resource_names_are_valid_identifiers() -> None:
    assert 'resource "aws_dynamodb_table" "table_2_odd_table" {' in terraform_hcl(design("Odd").compiled, Deployment())
