"""Running a write pattern: its reads as it asks them, its actions together when it has ended, and once more where what
it read has changed meanwhile.

What a ``yield`` gives is what its action leaves in the store. Where that is certain beforehand it is given at once.
Where only the store can tell, a pending value is given, and nothing is sent: if the generator ends with that one action
and keeps the value, or does something with it and yields nothing more, it is run anew, and the request goes out at its
``yield``. If other actions follow, all of them are one transaction, which doesn't tell: then it is None. The reads are
not asked twice. What they found is kept by ``findings.py``, so that a failure can be judged.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from keyplan.client.batches import batch_write
from keyplan.client.conversations import Conversation
from keyplan.client.deferred_results import Pending, Touched
from keyplan.client.read_observations import Findings
from keyplan.client.results import Answer
from keyplan.client.transactions import Refusal, pause_before_retry, send
from keyplan.client.write_compiler import Compiled, Operation, WriteCompiler
from keyplan.errors import ArgumentError, RequestError, WriteFailed
from keyplan.model.declared.actions import Action, Ask, Batch, Delete, Put, Update
from keyplan.model.declared.entity import Entity
from keyplan.model.stored.stored_entity import faults_of
from keyplan.model.stored.update_outcomes import likely_outcome

__all__ = ["Actions", "Attempt", "run_write", "stored_after", "unknown_outcome"]

T = TypeVar("T")
Actions = Generator[Action | Ask, Any, T]


def run_write(
    compiler: WriteCompiler, answers: Mapping[str, Answer], make: Callable[[], Actions[T]], place: str, attempts: int
) -> Conversation[T]:
    """Run a write pattern, up to ``attempts`` times: again only when a condition failed on what was read, and that is
    not as it was read any more.
    """
    before: frozenset[str] = frozenset()
    for number in range(1, attempts + 1):
        findings = Findings(compiler.target.table, before) if number < attempts else None
        attempt = Attempt(compiler, answers, place, findings)
        try:
            return (yield from attempt.run(make))
        except WriteFailed:
            if findings is None or not findings.curable(attempt.refusals, gave_up=attempt.gave_up):
                raise
            before = findings.told(attempt.refusals)
        yield pause_before_retry(number)
    raise AssertionError("a write is tried at least once")


def stored_after(compiled: Compiled, response: Mapping[str, Any]) -> Entity | None:
    """The instance in the response of a single request: what an update left, or what a deletion removed.

    Raises ItemNotReadable.
    """
    item, entity = response.get("Attributes"), compiled.operations[0].entity
    if not item or (compiled.gives_previous and not entity.is_labelled(item)):  # a Put may meet another entity's
        return None
    return entity.from_item(item)


class _Way(enum.Enum):
    """How a value that only the store knows is come by."""

    PENDING = "nobody may need it"
    LIKELY = "it is needed: with a likely one, the generator shows whether other actions follow"
    SENT = "no other action follows: the request goes out at its yield"
    UNKNOWN = "others follow: nobody can tell"


class _Anew(BaseException):
    """The generator is to be run anew: more is known of what it needs."""


class Attempt:
    """One attempt of a write. Its generator is run once, and up to twice more where it needs what the store alone
    knows; until then nothing is sent.
    """

    def __init__(
        self, compiler: WriteCompiler, answers: Mapping[str, Answer], place: str, findings: Findings | None
    ) -> None:
        self.compiler = compiler
        self.answers = answers
        self.place = place
        self.findings = findings
        self.refusals: list[Refusal] = []
        self.gave_up = False
        """Whether the generator itself raised WriteFailed: what it read doesn't fit together, say."""
        self._way = _Way.PENDING
        self._answered: list[tuple[Ask, Any]] = []
        self._begin()

    def _begin(self) -> None:
        self.operations: list[Operation] = []
        self.batches: list[list[dict[str, Any]]] = []
        self._asked = 0
        self._pending: Pending | None = None
        self._open: Put[Any] | Update[Any] | Delete[Any] | None = None
        """The first action, while what it leaves isn't known."""

    def run(self, make: Callable[[], Actions[T]]) -> Conversation[T]:
        """Raises what the generator raises, and WriteFailed."""
        while True:
            self._begin()
            try:
                result = yield from self._steps(make())
            except _Anew:
                continue
            yield from self._send()
            for batch in self.batches:  # one is done before the next, so that the last can tell that all is done
                yield from batch_write(self.compiler.target.name, batch)
            return result

    def gather(self, make: Callable[[], Actions[T]]) -> Conversation[T]:
        """Run the generator, and leave its ``operations`` and ``batches`` to whoever sends them with others: what an
        action leaves is given where it is certain. Raises what the generator raises.
        """
        self._way = _Way.UNKNOWN
        self._begin()
        return (yield from self._steps(make()))

    def _steps(self, actions: Actions[T]) -> Conversation[T]:
        given: list[Any] = [None]  # a pending value is kept by the generator, or by nobody
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
                "the write makes no valid item", place=self.place, faults=faults_of(error, "")
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
        """Keep an action for when the generator has ended; gives what it leaves in the store."""
        self._followed()
        compiled = self.compiler.compile(action)
        self.operations.extend(compiled.operations)
        if len(self.operations) == 1 and compiled.answers and self._way is not _Way.UNKNOWN:
            return (yield from self._find_out(action, compiled))
        certain = compiled.certain()
        if certain is None and action.is_wanted:
            raise unknown_outcome(action, self.place)
        return certain

    def _find_out(self, action: Put[Any] | Update[Any] | Delete[Any], compiled: Compiled) -> Conversation[Any]:
        """What the first action leaves, as far as it is known by now whether others follow."""
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

    def _followed(self) -> None:
        """Another action comes: what the first one leaves can't be known, if that is needed."""
        if self._open is None:
            return
        if self._way is _Way.SENT:
            raise RequestError(
                "an action follows one that was carried out already, since its value was needed",
                place=self.place,
                hint="decide by what is read before (yield from self.pattern.ask(...)), or make it two writes",
            )
        if self._way is _Way.LIKELY:
            raise unknown_outcome(self._open, self.place)
        if self._pending is not None and self._pending.kept:
            self._way = _Way.UNKNOWN
            raise _Anew
        self._open = None

    def _check_touched(self) -> None:
        if self._pending is not None and self._pending.touched:
            self._way = _Way.LIKELY
            raise _Anew

    def _ended(self) -> None:
        self._check_touched()
        likely = self._way is _Way.LIKELY and self._open is not None
        if likely or (self._pending is not None and self._pending.kept):
            self._way = _Way.SENT
            raise _Anew

    def _raised(self, error: Exception | Touched) -> None:
        """The generator raised: itself, or because it met a pending or a likely value."""
        self._check_touched()
        if self._way is _Way.LIKELY and self._open is not None:
            self._way = _Way.SENT
            raise _Anew from error
        self.gave_up = isinstance(error, WriteFailed)

    def _send(self, returned: str | None = None) -> Conversation[dict[str, Any]]:
        operations, self.operations = self.operations, []
        return (yield from send(operations, self.place, returned=returned, refusals=self.refusals))


def unknown_outcome(action: Any, place: str) -> RequestError:
    """The error of a write that must know what an action leaves, beside others."""
    what = "removes" if isinstance(action, Delete) else "met" if action.gives_previous else "leaves"
    return RequestError(
        f"what {type(action).__name__} {what} can't be known here: it goes out in one transaction with others, which "
        "doesn't tell",
        place=place,
        hint="expect the item's other fields by only_if or a Version, read it before, or make it a write of its own",
    )
