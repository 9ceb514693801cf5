"""Executes steps on a store and on a model of the store, a dictionary of instances. The outcome of each CRUD method is
compared with the model. After a call of a write pattern, the model is replaced by the store's content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from keyplan import errors
from keyplan.client.conversations import Conversation, Request, converse, relay
from keyplan.dynamodb.values import Item
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.declared.actions import Add, Append, SetAdd, SetRemove
from keyplan.model.declared.entity import Entity
from keyplan.model.stored.key_templates import Variable
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.session.design import Design
from keyplan.testing.report import RunningCounts
from keyplan.testing.steps import Age, Call, Change, Copy, Erase, Family, Foreign, Step, Write
from keyplan.testing.stored_world import World, belongs_to, identity_of, read_back, scan

Identity = tuple[Any, ...]

ARRANGED_MAX = 5
"""Maximum attempts to create the items that a write needs: each attempt can reveal more of them."""


class Model:
    """The expected items of a store, and a log of the steps."""

    def __init__(self, design: Design, tally: RunningCounts, spares: Mapping[type[Entity], Sequence[Entity]]) -> None:
        self.design = design
        self.tally = tally
        self.spares = spares
        self.items: dict[Identity, Entity] = {}
        self.foreign: list[Item] = []
        self.before: list[Entity] = []
        self.log: list[str] = []

    def carry_out(self, step: Step) -> None:
        """Execute a step. Raises AssertionError if the outcome contradicts the model."""
        match step:
            case Write():
                self._write(step.instance, create=step.create)
            case Family():
                self._write(step.instance, create=bool(step.entity.claims))
                for changes in step.changes:
                    self._write_copy(step.entity, step.instance, changes, create=bool(step.entity.claims))
            case Call():
                self._call(step)
            case _:
                target = self._pick(step.entity, step.pick, stale=isinstance(step, Change | Erase) and step.stale)
                if target is not None:
                    self._carry_out_on(target, step)

    def _carry_out_on(self, target: Entity, step: Copy | Change | Erase | Age | Foreign) -> None:
        match step:
            case Copy():
                self._write_copy(step.entity, target, step.changes, create=step.create)
            case Change():
                self._update(step.entity, target, step.changes)
            case Erase():
                self._delete(step.entity, target)
            case Age():
                self._age(step.entity, target, step.fields)
            case Foreign():
                self._write_foreign(step.entity, target, step.form)

    def check(self, world: World) -> None:
        """Raises AssertionError unless the store and the model have the same items."""
        if sorted(map(repr, world.foreign)) != sorted(map(repr, self.foreign)):
            raise AssertionError(f"items that belong to no entity: {world.foreign}\n  expected: {self.foreign}")
        stored = {identity_of(row.entity, row.values): row.instance for row in world.rows}
        for identity, instance in self.items.items():
            if identity not in stored:
                raise AssertionError(f"an item is missing or was overwritten: {instance!r}")
            if stored[identity] != instance:
                raise AssertionError(f"a stored item differs\n  written: {instance!r}\n  stored:  {stored[identity]!r}")
        for identity, instance in stored.items():
            if identity not in self.items:
                raise AssertionError(f"an unexpected item is stored: {instance!r}")

    # Checked calls of the design's methods

    def _write_copy(
        self, entity: CompiledEntity, instance: Entity, changes: Mapping[str, Any], *, create: bool
    ) -> None:
        copied = self._changed(entity, instance, changes)
        if copied is not None:
            self._write(copied, create=create)

    def _write(self, instance: Entity, *, create: bool) -> None:
        entity = self._compiled(instance)
        verb = self.design.create if create else self.design.put
        identity = identity_of(entity, entity.field_values(instance))
        there = self.items.get(identity)
        error, written = self._try(f"{verb.__name__}({instance!r})", lambda: verb(instance))
        if error is None:
            if create and there is not None:
                raise AssertionError(f"create overwrote an existing item: {there!r}")
            self._check_taken(entity, identity, instance)
            if _plain(entity, instance) != _plain(entity, written):
                raise AssertionError(f"{instance!r} was written, but {written!r} was returned")
            self._keep(identity, written)
            return
        if isinstance(error, errors.ItemExists) and create and there is not None:
            return
        if isinstance(error, errors.ConditionFailed) and not create and entity.version is not None:
            held = 0 if there is None else getattr(there, entity.version.name)
            if held != getattr(instance, entity.version.name) or (there is not None and not held):
                return  # the instance is outdated, or the item has no version yet
        self._check_refusal(entity, identity, instance, error)

    def _update(self, entity: CompiledEntity, target: Entity, changes: Mapping[str, Any]) -> None:
        identity = identity_of(entity, entity.field_values(target))
        there = self.items.get(identity)
        error, result = self._try(
            f"update({target!r}, {', '.join(f'{name}={value!r}' for name, value in changes.items())})",
            lambda: self.design.update(target, **changes),
        )
        if error is None:
            if there is None:
                raise AssertionError("update changed an item that doesn't exist")
            version = entity.version
            if version is not None and getattr(there, version.name) != getattr(target, version.name):
                raise AssertionError("update succeeded with an outdated version")
            after = self._changed(entity, there, changes)
            if after is None or _plain(entity, after) != _plain(entity, result):
                raise AssertionError(f"update returned {result!r}, expected {after!r}")
            self._check_taken(entity, identity, result)
            self._keep(identity, result)
            return
        after = self._changed(entity, target, changes)
        self._check_refusal(entity, identity, after or target, error, stale=there != target)

    def _delete(self, entity: CompiledEntity, target: Entity) -> None:
        identity = identity_of(entity, entity.field_values(target))
        there = self.items.get(identity)
        error, _ = self._try(f"delete({target!r})", lambda: self.design.delete(target))
        if error is None:
            if there is not None:
                self.before.append(self.items.pop(identity))
            return
        if not isinstance(error, errors.ConditionFailed) or there == target:
            raise AssertionError(f"delete failed: {error}") from error

    def _age(self, entity: CompiledEntity, target: Entity, fields: int) -> None:
        """Change an item to one of an older design. The bits of ``fields`` select what it lacks; keys stay."""
        keyed = {name for key in (*entity.keys, *entity.claims) for name in (*key.fields, *entity.inputs_of(key))}
        able = [
            field for field in entity.fields.values() if field.attribute in entity.read_as or field is entity.version
        ]
        gone = [field.attribute for at, field in enumerate(able) if field.name not in keyed and fields >> at & 1]
        item = {name: value for name, value in self._stored_item(entity, target).items() if name not in gone}
        item.setdefault("of_another_program", {"M": {"a": {"S": "b"}}})
        self._put_item(item)
        self.log.append(f"an older design wrote {target!r} without {', '.join(gone)}")
        self._keep(identity_of(entity, entity.field_values(target)), read_back(entity, item))

    def _write_foreign(self, entity: CompiledEntity, target: Entity, form: str) -> None:
        item = self._stored_item(entity, target)
        table = self.design.compiled.table
        name = (table.sort or table.partition).name
        ((kind, text),) = item[name].items()
        item = {**item, name: {kind: form.format(key=text)}}
        if kind == "S" and not belongs_to(self.design.compiled, item):
            names = [attribute.name for attribute in (table.partition, table.sort) if attribute is not None]
            others = [other for other in self.foreign if any(other[each] != item[each] for each in names)]
            self.foreign = [*others, item]
            self._put_item(item)
            self.log.append(f"another program wrote {item}")

    def _stored_item(self, entity: CompiledEntity, target: Entity) -> Item:
        key = entity.item_key(entity.primary, entity.field_values(target))
        request = {"TableName": self.design.store.table_name, "Key": key, "ConsistentRead": True}
        item: Item = self.design.store.transport.call("GetItem", request)["Item"]
        return item

    def _put_item(self, item: Item) -> None:
        self.design.store.transport.call("PutItem", {"TableName": self.design.store.table_name, "Item": item})

    def _call(self, step: Call) -> None:
        arguments = self._arguments(step)
        for _ in range(ARRANGED_MAX if step.arranged else 0):
            if not self._arrange(self._call_once(step, arguments)):
                return
        self._call_once(step, arguments)

    def _call_once(self, step: Call, arguments: Mapping[str, Any]) -> list[Item]:
        """Call a write. Returns the keys of items that it needed if it failed."""
        text = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        missed: list[Item] = []
        error, _ = self._try(
            f"{step.pattern.name}({text})",
            lambda: converse(
                watched(self.design.conversation(step.pattern.name, arguments), missed), self.design.store.transport
            ),
        )
        self.tally.count(step.pattern.name, answered=error is None)
        world = scan(self.design)
        now = {identity_of(row.entity, row.values): row.instance for row in world.rows}
        if error is not None and now != self.items:
            raise AssertionError(f"{step.pattern.place} failed ({error}), but changed the stored items") from error
        self.before.extend(entity for identity, entity in self.items.items() if now.get(identity) != entity)
        self.items = now
        return [] if error is None else missed

    def _arrange(self, missed: Iterable[Item]) -> bool:
        """Create what a write needs, from spare instances. Returns whether anything was created."""
        known = len(self.items)
        for key in missed:
            result = key_fields_of(self.design.compiled, key)
            spares = () if result is None else self.spares.get(result[0].cls, ())
            if result is None or not spares:
                continue
            entity, values = result
            own = {name: value for name, value in values.items() if name in entity.cls.model_fields}
            copied = self._changed(entity, spares[len(self.log) % len(spares)], own)
            if copied is not None and identity_of(entity, entity.field_values(copied)) not in self.items:
                self._write(copied, create=bool(entity.claims))
        return len(self.items) > known

    def _try(self, text: str, call: Any) -> tuple[errors.KeyplanError | None, Any]:
        """The expected error of a call, if any, and its result."""
        try:
            result = call()
        except (errors.DynamoDBError, errors.StoreError) as error:
            self.log.append(f"{text}\n    → {type(error).__name__}: {error}")
            raise AssertionError(f"{text} failed with a store error: {error}") from error
        except errors.KeyplanError as error:
            self.log.append(f"{text}\n    → {type(error).__name__}: {error.message}")
            return error, None
        except Exception as error:
            self.log.append(f"{text}\n    → {error!r}")
            raise AssertionError(f"{text} failed with {error!r}, not a KeyplanError") from error
        self.log.append(text)
        return None, result

    # Checks of outcomes

    def _check_refusal(
        self,
        entity: CompiledEntity,
        identity: Identity,
        instance: Entity,
        error: errors.KeyplanError,
        *,
        stale: bool = False,
    ) -> None:
        """Raises AssertionError unless the rejection is justified."""
        if isinstance(error, errors.RequestError) or (stale and isinstance(error, errors.ConditionFailed)):
            return
        if isinstance(error, errors.UniqueValueTaken) and self._taken(entity, identity, instance):
            return
        if isinstance(error, errors.TransactionFailed) and any(error.reasons):
            changed = stale and any(isinstance(reason, errors.ConditionFailed) for reason in error.reasons)
            for reason in filter(None, error.reasons):
                if changed and isinstance(reason, errors.UniqueValueTaken):
                    continue  # meanwhile, the item itself may have claimed the value
                self._check_refusal(entity, identity, instance, reason, stale=stale)
            return
        raise AssertionError(f"a valid write was rejected: {error}") from error

    def _check_taken(self, entity: CompiledEntity, identity: Identity, instance: Entity) -> None:
        other = self._taken(entity, identity, instance)
        if other is not None:
            raise AssertionError(f"a unique value was accepted twice: {other!r} already has it")

    def _taken(self, entity: CompiledEntity, identity: Identity, instance: Entity) -> Entity | None:
        """Another item with a unique value of the instance."""
        mine = entity.field_values(instance)
        for claim in entity.claims:
            variables = [variable for _, template in claim.attributes for variable in template.variables]
            if any(mine[variable.field] is None for variable in variables):
                continue
            for other_identity, other in self.items.items():
                if other_identity != identity and type(other) is entity.cls:
                    theirs = entity.field_values(other)
                    if all(_is_one(variable, theirs[variable.field], mine[variable.field]) for variable in variables):
                        return other
        return None

    # Parts

    def _compiled(self, instance: Entity) -> CompiledEntity:
        return self.design.compiled.entities[type(instance)]

    def _keep(self, identity: Identity, instance: Entity) -> None:
        old = self.items.get(identity)
        if old is not None:
            self.before.append(old)
        self.items[identity] = instance

    def _pick(self, entity: CompiledEntity, pick: int, *, stale: bool) -> Entity | None:
        source = self.before if stale else self.items.values()
        own = [element for element in source if type(element) is entity.cls]
        return own[pick % len(own)] if own else None

    def _changed(self, entity: CompiledEntity, instance: Entity, changes: Mapping[str, Any]) -> Entity | None:
        values = entity.own_values(instance)
        for name, change in changes.items():
            values[name] = _applied(values[name], change)
            if entity.fields[name].optional and isinstance(values[name], set | frozenset):
                values[name] = values[name] or None  # an empty set isn't stored
        try:
            return entity.cls.model_validate(values, by_name=True)
        except ValidationError:
            return None

    def _arguments(self, step: Call) -> dict[str, Any]:
        source = self._source(step)
        arguments: dict[str, Any] = {}
        for name, fresh in step.fresh.items():
            annotation = step.pattern.signature.by_name[name].annotation
            values = [] if source is None else self._stored(name, annotation, [source])
            if not values and name in step.picks:
                values = self._stored(name, annotation, self.items.values())
            arguments[name] = values[step.picks[name] % len(values)] if values and name in step.picks else fresh
        return arguments

    def _source(self, step: Call) -> Entity | None:
        """The item with most of the arguments, if they are to be those of one item."""
        picks = [*step.picks.values()]
        if len(picks) < len(step.pattern.signature.parameters) or len({*picks}) != 1 or not self.items:
            return None
        fits = [(len(step.picks.keys() & self._compiled(item).fields.keys()), item) for item in self.items.values()]
        most = max(count for count, _ in fits)
        best = [entity for count, entity in fits if count == most]
        return best[picks[0] % len(best)]

    def _stored(self, name: str, annotation: Any, instances: Iterable[Entity]) -> list[Any]:
        adapter = _adapter(annotation)
        result: list[Any] = []
        for instance in instances:
            own = getattr(instance, name) if name in self._compiled(instance).fields else None
            for element in (instance, own):
                with suppress(ValidationError):
                    if element is not None:
                        result.append(adapter.validate_python(element, strict=True))
        return result


def _adapter(annotation: Any) -> TypeAdapter[Any]:
    try:
        return _known_adapter(annotation)
    except TypeError:  # the annotation can't be hashed
        return TypeAdapter(annotation)


@lru_cache(maxsize=1024)
def _known_adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)


def _is_one(variable: Variable, value: Any, other: Any) -> bool:
    """Whether a key treats two values as equal, including folded case."""
    if variable.folds and value is not None and other is not None:
        return variable.folded(value) == variable.folded(other)
    return bool(value == other)


def _plain(entity: CompiledEntity, instance: Entity) -> dict[str, Any]:
    """The fields without the version, which each write increments."""
    version = entity.version.name if entity.version is not None else None
    return {name: value for name, value in instance.__dict__.items() if name != version}


def _applied(value: Any, change: Any) -> Any:
    match change:
        case Add():
            return (value or 0) + change.amount
        case Append():
            return [*(value or ()), *change.items]
        case SetAdd():
            return {*(value or ()), *change.elements}
        case SetRemove():
            return {*(value or ())} - set(change.elements)
        case _:
            return change


_KEYED = ("Update", "Delete", "ConditionCheck")


def _written_keys(request: Request) -> Iterator[Item]:
    parameters = request.parameters
    if request.operation in {"UpdateItem", "DeleteItem"}:
        yield parameters["Key"]
    for action in parameters.get("TransactItems", ()):
        for kind in _KEYED:
            if kind in action:
                yield action[kind]["Key"]


def watched(conversation: Conversation[Any], missed: list[Item]) -> Conversation[Any]:
    """Observe a conversation, and append the keys of missing items and of rejected writes to ``missed``."""

    def observe(step: Request | list[Request], answer: Any, error: Exception | None) -> None:
        requests, answers = ([step], [answer]) if isinstance(step, Request) else (step, answer)
        if error is not None:
            missed.extend(key for request in requests for key in _written_keys(request))
            return
        for request, response in zip(requests, answers, strict=True):
            if request.operation == "GetItem" and "Item" not in response:
                missed.append(request.parameters["Key"])

    return relay(conversation, observe, pauses=False)


def key_fields_of(design: CompiledDesign, key: Item) -> tuple[CompiledEntity, Mapping[str, Any]] | None:
    """The entity with this primary key, and the field values in the key; None for a claim or another program's key."""
    for entity in design.entities.values():
        if entity.primary.matches(key):
            values = entity.primary.values(key)
            if values is not None and values.keys() >= {*entity.key_fields}:
                return entity, values
    return None
