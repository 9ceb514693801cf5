"""Plans and requests in words: the key condition with names and values, the order, and why no scan is needed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from keyplan.client.conversations import Request
from keyplan.model.compiled import plans
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.compiled.time_bucket_keys import BUCKETS_MAX, Buckets
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey


def indexes(plan: plans.Plan) -> Iterator[str]:
    for element in plans.plans_in(plan):
        if isinstance(element, plans.QueryPlan | plans.ScanPlan) and element.index is not None:
            yield element.index.name


def consistent(plan: plans.Plan) -> bool:
    return all(element.consistent for element in plans.plans_in(plan))


def key_names(plan: plans.Plan) -> list[str]:
    """The keys that the plan uses, by entity and name, in the order of the requests."""
    match plan:
        case plans.GetPlan() | plans.BatchGetPlan():
            return [f"{plan.entity.name}.{plan.entity.primary.name}"]
        case plans.ClaimPlan():
            return [f"{plan.entity.name}.{plan.claim.name}", f"{plan.entity.name}.{plan.entity.primary.name}"]
        case plans.QueryPlan():
            return [", ".join(f"{match.entity.name}.{match.key.name}" for match in plan.matches)]
        case plans.ThroughPlan():
            return [name for way in plan.ways for name in (*key_names(way.junction), *key_names(way.end))]
        case plans.ScanPlan(index=None):
            return ["none"]
        case plans.ScanPlan():
            result = ((entity, key) for entity in plan.entities for key in plan.keys if key in entity.index_keys)
            return [", ".join(f"{entity.name}.{key.name}" for entity, key in result)]


def direction(plan: plans.Plan, *, either: bool = False) -> str | None:
    """The order of the result; None if it has none. ``either``: the direction depends on the call."""
    if isinstance(plan, plans.ThroughPlan):
        merged = [way.end for way in plan.ways if isinstance(way.end, plans.QueryPlan)]
        return direction(merged[0] if merged else plan.junction, either=either)
    if not isinstance(plan, plans.QueryPlan):
        return None
    names = list(dict.fromkeys(name for match in plan.matches for name, _ in match.order))
    turned = any(element for match in plan.matches for _, element in match.order)
    way = "ascending" if plan.forward is not turned else "descending"
    if not names:
        return None
    other = ", or reversed, depending on newest_first" if either and plan.turns else ""
    return f"{way} by {', '.join(names)}{other}"


# The key condition in words: the expression of the request, with placeholders replaced by names and values


CONDITIONS_MAX = 3
_EACH = re.compile(r"\{(\w+)\.[12](:[^}]*)?\}")


def conditions(requests: Iterable[Request], plan: plans.Plan) -> str:
    """The key conditions of the requests, in order and without duplicates."""
    if isinstance(plan, plans.ScanPlan):
        return f"none: every {'item of the table' if plan.index is None else f'entry of {plan.index.name}'} is read"
    texts = dict.fromkeys(key_condition(request) for request in requests)
    shards = max(each.shards if isinstance(each, plans.QueryPlan) else 1 for each in plans.plans_in(plan))
    if shards > 1 or any(_EACH.search(text) for text in texts):
        texts = dict.fromkeys(_every(text, shards) for text in texts)
    shown = list(texts)
    if len(shown) <= CONDITIONS_MAX + 1:  # show a fourth condition rather than "and 1 more"
        return " → ".join(shown)
    more = f" → and {len(shown) - CONDITIONS_MAX} more"
    return " → ".join(shown[:CONDITIONS_MAX]) + more


def _every(text: str, shards: int) -> str:
    """The condition for every value of an Each parameter, and every shard."""
    text = _EACH.sub(r"{each \1}", text)
    if shards > 1:
        digits = len(str(shards - 1))
        text = re.sub(rf"#\d{{{digits}}}(?=,|$)", f"#{0:0{digits}d}…#{shards - 1}", text, count=1)
    return text


def key_condition(request: Request) -> str:
    parameters = request.parameters
    if "Key" in parameters:
        return _key_text(parameters["Key"])
    if "RequestItems" in parameters:
        keys = next(item["Keys"] for item in parameters["RequestItems"].values())
        first = _key_text(keys[0])
        if len(keys) == 1 or _EACH.search(first):
            return first
        return f"{first}, and {len(keys) - 1} {'key' if len(keys) == 2 else 'keys'} more"
    clauses = _filled(parameters.get("KeyConditionExpression", ""), parameters)
    return re.sub(r" AND (?=\S+ [=<>]|begins_with|\S+ BETWEEN)", ", ", clauses)


def _key_text(key: Mapping[str, Mapping[str, Any]]) -> str:
    return ", ".join(f"{name} = {next(iter(value.values()))}" for name, value in key.items())


def _filled(expression: str, parameters: Mapping[str, Any]) -> str:
    """An expression with its placeholders replaced; a value after an operator other than ``=`` is in quotes."""
    names = parameters.get("ExpressionAttributeNames", {})
    values = parameters.get("ExpressionAttributeValues", {})

    def part(match: re.Match[str]) -> str:
        token = match.group()
        if token in names:
            return str(names[token])
        if token not in values:
            return token
        ((tag, value),) = values[token].items()
        bare = tag != "S" or expression[: match.start()].endswith(" = ")
        return str(value) if bare else json.dumps(value, ensure_ascii=False)

    return re.sub(r"[#:]\w+", part, expression)


def filter_text(requests: Iterable[Request]) -> list[str]:
    result = [request.parameters for request in requests if "FilterExpression" in request.parameters]
    return list(dict.fromkeys(_filled(element["FilterExpression"], element) for element in result))[:1]


# The proof as a sentence


def proof(plan: plans.Plan, pattern: plans.ReadPattern) -> str:
    match plan:
        case plans.GetPlan():
            fields = listed(plan.entity.key_fields)
            return f"{_fill(fields)} the whole primary key of {plan.entity.name}: one GetItem reads the item"
        case plans.ClaimPlan():
            fields = listed(dict.fromkeys(name for _, template in plan.claim.partition for name in template.fields))
            return (
                f"{_fill(fields)} the key of a claim: one GetItem reads the claim, and another reads the item by the "
                "primary key in the claim"
            )
        case plans.BatchGetPlan():
            return (
                f"Each value of {listed(plan.each)} completes a primary key of {plan.entity.name}: BatchGetItem "
                "reads the items by key, up to 100 per request"
            )
        case plans.QueryPlan():
            return _query_proof(plan, pattern)
        case plans.ThroughPlan():
            return "; and also: ".join(_through_proof(way, pattern) for way in plan.ways)
        case plans.ScanPlan():
            return _scan_proof(plan)


def _query_proof(plan: plans.QueryPlan, pattern: plans.ReadPattern) -> str:
    key = plan.key
    names = dict.fromkeys(name for _, template in key.partition for name in template.fields)
    fields = [f"{name} = {pattern.constants[name]!r}" if name in pattern.constants else name for name in names]
    where = f"the partition key of {key.place}" if key.index else "the table's partition key"
    lead = f"{_fill(listed(fields))} {where}" if fields else f"{where[0].upper()}{where[1:]} is fixed"
    if plan.buckets is not None:
        text = f"{lead}, so {_bucketed(plan, plan.buckets)}"
    elif plan.each:
        text = f"{lead}, so the partition of each {listed(plan.each)} is queried, and the results are merged in order"
    elif plan.shards > 1:
        text = f"{lead}, so its {plan.shards} shards are queried in parallel, and the results are merged in order"
    elif plan.apart:
        text = f"{lead}, so one partition is queried"
    else:
        text = f"{lead}, so one Query reads one partition"
    bounds = list(dict.fromkeys(part.attribute.name for match in plan.matches for part in match.sort))
    if bounds:
        text += f"; {listed(bounds)} {'limits' if len(bounds) == 1 else 'limit'} the range"
    if plan.apart:
        apart = [listed(match.entity.name for match in part.matches) for part in plan.apart]
        text += f"; {', then '.join(apart)} are read by separate queries, because other items can be between them"
    elif len(plan.matches) > 1:
        text += f"; {listed(match.entity.name for match in plan.matches)} are in the same partition"
    names = dict.fromkeys(f"{match.entity.name}.{name}" for match in plan.matches for name in match.omits_without)
    omitted = f"; items in which {listed(names)} is None are not in {key.place}, and are omitted" if names else ""
    text += _afterwards(plan, key.place, omitted)
    if pattern.shape.kind is ShapeKind.COUNT:
        total = pattern.options.total
        how = "the items are counted by their keys" if total is None else f"the values of {total} are added up"
        text += f"; {how}, page by page to the end, and every read item is charged"
    return text


def _bucketed(plan: plans.QueryPlan, buckets: Buckets) -> str:
    text = f"the partition of each {buckets.unit} in the range of {buckets.field}"
    if plan.merged:
        parts = [*(f"each {name}" for name in plan.each), *([f"{plan.shards} shards"] if plan.shards > 1 else [])]
        text += f" ({listed(parts)} merged in order)"
    text += f" is queried, one {buckets.unit} after the other, up to {BUCKETS_MAX:,} partitions"
    if any(match.sifts for match in plan.matches):
        text += f"; in the first and the last {buckets.unit}, items outside the range are also read, and omitted"
    return text


def _in_segments(plan: plans.ScanPlan) -> str:
    return f" in {plan.segments} parallel segments" if plan.segments > 1 else ""


def _scan_proof(plan: plans.ScanPlan) -> str:
    if plan.index is None:
        return f"The pattern declares a scan: every item of the table is read{_in_segments(plan)} and charged"
    names = listed(entity.name for entity in plan.entities)
    text = f"The pattern reads all of {plan.index.name}: each {names} in the index is read{_in_segments(plan)}"
    return f"{text}, and no other item{_afterwards(plan, plan.index.name)}"


def _afterwards(plan: plans.QueryPlan | plans.ScanPlan, place: str, omitted: str = "") -> str:
    text = "; the filter then drops items, which are still read and charged" if plan.filter is not None else ""
    text += omitted
    if plan.completed:
        text += f"; attributes that {place} lacks are read from the table by each entry's key, in batches of 100"
    return text


def _through_proof(plan: plans.ThroughPlan, pattern: plans.ReadPattern) -> str:
    junction = plan.junction.matches[0].entity if isinstance(plan.junction, plans.QueryPlan) else plan.junction.entity
    fields = listed(plan.fields.values())
    first = proof(plan.junction, pattern)
    if isinstance(plan.end, plans.GetPlan):
        how = "which is read in batches of 100" if pattern.shape.many else "which is read with one GetItem"
        return f"{first}; each {junction.name} has the key of the {plan.end.entity.name} ({fields}), {how}"
    end = plan.end.matches[0].entity.name
    place = plan.end.key.place
    return f"{first}; each {junction.name} identifies a partition of {place} ({fields}), queried for {end} items"


# Formats of values in keys, and entities of items


def as_stored(plan: plans.Plan) -> str:
    """Clauses about facts that the key strings don't show: letter case, stored formats and discriminators."""
    facts: dict[str, None] = {}
    for entity, key in _keys_of(plan):
        for variable in (variable for _, template in key.attributes for variable in template.variables):
            name = variable.field
            if variable.folds:
                facts[f"{name} is in {variable.style.case} case in the key"] = None
            form = entity.fields[name].codec
            if form is not None:
                facts[f"{name} is in the key in its stored format, {form.mark!r}"] = None
        labels = [f"{name} = {next(iter(value.values()))}" for name, value in entity.labels.items()]
        if labels:
            facts[f"an item without {listed(labels)} belongs to another entity"] = None
    return "".join(f"; {fact}" for fact in facts)


def folded_fields(plan: plans.Plan) -> set[str]:
    """The key fields that the plan's keys convert to one letter case, so that any letter case matches."""
    templates = (template for _, key in _keys_of(plan) for _, template in key.attributes)
    return {variable.field for template in templates for variable in template.variables if variable.folds}


def _keys_of(plan: plans.Plan) -> Iterator[tuple[CompiledEntity, CompiledKey]]:
    for element in plans.plans_in(plan):
        match element:
            case plans.ClaimPlan():
                yield element.entity, element.claim
            case plans.QueryPlan():
                yield from ((match.entity, match.key) for match in element.matches)
            case _:
                yield from ((entity, entity.primary) for entity in plans.entities_read(element))


def _fill(fields: str) -> str:
    several = " and " in fields
    return f"{fields} {'fill' if several else 'fills'}" if fields else "No parameter is needed to fill"


def listed(names: Iterable[str]) -> str:
    """Join names with commas and "and", as in ``a, b and c``."""
    result = list(names)
    return " and ".join(filter(None, [", ".join(result[:-1]), *result[-1:]]))
