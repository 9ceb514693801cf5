"""``keyplan import-workbench``. How templates are found is tested in ``tests/workbench``."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.support import LIBRARY, json_of, run
from tests.workbench.support import table


def written(folder: Path, model: object) -> str:
    (folder / "model.json").write_text(json.dumps(model), encoding="utf-8")
    return "model.json"


def test_a_model_becomes_a_design_that_is_explained(folder: Path) -> None:
    assert run("export", "cms", "--to", "workbench", "-o", "model.json").exit_code == 0
    found = run("import-workbench", "model.json", "-o", "made.py")
    assert (found.exit_code, found.output) == (0, "Wrote made.py: Cms.\n")
    explained = {one["pattern"]: one["key_condition"] for one in json_of("explain", "made.py:Cms")}
    assert explained["article_by_author"] == 'gsi1pk = AUTHOR#{author_id}, begins_with(gsi1sk, "ARTICLE#")'
    assert run("import-workbench", "model.json").stdout == (folder / "made.py").read_text(encoding="utf-8")


def test_and_is_exported_again_with_the_same_keys(folder: Path) -> None:
    for name, made in ((LIBRARY, "Library"), ("tests.contract.design:Everything", "Everything")):
        assert run("export", name, "--to", "workbench", "-o", "model.json").exit_code == 0
        assert run("import-workbench", "model.json", "-o", "made.py").exit_code == 0
        first, second = (
            json.loads(run("export", one, "--to", "workbench").stdout) for one in (name, f"made.py:{made}")
        )
        keys = [
            {facet["FacetName"]: facet["KeyAttributeAlias"] for facet in model["DataModel"][0]["TableFacets"]}
            for model in (first, second)
        ]
        assert keys[0] == keys[1]


def test_what_a_model_leaves_open_is_told(folder: Path) -> None:
    model = table({"Order": (("PK", "SK"), [])})
    found = run("import-workbench", written(folder, model))
    assert found.exit_code == 0
    assert "Order: the model has no sample of it" in found.stderr


def test_a_question_that_no_key_answers_is_left_out_and_told(folder: Path) -> None:
    """The index doesn't hold all that an order has."""
    order = {"PK": "O#1", "SK": "META", "GSI1PK": "M#1", "GSI1SK": "O#1", "total": 5}
    model = table({"Order": (("PK", "SK"), [order])})
    model["DataModel"][0]["GlobalSecondaryIndexes"][0]["Projection"] = {"ProjectionType": "KEYS_ONLY"}
    found = run("import-workbench", written(folder, model), "-o", "made.py")
    assert found.exit_code == 0
    assert "no question Shop.order_by_gsi1: GSI1 doesn't project total" in found.stderr
    assert [one["pattern"] for one in json_of("explain", "made.py")] == ["order"]


def test_keys_that_cant_work_are_told_and_the_module_is_written(folder: Path) -> None:
    items = [{"PK": "a1", "SK": "b1"}, {"PK": "a2", "SK": "b2"}]
    model = table({"One": (("PK", "SK"), items), "Two": (("PK", "SK"), items)})
    found = run("import-workbench", written(folder, model), "-o", "made.py")
    assert found.exit_code == 1
    assert "its key can be the same as" in found.stderr
    assert (folder / "made.py").exists()


def test_faults_are_told_by_place(folder: Path) -> None:
    found = run("import-workbench", written(folder, {"DataModel": [{"TableName": "a"}]}))
    assert found.exit_code == 2
    assert "model.json: this is no model of NoSQL Workbench: 2 faults" in found.stderr
    assert "DataModel[0].TableName" in found.stderr
    assert "DataModel[0].KeyAttributes: field required" in found.stderr
    assert run("import-workbench", "gone.json").exit_code == 2
    (folder / "bytes.json").write_bytes(b"\xff\xfe")
    assert "isn't text in UTF-8" in run("import-workbench", "bytes.json").stderr
    assert "can't be read" in run("import-workbench", ".").stderr
