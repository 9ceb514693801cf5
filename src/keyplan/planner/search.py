"""The choice: one primary key and as few index keys as will do for each entity, in as few indexes as will do for all.

The search is exact: entities are tied together by item collections alone, so every way to place the collections is
tried, and for each entity every cover of its needs of the least size. Plans that are equal in the number of indexes are
ordered by how much their keys change and read; what they cost is judged in ``planning.py``, by the cost model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from heapq import nsmallest
from itertools import chain, count, product
from typing import Any, TypeAlias

from keyplan.model.compiled.constants import domain_of
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import kind_of
from keyplan.planner.candidates import Candidate, exclude, index_candidates, primary_candidates
from keyplan.planner.copies import mirror
from keyplan.planner.facts import EntityFacts
from keyplan.planner.fixed import Fixed
from keyplan.planner.forms import TEXT, Forms, attribute_form, own_form, sort_forms
from keyplan.planner.needs import ANY_INDEX, Need

__all__ = ["Choice", "EntityChoice", "Search", "Unserved", "choices"]

Bundle: TypeAlias = tuple[Candidate, ...]
"""Keys of one entity that share an index, since no item stands under two of them."""

BUNDLES_MAX = 400
"""Bundles of one entity's keys that are tried."""
COVERS_MAX = 400
"""Covers of one entity that are compared; all have the least number of keys."""
PLANS_MAX = 24
PLACEMENTS_MAX = 4096

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class EntityChoice:
    """An entity's keys: where each index key stands is a number, the same for all entities in one index."""

    entity: EntityFacts
    needs: tuple[Need, ...]
    primary: Candidate
    indexed: tuple[Candidate, ...]
    slots: tuple[int, ...] = ()
    claims: tuple[Need, ...] = ()
    bundles: tuple[int, ...] = ()
    """For each index key a number: keys of the same one exclude each other, and share an index."""

    @cached_property
    def places(self) -> int:
        """How many indexes its keys need."""
        return len(set(self.bundles))

    @cached_property
    def ambiguous(self) -> int:
        """How many questions without an order two keys answer in different orders: the compiler asks for one then."""
        keys = (self.primary, *self.indexed)
        open_ = (number for number, need in enumerate(self.needs) if need.next is None and not need.one)
        return sum(sum(number in key.serves for key in keys) > 1 for number in open_)

    @cached_property
    def refused(self) -> int:
        """How many fields stand in its index keys that are changed without the whole item, which can't be done then."""
        keyed = {
            name for candidate in self.indexed for name in (*candidate.fields, *(name for name, _ in candidate.when))
        }
        claimed = {name for claim in self.claims for name in claim.known}
        own = {name for key in self.indexed if own_form(self.entity, key) for name in key.sort[:1]}
        return len(((keyed - own) | claimed) & self.entity.blind)

    @cached_property
    def few(self) -> int:
        """How many of its index keys have partitions of few values, which become large and busy."""
        return sum(
            all(domain_of(self.entity.kinds[name]) is not None for name in candidate.partition)
            for candidate in self.indexed
        )

    @cached_property
    def changes(self) -> int:
        """How many fields that updates change stand in its index keys: each such update writes an entry twice."""
        keyed = [
            name for candidate in self.indexed for name in (*candidate.fields, *(name for name, _ in candidate.when))
        ]
        return sum(name in self.entity.changing for name in keyed)

    @cached_property
    def forms(self) -> tuple[Forms, ...]:
        """The forms that each index key may have, the preferred first."""
        own = [own_form(self.entity, key) for key in self.indexed]
        return tuple(
            sort_forms(self.entity, key) if form is None else (form,)
            for form, key in zip(own, self.indexed, strict=True)
        )

    @cached_property
    def forms_of_attributes(self) -> tuple[Forms, ...]:
        """The same where a key is of several attributes if it can be."""
        native = [
            None if self.collections[at] else attribute_form(self.entity, key) for at, key in enumerate(self.indexed)
        ]
        return tuple(
            forms if form is None or own_form(self.entity, key) else (form,)
            for form, forms, key in zip(native, self.forms, self.indexed, strict=True)
        )

    @cached_property
    def number_keys(self) -> int:
        """How many of its index keys can't be one joined text."""
        return sum(TEXT not in sort_forms(self.entity, key) for key in self.indexed)

    @cached_property
    def text_keys(self) -> int:
        """How many of its index keys can be nothing else."""
        return sum(sort_forms(self.entity, key) == (TEXT,) for key in self.indexed)

    @cached_property
    def collections(self) -> tuple[tuple[str, ...], ...]:
        """The places of the collections that each index key serves."""
        return tuple(
            tuple(self.needs[number].place for number in sorted(key.serves) if self.needs[number].together)
            for key in self.indexed
        )

    @cached_property
    def read_whole(self) -> tuple[frozenset[str], ...]:
        """The indexes that are read whole by questions that each index key serves."""
        wanted = ([self.needs[number].scan_index for number in key.serves] for key in self.indexed)
        return tuple(frozenset(text for text in texts if text is not None) for texts in wanted)

    def with_slots(self, slots: tuple[int, ...]) -> EntityChoice:
        """The same keys in these indexes; what is known of the keys stays known."""
        result = copy(self)
        object.__setattr__(result, "slots", slots)
        return result


@dataclass(frozen=True)
class Choice:
    """The keys of all entities, and the indexes that hold them."""

    entities: tuple[EntityChoice, ...]
    indexes: int
    forms: Mapping[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    """The types of each index's sort key attributes: ("S",) is one joined text."""
    names: Mapping[int, str] = field(default_factory=dict[int, str])
    """The names of indexes that questions name."""

    @property
    def rank(self) -> tuple[int, ...]:
        """No write that can't work, fewer indexes, fewer claims, fewer index keys, fewer that change, more by the
        table; then shorter keys.
        """
        refused = sum(entity.refused for entity in self.entities)
        claims = sum(len(entity.claims) for entity in self.entities)
        keys = sum(len(entity.indexed) for entity in self.entities)
        changes = sum(entity.changes for entity in self.entities)
        by_table = sum(len(entity.primary.serves) for entity in self.entities)
        length = sum(len(key.fields) for entity in self.entities for key in (entity.primary, *entity.indexed))
        sparse = sum(bool(key.when) for entity in self.entities for key in entity.indexed)
        ambiguous = sum(entity.ambiguous for entity in self.entities)
        few = sum(entity.few for entity in self.entities)
        return (refused, self.indexes, ambiguous, claims, keys, changes, -by_table, few, length, -sparse)


@dataclass(frozen=True)
class Search:
    """Which choices are looked for. ``filters``: constants may be filtered after reading, where that saves a key.
    ``claims``: claims may take the place of keys by which single items are looked up. ``spread``: keys with the widest
    partitions are tried, in more indexes than are needed.
    """

    filters: bool = False
    claims: bool = False
    spread: bool = False
    sweeps: bool = False
    """Whether questions that know constants alone are answered by all of a sparse index."""
    attributes: bool = False
    """Whether index keys are of several attributes, each of its field's type, where they can be."""


@dataclass
class Unserved:
    """A need that no key can serve, and why."""

    need: Need
    reason: str
    hint: str


@dataclass
class _Problem:
    entity: EntityFacts
    needs: list[Need]
    primaries: list[Candidate] = field(default_factory=list[Candidate])
    indexed: list[Candidate] = field(default_factory=list[Candidate])


def choices(
    entities: Sequence[EntityFacts],
    needs: Sequence[Need],
    fixed: Fixed,
    progress: Progress | None = None,
    search: Search | None = None,
) -> tuple[list[Choice], list[Unserved]]:
    """The best choices, the best first; or the needs that can't be served. ``needs``: those that what is ``fixed``
    doesn't serve.
    """
    search = search or Search()
    if search.sweeps:
        needs = [replace(need, scan_index=ANY_INDEX) if need.sweepable else need for need in needs]
    problems = {
        entity.cls: _Problem(entity, [need for need in needs if need.entity is entity.cls]) for entity in entities
    }
    for problem in problems.values():
        if problem.entity.cls in fixed.keys:
            problem.primaries = [Candidate((), (), (), frozenset())]
        else:
            problem.primaries = primary_candidates(problem.entity, problem.needs, filters=search.filters)
        problem.indexed = index_candidates(problem.entity, problem.needs, filters=search.filters)
    unserved = [result for problem in problems.values() for result in _unserved(problem)]
    if unserved:
        return [], unserved
    result: list[Choice] = []
    placements = _placements(list(problems.values()), needs, fixed)
    for number, placed in enumerate(placements, 1):
        result += _with_placement(problems, placed, fixed, search)
        result = nsmallest(PLANS_MAX, result, key=lambda choice: choice.rank)
        if progress is not None:
            progress(number, len(placements))
    return result, []


def _unserved(problem: _Problem) -> Iterator[Unserved]:
    every = frozenset[int]().union(*(primary.serves for primary in (*problem.primaries, *problem.indexed)))
    for number, need in enumerate(problem.needs):
        if number in every or need.claimable:
            continue
        if fractions := [name for name in need.known if kind_of(problem.entity.kinds[name]) in {float, Decimal}]:
            yield Unserved(
                need,
                f"{', '.join(sorted(fractions))} is a fraction, which no partition key tells apart",
                "know something else by equality, and this as a Range",
            )
        elif need.scan_index is not None:
            yield Unserved(
                need,
                f"all of {need.scan_index} is asked for, and without keys nothing says which items stand in it",
                'say it with constants, where={"status": "open"}, or keep the key',
            )
        elif need.consistent:
            yield Unserved(
                need,
                f"it is strongly consistent, and only the table answers that: by {', '.join(problem.entity.identity)}",
                mirror(problem.entity, [name for name in problem.entity.kinds if name in need.known]),
            )
        else:
            yield Unserved(need, "no one key can answer it", "know more of it by equality, or ask in two questions")


# Where item collections stand


def _placements(problems: Sequence[_Problem], needs: Sequence[Need], fixed: Fixed) -> list[Mapping[str, bool]]:
    """Every way to place the item collections: each in the table (True), where its partition allows it, or an index."""
    together = {need.place: need for need in needs if need.together}
    facts = {problem.entity.cls: problem.entity for problem in problems}
    options: list[list[bool]] = []
    for need in together.values():
        free = not any(cls in fixed.keys for cls in need.together)
        in_table = (
            free and all(need.known <= frozenset(facts[cls].identity) for cls in need.together) and bool(need.known)
        )
        options.append([True] * in_table + [False] * (not need.consistent))
    ways: list[Mapping[str, bool]] = [dict(zip(together, element, strict=True)) for element in product(*options)]
    return ways[:PLACEMENTS_MAX]


def _with_placement(
    problems: Mapping[type[Entity], _Problem], placed: Mapping[str, bool], fixed: Fixed, search: Search
) -> list[Choice]:
    """The choices for one placement of the collections."""
    per_entity = [_covers(problem, placed, search) for problem in problems.values()]
    if not all(per_entity):
        return []
    if search.spread:
        per_entity = [
            [_spread(problem, covers[0]), *covers]
            for problem, covers in zip(problems.values(), per_entity, strict=True)
        ]
    # An entity that needs the most indexes sets their number; the others may use as many, rather than claims.
    indexes = max((min(cover.places for cover in covers) for covers in per_entity), default=0)
    allowed = [sorted((cover for cover in covers if cover.places <= indexes), key=_preference) for covers in per_entity]
    return [
        choice
        for choice in (_slotted(element, placed, fixed, search) for element in _combined(allowed))
        if choice is not None
    ]


def _combined(per_entity: Sequence[list[EntityChoice]]) -> Iterator[tuple[EntityChoice, ...]]:
    """Combinations of the entities' covers: each one's best, and each other cover of one entity with the best of the
    rest; entities are independent but for their number of indexes, so nothing better is left out.
    """
    best = tuple(covers[0] for covers in per_entity)
    yield best
    for position, covers in enumerate(per_entity):
        for other in covers[1:PLANS_MAX]:
            yield (*best[:position], other, *best[position + 1 :])


def _covers(problem: _Problem, placed: Mapping[str, bool], search: Search) -> list[EntityChoice]:
    """Every smallest set of keys that serves all needs of an entity: with claims for single items, and without."""
    needs = tuple(problem.needs)
    every = frozenset(range(len(needs)))
    in_table = frozenset(number for number, need in enumerate(needs) if placed.get(need.place))
    in_index = frozenset(
        number for number, need in enumerate(needs) if need.together and not placed.get(need.place, True)
    )
    result: dict[int, list[EntityChoice]] = {}
    fewest: dict[int, int] = {}
    for primary in sorted(problem.primaries, key=lambda candidate: -len(candidate.serves)):
        if not in_table <= primary.serves:
            continue
        rest = every - (primary.serves - in_index)
        for shared, claims in _smallest(problem, rest, search):
            size, least = len(shared), fewest.get(len(claims), len(needs) + 1)
            if size < least:
                fewest[len(claims)], result[len(claims)] = size, []
            if size <= least and len(result[len(claims)]) < COVERS_MAX:
                keys = tuple(key for bundle in shared for key in bundle)
                places = tuple(place for place, bundle in enumerate(shared) for _ in bundle)
                result[len(claims)].append(
                    EntityChoice(problem.entity, needs, primary, keys, claims=claims, bundles=places)
                )
    return [choice for covers in result.values() for choice in covers]


def _preference(choice: EntityChoice) -> tuple[Any, ...]:
    """No write that can't work, fewer claims, fewer changing fields, more by the table; then fewer fields, more of them
    in partitions, which become smaller and cooler so, and the fields' natural order.
    """
    width = sum(len(candidate.partition) for candidate in (choice.primary, *choice.indexed) if candidate.serves)
    length = sum(len(candidate.fields) for candidate in (choice.primary, *choice.indexed))
    order = [list(choice.entity.kinds).index(name) for name in choice.primary.fields]
    constants = sum(not candidate.partition for candidate in choice.indexed)
    return (
        choice.refused,
        choice.ambiguous,
        len(choice.claims),
        choice.changes,
        -len(choice.primary.serves),
        choice.few,
        constants,
        length,
        -width,
        len(choice.primary.partition),
        order,
    )


def _smallest(
    problem: _Problem, rest: frozenset[int], search: Search
) -> Iterator[tuple[tuple[Bundle, ...], tuple[Need, ...]]]:
    """The smallest sets of bundles that serve the rest. What is looked up as a single item may be a claim instead:
    where it must be strongly consistent, where no key can serve it, and where claims may save keys.
    """
    needs = problem.needs
    claimable = frozenset(number for number in rest if needs[number].claimable)
    served = frozenset[int]().union(*(candidate.serves for candidate in problem.indexed))
    must = frozenset(number for number in claimable if needs[number].consistent or number not in served)
    useful = _undominated([candidate for candidate in problem.indexed if candidate.serves & rest], rest)
    for claimed in dict.fromkeys((must, claimable) if search.claims else (must,)):
        claims = tuple(needs[number] for number in sorted(claimed))
        for chosen in _set_covers(problem.entity, useful, rest - claimed):
            yield chosen, claims


def _spread(problem: _Problem, cover: EntityChoice) -> EntityChoice:
    """A cover in which each need has the key with the widest partition, so that what is asked and written is spread
    over more partition keys than the fewest keys would have.
    """
    chosen: dict[Candidate, None] = {}
    for key in cover.indexed:
        for number in sorted(key.serves):
            serving = [candidate for candidate in problem.indexed if number in candidate.serves]
            chosen[max(serving, key=lambda candidate: (len(candidate.partition), -len(candidate.fields)))] = None
    return replace(cover, indexed=tuple(chosen), bundles=tuple(range(len(chosen))))


def _set_covers(entity: EntityFacts, candidates: Sequence[Candidate], rest: frozenset[int]) -> list[tuple[Bundle, ...]]:
    """The smallest sets of bundles that together serve the rest; none where that can't be."""
    bundles = [
        (bundle, frozenset[int]().union(*(key.serves for key in bundle)) & rest)
        for bundle in _bundles(entity, candidates)
    ]
    for size in range(len(rest) + 1):
        covers: list[tuple[Bundle, ...]] = []
        _extend(bundles, rest, size, (), covers)
        if covers:
            return [_needed(cover, rest) for cover in covers]
    return []


def _bundles(entity: EntityFacts, candidates: Sequence[Candidate]) -> Iterator[Bundle]:
    """What one index can hold of an entity: one key, or keys that exclude each other, as many as can be."""
    yield from ((candidate,) for candidate in candidates)
    sparse = [candidate for candidate in candidates if candidate.when]
    shared: list[Bundle] = []

    def extend(bundle: Bundle, rest: Sequence[Candidate]) -> None:
        if len(shared) >= BUNDLES_MAX:
            return
        more = [key for key in rest if _shareable(entity, bundle, key)]
        if not more and len(bundle) > 1:
            shared.append(bundle)
        for number, key in enumerate(more):
            extend((*bundle, key), more[number + 1 :])

    for number, key in enumerate(sparse):
        extend((key,), sparse[number + 1 :])
    yield from shared


def _shareable(entity: EntityFacts, bundle: Bundle, key: Candidate) -> bool:
    forms = set(sort_forms(entity, key)).intersection(*(sort_forms(entity, other) for other in bundle))
    return bool(forms) and all(exclude(dict(key.when), dict(other.when)) for other in bundle)


def _needed(cover: tuple[Bundle, ...], rest: frozenset[int]) -> tuple[Bundle, ...]:
    """The cover without keys whose needs all are served by others."""
    kept = [list(bundle) for bundle in cover]
    for bundle in kept:
        for key in sorted(bundle, key=lambda key: len(key.serves & rest)):
            others = [other for own in kept for other in own if other is not key]
            if len(bundle) > 1 and key.serves & rest <= frozenset[int]().union(*(other.serves for other in others)):
                bundle.remove(key)
    return tuple(tuple(bundle) for bundle in kept)


def _extend(
    bundles: Sequence[tuple[Bundle, frozenset[int]]],
    rest: frozenset[int],
    left: int,
    chosen: tuple[Bundle, ...],
    covers: list[tuple[Bundle, ...]],
) -> None:
    """Branch on the need that the fewest bundles serve."""
    if not rest:
        covers.append(chosen)
        return
    if (
        not left
        or len(covers) >= COVERS_MAX
        or len(rest) > left * max((len(serves & rest) for _, serves in bundles), default=0)
    ):
        return
    hardest = min(rest, key=lambda number: sum(number in serves for _, serves in bundles))
    for bundle, serves in bundles:
        if hardest in serves:
            _extend(bundles, rest - serves, left - 1, (*chosen, bundle), covers)


def _undominated(candidates: Sequence[Candidate], rest: frozenset[int]) -> list[Candidate]:
    """Candidates of which none serves less than another with fewer fields."""
    kept: list[Candidate] = []
    for candidate in sorted(
        candidates, key=lambda candidate: (-len(candidate.serves & rest), len(candidate.fields), -len(candidate.when))
    ):
        # What a sparse key can share an index with, another may not: only one that is as sparse stands for it.
        rivals = [other for other in kept if not candidate.when or candidate.when == other.when]
        if not any(candidate.serves & rest < other.serves & rest for other in rivals):
            kept.append(candidate)
    return kept


# In which index each key stands


def _slotted(
    entities: Sequence[EntityChoice], placed: Mapping[str, bool], fixed: Fixed, search: Search
) -> Choice | None:
    """The keys put into indexes: a collection's keys share one, each entity has one key in each, and all keys in one
    have sort keys of the same form.
    """
    shared: dict[str, int] = {}
    forms = fixed.forms
    slots: dict[int, dict[int, int]] = {}
    texts = _indexes_of_text(entities)
    for choice in sorted(entities, key=lambda choice: -choice.places):
        own: dict[int, int] = {}
        forms_of = choice.forms_of_attributes if search.attributes else choice.forms
        for bundle in _by_forms(choice, forms_of):
            keys = [choice.indexed[number] for number in bundle]
            groups = [
                group
                for number in bundle
                for group in choice.collections[number]
                if group in placed and not placed[group]
            ]
            given = {shared[group] for group in groups if group in shared}
            if len(given) > 1:
                return None  # two collections, which stand in two indexes
            slot = next(iter(given), None)
            held = {place for other, place in own.items() if not _all_exclude(keys, choice.indexed[other])}
            held |= fixed.taken(choice.entity.cls, keys)
            possible = [form for form in forms_of[bundle[0]] if all(form in forms_of[number] for number in bundle)]
            if sum(forms[own_slot] == TEXT for own_slot in {*own.values()}) >= texts:
                possible.reverse()
            if slot is None:
                slot = next(
                    free for free in count(1) if free not in held and (free not in forms or forms[free] in possible)
                )
            if slot in held or forms.setdefault(slot, possible[0]) not in possible:
                return None
            shared.update(dict.fromkeys(groups, slot))
            own.update(dict.fromkeys(bundle, slot))
        slots[id(choice)] = own
    names: dict[int, str] = {}
    for choice in entities:  # an index that is read whole holds nothing else
        for number, wanted in enumerate(choice.read_whole):
            if len(wanted) > 1:
                return None
            if wanted:
                slot = slots[id(choice)][number] = max(forms, default=0) + 1
                forms[slot] = (choice.forms_of_attributes if search.attributes else choice.forms)[number][0]
                if wanted != frozenset({ANY_INDEX}):
                    (names[slot],) = wanted
    placed_in = {entity: tuple(slots[entity][number] for number in sorted(slots[entity])) for entity in slots}
    return Choice(tuple(entity.with_slots(placed_in[id(entity)]) for entity in entities), len(forms), forms, names)


def _by_forms(choice: EntityChoice, forms_of: Sequence[Forms]) -> list[list[int]]:
    """The numbers of an entity's keys, bundle by bundle, those first that can stand in the fewest kinds of index. What
    is read whole stands in an index of its own.
    """
    bundles: dict[int, list[list[int]]] = {}
    for number, bundle in enumerate(choice.bundles):
        if choice.read_whole[number]:
            continue
        groups = bundles.setdefault(bundle, [])
        for group in groups:
            if set(forms_of[number]).intersection(*(forms_of[other] for other in group)):
                group.append(number)
                break
        else:  # of several attributes, keys may have no form in common
            groups.append([number])
    return sorted(chain(*bundles.values()), key=lambda own: min(len(forms_of[number]) for number in own))


def _all_exclude(keys: Sequence[Candidate], other: Candidate) -> bool:
    return all(exclude(dict(key.when), dict(other.when)) for key in keys)


def _indexes_of_text(entities: Sequence[EntityChoice]) -> int:
    """How many indexes should have a joined text as their sort key: what can stand in either kind fills up the others,
    so that there are the fewest in all.
    """
    numbers = max((entity.number_keys for entity in entities), default=0)
    texts = max((entity.text_keys for entity in entities), default=0)
    return max(texts, max((len(entity.indexed) for entity in entities), default=0) - numbers)
