"""Reads a model's sample with its design: each item must be read as its entity, and written back unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from keyplan.dynamodb import values
from keyplan.errors import KeyplanError
from keyplan.formats.workbench.reading import Item
from keyplan.model.compiled.compiled_design import CompiledDesign

__all__ = ["sample_faults"]

_SHOWN_MAX = 5
"""Maximum number of items per entity that are reported individually."""


def sample_faults(design: CompiledDesign, samples: Mapping[str, Sequence[Item]]) -> Iterator[str]:
    """The items that can't be read, or would be stored differently, by entity."""
    for name, items in samples.items():
        result = [
            f"{name}({_key(design, item)}): {fault}"
            for item in items
            if (fault := _fault(design, name, item)) is not None
        ]
        yield from result[:_SHOWN_MAX]
        if len(result) > _SHOWN_MAX:
            yield f"{name}: and {len(result) - _SHOWN_MAX} more of its {len(items)} items"


def _key(design: CompiledDesign, item: Item) -> str:
    names = [attribute.name for attribute in (design.table.partition, design.table.sort) if attribute is not None]
    return ", ".join(f"{name}={next(iter(item[name].values()))}" for name in names)


def _fault(design: CompiledDesign, name: str, item: Item) -> str | None:
    """Why an item isn't read as its entity and written back unchanged; None if it is."""
    entity = design.entity_of(item)
    if entity is None or entity.name != name:
        return f"the sample item can't be read: its key doesn't match the templates of {name}"
    try:
        again = entity.to_item(entity.from_item(item))
    except KeyplanError as error:
        reasons = "; ".join(str(fault) for fault in error.errors) or error.message
        return f"the sample item can't be read or written: {reasons}"
    lost = [
        f"{attribute} would be {_shown(again, attribute)}, but is {_shown(item, attribute)}"
        for attribute, value in item.items()
        if "NULL" not in value and not (attribute in again and values.same(again[attribute], value))
    ]
    keys = {attribute.name for key in entity.keys for attribute, _ in key.attributes}
    lost += [
        f"{attribute} would be {_shown(again, attribute)}, but is missing"
        for attribute in sorted(keys & again.keys() - item.keys())
    ]
    return f"put back, {'; '.join(lost)}" if lost else None


def _shown(item: Mapping[str, object], attribute: str) -> str:
    value = item.get(attribute)
    if not isinstance(value, dict):
        return "missing"
    text = repr(next(iter(value.values())))
    return text if len(text) <= 60 else f"{text[:57]}..."
