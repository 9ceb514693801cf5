"""The CRUD methods of every design (get, put, create, update, delete, batches, transactions), as conversations.

The methods use the write compiler; the opened design provides synchronous and asynchronous methods. ``write_attempts``
runs write patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar, cast

from keyplan.client.batches import batch_write
from keyplan.client.conversations import Conversation, Target
from keyplan.client.read_plans import batch_entities, get_item
from keyplan.client.results import Answer
from keyplan.client.transactions import send
from keyplan.client.write_attempts import run_write, stored_after
from keyplan.client.write_compiler import WriteCompiler, key_fields_of
from keyplan.errors import ArgumentError, InvalidItemError
from keyplan.model.compiled.compiled_design import WritePattern
from keyplan.model.declared.actions import Action, Batch, Create, Delete, Previous, Put, Update, several
from keyplan.model.declared.entity import Entity

E = TypeVar("E", bound=Entity)


class Verbs:
    """The CRUD methods of a design as conversations on its table."""

    def __init__(self, compiler: WriteCompiler, target: Target, answers: Mapping[str, Answer]) -> None:
        self.compiler = compiler
        self.target = target
        self.answers = answers

    def get(self, cls: type[E], key: Mapping[str, Any], *, consistent: bool = False) -> Conversation[E | None]:
        entity = self.compiler.entity(cls)
        if "consistent" in entity.key_fields:  # a key field has the same name as the option
            key, consistent = {**key, "consistent": consistent}, False
        known = key_fields_of(entity, key)
        made = entity.item_key(entity.primary, known)
        result = yield from get_item(self.target, entity, made, consistent=consistent, values=known)
        return cast("E | None", result)

    def get_many(
        self, cls: type[E], keys: Iterable[Mapping[str, Any]], *, consistent: bool = False
    ) -> Conversation[list[E | None]]:
        entity = self.compiler.entity(cls)
        given = [key_fields_of(entity, key) for key in several(keys, "keys")]
        wanted = [entity.item_key(entity.primary, known) for known in given]
        entities = yield from batch_entities(self.target, entity, wanted, consistent=consistent, values=given)
        return cast("list[E | None]", entities)

    def put(self, instance: E | Previous[E]) -> Conversation[E | None]:
        """Write the whole item. Returns the written item or, for ``Previous``, the item before the write."""
        if isinstance(instance, Previous):
            return (yield from self._previous(instance, Put))
        return cast("E", (yield from self._instance(Put(instance))))

    def create(self, instance: E) -> Conversation[E]:
        return cast("E", (yield from self._instance(Create(instance))))

    def _instance(self, action: Put[Any] | Create[Any]) -> Conversation[Any]:
        compiled = self.compiler.compile(action)
        yield from send(compiled.operations, type(action.item).__name__)
        return compiled.certain()

    def update(self, target: Any, changes: Mapping[str, Any]) -> Conversation[Any]:
        """Change fields of an item. Returns the item after the update or, for ``Previous``, before the update."""
        if isinstance(target, Previous | Update) and changes:
            raise ArgumentError(f"pass changes in the Update, not as arguments: {', '.join(changes)}", place="update")
        if isinstance(target, Previous):
            return (yield from self._previous(target, Update))
        compiled = self.compiler.compile(self._update(target, changes))
        entity = compiled.operations[0].entity
        response = yield from send(compiled.operations, entity.name, returned=compiled.returned)
        if "Attributes" in response:
            return stored_after(compiled, response)
        certain = compiled.certain()
        if certain is not None:
            return certain
        key = compiled.operations[0].parameters["Key"]
        return (yield from get_item(self.target, entity, key, consistent=True))

    def _update(self, target: Any, changes: Mapping[str, Any]) -> Update[Any]:
        if isinstance(target, Update):
            return target
        if not isinstance(target, type):
            return Update(target, **changes)
        named = self.compiler.entity(target).key_fields
        key = {name: changes[name] for name in named if name in changes}
        return Update(target, **key).set(**{name: value for name, value in changes.items() if name not in named})

    def _previous(self, previous: Previous[E], kind: type[Put[Any] | Update[Any]]) -> Conversation[E | None]:
        verb = kind.__name__.lower()
        if not isinstance(previous.action, kind):
            raise ArgumentError(f"{previous!r} isn't a {kind.__name__}", place=verb, hint=f"pass {kind.__name__}(...)")
        return (yield from run_write(self.compiler, self.answers, previous.__iter__, verb, 1))

    def delete(self, action: Delete[E]) -> Conversation[E | None]:
        """Delete an item. Returns the deleted item if the deletion is a single request, which can return the item."""
        compiled = self.compiler.compile(action)
        entity = compiled.operations[0].entity
        response = yield from send(compiled.operations, entity.name, returned=compiled.returned)
        try:
            return cast("E | None", stored_after(compiled, response))
        except InvalidItemError:  # the item is deleted even if it can't be returned
            return None

    def batch(self, actions: Iterable[Put[Any] | Delete[Any]]) -> Conversation[None]:
        yield from batch_write(self.target.name, self.compiler.batch(Batch(actions)))

    def transact(self, actions: Iterable[Action]) -> Conversation[None]:
        operations = [
            operation
            for action in several(actions, "actions")
            for operation in self.compiler.compile(action).operations
        ]
        yield from send(operations, "transact")

    def write(self, design: Any, pattern: WritePattern, bound: Mapping[str, Any]) -> Conversation[Any]:
        make: Callable[[], Any] = partial(pattern.function, design, **bound)
        return run_write(self.compiler, self.answers, make, pattern.place, pattern.attempts)
