"""A choice of keys spelt in the language: templates, names of keys and indexes, and the declarations they become."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import count
from typing import Any

from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import bounds_of, kind_of
from keyplan.model.declared.indexes import Index, Number
from keyplan.model.declared.keys import Key, Unique
from keyplan.planner.candidates import Candidate, values_of
from keyplan.planner.facts import EntityFacts, word
from keyplan.planner.fixed import Fixed
from keyplan.planner.forms import OWN, PARTITION, sort_forms
from keyplan.planner.needs import Need
from keyplan.planner.search import Choice, EntityChoice

__all__ = ["Declared", "declared"]

DIGITS = 20
"""Digits of a whole number in a sort key where its bounds don't say how many it has: any of 64 bits."""
COUNTED = 10
"""Digits of one that counts items, as a version or a line's number does."""


@dataclass(frozen=True)
class Declared:
    """What is to be declared: the indexes, and each entity's keys and claims by name."""

    indexes: tuple[Index, ...]
    keys: Mapping[type[Entity], Mapping[str, Key | Unique]]
    served: Mapping[tuple[type[Entity], str], tuple[Need, ...]]
    """The needs that each key serves."""
    scan_index: Mapping[str, str] = field(default_factory=dict[str, str])
    """The places of the questions that read an index whole, with its name."""
    named: Mapping[str, tuple[type[Entity], str]] = field(default_factory=dict[str, tuple[type[Entity], str]])
    """The places of the questions that several keys would answer, each in its own order, with the key that does."""


def declared(choice: Choice, fixed: Fixed, *, short: bool = False, terse: bool = False) -> Declared:
    """The declarations of a choice, beside what is fixed. ``short``: new index keys hold no more text than their
    questions need: bytes that each entry is larger by. ``terse``: words are a letter or two besides, in primary keys
    too.
    """
    made = _spelt(choice, fixed, short=short or terse)
    return _abbreviated(made, fixed) if terse else made


def _spelt(choice: Choice, fixed: Fixed, *, short: bool) -> Declared:
    slots = [slot for entity in choice.entities for slot in entity.slots]
    alone = {slot for slot in slots if slots.count(slot) == 1 and fixed.index(slot) is None} if short else set[int]()
    forms = {**choice.forms, **dict.fromkeys(_numbers_alone(choice, alone), _NUMBER)}
    names = {*(index.name for index in fixed.indexes), *choice.names.values()}
    indexes = {
        slot: fixed.index(slot) or _index(choice.names.get(slot) or _free(f"GSI{slot}", names), form)
        for slot, form in sorted(forms.items())
    }
    scan_index: dict[str, str] = {}
    only = short and len(choice.entities) == 1 and not choice.entities[0].claims
    keys: dict[type[Entity], dict[str, Key | Unique]] = {}
    served: dict[tuple[type[Entity], str], tuple[Need, ...]] = {}
    for entity in choice.entities:
        own: dict[str, Key | Unique] = {**fixed.keys.get(entity.entity.cls, {})}
        if not own:
            own["primary"] = _short_key(entity.entity, entity.primary, None, alone=True) if only else _primary(entity)
            served[entity.entity.cls, "primary"] = _needs(entity, entity.primary)
        for key, slot in zip(entity.indexed, entity.slots, strict=True):
            name = _key_name(entity.entity, key, own)
            state = _state(key).upper() if _has_twin(entity, key, slot) else ""
            plain = tuple(forms[slot]) == ("S",) or (tuple(forms[slot]) == _NUMBER and slot in alone)
            if short and key.partition and plain and _can_be_short(entity, key) and not state:
                own[name] = _short_key(
                    entity.entity, _without_ties(key), indexes[slot], alone=slot in alone, native=forms[slot] == _NUMBER
                )
            else:
                held = _without_ties(key) if short and not _is_bound(entity, key) else key
                own[name] = _index_key(entity.entity, held, indexes[slot], forms[slot], state)
            served[entity.entity.cls, name] = _needs(entity, key)
            whole = (need.place for need in _needs(entity, key) if need.scan_index is not None)
            scan_index |= dict.fromkeys(whole, indexes[slot].name)
        for need in entity.claims:
            looked_up = [each for each in entity.entity.kinds if each in need.known]
            name = _free("_".join((*map(_bare, looked_up), "claim")), {*own, *entity.entity.kinds})
            words = [word(entity.entity.name), *(_bare(each).upper() for each in looked_up)]
            what = "_".join(dict.fromkeys(words))
            own[name] = Unique(f"{what}#{_joined(looked_up)}")
            served[entity.entity.cls, name] = (need,)
        keys[entity.entity.cls] = own
    return Declared(tuple(indexes.values()), keys, served, scan_index)


def _needs(choice: EntityChoice, key: Candidate) -> tuple[Need, ...]:
    return tuple(choice.needs[number] for number in sorted(key.serves))


def _index(name: str, form: Sequence[str]) -> Index:
    lower = name.lower()
    if tuple(form) == ("S",):
        return Index(name, f"{lower}pk", f"{lower}sk")
    if form[0] == OWN:
        return Index(name, f"{lower}pk", Number(form[1]))
    partitions, form = _cut(form)
    pk: str | list[str] = f"{lower}pk"
    if partitions > 1:
        pk = [f"{lower}pk{number}" for number in range(1, partitions + 1)]
    names = [f"{lower}sk"] if len(form) == 1 else [f"{lower}sk{number}" for number in range(1, len(form) + 1)]
    return Index(name, pk, [Number(text) if kind == "N" else text for text, kind in zip(names, form, strict=True)])


def _primary(choice: EntityChoice) -> Key:
    return Key(_partition(choice.entity, choice.primary), _sort(choice.entity, choice.primary))


def _can_be_short(choice: EntityChoice, key: Candidate) -> bool:
    """Whether nothing else hangs on a key's words: no item collection, no order that goes through several entities."""
    return not (key.merged or key.sorted_as or any(need.together or need.scan_index for need in _needs(choice, key)))


def _has_twin(choice: EntityChoice, key: Candidate, slot: int) -> bool:
    """Whether another key of the entity stands in the same index, and may have the same texts: for other values of what
    they are sparse by.
    """
    pairs = zip(choice.indexed, choice.slots, strict=True)
    return any(other is not key and own == slot and other.partition == key.partition for other, own in pairs)


def _is_bound(choice: EntityChoice, key: Candidate) -> bool:
    """Whether a key needs the fields that tell items apart: it has the sort key of another, or is read whole."""
    return bool(key.sorted_as) or any(need.scan_index for need in _needs(choice, key))


def _without_ties(key: Candidate) -> Candidate:
    """The key without the fields that only tell items apart, which an index doesn't ask for."""
    return replace(key, sort=key.sort[: key.needed])


_NUMBER = ("N",)


def _numbers_alone(choice: Choice, alone: Collection[int]) -> Iterator[int]:
    """The indexes that one key has for itself, and whose sort attribute can be a number: it is smaller than its digits
    in a text.
    """
    for entity in choice.entities:
        for key, slot in zip(entity.indexed, entity.slots, strict=True):
            if slot in alone and key.partition and _can_be_short(entity, key) and choice.forms[slot][0] != OWN:
                yield from (slot for form in sort_forms(entity.entity, key) if form == _NUMBER)


def _short_key(entity: EntityFacts, key: Candidate, index: Index | None, *, alone: bool, native: bool = False) -> Key:
    """A key with no words but those that tell its entity from others: none where it is ``alone`` in its place.
    ``native``: its sort attribute is a number.
    """
    if native:
        return Key(_joined(key.partition), _joined(key.sort[:1]), index=index, when=_when(key))
    sort = [_variable(entity, name, turned=name in key.turned) for name in key.sort]
    own = [] if alone and sort else [word(entity.name)]
    return Key(_joined(key.partition), "#".join([*own, *sort]), index=index, when=_when(key))


def _cut(form: Sequence[str]) -> tuple[int, Sequence[str]]:
    """How many partition attributes a form has, and the types of its sort attributes."""
    partitions = sum(text == PARTITION for text in form)
    return partitions, form[partitions:]


def _index_key(entity: EntityFacts, key: Candidate, index: Index, form: Sequence[str], state: str = "") -> Key:
    partitions, types = _cut(form)
    partition: str | list[str] = _partition(entity, key)
    if partitions:
        own = [f"{field_word(entity, name)}#{{{name}}}" for name in key.partition]
        partition = [f"{word(entity.name)}#{own[0]}", *own[1:]]
    if tuple(form) == ("S",):
        sort: str | list[str] = _sort(entity, key, state)
    elif form[0] == OWN:
        sort = f"{{{key.sort[0]}}}"
    else:
        sort = [
            f"{{{name}}}" if kind == "N" else _variable(entity, name)
            for name, kind in zip(key.sort, types, strict=False)
        ]
    return Key(partition, sort, index=index, when=_when(key))


def _partition(entity: EntityFacts, key: Candidate) -> str:
    """The partition's template: a word before each value, so that entities share it exactly when they share fields."""
    if not key.partition:
        return "#".join((word(entity.name), *(_text(value) for _, value in key.when)))
    parts = [f"{field_word(entity, name)}#{{{name}}}" for name in key.partition]
    return "#".join([*parts, word(entity.name)] if key.sorted_as else parts)


def _sort(entity: EntityFacts, key: Candidate, state: str = "") -> str:
    """The sort key's template. ``state``: what tells its items from those of another key of the entity."""
    rest = [_variable(entity, name, turned=name in key.turned) for name in key.sort]
    own = "_".join(filter(None, (word(key.sorted_as or entity.name), state)))
    if not rest:
        return f"#{own}"
    if key.merged:
        return "#".join((rest[0], own, *rest[1:]))
    return "#".join((own, *rest))


def _variable(entity: EntityFacts, name: str, *, turned: bool = False) -> str:
    annotation = entity.kinds[name]
    desc = ":desc" if turned else ""
    kind = kind_of(annotation)
    if isinstance(kind, type) and issubclass(kind, Enum) and not all(isinstance(enum.value, str) for enum in kind):
        return _of_enum(name, kind, desc)
    if kind is not int:
        return f"{{{name}{desc}}}"
    highest = [bound for operator, bound in bounds_of(annotation) if operator in {"<", "<="}]
    digits = len(str(max(highest))) if highest else COUNTED if name in entity.identity else DIGITS
    return f"{{{name}:0{digits}d{desc}}}"


def _of_enum(name: str, kind: type[Enum], desc: str) -> str:
    """An enum whose values aren't texts: its numbers, padded, where all are whole and none is negative; else ranks."""
    numbers = [enum.value for enum in kind]
    if issubclass(kind, int) and min(numbers) >= 0:
        return f"{{{name}:0{len(str(max(numbers)))}d{desc}}}"
    return f"{{{name}:rank{desc}}}"


# Words of a letter or two


def _abbreviated(made: Declared, fixed: Fixed) -> Declared:
    """The declarations with each word that stands in templates as short as can be, the same everywhere, and no two the
    same: so what shared a partition shares it still. What deployed keys have stays as it is.
    """
    deployed = {segment for own in fixed.keys.values() for key in own.values() for segment in _segments(key)}
    new = [key for cls, own in made.keys.items() for name, key in own.items() if (cls, name) in made.served]
    words = dict.fromkeys(segment for key in new for segment in _segments(key) if segment not in deployed)
    codes: dict[str, str] = {}
    for each in words:
        taken = {*deployed, *codes.values()}
        codes[each] = next(code for code in _codes(each) if code not in taken)

    def spelt(template: str) -> str:
        return "#".join(codes.get(segment, segment) for segment in template.split("#"))

    def key_spelt(key: Key | Unique) -> Key | Unique:
        if isinstance(key, Unique):
            return Unique(spelt(key.partition))
        several = len(key.partition) > 1 or len(key.sort) > 1
        partition, sort = ([spelt(text) for text in part] for part in (key.partition, key.sort))
        if several:
            return Key(partition, sort, index=key.index, when=key.when, shards=key.shards)
        return Key(partition[0], sort[0] if sort else None, index=key.index, when=key.when, shards=key.shards)

    keys = {
        cls: {name: key_spelt(key) if (cls, name) in made.served else key for name, key in own.items()}
        for cls, own in made.keys.items()
    }
    return replace(made, keys=keys)


def _segments(key: Key | Unique) -> Iterator[str]:
    """The words in a key's templates."""
    templates = (key.partition,) if isinstance(key, Unique) else (*key.partition, *key.sort)
    for template in templates:
        yield from (segment for segment in template.split("#") if segment and "{" not in segment)


def _codes(text: str) -> Iterator[str]:
    """What a word can be shortened to, the shortest first: its initials, its beginnings, itself, then numbers."""
    parts = [part for part in text.split("_") if part]
    yield "".join(part[0] for part in parts[:1])
    yield "".join(part[0] for part in parts)
    yield from (text[:size] for size in range(2, len(text) + 1))
    yield from (f"{text[:1]}{number}" for number in count(2))


def _joined(names: Iterable[str]) -> str:
    return "#".join(f"{{{name}}}" for name in names)


def field_word(entity: EntityFacts, name: str) -> str:
    """The word before a field's value in a partition key: ``customer_id`` as ``CUSTOMER``."""
    bare = _bare(name)
    return word(entity.name) if bare == "id" else bare.upper()


def _bare(name: str) -> str:
    return re.sub(r"_(id|key|name|no|number)$", "", name)


def _text(value: Any) -> str:
    return re.sub(r"[^A-Z0-9]+", "_", str(getattr(value, "value", value)).upper()).strip("_") or "SOME"


def _key_name(entity: EntityFacts, key: Candidate, taken: Iterable[str]) -> str:
    if key.partition:
        name = "by_" + "_and_".join(_bare(text) for text in key.partition)
    elif key.when:
        name = _state(key)
    else:
        name = "all_" + word(entity.name).lower()
    if key.when and key.partition:
        name = f"{_state(key)}_{name}"
    return _free(name, {*taken, *entity.kinds})


def _state(key: Candidate) -> str:
    """What the items of a sparse key are: ``pending``; of a flag ``paid``, or ``not_paid``."""
    words = [
        f"{'' if value else 'not_'}{name}"
        if isinstance(value, bool)
        else "_or_".join(_text(each).lower() for each in values_of(value))
        for name, value in key.when
    ]
    return "_".join(words)


def _when(key: Candidate) -> dict[str, Any] | None:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in key.when} or None


def _free(name: str, taken: set[str]) -> str:
    """The name, with a number behind it where it is taken."""
    text, number = name, 2
    while text in taken:
        text, number = f"{name}_{number}", number + 1
    return text
