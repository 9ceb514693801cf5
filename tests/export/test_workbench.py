"""The exported NoSQL Workbench model is complete, and has the sample items in their facets."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from keyplan.formats.deployment_options import Deployment
from keyplan.formats.workbench_export import model, model_notes
from keyplan_systems.cms import Cms
from keyplan_systems.cms.system import SYSTEM
from tests.export.designs import NAMES, design
from tests.export.test_cloudformation import WHOLE
from tests.web.library import Library

AT = datetime(2026, 11, 21, 16, 5, tzinfo=UTC)


def made(name: str, items: Any = (), deployment: Deployment | None = None) -> dict[str, Any]:
    return model(design(name).compiled, deployment or Deployment(), items, AT)


@pytest.mark.parametrize("name", NAMES)
def test_the_model_has_a_facet_for_each_entity_and_each_claim(name: str) -> None:
    compiled = design(name).compiled
    (table,) = made(name)["DataModel"]
    wanted = [
        facet
        for entity in compiled.entities.values()
        for facet in (entity.name, *(f"{entity.name}.{claim.name}" for claim in entity.claims))
    ]
    assert [value["FacetName"] for value in table["TableFacets"]] == wanted
    assert table["TableData"] == []
    listed = {attribute["AttributeName"] for attribute in table["NonKeyAttributes"]}
    assert not listed & set(compiled.table.key_names)
    for facet in table["TableFacets"]:
        assert set(facet["NonKeyAttributes"]) <= listed
        assert facet["DataAccess"] == {"MySql": {}}


@pytest.mark.parametrize("name", NAMES)
def test_indexes_that_workbench_does_not_support_are_reported(name: str) -> None:
    compiled = design(name).compiled
    (table,) = made(name)["DataModel"]
    shown = {index["IndexName"] for index in table["GlobalSecondaryIndexes"]}
    left_out = {index.name for index in compiled.table.indexes} - shown
    assert {note.split()[0] for note in model_notes(compiled)} == left_out
    for value in table["GlobalSecondaryIndexes"]:
        assert set(value["KeyAttributes"]) <= {"PartitionKey", "SortKey"}


def test_sample_items_are_in_their_facets_with_all_attributes() -> None:
    with Cms.open(":memory:") as cms:
        SYSTEM.sample(cms, 5, lambda _done, _total: None)
        items = cms.store.transport.call("Scan", {"TableName": "cms"})["Items"]
    (table,) = made("Cms", items)["DataModel"]
    types = {attribute["AttributeName"]: attribute["AttributeType"] for attribute in table["NonKeyAttributes"]}
    number = 0
    for facet in table["TableFacets"]:
        name, _, claim = facet["FacetName"].partition(".")
        entity = Cms.compiled.by_name[name]
        for item in facet["TableData"]:
            number += 1
            assert claim or entity.matches(item)
            rest = {name: next(iter(value)) for name, value in item.items() if name not in {"pk", "sk"}}
            assert rest.items() <= types.items()
            assert rest.keys() <= set(facet["NonKeyAttributes"])
    assert number == len(items) > 5


def test_claims_are_in_facets_and_items_of_other_programs_are_omitted() -> None:
    with Library.open(":memory:") as library:
        library.call("register", {"reader": {"reader_id": "r", "email": "e"}})
        library.call("add_book", {"book": {"isbn": "1", "title": "T"}})
        items = library.store.transport.call("Scan", {"TableName": "library"})["Items"]
    foreign = {"pk": {"S": "WHAT"}, "sk": {"S": "EVER"}}
    (table,) = made("Library", [*items, foreign])["DataModel"]
    counts = {facet["FacetName"]: len(facet["TableData"]) for facet in table["TableFacets"] if facet["TableData"]}
    assert counts == {"Book": 1, "Reader": 1, "Reader.by_email": 1}


def test_null_attributes_are_omitted_from_the_model() -> None:
    """A field whose default isn't None stores None as NULL, which Workbench doesn't support."""
    item = {"pk": {"S": "BOOK#1"}, "sk": {"S": "#META"}, "title": {"S": "T"}, "cover": {"NULL": True}}
    (table,) = made("Library", [item])["DataModel"]
    (facet,) = [value for value in table["TableFacets"] if value["TableData"]]
    assert facet["TableData"] == [{name: value for name, value in item.items() if name != "cover"}]
    assert {"AttributeName": "cover", "AttributeType": "B"} in table["NonKeyAttributes"]


def test_model_attributes_have_the_expected_types() -> None:
    (table,) = made("Library")["DataModel"]
    types = {attribute["AttributeName"]: attribute["AttributeType"] for attribute in table["NonKeyAttributes"]}
    wanted = {
        "kind": "S", "price_cents": "N", "weight": "N", "cover": "B", "topics": "SS", "bought_at": "S",
        "expires_at": "N", "price_sk": "N", "shelf_pk": "S", "claim_of": "M", "day": "S",
    }  # fmt: skip
    assert {name: types[name] for name in wanted} == wanted
    assert table["SampleDataFormats"]["bought_at"] == ["date", "ISO 8601 date and time"]
    assert "expires_at" not in table["SampleDataFormats"]


def test_attributes_with_custom_formats_have_the_expected_types() -> None:
    """The attributes have stored formats, are discriminators, or are numeric timestamps."""
    (table,) = made("Words")["DataModel"]
    types = {attribute["AttributeName"]: attribute["AttributeType"] for attribute in table["NonKeyAttributes"]}
    wanted = {
        "madeAt": "N", "seenAt": "S", "done": "N", "tags": "L", "body": "S", "theDay": "S", "expires": "N",
        "__edb_e__": "S", "slot": "N", "applied": "SS", "year": "N", "level": "S",
    }  # fmt: skip
    assert {name: types[name] for name in wanted} == wanted
    assert table["SampleDataFormats"] == {"seenAt": ["date", "ISO 8601 date and time"]}
    facets = {facet["FacetName"]: facet["NonKeyAttributes"] for facet in table["TableFacets"]}
    assert "__edb_e__" in facets["Task"]
    assert "__edb_e__" in facets["Note"]
    assert "__edb_e__" not in facets["Root"]


def test_the_model_has_metadata_and_billing_settings() -> None:
    result = made("Odd", deployment=WHOLE)
    metadata = result["ModelMetadata"]
    assert metadata["Version"] == "3.0"
    assert metadata["AWSService"] == "Amazon DynamoDB"
    assert metadata["DateCreated"] == "Nov 21, 2026, 04:05 PM"
    (table,) = result["DataModel"]
    assert table["TableName"] == "the-table"
    assert table["BillingMode"] == "PROVISIONED"
    settings = table["ProvisionedCapacitySettings"]
    assert settings == {"ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 7}}
    assert made("Cms")["DataModel"][0]["BillingMode"] == "PAY_PER_REQUEST"
