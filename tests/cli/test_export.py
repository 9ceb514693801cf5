"""Tests of ``keyplan export``. The formats are tested in ``tests/export``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from keyplan.cli.export import _CLASSES, _FORMATS, _VIEWS
from keyplan.formats.deployment_options import STREAM_VIEWS, TABLE_CLASSES
from keyplan.formats.registry import FORMATS
from tests.cli.support import LIBRARY, run
from tests.export.test_cloudformation import Loader


def exported(*arguments: str) -> str:
    result = run("export", *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_format_choices_equal_the_registered_formats() -> None:
    """The command repeats the names of the formats, so that its help doesn't import the modules of the formats."""
    assert tuple(FORMATS) == _FORMATS
    assert tuple(STREAM_VIEWS) == _VIEWS
    assert tuple(TABLE_CLASSES) == _CLASSES


@pytest.mark.parametrize("name", ["cms", LIBRARY])
@pytest.mark.parametrize("to", _FORMATS)
def test_a_system_and_a_design_are_exported_in_each_format(name: str, to: str, folder: Path) -> None:
    text = exported(name, "--to", to)
    if name == LIBRARY and to not in {"html", "svg", "workbench"}:
        pass
    assert ("GSI1" if name == "cms" else "BY_PRICE") in text
    assert list(folder.iterdir()) == [], "no store is opened"


def test_templates_are_exported_as_json_or_yaml() -> None:
    in_yaml = yaml.load(exported("cms", "--to", "cloudformation"), Loader)
    assert in_yaml == json.loads(exported("cms", "--to", "cloudformation", "--json"))
    assert "resource" in json.loads(exported("cms", "--to", "terraform", "--json"))


def test_table_options_are_included_in_the_template() -> None:
    options = (
        "--table-name",
        "cms-prod",
        "--point-in-time-recovery",
        "--deletion-protection",
        "--stream",
        "new",
        "--tag",
        "a=b",
    )
    more = ("--billing", "provisioned", "--read-units", "5", "--write-units", "6", "--table-class", "infrequent-access")
    requests = json.loads(exported("cms", "--to", "create-table", *options, *more))
    assert requests["CreateTable"] == {
        **requests["CreateTable"],
        "TableName": "cms-prod",
        "BillingMode": "PROVISIONED",
        "TableClass": "STANDARD_INFREQUENT_ACCESS",
        "DeletionProtectionEnabled": True,
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        "Tags": [{"Key": "a", "Value": "b"}],
        "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
    }
    assert list(requests) == ["CreateTable", "UpdateTimeToLive", "UpdateContinuousBackups"]


def test_an_exported_iam_policy_contains_the_region_and_account() -> None:
    text = exported("cms", "--to", "iam", "--region", "eu-west-1", "--account", "123456789012", "--table-name", "cms-2")
    resources = [value for statement in json.loads(text)["Statement"] for value in statement["Resource"]]
    arn = "arn:aws:dynamodb:eu-west-1:123456789012:table/cms-2"
    assert resources == [arn, f"{arn}/index/GSI1"]


def test_a_workbench_model_has_items_of_the_sample_data_or_of_a_store(folder: Path) -> None:
    def items(*arguments: str, name: str = "cms") -> int:
        (table,) = json.loads(exported(name, "--to", "workbench", *arguments))["DataModel"]
        return sum(len(facet["TableData"]) for facet in table["TableFacets"])

    assert items("--sample", "0") == 0
    assert items() > items("--sample", "2") > 2
    assert items(name=LIBRARY) == 0
    assert run("sample", "cms", "--count", "1", "--db", "one.db").exit_code == 0
    assert 0 < items("--db", "one.db") < items()
    assert run("sample", "cms", "--count", "150", "--db", "many.db").exit_code == 0
    assert items("--db", "many.db") == 1000, "the maximum"


@pytest.mark.parametrize("to", ["svg", "html"])
def test_a_picture_shows_items_of_the_sample_data_or_of_a_store(to: str) -> None:
    """A picture without items shows the key templates."""
    assert run("sample", "cms", "--count", "2", "--db", "two.db").exit_code == 0
    empty, sampled, stored = (
        exported("cms", "--to", to, *more) for more in (("--sample", "0"), ("--sample", "2"), ("--db", "two.db"))
    )
    assert "AUTHOR#{author_id}" in empty
    assert "AUTHOR#{author_id}" not in sampled
    assert "AUTHOR#{author_id}" not in stored
    assert len(sampled) > len(empty)


def test_unsupported_workbench_features_are_reported() -> None:
    result = run("export", "tests.contract.design:Everything", "--to", "workbench")
    assert result.exit_code == 0
    assert "LSI1 is omitted" in result.stderr


def test_an_export_is_one_file_or_a_folder_with_a_file_per_request(folder: Path) -> None:
    result = run("export", "cms", "--to", "cloudformation", "-o", "cms.yaml")
    assert result.output == "Wrote cms.yaml.\n"
    assert (folder / "cms.yaml").read_text(encoding="utf-8") == exported("cms", "--to", "cloudformation")
    result = run("export", LIBRARY, "--to", "create-table", "-o", "requests/")
    assert result.output == "Wrote create-table.json, update-time-to-live.json to requests.\n"
    assert run("export", LIBRARY, "--to", "create-table", "-o", "requests/").output == result.output
    expiry = json.loads((folder / "requests" / "update-time-to-live.json").read_text(encoding="utf-8"))
    assert expiry["TimeToLiveSpecification"] == {"Enabled": True, "AttributeName": "expires_at"}
    assert run("export", LIBRARY, "--to", "create-table", "-o", "all.json").exit_code == 0
    assert list(json.loads((folder / "all.json").read_text(encoding="utf-8"))) == ["CreateTable", "UpdateTimeToLive"]


def test_the_output_folder_is_created_with_its_parents(folder: Path) -> None:
    for _ in range(2):
        assert run("export", LIBRARY, "--to", "create-table", "-o", "a/b/c/").exit_code == 0
    assert sorted(path.name for path in (folder / "a/b/c").iterdir()) == [
        "create-table.json",
        "update-time-to-live.json",
    ]
    (folder / "there").mkdir()
    assert run("export", LIBRARY, "--to", "create-table", "-o", "there").exit_code == 0
    assert run("export", LIBRARY, "--to", "iam", "-o", "there").exit_code == 2
    assert len([*(folder / "there").iterdir()]) == 2


def test_all_invalid_options_are_reported_together() -> None:
    wrong = ("--table-name", "a b", "--read-units", "0", "--tag", "x", "--region", "mars", "--sample", "3")
    result = run("export", "cms", "--to", "terraform", *wrong)
    assert result.exit_code == 2
    assert result.stdout == ""
    for text in (
        "--region: isn't supported by the format terraform",
        "--sample: isn't supported by the format terraform",
        "tag 'x': isn't name=value",
        "invalid table name 'a b'",
        "read units: not allowed with on-demand billing",
        "read units: 0 is less than 1",
        "unknown AWS region 'mars'",
    ):
        assert text in result.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("cms", "--to", "mermaid", "--json"), "mermaid doesn't support JSON"),
        (("cms", "--to", "markdown", "--json"), "markdown doesn't support JSON"),
        (("cms", "--to", "iam", "-o", "no/such/folder/x.json"), "can't be written"),
        (("cmz", "--to", "iam"), "did you mean cms?"),
        (("cms", "--to", "workbench", "--db", "none.db"), "none.db"),
    ],
)
def test_exports_that_a_format_does_not_support_are_reported(arguments: tuple[str, ...], told: str) -> None:
    result = run("export", *arguments)
    assert result.exit_code in {1, 2}
    assert told in result.output + result.stderr
    assert "Traceback" not in result.output


def test_an_output_folder_that_exists_as_a_file_is_an_error(folder: Path) -> None:
    (folder / "requests").write_text("", encoding="utf-8")
    result = run("export", "cms", "--to", "create-table", "-o", "requests/")
    assert result.exit_code == 2
    assert "can't be" in result.stderr
