"""Runs a write pattern: executes reads, collects actions, sends all actions together, and retries after conflicts.

A ``yield`` returns the item that its action leaves in the store. If this item is known before the request, it is
returned immediately. If only the store has the item, a pending value is returned and nothing is sent. If the
generator ends with that single action and only keeps the value, the request is sent at the end; if it uses the value
and yields nothing more, the generator runs again and the request is sent at its ``yield``. If other actions follow, all
actions are one transaction, which returns no items: the result is None. Reads aren't repeated; ``Findings`` keeps the
items that they returned, so that a failure can be explained.
"""

from __future__ import annotations

import enum
import inspect
import json
import weakref
from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple, NoReturn, TypeVar, cast

from pydantic import ValidationError

from keyplan.client.batches import batch_write
from keyplan.client.conversations import Conversation, Request, equal_attributes, relay
from keyplan.client.results import Answer
from keyplan.client.transactions import Refusal, pause_before_retry, send
from keyplan.client.write_compiler import Compiled, Operation, WriteCompiler
from keyplan.errors import ArgumentError, KeyplanError, RequestError, WriteFailed
from keyplan.model.declared.actions import Action, Ask, Batch, Delete, Put, Update
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.table import Table
from keyplan.model.stored.stored_entity import error_details_of
from keyplan.model.stored.update_outcomes import likely_outcome

T = TypeVar("T")
Actions = Generator[Action | Ask, Any, T]


def run_write(
    compiler: WriteCompiler, answers: Mapping[str, Answer], make: Callable[[], Actions[T]], place: str, attempts: int
) -> Conversation[T]:
    """Run a write up to ``attempts`` times. Retries only if a condition failed on an item changed since the read."""
    before: frozenset[str] = frozenset()
    for number in range(1, attempts + 1):
        findings = Findings(compiler.target.table, before) if number < attempts else None
        attempt = Attempt(compiler, answers, place, findings)
        try:
            return (yield from attempt.run(make))
        except WriteFailed:
            if findings is None or not findings.curable(attempt.refusals, gave_up=attempt.gave_up):
                raise
            before = findings.comparable(attempt.refusals)
        yield pause_before_retry(number)
    raise AssertionError("attempts= must be at least 1")


def stored_after(compiled: Compiled, response: Mapping[str, Any]) -> Entity | None:
    """The updated or deleted instance in the response of a single request. Raises InvalidItemError."""
    item, entity = response.get("Attributes"), compiled.operations[0].entity
    if not item or (
        compiled.gives_previous and not entity.is_labelled(item)
    ):  # a Put can replace another entity's item
        return None
    return entity.from_item(item)


class _Way(enum.Enum):
    """How to get a value that only the store's response contains."""

    PENDING = "the value may not be needed"
    LIKELY = "the value is needed: a likely value is used to find out whether other actions follow"
    SENT = "no other action follows: the request is sent when it is yielded"
    UNKNOWN = "other actions follow: the value stays unknown"


class _Rerun(BaseException):
    """Raised to rerun the generator, because an attempt found out which values it needs."""


class Attempt:
    """One attempt. A generator that uses values from the store runs up to three times; only the last run writes."""

    def __init__(
        self, compiler: WriteCompiler, answers: Mapping[str, Answer], place: str, findings: Findings | None
    ) -> None:
        self.compiler = compiler
        self.answers = answers
        self.place = place
        self.findings = findings
        self.refusals: list[Refusal] = []
        self.gave_up = False
        """Whether the generator raised WriteFailed, for example because the items that it read are inconsistent."""
        self._way = _Way.PENDING
        self._answered: list[tuple[Ask, Any]] = []
        self._begin()

    def _begin(self) -> None:
        self.operations: list[Operation] = []
        self.batches: list[list[dict[str, Any]]] = []
        self._asked = 0
        self._pending: Pending | None = None
        self._open: Put[Any] | Update[Any] | Delete[Any] | None = None
        """The first action, while its result is unknown."""

    def run(self, make: Callable[[], Actions[T]]) -> Conversation[T]:
        """Run the generator and send its operations. Raises WriteFailed, and the generator's exceptions."""
        while True:
            try:
                result = yield from self._steps(make())
            except _Rerun:
                self._begin()
                continue
            yield from self._send()
            for batch in self.batches:  # sequentially, so that success of the last batch means that all succeeded
                yield from batch_write(self.compiler.target.name, batch)
            return result

    def gather(self, make: Callable[[], Actions[T]]) -> Conversation[T]:
        """Run the generator for a caller that sends its operations with others. Raises the generator's exceptions."""
        self._way = _Way.UNKNOWN
        return (yield from self._steps(make()))

    def _steps(self, actions: Actions[T]) -> Conversation[T]:
        given: list[Any] = [None]  # in a list, so that only the generator references a pending value
        try:
            while True:
                try:
                    step = actions.send(given.pop())
                except StopIteration as end:
                    self._ended()
                    return cast("T", end.value)
                except (Exception, Touched) as error:
                    self._raised(error)
                    raise
                if self._pending is not None:
                    self._check_touched()
                if isinstance(step, Ask):
                    given.append((yield from self._ask(step)))
                elif isinstance(step, Batch):
                    self.batches.append(self.compiler.batch(step))
                    given.append(None)
                else:
                    given.append((yield from self._take(step)))
        except ValidationError as error:
            raise ArgumentError(
                "the write creates an invalid item", place=self.place, errors=error_details_of(error, "")
            ) from error
        finally:
            actions.close()

    def _ask(self, ask: Ask) -> Conversation[Any]:
        number, self._asked = self._asked, self._asked + 1
        if number < len(self._answered) and self._answered[number][0] == ask:
            return self._answered[number][1]
        del self._answered[number:]
        answer = self.answers[ask.pattern].strongly()
        bound = answer.pattern.signature.bind(ask.arguments["args"], ask.arguments["kwargs"])
        conversation = answer.converse(bound)
        result = yield from conversation if self.findings is None else self.findings.watch(conversation)
        self._answered.append((ask, result))
        return result

    # Actions

    def _take(self, action: Any) -> Conversation[Any]:
        """Collect an action. Returns the item that the action leaves in the store."""
        if self._open is not None:
            self._followed(self._open)
        compiled = self.compiler.compile(action)
        self.operations.extend(compiled.operations)
        if len(self.operations) == 1 and compiled.returned is not None and self._way is not _Way.UNKNOWN:
            return (yield from self._find_out(action, compiled))
        certain = compiled.certain()
        if certain is None and action.is_wanted:
            raise unknown_outcome(action, self.place)
        return certain

    def _find_out(self, action: Put[Any] | Update[Any] | Delete[Any], compiled: Compiled) -> Conversation[Any]:
        """The result of the first action: a certain or assumed result, the store's response, or a pending value."""
        certain = compiled.certain() if self._way is _Way.LIKELY else None
        if certain is not None:
            return certain
        self._open = action
        if self._way is _Way.SENT:
            return stored_after(compiled, (yield from self._send(compiled.returned)))
        if self._way is _Way.LIKELY:
            return likely_outcome(compiled.operations[0].entity, cast("Any", compiled.action))
        self._pending = Pending()
        return self._pending.hand_out()

    def _followed(self, first: Action) -> None:
        """Check that the first action's result isn't used: a transaction with another action returns no items."""
        if self._way is _Way.SENT:
            raise RequestError(
                "an action follows a request that was already sent because the write used its result",
                place=self.place,
                hint="read the item before the first action (yield from self.pattern.read(...)), or split the write",
            )
        if self._way is _Way.LIKELY:
            raise unknown_outcome(first, self.place)
        if self._pending is not None and self._pending.kept:
            self._way = _Way.UNKNOWN
            raise _Rerun
        self._open = None

    def _check_touched(self) -> None:
        if self._pending is not None and self._pending.touched:
            self._way = _Way.LIKELY
            raise _Rerun

    def _ended(self) -> None:
        self._check_touched()
        likely = self._way is _Way.LIKELY and self._open is not None
        if likely or (self._pending is not None and self._pending.kept):
            self._way = _Way.SENT
            raise _Rerun

    def _raised(self, error: Exception | Touched) -> None:
        """Handle an exception of the generator, which may be caused by using a pending or assumed value."""
        self._check_touched()
        if self._way is _Way.LIKELY and self._open is not None:
            self._way = _Way.SENT
            raise _Rerun from error
        self.gave_up = isinstance(error, WriteFailed)

    def _send(self, returned: str | None = None) -> Conversation[dict[str, Any]]:
        operations, self.operations = self.operations, []
        return (yield from send(operations, self.place, returned=returned, refusals=self.refusals))


def unknown_outcome(action: Any, place: str) -> RequestError:
    """The error of a write that uses an action's result in a transaction, which doesn't return items."""
    what = "deleted by" if isinstance(action, Delete) else "before" if action.gives_previous else "after"
    return RequestError(
        f"the item {what} {type(action).__name__} isn't available: the transaction of the write returns no items",
        place=place,
        hint="read the item first, with only_if or a Version, or make the action a separate write",
    )


_OF_VALUES = (ValueError, ArithmeticError, MemoryError)
"""Exceptions that values can cause. Other exceptions (AttributeError, TypeError, KeyError…) are programming errors.
"""


def by_name(conversation: Conversation[T], function: Callable[..., Any], place: str) -> Conversation[T]:
    """The conversation of a write that is called by name.

    Raises:
        ArgumentError: ``function``, the write itself, raised a value error; it is the cause, and isn't shown,
            because its text can contain anything.
    """
    try:
        return (yield from conversation)
    except _OF_VALUES as error:
        if isinstance(error, KeyplanError) or not _is_within(error, function):
            raise
        raise ArgumentError(
            f"the write failed with these arguments: {type(error).__name__}",
            place=place,
            hint="to reject arguments that violate a business rule, raise Refused in the write",
        ) from error


def _is_within(error: BaseException, function: Callable[..., Any]) -> bool:
    code = getattr(inspect.unwrap(function), "__code__", None)
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is code:
            return True
        trace = trace.tb_next
    return False


class Touched(BaseException):
    """Raised if code uses a pending value. ``except Exception`` in a generator doesn't catch Touched."""


class _Unknown:
    __slots__ = ("__weakref__", "_touches")

    def __init__(self, touches: list[bool]) -> None:
        self._touches = touches

    def __getattribute__(self, name: str) -> Any:
        object.__getattribute__(self, "_touches").append(True)
        if name == "__class__":  # validators ignore exceptions of this call; the recorded access reruns the body
            return _Unknown
        raise Touched

    def _touch(self, *_: Any) -> NoReturn:
        object.__getattribute__(self, "_touches").append(True)
        raise Touched

    __eq__ = __ne__ = __hash__ = __bool__ = __repr__ = __str__ = __format__ = __iter__ = _touch
    __len__ = __contains__ = __getitem__ = __lt__ = __le__ = __gt__ = __ge__ = _touch


class Pending:
    """A pending value, and a record of its use by the generator."""

    def __init__(self) -> None:
        self._touches: list[bool] = []
        self._there: weakref.ref[Any] = weakref.ref(self)

    def hand_out(self) -> Any:
        """Return the pending value. The caller must not keep a reference to the value."""
        value = _Unknown(self._touches)
        self._there = weakref.ref(value)
        return value

    @property
    def touched(self) -> bool:
        return bool(self._touches)

    @property
    def kept(self) -> bool:
        """Whether a variable or the result still refers to the pending value. A ``yield`` statement discards it."""
        return self._there() is not None


Item = Mapping[str, Mapping[str, Any]]
Identity = tuple[Any, ...]


class _Found(NamedTuple):
    item: Item | None
    whole: bool
    """Whether the whole item was read, rather than an index projection."""


class Findings:
    """The items that an attempt read. ``before`` contains the refusals that ended the previous attempt."""

    def __init__(self, table: Table, before: frozenset[str] = frozenset()) -> None:
        self._names = table.key_names
        self._whole_indexes = {index.name for index in table.indexes if index.projection == "ALL"}
        self._before = before
        self._items: dict[Identity, list[_Found]] = {}
        """All reads of each item. Two reads in an attempt can differ because of concurrent writes."""
        self._listed: list[tuple[str | None, Mapping[str, Any]]] = []
        """The index and the key values of each queried partition; no key values for a scan."""

    def watch(self, conversation: Conversation[Any]) -> Conversation[Any]:
        return relay(conversation, self._observe)

    def _observe(self, step: Request | list[Request], answer: Any, error: Exception | None) -> None:
        if error is not None:
            return
        requests, responses = ([step], [answer]) if isinstance(step, Request) else (step, answer)
        for request, response in zip(requests, responses, strict=True):
            self._note(request, response)

    def _note(self, request: Request, response: Mapping[str, Any]) -> None:
        parameters = request.parameters
        match request.operation:
            case "GetItem":
                reading = _Found(response.get("Item"), whole=True)
                self._items.setdefault(self._identity(parameters["Key"]), []).append(reading)
            case "BatchGetItem":
                there = [item for items in response.get("Responses", {}).values() for item in items]
                self._keep(there, whole=True)
                later = [key for rest in response.get("UnprocessedKeys", {}).values() for key in rest["Keys"]]
                known = {*map(self._identity, there), *map(self._identity, later)}
                asked = [key for keys in parameters["RequestItems"].values() for key in keys["Keys"]]
                for key in asked:
                    if self._identity(key) not in known:
                        self._items.setdefault(self._identity(key), []).append(_Found(None, whole=True))
            case "Query" | "Scan":
                index: str | None = parameters.get("IndexName")
                self._listed.append((index, equal_attributes(parameters)))
                self._keep(response.get("Items", ()), whole=index is None or index in self._whole_indexes)
            case _:
                pass

    def _keep(self, items: Any, *, whole: bool) -> None:
        for item in items:
            self._items.setdefault(self._identity(item), []).append(_Found(item, whole))

    def _identity(self, item: Item) -> Identity:
        return tuple(next(iter(item[name].values())) for name in self._names)

    def curable(self, refusals: list[Refusal], *, gave_up: bool) -> bool:
        """Whether to retry: an item changed after it was read and no refusal is final, or the generator gave up."""
        if gave_up:
            return bool(self._items or self._listed)
        if any(refusal.operation.final for refusal in refusals):
            return False
        return any(self._moved_on(refusal) for refusal in refusals)

    def _moved_on(self, refusal: Refusal) -> bool:
        known = {**refusal.operation.parameters.get("Item", {}), **refusal.operation.parameters.get("Key", {})}
        readings = self._items.get(self._identity(known))
        if readings is not None:
            return any(_differs(reading, refusal) for reading in readings)
        known |= refusal.item or {}
        for index, equal in self._listed:
            if all(_plain(known.get(name)) == _plain(value) for name, value in equal.items()):
                # An index is eventually consistent, so a condition that failed twice can still succeed
                return index is not None or _comparable_refusal(refusal) not in self._before
        return False

    @staticmethod
    def comparable(refusals: list[Refusal]) -> frozenset[str]:
        """The refusals as comparable strings, for the next attempt."""
        return frozenset(map(_comparable_refusal, refusals))


def _comparable_refusal(refusal: Refusal) -> str:
    return f"{refusal.operation.description} {json.dumps(_plain(refusal.item), sort_keys=True)}"


def _differs(reading: _Found, refusal: Refusal) -> bool:
    if reading.item is None:
        return refusal.operation.role != "item" or refusal.item is not None
    return not _same(reading, refusal.item)


def _same(read: _Found, item: Item | None) -> bool:
    """Whether the attributes of an item that were read are unchanged."""
    if item is None or read.item is None:
        return False
    if read.whole and len(item) != len(read.item):
        return False
    return all(_plain(item.get(name)) == _plain(value) for name, value in read.item.items())


def _plain(value: Any) -> Any:
    """An attribute value with set elements in sorted order."""
    if isinstance(value, Mapping):
        return {
            name: sorted(map(str, part)) if name in {"SS", "NS", "BS"} and isinstance(part, list) else _plain(part)
            for name, part in value.items()
        }
    return [_plain(part) for part in value] if isinstance(value, list) else value
