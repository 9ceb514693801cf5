"""The keys of one entity that could serve its needs: which partition, in which order the sort key's fields stand.

A key serves a need when its partition is known, what else is known stands first in its sort key, in any order, and the
field of the range or of the order stands next. So several needs fit one key exactly when the sets of fields that each
wants in front form a chain; each maximal set of such needs makes one candidate. Which candidates are taken is decided
in ``search.py``, how they are spelt in ``templates.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from typing import Any

from keyplan.model.declared.fields import kind_of
from keyplan.planner.facts import EntityFacts
from keyplan.planner.needs import Need

__all__ = ["KEY_ATTRIBUTES_MAX", "Candidate", "exclude", "index_candidates", "primary_candidates", "values_of"]


KEY_ATTRIBUTES_MAX = 4
"""DynamoDB's limit for the sort key attributes of an index. Source: "Multi-attribute keys" in the
developer guide."""


UNITED_MAX = 3
"""Sets of values that one sparse key may hold together."""


@dataclass(frozen=True)
class Candidate:
    """A key of an entity, and the needs (by number) that it serves."""

    partition: tuple[str, ...]
    sort: tuple[str, ...]
    when: tuple[tuple[str, Any], ...]
    serves: frozenset[int]
    needed: int = 0
    """How many fields of the sort key its needs ask for; those behind only tell items apart."""
    turned: frozenset[str] = frozenset()
    """Fields that stand turned in it."""
    sorted_as: str = ""
    """The entity whose sort key it has."""
    merged: bool = False
    """Whether its order goes through several entities: their names stand behind the ordering field."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields in it."""
        return (*self.partition, *self.sort)


@dataclass(frozen=True)
class _Wish:
    """What a need asks of the sort key once the partition is chosen: fields in front, and the one behind them."""

    id: int
    number: int
    front: frozenset[str]
    next: str | None
    asked: frozenset[str]
    sole: bool

    @property
    def chain(self) -> tuple[frozenset[str], ...]:
        return (self.front,) if self.next is None else (self.front, self.front | {self.next})


def primary_candidates(entity: EntityFacts, needs: Sequence[Need], *, filters: bool) -> list[Candidate]:
    """Keys of the table: of the fields that identify an item, and of these alone. ``filters``: constants that no key
    answers may be filtered after reading.
    """
    identity = frozenset(entity.identity)
    candidates: list[Candidate] = []
    for partition in _subsets(entity.identity):
        wishes = [
            wish
            for wish in _wishes(needs, frozenset(partition), {}, filters=filters)
            if wish.chain[-1] <= identity and needs[wish.number].scan_index is None
        ]
        cliques = [*_cliques(entity, wishes), ()]
        candidates += [_candidate(entity, needs, partition, clique, (), whole=True) for clique in cliques]
    return _best(candidate for candidate in candidates if _writable(entity, candidate, primary=True))


def index_candidates(entity: EntityFacts, needs: Sequence[Need], *, filters: bool) -> list[Candidate]:
    """Keys of an index, each for as many needs as one key can serve."""
    asked = [(number, need) for number, need in enumerate(needs) if not need.consistent]
    candidates: list[Candidate] = []
    for when in _sparse(needs):
        known = {
            frozenset(partition)
            for _, need in asked
            for partition in _subsets(
                [
                    name
                    for name in entity.kinds
                    if name in {*need.known, *need.free, *need.constants} - _said(need, when)
                ]
            )
        }
        known |= {
            frozenset[str]()
            for _, need in asked
            if not need.known
            and not need.free
            and need.constants.keys() <= _said(need, when)
            and need.scan_index is None
        }
        if any(need.scan_index is not None and need.constants for _, need in asked):
            known.add(frozenset(entity.identity))  # what is read whole may stand in any partition: each in its own
        for partition in sorted(known, key=sorted):
            wishes = [
                wish for wish in _wishes(needs, partition, when, filters=filters) if not needs[wish.number].consistent
            ]
            for clique in _cliques(entity, wishes):
                ordered = tuple(name for name in entity.kinds if name in partition)
                candidates.append(_candidate(entity, needs, ordered, clique, tuple(when.items())))
    return _best(candidate for candidate in candidates if _writable(entity, candidate, primary=False))


def _subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for size in range(1, len(names) + 1):
        yield from combinations(names, size)


def _sparse(needs: Sequence[Need]) -> list[dict[str, Any]]:
    """What a key may be sparse by: nothing, the constants of a need, the values that its parameters may have, or those
    of several needs.
    """
    result: dict[frozenset[tuple[str, Any]], dict[str, Any]] = {frozenset(): {}}
    for need in needs:
        for when in (dict(need.constants), {**need.narrow, **need.constants}):
            result.setdefault(frozenset(when.items()), when)
    single = [when for when in result.values() if len(when) == 1]
    for size in range(2, UNITED_MAX + 1):
        for several in combinations(single, size):
            names = {name for when in several for name in when}
            if len(names) == 1 and any(need.narrow for need in needs):
                (name,) = names
                values = tuple(dict.fromkeys(value for when in several for value in values_of(when[name])))
                result.setdefault(frozenset({(name, values)}), {name: values})
    return [*result.values()]


def values_of(value: Any) -> tuple[Any, ...]:
    """The values of a constant, one or several."""
    return tuple(value) if isinstance(value, tuple | list | set | frozenset) else (value,)


def exclude(when: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether no item stands under both keys, which wait for other values of a field: so they can share an index."""
    return any(
        name in other
        and not {repr(each) for each in values_of(value)} & {repr(each) for each in values_of(other[name])}
        for name, value in when.items()
    )


def _said(need: Need, when: Mapping[str, Any]) -> set[str]:
    """The constants of a need that a sparse key says, so that they needn't stand in its templates."""
    return {name for name, value in need.constants.items() if when.get(name) == value}


def _stands_in(need: Need, when: Mapping[str, Any]) -> bool:
    """Whether all that a need asks for stands in a sparse key."""
    asked = {**need.narrow, **need.constants}
    return all(
        name in asked and {repr(each) for each in values_of(asked[name])} <= {repr(each) for each in values_of(value)}
        for name, value in when.items()
    )


def _wishes(needs: Sequence[Need], partition: frozenset[str], when: Mapping[str, Any], *, filters: bool) -> list[_Wish]:
    """The needs that this partition can serve, with what they ask of the sort key."""
    wishes: list[_Wish] = []
    every = frozenset(name for need in needs for name in (*need.known, *need.free, *([need.next] if need.next else [])))

    def wish(number: int, need: Need, front: frozenset[str], asked: frozenset[str]) -> None:
        if need.next not in front:
            behind = need.next if need.next not in partition else None
            wishes.append(_Wish(len(wishes), number, front, behind, asked, need.one))

    for number, need in enumerate(needs):
        if need.scan_index is not None:
            if dict(need.constants) == dict(when):
                wish(number, need, frozenset(), frozenset() if when else every)
            continue
        if not _stands_in(need, when):
            continue  # a sparse key holds only some of the items
        given = need.known | (need.constants.keys() - _said(need, when))
        if not partition <= given | need.free or not need.each <= partition:
            continue
        if not partition and (given or need.free):
            continue
        if need.together and given != partition:
            continue  # what several entities share is their partition
        if len(need.several & partition) + bool(need.each) > 1:
            continue  # one field of a partition can have many values
        front = given - partition
        asked = frozenset[str]({*given, *need.free, *when, *([need.next] if need.next else [])})
        if not front & need.several:
            wish(number, need, front, asked)
        if filters and front - need.known:  # the constants left out of the key are filtered
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
    complete = not entity.optional & (wish.chain[-1] - other.asked | other.chain[-1] - wish.asked)
    chain = all(left <= right or right <= left for left in wish.chain for right in other.chain)
    single = all(other.chain[-1] | wish.chain[-1] <= each.asked for each in (wish, other) if each.sole)
    return chain and complete and single


def _candidate(
    entity: EntityFacts,
    needs: Sequence[Need],
    partition: Sequence[str],
    clique: Iterable[_Wish],
    when: tuple[tuple[str, Any], ...],
    *,
    whole: bool = False,
) -> Candidate:
    """The key of a set of wishes: their chain of fields in order, then what tells items apart. ``whole``: all of that
    in any case, as a primary key must.
    """
    wishes = tuple(clique)
    sort: list[str] = []
    for step in sorted({step for wish in wishes for step in wish.chain}, key=len):
        sort += [name for name in entity.kinds if name in step and name not in sort]
    needed = len(sort)
    latest = [needs[wish.number] for wish in wishes if needs[wish.number].latest]
    merged = any(needs[wish.number].interleaved and wish.next for wish in wishes)
    turned = frozenset(need.order for need in latest if need.order is not None)
    sole = any(wish.sole for wish in wishes)
    if whole or not sole:  # an index key by which single items are looked up ends with what they are looked up by
        sort += [name for name in entity.identity if name not in sort and name not in partition]
    held = entity.optional.intersection((*partition, *sort))
    served = frozenset(
        wish.number
        for wish in wishes
        if (not wish.sole or wish.asked.issuperset(sort)) and _holds_all(needs[wish.number], held)
    )
    sorted_as = next((need.sorted_as.__name__ for need in map(needs.__getitem__, served) if need.sorted_as), "")
    return Candidate(tuple(partition), tuple(sort), when, served, needed, turned, sorted_as, merged)


def _holds_all(need: Need, optional: Collection[str]) -> bool:
    """Whether a key that is read whole holds what is meant: all items with its constants, or else those of the optional
    fields in it.
    """
    return need.scan_index is None or bool(need.constants) is not bool(optional)


def _writable(entity: EntityFacts, key: Candidate, *, primary: bool) -> bool:
    """Whether the key can be written: a fraction has no text that sorts, so it stands in a native sort attribute of an
    index, of which there are four at most.
    """
    fractions = [kind_of(entity.kinds[name]) in {float, Decimal} for name in key.sort[: key.needed]]
    if any(kind_of(entity.kinds[name]) in {float, Decimal} for name in key.partition):
        return False
    if primary:
        return not any(kind_of(entity.kinds[name]) in {float, Decimal} for name in key.sort)
    return not any(fractions) or len(fractions) <= KEY_ATTRIBUTES_MAX


def _best(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The candidates, without those that are the same or serve nothing that another of the same fields doesn't."""
    result: dict[tuple[Any, ...], Candidate] = {}
    for candidate in candidates:
        place = (candidate.partition, candidate.sort, candidate.when)
        if place not in result or len(result[place].serves) < len(candidate.serves):
            result[place] = candidate
    return list(result.values())
