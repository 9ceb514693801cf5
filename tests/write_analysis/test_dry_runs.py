# mypy: disable-error-code="empty-body"
"""Dry runs of writes: the items that each dry run assumes, examples, and unknown results."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import random
import socket
import subprocess
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, Literal

import pytest

from keyplan import (
    Add,
    Batch,
    Create,
    Delete,
    Design,
    Entity,
    Example,
    Field,
    Index,
    Key,
    Put,
    Table,
    Unique,
    Update,
    Writes,
    now,
    read,
    ulid,
    write,
)
from keyplan.analysis.cost.estimate import PatternEstimate, estimate, estimate_pattern
from keyplan.analysis.explain.explanation import explain
from keyplan.analysis.traffic import traffic_from
from keyplan.analysis.write_analysis.analysis import WriteAnalyzer
from keyplan.errors import DesignError, Refused
from keyplan.testing.costs import metering

BY_STATUS = Index("by-status", "status_pk", "status_sk")
LOGGER = logging.getLogger("writes")
LOCK = threading.Lock()
STEPS: dict[str, Callable[[str], str]] = {"a": str.lower}


class Stage(Enum):
    PLANNED = "planned"
    OPEN = "open"


class Order(Entity):
    order_id: str
    status: Literal["pending", "paid", "shipped"] = "pending"
    stage: Stage = Stage.PLANNED
    total: int = 0
    closed: bool = True
    note: str | None = None

    primary = Key("ORDER#{order_id}", "HEAD")
    by_status = Key("STATUS#{status}", "{order_id}", index=BY_STATUS)


class Line(Entity):
    order_id: str
    number: int
    text: str = "x"

    primary = Key("ORDER#{order_id}", "LINE#{number:04d}")


class User(Entity):
    user_id: str
    email: str
    name: str = "Ada"

    primary = Key("USER#{user_id}", "HEAD")
    by_email = Unique("EMAIL#{email}")


class Orders(Design):
    table = Table("orders", indexes=[BY_STATUS])

    @read("R1")
    def order(self, order_id: str) -> Order | None: ...

    @read("R2")
    def lines(self, order_id: str, limit: int = 5) -> list[Line]: ...

    @read("R3")
    def user_of(self, email: str) -> User | None: ...

    @read("R4", entity=Line)
    def any_line(self, order_id: str) -> bool: ...

    def _open(self, order_id: str) -> Writes[Order]:
        order = yield from self.order.read(order_id)
        if order is None or order.closed or order.stage is not Stage.OPEN:
            raise Refused("no open order")
        return order

    @write("W1", example=Example().found(Order, closed=False, stage=Stage.OPEN, status="paid", note=None))
    def needs_an_item_in_a_state(self, order_id: str) -> Writes:
        order = yield from self._open(order_id)
        if order.status not in {"paid", "shipped"} or order.note is not None:
            raise Refused("not paid")
        yield Update(order, status="shipped")

    @write("W9")
    def has_no_example(self, order_id: str) -> Writes:
        yield Update((yield from self._open(order_id)), status="shipped")

    @write("W2")
    def needs_no_item(self, user_id: str, email: str) -> Writes:
        if (yield from self.user_of.read(email)) is not None:
            raise Refused("taken")
        yield Create(User(user_id=user_id, email=email))

    @write("W3")
    def either(self, order_id: str) -> Writes:
        order = yield from self.order.read(order_id)
        if order is None:
            yield Create(Order(order_id=order_id))
        else:
            yield Update(order, total=Add(1))
            for line in (yield from self.lines.read(order_id)):
                yield Delete(line)

    @write("W4", example=[Example(way="a"), Example(way="b").found(Order, total=3).missing("any_line")])
    def by_argument(self, order_id: str, way: str) -> Writes:
        if way == "a":
            yield Update(Order, order_id=order_id).set(total=1)
        elif way == "b" and not (yield from self.any_line.read(order_id)):
            order = yield from self.order.read(order_id)
            if order is None or order.total != 3:
                raise Refused("not this one")
            yield Delete(order)
            yield Put(Line(order_id=order_id, number=1))

    @write("W5")
    def one_branch(self, order_id: str, total: int) -> Writes:
        if total > 1_000_000:
            yield Update(Order, order_id=order_id).set(note="large")
        else:
            yield Update(Order, order_id=order_id).set(total=total)

    @write("W6", items=27)
    def header_and_lines(self, order: Order, lines: list[Line]) -> Writes:
        yield Put(order)
        for line in lines:
            yield Put(line)

    @write("W7", items=27)
    def batched(self, order: Order, lines: list[Line]) -> Writes:
        yield Create(order)
        yield Batch([Put(line) for line in lines])

    @write("W8")
    def takes_an_email(self, user: User, email: str) -> Writes:
        yield Update(user, email=email)


ANALYZER = WriteAnalyzer(Orders.compiled, Orders)


def made(name: str) -> list[list[str]]:
    """The item changes of each dry run."""
    runs = ANALYZER.analysis(Orders.compiled.writes[name]).runs
    return [[each.what for each in (*run.mutations, *run.batched)] for run in runs.finished]


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("needs_an_item_in_a_state", [["Update Order"]]),
        ("needs_no_item", [["Create User", "claim by_email"]]),
        ("either", [["Update Order", *["Delete Line"] * 5], ["Create Order"]]),
        ("by_argument", [["Update Order"], ["Delete Order", "Put Line"]]),
        ("one_branch", [["Update Order"]]),
        ("takes_an_email", [["Update User", "release by_email", "claim by_email"]]),
    ],
)
def test_each_dry_run_of_a_write_has_the_expected_item_changes(name: str, runs: list[list[str]]) -> None:
    assert made(name) == runs


def test_the_predicted_cost_of_a_dry_run_equals_the_metered_cost() -> None:
    """The typical call runs on a store that contains the assumed items."""
    for name, pattern in Orders.compiled.writes.items():
        if name in {"header_and_lines", "batched", "has_no_example"}:
            continue  # of items=27, or unknown
        run = ANALYZER.analysis(pattern).runs.finished[0]
        with Orders.open(":memory:") as orders:
            for each in run.there:
                orders.create(each)
            with metering(orders) as meter:
                orders.run_write(name, (), {**run.arguments})
        asked = sum(units for request in meter for units in request.units.values())
        predicted = estimate_pattern(Orders, name)
        assert asked == predicted.read_units + predicted.write_units, name


def costs(name: str) -> PatternEstimate:
    return next(each for each in estimate(Orders).patterns if each.name == name)


def test_write_costs_show_the_range_over_branches_and_unknown_parts() -> None:
    assert costs("either").span("write") == (2.0, 13.0)
    assert costs("by_argument").span("write") == (2.0, 5.0)
    one = costs("one_branch")
    assert one.incomplete
    assert any("no dry run reaches the Update Order" in note and "example=" in note for note in one.notes)


def test_a_write_that_rejects_typical_items_needs_an_example() -> None:
    why = "every dry run raises: Refused: no open order (add an example= to the write)"
    assert ANALYZER.analysis(Orders.compiled.writes["has_no_example"]).unknown == (why,)
    assert costs("has_no_example").failure == why


@pytest.mark.parametrize("name", ["header_and_lines", "batched"])
def test_item_counts_in_a_traffic_file_scale_only_repeated_actions(name: str) -> None:
    """27 items are one header and 26 lines."""
    with Orders.open(":memory:") as orders, metering(orders) as meter:
        orders.run_write(
            name, (), {"order": Order(order_id="o"), "lines": [Line(order_id="o", number=n) for n in range(26)]}
        )
    asked = sum(units for request in meter for units in request.units.values())
    assert costs(name).write_units == pytest.approx(asked)


def test_a_traffic_file_sets_the_arguments_of_a_dry_run() -> None:
    traffic = traffic_from({"patterns": {"one_branch": {"arguments": {"total": 2_000_000}}}}, Orders.compiled)
    (run,) = WriteAnalyzer(Orders.compiled, Orders, traffic).analysis(Orders.compiled.writes["one_branch"]).runs.done
    assert run.arguments["total"] == 2_000_000
    assert [sorted(shape.changes) for shape in run.shapes] == [["note"]]


# Bodies that aren't run


class Calls(Design):
    table = Table("calls", entities=[Line])

    @write("C1")
    def opens(self, line: Line) -> Writes:
        with open("x", "w") as file:  # noqa: PTH123
            file.write("x")
        yield Put(line)

    @write("C2")
    def sleeps(self, line: Line) -> Writes:
        time.sleep(0.1)
        yield Put(line)

    @write("C3")
    def starts_a_process(self, line: Line) -> Writes:
        subprocess.run(["true"], check=False)
        yield Put(line)

    @write("C4")
    def connects(self, line: Line) -> Writes:
        socket.create_connection(("127.0.0.1", 1))
        urllib.request.urlopen("http://127.0.0.1:1")
        yield Put(line)

    @write("C5")
    def starts_a_thread(self, line: Line) -> Writes:
        threading.Thread(target=print).start()
        yield Put(line)

    @write("C6")
    def prints_in_a_helper(self, line: Line) -> Writes:
        said(line.text)
        yield Put(line)

    @write("C7")
    def logs(self, line: Line) -> Writes:
        LOGGER.info("written")
        yield Put(line)

    @write("C8")
    def waits(self, line: Line) -> Writes:
        with LOCK:
            yield Put(line)

    @write("C9")
    def runs_a_loop(self, line: Line) -> Writes:
        asyncio.run(asyncio.sleep(0))
        yield Put(line)

    @write("C10")
    def calls_what_it_is_given(self, line: Line, kind: Literal["a"]) -> Writes:
        yield Put(line.model_copy(update={"text": STEPS[kind](line.text)}))

    @write("C11")
    def removes(self, line: Line) -> Writes:
        os.remove("x")  # noqa: PTH107
        yield Put(line)

    @write("C12")
    def computes(self, line: Line, number: int) -> Writes:
        text = hashlib.sha256(json.dumps({"n": number}).encode()).hexdigest() + ulid() + line.text.strip().lower()
        words = Counter[str](sorted({word for word in text.split("-") if word}))
        words.subtract({"x": random.randint(1, 3)})
        at = now().replace(microsecond=0).isoformat()
        yield Put(line.model_copy(update={"text": f"{at}{max(words, default='')}"[:20]}))

    @write("C13")
    def never_ends(self, line: Line) -> Writes:
        yield Put(line)
        while True:
            line.text.strip()


def said(text: str) -> None:
    print(text)


@pytest.mark.parametrize(
    ("name", "outside", "unknown"),
    [
        ("opens", ["opens a file"], False),
        ("sleeps", ["sleeps"], False),
        ("starts_a_process", ["starts a process"], False),
        ("connects", ["opens a socket", "makes a request over the network"], False),
        ("starts_a_thread", ["uses threads"], False),
        ("prints_in_a_helper", ["prints"], False),
        ("logs", ["logs"], False),
        ("waits", [], True),
        ("runs_a_loop", ["uses an event loop", "sleeps"], False),
        ("calls_what_it_is_given", [], True),
        ("removes", ["removes a file"], False),
        ("computes", [], False),
        ("never_ends", [], True),
    ],
)
def test_writes_with_side_effects_or_unknown_calls_are_not_run(name: str, outside: list[str], unknown: bool) -> None:
    analysis = WriteAnalyzer(Calls.compiled, Calls).analysis(Calls.compiled.writes[name])
    assert list(analysis.code.outside) == outside
    assert bool(outside) or unknown is (analysis.code.not_run is not None)
    run = not outside and not unknown
    assert (len(analysis.runs.finished) == 1) is run
    estimated = next(each for each in estimate(Calls).patterns if each.name == name)
    assert (estimated.failure is None) is run
    given = {"line": {"order_id": "o", "number": 1}, "number": 1, "kind": "a"}
    names = Calls.compiled.writes[name].signature.by_name
    explained = explain(Calls, name, {key: given[key] for key in names})
    assert bool(explained.requests) is run
    assert run or "the body isn't run" in (explained.note or "")


# Examples


def test_an_example_of_a_call_has_a_readable_repr() -> None:
    example = Example(way="b").found(Order, total=3).missing("any_line")
    assert repr(example) == "Example(way='b').found(Order, total=3).missing('any_line')"


@pytest.mark.parametrize(
    ("example", "message"),
    [
        (Example(weight=1), "unknown parameter 'weight'"),
        (Example().missing("nothing"), "the read 'nothing'"),
        (Example().found(Order, weight=1), "Order has no field 'weight'"),
        (Example().found(User, name="x"), "isn't an entity of this design"),
        ("x", "example= takes an Example"),
    ],
)
def test_an_example_of_a_call_with_an_unknown_name_is_rejected(example: Any, message: str) -> None:
    with pytest.raises(DesignError, match=message):

        class Wrong(Design):
            table = Table("wrong", indexes=[BY_STATUS], entities=[Order])

            @write("W1", example=example)
            def go(self, order_id: Annotated[str, Field(max_length=9)]) -> Writes:
                yield Delete(Order, order_id=order_id)
