"""Check that one query reads an item collection, that projections are complete, and that junctions have one order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from keyplan.model.compiled.constants import values_asked
from keyplan.model.compiled.key_matching import all_in
from keyplan.model.compiled.plans import Filter, KeyMatch, QueryPlan, ScanPlan, ThroughPlan
from keyplan.model.compiled.return_types import Shape
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.patterns import Options
from keyplan.model.stored.stored_entity import CompiledEntity, asking_for, seen_by
from keyplan.model.stored.stored_keys import literal_start


def check_union(ways: Sequence[ThroughPlan]) -> None:
    """Reject junctions that don't all return their end items in the order of one key of the end items. If
    the end items of a junction are read by primary key, the junction must have the same sort key.
    """
    ordering = next((way.end for way in ways if isinstance(way.end, QueryPlan)), None)
    if ordering is None or len(ordering.key.sort) != 1 or not all(isinstance(way.junction, QueryPlan) for way in ways):
        raise Problem(
            "with several junctions, at least one must lead to a partition with a single sort key attribute",
            "declare a separate access pattern for each junction",
        )
    template = ordering.key.sort[0][1]
    wanted = str(template)
    for way in ways:
        junction = way.junction
        if isinstance(way.end, QueryPlan):
            if way.end.key is not ordering.key:
                raise Problem(f"the junctions lead to different keys, {ordering.key.name} and {way.end.key.name}")
        elif isinstance(junction, QueryPlan):
            own = "" if junction.index is not None or junction.merged else str(junction.key.sort[0][1])
            same = all(way.fields.get(name, name) == name for name in template.fields)
            if own != wanted or not same:
                raise Problem(
                    f"{junction.key.name} isn't sorted like {ordering.key.name}, which the other junction uses: the "
                    f"sort key of {junction.key.name} in the table must be {wanted}",
                    "declare this sort key, with the same fields",
                )


def check_reach(shape: Shape, plan: QueryPlan) -> None:
    """Reject a collection of single items if a query would read all items of one entity to reach another entity."""
    if any(member.many for member in shape.members):
        return
    ordered = sorted(plan.matches, key=_start, reverse=not plan.forward)
    for match, following in pairwise(ordered):
        if not match.full:
            names = " and ".join(name for name, _ in match.order)
            raise Problem(
                f"one query can't reach the {following.entity.name} without reading every {match.entity.name} first",
                f"reverse {names} in the key (:desc), and read in the opposite direction",
            )


def lacking_in_index(match: KeyMatch) -> list[str]:
    index = match.key.index
    if index is None or index.projection == "ALL":
        return []
    entity = match.entity
    held = set(index.projection) if isinstance(index.projection, tuple) else set[str]()
    keys = [attribute for key in (entity.primary, match.key) for attribute in key.attributes]
    held |= {attribute.name for attribute, _ in keys}
    in_keys = {name for _, template in keys if template.exact for name in template.fields}
    asked = None if entity.asked is None else set(entity.asked)
    lacking = [
        field.name
        for field in entity.fields.values()
        if not field.computed
        and (asked is None or field.attribute in asked)
        and field.attribute not in held
        and field.name not in in_keys
    ]
    if entity.shares_keys:
        lacking += [label for label in entity.labels if label not in held]
    return lacking


def check_projected(matches: Sequence[KeyMatch], condition: Filter | None) -> None:
    """Reject an index whose projection and keys don't contain all returned and filtered fields. Raises Problem."""
    for match in matches:
        lacking = lacking_in_index(match)
        index = match.key.index
        if index is not None and lacking:
            raise Problem(
                f"{index.name} doesn't project {', '.join(lacking)}, which {match.entity.gives.__name__} contains",
                'add the fields to projection=, set projection="ALL", return a View without the fields, or set '
                "complete=True to read missing fields from the table with BatchGetItem",
            )
    check_filtered(matches, condition)


def check_sifted(matches: Sequence[KeyMatch]) -> None:
    """Reject an index without the time field, by which items of the outer time buckets are filtered. Raises Problem."""
    for match in matches:
        if match.sifts and lacking_in_index(match):
            raise Problem(
                f"{match.key.place} doesn't project {', '.join(lacking_in_index(match))}, which a range uses",
                "add the field to projection=, or start the sort key with the field",
            )


def check_filtered(matches: Sequence[KeyMatch], condition: Filter | None) -> None:
    """Reject a filter on attributes that the index doesn't contain. Raises Problem."""
    index = matches[0].key.index
    held = attributes_held(matches)
    if condition is None or index is None or held is None:
        return
    firsts = re.findall(r"(?<!\.)#\w+", condition.text)  # names after a dot are in nested maps
    lacking = [name for value in dict.fromkeys(firsts) if (name := condition.names[value]) not in held]
    if lacking:
        raise Problem(f"{index.name} doesn't project {', '.join(lacking)}, which where= uses", "extend projection=")


def attributes_held(matches: Sequence[KeyMatch]) -> frozenset[str] | None:
    """The attributes that the index contains; None: all."""
    index = matches[0].key.index if matches else None
    if index is None or index.projection == "ALL":
        return None
    keys = (
        attribute for match in matches for attribute, _ in (*match.entity.primary.attributes, *match.key.attributes)
    )
    named = index.projection if isinstance(index.projection, tuple) else ()
    return frozenset({*named, *(attribute.name for attribute in keys)})


def _start(match: KeyMatch) -> str:
    if not match.key.sort:
        return ""
    return literal_start(match.key.sort[0][1])


def standing_in(wanted: Index, entities: Iterable[CompiledEntity], *, consistent: bool) -> list[KeyMatch]:
    matches: list[KeyMatch] = []
    for entity in entities:
        keys = [key for key in entity.index_keys if key.index is not None and key.index.same_keys(wanted)]
        if not keys:
            raise Problem(f"{entity.name} has no key on {wanted.name}", "use an index that contains the entity")
        matches.extend(KeyMatch(entity, key, (), (), frozenset(), (), full=False) for key in keys)
    if consistent and not wanted.local:
        raise Problem("global indexes don't support strongly consistent reads", "omit consistent=True")
    return matches


def without_implied(constants: Mapping[str, Any], matches: Sequence[KeyMatch]) -> dict[str, Any]:
    """The constants that need a filter: those that ``when=`` of some key doesn't imply."""
    return {
        name: value
        for name, value in constants.items()
        if not all(name in match.key.when and all_in(match.key.when[name], values_asked(value)) for match in matches)
    }


def all_of_index(
    matches: Sequence[KeyMatch], entities: tuple[CompiledEntity, ...], options: Options, condition: Filter | None
) -> ScanPlan:
    """The plan that scans the index. Raises Problem if the index lacks required fields."""
    plan = ScanPlan(entities, options.consistent, condition, index=matches[0].key.index, segments=options.segments)
    if not options.complete:
        check_projected(matches, condition)
        return plan
    _check_lacking(matches, condition)
    keys_only = tuple(seen_by(entity, ()) for entity in entities)
    return replace(plan, entities=keys_only, completed=entities, operation="Scan, BatchGetItem")


def completed(plan: QueryPlan, fields_of: Callable[[CompiledEntity], list[str]]) -> QueryPlan:
    _check_lacking(plan.matches, plan.filter)
    keys_only = tuple(replace(match, entity=seen_by(match.entity, fields_of(match.entity))) for match in plan.matches)
    whole = tuple(match.entity for match in plan.matches)
    return replace(plan, matches=keys_only, completed=whole, operation="Query, BatchGetItem")


def asking_for_time(match: KeyMatch) -> KeyMatch:
    """The match, which also projects the time field if items must be compared with the range of the time buckets."""
    if match.buckets is None or not match.sifts:
        return match
    return replace(match, entity=asking_for(match.entity, match.buckets.field))


def _check_lacking(matches: Sequence[KeyMatch], condition: Filter | None) -> None:
    if not any(lacking_in_index(match) for match in matches):
        raise Problem(f"complete= has no effect: {matches[0].key.place} contains all attributes", "omit complete=True")
    check_filtered(matches, condition)
