"""A typical call of a write under its load: with as many items as the traffic file says, and with the share of its
calls that fail a condition; and how many items are stored where the file says how long they stay.

What one call that goes through takes is in ``writing.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from keyplan.analysis.cost.read_facts import Facts, multiplied
from keyplan.analysis.cost.simulated_writes import WriteCost, cost_of, write_cost
from keyplan.analysis.cost.unit_counts import TABLE, Line, Request
from keyplan.analysis.cost.weighted_requests import mixed
from keyplan.analysis.rehearsal.account import Accounts
from keyplan.analysis.rehearsal.mutations import Mutation
from keyplan.analysis.traffic.traffic_file import Traffic
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern
from keyplan.model.declared.pattern_load import Load

__all__ = ["estimate_write", "with_counts"]

SECONDS_A_DAY = 86_400


def estimate_write(accounts: Accounts, pattern: WritePattern, facts: Facts) -> WriteCost:
    """A write's typical call; with as many items, and as large ones, as its load says, and with the share of calls
    that fail. What can never work has no cost: its failure says why.
    """
    load = facts.traffic.patterns.get(pattern.name, Load())
    account = accounts.of(pattern)
    faults = account.faults()
    if faults:
        return WriteCost([], (), "; ".join(fault.message for fault in faults))
    if account.tried is None or accounts.owner is None:
        return WriteCost([], (), "nothing is known of its class")
    cost = cost_of(accounts.design, account.tried, facts)
    if cost.failure is not None:
        return cost
    written = (type(entity) for entity in cost.there)
    names = {
        *cost.entities,
        *(
            accounts.design.entities[entity_class].name
            for entity_class in written
            if entity_class in accounts.design.entities
        ),
    }
    mixture = facts.typical.mixture(names)
    if mixture[0][1] is facts.typical:
        if load.item_bytes is not None and cost.entities:
            typical = facts.typical.of_size(cost.entities, load.item_bytes)
            cost = write_cost(accounts.design, accounts.owner, pattern, typical, Facts(typical, facts.traffic))
        return _loaded(cost, load)
    calls = [
        (weight, _loaded(_tried(accounts.design, accounts.owner, pattern, Facts(element, facts.traffic), load), load))
        for weight, element in mixture
    ]
    through = [(weight, cost) for weight, cost in calls if cost.failure is None]
    if not through:
        return calls[0][1]
    likeliest = max(through, key=lambda call: call[0])[1]
    notes = tuple(dict.fromkeys(note for _, cost in through for note in cost.notes))
    total = sum(weight for weight, _ in through)
    return replace(
        likeliest,
        requests=mixed([(weight, cost.requests) for weight, cost in through]),
        notes=notes,
        shares=tuple((weight / total, cost) for weight, cost in through),
    )


def _tried(design: CompiledDesign, owner: type[Any], pattern: WritePattern, facts: Facts, load: Load) -> WriteCost:
    """A call on items of one combination of fields, as large as the pattern's load says."""
    cost = write_cost(design, owner, pattern, facts.typical, facts)
    if load.item_bytes is None or not cost.entities:
        return cost
    typical = facts.typical.of_size(cost.entities, load.item_bytes)
    return write_cost(design, owner, pattern, typical, Facts(typical, facts.traffic))


def _loaded(cost: WriteCost, load: Load) -> WriteCost:
    """The call with as many items as its load says, and with the share of calls that fail."""
    if load.items is not None and cost.items and load.items != cost.items:
        times = load.items / cost.items
        why = f"for {load.items:g} items a call"
        requests = [multiplied(request, times, why) if request.units("write") else request for request in cost.requests]
        cost = replace(cost, requests=requests, times=times)
    return _failing(cost, load.fails or 0.0)


# Calls that fail


def _failing(cost: WriteCost, share: float) -> WriteCost:
    """The average of the calls that go through and of the ``share`` that fails a condition.

    A failed conditional write takes the table's write units as if it had gone through, and writes no index; batches
    after it aren't sent. Source: "Condition expressions" and "Read and write operations" in the developer guide.
    """
    if not share or not cost.mutations:
        return cost
    requests = [_failing_request(request, share) for request in cost.requests]
    return replace(cost, requests=requests, fails=share)


def _failing_request(request: Request, share: float) -> Request:
    batch = request.operation == "BatchWriteItem"
    why = f"× {1 - share:g}, since {share:.4g} of the calls fail a condition"
    lines = (
        Line(line.direction, line.target, line.units * (1 - share), f"{line.why}; {why}")
        if line.direction == "write" and (batch or line.target != TABLE)
        else line
        for line in request.lines
    )
    return Request(request.operation, tuple(lines))


# What is stored


def with_counts(design: CompiledDesign, owner: type[Any] | None, traffic: Traffic) -> Traffic:
    """The traffic with how many items are stored of each entity of which it says how long they stay, and not how many:
    those that its patterns create in that time. An entity that no pattern with a rate creates stays as it is.
    """
    wanted = {
        name: element.kept_days
        for name, element in traffic.entities.items()
        if element.kept_days is not None and element.count is None
    }
    if not wanted or owner is None:
        return traffic
    accounts, facts = Accounts(design, owner, traffic), Facts(Typical(design, traffic.entities), traffic)
    created = dict.fromkeys(wanted, 0.0)
    for pattern in design.writes.values():
        rate = traffic.patterns.get(pattern.name, Load()).per_second
        if rate:
            call = estimate_write(accounts, pattern, facts)
            for weight, cost in call.calls:
                for name, items in _created(design, cost):
                    if name in created:
                        created[name] += rate * items * weight
    counted = {
        name: replace(traffic.entities[name], count=created[name] * SECONDS_A_DAY * days)
        for name, days in wanted.items()
        if created[name]
    }
    return replace(traffic, entities={**traffic.entities, **counted})


def _created(design: CompiledDesign, call: WriteCost) -> Iterator[tuple[str, float]]:
    """The items that a call creates, by entity: claims aren't among them."""
    through = call.times * (1 - call.fails)
    for mutation in (*call.mutations, *call.batched):
        entity = _new(design, mutation)
        if entity is not None:
            yield entity, through


def _new(design: CompiledDesign, mutation: Mutation) -> str | None:
    if mutation.before is not None or mutation.after is None or mutation.what.startswith("claim "):
        return None
    entity = design.entity_of(mutation.after)
    return None if entity is None else entity.name
