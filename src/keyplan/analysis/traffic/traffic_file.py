"""The expected load of a design: calls per second, items and bytes, from decorators or from a traffic file.

A traffic file is TOML or JSON. ``[table]`` sets regions and billing, ``[patterns.NAME]`` sets rates and numbers of
items, and ``[entities.NAME]`` sets the number of stored items and their sizes. ``filled`` sets the share of items that
have an optional field, or a value in ``when=``. The shares of several fields are assumed to be independent.
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
from keyplan.model.declared import pattern_load
from keyplan.model.declared.fields import is_optional
from keyplan.model.stored.stored_entity import CompiledEntity

Filling: TypeAlias = Mapping[tuple[str, str], bool]
"""Whether a field, by entity and name, has a value."""
EXACT_MAX = 6
"""The maximum number of fields for which all combinations are used; combinations of more fields are sampled."""
CHOSEN = 64


def constants_of(entity: CompiledEntity, name: str) -> list[tuple[Any, ...]]:
    """The values of the field in ``when=``, for each key that has the field in ``when=``."""
    result = (tuple(value for value in key.when[name] if value is not None) for key in entity.keys if name in key.when)
    return [values for values in dict.fromkeys(result) if values]


def unshared(entity: CompiledEntity, name: str) -> str | None:
    """The reason why ``filled`` can't set a share for the field; None if it can."""
    field = entity.fields[name]
    constants = constants_of(entity, name)
    if field.computed:
        return f"{name} is computed: set the share of the fields that it is computed from"
    if len(constants) > 1:
        return f"several keys have when= with different values of {name}: one share can't apply to all keys"
    if not constants and not is_optional(field.annotation):
        return f"each {entity.name} has {name}: the field isn't optional, and no key has it in when="
    return None


def combinations(shares: Iterable[tuple[tuple[str, str], float]]) -> list[tuple[float, Filling]]:
    """The combinations of set and absent fields, with weights that add up to 1."""
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

    ``item_bytes``: the size of an item, with attribute names. ``fields``: the sizes of fields whose types don't set a
    size. ``per_partition`` and ``per_partition_max``: the items in an average and in the largest item collection.
    ``filled``: the share of items with an optional field, or with a value in ``when=``. ``kept_days``: how long an item
    is stored; without ``count``, the number of items is ``kept_days`` times the items that patterns create per day.
    """

    __pydantic_config__ = pattern_load.FORBID_OTHERS

    count: pattern_load.Count | None = None
    item_bytes: pattern_load.ItemBytes | None = None
    fields: dict[str, pattern_load.ValueBytes] = field(default_factory=dict[str, int])
    per_partition: pattern_load.Count | None = None
    per_partition_max: pattern_load.Count | None = None
    filled: dict[str, pattern_load.Part] = field(default_factory=dict[str, pattern_load.Part])
    kept_days: pattern_load.Days | None = None


@dataclass(frozen=True, kw_only=True)
class TableSettings:
    """The regions, billing and features of the table. A setting is None if the traffic file doesn't contain it."""

    __pydantic_config__ = pattern_load.FORBID_OTHERS

    region: str | None = None
    table_class: Literal["standard", "standard-infrequent-access"] = "standard"
    billing: Literal["on-demand", "provisioned"] = "on-demand"
    point_in_time_recovery: pattern_load.Flag | None = None
    deletion_protection: pattern_load.Flag | None = None
    stream: Literal["NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY"] | None = None
    stream_readers: pattern_load.Readers | None = None
    replicas: tuple[str, ...] = ()
    strong_across_regions: pattern_load.Flag = False
    max_read_units: pattern_load.Rate | None = None
    max_write_units: pattern_load.Rate | None = None


@dataclass(frozen=True, kw_only=True)
class _File:
    __pydantic_config__ = pattern_load.FORBID_OTHERS

    table: TableSettings = field(default_factory=TableSettings)
    patterns: dict[str, pattern_load.Load] = field(default_factory=dict[str, pattern_load.Load])
    entities: dict[str, StoredItems] = field(default_factory=dict[str, StoredItems])


@dataclass(frozen=True)
class Traffic:
    """The expected load of a design, with ``patterns`` and ``entities`` by name. ``source``: the file, if any."""

    table: TableSettings
    patterns: Mapping[str, pattern_load.Load]
    entities: Mapping[str, StoredItems]
    source: str | None = None

    @property
    def known(self) -> bool:
        return any(load.per_second is not None for load in self.patterns.values())


def traffic_of(design: CompiledDesign) -> Traffic:
    """The expected load of a design from its decorators, without a traffic file."""
    return Traffic(
        TableSettings(),
        {name: pattern.load for name, pattern in design.patterns.items()},
        {entity.name: StoredItems() for entity in design.entities.values()},
    )


def read_traffic(path: str | Path, design: CompiledDesign, *others: CompiledDesign) -> Traffic:
    """Read the expected load of a design from a TOML or JSON file, which overrides the decorators.

    Patterns and entities of ``others`` are ignored, so that two versions of a design can use one file. Raises
    TrafficError that lists all syntax errors, unknown names and regions, and invalid values, with their places.
    """
    source = str(path)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its encoding isn't UTF-8"
        raise TrafficError(f"the file can't be read: {reason}", place=source) from None
    try:
        data = json.loads(text) if source.endswith(".json") else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "JSON" if source.endswith(".json") else "TOML"
        raise TrafficError(f"invalid {kind}: {error}", place=source, hint="use TOML, or JSON in *.json files") from None
    return traffic_from(data, design, *others, source=source)


def traffic_from(data: Any, design: CompiledDesign, *others: CompiledDesign, source: str = "traffic") -> Traffic:
    """The expected load of a design from the data of a traffic file. Raises TrafficError that lists all errors."""
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
            f"the traffic file is invalid: {count} error{'s' if count > 1 else ''}", place=source, errors=faults
        )
    ids = {pattern.id: name for name, pattern in design.patterns.items()}  # a traffic file can name patterns by id
    given = {name if name in design.patterns else ids.get(name, name): load for name, load in file.patterns.items()}
    own = traffic_of(design)
    return Traffic(
        file.table,
        {name: given[name].over(load) if name in given else load for name, load in own.patterns.items()},
        {name: file.entities.get(name, stored) for name, stored in own.entities.items()},
        source,
    )


def _fault_of(detail: ErrorDetails) -> ErrorDetail:
    """The error in the traffic file for an error from Pydantic."""
    if detail["type"] not in {"unexpected_keyword_argument", "extra_forbidden"}:
        return pattern_load.fault_of(detail)
    *_, name = place = detail["loc"]
    known = _MEMBERS.get(len(place) == 1 or place[0], ())
    return ErrorDetail(".".join(str(step) for step in place), "unknown setting", _near(str(name), known))


def _members(kind: type[Any]) -> tuple[str, ...]:
    return tuple(element.name for element in fields(kind))


_MEMBERS: dict[Any, tuple[str, ...]] = {
    True: _members(_File),
    "table": _members(TableSettings),
    "patterns": _members(pattern_load.Load),
    "entities": _members(StoredItems),
}


def _unknown_names(data: Any, designs: Sequence[CompiledDesign]) -> Iterable[ErrorDetail]:
    """Errors for unknown patterns, entities, fields and regions, and for patterns that are set twice."""
    patterns = {name for design in designs for name in design.patterns}
    ids = {pattern.id: name for design in designs for name, pattern in design.patterns.items()}
    entities = {name: entity for design in designs for name, entity in design.by_name.items()}
    every = [entity for design in designs for entity in design.entities.values()]
    keys = [f"{entity.name}.{key.name}" for entity in every for key in (*entity.keys, *entity.claims)]
    loads, stored = _part(data, "patterns"), _part(data, "entities")
    yield from _unknown("patterns", loads, [*patterns, *ids], "the design has no such pattern")
    seen: dict[str, str] = {}
    for name in loads:
        place, pattern = f"patterns.{name}", ids.get(name, name)
        other = seen.setdefault(pattern, name)
        if other != name:
            yield ErrorDetail(place, f"{name} and {other} set the same pattern", "remove one of the two settings")
        yield from _unknown(f"{place}.hottest", _part(loads, name, "hottest"), keys, "the design has no such key")
        same = [design.patterns[pattern] for design in designs if pattern in design.patterns]
        known = {parameter for each in same for parameter in each.signature.by_name}
        arguments = _part(loads, name, "arguments") if same else ()
        yield from _unknown(f"{place}.arguments", arguments, known, f"{pattern} has no such parameter")
        for member, reason in (("fails", "has no condition"), ("in_transaction", "isn't part of a transaction")):
            if member in _part(loads, name) and any(pattern in design.reads for design in designs):
                yield ErrorDetail(f"{place}.{member}", f"{pattern} is a read, which {reason}", f"remove {member}")
    yield from _unknown("entities", stored, entities, "the design has no such entity")
    for name, entity in entities.items():
        for member in ("fields", "filled"):
            given, place = _part(stored, name, member), f"entities.{name}.{member}"
            yield from _unknown(place, given, entity.fields, f"{name} has no such field")
            for field_name in given if member == "filled" else ():
                why = unshared(entity, field_name) if field_name in entity.fields else None
                if why is not None:
                    yield ErrorDetail(f"{place}.{field_name}", why)
    yield from _unknown_regions(_part(data, "table"))


def _part(value: Any, *names: str) -> Mapping[str, Any]:
    """A part of the file; empty if the part is missing or isn't a table."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _unknown(place: str, names: Iterable[str], known: Iterable[str], message: str) -> Iterable[ErrorDetail]:
    for name in map(str, names):
        if name not in known:
            yield ErrorDetail(f"{place}.{name}", message, _near(name, known))


def _unknown_regions(table: Mapping[str, Any]) -> Iterable[ErrorDetail]:
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
    """Errors for maximums below their averages. Values that aren't numbers are reported separately."""
    for place, usual, most, text in (
        ("patterns", "per_second", "peak_per_second", "the peak, {:g} per second, is below the average, {:g}"),
        ("entities", "per_partition", "per_partition_max", "the maximum, {:g}, is below the average, {:g}"),
    ):
        for name in _part(data, place):
            low, high = map(_part(data, place, name).get, (usual, most))
            if isinstance(low, int | float) and isinstance(high, int | float) and high < low:
                yield ErrorDetail(f"{place}.{name}.{most}", text.format(high, low))


def _near(name: str, names: Iterable[str]) -> str:
    known = sorted(names)
    near = difflib.get_close_matches(name, known)
    if near:
        return f"did you mean {near[0]}?"
    return f"valid: {', '.join(known)}" if len(known) <= 30 else f"the {len(known)} valid names include {known[0]}"
