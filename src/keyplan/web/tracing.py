"""Records the requests of calls, and reads example values from stored items, for a design's page."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, TypeVar

from keyplan.client.conversations import Conversation, Request, Target, converse_async, relay
from keyplan.client.results import Answer
from keyplan.errors import ArgumentError, InvalidItemError
from keyplan.formatting.results import plain
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.session.design import Design

T = TypeVar("T")

REQUESTS_MAX = 60
"""Maximum number of requests of one call that are shown."""
_SEGMENTS = 8
_SEGMENT_ITEMS = 12
_EXAMPLES_MAX = 12


async def traced(design: Design, pattern: str, arguments: Mapping[str, Any], log: list[Request]) -> Any:
    """Call a pattern, and append its requests to ``log``. The result of an iterator pattern is the first part."""
    conversation = bounded_conversation(design, pattern, arguments)
    return await converse_async(_logged(conversation, log), design.store.async_transport)


def bounded_conversation(design: Design, pattern: str, arguments: Mapping[str, Any]) -> Conversation[Any]:
    """The conversation of a call. If a pattern returns an iterator, only its first part is read."""
    read = design.compiled.reads.get(pattern)
    if read is None or read.shape.kind is not ShapeKind.ITERATOR:
        return (yield from design.conversation(pattern, arguments))
    bound = read.signature.bind((), arguments, strict=False)
    answer = Answer(read, Target(design.store.table_name, design.compiled.table), b"")
    items, _ = yield from answer.part(bound, None, 0)
    return items


def _logged(conversation: Conversation[T], log: list[Request]) -> Conversation[T]:
    def observe(step: Request | list[Request], _answer: Any, _error: Exception | None) -> None:
        requests = [step] if isinstance(step, Request) else step
        log.extend(
            Request(request.operation, deepcopy(request.parameters)) for request in requests[: REQUESTS_MAX - len(log)]
        )

    return relay(conversation, observe)


async def examples(design: Design) -> dict[str, list[str]]:
    """Example values by parameter name, from a small sample of the table's items."""
    compiled = design.compiled
    wanted = {
        parameter.name
        for pattern in compiled.patterns.values()
        for parameter in pattern.signature.parameters
        if parameter.condition
    }
    result: dict[str, dict[str, None]] = {}
    for item in await _sample(design):
        entity = compiled.entity_of(item)
        if entity is None:
            continue
        try:
            values = entity.field_values(entity.from_item(item))
        except (InvalidItemError, ArgumentError):
            continue
        for name, value in values.items():
            shown = plain(value)
            if name in wanted and isinstance(shown, str | int) and 0 < len(str(shown)) <= 200:
                result.setdefault(name, {})[str(shown)] = None
    return {name: list(texts)[:_EXAMPLES_MAX] for name, texts in result.items()}


async def _sample(design: Design) -> list[dict[str, Any]]:
    base = {"TableName": design.store.table_name, "Limit": _SEGMENT_ITEMS, "TotalSegments": _SEGMENTS}
    scans = [Request("Scan", {**base, "Segment": segment}) for segment in range(_SEGMENTS)]
    answers = await design.store.async_transport.call_all(scans)
    return [item for answer in answers for item in answer["Items"]]
