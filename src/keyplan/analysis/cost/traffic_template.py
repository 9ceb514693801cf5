"""A template for traffic files: all settings that affect the cost of a design, with units and assumed values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from keyplan.analysis.cost.estimate import PatternEstimate, estimate
from keyplan.analysis.cost.read_facts import BUCKETS_ASSUMED, Facts
from keyplan.analysis.traffic.traffic_file import traffic_of, unshared
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.item_sizes import FieldSize, ItemSizes
from keyplan.model.compiled.plans import BatchGetPlan, QueryPlan, ReadPattern, ScanPlan, ThroughPlan
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.example_values import CHOICE
from keyplan.model.declared.fields import kind_of
from keyplan.model.declared.pattern_load import Load
from keyplan.model.stored.stored_entity import CompiledEntity

_NOTE_COLUMN = 44
"""The column at which notes start if the setting is shorter."""
_TEXT_MAX = 100


class _Line(NamedTuple):
    """One commented-out setting of the file: the name, a value, and a note."""

    name: str
    value: str
    note: str

    def __str__(self) -> str:
        return f"{f'# {self.name} = {self.value}':<{_NOTE_COLUMN}}  # {self.note}"


_TABLE = (
    _Line("region", '"us-east-1"', "region of the prices; default: us-east-1"),
    _Line("table_class", '"standard"', 'or "standard-infrequent-access"'),
    _Line("billing", '"on-demand"', 'or "provisioned"'),
    _Line("point_in_time_recovery", "false", "continuous backups"),
    _Line("deletion_protection", "false", "used by keyplan check; doesn't affect the cost"),
    _Line("stream", '"NEW_AND_OLD_IMAGES"', 'or "NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY"; default: no stream'),
    _Line("stream_readers", "0", "number of stream readers that aren't Lambda functions"),
    _Line("replicas", "[]", 'other regions of a global table, such as ["eu-west-1"]'),
    _Line("strong_across_regions", "false", "whether a global table is strongly consistent across regions"),
    _Line("max_read_units", "5000", "maximum on-demand read units per second; default: none"),
    _Line("max_write_units", "1000", "maximum on-demand write units per second; default: none"),
)


def skeleton(cls: type[Any]) -> str:
    """A template for the traffic file of a design class, in TOML. All settings are commented out."""
    return "\n".join(_lines(cls)) + "\n"


def _lines(cls: type[Any]) -> Iterator[str]:
    design: CompiledDesign = cls.compiled
    result = estimate(cls)
    typical = Typical(design)
    facts = Facts(typical, traffic_of(design))
    yield f"# Traffic of {design.name}, for keyplan cost and keyplan check: --traffic FILE."
    yield "# Uncomment the settings that you know. For the other settings, Keyplan assumes a value or skips a check."
    yield ""
    yield "[table]"
    yield from map(str, _TABLE)
    for estimated in result.patterns:
        pattern = design.patterns[estimated.name]
        yield ""
        yield f"# {estimated.id}: {_shown(estimated.signature)}"
        yield f"[patterns.{_key(estimated.name)}]"
        yield from map(str, _pattern(estimated, pattern, facts))
    sizes = {each.sizes.entity: each.sizes for each in result.entities}
    for entity in design.entities.values():
        yield ""
        yield f"# {_shown(_sizes_of(entity, sizes.get(entity.name)))}"
        yield f"[entities.{_key(entity.name)}]"
        yield from map(str, _entity(entity, sizes.get(entity.name)))


# Patterns


def _pattern(estimated: PatternEstimate, pattern: object, facts: Facts) -> Iterator[_Line]:
    load = estimated.load
    yield _Line("per_second", _number(load.per_second, "1.0"), f"calls per second on average{_by(load.per_second)}")
    yield _Line(
        "peak_per_second",
        _number(load.peak_per_second, _number(load.per_second, "1.0")),
        f"calls in the busiest second{_by(load.peak_per_second)}",
    )
    if isinstance(pattern, ReadPattern):
        yield from _read(load, pattern, facts)
    else:
        yield from _write(load, estimated)
    if not isinstance(load.hottest, dict):
        hottest = load.hottest
        yield _Line("hottest", _number(hottest, "0.01"), f"share of the calls that use the busiest key{_by(hottest)}")


def _read(load: Load, pattern: ReadPattern, facts: Facts) -> Iterator[_Line]:
    if isinstance(pattern.plan, QueryPlan | ScanPlan | ThroughPlan | BatchGetPlan):
        try:
            assumed = facts.assumed_items(pattern)
        except Problem:
            assumed = None
        note = "items that match the key condition, before limit and filter"
        if load.items is not None:
            yield _Line("items", _number(load.items), note + _by(load.items))
        elif assumed is not None:
            yield _Line("items", _number(assumed), f"{note}; assumed")
        else:
            yield _Line("items", "10", f"{note}; default: 1, or per_partition of each entity in a collection")
    yield _Line("item_bytes", _number(load.item_bytes, "1000"), "bytes per item; default: the size of a typical item")
    buckets = pattern.buckets
    if buckets is not None:
        note = f"arguments of a typical call; default: {BUCKETS_ASSUMED} {buckets.unit}s"
        bounds = '{ ge = "2026-11-01T00:00:00Z", lt = "2026-12-01T00:00:00Z" }'
        if buckets.days:
            bounds = bounds.replace("T00:00:00Z", "")
        yield _Line("arguments", f"{{ {buckets.field} = {bounds} }}", note)
    if _filters(pattern):
        yield _Line("kept", _number(load.kept, "1.0"), f"share of items matching the filter{_by(load.kept, 'assumed')}")


def _filters(pattern: ReadPattern) -> bool:
    plan = pattern.plan.junction if isinstance(pattern.plan, ThroughPlan) else pattern.plan
    if isinstance(plan, QueryPlan) and any(match.sifts for match in plan.matches):
        return True
    return isinstance(plan, QueryPlan | ScanPlan) and plan.filter is not None


def _write(load: Load, estimated: PatternEstimate) -> Iterator[_Line]:
    written = [request for request in estimated.requests if request.units("write")]
    if written or load.items is not None:
        yield _Line("items", _number(load.items, "10"), "items per call; default: the number in a dry run")
        yield _Line("item_bytes", _number(load.item_bytes, "1000"), "bytes per item; default: size of a typical item")
    yield _Line("in_transaction", "true", "whether calls are part of a transaction with other writes; default: false")
    yield _Line("fails", _number(load.fails, "0.1"), "share of the calls that fail a condition; default: 0")
    yield _Line("arguments", "{}", "values by parameter for a typical call; default: typical values")


# Entities


def _entity(entity: CompiledEntity, sizes: ItemSizes | None) -> Iterator[_Line]:
    yield _Line("count", "1000", "items stored")
    yield _Line("kept_days", "30.0", "days that an item is stored; without count, determines the number of items")
    yield _Line("item_bytes", str(sizes.item_bytes) if sizes else "1000", "bytes per item; default: sum of fields")
    yield _Line("per_partition", "10", "items in an average item collection")
    yield _Line("per_partition_max", "1000", "items in the largest item collection")
    shared = [name for name in entity.cls.model_fields if unshared(entity, name) is None]
    if shared:
        pairs = ", ".join(f"{name} = 0.5" for name in shared)
        yield _Line("filled", f"{{ {pairs} }}", "share of items in which the field is set, or has a value in when=")
    open_fields = list(_open_fields(entity, sizes.fields if sizes else ()))
    if open_fields:
        pairs = ", ".join(f"{name} = {size}" for name, size, _ in open_fields)
        sources = ", ".join(dict.fromkeys(source for _, _, source in open_fields))
        yield _Line("fields", f"{{ {pairs} }}", f"bytes per value of each field; source of the sizes: {sources}")


def _open_fields(entity: CompiledEntity, sizes: Iterable[FieldSize]) -> Iterator[tuple[str, int, str]]:
    """The strings and bytes whose type doesn't determine their length."""
    named = {name for key in (*entity.keys, *entity.claims) for name in key.fields}
    for size in sizes:
        open_ = kind_of(entity.fields[size.field].annotation) in {str, bytes} and size.source != CHOICE
        if open_ and not size.exact and size.field not in named:
            yield size.field, size.size_bytes - len(size.attribute.encode()), size.source


def _sizes_of(entity: CompiledEntity, sizes: ItemSizes | None) -> str:
    if sizes is None:
        return f"{entity.name}: no typical item can be generated"
    entries = "".join(f", {size:,} B in {index}" for index, size in sizes.entries.items())
    return f"{entity.name}: a typical item has {sizes.item_bytes:,} B{entries}"


# Formatting of values, notes and keys


def _number(value: float | None, otherwise: str = "0") -> str:
    if value is None:
        return otherwise
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _by(value: object, otherwise: str = "") -> str:
    if value is not None:
        return "; from the decorator"
    return f"; {otherwise}" if otherwise else ""


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TEXT_MAX else f"{line[: _TEXT_MAX - 3]}..."


def _key(name: str) -> str:
    """A name as a TOML key: ASCII names are bare keys."""
    return name if name.isascii() else f'"{name}"'
