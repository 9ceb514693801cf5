"""``verify`` fills generated stores, checks their invariants, and compares every read with a brute-force filter."""

from __future__ import annotations

import asyncio
import random
import warnings
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning, Unsatisfiable
from hypothesis.strategies import SearchStrategy
from pydantic_core import SchemaError

from keyplan.analysis.write_analysis.analysis import WriteAnalyzer
from keyplan.errors import DesignError, ErrorDetail, InvalidItemError, ItemNotFound, is_interrupt
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.parameters import InvalidItem, Page
from keyplan.model.declared.patterns import ReadMethod
from keyplan.model.stored.stored_entity import CompiledEntity, shrunk
from keyplan.planner import Plan, Verified, applied, compared
from keyplan.session.design import Design
from keyplan.testing.model import Model
from keyplan.testing.oracle import Oracle, filtered_attributes
from keyplan.testing.pattern_checks import ArgumentGenerator, Checker, entities_of_plan, read_result
from keyplan.testing.report import PatternReport, Report, RunningCounts
from keyplan.testing.steps import Step, Steps, smallest
from keyplan.testing.stored_world import Item, Row, World, check_invariants, record, scan


def verify(
    design: type[Design],
    *,
    stores: int = 120,
    seed: int = 0,
    open: Callable[[], Design] | None = None,  # noqa: A002 - named like ``Design.open``
    strategies: Mapping[Any, SearchStrategy[Any]] | None = None,
) -> Report:
    """Verify a design on generated stores: every result of every read must equal that of a brute-force filter.

    Each store is filled by the CRUD methods and the design's writes, with values that collide and cover known pitfalls
    of keys, and with items of older designs and other programs. Then each read is called with stored and missing
    values, over pages of random size, synchronously and asynchronously; and each item's key attributes, claims and
    version are checked.

    ``stores`` is the number of generated stores. ``seed`` selects the stores, which are the same in each run; pass
    ``secrets.randbits(32)`` to vary them. ``open`` opens the design on an empty store, ``":memory:"`` by default.
    ``strategies`` are hypothesis strategies by entity, by type, or by the name of fields and parameters.

    Returns a report with the calls of each access pattern. Raises AssertionError with a minimal failing example (the
    steps, the call, the expected and actual results, the requests), and for reads without any result and writes that
    never succeeded, because they weren't verified. For writes without a success, up to 100 more stores are generated.
    Example: ``verify(Cms, stores=20, strategies={"email": st.emails()})``.
    """
    _check_writes(design)
    return _Verifier(design, open or (lambda: design.open(":memory:")), dict(strategies or {})).run(stores, seed)


def looked_at(
    design: type[Design], *, stores: int, seed: int = 0, progress: Callable[[int, int], None] | None = None
) -> Report:
    """Verify reads quickly, on ``stores`` stores per group of entities, without writes. Reads without results are
    reported, but aren't failures. Raises AssertionError for a wrong result.
    """
    return _Verifier(design, lambda: design.open(":memory:"), {}, progress).look(stores, seed)


TOGETHER = 4
"""Minimum number of entities in a store of ``looked_at``."""
SPOILED = 3
"""One store in this many gets an invalid item, and its calls are then repeated."""
AWAITED = 12
"""Calls of a store that are repeated asynchronously."""
FURTHER_STORES = 100
"""Maximum number of further stores for a write that never succeeded."""
SPARES = 12
"""Instances of each entity, for items that writes need."""


def _settings(examples: int) -> hypothesis.settings:
    return hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate,),  # ``smallest`` shrinks faster than hypothesis
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much),
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        print_blob=False,
    )


def _examples(strategy: SearchStrategy[Any], seed: int) -> list[Any]:
    made: list[Any] = []

    @hypothesis.seed(seed)
    @_settings(SPARES)
    @hypothesis.given(strategy)
    def example(instance: Any) -> None:
        made.append(instance)

    with suppress(Unsatisfiable), _without_warnings():
        example()
    return made


@contextmanager
def _without_warnings() -> Generator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HypothesisWarning)
        yield


class _EnoughError(BaseException):
    """Ends a successful search. Not an Exception, for which hypothesis would repeat and print the store."""


def _check_writes(design: type[Design]) -> None:
    """Raises AssertionError if an action of a write can never work."""
    faults = WriteAnalyzer(design.compiled, design).faults()
    if faults:
        lines = [
            f"  - {design.compiled.writes[name].place}: {fault.message} ({fault.hint})"
            for name, own in faults.items()
            for fault in own
        ]
        raise AssertionError("\n".join([f"{design.__name__}: these writes always fail:", *lines]))


class _FoundError(BaseException):
    """A store that failed: its steps, and the number that selected its calls. Ends the search."""

    def __init__(self, steps: list[Step], number: int, failure: AssertionError) -> None:
        super().__init__()
        self.steps = steps
        self.number = number
        self.failure = failure


class _Verifier:
    def __init__(
        self,
        design: type[Design],
        open_design: Callable[[], Design],
        own: dict[Any, SearchStrategy[Any]],
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.design = design
        self.open = open_design
        self.progress = progress
        self.called: Collection[str] = design.compiled.reads
        self.until: str | None = None
        """The write that needs further stores."""
        self.whole = 0
        self.tally = RunningCounts()
        self.steps = Steps(design.compiled, own, design)
        self.spares: dict[type[Entity], list[Entity]] = {}
        named = {name: _examples(strategy, 0) for name, strategy in own.items() if isinstance(name, str)}
        self.arguments = {name: ArgumentGenerator(read, named) for name, read in design.compiled.reads.items()}
        methods = {name: getattr(design, name) for name in design.compiled.reads}
        self.oracles = {
            name: Oracle(design.compiled.reads[name], method.options)
            for name, method in methods.items()
            if isinstance(method, ReadMethod)
        }

    def look(self, stores: int, seed: int) -> Report:
        self.spares = self._spare_instances(seed)
        with asyncio.Runner() as runner:
            groups = list(_related(self.design.compiled))
            self.whole = stores * len(groups)
            for entities in groups:
                classes = {entity.cls for entity in entities}
                reads = self.design.compiled.reads.items()
                self.called = {name for name, pattern in reads if classes.intersection(_entities_of(pattern))}
                self._search(self.steps.families(entities), stores, seed, runner)
        return self._report(seed)

    def run(self, stores: int, seed: int) -> Report:
        self.spares = self._spare_instances(seed)
        with asyncio.Runner() as runner:
            self._search(self.steps.strategy(), stores, seed, runner)
            for name in self.design.compiled.writes:
                if not self.tally.answered(name):
                    self._search(self.steps.calls(name), FURTHER_STORES, seed, runner, until=name)
        report = self._report(seed)
        if report.unanswered:
            names = ", ".join(report.unanswered)
            raise AssertionError(
                f"{report.design}: {names} returned no result, or never succeeded, on the generated stores, so they "
                f"aren't verified; pass a larger stores=, or strategies= with fewer and valid values\n{report}"
            )
        return report

    def _search(
        self,
        steps: SearchStrategy[list[Step]],
        stores: int,
        seed: int,
        runner: asyncio.Runner,
        *,
        until: str | None = None,
    ) -> None:
        """Try stores, or stop once ``until`` has a result. Raises AssertionError for a store that fails."""

        @hypothesis.seed(seed)
        @_settings(stores)
        @hypothesis.given(steps, st.integers(0, 1 << 16))
        def one_store(steps: list[Step], number: int) -> None:
            if until is not None and self.tally.answered(until):
                raise _EnoughError
            self.until = until
            failure = self._failure(steps, number, runner)
            if failure is not None:
                raise _FoundError(steps, number, failure)

        try:
            with _without_warnings():
                one_store()
        except _EnoughError:
            return
        except _FoundError as found:
            smaller = smallest(found.steps, found.number, lambda steps, number: self._failure(steps, number, runner))
            failure = smaller or found.failure
            again = "" if smaller else "\n\nthe same calls didn't fail again: the failure depends on time or chance"
            raise AssertionError(f"{failure}{again}\n\nreproduce it with seed={seed}") from failure.__cause__

    def _spare_instances(self, seed: int) -> dict[type[Entity], list[Entity]]:
        return {
            cls: _examples(strategy, seed) for cls, strategy in self.steps.entities.items() if not strategy.is_empty
        }

    def _failure(self, steps: list[Step], number: int, runner: asyncio.Runner) -> AssertionError | None:
        with self.open() as design:
            model = Model(design, self.tally, self.spares)
            try:
                self._store(design, model, steps, number, runner)
            except AssertionError as error:
                lines = "\n".join(f"  {at}. {line}" for at, line in enumerate(model.log, 1))
                filled = f"the store was filled by:\n{lines or '  (nothing was written)'}"
                failure = AssertionError(f"{self.design.__name__}: {error}\n\n{filled}")
                failure.__cause__ = error.__cause__
                return failure
        return None

    def _store(self, design: Design, model: Model, steps: list[Step], number: int, runner: asyncio.Runner) -> None:
        """Fill a store, check it, and call its reads. Raises AssertionError."""
        recorder = record(design.store)
        if scan(design).size:
            raise AssertionError(f"{design!r} isn't empty: open= must return an empty store each time")
        for step in steps:
            model.carry_out(step)
        world = scan(design)
        check_invariants(world)
        model.check(world)
        self.tally.store(world.size)
        if self.progress is not None:
            self.progress(self.tally.stores, self.whole)
        if self.until is not None and not self.tally.answered(self.until):
            return  # similar stores were checked already
        calls: list[tuple[str, dict[str, Any], Any]] = []
        for name, oracle in ((name, element) for name, element in self.oracles.items() if name in self.called):
            checker = Checker(design, design.compiled.reads[name], oracle, recorder, self.tally)
            for position, arguments in enumerate(self.arguments[name].generate(world, number)):
                choice = random.Random(f"{number}/{name}/{position}/limits")  # noqa: S311 - a repeatable choice
                calls.extend((name, *call) for call in checker.check(world, arguments, choice))
        if number % SPOILED == 0:
            check_invalid_item(design, world, calls, random.Random(number))  # noqa: S311 - a repeatable choice
        few = random.Random(number).sample(calls, min(AWAITED, len(calls)))  # noqa: S311 - a repeatable choice
        runner.run(_compare_async(design, few))

    def _report(self, seed: int) -> Report:
        compiled = self.design.compiled
        patterns = tuple(
            PatternReport(pattern.id, name, "read" if name in compiled.reads else "write", *self.tally.of(name))
            for name, pattern in compiled.patterns.items()
        )
        return Report(compiled.name, self.tally.stores, self.tally.items, self.tally.items_max, seed, patterns)


def _entities_of(read: ReadPattern) -> list[type[Entity]]:
    return [value.cls for value in entities_of_plan(read.plan)]


def _related(compiled: CompiledDesign) -> Iterator[list[CompiledEntity]]:
    """The entities in groups; those of one read are in one group."""
    groups = {cls: {cls} for cls in compiled.entities}
    for read in compiled.reads.values():
        together = set[type[Entity]]().union(*(groups[cls] for cls in _entities_of(read)))
        groups |= dict.fromkeys(together, together)
    entities: list[CompiledEntity] = []
    for group in {id(element): element for element in groups.values()}.values():
        entities += [entity for cls, entity in compiled.entities.items() if cls in group]
        if len(entities) >= TOGETHER:
            yield entities
            entities = []
    if entities:
        yield entities


async def _compare_async(design: Design, calls: list[tuple[str, dict[str, Any], Any]]) -> None:
    """Raises AssertionError if the asynchronous form of a call returns another result."""
    for name, arguments, answer in calls:
        pattern = design.compiled.reads[name]
        got: Any
        try:
            if pattern.shape.kind is ShapeKind.ITERATOR:
                got = [value async for value in design.stream_async(name, (), arguments)]
            else:
                got = await design.run_read_async(name, (), arguments)
        except LookupError:
            got = None
        if got != answer or (isinstance(got, Page) and got.cursor != answer.cursor):
            raise AssertionError(
                f"{pattern.place}({arguments}) returns asynchronously:\n    {got!r}\n  synchronously:\n    {answer!r}"
            )


STORES = 3
"""Stores for each plan: the first reveals most wrong keys."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Outcome:
    """The plans by result of the verification. ``stopped``: some plans aren't verified, because of Ctrl-C."""

    plans: list[Plan]
    refused: list[tuple[Plan, str]]
    stopped: bool = False


def verified(plans: Sequence[Plan], *, stores: int = STORES, progress: Progress | None = None) -> Outcome:
    """Verify plans, and drop those that return a wrong result. Raises DesignError if no plan remains."""
    passed: list[Plan] = []
    refused: list[tuple[Plan, str]] = []
    try:
        for number, plan in enumerate(plans):

            def report(done: int, whole: int, before: int = number) -> None:
                if progress is not None:
                    progress(before * whole + min(done, whole), whole * len(plans))

            try:
                with applied(plan) as design:
                    result = looked_at(design, stores=stores, progress=report)
            except AssertionError as error:
                refused.append((plan, str(error)))
            else:
                reads = tuple(name for name in result.unanswered if name in plan.compiled.reads)
                passed.append(replace(plan, verified=Verified(result.stores, result.items, reads)))
    except (KeyboardInterrupt, SchemaError) as error:
        if not is_interrupt(error):
            raise
        rest = plans[len(passed) + len(refused) :]
        return Outcome(compared([*passed, *rest]), refused, stopped=True)
    if not passed:
        raise DesignError(
            "every plan returns a wrong result for generated items",
            place=plans[0].design.__name__,
            errors=[ErrorDetail(f"plan {number}", text) for number, (_, text) in enumerate(refused, 1)],
            hint="check the computed fields and serializers of the entities",
        )
    return Outcome(compared(passed), refused)


CALLS = 40
INVALID: tuple[dict[str, Any], ...] = ({"M": {}}, {"S": "?"}, {"N": "0.5"}, {"BOOL": True})


def check_invalid_item(
    design: Design, world: World, calls: list[tuple[str, dict[str, Any], Any]], choice: Random
) -> None:
    """Give an item an attribute of another type, and repeat ``calls`` (pattern, arguments, result).

    Each call must return the same result, with an ``InvalidItem`` if its type includes it, or raise InvalidItemError;
    otherwise, AssertionError is raised.
    """
    result = _invalid(design, world, choice)
    if result is None:
        return
    row, item = result
    table = design.store.table_name
    design.store.transport.call("PutItem", {"TableName": table, "Item": item})
    key = row.entity.item_key(row.entity.primary, row.values)
    for name, arguments, before in choice.sample(calls, min(CALLS, len(calls))):
        pattern = design.compiled.reads[name]
        try:
            got = read_result(design, pattern, arguments)
        except ItemNotFound:
            got = None
        except InvalidItemError as error:
            if next(iter(next(iter(key.values())).values())) not in str(error):
                raise AssertionError(f"{pattern.place}({arguments}): {error!r} doesn't name the item {key}") from error
            continue
        if _with(got, row, pattern) != before:
            raise AssertionError(
                f"{pattern.place}({arguments}) neither raises InvalidItemError nor returns the same as before the item "
                f"{key} became invalid: {item}\n  before: {before!r}\n  got: {got!r}"
            )
    design.store.transport.call("PutItem", {"TableName": table, "Item": row.item})


def _invalid(design: Design, world: World, choice: Random) -> tuple[Row, Item] | None:
    """A row, and its item with an invalid attribute that no key and no filter uses."""
    compiled = design.compiled
    used = {name for pattern in compiled.reads.values() for name in filtered_attributes(pattern)}
    for row in choice.sample(world.rows, len(world.rows)):
        entity = row.entity
        keyed = {name for key in (*entity.keys, *entity.claims) for name in (*key.fields, *entity.inputs_of(key))}
        attributes = [
            field.attribute for name, field in entity.fields.items() if not {name, field.attribute} & {*keyed, *used}
        ]
        for attribute in choice.sample(attributes, len(attributes)):
            for value in INVALID if attribute in row.item else ():
                item = {**row.item, attribute: value}
                try:
                    entity.from_item(item)
                except InvalidItemError:
                    return row, item
    return None


def _with(got: Any, row: Row, pattern: ReadPattern) -> Any:
    """The result, with the valid item in place of an InvalidItem."""
    valid = shrunk(row.instance, pattern.shape.views.get(type(row.instance)))
    if isinstance(got, InvalidItem):
        return valid
    if isinstance(got, list):
        return [valid if isinstance(each, InvalidItem) else each for each in got]
    if isinstance(got, Page):
        return Page(_with(got.items, row, pattern), got.cursor)
    return got
