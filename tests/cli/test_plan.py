"""Tests of ``keyplan plan``: plans are verified, wrong plans are omitted, and Ctrl-C prints the best plan so far."""

from __future__ import annotations

import os
import pty
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from keyplan.testing import verifying
from keyplan.testing import verifying as planned
from keyplan.testing.report import Report
from tests.cli.support import json_of, program, run

MODULE = """
from keyplan import Create, Design, Entity, Id, Table, Writes, read, write


class Order(Entity):
    order_id: Id[str]
    customer: str
    email: str
{slow}

class Orders(Design):
    table = Table("orders")

    @read("O1")
    def orders(self, customer: str) -> list[Order]: ...

    @read("O2")
    def by_email(self, email: str) -> Order | None: ...

    @write("O3")
    def place(self, order: Order) -> Writes:
        yield Create(order)
"""
SLOW = """
    def model_post_init(self, context: object) -> None:
        for _ in range(1_000_000):
            pass

"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "orders.py"
    path.write_text(MODULE.format(slow=""))
    return path


def test_the_plan_report_shows_how_each_plan_was_verified(module: Path) -> None:
    shown = run("plan", f"{module}:Orders")
    assert shown.exit_code == 0, shown.output
    assert re.search(r"Verified on 3 generated stores with \d+ items in total", shown.output)
    plans = json_of("plan", f"{module}:Orders")["plans"]
    assert len(plans) > 1
    assert all(plan["verified"]["stores"] >= 3 and plan["verified"]["unanswered"] == [] for plan in plans)


def test_a_plan_with_wrong_results_is_omitted_and_reported(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = verifying.looked_at

    def doubtful(design: type[Any], **options: Any) -> Report:
        if len(design.compiled.table.indexes) == refused:
            raise AssertionError("Orders.orders gives another answer")
        return looked_at(design, **options)

    monkeypatch.setattr(planned, "looked_at", doubtful)
    refused = 2
    shown = run("plan", f"{module}:Orders")
    assert shown.exit_code == 0, shown.output
    assert "A plan is omitted because it returns wrong results:\nOrders.orders gives another answer" in shown.output
    assert "Orders: 1 index" in shown.output
    monkeypatch.setattr(planned, "looked_at", lambda *_, **__: doubtful_of_all())
    before = module.read_text()
    shown = run("plan", f"{module}:Orders", "--write")
    assert shown.exit_code == 2
    assert "every plan returns a wrong result for generated items" in shown.output
    assert module.read_text() == before


def doubtful_of_all() -> Report:
    raise AssertionError("it is wrong")


def test_ctrl_c_prints_the_best_plan_so_far(tmp_path: Path) -> None:
    """The command runs in a terminal with a progress bar. tests/planner interrupts the search."""
    path = tmp_path / "orders.py"
    path.write_text(MODULE.format(slow=SLOW))
    before = path.read_text()
    ours, theirs = pty.openpty()
    with program("plan", f"{path}:Orders", "--write", stderr=theirs, cwd=tmp_path) as running:
        os.close(theirs)
        seen = ""
        while not re.search(r"Verifying[^\r\n]*[1-9]\d*/[2-9]", seen):
            seen += os.read(ours, 1000).decode()
        os.kill(running.pid, signal.SIGINT)
        shown, _ = running.end()
        seen += os.read(ours, 100_000).decode()
    os.close(ours)
    assert running.returncode == 130
    assert "Orders: 2 indexes" in shown
    assert "some plans aren't verified" in seen
    assert path.read_text() == before
