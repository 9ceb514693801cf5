"""Tests of ``keyplan import-workbench``. The parsing of templates is tested in ``tests/workbench``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

import pytest

from keyplan.errors import DesignError, ErrorDetail
from keyplan.formats.workbench import module as compiling
from keyplan.formats.workbench.module import MadeModule
from tests.cli.support import LIBRARY, json_of, run
from tests.workbench.support import table


def written(folder: Path, model: object) -> str:
    (folder / "model.json").write_text(json.dumps(model), encoding="utf-8")
    return "model.json"


def test_a_generated_design_can_be_explained(folder: Path) -> None:
    assert run("export", "cms", "--to", "workbench", "-o", "model.json").exit_code == 0
    result = run("import-workbench", "model.json", "-o", "made.py")
    assert (result.exit_code, result.stdout) == (0, "Wrote made.py: Cms.\n")
    explained = {value["pattern"]: value["key_condition"] for value in json_of("explain", "made.py:Cms")}
    assert explained["article_by_author"] == 'gsi1pk = AUTHOR#{author_id}, begins_with(gsi1sk, "ARTICLE#")'
    assert run("import-workbench", "model.json").stdout == (folder / "made.py").read_text(encoding="utf-8")


def test_an_imported_design_exports_the_same_keys(folder: Path) -> None:
    for name, made in ((LIBRARY, "Library"), ("tests.contract.design:Everything", "Everything")):
        assert run("export", name, "--to", "workbench", "-o", "model.json").exit_code == 0
        assert run("import-workbench", "model.json", "-o", "made.py").exit_code == 0
        first, second = (
            json.loads(run("export", text, "--to", "workbench").stdout) for text in (name, f"made.py:{made}")
        )
        keys = [
            {facet["FacetName"]: facet["KeyAttributeAlias"] for facet in model["DataModel"][0]["TableFacets"]}
            for model in (first, second)
        ]
        assert keys[0] == keys[1]


def test_assumptions_about_an_imported_model_are_reported(folder: Path) -> None:
    model = table({"Order": (("PK", "SK"), [])})
    result = run("import-workbench", written(folder, model))
    assert result.exit_code == 0
    assert "Order: TODO: the model has no sample items for this entity" in result.stderr


def test_an_unsupported_access_pattern_is_omitted_and_reported(folder: Path) -> None:
    """The index doesn't project all attributes of an order."""
    order = {"PK": "O#1", "SK": "META", "GSI1PK": "M#1", "GSI1SK": "O#1", "total": 5}
    model = table({"Order": (("PK", "SK"), [order])})
    model["DataModel"][0]["GlobalSecondaryIndexes"][0]["Projection"] = {"ProjectionType": "KEYS_ONLY"}
    result = run("import-workbench", written(folder, model), "-o", "made.py")
    assert result.exit_code == 0
    assert "the access pattern Shop.order_by_gsi1 is omitted: GSI1 doesn't project total" in result.stderr
    assert [value["pattern"] for value in json_of("explain", "made.py")] == ["order"]


def test_entities_with_overlapping_keys_are_merged_and_reported(folder: Path) -> None:
    items = [[{"PK": f"{kind}{number}", "SK": f"x-{kind}-{number}"} for number in (1, 2)] for kind in "ab"]
    mixed = [{"PK": "7", "SK": "x"}, {"PK": "8", "SK": "y"}]
    model = table({"One": (("PK", "SK"), mixed), "Two": (("PK", "SK"), items[0])})
    result = run("import-workbench", written(folder, model), "-o", "made.py")
    assert result.exit_code == 0
    assert "One: TODO: keys of Two overlap with keys of One; the two become one entity" in result.stderr
    assert "class Two" not in (folder / "made.py").read_text(encoding="utf-8")


def test_items_that_the_generated_design_would_store_differently_are_reported(folder: Path) -> None:
    """No condition was found that explains why only some items are in the index."""
    items: list[dict[str, str]] = [{"PK": f"T#{number}", "SK": "META", "queue": "all"} for number in range(4)]
    for item in items[:2]:
        item |= {"GSI1PK": "Q#all", "GSI1SK": item["PK"]}
    result = run("import-workbench", written(folder, table({"Ticket": (("PK", "SK"), items)})))
    assert result.exit_code == 0
    assert "# TODO: 2 sample items aren't in GSI1, and no condition was found: add when=" in result.stdout
    assert result.stderr.count("after a read and a write, GSI1PK would be 'Q#all', but is missing") == 2


@pytest.mark.parametrize("place", ["Order.primary", "Shop.order"])
def test_invalid_generated_designs_are_reported_once(place: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is in the design itself, or in an access pattern that is omitted."""
    made: list[MadeModule] = []

    def wrong(module: MadeModule) -> NoReturn:
        made.append(module)
        assert len(made) < 5, "it is tried again and again"
        raise DesignError(
            "it can't work", errors=[ErrorDetail(place, "is wrong"), ErrorDetail("Table.indexes", "is wrong")]
        )

    monkeypatch.setattr(compiling, "_run", wrong)
    model = written(folder, table({"Order": (("PK", "SK"), [{"PK": "O#1", "SK": "META"}])}))
    result = run("import-workbench", model, "-o", "made.py")
    assert (result.exit_code, result.stdout) == (1, "Wrote made.py: Shop.\n")
    assert result.stderr.count("it can't work") == 1
    assert len(made) == (2 if place == "Shop.order" else 1)
    assert ("def order(" in (folder / "made.py").read_text()) is (place != "Shop.order")
    assert run("import-workbench", model).stdout == (folder / "made.py").read_text()


def test_errors_in_a_workbench_model_are_reported_with_their_location(folder: Path) -> None:
    result = run("import-workbench", written(folder, {"DataModel": [{"TableName": "a"}]}))
    assert result.exit_code == 2
    assert "model.json: invalid NoSQL Workbench model: 1 error" in result.stderr
    assert "DataModel[0].KeyAttributes: the partition key requires an attribute name" in result.stderr
    assert run("import-workbench", "gone.json").exit_code == 2
    (folder / "bytes.json").write_bytes(b"\xff\xfe")
    assert "isn't valid UTF-8" in run("import-workbench", "bytes.json").stderr
    assert "can't be read" in run("import-workbench", ".").stderr
