"""Predicted costs equal metered ones for every read and write of every system, on random stores."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from keyplan.analysis.cost.read_facts import Facts
from keyplan.analysis.cost.simulated_reads import requests_of as read_requests
from keyplan.analysis.cost.unit_counts import Request
from keyplan.analysis.cost.write_costs import estimate_write, write_requests
from keyplan.analysis.traffic.traffic_file import traffic_of
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.analysis.write_analysis.analysis import WriteAnalyzer
from keyplan.analysis.write_analysis.dry_run import DryRun, dry_run
from keyplan.client.conversations import converse
from keyplan.errors import KeyplanError
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.compiled.signatures import ParameterKind
from keyplan.model.declared.actions import Action, Create, Delete, Put, Update
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.session.design import Design
from keyplan.systems import system, system_names
from keyplan.testing.costs import metering
from keyplan.testing.model import Missed, Model, watched
from keyplan.testing.pattern_checks import Asker
from keyplan.testing.report import RunningCounts
from keyplan.testing.steps import Age, Call, Change, Erase, Step, Steps, Write
from keyplan.testing.stored_world import identity_of, scan
from tests.contract.buckets import Timed
from tests.contract.design import Everything
from tests.contract.reading import Reading
from tests.cost.actual import Actual, metered, predicted
from tests.seeds import examples, seed

STORES = examples(6, 15)
PAGES_MAX = 3
LENGTHS = (1, 700, 1023, 1500, 4000, 9000)


@dataclass
class Recording:
    """The steps of a write's last attempt, as input of the model."""

    steps: list[Any] = field(default_factory=list[Any])

    def replayed(self) -> Generator[Any, Any, None]:
        for step in self.steps:  # noqa: UP028 - it takes answers, which a list would not
            yield step


@contextmanager
def recording(pattern: WritePattern, patterns: dict[str, WritePattern]) -> Iterator[Recording]:
    """Record the steps of the access pattern while it is called."""
    result = Recording()

    def recorded(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        result.steps = []
        actions = pattern.function(*args, **kwargs)
        answer: Any = None
        while True:
            try:
                step = actions.send(answer)
            except StopIteration as end:
                return end.value
            result.steps.append(step)
            answer = yield step

    patterns[pattern.name] = replace(pattern, function=recorded)
    try:
        yield result
    finally:
        patterns[pattern.name] = pattern


@dataclass
class Compared:
    """The number of comparisons per access pattern."""

    reads: dict[str, int] = field(default_factory=dict[str, int])
    writes: dict[str, int] = field(default_factory=dict[str, int])


def check_reads(design: Design, number: int, compared: Compared) -> None:
    """Call each read with arguments of stored and of missing items, and compare predicted with metered costs."""
    world, actual = scan(design), Actual(design)
    for name, pattern in design.compiled.reads.items():
        for arguments in Asker(pattern).questions(world, number):
            choice = Random(f"{number}/{name}")
            if pattern.limit is not None:
                arguments[pattern.limit.name] = choice.randint(1, 5)
            try:
                bound = pattern.signature.bind((), arguments)
                result = actual.found(pattern, bound)
            except KeyplanError:
                continue  # the call is rejected
            limit = None if pattern.limit is None else bound[pattern.limit.name]
            compare_pages(design, pattern, arguments, partial(read_requests, pattern.as_called(bound), result, limit))
            compared.reads[name] = compared.reads.get(name, 0) + any(
                item is not None for item in (*result.items, *(stretch.met or None for stretch in result.stretches))
            )


def compare_pages(
    design: Design, pattern: ReadPattern, arguments: dict[str, Any], expected: Callable[..., list[Request]]
) -> int:
    """Compare the call and the following pages, and return the number of pages."""
    cursor = next(
        (parameter.name for parameter in pattern.signature.parameters if parameter.kind is ParameterKind.CURSOR), None
    )
    for page in range(1, PAGES_MAX + 1):
        answer: Any = None
        with metering(design) as meter, suppress(KeyplanError):
            if pattern.shape.kind is ShapeKind.ITERATOR:
                list(design.stream(pattern.name, (), arguments))
            else:
                answer = design.run_read(pattern.name, (), arguments)
        place = f"page {page} of {pattern.place}({arguments})"
        assert sorted(metered(meter)) == sorted(predicted(expected(page=page))), place
        if cursor is None or answer is None or answer.cursor is None:
            return page
        arguments = {**arguments, cursor: answer.cursor}
    return PAGES_MAX


def carry_out(design: Design, model: Model, step: Step, compared: Compared) -> None:
    """Run a step, and compare its cost if it is a single write."""
    match step:
        case Call():
            called(design, step.pattern.name, model._arguments(step), compared)
        case Write():
            acted(design, Create(step.instance) if step.create else Put(step.instance))
        case Change() | Erase():
            target = model._pick(step.entity, step.pick, stale=False)
            if target is not None:
                acted(design, Update(target, **step.changes) if isinstance(step, Change) else Delete(target))
        case Age():
            return  # older items are predicted as if they had the missing attributes
        case _:
            model.carry_out(step)
            return
    model.items = {identity_of(row.entity, row.values): row.instance for row in scan(design).rows}


def requests_of(design: Design, run: DryRun, actual: Actual) -> list[Request]:
    """The requests of a write for the stored items."""
    reads = [request for asked in run.asked for request in actual.requests(asked)]
    return [*reads, *write_requests(design.compiled.table, run)]


def acted(design: Design, action: Action) -> None:
    """Run one action, and compare its cost."""
    actual = Actual(design)
    with metering(design) as meter:
        try:
            design.transact([action])
        except (KeyplanError, TypeError, ArithmeticError):
            return
    expected = dry_run(design.compiled, actual, Recording([action]).replayed())
    requests = requests_of(design, expected, actual)
    assert sorted(metered(meter)) == sorted(predicted(requests)), repr(action)


def called(design: Design, name: str, arguments: dict[str, Any], compared: Compared) -> None:
    """Call a write, and compare its cost with the prediction for its steps."""
    pattern = design.compiled.writes[name]
    actual = Actual(design)
    with recording(pattern, design.compiled.writes) as recorded, metering(design) as meter:
        try:
            converse(watched(design.conversation(pattern.name, arguments), Missed()), design.store.transport)
        except (KeyplanError, TypeError, ValueError, ArithmeticError):
            recorded.steps = []
    if not recorded.steps:
        return
    expected = dry_run(design.compiled, actual, recorded.replayed())
    requests = requests_of(design, expected, actual)
    assert sorted(metered(meter)) == sorted(predicted(requests)), f"{pattern.place}({arguments})"
    compared.writes[pattern.name] = compared.writes.get(pattern.name, 0) + bool(expected.mutations or expected.batched)


def large(design: CompiledDesign) -> dict[Any, Any]:
    """Strings of many sizes, so that one item more or less changes the units."""
    names = {
        field.name
        for entity in design.entities.values()
        for field in entity.fields.values()
        if kind_of(field.annotation) is str and field.name not in keyed(entity) and takes(field.annotation, LENGTHS[-1])
    }
    keys = {name for entity in design.entities.values() for name in keyed(entity)}
    return {name: st.sampled_from(["x" * length for length in LENGTHS]) for name in names - keys}


def keyed(entity: CompiledEntity) -> set[str]:
    """The fields in a key."""
    result = {name for key in (*entity.keys, *entity.claims) for name in entity.inputs_of(key)}
    return result | {name for name in entity.fields if entity.fields[name].computed}


def takes(annotation: Any, length: int) -> bool:
    """Whether a type accepts a string of this length."""
    try:
        TypeAdapter(annotation).validate_python("x" * length)
    except ValidationError:
        return False
    return True


def check(cls: type[Design], stores: int = STORES) -> Compared:
    """Compare on random stores."""
    compared = Compared()
    steps = Steps(cls.compiled, large(cls.compiled))

    @hypothesis.seed(seed(7))
    @hypothesis.settings(
        max_examples=stores,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        verbosity=Verbosity.quiet,
        print_blob=False,
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much),
    )
    @hypothesis.given(steps.strategy(), st.integers(0, 1 << 16))
    def one_store(result: list[Any], number: int) -> None:
        if failures:
            return
        with cls.open(":memory:") as design:
            model = Model(design, RunningCounts(), {})
            try:
                for step in result:
                    carry_out(design, model, step, compared)
                check_reads(design, number, compared)
            except AssertionError as failure:  # raised here, since hypothesis would print the complete store
                failures.append(failure)

    failures: list[AssertionError] = []
    one_store()
    for failure in failures:
        raise failure
    return compared


def check_typical_writes(cls: type[Design], compared: Compared) -> None:
    """Run each write's typical call on a store with its assumed items, then all reads."""
    typical = Typical(cls.compiled)
    facts, analyzer = Facts(typical, traffic_of(cls.compiled)), WriteAnalyzer(cls.compiled, cls)
    for name, pattern in cls.compiled.writes.items():
        cost = estimate_write(analyzer, pattern, facts)
        assert cost.failure is None, f"{pattern.place}: {cost.failure}"
        with cls.open(":memory:") as design:
            for item in stored(cls.compiled, cost.there):
                design.store.transport.call("PutItem", {"TableName": design.store.table_name, "Item": item})
            called(design, name, dict(cost.arguments), compared)
            check_reads(design, 0, compared)


def stored(design: CompiledDesign, instances: tuple[Entity, ...]) -> Iterator[Any]:
    """The items of instances, and their claims."""
    for instance in instances:
        entity = design.entities[type(instance)]
        yield entity.to_item(instance)
        values = entity.field_values(instance)
        yield from (entity.claim_item(claim, values) for claim in entity.claims if claim.member(values))


@pytest.mark.parametrize("name", system_names())
def test_every_pattern_costs_what_the_engine_meters(name: str) -> None:
    """Predicted requests and units, on the table and on each index, equal the metered ones."""
    cls = system(name).design
    compared = check(cls)
    check_typical_writes(cls, compared)
    assert [text for text in cls.compiled.reads if not compared.reads.get(text)] == []
    assert [text for text in cls.compiled.writes if not compared.writes.get(text)] == []


def test_every_kind_of_plan_costs_what_the_engine_meters() -> None:
    """A design with every kind of plan: filters, ranges, local indexes, projections, unions, iterators, a scan."""
    compared = check(Everything, examples(14, 40))
    assert [text for text in Everything.compiled.reads if not compared.reads.get(text)] == []


def test_views_counts_and_whole_indexes_cost_what_the_engine_meters() -> None:
    """Reads of less than whole items, and reads that fetch from the table after an index."""
    compared = check(Reading, examples(8, 25))
    assert [text for text in Reading.compiled.reads if not compared.reads.get(text)] == []


def test_time_buckets_cost_what_the_engine_meters() -> None:
    """Ranges over several partitions."""
    compared = check(Timed, 12)
    assert [text for text in Timed.compiled.reads if not compared.reads.get(text)] == []
