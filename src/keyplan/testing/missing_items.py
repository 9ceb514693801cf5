"""What a write misses: the keys that its requests named and where nothing was stored.

A write pattern asks for items, and has conditions on others. On a store that was filled at random these are seldom
there, so the pattern would only ever be seen to fail. Here its conversation is watched; putting the items there is the
work of ``model.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keyplan.client.conversations import Conversation, Request, relay
from keyplan.dynamodb.values import Item
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.stored.stored_entity import CompiledEntity

__all__ = ["Missed", "key_fields_of", "watched"]

_KEYED = ("Update", "Delete", "ConditionCheck")


class Missed:
    """The primary keys that a conversation named: those found missing, and those that a failed write needed."""

    def __init__(self) -> None:
        self.keys: list[Item] = []

    def answered(self, step: Request | list[Request], answer: Any) -> None:
        """Note the keys of reads that found nothing."""
        requests, answers = ([step], [answer]) if isinstance(step, Request) else (step, answer)
        for request, response in zip(requests, answers, strict=True):
            if request.operation == "GetItem" and "Item" not in response:
                self.keys.append(request.parameters["Key"])

    def failed(self, step: Request | list[Request]) -> None:
        """Note the keys of a write that was refused: any of them may be what it misses."""
        for request in [step] if isinstance(step, Request) else step:
            self.keys.extend(_written_keys(request))


def _written_keys(request: Request) -> Iterator[Item]:
    parameters = request.parameters
    if request.operation in {"UpdateItem", "DeleteItem"}:
        yield parameters["Key"]
    for action in parameters.get("TransactItems", ()):
        for kind in _KEYED:
            if kind in action:
                yield action[kind]["Key"]


def watched(conversation: Conversation[Any], missed: Missed) -> Conversation[Any]:
    """The conversation, with what it misses noted, and without its pauses: nobody else writes here, so that waiting
    changes nothing.
    """

    def observe(step: Request | list[Request], answer: Any, error: Exception | None) -> None:
        if error is None:
            missed.answered(step, answer)
        else:
            missed.failed(step)

    return relay(conversation, observe, pauses=False)


def key_fields_of(design: CompiledDesign, key: Item) -> tuple[CompiledEntity, Mapping[str, Any]] | None:
    """The entity whose primary key this is, and the field values in it; None for a claim, or a stranger's key."""
    for entity in design.entities.values():
        if entity.primary.matches(key):
            values = entity.primary.values(key)
            if values is not None and values.keys() >= {*entity.key_fields}:
                return entity, values
    return None
