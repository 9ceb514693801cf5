"""Errors for invalid input of exports, and edge cases of single parts of an export."""

from __future__ import annotations

import dataclasses
import json

import pytest

from keyplan.errors import RequestError
from keyplan.formats.deployment_options import Deployment
from keyplan.formats.iam import Place
from keyplan.formats.registry import Inputs, export
from keyplan.formats.terraform import hcl_text
from keyplan.formats.yaml_json import Noted, json_tree, plain
from tests.export.designs import design


def test_deployment_options_have_the_expected_defaults() -> None:
    assert dataclasses.asdict(Deployment()) == {
        "table_name": None, "billing": "on-demand", "read_units": None, "write_units": None,
        "table_class": "standard", "deletion_protection": False, "recovery": False, "stream": None, "tags": {},
    }  # fmt: skip


@pytest.mark.parametrize("units", [-1, 0, 1, 2])
def test_capacity_units_of_a_deployment_must_be_at_least_1(units: int) -> None:
    def made() -> Deployment:
        return Deployment(billing="provisioned", read_units=units, write_units=5)

    if units >= 1:
        assert made().read_units == units
    else:
        with pytest.raises(RequestError, match=f"{units} is less than 1"):
            made()


@pytest.mark.parametrize(("name", "letters"), [("a" * 128, "b" * 256), ("a", "")])
def test_tags_of_the_maximum_length_are_accepted(name: str, letters: str) -> None:
    assert Deployment(tags={name: letters}).tags == {name: letters}


def test_a_misspelled_region_has_a_hint() -> None:
    with pytest.raises(RequestError) as error:
        Place(region="eu-west-11")
    assert error.value.errors[0].hint == "did you mean eu-west-1?"
    with pytest.raises(RequestError) as error:
        Place(region="x")
    assert error.value.errors[0].hint == "pass a region such as eu-west-1"


def test_exported_data_with_comments_is_converted_to_plain_data_and_json() -> None:
    tree = {"a": [1, {"b": "é"}], "c": Noted("d", "why"), "e": ("f", Noted(None, "g"))}
    assert plain(tree) == {"a": [1, {"b": "é"}], "c": "d", "e": ["f", None]}
    assert json_tree({"a": {"b": "é"}}) == '{\n  "a": {\n    "b": "é"\n  }\n}\n'


def test_map_values_are_aligned_in_hcl() -> None:
    text = hcl_text(["resource"], {"tags": {"a": "1", "long": "2"}, "none": {}, "list": [1, "x"]})
    assert '"a"    = "1"' in text
    assert '"long" = "2"' in text
    assert "none = {" in text
    assert '[1, "x"]' in text


@pytest.mark.parametrize("name", ["markdown", "mermaid"])
def test_formats_based_on_markdown_reject_the_json_option(name: str) -> None:
    inputs = Inputs(design=design("Blog").compiled)
    with pytest.raises(RequestError) as error:
        export(name, inputs, as_json=True)
    assert str(error.value).startswith(f"--json: {name} doesn't support JSON")
    assert export(name, inputs).text


def test_the_create_table_export_has_a_file_per_request() -> None:
    made = export("create-table", Inputs(design=design("Blog").compiled, deployment=Deployment(recovery=True)))
    assert list(made.parts) == ["create-table.json", "update-time-to-live.json", "update-continuous-backups.json"]
    assert json.loads(made.text).keys() == {"CreateTable", "UpdateTimeToLive", "UpdateContinuousBackups"}
    assert made.text.startswith('{\n  "CreateTable": {\n    "')
