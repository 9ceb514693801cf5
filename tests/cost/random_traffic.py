"""Random traffic for a design, drawn from a seed."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.plans import ReadPattern


def drawn(design: CompiledDesign, random: Random, *, replicated: bool) -> dict[str, Any]:
    """Random traffic data for a design, with a random subset of the supported members."""

    def some(choices: Mapping[str, Any]) -> dict[str, Any]:
        return {name: random.choice(values) for name, values in choices.items() if random.random() < 0.4}

    table = some(
        {
            "table_class": ["standard-infrequent-access"],
            "billing": ["on-demand", "provisioned"],
            "point_in_time_recovery": [True, False],
            "stream": ["NEW_IMAGE", "KEYS_ONLY"],
        }
    )
    if replicated:
        table |= {"region": "us-east-1", "replicas": ["eu-west-1"]}
    patterns: dict[str, Any] = {}
    for name, pattern in design.patterns.items():
        patterns[name] = some({"per_second": [0, 0.5, 30, 4000], "item_bytes": [300, 5000], "items": [0, 1, 7, 2500]})
        if isinstance(pattern, ReadPattern):
            patterns[name] |= some({"kept": [0.25, 0.01]})
        else:
            patterns[name] |= some({"fails": [0.1, 0]})
            patterns[name].pop("item_bytes", None)
        if patterns[name].get("per_second"):
            patterns[name] |= some({"peak_per_second": [5000, 9000.5]})
    entities: dict[str, Any] = {}
    for entity in design.entities.values():
        entities[entity.name] = some(
            {
                "count": [0, 12, 3_000_000, 1e10],
                "item_bytes": [700, 20_000],
                "per_partition": [1, 40],
                "kept_days": [30],
            }
        )
    return {"table": table, "patterns": patterns, "entities": entities}
