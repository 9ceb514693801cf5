"""Conversations run without a store: what they ask when nothing is there, and what a write's code says that it does.

Reads are explained in ``explanation.py``. A write asks and decides by what it finds, so all that is told of it is what
it asks on an empty table, and what its code mentions.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from copy import deepcopy
from functools import partial
from types import CodeType
from typing import Any

from keyplan.client.answers import Answer
from keyplan.client.conversations import Conversation, Pause, Request
from keyplan.client.reads import Target
from keyplan.client.verbs import Verbs
from keyplan.client.writes import WriteCompiler
from keyplan.design.model import CompiledDesign, WritePattern, entities_in
from keyplan.errors import AnswerError, KeyplanError, RequestError
from keyplan.explain.wording import listed

__all__ = ["WriteCode", "asked_of", "nothing", "rehearsal"]

_SINGLE = {
    "Put": "PutItem",
    "Create": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "Check": "TransactWriteItems",
}
_RIGHTS = {
    "Put": "PutItem",
    "Create": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "Check": "ConditionCheckItem",
    "Batch": "BatchWriteItem",
}
"""What each action needs to be allowed. A transaction needs what its parts need."""


def nothing(request: Request) -> dict[str, Any]:
    """The response of a store that holds nothing."""
    if request.operation == "BatchGetItem":
        return {"Responses": {}, "UnprocessedKeys": {}}
    return {"Items": [], "Count": 0, "ScannedCount": 0} if request.operation in {"Query", "Scan"} else {}


def asked_of(conversation: Conversation[Any], respond: Callable[[Request], dict[str, Any]] = nothing) -> list[Request]:
    """What a conversation asks when nothing is there. A missing item ends it, as it would end the call."""
    found: list[Request] = []
    with suppress(AnswerError):
        _ask(conversation, respond, found)
    return found


def _ask(conversation: Conversation[Any], respond: Callable[[Request], dict[str, Any]], found: list[Request]) -> None:
    """Run a conversation and note what it asks. Raises what the conversation raises."""

    def answer(step: Request | list[Request] | Pause) -> Any:
        if isinstance(step, Pause):
            return None
        requests = [step] if isinstance(step, Request) else step
        found.extend(Request(one.operation, deepcopy(one.parameters)) for one in requests)
        answers = [respond(one) for one in requests]
        return answers[0] if isinstance(step, Request) else answers

    try:
        step = next(conversation)
        while True:
            step = conversation.send(answer(step))
    except StopIteration:
        return
    finally:
        conversation.close()


def rehearsal(
    design: CompiledDesign, cls: type[Any], pattern: WritePattern, bound: dict[str, Any], *, asks: bool
) -> tuple[tuple[Request, ...], str]:
    """What the write asks when nothing is there: all of it where it reads nothing first."""
    target = Target(design.table.name, design.table)
    answers = {name: Answer(read, target, b"") for name, read in design.reads.items()}
    verbs = Verbs(WriteCompiler(design.entities, target), target, answers)
    nowhere = object.__new__(cls)  # a design on no store: a write reaches it by its reads' ``ask`` alone
    asked: list[Request] = []
    ended = ""
    try:
        _ask(verbs.write(partial(pattern.function, nowhere, **bound), pattern.place, 1), nothing, asked)
    except RequestError:
        raise
    except KeyplanError as error:
        ended = f" There it ends: {error.message}."
    except Exception as error:  # noqa: BLE001 - a write is its author's code, and nothing is at stake here
        ended = f" There it ends: {type(error).__name__}: {error}."
    if not asks:
        return tuple(asked), f"Moments and new ids are those of this explanation.{ended}"
    note = "These are the requests on an empty table; further ones depend on what the reads find."
    return tuple(asked), note + ended


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of the functions and comprehensions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _package(function: Any) -> str:
    """The package of a function's module; the module itself where it stands in none."""
    return str(function.__module__).rpartition(".")[0] or str(function.__module__)


def _methods(owners: Iterable[type[Any]]) -> dict[str, list[Any]]:
    """By its name what the classes have of functions of their own: methods, static ones and those of the class."""
    found: dict[str, list[Any]] = {}
    bases = dict.fromkeys(base for owner in owners for base in owner.__mro__)
    for base in bases:
        if not base.__module__.startswith(_OF_LIBRARIES):
            for name, value in vars(base).items():
                function = getattr(value, "__func__", value)
                if inspect.isfunction(function):
                    found.setdefault(name, []).append(function)
    return found


_OF_LIBRARIES = ("builtins", "pydantic", "keyplan.design.", "keyplan.opening")
"""Modules of base classes that every design and entity has."""


class WriteCode:
    """What a write's code mentions: the reads that it asks, and the kinds of its actions. Nothing is run."""

    def __init__(self, design: CompiledDesign, cls: type[Any] | None, pattern: WritePattern) -> None:
        self.design = design
        self.cls = cls
        self._asks: dict[str, None] = {}
        self._actions: list[str] = []
        self._loops = False
        self._entities = {one for each in pattern.signature.parameters for one in entities_in(each.annotation)}
        self._seen: set[Any] = set()
        self._package = _package(pattern.function)
        self._methods = _methods([*([] if cls is None else [cls]), *design.entities])
        self._walk(pattern.function)

    def _walk(self, function: Any) -> None:
        loops = False
        known = len(self._actions)
        for code in _codes(function.__code__):
            for one in dis.get_instructions(code):
                name = one.argval if isinstance(one.argval, str) else ""
                if one.opname.startswith("LOAD_") and (name in _SINGLE or name == "Batch"):
                    self._actions.append(name)
                elif one.opname == "LOAD_GLOBAL":
                    self._global(function.__globals__.get(name))
                elif one.opname in {"LOAD_ATTR", "LOAD_METHOD"}:
                    self._mentioned(name)
                elif one.opname == "FOR_ITER" or ("BACKWARD" in one.opname and "NO_INTERRUPT" not in one.opname):
                    loops = True
        if loops and (inspect.isgeneratorfunction(function) or len(self._actions) > known):
            self._loops = True  # another helper's loops make no actions

    def _global(self, value: Any) -> None:
        if isinstance(value, type) and value in self.design.entities:
            self._entities.add(value)
        self._follow(value)

    def _mentioned(self, name: str) -> None:
        if name in self.design.reads:
            self._asks[name] = None
            self._entities.update(self.design.reads[name].shape.entities)
            return
        for helper in self._methods.get(name, ()):
            self._follow(helper)

    def _follow(self, helper: Any) -> None:
        """A helper that yields actions or reads too, ``yield from self._editable(article_id)``, or that makes actions:
        a function that stands in the same package.
        """
        own = inspect.isgeneratorfunction(helper) or (inspect.isfunction(helper) and _package(helper) == self._package)
        if own and helper not in self._seen:
            self._seen.add(helper)
            self._walk(helper)

    @property
    def asks(self) -> tuple[str, ...]:
        """The reads that it asks."""
        return tuple(self._asks)

    @property
    def rights(self) -> tuple[str, ...]:
        """The operations that its actions need to be allowed, by IAM's names. What it asks is told by ``asks``."""
        found = {_RIGHTS[one] for one in self._actions}
        if any(self.design.entities[one].claims for one in self._entities):
            # An update may move a claim: it is deleted under the old value, and put under the new one
            found |= {"PutItem", "DeleteItem"} if "Update" in self._actions else set[str]()
        return tuple(sorted(found))

    @property
    def operation(self) -> str:
        """The operation of the write itself: one action is a single request, several are one transaction."""
        kinds = [one for one in self._actions if one != "Batch"]
        batch = ["BatchWriteItem"] if "Batch" in self._actions else []
        claims = any(self.design.entities[one].claims for one in self._entities)
        if len(kinds) == 1 and not self._loops and not claims:
            return ", ".join([_SINGLE[kinds[0]], *batch])
        return ", ".join([*["TransactWriteItems"] * bool(kinds), *batch]) or "none"

    def proof(self, attempts: int) -> str:
        """What it does, in sentences."""
        kinds = list(dict.fromkeys(one for one in self._actions if one != "Batch"))
        parts: list[str] = []
        if self._asks:
            parts.append(f"It first asks {listed(self._asks)}, strongly consistent where their keys allow.")
        if kinds and self.operation.partition(",")[0] in {"PutItem", "UpdateItem", "DeleteItem"}:
            parts.append(f"Its one action ({kinds[0]}) is one conditional request.")
        elif kinds:
            parts.append(
                f"Its actions ({', '.join(kinds)}) go out together: one is one conditional request, several are one "
                "TransactWriteItems, all or nothing."
            )
        if "Batch" in self._actions:
            parts.append("Its Batch follows in BatchWriteItem requests of 25, which are not all-or-nothing.")
        if attempts > 1:
            parts.append(f"When a condition doesn't hold it is tried again, up to {attempts} times in all.")
        return " ".join(parts) or "It writes nothing."
