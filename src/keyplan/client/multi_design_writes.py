"""Writes of several designs as one transaction: each generator with its own design's entities and reads, their actions
together in one request.

A single design's writes are run in ``attempts.py``. Whether the designs are on one store is looked at by whoever calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keyplan.client.batches import batch_write
from keyplan.client.conversations import Conversation
from keyplan.client.read_observations import Findings
from keyplan.client.results import Answer
from keyplan.client.transactions import Refusal, pause_before_retry, send
from keyplan.client.write_attempts import Actions, Attempt
from keyplan.client.write_compiler import Operation, WriteCompiler
from keyplan.errors import WriteFailed

__all__ = ["Joining", "run_together"]


@dataclass(frozen=True)
class Joining:
    """One write: its design's compiler and reads, its generator, and how often it may be tried."""

    compiler: WriteCompiler
    answers: Mapping[str, Answer]
    make: Callable[[], Actions[Any]]
    place: str
    attempts: int


def run_together(parts: Sequence[Joining], place: str) -> Conversation[tuple[Any, ...]]:
    """Run writes, and send all their actions in one transaction: their results. As often as one of them may be tried.

    Raises what the generators raise, and WriteFailed: then nothing is written.
    """
    attempts = max(part.attempts for part in parts)
    before: list[frozenset[str]] = [frozenset()] * len(parts)
    for number in range(1, attempts + 1):
        findings = [
            Findings(joining.compiler.target.table, result) for joining, result in zip(parts, before, strict=True)
        ]
        runs = [
            Attempt(joining.compiler, joining.answers, joining.place, noted)
            for joining, noted in zip(parts, findings, strict=True)
        ]
        refusals: list[Refusal] = []
        try:
            return (yield from _run(parts, runs, place, refusals))
        except WriteFailed:
            own = [_of_table(refusals, part.compiler.target.name) for part in parts]
            judged = zip(runs, findings, own, strict=True)
            final = any(refusal.operation.final for refusal in refusals)
            if (
                number == attempts
                or final
                or not any(noted.curable(refused, gave_up=run.gave_up) for run, noted, refused in judged)
            ):
                raise
            before = [Findings.told(refused) for refused in own]
        yield pause_before_retry(number)
    raise AssertionError("a write is tried at least once")


def _run(
    parts: Sequence[Joining], runs: Sequence[Attempt], place: str, refusals: list[Refusal]
) -> Conversation[tuple[Any, ...]]:
    results: list[Any] = []
    operations: list[Operation] = []
    for part, run in zip(parts, runs, strict=True):
        results.append((yield from run.gather(part.make)))
        operations.extend(run.operations)
    yield from send(operations, place, refusals=refusals)
    for part, run in zip(parts, runs, strict=True):
        for batch in run.batches:
            yield from batch_write(part.compiler.target.name, batch)
    return tuple(results)


def _of_table(refusals: Sequence[Refusal], name: str) -> list[Refusal]:
    return [refusal for refusal in refusals if refusal.operation.parameters["TableName"] == name]
