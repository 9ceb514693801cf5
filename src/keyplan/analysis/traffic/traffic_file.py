"""The expected load of a design: calls per second, items and bytes, from its decorators or from a traffic file.

A traffic file is TOML or JSON: ``[table]`` for regions and billing, ``[patterns.NAME]`` for rates and numbers of
items, ``[entities.NAME]`` for stored items and their sizes. The share of items with a
field applies to an optional field, or to the values in ``when=``; fields are assumed to be independent.
"""

from __future__ import annotations

import difflib
import json
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from keyplan.dynamodb.regions import REGIONS, near_region
from keyplan.errors import ErrorDetail, TrafficError
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.declared.fields import is_optional
from keyplan.model.declared.pattern_load import (
    FORBID_OTHERS,
    Count,
    Days,
    Flag,
    ItemBytes,
    Load,
    Part,
    Rate,
    Readers,
    ValueBytes,
    fault_of,
)
from keyplan.model.stored.stored_entity import CompiledEntity

Filling: TypeAlias = Mapping[tuple[str, str], bool]
"""Whether a field, by entity and name, has a value."""
EXACT_MAX = 6
"""The number of fields for which every combination is used; beyond that, a sample."""
CHOSEN = 64


def constants_of(entity: CompiledEntity, name: str) -> list[tuple[Any, ...]]:
    """The values of a field for which keys contain an item, without None; once per key."""
    result = (tuple(value for value in key.when[name] if value is not None) for key in entity.keys if name in key.when)
    return [values for values in dict.fromkeys(result) if values]


def unshared(entity: CompiledEntity, name: str) -> str | None:
    """Why a field can't have a share; None if it can."""
    field = entity.fields[name]
    constants = constants_of(entity, name)
    if field.computed:
        return f"{name} is computed: set the share of the fields that it is computed from"
    if len(constants) > 1:
        return f"several keys have when= with different values of {name}: one share can't be of all"
    if not constants and not is_optional(field.annotation):
        return f"each {entity.name} has {name}: it isn't optional, and in no key's when="
    return None


def combinations(shares: Iterable[tuple[tuple[str, str], float]]) -> list[tuple[float, Filling]]:
    """The combinations of fields, with weights that add up to 1."""
    given = list(shares)
    open_ = [(place, share) for place, share in given if 0 < share < 1]
    fixed = {place: share == 1 for place, share in given if share in {0, 1}}
    if len(open_) > EXACT_MAX:
        return [
            (1 / CHOSEN, fixed | {place: _step(at, position) < share for position, (place, share) in enumerate(open_)})
            for at in range(CHOSEN)
        ]
    return [
        (
            math.prod(share if there else 1 - share for (_, share), there in zip(open_, choice, strict=True)),
            fixed | {place: there for (place, _), there in zip(open_, choice, strict=True)},
        )
        for choice in product((True, False), repeat=len(open_))
    ]


def _step(at: int, position: int) -> float:
    """The ``at``-th of evenly spread numbers from 0 to 1, in another order for each position (by odd multipliers)."""
    return ((at * (2 * position * position + 6 * position + 5)) % CHOSEN + 0.5) / CHOSEN


@dataclass(frozen=True, kw_only=True)
class StoredItems:
    """The stored items of one entity.

    ``count``: the number of items. ``item_bytes``: of one item, with names. ``fields``: the bytes of fields whose
    types don't determine them. ``per_partition``: the items in an average and in the largest item collection.
    ``filled``: the share of items with an optional field, or with a value in ``when=``. ``kept_days``: how long
    items are stored; without ``count``, the number follows from it and from the rate at which patterns create them.
    """

    __pydantic_config__ = FORBID_OTHERS

    count: Count | None = None
    item_bytes: ItemBytes | None = None
    fields: dict[str, ValueBytes] = field(default_factory=dict[str, int])
    per_partition: Count | None = None
    per_partition_max: Count | None = None
    filled: dict[str, Part] = field(default_factory=dict[str, Part])
    kept_days: Days | None = None


@dataclass(frozen=True, kw_only=True)
class TableSettings:
    """The regions of the table, its billing, and its features. ``None``: not set."""

    __pydantic_config__ = FORBID_OTHERS

    region: str | None = None
    table_class: Literal["standard", "standard-infrequent-access"] = "standard"
    billing: Literal["on-demand", "provisioned"] = "on-demand"
    point_in_time_recovery: Flag | None = None
    deletion_protection: Flag | None = None
    stream: Literal["NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY"] | None = None
    stream_readers: Readers | None = None
    replicas: tuple[str, ...] = ()
    strong_across_regions: Flag = False
    max_read_units: Rate | None = None
    max_write_units: Rate | None = None


@dataclass(frozen=True, kw_only=True)
class _File:
    __pydantic_config__ = FORBID_OTHERS

    table: TableSettings = field(default_factory=TableSettings)
    patterns: dict[str, Load] = field(default_factory=dict[str, Load])
    entities: dict[str, StoredItems] = field(default_factory=dict[str, StoredItems])


@dataclass(frozen=True)
class Traffic:
    """The load of a design: ``patterns`` and ``entities`` by name. ``source``: the file, if one was read."""

    table: TableSettings
    patterns: Mapping[str, Load]
    entities: Mapping[str, StoredItems]
    source: str | None = None

    @property
    def known(self) -> bool:
        return any(load.per_second is not None for load in self.patterns.values())


def traffic_of(design: CompiledDesign) -> Traffic:
    """The load in the decorators of the design only."""
    return Traffic(
        TableSettings(),
        {name: pattern.load for name, pattern in design.patterns.items()},
        {entity.name: StoredItems() for entity in design.entities.values()},
    )


def read_traffic(path: str | Path, design: CompiledDesign, *others: CompiledDesign) -> Traffic:
    """The load of a design from a TOML or JSON file, which overrides the decorators.

    Patterns and entities of ``others`` are ignored: one file serves two versions of a design. Raises TrafficError
    with every error and its place in the file: syntax, unknown names, invalid rates, an unknown region.
    """
    source = str(path)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it isn't UTF-8"
        raise TrafficError(f"{source} can't be read: {reason}", place=source) from None
    try:
        data = json.loads(text) if source.endswith(".json") else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "JSON" if source.endswith(".json") else "TOML"
        raise TrafficError(f"it isn't {kind}: {error}", place=source, hint="write TOML, or JSON in *.json") from None
    return traffic_from(data, design, *others, source=source)


def traffic_from(data: Any, design: CompiledDesign, *others: CompiledDesign, source: str = "traffic") -> Traffic:
    """The load of a design from the contents of a traffic file. Raises TrafficError with every error."""
    faults = [*_unknown_names(data, (design, *others))]
    file = _File()
    try:
        file = TypeAdapter(_File).validate_python(data)
    except ValidationError as error:
        faults += (_fault_of(element) for element in error.errors(include_url=False))
    faults += _contradictions(data)
    if faults:
        count = len(faults)
        raise TrafficError(
            f"the traffic can't be used: {count} error{'s' if count > 1 else ''}", place=source, errors=faults
        )
    given = _by_pattern(file.patterns, design)
    own = traffic_of(design)
    return Traffic(
        file.table,
        {name: given[name].over(load) if name in given else load for name, load in own.patterns.items()},
        {name: file.entities.get(name, stored) for name, stored in own.entities.items()},
        source,
    )


def _fault_of(detail: ErrorDetails) -> ErrorDetail:
    """Pydantic's finding in the file's own words."""
    if detail["type"] not in {"unexpected_keyword_argument", "extra_forbidden"}:
        return fault_of(detail)
    *_, name = place = detail["loc"]
    known = _MEMBERS.get(len(place) == 1 or place[0], ())
    return ErrorDetail(".".join(str(step) for step in place), "there is no such member", _near(str(name), known))


def _members(kind: type[Any]) -> tuple[str, ...]:
    return tuple(element.name for element in fields(kind))


_MEMBERS: dict[Any, tuple[str, ...]] = {
    True: _members(_File),
    "table": _members(TableSettings),
    "patterns": _members(Load),
    "entities": _members(StoredItems),
}


def _unknown_names(data: Any, designs: Sequence[CompiledDesign]) -> Iterable[ErrorDetail]:
    """Patterns, entities, fields and regions that there are none of; patterns that are named twice."""
    if not isinstance(data, Mapping):
        return
    patterns = {name for design in designs for name in design.patterns}
    ids = {pattern.id: name for design in designs for name, pattern in design.patterns.items()}
    seen: dict[str, str] = {}
    for name in _keys(data.get("patterns")):
        if name not in patterns and name not in ids:
            yield ErrorDetail(f"patterns.{name}", "the design has no such pattern", _near(name, [*patterns, *ids]))
            continue
        other = seen.setdefault(ids.get(name, name), name)
        if other != name:
            yield ErrorDetail(f"patterns.{name}", f"it is the pattern {other}, which is set too", "keep one of the two")
        yield from _unknown_keys(name, data["patterns"][name], designs)
        yield from _unknown_arguments(name, data["patterns"][name], ids.get(name, name), designs)
        yield from _of_writes(name, data["patterns"][name], ids.get(name, name), designs)
    entities = {name: entity for design in designs for name, entity in design.by_name.items()}
    for name in _keys(data.get("entities")):
        if name not in entities:
            yield ErrorDetail(f"entities.{name}", "the design has no such entity", _near(name, entities))
            continue
        stored = data["entities"][name]
        for field_name in _keys(stored.get("fields") if isinstance(stored, Mapping) else None):
            if field_name not in entities[name].fields:
                place = f"entities.{name}.fields.{field_name}"
                yield ErrorDetail(place, f"{name} has no such field", _near(field_name, entities[name].fields))
        for field_name in _keys(stored.get("filled") if isinstance(stored, Mapping) else None):
            place, entity = f"entities.{name}.filled.{field_name}", entities[name]
            if field_name not in entity.fields:
                yield ErrorDetail(place, f"{name} has no such field", _near(field_name, entity.fields))
            elif (reason := unshared(entity, field_name)) is not None:
                yield ErrorDetail(place, reason)
    yield from _unknown_regions(data.get("table"))


def _unknown_keys(name: str, load: Any, designs: Sequence[CompiledDesign]) -> Iterable[ErrorDetail]:
    """Keys in ``hottest`` that don't exist."""
    known = [
        f"{entity.name}.{key.name}"
        for design in designs
        for entity in design.entities.values()
        for key in (*entity.keys, *entity.claims)
    ]
    for key in _keys(load.get("hottest")) if isinstance(load, Mapping) else []:
        if key not in known:
            yield ErrorDetail(f"patterns.{name}.hottest.{key}", "the design has no such key", _near(key, known))


def _unknown_arguments(name: str, load: Any, pattern: str, designs: Sequence[CompiledDesign]) -> Iterable[ErrorDetail]:
    arguments = _keys(load.get("arguments")) if isinstance(load, Mapping) else []
    known = {
        parameter
        for design in designs
        if pattern in design.patterns
        for parameter in design.patterns[pattern].signature.by_name
    }
    for argument in arguments:
        if argument not in known:
            yield ErrorDetail(
                f"patterns.{name}.arguments.{argument}", f"{pattern} has no such parameter", _near(argument, known)
            )


def _of_writes(name: str, load: Any, pattern: str, designs: Sequence[CompiledDesign]) -> Iterable[ErrorDetail]:
    if not any(pattern in design.reads for design in designs):
        return
    for member, reason in (("fails", "has no condition"), ("in_transaction", "is part of no transaction")):
        if member in _keys(load):
            yield ErrorDetail(f"patterns.{name}.{member}", f"{pattern} is a read, which {reason}", "set it for a write")


def _unknown_regions(table: Any) -> Iterable[ErrorDetail]:
    if not isinstance(table, Mapping):
        return
    replicas = table.get("replicas")
    named = {"table.region": table.get("region")}
    if isinstance(replicas, list | tuple):
        named |= {f"table.replicas.{position}": value for position, value in enumerate(replicas)}
    for place, region in named.items():
        if isinstance(region, str) and region not in REGIONS:
            near = near_region(region)
            hint = f"did you mean {near}?" if near else _near(region, REGIONS)
            yield ErrorDetail(place, f"AWS has no region {region!r}", hint)


def _contradictions(data: Any) -> Iterable[ErrorDetail]:
    """Numbers that contradict each other. Values that aren't numbers are errors of their own."""
    for place, usual, most, text in (
        ("patterns", "per_second", "peak_per_second", "the peak, {:g} per second, is below the average, {:g}"),
        ("entities", "per_partition", "per_partition_max", "the most, {:g}, is below the usual, {:g}"),
    ):
        members = data.get(place) if isinstance(data, Mapping) else None
        for name, given in members.items() if isinstance(members, Mapping) else ():
            low, high = (given.get(text) if isinstance(given, Mapping) else None for text in (usual, most))
            if isinstance(low, int | float) and isinstance(high, int | float) and high < low:
                yield ErrorDetail(f"{place}.{name}.{most}", text.format(high, low))


def _by_pattern(given: Mapping[str, Load], design: CompiledDesign) -> dict[str, Load]:
    """The loads by pattern name: a file can also use pattern ids."""
    ids = {pattern.id: name for name, pattern in design.patterns.items()}
    return {name if name in design.patterns else ids.get(name, name): load for name, load in given.items()}


def _keys(value: Any) -> list[str]:
    return [str(name) for name in value] if isinstance(value, Mapping) else []


def _near(name: str, names: Iterable[str]) -> str:
    known = sorted(names)
    near = difflib.get_close_matches(name, known)
    if near:
        return f"did you mean {near[0]}?"
    return f"it has {', '.join(known)}" if len(known) <= 30 else f"there are {len(known)}, among them {known[0]}"
