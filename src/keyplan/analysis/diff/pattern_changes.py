"""Changes of access patterns: the signature, result, order, filter, and the key that supports the pattern."""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.diff.changes import Change, api, safe
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern, uses_of
from keyplan.model.compiled.constants import values_asked
from keyplan.model.compiled.plans import Plan, QueryPlan, ReadPattern, ThroughPlan
from keyplan.model.compiled.signatures import REQUIRED, Signature, type_name
from keyplan.model.compiled.time_bucket_keys import BUCKETS_MAX
from keyplan.model.stored.field_codec import plain

Pattern = ReadPattern | WritePattern


def pattern_changes(old: CompiledDesign, new: CompiledDesign) -> Iterator[Change]:
    """The changes of access patterns. A removed and a new pattern with the same id are reported as renamed."""
    left = {name: element for name, element in old.patterns.items() if name not in new.patterns}
    for name, pattern in new.patterns.items():
        place = f"{new.name}.{name}"
        before = old.patterns.get(name)
        if before is None:
            same = (each for each in left.values() if each.id == pattern.id and type(each) is type(pattern))
            before = next(same, None)
            if before is None:
                yield safe("pattern-added", place, f"a new pattern, {pattern.id}: {pattern.signature}{_by(pattern)}")
                continue
            del left[before.name]
            yield api("pattern-renamed", place, f"renamed from {before.name}", "callers must use the new name")
        yield from _changes(place, before, pattern)
    for name, pattern in left.items():
        what = f"the pattern {pattern.id}, {pattern.signature}, is removed"
        effect = "existing calls fail"
        yield api("pattern-removed", f"{new.name}.{name}", what, effect)


def _changes(place: str, before: Pattern, after: Pattern) -> Iterator[Change]:
    if type(before) is not type(after):
        kinds = {ReadPattern: "a read", WritePattern: "a write"}
        what = f"the pattern was {kinds[type(before)]}, and is now {kinds[type(after)]}"
        yield api("pattern-changed", place, what, "callers must change their calls")
        return
    if before.id != after.id:
        yield safe("pattern-id-changed", place, f"the id was {before.id}, and is now {after.id}")
    yield from _signature(place, before.signature, after.signature)
    if isinstance(before, ReadPattern) and isinstance(after, ReadPattern):
        yield from _served(place, before, after)


def _signature(place: str, before: Signature, after: Signature) -> Iterator[Change]:
    lost = [text for text in before.by_name if text not in after.by_name]
    added = [parameter for parameter in after.parameters if parameter.name not in before.by_name]
    needed = [parameter.name for parameter in added if parameter.required]
    more = [parameter.name for parameter in added if not parameter.required]
    other = [
        f"{name}: {type_name(before.by_name[name].annotation)} → {type_name(parameter.annotation)}"
        for name, parameter in after.by_name.items()
        if name in before.by_name and type_name(before.by_name[name].annotation) != type_name(parameter.annotation)
    ]
    parts = [f"rejects {', '.join(lost)}"] * bool(lost) + [f"requires {', '.join(needed)}"] * bool(needed) + other
    parts += [
        f"requires {name}"
        for name, parameter in after.by_name.items()
        if parameter.required and name in before.by_name and not before.by_name[name].required
    ]
    returned, new_returned = type_name(before.result), type_name(after.result)
    if returned != new_returned:
        parts.append(f"returns {new_returned}, not {returned}")
    if before.is_async is not after.is_async:
        parts.append("must be awaited" if after.is_async else "must no longer be awaited")
    if parts:
        yield api("signature-changed", place, "; ".join(parts), "existing calls fail")
    for name, parameter in after.by_name.items():
        other_default = before.by_name[name].default if name in before.by_name else parameter.default
        optional = not parameter.required and other_default is not REQUIRED
        if optional and repr(plain(other_default)) != repr(plain(parameter.default)):
            what = f"the default of {name} was {other_default!r}, and is now {parameter.default!r}"
            effect = "calls that omit the argument use the new default"
            yield api("default-argument-changed", place, what, effect)
    if more:
        yield safe("parameter-added", place, f"accepts {', '.join(more)}", "existing calls still work")


def _served(place: str, before: ReadPattern, after: ReadPattern) -> Iterator[Change]:
    if uses_of(before) != uses_of(after):
        what = f"the items were read{_by(before)}, and are now read{_by(after)}"
        effect = "existing cursors are rejected"
        yield safe("pattern-moved", place, what, effect)
    order, new_order = _order(before), _order(after)
    if order != new_order and not after.shape.told:
        what = f"the result was in {order}, and is now in {new_order}"
        effect = "callers get the items in a different order; existing cursors are rejected"
        yield api("order-changed", place, what, effect)
    yield from _bucketed(place, before, after)
    for code, described, text, effect in (
        ("filter-changed", _where, "the filter was {}, and is now {}", "callers get different items"),
        ("junction-changed", _ways, "the junction was {}, and is now {}", "callers get different items"),
        ("number-changed", _counted, "the result was {}, and is now {}", "callers get a different number of items"),
    ):
        old, new = described(before), described(after)
        if old != new:
            yield api(code, place, text.format(old, new), effect)
    strong, new_strong = (bool(getattr(pattern.plan, "consistent", False)) for pattern in (before, after))
    if strong and not new_strong:
        effect = "a read might not return the changes of a preceding write"
        yield api("consistency-changed", place, "the read is now eventually consistent", effect)
    elif new_strong and not strong:
        effect = "the read units of the pattern double"
        yield safe("consistency-changed", place, "the read is now strongly consistent", effect)


def _bucketed(place: str, before: ReadPattern, after: ReadPattern) -> Iterator[Change]:
    """The change of the time buckets in which a range is read."""
    old, new = before.buckets, after.buckets
    units = [None if buckets is None else buckets.unit for buckets in (old, new)]
    if units[0] == units[1]:
        return
    if new is None:
        what = f"ranges are no longer read {units[0]} by {units[0]}"
        yield safe("buckets-changed", place, what, "any range is allowed")
        return
    now = f"a range of {new.field} is read {new.unit} by {new.unit}"
    what = now if old is None else f"{now}, and was read {old.unit} by {old.unit}"
    effect = f"a range needs both bounds, and can cover at most {BUCKETS_MAX:,} {new.unit}s"
    yield api("buckets-changed", place, what, effect)


def _order(pattern: ReadPattern) -> str:
    """The order of a result in words: the fields that order the items, and the direction."""
    result: list[str] = []
    for query in _queries(pattern.plan):
        for match in query.matches:
            names = ", ".join(name for name, _ in match.order)
            if names:
                turned = match.order[0][1]
                result.append(f"{'ascending' if query.forward is not turned else 'descending'} order of {names}")
    return " and ".join(dict.fromkeys(result)) or "no order"


def _queries(plan: Plan) -> Iterator[QueryPlan]:
    if isinstance(plan, QueryPlan):
        yield plan
    elif isinstance(plan, ThroughPlan):
        for way in plan.ways:
            yield from _queries(way.end if isinstance(way.end, QueryPlan) else way.junction)


def _ways(pattern: ReadPattern) -> str:
    """The junctions of a read, and the fields that they connect."""
    if not isinstance(pattern.plan, ThroughPlan):
        return "none"
    result: list[str] = []
    for way in pattern.plan.ways:
        junction = way.junction
        matches = junction.matches if isinstance(junction, QueryPlan) else (junction,)
        names = dict.fromkeys(match.entity.name for match in matches)
        fields = ", ".join(f"{end} by {own}" for end, own in sorted(way.fields.items()))
        result.append(f"{' and '.join(names)} ({fields})")
    return " and ".join(result)


def _counted(pattern: ReadPattern) -> str:
    shape = pattern.shape
    if not shape.told:
        return "items"
    names = " and ".join(sorted(entity.__name__ for entity in shape.entities))
    total = pattern.options.total
    return f"the number of {names} items" if total is None else f"the sum of {names}.{total}"


def _where(pattern: ReadPattern) -> str:
    where = pattern.options.where
    if isinstance(where, str):
        return where
    fixed = [
        f"{name} = {' or '.join(repr(plain(element)) for element in values_asked(value))}"
        for name, value in sorted(pattern.constants.items())
    ]
    return " and ".join(fixed) or "none"


def _by(pattern: Pattern) -> str:
    if not isinstance(pattern, ReadPattern):
        return ""
    uses = [f"{use.operation} on {use.index or 'the table'}" for use in uses_of(pattern)]
    return f" by {', '.join(uses)}"
