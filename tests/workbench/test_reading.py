"""A file that is no model, or a wrong one: every fault is told with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyplan.cli.import_workbench import working_module
from keyplan.errors import RequestError
from keyplan.workbench.reading import read_model
from tests.export.designs import design
from tests.workbench.support import exported, table


def refused(model: Any) -> RequestError:
    with pytest.raises(RequestError) as error:
        read_model(model if isinstance(model, str) else json.dumps(model), "model.json")
    return error.value


def test_what_is_no_json_is_told_by_line() -> None:
    error = refused('{\n  "ModelName": "x",\n}')
    assert error.place == "model.json:3:1"
    assert "isn't JSON" in error.message
    assert refused("[" * 100_000).place == "model.json"
    assert refused("[]").message == "a model is a JSON object"


def test_every_fault_is_told_with_its_place() -> None:
    model = table(
        {"Order": (("PK", "SK"), [{"PK": "O#1"}, {"PK": 1, "SK": "", "odd": {"S": "a", "N": "1"}, "n": {"N": "x"}}])},
        GlobalSecondaryIndexes=[
            {
                "IndexName": name,
                "KeyAttributes": {"PartitionKey": {"AttributeName": "SK", "AttributeType": "N"}},
            }
            for name in ("GSI1", "GSI1")
        ],
    )
    error = refused(model)
    items = "DataModel[0].TableFacets[0].TableData"
    index = "DataModel[0].GlobalSecondaryIndexes"
    assert [one.place for one in error.faults] == [
        f"{index}[1].IndexName",
        f"{index}[0].KeyAttributes.PartitionKey",
        f"{index}[1].KeyAttributes.PartitionKey",
        f"{items}[0]",
        f"{items}[1].PK",
        f"{items}[1].SK",
        f"{items}[1].odd",
        f"{items}[1].n",
    ]
    assert error.place == "model.json"
    assert "8 faults" in error.message


def test_members_that_are_missing_or_of_a_wrong_type() -> None:
    error = refused({"ModelName": 5, "DataModel": [{"TableName": "a b", "KeyAttributes": {"SortKey": "x"}}, {}]})
    assert [one.place for one in error.faults] == [
        "ModelName",
        "DataModel[0].TableName",
        "DataModel[0].KeyAttributes.PartitionKey",
        "DataModel[0].KeyAttributes.SortKey",
        "DataModel[1].TableName",
        "DataModel[1].KeyAttributes",
    ]
    assert refused({"DataModel": []}).faults[0].place == "DataModel"
    assert refused({}).faults[0].place == "DataModel"


def test_what_isnt_known_is_passed_over() -> None:
    model = table({"Order": (("PK", "SK"), [{"PK": "O#1", "SK": "META"}])}, AccessPatterns=[{"new": "in 2026"}])
    model["Other"] = {"a": 1}
    assert read_model(json.dumps(model), "model.json").tables[0].name == "Shop"


def assert_told(error: RequestError) -> None:
    assert error.place == "model.json"
    assert error.faults


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5) | st.sampled_from(["S", "N", "PK", "GSI1"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["S", "N", "PK", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container of a tree with each of its members' names."""
    found: list[tuple[Any, Any]] = []
    if isinstance(value, dict | list):
        for name in value if isinstance(value, dict) else range(len(value)):
            found.append((value, name))
            found += places(value[name])
    return found


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_whatever_a_file_holds_is_a_model_or_told(data: st.DataObject) -> None:
    """Any member of a right model, replaced by anything."""
    model = table(
        {"Order": (("customerId", "orderId"), [{"PK": "C#1", "SK": "O#1", "GSI1PK": "S#open", "GSI1SK": "x", "n": 1}])}
    )
    if data.draw(st.booleans()):
        model = exported(design("Everything"))
    for _ in range(data.draw(st.integers(1, 3))):
        container, name = data.draw(st.sampled_from(places(model)))
        container[name] = data.draw(JSON)
        if not places(model):
            break
    try:
        made, _, wrong = working_module(read_model(json.dumps(model), "model.json"))
    except RequestError as error:
        assert_told(error)
    else:
        assert made.designs
        assert wrong is None or wrong.faults
