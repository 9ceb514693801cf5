"""What would have to be stored twice for a question that no key can serve: the fields to copy, or the mirror items, and
what they cost to write.

A question is asked of one entity's own fields. A field of another entity can stand in a key only as a copy, and a
strongly consistent answer only comes from the table, where an item stands once.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from keyplan.model.declared.entity import Entity
from keyplan.planner.facts import EntityFacts

__all__ = ["how_to_have", "mirror"]

Facts = Mapping[type[Entity], EntityFacts]


def how_to_have(facts: Facts, entity: EntityFacts, missing: Sequence[str]) -> str:
    """How an entity comes to fields that it hasn't, with the fewest copies: a field of a near name is meant; another
    entity has it, which each item names; or a junction leads from one to the other.
    """
    return "; ".join(_how(facts, entity, name) for name in missing)


def _how(facts: Facts, entity: EntityFacts, name: str) -> str:
    near = difflib.get_close_matches(name, entity.kinds, n=1, cutoff=0.75)
    if near:
        return f"did you mean {near[0]}?"
    owner = _owner(facts, entity, name)
    if owner is not None:
        by = " and ".join(owner.identity)
        return (
            f"copy {name} of {owner.name} into {entity.name}: one field, since each {entity.name} names its "
            f"{owner.name} by {by}; a write that changes {owner.name}.{name} then writes its {entity.name} items too"
        )
    link = _link(facts, entity, name)
    if link is not None:
        return (
            f"{link.name} has {name}, and names the {entity.name} by {' and '.join(entity.identity)}: ask "
            f"through={link.name}, or copy what is wanted of {entity.name} into {link.name}"
        )
    return f"name the parameter as the field it speaks of; {entity.name} has {', '.join(entity.kinds)}"


def _owner(facts: Facts, entity: EntityFacts, name: str) -> EntityFacts | None:
    """The entity that has the field, and that each item of this one names; by the fewest fields, if several do."""
    owners = [fact for fact in facts.values() if name in fact.kinds and set(fact.identity) <= entity.kinds.keys()]
    return min(owners, key=lambda facts: (len(facts.identity), facts.name), default=None)


def _link(facts: Facts, entity: EntityFacts, name: str) -> EntityFacts | None:
    """The entity that has the field, and that names items of this one."""
    links = [fact for fact in facts.values() if name in fact.kinds and fact.kinds.keys() >= set(entity.identity)]
    return min(links, key=lambda facts: (len(facts.kinds), facts.name), default=None)


def mirror(entity: EntityFacts, known: Sequence[str]) -> str:
    """The items that would answer a strongly consistent question by other fields than those that identify an item."""
    if not known:
        return "drop consistent=True, or ask by what identifies an item"
    fields = dict.fromkeys((*known, *entity.identity))
    name = f"{entity.name}By{''.join(part.capitalize() for text in known for part in text.split('_')[:1])}"
    marked = ", ".join(f"{field}: Id[...]" for field in fields)
    return (
        f"drop consistent=True; or keep a mirror item of each {entity.name}, an entity {name} ({marked}, and what the "
        f"answer needs), written in the same transaction: 4 write units for each KB instead of 1"
    )
