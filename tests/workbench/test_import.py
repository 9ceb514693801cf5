"""Designs generated from NoSQL Workbench models: keys and fields from sample items, and TODO comments for guesses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from keyplan.formats.registry import Inputs, export
from keyplan.formats.workbench.module import MadeModule, sample_faults, working_module
from keyplan.formats.workbench.reading import read_model
from keyplan.systems import system, system_names
from tests.workbench.support import compiled_of, exported, item, keys_of, made, table

Row = dict[str, Any]


def keys(module: MadeModule) -> dict[str, str]:
    """The keys of each entity, on one line."""
    return {
        name: " | ".join(" ".join(str(template) for _, template in key.attributes) for key in entity.keys)
        for name, entity in compiled_of(module).by_name.items()
    }


def of(rows: list[Row], **more: Any) -> MadeModule:
    """The module generated from a table with these sample items and no facets."""
    return made(table({}, TableFacets=[], TableData=[item(row) for row in rows], **more))


SAMPLES: dict[str, tuple[list[Row], dict[str, str]]] = {
    "words tell items apart": (
        [
            {"PK": "USER#1", "SK": "PROFILE", "name": "Ada"},
            {"PK": "USER#2", "SK": "PROFILE", "name": "Bob"},
            {"PK": "USER#1", "SK": "ORDER#7", "total": 5},
            {"PK": "USER#1", "SK": "ORDER#8", "total": 6},
        ],
        {"Profile": "USER#{user_id} PROFILE", "Order": "USER#{user_id} ORDER#{order_id}"},
    ),
    "an attribute names the kind": (
        [
            {"PK": "h#kiel", "SK": "h#kiel", "EntityType": "harbour", "town": "Kiel"},
            {"PK": "h#riga", "SK": "h#riga", "EntityType": "harbour", "town": "Riga"},
            {"PK": "h#kiel", "SK": "b#aurora", "EntityType": "boat", "metres": 12},
            {"PK": "h#riga", "SK": "b#vela", "EntityType": "boat", "metres": 9},
        ],
        {"Harbour": "h#{h_id} h#{h_id}", "Boat": "h#{h_id} b#{b_id}"},
    ),
    "attributes are the fields": (
        [
            {"PK": "C#7", "SK": "O#1", "customer": "7", "order": "1"},
            {"PK": "C#8", "SK": "O#2", "customer": "8", "order": "2"},
        ],
        {"O": "C#{customer} O#{order}"},
    ),
    "another delimiter": (
        [{"PK": "user:1", "SK": "order:7", "userId": "1"}, {"PK": "user:2", "SK": "order:8", "userId": "2"}],
        {"Order": "user:{user_id} order:{order_id}"},
    ),
    "padded numbers": (
        [{"PK": "GAME#a", "SK": "ROUND#003", "round": 3}, {"PK": "GAME#b", "SK": "ROUND#012", "round": 12}],
        {"Round": "GAME#{game_id} ROUND#{round:03d}"},
    ),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_keys_are_inferred_from_sample_items(name: str) -> None:
    rows, wanted = SAMPLES[name]
    module = of(rows)
    assert keys(module) == wanted
    assert [*sample_faults(compiled_of(module), module.samples[module.designs[0]])] == []


@pytest.mark.parametrize(
    ("aliases", "wanted"),
    [
        (("USER#{user_id}", "ORDER#<orderId>"), "USER#{user_id} ORDER#{order_id}"),
        (("USER#${user}", "{sort}"), "USER#{user} {sort}"),
        (("userId", "SK"), "USER#{user_id} ORDER#{order_id}"),
    ],
)
def test_facet_aliases_that_are_templates_become_keys(aliases: tuple[str, str], wanted: str) -> None:
    rows = [{"PK": f"USER#{number}", "SK": f"ORDER#{number}7"} for number in (1, 2)]
    assert keys(made(table({"Order": (aliases, rows)}))) == {"Order": wanted}


def test_attributes_declared_in_a_model_are_kept() -> None:
    """Declared attributes that no sample item has are kept, too."""
    model = table({"Order": (("PK", "SK"), [{"PK": "O#1", "SK": "META", "total": 5}])})
    model["DataModel"][0]["TableFacets"][0]["NonKeyAttributes"] = ["total", "note", "paid"]
    model["DataModel"][0]["NonKeyAttributes"] = [{"AttributeName": "paid", "AttributeType": "BOOL"}]
    module = made(model)
    fields = compiled_of(module).by_name["Order"].fields
    assert fields.keys() >= {"total", "note", "paid"}
    assert fields["paid"].annotation == bool | None
    assert "Order.note: TODO: the sample has no such attribute; set the type" in module.notes
    assert "# TODO: the sample has no such attribute; the type is from the model" in module.text
    empty = made(table({}, NonKeyAttributes=[{"AttributeName": "size", "AttributeType": "N"}]))
    assert [entity.fields.keys() for entity in compiled_of(empty).entities.values()] == [{"id", "size"}]


@pytest.mark.parametrize(
    ("row", "key", "todo"),
    [
        ({"PK": "H1", "SK": "R1"}, "{pk} {sk}", "every sample item has 'H1' in PK; check that the value"),
        ({"PK": "HOTEL", "SK": "R#1"}, "HOTEL R#{r_id}", "every sample item has 'HOTEL' in PK; if the value varies"),
        ({"PK": "H#1", "SK": "META"}, "H#{h_id} META", "every sample item has 'META' in SK; if the value varies"),
    ],
)
def test_a_constant_in_an_inferred_key_gets_a_todo_comment(row: Row, key: str, todo: str) -> None:
    module = made(table({"Hotel": (("PK", "SK"), [row])}))
    assert keys(module) == {"Hotel": key}
    assert any(todo in note for note in module.notes)
    assert "# TODO: every sample item has" in module.text


def test_conditions_of_sparse_index_keys_are_inferred() -> None:
    rows: list[Row] = [{"PK": f"J#{number}", "SK": "META", "state": state} for number, state in enumerate("qqdd")]
    for row in rows[:2]:
        row |= {"GSI1PK": "QUEUE", "GSI1SK": row["PK"]}
    module = made(table({"Job": (("PK", "SK"), rows)}))
    key = compiled_of(module).by_name["Job"].index_keys[0]
    assert dict(key.when) == {"state": ("q",)}
    assert any("state determines which items are in GSI1" in note for note in module.notes)
    for row in rows:
        row["state"] = "q"
    module = made(table({"Job": (("PK", "SK"), rows)}))
    assert any("2 sample items aren't in GSI1, and no condition was found" in note for note in module.notes)


def test_field_types_are_inferred_from_sample_items() -> None:
    row: Row = {
        "PK": "T#1", "SK": "META", "count": 3, "price": {"N": "2.5"}, "at": "2026-11-28T08:00:00.000000Z",
        "on": {"BOOL": True}, "set": {"SS": ["a"]}, "rows": {"L": [{"S": "x"}]}, "more": {"M": {"a": {"N": "1"}}},
        "class": "x", "limit": "y",
    }  # fmt: skip
    module = made(table({"Thing": (("PK", "SK"), [row])}))
    for line in (
        "count: int", "price: Decimal", "at: datetime", "on: bool", "rows: list[str]",
        "more: dict[str, Any]", 'set_: set[str] = Field(alias="set")',
        'class_2: str = Field(alias="class")', 'limit_2: str = Field(alias="limit")',
    ):  # fmt: skip
        assert f"    {line}\n" in module.text


def test_entities_with_overlapping_keys_are_merged() -> None:
    facets = {
        "One": (("PK", "SK"), [{"PK": "7", "SK": "x"}, {"PK": "8", "SK": "y"}]),
        "Two": (("PK", "SK"), [{"PK": "9", "SK": "z"}, {"PK": "5", "SK": "w"}]),
    }
    module = made(table(facets))
    assert list(compiled_of(module).by_name) == ["One"]
    assert any("keys of Two overlap with keys of One" in note for note in module.notes)


def test_unsupported_access_patterns_are_omitted_with_the_reason() -> None:
    order = {"PK": "O#1", "SK": "META", "GSI1PK": "M#1", "GSI1SK": "O#1", "total": 5}
    model = table({"Order": (("PK", "SK"), [order])})
    model["DataModel"][0]["GlobalSecondaryIndexes"][0]["Projection"] = {"ProjectionType": "KEYS_ONLY"}
    module, reasons, error = working_module(read_model(json.dumps(model), "model.json"))
    assert error is None
    assert module.left_out == ("Shop.order_by_gsi1",)
    assert "GSI1 doesn't project total" in reasons[0]


def test_a_model_of_two_tables_is_imported_as_two_designs() -> None:
    model = table({"Order": (("PK", "SK"), [{"PK": "O#1", "SK": "META"}])})
    model["DataModel"].append({**table({"User": (("PK", "SK"), [])})["DataModel"][0], "TableName": "Users"})
    assert made(model).designs == ("Shop", "Users")


@pytest.mark.parametrize("name", system_names())
def test_systems_keep_their_keys_after_export_and_import(name: str) -> None:
    """Keys and types that Workbench doesn't support are excepted."""
    design = system(name).design
    module, _, error = working_module(read_model(json.dumps(exported(design)), "model.json"))
    assert error is None, error
    first, second = keys_of(design.compiled), keys_of(compiled_of(module))
    for entity in design.compiled.entities.values():
        shown = [(*key[:2], [text.replace(":rank", "") for text in key[2]]) for key in first[entity.name]]
        assert [key[:3] for key in second[entity.name]] == shown


def test_the_generated_module_passes_mypy_and_can_be_exported(tmp_path: Path) -> None:
    rows, _ = SAMPLES["words tell items apart"]
    module = of(rows)
    path = tmp_path / "shop.py"
    path.write_text(module.text, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", str(path)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    again = json.loads(export("workbench", Inputs(design=compiled_of(module))).text)
    assert keys(made(again)) == keys(module)
