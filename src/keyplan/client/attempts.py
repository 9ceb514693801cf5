"""Running a write pattern: its reads as it asks them, its actions together when it has ended, and once more where what
it read has changed meanwhile.

What a ``yield`` gives is what its action leaves in the store. An update or a deletion that is the only action and the
last goes out at its ``yield``, and the store tells; elsewhere it is given where it is certain beforehand. Whether it is
the last is read by ``lookahead.py``, what was read is kept by ``findings.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from keyplan.client.answers import Answer
from keyplan.client.batches import batch_write
from keyplan.client.conversations import Conversation
from keyplan.client.findings import Findings
from keyplan.client.lookahead import outlook
from keyplan.client.transactions import Refusal, pause_before_retry, send
from keyplan.client.writes import Compiled, Operation, WriteCompiler
from keyplan.design.actions import Action, Ask, Batch, Delete
from keyplan.design.entity import Entity, faults_of
from keyplan.errors import ArgumentError, RequestError, WriteFailed

__all__ = ["run_write", "stored_after"]

T = TypeVar("T")


def run_write(
    compiler: WriteCompiler,
    answers: Mapping[str, Answer],
    make: Callable[[], Generator[Action | Ask, Any, T]],
    place: str,
    attempts: int,
) -> Conversation[T]:
    """Run a write pattern, up to ``attempts`` times: again only when a condition failed on what was read, and that is
    not as it was read any more.
    """
    before: frozenset[str] = frozenset()
    for number in range(1, attempts + 1):
        findings = Findings(compiler.target.table, before) if number < attempts else None
        attempt = _Attempt(compiler, answers, place, findings)
        try:
            return (yield from attempt.run(make()))
        except WriteFailed:
            if findings is None or not findings.curable(attempt.refusals, gave_up=attempt.gave_up):
                raise
            before = findings.told(attempt.refusals)
        yield pause_before_retry(number)
    raise RequestError(f"attempts={attempts}: a write is tried at least once", place=place)


def stored_after(compiled: Compiled, response: Mapping[str, Any]) -> Entity | None:
    """The instance in the response of a single request: what an update left, or what a deletion removed.

    Raises ItemNotReadable.
    """
    item = response.get("Attributes")
    return compiled.operations[0].entity.from_item(item) if item else None


class _Attempt:
    """One run of a write's generator."""

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
        self._operations: list[Operation] = []
        self._batches: list[list[dict[str, Any]]] = []

    def run(self, actions: Generator[Action | Ask, Any, T]) -> Conversation[T]:
        """Raises what the generator raises, and WriteFailed."""
        answer: Any = None
        try:
            while True:
                step = self._step(actions, answer)
                if isinstance(step, Ask):
                    answer = yield from self._ask(step)
                elif isinstance(step, Batch):
                    self._batches.append(self.compiler.batch(step))
                    answer = None
                else:
                    answer = yield from self._take(step, actions)
        except StopIteration as end:
            result = end.value
        except ValidationError as error:
            raise ArgumentError(
                "the write makes no valid item", place=self.place, faults=faults_of(error, "")
            ) from error
        finally:
            actions.close()
        yield from self._send()
        for batch in self._batches:  # one is done before the next begins, so that the last can tell that all is done
            yield from batch_write(self.compiler.target.name, batch)
        return cast("T", result)

    def _step(self, actions: Generator[Action | Ask, Any, T], answer: Any) -> Action | Ask:
        try:
            return actions.send(answer)
        except WriteFailed:
            self.gave_up = True
            raise

    def _ask(self, ask: Ask) -> Conversation[Any]:
        answer = self.answers[ask.pattern].strongly()
        bound = answer.pattern.signature.bind(ask.arguments["args"], ask.arguments["kwargs"])
        conversation = answer.converse(bound)
        return (yield from conversation if self.findings is None else self.findings.watch(conversation))

    def _take(self, action: Any, actions: Any) -> Conversation[Entity | None]:
        """Keep an action for when the generator has ended; gives what it leaves in the store, if that is wanted."""
        compiled = self.compiler.compile(action)
        self._operations.extend(compiled.operations)
        ahead = outlook(actions)
        if not ahead.used:
            return None
        alone = len(self._operations) == 1 and compiled.answers
        if ahead.last and alone:
            return stored_after(compiled, (yield from self._send(returned=True)))
        certain = compiled.certain()
        if certain is None and action.is_wanted:
            raise _unknown(action, self.place, alone=alone)
        return certain

    def _send(self, *, returned: bool = False) -> Conversation[dict[str, Any]]:
        operations, self._operations = self._operations, []
        return (yield from send(operations, self.place, returned=returned, refusals=self.refusals))


def _unknown(action: Any, place: str, *, alone: bool) -> RequestError:
    what = "removes" if isinstance(action, Delete) else "leaves"
    why = (
        "another action may follow it, and all go out together when the write has ended"
        if alone
        else "it goes out in a transaction, which doesn't tell"
    )
    return RequestError(
        f"what {type(action).__name__} {what} can't be known here: {why}",
        place=place,
        hint="expect the item's other fields by only_if or a Version, or let it be the write's only action and last "
        "step; without `from` the yield gives None here",
    )
