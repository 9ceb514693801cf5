"""Match one key of one entity with a pattern's known fields. The result is a match, or the reason for a miss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from keyplan.model.compiled.constants import domain_of
from keyplan.model.compiled.plans import GetPlan, KeyMatch, Known, QueryPlan, SortPart
from keyplan.model.compiled.signatures import ParameterKind
from keyplan.model.compiled.time_bucket_keys import Buckets, buckets_of
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.indexes import KeyAttribute
from keyplan.model.declared.parameters import Range
from keyplan.model.stored.key_templates import Literal_, Template, Variable
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey, literal_start


class AmbiguousKey(Problem):
    """Several keys with different orders match an access pattern that doesn't specify a key or an order."""


@dataclass(frozen=True, slots=True)
class Miss:
    """The reason why a key doesn't match, and its distance (the number of changes needed)."""

    key: CompiledKey
    reason: str
    distance: int


def match_key(
    entity: CompiledEntity,
    key: CompiledKey,
    knowns: Mapping[str, Known],
    needed: frozenset[str],
    fixed: Mapping[str, tuple[Any, ...]] | None = None,
) -> KeyMatch | Miss:
    result = _partition(key, knowns)
    if isinstance(result, Miss):
        return replace(result, distance=result.distance + len(needed - key.fields))
    used, each, buckets = result
    sort: list[SortPart] = []
    order: list[tuple[str, bool]] = []
    for attribute, template in key.sort:
        if order:
            order.extend((variable.field, variable.format.descending) for variable in template.variables)
            continue
        part, part_used, part_order = _sort_part(attribute, template, knowns)
        used |= part_used
        order.extend(part_order)
        if part.known or part.condition is not None:
            sort.append(part)
    implied = _implied(entity, key, knowns, fixed or {})
    if isinstance(implied, Miss):
        return implied
    bucketed = set[str]() if buckets is None else {buckets.field}
    in_part = (_in_part(key, sort) & used) - bucketed
    if in_part:
        name = min(in_part)
        return Miss(key, f"the key has only part of {name}: use a computed field for that part as the parameter", 1)
    decided, admitted = implied
    used |= decided
    narrowed = (admitted & needed) - used
    unused = sorted(needed - used - narrowed)
    unsorted = [name for name in unused if _stands_unsorted(key, name, knowns)]
    if unsorted:
        why = f"the key contains {', '.join(unsorted)} in a truncated or unsortable form, so it doesn't support ranges"
        return Miss(key, why, len(unused) + 1)
    blank = [name for name in unused if name in key.fields and name in knowns and knowns[name].optional]
    if blank:
        return Miss(key, f"{', '.join(blank)} can be None, which keys can't contain", len(unused) + 1)
    if unused:
        return Miss(key, f"the key doesn't contain {', '.join(unused)} after the other parameters", len(unused) + 1)
    leads = buckets is not None and [name for name, _ in order[:1]] != [buckets.field]
    if buckets is not None and leads:
        order.insert(0, (buckets.field, bool(order and order[0][1])))
    return KeyMatch(
        entity,
        key,
        tuple(sort),
        tuple(order),
        frozenset(used),
        each,
        full=not order,
        narrowed=narrowed,
        buckets=buckets,
        leads=leads,
    )


def _stands_unsorted(key: CompiledKey, name: str, knowns: Mapping[str, Known]) -> bool:
    """Whether a range is on a field that the sort key contains in unsortable or truncated form."""
    known = knowns.get(name)
    asked = known is not None and known.kind is ParameterKind.RANGE
    return asked and any(
        variable.field == name and not (variable.sorts and variable.format.exact)
        for _, template in key.sort
        for variable in template.variables
    )


def _in_part(key: CompiledKey, sort: Sequence[SortPart]) -> set[str]:
    """The fields whose values the key doesn't distinguish completely, because it contains only a part."""
    asked = [variable for _, template in key.partition for variable in template.variables]
    for part in sort:
        asked.extend(element for element in part.known if isinstance(element, Variable))
    whole = {variable.field for variable in asked if variable.format.exact}
    return {variable.field for variable in asked} - whole


def _partition(
    key: CompiledKey, knowns: Mapping[str, Known]
) -> tuple[set[str], tuple[str, ...], Buckets | None] | Miss:
    """The fields that a partition key uses, those with several values, and the time buckets of a range."""
    names = list(dict.fromkeys(name for _, template in key.partition for name in template.fields))
    each: list[str] = []
    missing: list[str] = []
    buckets: Buckets | None = None
    for name in names:
        known = knowns.get(name)
        if known is None:
            missing.append(name)
        elif known.kind is ParameterKind.EACH:
            each.append(name)
        elif known.kind is ParameterKind.RANGE:
            ranged = _ranged(key, known, buckets)
            if isinstance(ranged, Miss):
                return ranged
            buckets = ranged
        elif known.kind is not ParameterKind.VALUE:
            return Miss(key, f"{name} is in the partition key, where a {known.kind.value} isn't supported", 2)
        elif known.optional:
            return Miss(key, f"{name} is in the partition key, so it can't be None", 1)
    if missing:
        return Miss(key, f"the partition key requires {', '.join(missing)}", len(missing))
    return set(names), tuple(each), buckets


def _ranged(key: CompiledKey, known: Known, other: Buckets | None) -> Buckets | Miss:
    if other is not None:
        return Miss(key, f"the partition key has {other.field} and {known.field}, but supports only one range", 2)
    if known.optional and not isinstance(known.default, Range):
        return Miss(key, f"{known.field} is in the partition key, so its range is required", 1)
    result = buckets_of(key, known.field, known.default if isinstance(known.default, Range) else None)
    return Miss(key, result, 2) if isinstance(result, str) else result


def _sort_part(
    attribute: KeyAttribute, template: Template, knowns: Mapping[str, Known]
) -> tuple[SortPart, set[str], list[tuple[str, bool]]]:
    known: list[Literal_ | Variable] = []
    used: set[str] = set()
    for position, part in enumerate(template.parts):
        if isinstance(part, Literal_):
            known.append(part)
            continue
        fact = knowns.get(part.field)
        if fact is not None and fact.kind is ParameterKind.VALUE and not fact.optional:
            known.append(part)
            used.add(part.field)
            continue
        condition = part if fact is not None and _takes(part, fact) else None
        if condition is not None:
            used.add(part.field)
        rest = [element for element in template.parts[position:] if isinstance(element, Variable)]
        order = [(variable.field, variable.format.descending) for variable in rest]
        kind = fact.kind if fact is not None and condition is not None else None
        return SortPart(attribute, template, tuple(known), condition, kind, complete=False), used, order
    return SortPart(attribute, template, tuple(known), None, None, complete=True), used, []


def _takes(variable: Variable, known: Known) -> bool:
    if known.kind is ParameterKind.PREFIX:
        return variable.format.raw
    return known.kind is ParameterKind.RANGE and variable.format.exact and variable.sorts


def _implied(
    entity: CompiledEntity, key: CompiledKey, knowns: Mapping[str, Known], fixed: Mapping[str, tuple[Any, ...]]
) -> tuple[frozenset[str], frozenset[str]] | Miss:
    """The ``when=`` fields that the condition answers, and those that it matches with additional values, which need a
    filter. A sparse key contains only some items, so all values that the pattern allows must be in its condition.
    """
    decided: set[str] = set()
    admitted: set[str] = set()
    for name, allowed in key.when.items():
        domain = domain_of(entity.fields[name].annotation)
        if domain is not None and all_in(domain, allowed):
            admitted.add(name)
            continue  # ``when=`` allows every value of the field
        known = knowns.get(name)
        asked = known.values if known is not None else fixed.get(name)
        if asked is None or not all_in(asked, allowed):
            shown = " or ".join(map(repr, allowed))
            return Miss(key, f"the key contains only items with {name} = {shown}; the pattern reads other items too", 1)
        # A call can pass fewer values than the parameter's type allows, and an Each can be empty
        always = known is not None and (
            known.source == "constant"
            or (len(asked) == 1 and (known.kind is not ParameterKind.EACH or known.source == "constant"))
        )
        (decided if always and all_in(allowed, asked) else admitted).add(name)
    return frozenset(decided), frozenset(admitted)


def without_buckets(match: KeyMatch | Miss, by_junction: bool, collection: bool) -> KeyMatch | Miss:
    """The match, or a Miss if time buckets would be read through a junction or for an item collection."""
    if isinstance(match, Miss) or match.buckets is None or not (by_junction or collection):
        return match
    buckets, what = match.buckets, "a collection" if collection else "a junction"
    return Miss(match.key, f"{what} doesn't support a key with time buckets ({buckets.field} by {buckets.unit})", 2)


def all_in(some: Sequence[Any], others: Sequence[Any]) -> bool:
    return all(value in others for value in some)


def nothing_serves(asked: str, misses: Sequence[Miss]) -> Problem:
    if not misses:
        return Problem("no key matches the parameters", "declare a Key whose partition key consists of the parameters")
    nearest = min(misses, key=lambda miss: miss.distance)
    others = [miss for miss in misses if miss is not nearest]
    more = "".join(f"; {miss.key.name}: {miss.reason}" for miss in others[:4])
    return Problem(
        f"no key supports this access pattern ({asked}) without a scan; "
        f"the closest is {nearest.key}: {nearest.reason}{more}",
        "change the parameters, add a Key with them as its partition key on an index, or set scan=True and where=",
    )


def same_place(entity: CompiledEntity, key: CompiledKey) -> CompiledKey | None:
    for own in entity.keys:
        same_index = (own.index.name if own.index else None) == (key.index.name if key.index else None)
        if (
            same_index
            and own.shards == key.shards
            and [str(template) for _, template in own.partition] == [str(template) for _, template in key.partition]
        ):
            return own
    return None


def fields_of(plan: GetPlan | QueryPlan) -> frozenset[str]:
    if isinstance(plan, GetPlan):
        return frozenset(plan.entity.key_fields)
    return plan.matches[0].used


Candidate: TypeAlias = tuple[CompiledKey, tuple[KeyMatch, ...]]
"""A suitable key, with its match for each entity of the result."""


def choose(candidates: Sequence[Candidate], order_by: str | None, constants: Mapping[str, Any]) -> Candidate:
    wanted = None if order_by is None else order_by.lstrip("-")
    if wanted is not None:
        fitting = [element for element in candidates if ordered_by(element[1], wanted)]
        if not fitting:
            orders = ", ".join(f"{key.name} sorts by {_order(matches)}" for key, matches in candidates)
            raise Problem(f"no matching key sorts by {wanted}: {orders}")
        candidates = fitting
    # Prefer a key without time buckets, because it reads fewer partitions
    candidates = [element for element in candidates if element[1][0].buckets is None] or candidates
    best, *others = sorted(candidates, key=lambda element: rank(element, constants))
    rivals = [element for element in others if not _same_order(best[1], element[1])]
    if rivals and wanted is None:
        choices = [best, *rivals]
        names = ", ".join(f"{key.name} (ordered by {_order(matches)})" for key, matches in choices)
        firsts = dict.fromkeys(match.order[0][0] for _, matches in choices for match in matches if match.order)
        ways = " or ".join(f'order_by="{name}"' for name in firsts)
        raise AmbiguousKey(
            f"several keys match, but their orders differ: {names}",
            f'choose a key with {ways} ("-{next(iter(firsts))}" for the descending order)',
        )
    return best


def rank(candidate: Candidate, constants: Mapping[str, Any]) -> tuple[bool, int, int, int, int]:
    """The rank of a key: first by completeness, then by filtered fields, time buckets, kind of index and shards."""
    key, matches = candidate
    lacks = any(next(lacking_while_none(match), None) is not None for match in matches)
    filtered = sum(any(name not in match.used for match in matches) for name in constants)
    narrowed = len({name for match in matches for name in match.narrowed})
    place = 0 if key.index is None else 1 if key.index.local else 2
    return (lacks, filtered + narrowed, int(matches[0].buckets is not None), place, key.shards)


def lacking_while_none(match: KeyMatch) -> Iterator[str]:
    """The optional key fields that the pattern doesn't specify, and without which an item isn't in the index."""
    fields = (name for _, template in match.key.attributes for name in template.fields)
    yield from (name for name in fields if match.entity.fields[name].optional and name not in match.used)


def ordered_by(matches: tuple[KeyMatch, ...], wanted: str) -> bool:
    firsts = [match.order[0][0] for match in matches if match.order]
    return bool(firsts) and all(text == wanted for text in firsts) and unsorted(matches) is None


def unsorted(matches: tuple[KeyMatch, ...]) -> str | None:
    """The first field of the result's order if its strings in the key don't sort like its values; otherwise None."""
    firsts = (variable for match in matches for variable in _opened(match)[:1])
    return next((variable.field for variable in firsts if not getattr(variable.format, "sorts", True)), None)


def _same_order(element: tuple[KeyMatch, ...], other: tuple[KeyMatch, ...]) -> bool:
    """Whether two keys have the same order, or one orders what the other leaves open."""
    return _entities_in_order(element) == _entities_in_order(other) and all(
        left == right
        for mine, theirs in zip(element, other, strict=True)
        for left, right in zip(_ordering(mine), _ordering(theirs), strict=False)
    )


def _entities_in_order(matches: tuple[KeyMatch, ...]) -> list[str]:
    starts = {match.entity.name: literal_start(match.key.sort[0][1]) if match.key.sort else "" for match in matches}
    return sorted(starts, key=lambda name: (starts[name], name))


def _ordering(match: KeyMatch) -> list[tuple[str, bool, bool]]:
    opened = _opened(match)
    time = [] if not match.leads or match.buckets is None else [(match.buckets.field, False, False)]
    return time + [
        (variable.field, variable.format.descending is not opened[0].format.descending, variable.format.whole)
        for variable in opened
    ]


def _opened(match: KeyMatch) -> list[Variable]:
    variables = [variable for _, template in match.key.sort for variable in template.variables]
    return variables[len(variables) - len(match.order) + int(match.leads) :]


def _order(matches: tuple[KeyMatch, ...]) -> str:
    return ", ".join(name for match in matches for name, _ in match.order) or "nothing"
