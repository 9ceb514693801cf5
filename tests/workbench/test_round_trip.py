"""Export and import give the same keys, for every design; with a sample and without one; and a module that both type
checkers' rules allow.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from keyplan import Design
from keyplan.systems.cms import Cms
from keyplan.systems.cms.system import SYSTEM
from tests.export.designs import NAMES, design
from tests.workbench.support import compiled_of, exported, keys_of, made


def sample() -> list[Any]:
    with Cms.open(":memory:") as cms:
        SYSTEM.sample(cms, 5, lambda _done, _total: None)
        found: list[Any] = cms.store.transport.call("Scan", {"TableName": "cms"})["Items"]
        return found


@pytest.mark.parametrize("name", NAMES)
def test_the_keys_are_the_same(name: str) -> None:
    cls = design(name)
    module = made(exported(cls))
    assert keys_of(compiled_of(module)) == keys_of(cls.compiled)


def test_the_keys_are_the_same_with_a_sample() -> None:
    items = sample()
    found = compiled_of(made(exported(Cms, items)))
    assert keys_of(found) == keys_of(Cms.compiled)
    assert {one.name: set(one.fields) for one in found.entities.values()} == {
        one.name: set(one.fields) for one in Cms.compiled.entities.values()
    }


def test_what_is_made_reads_the_sample() -> None:
    """Each item of the sample is one of the made entities', and is written as it was read."""
    items = sample()
    found = compiled_of(made(exported(Cms, items)))
    for item in items:
        entity = found.entity_of(item)
        assert entity is not None
        assert entity.to_item(entity.from_item(item)) == item


def test_samples_alone_show_the_keys() -> None:
    """Without Keyplan's declarations and aliases, as others make models."""
    model = exported(Cms, sample())
    model["ModelMetadata"]["Description"] = ""
    for facet in model["DataModel"][0]["TableFacets"]:
        facet["KeyAttributeAlias"] = {"PartitionKeyAlias": "pk", "SortKeyAlias": "sk"}
    keys = keys_of(compiled_of(made(model)))
    assert keys["Article"] == [
        ("by_gsi1", "GSI1", ["AUTHOR#{author_id}", "ARTICLE#{article_id}"], {}, 1, False),
        ("primary", "the table", ["ARTICLE#{article_id}", "#METADATA"], {}, 1, False),
    ]
    assert keys["TagArticle"] == [
        ("by_gsi1", "GSI1", ["ARTICLE#{article_id}", "TAG#{tag}"], {}, 1, False),
        ("primary", "the table", ["TAG#{tag}", "ARTICLE#{article_id}"], {}, 1, False),
    ]
    # A number that is turned is seen as a text of its own
    assert keys["ArticleVersion"][0][2] == ["ARTICLE#{article_id}", "VERSION#{version_id}"]


def test_mypy_takes_every_module(tmp_path: Path) -> None:
    names: list[str] = []
    for name in NAMES:
        path = tmp_path / f"made_{name.lower()}.py"
        path.write_text(made(exported(design(name))).text, encoding="utf-8")
        names.append(path.name)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), *names]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_module_is_made_the_same_each_time() -> None:
    cls: type[Design] = design("Everything")
    assert made(exported(cls)).text == made(exported(cls)).text
