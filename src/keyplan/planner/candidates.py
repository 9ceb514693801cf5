"""Generates an entity's candidate keys, each with its partition key fields and its sort key fields in order.

A key supports a need if the parameters include all partition key fields, the sort key begins with the other parameters
(in any order), and the field of the range condition or of the sort order follows. A key supports several needs only if,
of any two needs' sets of leading fields, one contains the other. Each maximal set of such needs is a candidate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

from keyplan.model.declared.fields import kind_of
from keyplan.planner.facts import EntityFacts
from keyplan.planner.needs import Need, is_fraction

KEY_ATTRIBUTES_MAX = 4
"""Sort key attributes of an index. Source: "Multi-attribute keys" in the developer guide."""
UNITED_MAX = 3
"""Sets of values that one sparse key can contain together."""

Form: TypeAlias = tuple[str, ...]
"""The attributes of an index's sort key: all keys in one index have the same form."""
TEXT: Form = ("S",)
"""One joined string."""
OWN = "="
"""Begins the form of an index whose sort attribute is a field's own; the attribute's name follows."""
PARTITION = "P"
"""One format per partition attribute, if there are attributes instead of joined strings."""


@dataclass(frozen=True)
class Candidate:
    """A key of an entity, and the numbers of the needs that the key supports.

    ``needed``: the number of sort key fields that the needs require; the others only distinguish items. ``turned``:
    fields in descending order. ``sorted_as``: the entity whose name is in the sort key. ``merged``: several entities'
    items share an order, so their names follow the ordering field. ``shared``: other entities use the same partitions.
    """

    partition: tuple[str, ...]
    sort: tuple[str, ...]
    when: tuple[tuple[str, Any], ...]
    serves: frozenset[int]
    needed: int = 0
    turned: frozenset[str] = frozenset()
    sorted_as: str = ""
    merged: bool = False
    shared: bool = False

    @property
    def fields(self) -> tuple[str, ...]:
        return (*self.partition, *self.sort)


@dataclass(frozen=True)
class _Wish:
    """The sort key fields that a need requires, given a partition key: the leading fields, and the next field."""

    id: int
    number: int
    front: frozenset[str]
    next: str | None
    asked: frozenset[str]
    sole: bool

    @property
    def chain(self) -> tuple[frozenset[str], ...]:
        return (self.front,) if self.next is None else (self.front, self.front | {self.next})

    @property
    def held(self) -> frozenset[str]:
        return self.chain[-1]


def primary_candidates(entity: EntityFacts, needs: Sequence[Need], *, filters: bool) -> list[Candidate]:
    """Candidate primary keys, from the identifying fields. ``filters``: constants can be filtered after reading."""
    identity = frozenset(entity.identity)
    if any(is_fraction(entity.kinds[name]) for name in identity):
        return []
    candidates: list[Candidate] = []
    for partition in _subsets(entity.identity):
        wishes = [
            wish
            for wish in _wishes(needs, frozenset(partition), {}, filters=filters)
            if wish.held <= identity and needs[wish.number].whole is None
        ]
        cliques = (*_cliques(entity, wishes), ())
        candidates += [_candidate(entity, needs, partition, clique, (), primary=True) for clique in cliques]
    return _best(candidates)


def index_candidates(entity: EntityFacts, needs: Sequence[Need], *, filters: bool) -> list[Candidate]:
    """Candidate index keys, each for a maximal set of needs that one key can support."""
    asked = [need for need in needs if not need.consistent]
    candidates: list[Candidate] = []
    for when in _sparse(needs):
        partitions = {
            frozenset(partition)
            for need in asked
            for partition in _subsets(entity.in_order({*need.known, *need.free, *need.constants} - _said(need, when)))
        }
        if any(not (need.known or need.free) and need.constants.keys() <= _said(need, when) for need in asked):
            partitions.add(frozenset())
        if any(need.whole is not None and need.constants for need in asked):
            partitions.add(frozenset(entity.identity))  # an index that is only scanned can have any partition key
        for partition in sorted(partitions, key=sorted):
            wishes = [w for w in _wishes(needs, partition, when, filters=filters) if not needs[w.number].consistent]
            for clique in _cliques(entity, wishes):
                whole = tuple(wish for wish in clique if wish.next is None or not is_fraction(entity.kinds[wish.next]))
                for part in {clique, whole, *((wish,) for wish in clique)} - {()}:
                    made = _candidate(entity, needs, entity.in_order(partition), part, tuple(when.items()))
                    if _can_be_written(entity, made):
                        candidates.append(made)
    return _best(candidates)


def _can_be_written(entity: EntityFacts, key: Candidate) -> bool:
    """Whether an index can contain the key, and every write can maintain it."""
    held = {*key.fields, *(name for name, _ in key.when)}
    if held & entity.unkeyable.keys() and not _own_form(entity, key):
        return False
    fractions = [is_fraction(entity.kinds[name]) for name in key.sort[: key.needed]]
    if any(is_fraction(entity.kinds[name]) for name in key.partition):
        return False
    return not any(fractions) or len(fractions) <= KEY_ATTRIBUTES_MAX


# Sparse keys


def _sparse(needs: Sequence[Need]) -> list[dict[str, Any]]:
    """The conditions of sparse keys: none, the constants or parameter values of a need, or those of several."""
    result: dict[Any, dict[str, Any]] = {frozenset(): {}}
    for need in needs:
        for when in (dict(need.constants), {**need.narrow, **need.constants}):
            result.setdefault(frozenset(when.items()), when)
    single = [when for when in result.values() if len(when) == 1]
    if any(need.narrow for need in needs):
        for size in range(2, UNITED_MAX + 1):
            for several in combinations(single, size):
                names = {name for when in several for name in when}
                if len(names) == 1:
                    (name,) = names
                    values = tuple(dict.fromkeys(value for when in several for value in values_of(when[name])))
                    result.setdefault(frozenset({(name, values)}), {name: values})
    return list(result.values())


def values_of(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list | set | frozenset) else (value,)


def _texts(value: Any) -> set[str]:
    return {repr(each) for each in values_of(value)}  # repr() distinguishes True from 1, which compare equal


def exclude(when: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether the conditions of two sparse keys exclude each other, so that the keys can share an index."""
    return any(name in other and not _texts(value) & _texts(other[name]) for name, value in when.items())


def _said(need: Need, when: Mapping[str, Any]) -> set[str]:
    """The names of a need's constants that the condition of a sparse key (``when``) already contains."""
    return {name for name, value in need.constants.items() if when.get(name) == value}


# The needs that one key supports


def _wishes(needs: Sequence[Need], partition: frozenset[str], when: Mapping[str, Any], *, filters: bool) -> list[_Wish]:
    """The needs that this partition key can support, each with the sort key fields that it requires."""
    wishes: list[_Wish] = []
    every = frozenset(name for need in needs for name in (*need.known, *need.free, *([need.next] if need.next else [])))

    def wish(number: int, need: Need, front: frozenset[str], asked: frozenset[str]) -> None:
        if need.next not in front:
            after = need.next if need.next not in partition else None
            wishes.append(_Wish(len(wishes), number, front, after, asked, need.one))
        if need.closed:
            wishes.append(_Wish(len(wishes), number, front, None, asked - {need.order or ""}, sole=True))

    for number, need in enumerate(needs):
        if need.whole is not None:
            if dict(need.constants) == dict(when):
                wish(number, need, frozenset(), frozenset() if when else every)
            continue
        asked_values = {**need.narrow, **need.constants}
        if not all(name in asked_values and _texts(asked_values[name]) <= _texts(v) for name, v in when.items()):
            continue  # the sparse key lacks items that the pattern needs
        given = need.known | (need.constants.keys() - _said(need, when))
        if not partition <= given | need.free or not need.each <= partition:
            continue
        if not partition and (given or need.free):
            continue
        if need.together and given != partition:
            continue  # the fields that the entities share must be the partition key
        if len(need.several & partition) + bool(need.each) + need.one > 1:
            continue  # at most one partition key field can have several values, and none if the pattern reads one item
        front = given - partition
        asked = frozenset[str]({*given, *need.free, *when, *([need.next] if need.next else [])})
        if not front & need.several:
            wish(number, need, front, asked)
        if filters and front - need.known:
            wish(number, need, front & need.known, asked)
    return wishes


def _cliques(entity: EntityFacts, wishes: Sequence[_Wish]) -> Iterator[tuple[_Wish, ...]]:
    """The maximal sets of wishes that one sort key can grant."""
    fits = {
        wish.id: {other.id for other in wishes if other.number != wish.number and _compatible(entity, wish, other)}
        for wish in wishes
    }
    by_id = {wish.id: wish for wish in wishes}

    def extend(chosen: set[int], open_: set[int], done: set[int]) -> Iterator[set[int]]:
        if not open_ and not done:
            yield chosen
            return
        pivot = max(open_ | done, key=lambda number: len(fits[number] & open_))
        for number in sorted(open_ - fits[pivot]):
            yield from extend(chosen | {number}, open_ & fits[number], done & fits[number])
            open_ = open_ - {number}
            done = done | {number}

    if wishes:
        for clique in extend(set(), set(by_id), set()):
            yield tuple(by_id[number] for number in sorted(clique))


def _compatible(entity: EntityFacts, wish: _Wish, other: _Wish) -> bool:
    """Whether one sort key grants both: their fronts are a chain, and neither loses items by what the other adds."""
    complete = not entity.optional & (wish.held - other.asked | other.held - wish.asked)
    chain = all(left <= right or right <= left for left in wish.chain for right in other.chain)
    single = all(other.held | wish.held <= each.asked for each in (wish, other) if each.sole)
    return chain and complete and single


def _candidate(
    entity: EntityFacts,
    needs: Sequence[Need],
    partition: Sequence[str],
    wishes: Sequence[_Wish],
    when: tuple[tuple[str, Any], ...],
    *,
    primary: bool = False,
) -> Candidate:
    sort: list[str] = []
    for step in sorted({step for wish in wishes for step in wish.chain}, key=len):
        sort += [name for name in entity.in_order(step) if name not in sort]
    needed = len(sort)
    latest = [needs[wish.number] for wish in wishes if needs[wish.number].latest]
    merged = any(needs[wish.number].interleaved and wish.next for wish in wishes)
    if primary or not any(wish.sole for wish in wishes):  # an index key for reads of one item omits the identity
        sort += [name for name in entity.identity if name not in sort and name not in partition]
    optional = bool(entity.optional.intersection((*partition, *sort)))
    served = frozenset(
        wish.number
        for wish in wishes
        if (not wish.sole or wish.asked.issuperset(sort)) and _holds_all(needs[wish.number], optional=optional)
    )
    sorted_as = next((need.sorted_as.__name__ for need in map(needs.__getitem__, served) if need.sorted_as), "")
    turned = frozenset(need.order for need in latest if need.order is not None)
    shared = any(needs[number].together for number in served)
    return Candidate(tuple(partition), tuple(sort), when, served, needed, turned, sorted_as, merged, shared)


def _holds_all(need: Need, *, optional: bool) -> bool:
    """Whether a key that is read whole contains exactly the items with its constants, or with its optional fields."""
    return need.whole is None or bool(need.constants) is not optional


def _subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for size in range(1, len(names) + 1):
        yield from combinations(names, size)


def _best(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The candidates, of the same key the one that serves the most."""
    result: dict[tuple[Any, ...], Candidate] = {}
    for candidate in candidates:
        place = (candidate.partition, candidate.sort, candidate.when, candidate.needed)
        if place not in result or len(result[place].serves) < len(candidate.serves):
            result[place] = candidate
    return list(result.values())


# Forms


def sort_forms(entity: EntityFacts, key: Candidate, *, attributes: bool = False) -> tuple[Form, ...]:
    """The possible formats of a key, preferred first: a counter's attribute, typed attributes, a joined string."""
    own = _own_form(entity, key)
    if own is not None:
        return (own,)
    native = attribute_form(entity, key) if attributes else None
    if native is not None:
        return (native,)
    kinds = [entity.kinds[name] for name in key.sort[: key.needed]]
    if any(map(is_fraction, kinds)):
        return (tuple("N" if is_fraction(kind) else "S" for kind in kinds),)
    whole_number = [kind_of(kind) for kind in kinds] == [int] and not key.merged and not key.turned
    return (TEXT, ("N",)) if whole_number else (TEXT,)


def _own_form(entity: EntityFacts, key: Candidate) -> Form | None:
    """The form of a key ordered by a counter: the index has the counter's own attribute, which moves the entry."""
    if len(key.sort[: key.needed]) != 1 or key.turned or key.merged or key.sorted_as:
        return None
    (name, *_), rest = key.sort, {*key.partition, *(name for name, _ in key.when)}
    counts = name in entity.unkeyable and name in entity.cls.model_fields and name not in entity.optional
    number = is_fraction(entity.kinds[name]) or kind_of(entity.kinds[name]) is int
    if not counts or not number or rest & entity.unkeyable.keys():
        return None
    info = entity.cls.model_fields[name]
    return (OWN, info.serialization_alias or info.alias or name)


def attribute_form(entity: EntityFacts, key: Candidate) -> Form | None:
    """The key's multi-attribute format; None if the key has too many attributes or requires a joined string."""
    sort = key.sort[: key.needed or len(key.sort)]
    if not key.partition or not sort or key.merged or key.turned or key.sorted_as:
        return None
    if max(len(key.partition), len(sort)) > KEY_ATTRIBUTES_MAX:
        return None
    numbers = (is_fraction(entity.kinds[name]) or kind_of(entity.kinds[name]) is int for name in sort)
    return (*(PARTITION for _ in key.partition), *("N" if number else "S" for number in numbers))
