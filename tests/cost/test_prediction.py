"""For every system, on generated stores, the predicted requests of writes equal the requests that the engine meters."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from keyplan.analysis.cost.read_facts import Facts
from keyplan.analysis.cost.unit_counts import Request
from keyplan.analysis.cost.write_costs import estimate_write, write_requests
from keyplan.analysis.traffic.traffic_file import traffic_of
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.analysis.write_analysis.analysis import WriteAnalyzer
from keyplan.analysis.write_analysis.dry_run import DryRun, dry_run
from keyplan.analysis.write_analysis.typical_world import Asked, Before, TypicalWorld
from keyplan.client.conversations import converse
from keyplan.dynamodb.values import Item
from keyplan.errors import KeyplanError
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.declared.actions import Action, Create, Delete, Put, Update
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.session.design import Design
from keyplan.systems import system, system_names
from keyplan.testing.costs import Metered, metering
from keyplan.testing.model import Model, watched
from keyplan.testing.report import RunningCounts
from keyplan.testing.steps import Age, Call, Change, Erase, Step, Steps, Write
from keyplan.testing.stored_world import identity_of, items_of, scan
from tests.contract.design import Everything
from tests.seeds import examples, seed

STORES = examples(6, 15)
PAGES_MAX = 3
LENGTHS = (1, 700, 1023, 1500, 4000, 9000)


@dataclass
class Recording:
    """Records the steps of a write's last attempt, as input for a dry run."""

    steps: list[Any] = field(default_factory=list[Any])

    def replayed(self) -> Generator[Any, Any, None]:
        for step in self.steps:  # noqa: UP028 - it takes answers, which a list would not
            yield step


@contextmanager
def recording(pattern: WritePattern, patterns: dict[str, WritePattern]) -> Iterator[Recording]:
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


Units = tuple[str, tuple[tuple[str, float], ...]]
Compared = dict[str, int]
"""The number of comparisons of each pattern."""


def metered(result: Iterable[Metered]) -> list[Units]:
    return [(element.operation, tuple(sorted(element.units.items()))) for element in result]


def predicted(requests: Iterable[Request]) -> list[Units]:
    result: list[Units] = []
    for request in requests:
        units: dict[str, float] = {}
        for line in request.lines:
            units[line.target] = units.get(line.target, 0.0) + line.units
        result.append((request.operation, tuple(sorted(units.items()))))
    return result


def assert_writes(design: Design, meter: Iterable[Metered], run: DryRun, place: str) -> None:
    requests = write_requests(design.compiled.table, run)
    assert sorted(metered(element for element in meter if not element.reads)) == sorted(predicted(requests)), place


class Actual(TypicalWorld):
    """The items of a store, in the form that a dry run reads."""

    def __init__(self, design: Design) -> None:
        self.compiled, self.typical = design.compiled, False
        self.items = {self._identity(item): item for item in items_of(design.store)}

    def _identity(self, item: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(next(iter(item[name].values())) for name in self.compiled.table.key_names)

    def ask(self, pattern: ReadPattern, arguments: dict[str, Any]) -> Asked:
        return Asked(pattern, arguments)

    def item(self, instance: Entity) -> Item:
        return self.compiled.entities[type(instance)].to_item(instance)

    def before(self, entity: CompiledEntity, known: Mapping[str, Any], action: Any) -> Before:
        item = self.items.get(self._identity(entity.item_key(entity.primary, known)))
        return None if item is None else (entity.from_item(item), item)


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
            return  # what an older item costs is predicted as if it had its attributes
        case _:
            model.carry_out(step)
            return
    model.items = {identity_of(row.entity, row.values): row.instance for row in scan(design).rows}


def acted(design: Design, action: Action) -> None:
    """Run one action, and compare its metered cost with the prediction."""
    actual = Actual(design)
    with metering(design) as meter:
        try:
            design.transact([action])
        except (KeyplanError, TypeError, ArithmeticError):
            return
    expected = dry_run(design.compiled, actual, Recording([action]).replayed())
    assert_writes(design, meter, expected, repr(action))


def called(design: Design, name: str, arguments: dict[str, Any], compared: Compared) -> None:
    """Call a write, and compare its metered cost with the prediction for the yielded actions."""
    pattern = design.compiled.writes[name]
    actual = Actual(design)
    with recording(pattern, design.compiled.writes) as recorded, metering(design) as meter:
        try:
            converse(watched(design.conversation(pattern.name, arguments), []), design.store.transport)
        except (KeyplanError, TypeError, ValueError, ArithmeticError):
            recorded.steps = []
    if not recorded.steps:
        return
    expected = dry_run(design.compiled, actual, recorded.replayed())
    assert_writes(design, meter, expected, f"{pattern.place}({arguments})")
    compared[name] = compared.get(name, 0) + bool(expected.mutations or expected.batched)


def large(design: CompiledDesign) -> dict[Any, Any]:
    """Strategies for strings of many lengths, so that writes consume different numbers of units."""
    names = {
        field.name
        for entity in design.entities.values()
        for field in entity.fields.values()
        if kind_of(field.annotation) is str and field.name not in keyed(entity) and takes(field.annotation, LENGTHS[-1])
    }
    keys = {name for entity in design.entities.values() for name in keyed(entity)}
    return {name: st.sampled_from(["x" * length for length in LENGTHS]) for name in names - keys}


def keyed(entity: CompiledEntity) -> set[str]:
    """The names of computed fields and of fields that a key or a claim contains."""
    result = {name for key in (*entity.keys, *entity.claims) for name in entity.inputs_of(key)}
    return result | {name for name in entity.fields if entity.fields[name].computed}


def takes(annotation: Any, length: int) -> bool:
    try:
        TypeAdapter(annotation).validate_python("x" * length)
    except ValidationError:
        return False
    return True


def check(cls: type[Design], stores: int = STORES) -> Compared:
    compared: Compared = {}
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
    @hypothesis.given(steps.strategy())
    def one_store(result: list[Any]) -> None:
        if failures:
            return
        with cls.open(":memory:") as design:
            model = Model(design, RunningCounts(), {})
            try:
                for step in result:
                    carry_out(design, model, step, compared)
            except AssertionError as failure:  # raised outside, since hypothesis would print the whole store
                failures.append(failure)

    failures: list[AssertionError] = []
    one_store()
    for failure in failures:
        raise failure
    return compared


def check_typical_writes(cls: type[Design], compared: Compared) -> None:
    """Check the typical call of each write, on a store with the items that the estimate assumes."""
    typical = Typical(cls.compiled)
    facts, analyzer = Facts(typical, traffic_of(cls.compiled)), WriteAnalyzer(cls.compiled, cls)
    for name, pattern in cls.compiled.writes.items():
        cost = estimate_write(analyzer, pattern, facts)
        assert cost.failure is None, f"{pattern.place}: {cost.failure}"
        with cls.open(":memory:") as design:
            for item in stored(cls.compiled, cost.there):
                design.store.transport.call("PutItem", {"TableName": design.store.table_name, "Item": item})
            called(design, name, dict(cost.arguments), compared)


def stored(design: CompiledDesign, instances: tuple[Entity, ...]) -> Iterator[Any]:
    for instance in instances:
        entity = design.entities[type(instance)]
        yield entity.to_item(instance)
        values = entity.field_values(instance)
        yield from (entity.claim_item(claim, values) for claim in entity.claims if claim.member(values))


@pytest.mark.parametrize("name", system_names())
def test_the_predicted_cost_of_every_write_equals_the_metered_cost(name: str) -> None:
    cls = system(name).design
    compared = check(cls)
    check_typical_writes(cls, compared)
    assert [text for text in cls.compiled.writes if not compared.get(text)] == []


def test_the_predicted_cost_of_crud_methods_equals_the_metered_cost() -> None:
    """The design has local indexes, projections, unions and optional keys."""
    check(Everything, examples(14, 40))
