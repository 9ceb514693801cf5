"""Writes a choice of keys as declarations, with key templates and the names of keys and indexes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from typing import Any

from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import bounds_of, kind_of
from keyplan.model.declared.indexes import Index, Number
from keyplan.model.declared.keys import Key, Unique
from keyplan.planner.candidates import OWN, PARTITION, TEXT, Candidate, Form, values_of
from keyplan.planner.facts import Deployed, EntityFacts, word
from keyplan.planner.needs import Need
from keyplan.planner.search import Choice, EntityChoice

KeyName = tuple[type[Entity], str]
"""A key by its entity and name."""

DIGITS = 20
"""The digits of an unbounded integer in a sort key: any 64-bit number."""
COUNTED = 10
"""Digits of one that counts items, such as a version or the number of a line."""


@dataclass(frozen=True)
class Declared:
    """Declarations of indexes and of each entity's keys and unique values (by name), and the needs that each new key
    supports. ``named``: the key for ``key=``, by the pattern's place. ``filters``: the value for ``where=``, by the
    pattern's place.
    """

    indexes: tuple[Index, ...]
    keys: Mapping[type[Entity], Mapping[str, Key | Unique]]
    served: Mapping[KeyName, tuple[Need, ...]] = field(default_factory=dict[KeyName, tuple[Need, ...]])
    named: Mapping[str, KeyName] = field(default_factory=dict[str, KeyName])
    filters: Mapping[str, str] = field(default_factory=dict[str, str])


def declared(choice: Choice, deployed: Deployed, filters: Mapping[str, str]) -> Declared:
    """The declarations of a choice, together with the deployed keys."""
    names = {*(index.name for index in deployed.indexes), *choice.names.values()}
    indexes: dict[int, Index] = dict(enumerate(deployed.indexes, 1))
    numbers = count(len(indexes) + 1)
    for slot, form in sorted(choice.forms.items()):
        if slot not in indexes:
            indexes[slot] = _index(choice.names.get(slot) or _free(f"GSI{next(numbers)}", names), form)
    keys: dict[type[Entity], dict[str, Key | Unique]] = {}
    served: dict[KeyName, tuple[Need, ...]] = {}
    for entity in choice.entities:
        facts, cls = entity.entity, entity.entity.cls
        own: dict[str, Key | Unique] = {**deployed.keys.get(cls, {})}
        if not own:
            own["primary"] = Key(_partition(facts, entity.primary), _sort(facts, entity.primary))
            served[cls, "primary"] = _needs(entity, entity.primary)
        slots = [slot for _, slot in entity.indexed]
        for key, slot in entity.indexed:
            name = _key_name(facts, key, own)
            state = _state(key).upper() if slots.count(slot) > 1 else ""
            own[name] = _index_key(facts, key, indexes[slot], choice.forms[slot], state)
            served[cls, name] = _needs(entity, key)
        for need in entity.claims:
            looked_up = facts.in_order(need.known)
            name = _free("_".join((*map(_bare, looked_up), "claim")), {*own, *facts.kinds})
            words = [word(facts.name), *(_bare(known).upper() for known in looked_up)]
            own[name] = Unique(f"{'_'.join(dict.fromkeys(words))}#{'#'.join(f'{{{name}}}' for name in looked_up)}")
            served[cls, name] = (need,)
        keys[cls] = own
    return Declared(tuple(indexes[slot] for slot in sorted(indexes)), keys, served, filters=filters)


def _needs(choice: EntityChoice, key: Candidate) -> tuple[Need, ...]:
    return tuple(choice.needs[number] for number in sorted(key.serves))


def _index(name: str, form: Form) -> Index:
    lower = name.lower()
    if form == TEXT:
        return Index(name, f"{lower}pk", f"{lower}sk")
    if form[0] == OWN:
        return Index(name, f"{lower}pk", Number(form[1]))
    partitions, types = _cut(form)
    pk: str | list[str] = f"{lower}pk"
    if partitions > 1:
        pk = [f"{lower}pk{number}" for number in range(1, partitions + 1)]
    names = [f"{lower}sk"] if len(types) == 1 else [f"{lower}sk{number}" for number in range(1, len(types) + 1)]
    return Index(name, pk, [Number(text) if kind == "N" else text for text, kind in zip(names, types, strict=True)])


def _cut(form: Form) -> tuple[int, Sequence[str]]:
    """How many partition attributes a form has, and the types of its sort attributes."""
    partitions = sum(text == PARTITION for text in form)
    return partitions, form[partitions:]


def _index_key(entity: EntityFacts, key: Candidate, index: Index, form: Form, state: str) -> Key:
    partitions, types = _cut(form)
    partition: str | list[str] = _partition(entity, key)
    if partitions:
        own = [f"{field_word(entity, name)}#{{{name}}}" for name in key.partition]
        partition = [f"{word(entity.name)}#{own[0]}", *own[1:]]
    if form == TEXT:
        sort: str | list[str] = _sort(entity, key, state)
    elif form[0] == OWN:
        sort = f"{{{key.sort[0]}}}"
    else:
        pairs = zip(key.sort, types, strict=False)
        sort = [f"{{{name}}}" if kind == "N" else _variable(entity, name) for name, kind in pairs]
    when = {name: list(value) if isinstance(value, tuple) else value for name, value in key.when}
    return Key(partition, sort, index=index, when=when or None)


def _partition(entity: EntityFacts, key: Candidate) -> str:
    """The partition's template: a word before each value, so that entities that share fields share partitions."""
    if not key.partition:
        words = [_text(value) for _, value in key.when]
        return "#".join(
            [*(name.upper() for name, _ in key.when), *words] if key.shared else [word(entity.name), *words]
        )
    parts = [f"{field_word(entity, name, shared=key.shared)}#{{{name}}}" for name in key.partition]
    return "#".join([*parts, word(entity.name)] if key.sorted_as else parts)


def _sort(entity: EntityFacts, key: Candidate, state: str = "") -> str:
    """The sort key's template. ``state``: what distinguishes its items from those of another key of the entity."""
    rest = [_variable(entity, name, turned=name in key.turned) for name in key.sort]
    own = "_".join(filter(None, (word(key.sorted_as or entity.name), state)))
    if not rest:
        return f"#{own}"
    return "#".join((rest[0], own, *rest[1:]) if key.merged else (own, *rest))


def _variable(entity: EntityFacts, name: str, *, turned: bool = False) -> str:
    """A field in a sort key: integers are padded, enums use their numbers or ranks."""
    annotation = entity.kinds[name]
    kind = kind_of(annotation)
    desc = ":desc" if turned else ""
    if isinstance(kind, type) and issubclass(kind, Enum) and not all(isinstance(enum.value, str) for enum in kind):
        numbers = [enum.value for enum in kind]
        padded = issubclass(kind, int) and min(numbers) >= 0
        return f"{{{name}:0{len(str(max(numbers)))}d{desc}}}" if padded else f"{{{name}:rank{desc}}}"
    if kind is not int:
        return f"{{{name}{desc}}}"
    highest = [bound for operator, bound in bounds_of(annotation) if operator in {"<", "<="}]
    digits = len(str(max(highest))) if highest else COUNTED if name in entity.identity else DIGITS
    return f"{{{name}:0{digits}d{desc}}}"


def field_word(entity: EntityFacts, name: str, *, shared: bool = False) -> str:
    """The word before a field's value in a partition key, such as ``CUSTOMER`` for ``customer_id``."""
    bare = _bare(name)
    return word(entity.name) if bare == "id" and not shared else bare.upper()


def _bare(name: str) -> str:
    return re.sub(r"_(id|key|name|no|number)$", "", name)


def _text(value: Any) -> str:
    texts = (str(getattr(each, "value", each)) for each in values_of(value))
    return re.sub(r"[^A-Z0-9]+", "_", "_".join(texts).upper()).strip("_") or "SOME"


def _key_name(entity: EntityFacts, key: Candidate, taken: Iterable[str]) -> str:
    if key.partition:
        name = "by_" + "_and_".join(_bare(text) for text in key.partition)
    else:
        name = _state(key) or "all_" + word(entity.name).lower()
    if key.when and key.partition:
        name = f"{_state(key)}_{name}"
    return _free(name if name.isidentifier() else f"by_{name}", {*taken, *entity.kinds})


def _state(key: Candidate) -> str:
    """What the items of a sparse key are: ``pending``; of a flag ``paid``, or ``not_paid``."""
    words = [
        f"{'' if value else 'not_'}{name}"
        if isinstance(value, bool)
        else "_or_".join(_text(each).lower() for each in values_of(value))
        for name, value in key.when
    ]
    return "_".join(words)


def _free(name: str, taken: set[str]) -> str:
    """The name, with a number after it if it is taken."""
    text, number = name, 2
    while text in taken:
        text, number = f"{name}_{number}", number + 1
    return text
