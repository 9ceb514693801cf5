"""Dry runs of writes: the body runs without a store, once with an item for every read, and once without any item.

The client's compiler converts each action to item changes. No request is sent, and conditions are assumed to be true.
Only commands that analyze writes run a body, and only if the body has no side effects (``outside_calls.py``).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple

from pydantic import ValidationError

from keyplan.analysis.traffic.item_counts import Finds
from keyplan.analysis.traffic.traffic_file import Traffic
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.analysis.write_analysis.code import WrittenCode
from keyplan.analysis.write_analysis.typical_world import Asked, Before, Case, TypicalWorld, arguments_of
from keyplan.client.conversations import Target
from keyplan.client.update_expressions import compile_update
from keyplan.client.write_attempts import unknown_outcome
from keyplan.client.write_compiler import Compiled, WriteCompiler
from keyplan.dynamodb import values
from keyplan.dynamodb.limits import TRANSACT_ACTIONS_MAX
from keyplan.dynamodb.values import Item
from keyplan.errors import KeyplanError, RequestError, UpdateRejected
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern
from keyplan.model.declared.actions import Action, Ask, Batch, Check, Create, Delete, Put, Update
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.example_values import choices_of, typical_value
from keyplan.model.declared.fields import is_optional, kind_of
from keyplan.model.declared.pattern_load import Load
from keyplan.model.declared.patterns import Example
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey
from keyplan.model.stored.update_outcomes import changed, outcome, whole_update

STEPS_MAX = 10_000
"""The maximum number of reads and actions in a dry run."""
_OPERATIONS: Mapping[type[Any], str] = {Put: "PutItem", Create: "PutItem", Update: "UpdateItem", Delete: "DeleteItem"}
"""The request of a single action. A single Check is a transaction."""


class ActionShape(NamedTuple):
    """The properties by which an action of a dry run is matched with an action in the code."""

    kind: str
    entity: str
    changes: frozenset[str]


@dataclass(frozen=True)
class Mutation:
    """One item before and after a write; None if the item doesn't exist. ``times``: the number of items per call."""

    what: str
    before: Item | None
    after: Item | None
    shape: ActionShape | None = None
    times: float = 1.0

    @property
    def size_bytes(self) -> int:
        """The larger size of the item before and after, which determines the write units of the table."""
        return max(values.item_size(item) if item is not None else 0 for item in (self.before, self.after))


class Refused(Exception):
    """The client rejects ``action`` (None: the whole write) with ``error``. ``always``: for any values of fields."""

    def __init__(self, error: KeyplanError, action: Any = None, *, always: bool) -> None:
        super().__init__(str(error))
        self.error = error
        self.action = action
        self.always = always


@dataclass
class DryRun:
    """The result of one dry run: the reads, the changed items, and the entities that were put or updated.

    ``case``: the example, and whether reads found items. ``single``: the operation, if a single action is sent as a
    request. ``batches``: the changes of each Batch. ``there``: the existing items. ``notes``: assumptions.
    """

    case: str
    asked: list[Asked] = field(default_factory=list[Asked])
    mutations: list[Mutation] = field(default_factory=list[Mutation])
    batches: list[list[Mutation]] = field(default_factory=list[list[Mutation]])
    entities: dict[str, None] = field(default_factory=dict[str, None])
    shapes: dict[ActionShape, None] = field(default_factory=dict[ActionShape, None])
    single: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    there: tuple[Entity, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def batched(self) -> list[Mutation]:
        return list(chain.from_iterable(self.batches))

    @property
    def items(self) -> float:
        return sum(mutation.times for mutation in (*self.mutations, *self.batched))


@dataclass(frozen=True)
class DryRuns:
    """The dry runs of a write. ``done`` runs write items, ``idle`` runs don't. ``unknown``: why there are no runs."""

    done: tuple[DryRun, ...] = ()
    idle: tuple[DryRun, ...] = ()
    refused: tuple[Refused, ...] = ()
    errors: tuple[Exception, ...] = ()
    unknown: str | None = None

    @property
    def finished(self) -> tuple[DryRun, ...]:
        return (*self.done, *self.idle)


def dry_runs(
    design: CompiledDesign, cls: type[Any], pattern: WritePattern, code: WrittenCode, typical: Typical, traffic: Traffic
) -> DryRuns:
    """Run a write's body once for each case, unless its code can't be read or has side effects."""
    if code.not_run:
        return DryRuns(unknown=code.not_run)
    done: list[DryRun] = []
    idle: list[DryRun] = []
    refused: list[Refused] = []
    errors: list[Exception] = []
    for case in _cases(design, pattern, code):
        world = TypicalWorld(design, typical, Finds(traffic), case)
        try:
            run = _run(cls, pattern, world, traffic)
        except Problem as problem:
            return DryRuns(unknown=str(problem) + (f" ({problem.hint})" if problem.hint else ""))
        except Refused as error:
            refused.append(error)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the body can raise any error
            errors.append(error if isinstance(error, Exception) else RuntimeError("the body raises SystemExit"))
        else:
            if case.extra and not any(asked.nothing and asked.pattern.name in case.extra for asked in run.asked):
                continue  # the cases differ only in reads that the body didn't call: this run repeats the first
            (done if run.items else idle).append(run)
    unknown = None
    if not done and not idle:
        first = (*(each.error for each in refused), *errors)[0]
        unknown = f"every dry run raises: {_text(first)} (add an example= to the write)"
    return DryRuns(tuple(done), tuple(idle), tuple(refused), tuple(errors), unknown)


def _cases(design: CompiledDesign, pattern: WritePattern, code: WrittenCode) -> Iterator[Case]:
    """Two cases for each example: every read finds an item, and no read finds an item."""
    reads = (design.reads[ask.name] for ask in code.asks)
    optional = frozenset(read.name for read in reads if read.shape.optional or read.shape.many or read.shape.told)
    for number, example in enumerate(pattern.examples or (Example(),), 1):
        missing = example.reads_missing
        which = f"example {number}" if len(pattern.examples) > 1 else ""
        nothing = f"{which} if no read finds an item" if which else "no read finds an item"
        yield Case(which, missing, example)
        if optional - missing:
            yield Case(nothing, missing | optional, example, optional - missing)


def _run(cls: type[Any], pattern: WritePattern, world: TypicalWorld, traffic: Traffic) -> DryRun:
    """One dry run. Raises errors of the body, Refused, and Problem for a body that doesn't end."""
    load = traffic.patterns.get(pattern.name, Load())
    arguments = arguments_of(world, pattern, {**(load.arguments or {}), **world.case.example.arguments})
    world.there.clear()  # instances in the arguments don't exist yet
    nowhere = object.__new__(cls)  # a design without a store: the body only calls its reads
    actions = pattern.function(nowhere, **arguments)
    run = dry_run(world.design, world, actions, case=world.case.name, joined=bool(load.in_transaction))
    notes = dict.fromkeys([world.case.name, *world.notes] if world.case.name else world.notes)
    return replace(run, arguments=arguments, there=_existing(world.design, world.there, run), notes=tuple(notes))


def _existing(design: CompiledDesign, there: Sequence[Entity], run: DryRun) -> tuple[Entity, ...]:
    names = design.table.key_names
    created = [each.after for each in run.mutations if each.before is None and each.after is not None]
    keys = [{name: item[name] for name in names} for item in created]
    compiled = ((instance, design.entities[type(instance)]) for instance in there)
    return tuple(
        instance
        for instance, entity in compiled
        if entity.item_key(entity.primary, entity.field_values(instance)) not in keys
    )


def _text(error: Exception) -> str:
    if isinstance(error, KeyplanError):
        return f"{type(error).__name__}: {'; '.join([error.message, *map(str, error.errors)])}"
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def dry_run(
    design: CompiledDesign,
    world: TypicalWorld,
    actions: Generator[Action | Ask, Any, Any],
    *,
    case: str = "",
    joined: bool = False,
) -> DryRun:
    """Run a write's generator in ``world``. Raises errors of the body, Refused, and Problem for an endless body."""
    run = DryRun(case)
    _Running(design, world, run, joined=joined).run(actions)
    return run


class _Running:
    def __init__(self, design: CompiledDesign, world: TypicalWorld, run: DryRun, *, joined: bool) -> None:
        self.design = design
        self.world = world
        self.result = run
        self.joined = joined
        self.operations = 0
        self.wanted: list[tuple[Any, Compiled]] = []
        """Actions whose result the body uses (``yield from``)."""
        self.compiler = WriteCompiler(design.entities, Target(design.table.name, design.table))
        self.targets: list[Entity] = []
        self._left: dict[str, Before] = {}
        """By key, the item after the previous actions."""

    def run(self, actions: Generator[Action | Ask, Any, Any]) -> None:
        answer: Any = None
        try:
            for _ in range(STEPS_MAX):
                step = actions.send(answer)
                try:
                    answer = self._ask(step) if isinstance(step, Ask) else self._take(step)
                except KeyplanError as fault:
                    raise Refused(fault, step, always=_is_always(fault)) from fault
                if len(self.result.mutations) > TRANSACT_ACTIONS_MAX:
                    error = RequestError(f"more than {TRANSACT_ACTIONS_MAX} operations in one transaction")
                    raise Refused(error, always=False)
            raise Problem(f"the write doesn't end within {STEPS_MAX:,} reads and actions")
        except StopIteration:
            pass
        finally:
            actions.close()
        self._check_outcomes()
        self._check_transaction()

    def _ask(self, ask: Ask) -> Any:
        pattern = self.design.reads.get(ask.pattern)
        if pattern is None:
            raise RequestError(f"{self.design.name} has no read {ask.pattern!r}")
        asked = self.world.ask(pattern, pattern.signature.bind(ask.arguments["args"], ask.arguments["kwargs"]))
        self.result.asked.append(asked)
        return asked.answer

    def _take(self, action: Action) -> Any:
        """Record the changes of an action. Returns the result that the client returns for the action."""
        if isinstance(action, Batch):
            self.compiler.batch(action)
            self.result.shapes[ActionShape("Batch", "", frozenset())] = None
            self.result.batches.append([each for part in action.actions for each in self._mutations(part)[0]])
            return None
        compiled = self.compiler.compile(action)
        self.operations += len(compiled.operations)
        if action.is_wanted:
            self.wanted.append((action, compiled))
        target = _target(action)
        if isinstance(target, Entity):
            self.targets.append(target)
        mutations, result = self._mutations(action)
        self.result.mutations.extend(mutations)
        self.result.single = "" if self.joined else _OPERATIONS.get(type(action), "")
        return result

    def _check_outcomes(self) -> None:
        """Raises Refused if the body uses a result that a transaction doesn't return."""
        if not self.joined and self.operations == 1:
            return
        for action, compiled in self.wanted:
            if compiled.certain() is None:
                raise Refused(unknown_outcome(action, self.design.name), action, always=True)

    def _check_transaction(self) -> None:
        """Raises Refused for a transaction that DynamoDB rejects."""
        seen: set[str] = set()
        for mutation in self.result.mutations:
            item = mutation.after or mutation.before
            if item is not None:
                key = repr([item.get(name) for name in self.design.table.key_names])
                if key in seen:
                    error = RequestError(f"two actions of one write use the same item: {mutation.what}")
                    raise Refused(error, always=len({id(target) for target in self.targets}) < len(self.targets))
                seen.add(key)

    # Actions

    def _mutations(self, action: Action) -> tuple[list[Mutation], Any]:
        shape = shape_of(action)
        self.result.shapes[shape] = None
        match action:
            case Put() | Create():
                mutations, result = self._put(action)
            case Update():
                mutations, result = self._update(action)
            case Delete():
                mutations, result = self._delete(action), None
            case Check():
                entity, known = self._named(action)
                before = self._before(entity, known, action)
                item = None if before is None else before[1]
                mutations, result = [Mutation(f"Check {entity.name}", item, item)], None
            case _:
                raise RequestError(f"a write yields actions, not {type(action).__name__}")
        return [Mutation(each.what, each.before, each.after, shape) for each in mutations], result

    def _before(self, entity: CompiledEntity, known: Mapping[str, Any], action: Action) -> Before:
        key = _key_text(entity, known)
        return self._left[key] if key in self._left else self.world.before(entity, known, action)

    def _put(self, action: Put | Create) -> tuple[list[Mutation], Entity | None]:
        entity = self.design.entities[type(action.item)]
        instance = entity.checked(action.item)
        if entity.version is not None:
            before = getattr(instance, entity.version.name)
            version = before + 1 if isinstance(action, Put) else before or 1
            instance = instance.model_copy(update={entity.version.name: version})
        known = entity.field_values(instance)
        stored = self._before(entity, known, action)
        item = self.world.item(instance)
        self._left[_key_text(entity, known)] = instance, item
        self.result.entities[entity.name] = None
        what = f"{type(action).__name__} {entity.name}"
        mutations = [Mutation(what, None if stored is None else stored[1], item)]
        if isinstance(action, Create):
            mutations += _claims(entity, ((claim, None, known) for claim in entity.claims if claim.member(known)))
        if action.gives_previous:
            return mutations, stored[0] if stored is not None else None
        return mutations, instance

    def _update(self, action: Update) -> tuple[list[Mutation], Entity | None]:
        """Returns the changes, and the instance that the client returns: after or before the update, or None."""
        action = whole_update(self._named(action)[0], action)
        entity, known = self._named(action)
        stored = self._before(entity, known, action)
        if stored is None and action.creates:
            return [Mutation(f"Update {entity.name}", None, _created(entity, action))], None
        if stored is None:
            raise RequestError(f"the {entity.name} to update doesn't exist")
        after, _ = changed(entity, stored[0], dict(action.changes))
        instance = _differing(entity, stored[0], after, action) if self.world.typical else stored[0]
        before = stored[1] if instance is stored[0] else {**stored[1], **self.world.item(instance)}
        own = self.world.item(instance).keys()
        others = {name: value for name, value in before.items() if name not in own}
        item = {**others, **self.world.item(after)}
        self._left[_key_text(entity, known)] = after, item
        self.result.entities[entity.name] = None
        mutations = [Mutation(f"Update {entity.name}", before, item)]
        if entity.claims and isinstance(action.target, Entity):
            of_instance = copy(action)
            of_instance.target = instance
            mutations += _claims(entity, compile_update(entity, of_instance).claims)
        return mutations, instance if action.gives_previous else after

    def _delete(self, action: Delete) -> list[Mutation]:
        entity, known = self._named(action)
        stored = self._before(entity, known, action)
        self._left[_key_text(entity, known)] = None
        mutations = [Mutation(f"Delete {entity.name}", None if stored is None else stored[1], None)]
        if not isinstance(action.target, type):
            held = entity.field_values(action.target)
            mutations += _claims(entity, ((claim, held, None) for claim in entity.claims if claim.member(held)))
        return mutations

    def _named(self, action: Update | Delete | Check) -> tuple[CompiledEntity, Mapping[str, Any]]:
        """The entity of an action on one item, and the field values of the key."""
        if isinstance(action.target, type):
            return self.design.entities[action.target], action.key
        entity = self.design.entities[type(action.target)]
        return entity, entity.field_values(action.target)


def is_type_error(kind: str) -> bool:
    """Whether a Pydantic error is about a type or a name rather than about a value."""
    return kind in {"missing", "extra_forbidden"} or kind.endswith("_type")


def _is_always(error: KeyplanError) -> bool:
    """Whether the client rejects an action because of a wrong name or type, for all values."""
    if type(error) in {RequestError, UpdateRejected}:
        return True
    cause = error.__context__
    if isinstance(cause, ValidationError):
        return any(is_type_error(fault["type"]) for fault in cause.errors(include_url=False))
    return isinstance(cause, TypeError)


def shape_of(action: Any) -> ActionShape:
    target = _target(action)
    cls: type[Any] = target if isinstance(target, type) else type(target)
    return ActionShape(type(action).__name__, cls.__name__, frozenset(getattr(action, "changes", ())))


def _target(action: Any) -> Any:
    return getattr(action, "target", None) or getattr(action, "item", None)


def _claims(
    entity: CompiledEntity, changes: Iterable[tuple[CompiledKey, Mapping[str, Any] | None, Mapping[str, Any] | None]]
) -> Iterator[Mutation]:
    """The changes of claim items. ``changes``: each claim with the field values to release and the values to claim."""
    for claim, held, wanted in changes:
        if held is not None:
            yield Mutation(f"release {claim.name}", entity.claim_item(claim, held), None)
        if wanted is not None:
            yield Mutation(f"claim {claim.name}", None, entity.claim_item(claim, wanted))


def _differing(entity: CompiledEntity, before: Entity, after: Entity, action: Update) -> Entity:
    """The item before an update, with different values in the updated fields, because a typical call changes values."""
    same: dict[str, Any] = {}
    for name in action.changes:
        stored = entity.fields.get(name)
        if stored is not None and not stored.computed and getattr(before, name) == getattr(after, name):
            others = [*choices_of(stored.annotation), *([None] if is_optional(stored.annotation) else [])]
            if kind_of(stored.annotation) is bool:
                others = [not getattr(after, name)]
            others.append(typical_value(stored.annotation, name, serial=7))
            same[name] = next((value for value in others if value != getattr(after, name)), getattr(after, name))
    return before.model_copy(update=same) if same else before


def _key_text(entity: CompiledEntity, known: Mapping[str, Any]) -> str:
    return repr(entity.item_key(entity.primary, known))


def _created(entity: CompiledEntity, action: Update) -> Item:
    """The item that an update creates: its key and the changed fields."""
    changes = {
        name: outcome(entity, name, entity.fields[name].default, change) for name, change in action.changes.items()
    }
    made = {**entity.encode_fields({**action.key, **changes}), **entity.labels}
    known = {name: stored.default for name, stored in entity.fields.items()} | {**action.key, **changes}
    for key in entity.index_keys:
        if not any(entity.fields[name].computed for name in key.fields) and key.member(known):
            made.update(entity.item_key(key, known))
    return {**made, **entity.item_key(entity.primary, action.key)}
