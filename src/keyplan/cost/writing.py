"""The requests of a write: its generator is run, its reads are answered, its actions are priced by what they change.

Nothing is sent. What is there (for its reads, and before its actions) is told by a ``World``: a typical one is made in
``trials.py``. Conditions cost nothing of their own; a write that fails, or is tried again, costs what it asked until
then, and is priced by nobody but its traffic.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Protocol

from keyplan.cost.mutations import Mutation
from keyplan.cost.units import Request
from keyplan.design.actions import Action, Ask, Batch, Check, Create, Delete, Put, Update
from keyplan.design.entity import CompiledEntity, Entity
from keyplan.design.formats import Problem
from keyplan.design.keys import CompiledKey
from keyplan.design.model import CompiledDesign
from keyplan.design.outcomes import changed, outcome
from keyplan.design.plans import ReadPattern
from keyplan.errors import RequestError
from keyplan.values import Item
from keyplan.wire.limits import BATCH_WRITE_REQUESTS_MAX, TRANSACT_ACTIONS_MAX

__all__ = ["Rehearsal", "World", "rehearse"]

_OPERATIONS: dict[type[Any], str] = {
    Put: "PutItem",
    Create: "PutItem",
    Update: "UpdateItem",
    Delete: "DeleteItem",
}
"""The request of a single action; a mere check is a transaction."""

STEPS_MAX = 10_000
"""Reads and actions after which a write is taken for one that never ends."""

Stored = tuple[Entity, Item]


class World(Protocol):
    """What a write meets."""

    def ask(self, pattern: ReadPattern, arguments: dict[str, Any]) -> tuple[Any, list[Request]]:
        """The answer of a read within the write, and the requests that it takes."""
        ...

    def item(self, instance: Entity) -> Item:
        """The item that an instance is stored as."""
        ...

    def before(self, entity: CompiledEntity, known: Mapping[str, Any], action: Action) -> Stored | None:
        """What stands under the key of these field values before the action; None: nothing."""
        ...

    def claim(self, entity: CompiledEntity, claim: CompiledKey, known: Mapping[str, Any]) -> Item | None:
        """The item that claims a unique value."""
        ...


@dataclass
class Rehearsal:
    """A write's requests in their order, reads first; the items that it changes, for one call; and the entities that it
    puts or updates.
    """

    requests: list[Request] = field(default_factory=list[Request])
    mutations: list[Mutation] = field(default_factory=list[Mutation])
    batches: list[list[Mutation]] = field(default_factory=list[list[Mutation]])
    """Those of each Batch: one is done before the next begins."""
    entities: dict[str, None] = field(default_factory=dict[str, None])

    @property
    def batched(self) -> list[Mutation]:
        """Those of all batches."""
        return list(chain.from_iterable(self.batches))

    @property
    def items(self) -> int:
        """How many items are written."""
        return len(self.mutations) + len(self.batched)


def rehearse(design: CompiledDesign, world: World, make: Callable[[], Generator[Action | Ask, Any, Any]]) -> Rehearsal:
    """Run a write's generator in a world, and count what it does. Raises what the write raises, RequestError for what
    can't be one request, and Problem for a write that never ends.
    """
    return _Rehearsing(design, world).run(make())


class _Rehearsing:
    def __init__(self, design: CompiledDesign, world: World) -> None:
        self.design = design
        self.world = world
        self.found = Rehearsal()
        self.single = ""
        self._left: dict[str, Stored | None] = {}
        """What the actions so far leave under each key: a batch, which comes last, may meet it."""

    def run(self, actions: Generator[Action | Ask, Any, Any]) -> Rehearsal:
        answer: Any = None
        try:
            for _ in range(STEPS_MAX):
                step = actions.send(answer)
                answer = self._ask(step) if isinstance(step, Ask) else self._take(step)
            raise Problem(f"it goes on after {STEPS_MAX:,} steps")
        except StopIteration:
            pass
        finally:
            actions.close()
        self._send()
        return self.found

    def _ask(self, ask: Ask) -> Any:
        pattern = self.design.reads[ask.pattern]
        bound = pattern.signature.bind(ask.arguments["args"], ask.arguments["kwargs"])
        answer, requests = self.world.ask(pattern, bound)
        self.found.requests.extend(requests)
        return answer

    def _take(self, action: Action) -> Any:
        """Note what an action changes; gives what the client would give for it."""
        if isinstance(action, Batch):
            self.found.batches.append([each for one in action.actions for each in self._mutations(one)[0]])
            return None
        mutations, result = self._mutations(action)
        self.found.mutations.extend(mutations)
        self.single = _OPERATIONS.get(type(action), "")
        return result

    def _send(self) -> None:
        """The write requests: one action alone, several in a transaction; batches after it, each by itself."""
        found, table = self.found, self.design.table
        no_repeats(found.mutations, table.key_names)
        if len(found.mutations) > TRANSACT_ACTIONS_MAX:
            raise RequestError(f"{len(found.mutations)} operations in one transaction")
        if found.mutations:
            alone = len(found.mutations) == 1 and bool(self.single)
            lines = [line for one in found.mutations for line in one.lines(table, transactional=not alone)]
            found.requests.append(Request(self.single if alone else "TransactWriteItems", tuple(lines)))
        for batch in found.batches:
            for start in range(0, len(batch), BATCH_WRITE_REQUESTS_MAX):
                chunk = batch[start : start + BATCH_WRITE_REQUESTS_MAX]
                lines = [line for one in chunk for line in one.lines(table, transactional=False)]
                found.requests.append(Request("BatchWriteItem", tuple(lines)))

    def _before(self, entity: CompiledEntity, known: Mapping[str, Any], action: Action) -> Stored | None:
        key = _named_by(entity, known)
        return self._left[key] if key in self._left else self.world.before(entity, known, action)

    # Actions

    def _mutations(self, action: Action) -> tuple[list[Mutation], Any]:
        match action:
            case Put() | Create():
                return self._put(action)
            case Update():
                return self._update(action)
            case Delete():
                return self._delete(action), None
            case Check():
                entity, known = self._named(action)
                stored = self._before(entity, known, action)
                item = None if stored is None else stored[1]
                return [Mutation(f"Check {entity.name}", item, item)], None
            case _:
                raise RequestError(f"a write yields actions, not {type(action).__name__}")

    def _put(self, action: Put | Create) -> tuple[list[Mutation], Entity]:
        entity = self._entity(type(action.item))
        instance = entity.checked(action.item)
        if entity.version is not None:
            before = getattr(instance, entity.version.name)
            version = before + 1 if isinstance(action, Put) else before or 1
            instance = instance.model_copy(update={entity.version.name: version})
        known = entity.field_values(instance)
        stored = self._before(entity, known, action)
        what = f"{type(action).__name__} {entity.name}"
        item = self.world.item(instance)
        self._left[_named_by(entity, known)] = instance, item
        self.found.entities[entity.name] = None
        found = [Mutation(what, None if stored is None else stored[1], item)]
        if isinstance(action, Create):
            found += [
                Mutation(f"claim {claim.name}", None, entity.claim_item(claim, known))
                for claim in entity.claims
                if claim.member(known)
            ]
        return found, instance

    def _update(self, action: Update) -> tuple[list[Mutation], Entity | None]:
        """Also gives the instance that it leaves, as a store would tell; None where it makes the item."""
        entity, known = self._named(action)
        stored = self._before(entity, known, action)
        if stored is None and action.creates:
            return [Mutation(f"Update {entity.name}", None, _made(entity, action))], None
        if stored is None:
            raise RequestError(f"there is no {entity.name} to update")
        instance, before = stored
        after, _ = changed(entity, instance, dict(action.changes))
        own = self.world.item(instance).keys()
        others = {name: value for name, value in before.items() if name not in own}
        item = {**others, **self.world.item(after)}
        self._left[_named_by(entity, known)] = after, item
        self.found.entities[entity.name] = None
        found = [Mutation(f"Update {entity.name}", before, item)]
        found += self._claims(entity, entity.field_values(instance), entity.field_values(after))
        return found, after

    def _claims(self, entity: CompiledEntity, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Mutation]:
        """The claims that change hands."""
        found: list[Mutation] = []
        for claim in entity.claims:
            held = entity.item_key(claim, before) if claim.member(before) else None
            to_hold = entity.item_key(claim, after) if claim.member(after) else None
            if held == to_hold:
                continue
            if held is not None:
                found.append(Mutation(f"release {claim.name}", self.world.claim(entity, claim, before), None))
            if to_hold is not None:
                found.append(Mutation(f"claim {claim.name}", None, entity.claim_item(claim, after)))
        return found

    def _delete(self, action: Delete) -> list[Mutation]:
        entity, known = self._named(action)
        stored = self._before(entity, known, action)
        self._left[_named_by(entity, known)] = None
        found = [Mutation(f"Delete {entity.name}", None if stored is None else stored[1], None)]
        if not isinstance(action.target, type):
            values = entity.field_values(action.target)
            found += [
                Mutation(f"release {claim.name}", self.world.claim(entity, claim, values), None)
                for claim in entity.claims
                if claim.member(values)
            ]
        return found

    def _named(self, action: Update | Delete | Check) -> tuple[CompiledEntity, Mapping[str, Any]]:
        """The entity of an action on one item, and the field values that name it."""
        if isinstance(action.target, type):
            return self._entity(action.target), action.key
        entity = self._entity(type(action.target))
        return entity, entity.field_values(action.target)

    def _entity(self, cls: type[Entity]) -> CompiledEntity:
        found = self.design.entities.get(cls)
        if found is None:
            raise RequestError(f"{cls.__name__} is no entity of this design")
        return found


def _named_by(entity: CompiledEntity, known: Mapping[str, Any]) -> str:
    """The primary key of these field values, as a text."""
    return repr(entity.item_key(entity.primary, known))


def _made(entity: CompiledEntity, action: Update) -> Item:
    """The item that an update makes where none is: its key, and the changed fields."""
    changes = {
        name: outcome(entity, name, entity.fields[name].default, change) for name, change in action.changes.items()
    }
    return {**entity.encode_fields({**action.key, **changes}), **entity.item_key(entity.primary, action.key)}


def no_repeats(mutations: list[Mutation], key_names: tuple[str, ...]) -> None:
    """Raises RequestError where two actions are for the same item: DynamoDB takes one an item in a request."""
    seen: set[str] = set()
    for one in mutations:
        item = one.after if one.after is not None else one.before
        if item is None:
            continue
        key = repr([item.get(name) for name in key_names])
        if key in seen:
            raise RequestError(f"two actions of one write are for the same item: {one.what}")
        seen.add(key)
