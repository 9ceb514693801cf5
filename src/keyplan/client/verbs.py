"""The plain verbs of every design as conversations: get, put, create, update, delete, batches, transactions; and the
running of a write pattern.

They make use of the one write compiler; the opened design gives them their synchronous and asynchronous forms.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from keyplan.client.answers import Answer
from keyplan.client.batches import batch_write
from keyplan.client.conversations import Conversation
from keyplan.client.reads import Target, batch_entities, get_item
from keyplan.client.transactions import pause_before_retry, send
from keyplan.client.writes import Compiled, Operation, WriteCompiler, primary_key
from keyplan.design.actions import Action, Ask, Batch, Create, Delete, Put, Update
from keyplan.design.entity import Entity, faults_of
from keyplan.errors import ArgumentError, RequestError, WriteFailed

__all__ = ["Verbs"]

E = TypeVar("E", bound=Entity)
T = TypeVar("T")


class Verbs:
    """Conversations on one design's table."""

    def __init__(self, compiler: WriteCompiler, target: Target, answers: Mapping[str, Answer]) -> None:
        self.compiler = compiler
        self.target = target
        self.answers = answers

    def get(self, cls: type[E], key: Mapping[str, Any], *, consistent: bool = False) -> Conversation[E | None]:
        """One item by its key fields."""
        entity = self.compiler.entity(cls)
        found = yield from get_item(self.target, entity, primary_key(entity, key), consistent=consistent)
        return cast("E | None", found)

    def get_many(
        self, cls: type[E], keys: Iterable[Mapping[str, Any]], *, consistent: bool = False
    ) -> Conversation[list[E | None]]:
        """Many items by their key fields, in order."""
        entity = self.compiler.entity(cls)
        wanted = [primary_key(entity, key) for key in keys]
        found = yield from batch_entities(self.target, entity, wanted, consistent=consistent)
        return cast("list[E | None]", found)

    def put(self, instance: E) -> Conversation[E]:
        """Write the whole item."""
        return cast("E", (yield from self._instance(Put(instance))))

    def create(self, instance: E) -> Conversation[E]:
        """Write an item that must not exist."""
        return cast("E", (yield from self._instance(Create(instance))))

    def _instance(self, action: Put | Create) -> Conversation[Any]:
        compiled = self.compiler.compile(action)
        yield from send(compiled.operations, type(action.item).__name__)
        return compiled.result

    def update(self, action: Update) -> Conversation[Any]:
        """Change fields of an item, and give it as it then is."""
        compiled = self.compiler.compile(action)
        entity = compiled.operations[0].entity
        response = yield from send(compiled.operations, entity.name, return_new=True)
        item = response.get("Attributes")
        if item is not None:
            return entity.from_item(item)
        key = compiled.operations[0].parameters["Key"]
        return (yield from get_item(self.target, entity, key, consistent=True))

    def delete(self, action: Delete) -> Conversation[None]:
        """Remove an item."""
        compiled = self.compiler.compile(action)
        yield from send(compiled.operations, compiled.operations[0].entity.name)

    def batch(self, actions: Iterable[Put | Delete]) -> Conversation[None]:
        """Puts and deletes without conditions."""
        yield from batch_write(self.target.name, self.compiler.batch(Batch(actions)))

    def transact(self, actions: Iterable[Action]) -> Conversation[None]:
        """Several actions, all or nothing."""
        operations = [one for action in actions for one in self.compiler.compile(action).operations]
        yield from send(operations, "transact")

    def write(self, make: Callable[[], Generator[Action | Ask, Any, T]], place: str, attempts: int) -> Conversation[T]:
        """Run a write pattern: its reads as it asks them, its actions together when it has ended."""
        for attempt in range(1, attempts + 1):
            try:
                return (yield from self._attempt(make(), place))
            except WriteFailed:
                if attempt == attempts:
                    raise
            yield pause_before_retry(attempt)
        raise RequestError(f"attempts={attempts}: a write is tried at least once", place=place)

    def _attempt(self, actions: Generator[Action | Ask, Any, T], place: str) -> Conversation[T]:
        operations: list[Operation] = []
        batches: list[list[dict[str, Any]]] = []
        answer: Any = None
        try:
            while True:
                step = actions.send(answer)
                answer = None
                if isinstance(step, Ask):
                    answer = yield from self._ask(step)
                elif isinstance(step, Batch):
                    batches.append(self.compiler.batch(step))
                else:
                    compiled: Compiled = self.compiler.compile(step)
                    operations.extend(compiled.operations)
                    answer = compiled.result
        except StopIteration as end:
            result = end.value
        except ValidationError as error:
            raise ArgumentError("the write makes no valid item", place=place, faults=faults_of(error, "")) from error
        finally:
            actions.close()
        yield from send(operations, place)
        for batch in batches:  # one is done before the next begins, so that the last can tell that all is done
            yield from batch_write(self.target.name, batch)
        return cast("T", result)

    def _ask(self, ask: Ask) -> Conversation[Any]:
        answer = self.answers[ask.pattern].strongly()
        bound = answer.pattern.signature.bind(ask.arguments["args"], ask.arguments["kwargs"])
        return (yield from answer.converse(bound))
