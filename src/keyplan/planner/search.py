"""Searches, within limits, for a primary key and index keys for each entity, in the fewest indexes.

A layout sets the number of indexes, the format of each index's sort key, and whether each item collection is in the
table or in an index. In one layout, entities don't depend on each other, so each entity's best set of keys is also the
best overall. The search adds indexes until a layout supports every need.

The number of indexes is therefore the minimum for these candidates, unless the search reached a limit, which is listed
in ``Found.limits``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import nsmallest
from itertools import combinations_with_replacement
from typing import TypeAlias

from keyplan.model.compiled.constants import domain_of
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.keys import Key
from keyplan.planner.candidates import TEXT, Candidate, Form, exclude, index_candidates, primary_candidates, sort_forms
from keyplan.planner.facts import Deployed, EntityFacts
from keyplan.planner.needs import Need, is_fraction

Bundle: TypeAlias = tuple[Candidate, ...]
"""Keys of one entity that share an index, since no item is under two of them."""
Placement: TypeAlias = Mapping[str, int]
"""The place of each item collection: 0 for the table, else the number of an index."""
Progress = Callable[[int, int], None]

INDEXES_MAX = 20
"""Global indexes of a table. Source: "Service, account, and table quotas" in the developer guide."""
BUNDLES_MAX = 400
"""Sets of keys of one entity that can share an index, that are considered."""
COVERS_MAX = 200
"""Sets of keys of one entity that are compared for each primary key and each number of keys."""
LAYOUTS_MAX = 2000
"""Layouts that are tried for each number of indexes."""
CHOICES_MAX = 24
"""Choices that are returned."""
WHOLE = "all of "
"""Begins the group of the needs that read an index whole."""
WIDER_MAX = 2
"""The keys beyond the fewest that an entity can have, if other entities need the indexes."""


@dataclass(frozen=True)
class Search:
    """The options of a search. ``filters``: constants may be filtered after reading, if that saves a key. ``claims``:
    unique values can replace keys that find one item. ``attributes``: index keys have typed attributes instead of
    joined strings. ``banned``: partition keys that would be too busy, by entity and field names.
    """

    filters: bool = False
    claims: bool = False
    attributes: bool = False
    banned: frozenset[tuple[type[Entity], frozenset[str]]] = frozenset()


@dataclass(frozen=True)
class EntityChoice:
    """An entity's keys, the number of each key's index, and the needs that unique values support."""

    entity: EntityFacts
    needs: tuple[Need, ...]
    primary: Candidate
    bundles: tuple[Bundle, ...]
    slots: tuple[int, ...] = ()
    claims: tuple[Need, ...] = ()

    @property
    def indexed(self) -> list[tuple[Candidate, int]]:
        return [(key, slot) for bundle, slot in zip(self.bundles, self.slots, strict=True) for key in bundle]

    @cached_property
    def cost(self) -> tuple[int, ...]:
        """The cost of a choice, most important count first: reads that two keys would return in different orders,
        unique values, index keys, index key fields that updates change, needs that the primary key supports (negative),
        partition keys with few values, key fields, and sparse keys (negative).
        """
        keys = [key for bundle in self.bundles for key in bundle]
        served = [key.serves for key in (self.primary, *keys)]
        open_ = [number for number, need in enumerate(self.needs) if need.next is None and not need.one]
        kinds, changing = self.entity.kinds, self.entity.changing
        return (
            sum(sum(number in numbers for numbers in served) > 1 for number in open_),
            len(self.claims),
            len(keys),
            sum(name in changing for key in keys for name in (*key.fields, *(name for name, _ in key.when))),
            -len(self.primary.serves),
            sum(all(domain_of(kinds[name]) is not None for name in key.partition) for key in keys),
            sum(len(key.fields) for key in (self.primary, *keys)),
            -sum(bool(key.when) for key in keys),
        )

    @cached_property
    def preference(self) -> tuple[object, ...]:
        """The cost, then preferences: no constant partition keys, many partition key fields, the order of fields."""
        keys = [key for bundle in self.bundles for key in bundle]
        width = sum(len(key.partition) for key in (self.primary, *keys) if key.serves)
        order = [list(self.entity.kinds).index(name) for name in self.primary.fields]
        constants = sum(not key.partition for key in keys)
        return (*self.cost, constants, -width, len(self.primary.partition), order)


@dataclass(frozen=True)
class Choice:
    """The keys of all entities, and the formats and given names of their indexes, by index number."""

    entities: tuple[EntityChoice, ...]
    forms: Mapping[int, Form] = field(default_factory=dict[int, Form])
    names: Mapping[int, str] = field(default_factory=dict[int, str])

    @property
    def rank(self) -> tuple[int, ...]:
        """The sort key of choices: the number of indexes, then the total cost of the entities."""
        costs = [entity.cost for entity in self.entities]
        return (len(self.forms), *(sum(values) for values in zip(*costs, strict=True)))


@dataclass(frozen=True)
class Unserved:
    """A need that no key can support, with the reason and a hint."""

    need: Need
    reason: str
    hint: str


@dataclass
class Found:
    """The best choices in order, the needs that no key can support, and the limits that the search reached."""

    choices: list[Choice] = field(default_factory=list[Choice])
    unserved: list[Unserved] = field(default_factory=list[Unserved])
    limits: list[str] = field(default_factory=list[str])


def search(
    entities: Sequence[EntityFacts],
    needs: Sequence[Need],
    deployed: Deployed,
    options: Search,
    progress: Progress | None = None,
) -> Found:
    """The choices with the fewest indexes that support all needs. ``deployed``: the existing keys, which are kept."""
    result = Found()
    parts = [_Entity(entity, needs, deployed, options, result) for entity in entities]
    result.unserved = [unserved for part in parts for unserved in part.unserved()]
    if result.unserved:
        return result
    layouts = _Layouts(parts, needs, deployed)
    fewest = max([len(deployed.indexes), *(part.fewest for part in parts)])
    most = fewest + sum(part.fewest for part in parts) + len(layouts.groups)
    for count in range(fewest, min(most, INDEXES_MAX) + 1):
        if progress is not None:
            progress(count, most)
        for tried, layout in enumerate(layouts.of(count), 1):
            if tried > LAYOUTS_MAX:
                result.limits.append(f"only the first {LAYOUTS_MAX} layouts of {count} indexes were tried")
                break
            result.choices += layouts.choices(layout)
            result.choices = nsmallest(CHOICES_MAX, result.choices, key=lambda choice: choice.rank)
        if result.choices:
            break
    return result


@dataclass(frozen=True)
class _Layout:
    forms: tuple[Form, ...]
    placement: Placement


class _Entity:
    """One entity: its candidates, and the sets of them that serve its needs."""

    def __init__(
        self, entity: EntityFacts, needs: Sequence[Need], deployed: Deployed, options: Search, found: Found
    ) -> None:
        self.entity = entity
        self.options = options
        self.found = found
        self.needs = tuple(need for need in needs if need.entity is entity.cls)
        self.fixed = entity.cls in deployed.keys
        self.primaries = [Candidate((), (), (), frozenset())]
        if not self.fixed:
            self.primaries = primary_candidates(entity, self.needs, filters=options.filters)
        self.candidates = index_candidates(entity, self.needs, filters=options.filters)
        banned = {partition for cls, partition in options.banned if cls is entity.cls}
        self.primaries = [key for key in self.primaries if not key.partition or frozenset(key.partition) not in banned]
        self.candidates = [key for key in self.candidates if frozenset(key.partition) not in banned]
        self.primaries.sort(key=lambda key: -len(key.serves))
        self.taken = dict(enumerate((self._taken(deployed, index) for index in deployed.indexes), 1))
        self.forms = {key: sort_forms(entity, key, attributes=options.attributes) for key in self.candidates}
        self._known: dict[tuple[object, ...], list[EntityChoice]] = {}

    def _taken(self, deployed: Deployed, index: Index) -> list[Key]:
        own = deployed.keys.get(self.entity.cls, {}).values()
        return [key for key in own if isinstance(key, Key) and key.index is not None and key.index.name == index.name]

    @property
    def fewest(self) -> int:
        """The number of indexes that this entity requires; a lower bound for the design."""
        return min((len(choice.bundles) for choice in self.choices({}, 0)), default=0)

    def unserved(self) -> Iterator[Unserved]:
        every = frozenset[int]().union(*(key.serves for key in (*self.primaries, *self.candidates)))
        if not self.primaries:
            names = ", ".join(name for name in self.entity.identity if is_fraction(self.entity.kinds[name]))
            reason = f"{names} identifies an item, but a key can't represent a float or Decimal exactly"
            need = Need(self.entity.name, self.entity.cls, frozenset())
            yield Unserved(need, reason, "identify the item by a string or an int")
            return
        for number, need in enumerate(self.needs):
            if number not in every and not (need.claimable and not self._unkeyable(need)):
                yield Unserved(need, *self._why(need))

    def _unkeyable(self, need: Need) -> list[str]:
        asked = {*need.known, *need.constants, *([need.next] if need.next else [])}
        return [name for name in self.entity.in_order(asked) if name in self.entity.unkeyable]

    def _why(self, need: Need) -> tuple[str, str]:
        kinds = self.entity.kinds
        if fractions := sorted(name for name in need.known if is_fraction(kinds[name])):
            return (
                f"a partition key can't represent a float or Decimal exactly: {', '.join(fractions)}",
                f"use an equality condition on another field, and a Range for {', '.join(fractions)}",
            )
        if need.whole is not None:
            return (
                f"the pattern reads the index {need.whole}, but no key or constant determines the items of the index",
                'add constants, such as where={"status": "open"}, or keep the key of the index',
            )
        if need.consistent:
            return (
                f"only the table's key ({', '.join(self.entity.identity)}) supports strongly consistent reads",
                "omit consistent=True, or in the same transaction, also write an item whose primary key contains "
                + " and ".join(self.entity.in_order(need.known)),
            )
        if names := self._unkeyable(need):
            write = self.entity.unkeyable[names[0]]
            return (
                f"{write} changes {names[0]} without reading the item, so no key with {names[0]} can be recomputed",
                f"read the {self.entity.name} in the write, and update the instance: Update(item, {names[0]}=...)",
            )
        return "no single key supports this pattern", "use more equality conditions, or split the pattern in two"

    # Sets of keys

    def choices(self, placement: Placement, wider: int) -> list[EntityChoice]:
        """The sets of keys that support all needs in a placement, with ``wider`` more keys than the smallest set."""
        own = {need.place for need in self.needs if need.together}
        sides = tuple(sorted((place, int(slot > 0)) for place, slot in placement.items() if place in own))
        if (sides, wider) not in self._known:
            self._known[sides, wider] = list(self._covers(dict(sides), wider))
        return self._known[sides, wider]

    def _covers(self, placement: Placement, wider: int) -> Iterator[EntityChoice]:
        numbers = range(len(self.needs))
        in_table = {number for number in numbers if placement.get(self.needs[number].place) == 0}
        in_index = frozenset(number for number in numbers if placement.get(self.needs[number].place, 0) > 0)
        smallest: dict[int, int] = {}
        result: list[EntityChoice] = []
        for primary in self.primaries:
            if not in_table <= primary.serves:
                continue
            rest = frozenset(numbers) - (primary.serves - in_index)
            for claimed in self._claims(rest):
                claims = tuple(self.needs[number] for number in sorted(claimed))
                most = smallest.get(len(claims), len(rest))
                covers = self._set_covers(rest - claimed, most, wider)
                if covers:
                    smallest[len(claims)] = min(most, len(covers[0]) - wider)
                result += [EntityChoice(self.entity, self.needs, primary, cover, claims=claims) for cover in covers]
        return (choice for choice in result if len(choice.bundles) == smallest[len(choice.claims)] + wider)

    def _claims(self, rest: frozenset[int]) -> list[frozenset[int]]:
        """The needs that become unique values: those that no key serves, and if wanted all that could."""
        served = frozenset[int]().union(*(key.serves for key in self.candidates))
        could = frozenset(n for n in rest if self.needs[n].claimable and not self._unkeyable(self.needs[n]))
        must = frozenset(number for number in could if self.needs[number].consistent or number not in served)
        return list(dict.fromkeys((must, could) if self.options.claims else (must,)))

    def _set_covers(self, rest: frozenset[int], most: int, wider: int) -> list[tuple[Bundle, ...]]:
        """The sets of bundles that serve the rest: the smallest, of at most ``most``, or ``wider`` by some."""
        useful = self._undominated(rest)
        bundles = [(b, frozenset[int]().union(*(key.serves for key in b)) & rest) for b in self._bundles(useful)]
        for size in range(min(most, len(rest)) + 1):
            covers: list[tuple[Bundle, ...]] = []
            _extend(bundles, rest, size, (), covers)
            if covers:
                if wider:
                    covers.clear()
                    _extend(bundles, rest, size + wider, (), covers)
                if len(covers) >= COVERS_MAX:
                    self._reached(f"only the first {COVERS_MAX} sets of keys of {self.entity.name} were compared")
                return list(dict.fromkeys(_without_unneeded(cover, rest) for cover in covers))
        return []

    def _undominated(self, rest: frozenset[int]) -> list[Candidate]:
        """The candidates that serve some of the rest, without those that another one can always replace."""
        kept: list[Candidate] = []

        def order(key: Candidate) -> tuple[object, ...]:
            few = all(domain_of(self.entity.kinds[name]) is not None for name in key.partition)
            return (-len(key.serves & rest), few, len(key.fields), -len(key.partition), -len(key.when))

        for key in sorted((key for key in self.candidates if key.serves & rest), key=order):
            forms = set(self.forms[key])
            rivals = [each for each in kept if key.when in ((), each.when) and forms <= set(self.forms[each])]
            serves = key.serves & rest
            same = [other for other in rivals if other.serves & rest == serves]
            if len(same) < 3 and not any(serves < other.serves & rest for other in rivals):
                kept.append(key)
        return kept

    def _bundles(self, candidates: Sequence[Candidate]) -> Iterator[Bundle]:
        """What one index can contain of an entity: one key, or keys that exclude each other."""
        yield from ((candidate,) for candidate in candidates)
        sparse = [candidate for candidate in candidates if candidate.when]
        shared: list[Bundle] = []

        def extend(bundle: Bundle, rest: Sequence[Candidate]) -> None:
            if len(shared) >= BUNDLES_MAX:
                self._reached(f"only the first {BUNDLES_MAX} sets of sparse keys of {self.entity.name} were compared")
                return
            more = [key for key in rest if self._shareable(bundle, key)]
            if not more and len(bundle) > 1:
                shared.append(bundle)
            for number, key in enumerate(more):
                extend((*bundle, key), more[number + 1 :])

        for number, key in enumerate(sparse):
            extend((key,), sparse[number + 1 :])
        yield from shared

    def _shareable(self, bundle: Bundle, key: Candidate) -> bool:
        forms = set(self.forms[key]).intersection(*(self.forms[other] for other in bundle))
        return bool(forms) and all(exclude(dict(key.when), dict(other.when)) for other in bundle)

    def _reached(self, limit: str) -> None:
        if limit not in self.found.limits:
            self.found.limits.append(limit)

    # Indexes for sets of keys

    def placed(self, choice: EntityChoice, layout: _Layout) -> EntityChoice | None:
        """The choice with an index for each bundle; None if the layout lacks a suitable index."""
        serving: dict[str, set[int]] = {}
        for at, bundle in enumerate(choice.bundles):
            for group in {group for key in bundle for number in key.serves for group in _groups(self.needs[number])}:
                serving.setdefault(group, set()).add(at)
        own = {group for need in self.needs for group in _groups(need) if layout.placement.get(group, 0) > 0}
        wanted = [(layout.placement[group], serving.get(group, set[int]())) for group in own]
        whole = {slot: group for group, slot in layout.placement.items() if group.startswith(WHOLE)}
        options: list[list[int]] = []
        for at, bundle in enumerate(choice.bundles):
            possible = self._options(bundle, layout.forms)
            free = [slot for slot in possible if slot not in whole or at in serving.get(whole[slot], ())]
            only = {slot for slot, bundles in wanted if bundles == {at}}  # indexes that only this bundle can use
            options.append([slot for slot in free if not only or only == {slot}])
        slots = _matched(options, wanted)
        return None if slots is None else replace(choice, slots=slots)

    def _options(self, bundle: Bundle, forms: Sequence[Form]) -> Iterator[int]:
        """The indexes that can contain a bundle, by their formats and deployed keys."""
        possible = set(self.forms[bundle[0]]).intersection(*(self.forms[key] for key in bundle))
        for slot, form in enumerate(forms, 1):
            held = self.taken.get(slot, [])
            if form in possible and all(exclude(dict(key.when), old.when or {}) for old in held for key in bundle):
                yield slot


def _groups(need: Need) -> list[str]:
    """The groups of a need: an item collection, an index that is read whole."""
    return [need.place] * bool(need.together) + [f"{WHOLE}{need.whole}"] * (need.whole is not None)


def _extend(
    bundles: Sequence[tuple[Bundle, frozenset[int]]],
    rest: frozenset[int],
    left: int,
    chosen: tuple[Bundle, ...],
    covers: list[tuple[Bundle, ...]],
) -> None:
    """Branch on the need that the fewest bundles serve."""
    if not rest:
        if not left:
            covers.append(chosen)
        return
    most = max((len(serves & rest) for _, serves in bundles), default=0)
    if not left or len(covers) >= COVERS_MAX or len(rest) > left * most:
        return
    hardest = min(rest, key=lambda number: sum(number in serves for _, serves in bundles))
    for bundle, serves in bundles:
        if hardest in serves:
            _extend(bundles, rest - serves, left - 1, (*chosen, bundle), covers)


def _without_unneeded(cover: tuple[Bundle, ...], rest: frozenset[int]) -> tuple[Bundle, ...]:
    """The cover without keys whose needs all are served by others."""
    kept = [list(bundle) for bundle in cover]
    for bundle in kept:
        for key in sorted(bundle, key=lambda key: len(key.serves & rest)):
            others = [other.serves for own in kept for other in own if other is not key]
            if len(bundle) > 1 and key.serves & rest <= frozenset[int]().union(*others):
                bundle.remove(key)
    return tuple(tuple(bundle) for bundle in kept)


def _matched(options: Sequence[Sequence[int]], wanted: Sequence[tuple[int, set[int]]]) -> tuple[int, ...] | None:
    """One index for each bundle, the lowest first; each ``wanted`` index has one of the given bundles."""
    order = sorted(range(len(options)), key=lambda number: len(options[number]))
    taken: dict[int, int] = {}

    def assign(at: int) -> bool:
        if at == len(order):
            return all(any(taken[bundle] == slot for bundle in bundles) for slot, bundles in wanted)
        for slot in options[order[at]]:
            if slot not in taken.values():
                taken[order[at]] = slot
                if assign(at + 1):
                    return True
                del taken[order[at]]
        return False

    return tuple(taken[number] for number in range(len(options))) if assign(0) else None


class _Layouts:
    """The layouts of all entities, and the choices that fit them."""

    def __init__(self, parts: Sequence[_Entity], needs: Sequence[Need], deployed: Deployed) -> None:
        self.parts = parts
        self.deployed = tuple(_deployed_form(index) for index in deployed.indexes)
        self.groups = {group: need for need in needs for group in _groups(need)}
        self.fixed = set(deployed.keys)
        every = {form for part in parts for forms in part.forms.values() for form in forms}
        self.alphabet = sorted(every, key=lambda form: (form != TEXT, form))
        self.facts = {part.entity.cls: part.entity for part in parts}
        self.best: dict[tuple[object, ...], list[EntityChoice]] = {}

    def of(self, count: int) -> Iterator[_Layout]:
        new = count - len(self.deployed)
        for forms in combinations_with_replacement(self.alphabet, new):
            every = (*self.deployed, *forms)
            yield from (_Layout(every, placement) for placement in self._placements(every, list(self.groups), {}))

    def _placements(self, forms: Sequence[Form], rest: Sequence[str], placed: dict[str, int]) -> Iterator[Placement]:
        """Every way to place the groups in the table or an index. An index that is read whole is a new one."""
        if not rest:
            yield dict(placed)
            return
        group, *others = rest
        need, whole = self.groups[group], group.startswith(WHOLE)
        slots: list[int] = []
        if not whole and need.known and not any(cls in self.fixed for cls in need.together):
            slots = [0] * all(need.known <= set(self.facts[cls].identity) for cls in need.together)
        if not need.consistent:
            used = set(placed.values())
            for slot, form in enumerate(forms, 1):
                # New indexes of the same format are interchangeable, so only the first unused index is tried
                alike = (n for n, other in enumerate(forms, 1) if len(self.deployed) < n < slot and other == form)
                new = slot > len(self.deployed)
                if (all(other in used for other in alike) if new else not whole) and not (whole and slot in used):
                    slots.append(slot)
        for slot in slots:
            yield from self._placements(forms, others, {**placed, group: slot})

    def choices(self, layout: _Layout) -> Iterator[Choice]:
        """The choice with each entity's best keys, and variants in which one entity has its next best keys."""
        options = [self._options(part, layout) for part in self.parts]
        if not all(options):
            return
        best = tuple(own[0] for own in options)
        forms = dict(enumerate(layout.forms, 1))
        wholes = ((slot, group) for group, slot in layout.placement.items() if group.startswith(WHOLE))
        names = {slot: group.removeprefix(WHOLE) for slot, group in wholes}
        yield Choice(best, forms, names)
        for at, own in enumerate(options):
            for other in own[1:]:
                yield Choice((*best[:at], other, *best[at + 1 :]), forms, names)

    def _options(self, part: _Entity, layout: _Layout) -> list[EntityChoice]:
        """The entity's best sets of keys in a layout, with more keys than the fewest only if these don't fit."""
        own = {group for need in part.needs for group in _groups(need)}
        shared = tuple((group, slot) for group, slot in layout.placement.items() if group in own)
        whole = frozenset(slot for group, slot in layout.placement.items() if group.startswith(WHOLE))
        key = (part.entity.cls, layout.forms, shared, whole)
        if key not in self.best:
            self.best[key] = []
            for wider in range(WIDER_MAX + 1):
                placed = (part.placed(choice, layout) for choice in part.choices(layout.placement, wider))
                fitting = (choice for choice in placed if choice is not None)
                self.best[key] = nsmallest(CHOICES_MAX, fitting, key=lambda choice: choice.preference)
                if self.best[key]:
                    break
        return self.best[key]


def _deployed_form(index: Index) -> Form:
    """The form of a deployed index; one that new keys can't use has a form that none of them has."""
    plain = len(index.partition) == 1 and index.partition[0].type == "S" and index.projection == "ALL"
    return tuple(attribute.type for attribute in index.sort) if plain and not index.local else ("deployed", index.name)
