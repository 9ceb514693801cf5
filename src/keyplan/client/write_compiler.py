"""Compiles all writes, so that index keys, sparse index entries, claims, versions and
conditions are always correct. An action is compiled into one or several operations of a request; nothing is sent.

``transactions`` sends the requests and explains failures. ``update_expressions`` compiles the changes of an update.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from keyplan.client.conversations import Target
from keyplan.client.update_expressions import compile_update
from keyplan.dynamodb.expressions import ExpressionFault
from keyplan.errors import ArgumentError, KeyplanError, RequestError, shown
from keyplan.model.compiled.absent_attributes import as_read, check_limits, is_affected
from keyplan.model.compiled.compiled_filters import translate_mapping
from keyplan.model.compiled.conditions import translate
from keyplan.model.declared import actions
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.stored.stored_entity import CompiledEntity, reject_unknown
from keyplan.model.stored.stored_keys import CompiledKey
from keyplan.model.stored.update_outcomes import certain_before, certain_outcome, whole_update

Item = dict[str, dict[str, Any]]
_SCALARS = frozenset({"S", "N", "B", "BOOL", "NULL"})
_ByKey = actions.Update[Any] | actions.Delete[Any] | actions.Check[Any]
_A = TypeVar("_A", actions.Update, actions.Delete, actions.Check)


@dataclass
class Conditions:
    """Builds a condition. ``fields``: clauses that an item without the attribute can satisfy, because of a default."""

    entity: CompiledEntity
    fields: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    clauses: list[str] = field(default_factory=list[str])
    names: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, Any] = field(default_factory=dict[str, Any])

    def exists(self, attribute: str, *, wanted: bool) -> None:
        self.names["#pk"] = attribute
        self.clauses.append(f"attribute_{'exists' if wanted else 'not_exists'}(#pk)")

    def labelled(self, missing: str | None = None) -> None:
        """Require this entity's labels in the item. With ``missing`` (a key attribute), the item may be missing."""
        clauses: list[str] = []
        for number, (attribute, value) in enumerate(self.entity.labels.items()):
            self.names[f"#l{number}"] = attribute
            self.values[f":l{number}"] = value
            clauses.append(f"#l{number} = :l{number}")
        if missing is None or not clauses:
            self.clauses.extend(clauses)
            return
        self.names["#pk"] = missing
        self.clauses.append(f"(attribute_not_exists(#pk) OR ({' AND '.join(clauses)}))")

    def equal(self, fields: Mapping[str, Any], prefix: str, target: Any = None) -> None:
        """Require these field values. ``target`` is an instance that was read, whose values must equal these values."""
        clauses, names, values = translate_mapping(self.entity, fields, prefix)
        read_as = self.entity.read_as
        for clause, (name, value) in zip(clauses, fields.items(), strict=True):
            default = read_as.get(self.entity.fields[name].attribute)
            held = values.get(clause.rpartition(" ")[2])  # None for an attribute_not_exists clause
            differs = default is None or (held != default and not default.keys().isdisjoint(_SCALARS))
            if held is None or ("M" not in held and differs):
                self.clauses.append(clause)  # an item without the attribute doesn't satisfy the condition
            else:
                self.fields.append((clause, isinstance(target, Entity) and getattr(target, name) == value))
        self.names.update(names)
        self.values.update(values)

    def text(self, condition: actions.Condition, number: int) -> None:
        """Add a condition given in DynamoDB's expression syntax. Raises RequestError."""
        prefix = f"c{number}_"
        try:
            translated = translate(condition.text, [self.entity], prefix)
        except Problem as problem:
            raise RequestError(str(problem), place=self.entity.name, hint=problem.hint) from None
        if set(translated.placeholders) != set(condition.values):
            raise RequestError(
                f"the condition {condition.text!r} requires values for {sorted(translated.placeholders)}, "
                f"not {sorted(condition.values)}",
                place=self.entity.name,
            )
        self.fields.append((f"({translated.text})", False))
        self.names.update(translated.names)
        try:
            self.values |= {
                placeholder: operand.encoded(condition.values[operand.name])
                for placeholder, operand in translated.operands.items()
            }
        except ArgumentError as error:
            raise ArgumentError(
                f"only_if({condition.text!r}): {error.message}",
                place=error.place or self.entity.name,
                hint=error.hint,
                errors=error.errors,
            ) from None

    def all_clauses(self, partition: str | None = None) -> list[str]:
        """All clauses, with missing attributes read as their defaults. If ``partition`` is set, defaults don't apply to
        a missing item. Raises RequestError for a condition that exceeds DynamoDB's limits.
        """
        given = [clause for clause, _ in self.fields]
        entities = (self.entity,)
        if "attribute_not_exists(#pk)" in self.clauses or not is_affected(" AND ".join(given), self.names, entities):
            return [*given, *self.clauses]
        item = None if partition is None or "attribute_exists(#pk)" in self.clauses else "#pk"
        names = self.names
        if item is not None and partition is not None:
            names[item] = partition
        try:
            clauses = [
                as_read(clause, names, self.values, entities, item, held=() if was_read else None)
                for clause, was_read in self.fields
            ]
            clauses = [new if new == old else f"({new})" for old, new in zip(given, clauses, strict=True)]
            clauses += self.clauses
            check_limits(" AND ".join(clauses))
        except ExpressionFault as fault:
            raise RequestError(f"the condition can't be sent: {fault}", place=self.entity.name) from None
        if item is not None and not any("(#pk)" in clause for clause in clauses):
            del names[item]
        return clauses

    def pin_key_fields(self, values: Mapping[str, Any]) -> None:
        """Require that the stored item with this key doesn't have other values of the key fields."""
        for number, (name, value) in enumerate(self.entity.distinguishing_fields(self.entity.primary, values).items()):
            encoded = self.entity.encode_fields({name: value})
            if name in self.entity.fixed_fields:
                for attribute, held in encoded.items():
                    self.names[f"#t{number}"], self.values[f":t{number}"] = attribute, held
                    self.clauses.append(f"(#t{number} = :t{number} OR attribute_not_exists(#t{number}))")

    def members(self, partition: str) -> dict[str, Any]:
        """The request parameters of the condition, for a table with this partition key. Raises RequestError."""
        clauses = self.all_clauses(partition)
        if not clauses:
            return {}
        members: dict[str, Any] = {"ConditionExpression": " AND ".join(clauses)}
        if self.names:
            members["ExpressionAttributeNames"] = self.names
        if self.values:
            members["ExpressionAttributeValues"] = self.values
        return members


@dataclass(frozen=True)
class Operation:
    """One operation of a request. ``kind`` is Put, Update, Delete or ConditionCheck; ``role`` is the meaning of a
    failed condition: ``item`` (the item has other values), ``new`` (the item exists), ``claim`` (the value is taken).
    """

    kind: str
    parameters: dict[str, Any]
    entity: CompiledEntity
    role: str
    key: Item
    expected: Mapping[str, Any]
    final: bool = False
    """Whether a failed condition ends the write without a retry."""
    missing: KeyplanError | None = None
    """The error if the condition failed because the item is missing."""
    token: str | None = None
    """The token that the item stores, which prevents executing the operation again."""
    idempotent: bool = True
    """Whether repeating the operation has no further effect; false for adding and appending."""

    @property
    def description(self) -> str:
        """A description for error messages, built lazily."""
        return f"{self.kind} {self.entity.name}({self.entity.describe_key(self.key)})"

    def is_done(self, item: Item | None) -> bool:
        """Whether the operation was already executed, so that the stored item contains its token."""
        tokens = self.entity.tokens
        if self.token is None or tokens is None or item is None:
            return False
        return self.token in item.get(tokens.attribute, {}).get("SS", ())


@dataclass(frozen=True)
class Compiled:
    """An action's operations. ``certain`` returns the resulting instance; None if only a response can."""

    action: actions.Action
    operations: list[Operation]
    certain: Callable[[], Entity | None]
    gives_previous: bool = False
    """Whether the caller wants the previous item."""

    @property
    def returned(self) -> str | None:
        """The request's ReturnValues; None if the response can't contain the item."""
        if len(self.operations) > 1:
            return None
        match self.operations[0].kind:
            case "Update":
                return "ALL_OLD" if self.gives_previous else "ALL_NEW"
            case "Delete":
                return "ALL_OLD"
            case "Put":
                return "ALL_OLD" if self.gives_previous else None
            case _:
                return None


def _nothing() -> None:
    return None


class WriteCompiler:
    """Compiles the actions of a design on a table."""

    def __init__(self, entities: Mapping[type[Entity], CompiledEntity], target: Target) -> None:
        self.entities = entities
        self.target = target
        self._partition = target.table.partition.name

    def entity(self, cls: Any) -> CompiledEntity:
        """The compiled entity of a class. Raises RequestError for a class of another design."""
        compiled_entity = self.entities.get(cls) if isinstance(cls, type) else None
        if compiled_entity is None:
            known = ", ".join(entity.name for entity in self.entities.values())
            raise RequestError(
                f"{cls.__name__ if isinstance(cls, type) else shown(cls)} isn't an entity of this design",
                hint=f"the entities are {known}; add other entities to Table(..., entities=[...])",
            )
        return compiled_entity

    def compile(self, action: actions.Action) -> Compiled:
        """Compile an action of a write. Raises RequestError or a subclass for an invalid action."""
        match action:
            case actions.Create():
                compiled = self._create(action)
            case actions.Put():
                compiled = self._put(action)
            case actions.Update():
                compiled = self._update(action)
            case actions.Delete():
                compiled = self._delete(action)
            case actions.Check():
                compiled = self._check(action)
            case _:
                anything: Any = action  # calls that aren't type-checked can pass other values
                if isinstance(anything, actions.Previous):
                    hint = f"write before = yield from {anything!r}"
                    raise RequestError("previous() requires yield from", hint=hint)
                raise RequestError(
                    f"a write yields actions, not {type(action).__name__}",
                    hint="yield Put, Create, Update, Delete, Check or Batch",
                )
        if not (action.is_final or action.missing):
            return compiled
        operations = [
            replace(operation, final=action.is_final, missing=action.missing if operation.role == "item" else None)
            for operation in compiled.operations
        ]
        return replace(compiled, operations=operations)

    def batch(self, batch: actions.Batch) -> list[dict[str, Any]]:
        """The write requests of a batch. Raises RequestError for actions that need a condition or a transaction."""
        compiled = [self._batched(action) for action in batch.actions]
        no_repeats([operation for operation, _ in compiled], "batch")
        return [request for _, request in compiled]

    def _batched(self, action: Any) -> tuple[Operation, dict[str, Any]]:
        if not isinstance(action, actions.Put | actions.Delete) or action.conditions or action.equals:
            raise RequestError(
                "a batch supports only Put and Delete without conditions", hint="yield the action without Batch"
            )
        compiled = self._delete(action, in_batch=True) if isinstance(action, actions.Delete) else self.compile(action)
        if len(compiled.operations) > 1 or "ConditionExpression" in compiled.operations[0].parameters:
            raise RequestError(
                f"a {compiled.operations[0].entity.name} has claims, a version, or a key that another item can have, "
                "which a batch can't check",
                hint="yield the action without Batch",
            )
        operation = compiled.operations[0]
        if isinstance(action, actions.Delete):
            return operation, {"DeleteRequest": {"Key": operation.parameters["Key"]}}
        return operation, {"PutRequest": {"Item": operation.parameters["Item"]}}

    # Actions

    def _put(self, action: actions.Put) -> Compiled:
        entity, instance = self._checked(action.item)
        if entity.claims:
            raise RequestError(
                f"Put can't release the unique values of an existing {entity.name}",
                place=entity.name,
                hint="use Create or Update",
            )
        conditions = self._conditions(entity, action)
        version = entity.version
        if version is not None:
            before = getattr(instance, version.name)
            if entity.lacks_version(action.item):
                conditions.exists(self._partition, wanted=True)
                conditions.equal({version.name: None}, "v")
            elif before:
                conditions.equal({version.name: before}, "v")
            else:
                conditions.exists(self._partition, wanted=False)
            instance = instance.model_copy(update={version.name: before + 1})
        item = entity.to_item(instance)
        if entity.primary.is_raw:
            conditions.pin_key_fields(entity.field_values(instance))
        expected = dict(action.equals)
        if version is not None:
            expected[version.name] = getattr(action.item, version.name)
        operation = self._operation("Put", {"Item": item}, entity, conditions, "item", item, expected)
        certain = _nothing if action.gives_previous else partial(entity.as_stored, instance)
        return Compiled(action, [operation], certain, action.gives_previous)

    def _create(self, action: actions.Create) -> Compiled:
        entity, instance = self._checked(action.item)
        conditions = self._conditions(entity, action)
        conditions.exists(self._partition, wanted=False)
        if entity.version is not None:
            instance = instance.model_copy(update={entity.version.name: getattr(instance, entity.version.name) or 1})
        item = entity.to_item(instance)
        operations = [self._operation("Put", {"Item": item}, entity, conditions, "new", item, action.equals)]
        if entity.claims:
            field_values = entity.field_values(instance)
            operations += [
                self._claim(entity, claim, field_values) for claim in entity.claims if claim.member(field_values)
            ]
        return Compiled(action, operations, partial(entity.as_stored, instance))

    def _update(self, action: actions.Update) -> Compiled:
        entity = self._target_entity(action)
        if action.token is not None and action.gives_previous:
            raise RequestError(
                "an idempotent update can't return the previous item",
                place=entity.name,
                hint="omit idempotent() or previous()",
            )
        if entity.slots or action.token is not None:
            action = whole_update(entity, action)
        action = self._normalized(entity, action)
        change = compile_update(entity, action)
        key = entity.item_key(entity.primary, self._key_fields(entity, action))
        conditions = self._conditions(entity, action)
        if not action.creates:
            conditions.exists(self._partition, wanted=True)
        if entity.labels:
            conditions.labelled(self._partition if action.creates else None)
        self._tell_apart(conditions, action)
        if change.pins:
            conditions.equal(change.pins, "k", action.target)
        conditions.clauses.extend(change.clauses)
        parameters: dict[str, Any] = {"Key": key, "UpdateExpression": change.expression}
        operation = self._operation(
            "Update", parameters, entity, conditions, "item", key, {**change.pins, **action.equals}
        )
        for member, added in (("ExpressionAttributeNames", change.names), ("ExpressionAttributeValues", change.values)):
            if added:
                operation.parameters[member] = {**operation.parameters.get(member, {}), **added}
        operations = [replace(operation, token=action.token, idempotent=_is_idempotent(entity, action))]
        for claim, before, after in change.claims:
            if before is not None:
                operations.append(self._release(entity, claim, before, key))
            if after is not None:
                operations.append(self._claim(entity, claim, after, owner=None if before else key))
        certain = certain_before if action.gives_previous else certain_outcome
        return Compiled(action, operations, partial(certain, entity, action, change.pins), action.gives_previous)

    def _delete(self, action: actions.Delete, *, in_batch: bool = False) -> Compiled:
        by_class = isinstance(action.target, type)
        entity = self._target_entity(action)
        action = self._normalized(entity, action)
        key = entity.item_key(entity.primary, self._key_fields(entity, action))
        conditions = self._conditions(entity, action)
        if by_class and entity.claims:
            raise RequestError(
                f"{entity.name} has unique values, so Delete requires the instance",
                place=entity.name,
                hint="read the item, then yield Delete(instance)",
            )
        if entity.shares_keys or not in_batch:
            conditions.labelled(self._partition)
        self._tell_apart(conditions, action)
        operations: list[Operation] = []
        expected = dict(action.equals)
        if not by_class:
            field_values = entity.field_values(action.target)  # type: ignore[arg-type]
            pins = {name: field_values[name] for claim in entity.claims for name in entity.inputs_of(claim)}
            if entity.version is not None:
                pins[entity.version.name] = field_values[entity.version.name] or None
            self._unchanged_or_gone(conditions, pins, action.target)
            expected |= pins
            operations = [
                self._release(entity, claim, field_values, key) for claim in entity.claims if claim.member(field_values)
            ]
        deletion = self._operation("Delete", {"Key": key}, entity, conditions, "item", key, expected)
        return Compiled(action, [deletion, *operations], _nothing)

    def _check(self, action: actions.Check) -> Compiled:
        entity = self._target_entity(action)
        action = self._normalized(entity, action)
        key = entity.item_key(entity.primary, self._key_fields(entity, action))
        conditions = self._conditions(entity, action)
        conditions.exists(self._partition, wanted=True)
        conditions.labelled()
        self._tell_apart(conditions, action)
        operation = self._operation("ConditionCheck", {"Key": key}, entity, conditions, "item", key, action.equals)
        return Compiled(action, [operation], _nothing)

    # Entities, keys and conditions of operations

    def _checked(self, instance: Entity) -> tuple[CompiledEntity, Entity]:
        entity = self.entity(type(instance))
        return entity, entity.checked(instance)

    def _target_entity(self, action: _ByKey) -> CompiledEntity:
        return self.entity(action.target if isinstance(action.target, type) else type(action.target))

    def _tell_apart(self, conditions: Conditions, action: _ByKey) -> None:
        if conditions.entity.primary.is_raw:
            conditions.pin_key_fields(self._key_fields(conditions.entity, action))

    def _normalized(self, entity: CompiledEntity, action: _A) -> _A:
        """The action with key fields as instances have them."""
        if isinstance(action.target, type):
            return action.among(key_fields_of(entity, action.key))
        if action.key:
            text = f"pass key fields only with a class, not with an instance: {', '.join(action.key)}"
            raise ArgumentError(text, place=entity.name)
        return action

    def _key_fields(self, entity: CompiledEntity, action: _ByKey) -> Mapping[str, Any]:
        return action.key if isinstance(action.target, type) else entity.field_values(action.target)

    def _conditions(self, entity: CompiledEntity, action: Any) -> Conditions:
        conditions = Conditions(entity)
        if action.equals:
            reject_unknown(entity.cls, entity.fields, action.equals)
            conditions.equal(action.equals, "e", getattr(action, "target", None))
        for number, condition in enumerate(action.conditions):
            conditions.text(condition, number)
        return conditions

    def _unchanged_or_gone(self, conditions: Conditions, pins: Mapping[str, Any], target: Any) -> None:
        if not pins:
            return
        inner = Conditions(conditions.entity)
        inner.equal(pins, "d", target)
        unchanged = " AND ".join(inner.all_clauses())
        conditions.names |= {**inner.names, "#pk": self._partition}
        conditions.values |= inner.values
        conditions.clauses.append(f"(attribute_not_exists(#pk) OR ({unchanged}))")

    def _claim(
        self, entity: CompiledEntity, claim: CompiledKey, field_values: Mapping[str, Any], owner: Item | None = None
    ) -> Operation:
        """The operation that puts a claim, on the condition that the claim is new or belongs to ``owner``."""
        item: Item = entity.claim_item(claim, field_values)
        conditions = Conditions(entity) if owner is None else self._claimed_by(entity, owner)
        if owner is None:
            conditions.exists(self._partition, wanted=False)
        taken = {name: field_values[name] for _, template in claim.attributes for name in template.fields}
        return self._operation("Put", {"Item": item}, entity, conditions, "claim", item, taken)

    def _release(
        self, entity: CompiledEntity, claim: CompiledKey, field_values: Mapping[str, Any], owner: Item
    ) -> Operation:
        key = entity.item_key(claim, field_values)
        return self._operation("Delete", {"Key": key}, entity, self._claimed_by(entity, owner), "item", key, {})

    def _claimed_by(self, entity: CompiledEntity, owner: Item) -> Conditions:
        conditions = Conditions(entity)
        conditions.names = {"#pk": self._partition, "#claim": "claim_of"}
        conditions.values = {":owner": {"M": owner}}
        conditions.clauses = ["(attribute_not_exists(#pk) OR #claim = :owner)"]
        return conditions

    def _operation(
        self,
        kind: str,
        parameters: dict[str, Any],
        entity: CompiledEntity,
        conditions: Conditions,
        role: str,
        key: Item,
        expected: Mapping[str, Any],
    ) -> Operation:
        members = conditions.members(self._partition)
        whole = {"TableName": self.target.name, **parameters, **members}
        if members:
            whole["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        return Operation(kind, whole, entity, role, key, expected)


def _is_idempotent(entity: CompiledEntity, action: actions.Update) -> bool:
    """Whether an update only sets fields, or has a token that prevents repetition."""
    if action.token is not None:
        return True
    changes = list(action.changes.values())
    changes += [part for change in changes if isinstance(change, actions.Within) for _, part in change.changes]
    counts_version = entity.version is not None and isinstance(action.target, type)
    return not counts_version and not [change for change in changes if isinstance(change, actions.Add | actions.Append)]


def key_fields_of(entity: CompiledEntity, given: Mapping[str, Any]) -> dict[str, Any]:
    """The key fields given by name, as an instance has them. Raises ArgumentError for missing and invalid fields."""
    anything: Any = given
    if not isinstance(anything, Mapping) or not all(isinstance(name, str) for name in anything):
        raise ArgumentError(f"pass the key fields of {entity.name} by name, not {shown(given)}", place=entity.name)
    missing = [name for name in entity.key_fields if name not in given]
    unknown = [name for name in given if name not in entity.key_fields]
    if missing or unknown:
        named = (("missing", missing), ("not in the key", unknown))
        what = [f"{text}: {', '.join(names)}" for text, names in named if names]
        slots = bool(missing) and entity.slots.keys() >= {*missing} and not unknown
        raise ArgumentError(
            f"the key of {entity.name} has the fields {', '.join(entity.key_fields)}; {'; '.join(what)}",
            place=entity.name,
            hint="write with Update(...).or_create(); read with a pattern that returns a list or has total=" * slots,
        )
    return entity.check_fields(given)


def no_repeats(operations: Sequence[Operation], request: str, place: str | None = None) -> None:
    """Raise RequestError for two operations on one item, because DynamoDB accepts only one per item in a request."""
    if len(operations) < 2:
        return
    seen: dict[Any, Operation] = {}
    for operation in operations:
        names = [attribute.name for attribute, _ in operation.entity.primary.attributes]
        identity = (operation.parameters["TableName"], *[(name, *operation.key[name].values()) for name in names])
        if identity in seen:
            raise RequestError(
                f"a {request} has two actions on the same item: {seen[identity].description}, {operation.description}",
                place=place,
                hint="merge them into one action, or split the write",
            )
        seen[identity] = operation
