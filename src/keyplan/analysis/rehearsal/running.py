"""A write is run: its reads are answered, its actions compiled as the client compiles them, and what they change noted.

Nothing is sent. What is there (for its reads, and before its actions) is in a ``World``: a typical one is made in
``trials.py``. Conditions are taken to hold.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Protocol

from pydantic import ValidationError

from keyplan.analysis.rehearsal.mutations import Mutation
from keyplan.client.target import Target
from keyplan.client.write_attempts import unknown_outcome
from keyplan.client.write_compiler import Compiled, WriteCompiler
from keyplan.dynamodb.limits import TRANSACT_ACTIONS_MAX
from keyplan.dynamodb.values import Item
from keyplan.errors import KeyplanError, RequestError, UpdateRejected
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.declared.actions import Action, Ask, Batch, Check, Create, Delete, Put, Update
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey
from keyplan.model.stored.update_outcomes import changed, outcome, whole_update

__all__ = ["Asked", "Refused", "Rehearsal", "World", "is_of_type", "rehearse"]

_OPERATIONS: dict[type[Any], str] = {
    Put: "PutItem",
    Create: "PutItem",
    Update: "UpdateItem",
    Delete: "DeleteItem",
}
"""The request of a single action; a mere check is a transaction."""

STEPS_MAX = 10_000
"""Reads and actions after which a write is taken for one that never ends."""

StoredItem = tuple[Entity, Item]


class World(Protocol):
    """What a write meets."""

    def ask(self, pattern: ReadPattern, arguments: dict[str, Any]) -> Asked:
        """A read within the write, answered."""
        ...

    def item(self, instance: Entity) -> Item:
        """The item that an instance is stored as."""
        ...

    def before(self, entity: CompiledEntity, known: Mapping[str, Any], action: Action) -> StoredItem | None:
        """What stands under the key of these field values before the action; None: nothing."""
        ...

    def claim(self, entity: CompiledEntity, claim: CompiledKey, known: Mapping[str, Any]) -> Item | None:
        """The item that claims a unique value."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """A read within a write: the pattern, its arguments, what it was answered with. ``nothing``: nothing is there."""

    pattern: ReadPattern
    arguments: Mapping[str, Any]
    answer: Any = None
    nothing: bool = False


class Refused(Exception):
    """The client refuses an action: ``error`` is what a call would raise. ``line``: where the action is made.
    ``action``: None where all of them together are refused. ``always``: whether it is refused whatever the values are
    that the write was run with.
    """

    def __init__(self, error: KeyplanError, line: int | None, action: Any = None, *, always: bool) -> None:
        super().__init__(str(error))
        self.error = error
        self.line = line
        self.action = action
        self.always = always


@dataclass
class Rehearsal:
    """What one run of a write does: the reads that it asks, the items that it changes, the entities that it puts or
    updates, the kinds of its actions. ``single``: the operation of its only action, where it is sent alone.
    """

    asked: list[Asked] = field(default_factory=list[Asked])
    mutations: list[Mutation] = field(default_factory=list[Mutation])
    batches: list[list[Mutation]] = field(default_factory=list[list[Mutation]])
    """Those of each Batch: one is done before the next begins."""
    entities: dict[str, None] = field(default_factory=dict[str, None])
    kinds: dict[tuple[str, str], None] = field(default_factory=dict[tuple[str, str], None])
    """The kind of each action, and its entity; of those in a Batch too."""
    single: str = ""
    idle: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Entities and fields that were set to what they were already, of those that claims and index entries hold: a
    change of them is written there, too."""
    lines: set[int] = field(default_factory=set[int])
    """The lines of the write's own code at which it yielded actions."""

    @property
    def batched(self) -> list[Mutation]:
        """Those of all batches."""
        return list(chain.from_iterable(self.batches))

    @property
    def items(self) -> int:
        """How many items are written."""
        return len(self.mutations) + len(self.batched)


def rehearse(
    design: CompiledDesign, world: World, make: Callable[[], Generator[Action | Ask, Any, Any]], *, joined: bool = False
) -> Rehearsal:
    """Run a write's generator in a world, and note what it does. ``in_transaction``: its actions go out with those of
    other writes. Raises what the write raises, Refused for what the client refuses, and Problem for a write that never
    ends.
    """
    return _Rehearsing(design, world, joined=joined).run(make())


class _Rehearsing:
    def __init__(self, design: CompiledDesign, world: World, *, joined: bool) -> None:
        self.design = design
        self.joined = joined
        self.operations = 0
        self.wanted: list[tuple[Any, Compiled, int | None]] = []
        """What the write must know the outcome of, by ``yield from``."""
        self.world = world
        self.found = Rehearsal()
        self.compiler = WriteCompiler(design.entities, Target(design.table.name, design.table))
        self.line: int | None = None
        self.targets: list[Entity] = []
        self._left: dict[str, StoredItem | None] = {}
        """What the actions so far leave under each key: a batch, which comes last, may meet it."""

    def run(self, actions: Generator[Action | Ask, Any, Any]) -> Rehearsal:
        answer: Any = None
        try:
            for _ in range(STEPS_MAX):
                step = actions.send(answer)
                self.line = _line_of(actions)
                try:
                    answer = self._ask(step) if isinstance(step, Ask) else self._take(step)
                except KeyplanError as error:
                    raise Refused(error, self.line, step, always=_is_always(error)) from error
                if not isinstance(step, Ask) and self.line is not None:
                    self.found.lines.add(self.line)
            raise Problem(f"it goes on after {STEPS_MAX:,} steps")
        except StopIteration:
            pass
        finally:
            actions.close()
        self._check_known()
        try:
            self._check_whole()
        except KeyplanError as error:
            raise Refused(error, self.line, always=self._names_one_twice()) from error
        return self.found

    def _names_one_twice(self) -> bool:
        """Whether two actions are on one instance, so that they meet whatever it is."""
        return len({id(target) for target in self.targets}) < len(self.targets)

    def _ask(self, ask: Ask) -> Any:
        pattern = self.design.reads.get(ask.pattern)
        if pattern is None:
            raise RequestError(f"{self.design.name} has no read {ask.pattern!r}")
        bound = pattern.signature.bind(ask.arguments["args"], ask.arguments["kwargs"])
        asked = self.world.ask(pattern, bound)
        self.found.asked.append(asked)
        return asked.answer

    def _take(self, action: Action) -> Any:
        """Note what an action changes; gives what the client would give for it."""
        if isinstance(action, Batch):
            self.compiler.batch(action)
            self.found.kinds["Batch", ""] = None
            self.found.batches.append([each for element in action.actions for each in self._mutations(element)[0]])
            return None
        compiled = self.compiler.compile(action)
        self.operations += len(compiled.operations)
        if action.is_wanted:
            self.wanted.append((action, compiled, self.line))
        target: Any = getattr(action, "target", None) or getattr(action, "item", None)
        if isinstance(target, Entity):
            self.targets.append(target)
        mutations, result = self._mutations(action)
        self.found.mutations.extend(mutations)
        self.found.single = "" if self.joined else _OPERATIONS.get(type(action), "")
        return result

    def _check_known(self) -> None:
        """Raises Refused where the write must know what an action leaves, and a transaction doesn't tell."""
        if not self.joined and self.operations == 1:
            return
        for action, compiled, line in self.wanted:
            if compiled.certain() is None:
                raise Refused(unknown_outcome(action, self.design.name), line, action, always=True)

    def _check_whole(self) -> None:
        """Raises RequestError for a transaction that DynamoDB refuses."""
        no_repeats(self.found.mutations, self.design.table.key_names)
        if len(self.found.mutations) > TRANSACT_ACTIONS_MAX:
            raise RequestError(f"{len(self.found.mutations)} operations in one transaction")

    def _before(self, entity: CompiledEntity, known: Mapping[str, Any], action: Action) -> StoredItem | None:
        key = _named_by(entity, known)
        return self._left[key] if key in self._left else self.world.before(entity, known, action)

    # Actions: those that the compiler took, of entities that the design has

    def _mutations(self, action: Action) -> tuple[list[Mutation], Any]:
        self._note(action)
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

    def _note(self, action: Action) -> None:
        target: Any = getattr(action, "target", None) or getattr(action, "item", None)
        cls: type[Any] = target if isinstance(target, type) else type(target)
        self.found.kinds[type(action).__name__, cls.__name__] = None

    def _put(self, action: Put | Create) -> tuple[list[Mutation], Entity | None]:
        entity = self.design.entities[type(action.item)]
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
        mutations = [Mutation(what, None if stored is None else stored[1], item)]
        if isinstance(action, Create):
            mutations += [
                Mutation(f"claim {claim.name}", None, entity.claim_item(claim, known))
                for claim in entity.claims
                if claim.member(known)
            ]
        if action.gives_previous:
            return mutations, stored[0] if stored is not None else None
        return mutations, instance

    def _update(self, action: Update) -> tuple[list[Mutation], Entity | None]:
        """Also gives the instance that it leaves, or meets, as a store would tell; None where it makes the item."""
        action = whole_update(self._named(action)[0], action)
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
        own_before, own_after = entity.own_values(instance), entity.own_values(after)
        same = {name for name in action.changes if own_before.get(name) == own_after.get(name)}
        self.found.idle |= {(entity.name, name) for name in same & self._deciding(entity, {*action.changes} - same)}
        mutations = [Mutation(f"Update {entity.name}", before, item)]
        mutations += self._claims(entity, entity.field_values(instance), entity.field_values(after))
        return mutations, instance if action.gives_previous else after

    def _deciding(self, entity: CompiledEntity, others: set[str]) -> set[str]:
        """The fields whose change would be written in claims and index entries, too, beside that of ``others``: what
        keys are made of, and what else an entry holds that isn't written anyway.
        """
        result = {name for key in (*entity.index_keys, *entity.claims) for name in entity.inputs_of(key)}
        standing = {key.index.name for key in entity.index_keys if key.index is not None}
        for index in self.design.table.indexes:
            held = {name for name, field in entity.fields.items() if index.holds(field.attribute)}
            if index.name in standing and not held & others:
                result |= held
        return result

    def _claims(self, entity: CompiledEntity, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Mutation]:
        """The claims that change hands."""
        mutations: list[Mutation] = []
        for claim in entity.claims:
            held = entity.item_key(claim, before) if claim.member(before) else None
            to_hold = entity.item_key(claim, after) if claim.member(after) else None
            if held == to_hold:
                continue
            if held is not None:
                mutations.append(Mutation(f"release {claim.name}", self.world.claim(entity, claim, before), None))
            if to_hold is not None:
                mutations.append(Mutation(f"claim {claim.name}", None, entity.claim_item(claim, after)))
        return mutations

    def _delete(self, action: Delete) -> list[Mutation]:
        entity, known = self._named(action)
        stored = self._before(entity, known, action)
        self._left[_named_by(entity, known)] = None
        mutations = [Mutation(f"Delete {entity.name}", None if stored is None else stored[1], None)]
        if not isinstance(action.target, type):
            values = entity.field_values(action.target)
            mutations += [
                Mutation(f"release {claim.name}", self.world.claim(entity, claim, values), None)
                for claim in entity.claims
                if claim.member(values)
            ]
        return mutations

    def _named(self, action: Update | Delete | Check) -> tuple[CompiledEntity, Mapping[str, Any]]:
        """The entity of an action on one item, and the field values that name it."""
        if isinstance(action.target, type):
            return self.design.entities[action.target], action.key
        entity = self.design.entities[type(action.target)]
        return entity, entity.field_values(action.target)


def _is_always(error: KeyplanError) -> bool:
    """Whether the client refuses an action whatever its values are: what it names is wrong, or a value's type is."""
    if type(error) in {RequestError, UpdateRejected}:
        return True
    cause = error.__context__
    if isinstance(cause, ValidationError):
        return any(is_of_type(element["type"]) for element in cause.errors(include_url=False))
    return isinstance(cause, TypeError)


def is_of_type(kind: str) -> bool:
    """Whether pydantic's error is of a type or a name, and not of a value."""
    return kind in {"missing", "extra_forbidden"} or kind.endswith("_type")


def _line_of(actions: Generator[Any, Any, Any]) -> int | None:
    """The line that the write has come to: of its own code, or of a helper's that it goes on with; none of Keyplan's,
    which an action that is waited for goes on with (``yield from Put(item)``).
    """
    inner = getattr(actions, "gi_yieldfrom", None)
    within = getattr(inner, "gi_frame", None)
    if inner is not None and within is not None and not str(within.f_globals.get("__name__")).startswith("keyplan."):
        return _line_of(inner)
    frame = getattr(actions, "gi_frame", None)
    return None if frame is None else int(frame.f_lineno)


def _named_by(entity: CompiledEntity, known: Mapping[str, Any]) -> str:
    """The primary key of these field values, as a text."""
    return repr(entity.item_key(entity.primary, known))


def _made(entity: CompiledEntity, action: Update) -> Item:
    """The item that an update makes where none is: its key, and the changed fields."""
    changes = {
        name: outcome(entity, name, entity.fields[name].default, change) for name, change in action.changes.items()
    }
    made = {**entity.encode_fields({**action.key, **changes}), **entity.labels}
    known = {name: stored.default for name, stored in entity.fields.items()} | {**action.key, **changes}
    for key in entity.index_keys:
        if not any(entity.fields[name].computed for name in key.fields) and key.member(known):
            made.update(entity.item_key(key, known))
    return {**made, **entity.item_key(entity.primary, action.key)}


def no_repeats(mutations: list[Mutation], key_names: tuple[str, ...]) -> None:
    """Raises RequestError where two actions are for the same item: DynamoDB takes one an item in a request."""
    seen: set[str] = set()
    for mutation in mutations:
        item = mutation.after if mutation.after is not None else mutation.before
        if item is None:
            continue
        key = repr([item.get(name) for name in key_names])
        if key in seen:
            raise RequestError(f"two actions of one write are for the same item: {mutation.what}")
        seen.add(key)
