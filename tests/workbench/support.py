"""Helpers for NoSQL Workbench models, exported from designs or handwritten, and for designs generated from them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from keyplan import Design
from keyplan.formats.registry import Inputs, export
from keyplan.formats.workbench.module import MadeModule, working_module
from keyplan.formats.workbench.reading import read_model
from keyplan.model.compiled.compiled_design import CompiledDesign


def exported(cls: type[Design], items: Iterable[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """The NoSQL Workbench model of a design, with the given items."""
    result: dict[str, Any] = json.loads(export("workbench", Inputs(design=cls.compiled, items=items)).text)
    return result


def made(model: Any) -> MadeModule:
    """The module generated from a model. The module must compile."""
    module, _, error = working_module(read_model(json.dumps(model), "model.json"))
    assert error is None, error
    return module


def compiled_of(module: MadeModule, name: str | None = None) -> CompiledDesign:
    """The compiled design of a module: its first, or the one with the given name."""
    module_type = ModuleType("made_of_a_model")
    sys.modules[module_type.__name__] = module_type
    exec(compile(module.text, "<made>", "exec"), vars(module_type))
    design: type[Design] = getattr(module_type, name or module.designs[0])
    return design.compiled


def keys_of(design: CompiledDesign) -> dict[str, Any]:
    """The table, its indexes, and the keys of every entity."""
    result: dict[str, Any] = {
        "table": (design.table.name, design.table.partition, design.table.sort),
        "indexes": sorted(
            (index.name, index.partition, index.sort, index.projection, index.local) for index in design.table.indexes
        ),
        "ttl": design.ttl_attribute,
    }
    for entity in design.entities.values():
        result[entity.name] = sorted(
            (
                key.name,
                key.place,
                [str(template) for _, template in key.attributes],
                {name: [getattr(value, "value", value) for value in allowed] for name, allowed in key.when.items()},
                key.shards,
                key.is_claim,
                {variable.style for _, template in key.attributes for variable in template.variables},
            )
            for key in (*entity.keys, *entity.claims)
        )
        result[f"{entity.name}'s labels"] = entity.labels
    return result


def table(facets: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A Workbench model of one table with PK, SK and one index. A facet is given as aliases and items, with plain
    strings and numbers.
    """
    made_facets = [
        {
            "FacetName": name,
            "KeyAttributeAlias": {"PartitionKeyAlias": aliases[0], "SortKeyAlias": aliases[1]},
            "TableData": [item(value) for value in items],
            "NonKeyAttributes": sorted({key for value in items for key in value} - {"PK", "SK"}),
            "DataAccess": {"MySql": {}},
        }
        for name, (aliases, items) in (facets or {}).items()
    ]
    element = {
        "TableName": "Shop",
        "KeyAttributes": _key("PK", "SK"),
        "NonKeyAttributes": [],
        "TableFacets": made_facets,
        "GlobalSecondaryIndexes": [
            {"IndexName": "GSI1", "KeyAttributes": _key("GSI1PK", "GSI1SK"), "Projection": {"ProjectionType": "ALL"}}
        ],
        "TableData": [],
        "DataAccess": {"MySql": {}},
        "BillingMode": "PAY_PER_REQUEST",
        **more,
    }
    metadata = {"Author": "", "Description": "", "AWSService": "Amazon DynamoDB", "Version": "3.0"}
    return {"ModelName": "Shop", "ModelMetadata": metadata, "DataModel": [element]}


def item(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A sample item in DynamoDB JSON. Values are strings, numbers, or DynamoDB JSON."""
    return {
        name: {"S": value} if isinstance(value, str) else {"N": str(value)} if isinstance(value, int) else value
        for name, value in fields.items()
    }


def _key(partition: str, sort: str) -> dict[str, Any]:
    return {
        "PartitionKey": {"AttributeName": partition, "AttributeType": "S"},
        "SortKey": {"AttributeName": sort, "AttributeType": "S"},
    }
