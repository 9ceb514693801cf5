"""Conversations run without a store: what they ask when nothing is there; and what a write does, in sentences.

Reads are explained in ``explanation.py``. What a write does is found out in ``keyplan.rehearsal``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from functools import partial
from typing import Any

from keyplan.analysis.explain.wording import listed
from keyplan.analysis.rehearsal.account import Account
from keyplan.analysis.rehearsal.guard import OutsideError, cut_off
from keyplan.client.batches import batch_write
from keyplan.client.conversations import Conversation, Request, converse, relay
from keyplan.client.crud import Verbs
from keyplan.client.results import Answer
from keyplan.client.target import Target
from keyplan.client.write_attempts import Actions, Attempt
from keyplan.client.write_compiler import WriteCompiler
from keyplan.errors import KeyplanError, RequestError, ResponseError
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern

__all__ = ["asked_of", "nothing", "proof", "rehearsal"]


def nothing(request: Request) -> dict[str, Any]:
    """The response of a store that holds nothing."""
    if request.operation == "BatchGetItem":
        return {"Responses": {}, "UnprocessedKeys": {}}
    return {"Items": [], "Count": 0, "ScannedCount": 0} if request.operation in {"Query", "Scan"} else {}


def asked_of(conversation: Conversation[Any], respond: Callable[[Request], dict[str, Any]] = nothing) -> list[Request]:
    """What a conversation asks when nothing is there. A missing item ends it, as it would end the call."""
    requests: list[Request] = []
    with suppress(ResponseError):
        _ask(conversation, respond, requests)
    return requests


def _ask(conversation: Conversation[Any], respond: Callable[[Request], dict[str, Any]], result: list[Request]) -> None:
    """Run a conversation and note what it asks. Raises what the conversation raises."""

    def observe(step: Request | list[Request], _answer: Any, _error: Exception | None) -> None:
        requests = [step] if isinstance(step, Request) else step
        result.extend(Request(request.operation, deepcopy(request.parameters)) for request in requests)

    converse(relay(conversation, observe, pauses=False), _Responding(respond))


class _Responding:
    """Answers instead of a store."""

    def __init__(self, respond: Callable[[Request], dict[str, Any]]) -> None:
        self._respond = respond

    def call(self, operation: str, parameters: dict[str, Any], /) -> dict[str, Any]:
        """One answer."""
        return self._respond(Request(operation, parameters))

    def call_all(self, requests: list[Request], /) -> list[dict[str, Any]]:
        """Several answers."""
        return [self._respond(request) for request in requests]


def rehearsal(
    design: CompiledDesign, cls: type[Any], pattern: WritePattern, bound: dict[str, Any], *, asks: bool
) -> tuple[tuple[Request, ...], str]:
    """What the write asks when nothing is there: all of it where it reads nothing first."""
    target = Target(design.table.name, design.table)
    answers = {name: Answer(read, target, b"") for name, read in design.reads.items()}
    compiler = WriteCompiler(design.entities, target)
    nowhere = object.__new__(cls)  # a design on no store: a write reaches it by its reads' ``ask`` alone
    make: Callable[[], Actions[Any]] = partial(pattern.function, nowhere, **bound)
    if pattern.load.in_transaction:
        conversation = _joined(Attempt(compiler, answers, pattern.place, None), make, target)
    else:
        conversation = Verbs(compiler, target, answers).write(make, pattern.place, 1)
    asked: list[Request] = []
    ended = ""
    try:
        with cut_off():
            _ask(conversation, nothing, asked)
    except RequestError:
        raise
    except KeyplanError as error:
        ended = f" There it ends: {error.message}."
    except OutsideError as error:
        ended = f" There it ends: it {error.what}, which isn't done for an explanation."
    except Exception as error:  # noqa: BLE001 - a write is its author's code, and nothing is at stake here
        ended = f" There it ends: {type(error).__name__}: {error}."
    if not asks:
        return tuple(asked), f"Moments and new ids are those of this explanation.{ended}"
    note = "These are the requests on an empty table; further ones depend on what the reads find."
    return tuple(asked), note + ended


def _joined(attempt: Attempt, make: Callable[[], Actions[Any]], target: Target) -> Conversation[None]:
    """What a write asks that is carried out with others: its part of their transaction."""
    yield from attempt.gather(make)
    parts = [{operation.kind: operation.parameters} for operation in attempt.operations]
    if parts:
        yield Request("TransactWriteItems", {"TransactItems": parts})
    for batch in attempt.batches:
        yield from batch_write(target.name, batch)


def proof(account: Account) -> str:
    """What a write does, in sentences."""
    batch_alone = account.operation == "BatchWriteItem"
    kinds = [kind for kind in account.kinds if kind != "Batch" and not batch_alone]
    parts: list[str] = []
    if account.asked:
        parts.append(f"It first asks {listed(account.asked)}, strongly consistent where their keys allow.")
    if kinds and account.operation.partition(",")[0] in {"PutItem", "UpdateItem", "DeleteItem"}:
        parts.append(f"Its one action ({kinds[0]}) is one conditional request.")
    elif kinds and account.joined:
        parts.append(
            f"Its actions ({', '.join(kinds)}) go out in one TransactWriteItems with those of the writes that it is "
            "joined with, all or nothing."
        )
    elif kinds:
        parts.append(
            f"Its actions ({', '.join(kinds)}) go out together: one is one conditional request, several are one "
            "TransactWriteItems, all or nothing."
        )
    if "Batch" in account.kinds:
        goes = "goes out" if batch_alone else "follows"
        parts.append(f"Its Batch {goes} in BatchWriteItem requests of 25, which are not all-or-nothing.")
    if account.pattern.attempts > 1:
        parts.append(f"When a condition doesn't hold it is tried again, up to {account.pattern.attempts} times in all.")
    return " ".join(parts) or "It writes nothing."
