"""What the model makes of each outcome of a step, and what the oracle answers to questions about a crowded store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from keyplan import Add, Append, Design, Discard, Entity, Include, Key, Put, Table, Unique, Version, Writes, read, write
from keyplan.errors import (
    ConditionFailed,
    DynamoDBError,
    ItemExists,
    RequestError,
    StoreError,
    TransactionFailed,
    ValueTaken,
)
from keyplan.testing import Clock
from keyplan.testing.model import Model
from keyplan.testing.oracle import Oracle, UndecidableError
from keyplan.testing.questions import Asker
from keyplan.testing.report import RunningCounts
from keyplan.testing.steps import Call, Change, Copy, Erase, Family, Write
from keyplan.testing.world import Row, World, scan
from tests.agreed import assert_agreed
from tests.client.test_request_texts import DESIGNS, NOON, ascii_only, opened, told

# mypy: disable-error-code="empty-body"


class Cup(Entity):
    name: str
    size: int = 1
    tags: set[str] | None = None
    notes: list[str] = []  # noqa: RUF012 - pydantic copies it

    primary = Key("CUP#{name}", "HEAD")


class Member(Entity):
    name: str
    email: str | None = None
    version: Version = 0

    primary = Key("MEMBER#{name}", "HEAD")
    one_email = Unique("EMAIL#{email}")


class Club(Design):
    table = Table("club", entities=[Cup, Member])

    @read("R1")
    def cup(self, name: str) -> Cup | None: ...


CUPS, MEMBERS = Club.compiled.entities[Cup], Club.compiled.entities[Member]
A, B = Cup(name="a"), Cup(name="b", tags={"x"})
ANN, BEN = Member(name="ann", email="e", version=1), Member(name="ben", email="e", version=1)
BARE = Member(name="bare", version=1)


class Scripted:
    """A design whose verbs end as the script says: with an error, an instance, or what they were given."""

    compiled = Club.compiled

    def __init__(self, outcomes: Sequence[Any]) -> None:
        self._outcomes = list(outcomes)

    def _next(self, given: Any) -> Any:
        outcome = self._outcomes.pop(0) if self._outcomes else "given"
        if isinstance(outcome, Exception):
            raise outcome
        return given if isinstance(outcome, str) else outcome

    def put(self, instance: Any) -> Any:
        return self._next(instance)

    def create(self, instance: Any) -> Any:
        return self._next(instance)

    def delete(self, instance: Any) -> Any:
        return self._next(instance)

    def update(self, target: Any, **changes: Any) -> Any:
        return self._next(target)


def larger(cup: Cup, **changes: Any) -> Cup:
    return cup.model_copy(update=changes)


FAILED, EXISTS, TAKEN = ConditionFailed("no", place="x"), ItemExists("there", place="x"), ValueTaken("taken", place="x")
REFUSED = RequestError("refused")


def cancelled(*reasons: Any) -> TransactionFailed:
    return TransactionFailed("cancelled", place="x", reasons=list(reasons))


NEW = Member(name="new", email="e", version=0)
CASES: list[tuple[str, list[Any], list[Any]]] = [
    ("written", [Write(A, create=False), Write(B, create=True)], []),
    ("written over", [Write(A, create=False), Write(larger(A, size=2), create=False)], []),
    ("created over", [Write(A, create=False), Write(A, create=True)], []),
    ("another comes back", [Write(A, create=False)], [B]),
    ("an error of the store", [Write(A, create=False)], [StoreError("down")]),
    ("an error of DynamoDB", [Write(A, create=False)], [DynamoDBError("down", type="X")]),
    ("no error of ours", [Write(A, create=False)], [ValueError("odd")]),
    ("refused", [Write(A, create=False)], [REFUSED]),
    ("exists", [Write(A, create=True)], [EXISTS]),
    ("exists, and is there", [Write(A, create=False), Write(A, create=True)], ["given", EXISTS]),
    ("a put that exists", [Write(A, create=False), Write(A, create=False)], ["given", EXISTS]),
    ("a condition", [Write(A, create=False)], [FAILED]),
    ("a version", [Write(ANN, create=False)], [FAILED]),
    ("a version, of none", [Write(Member(name="x"), create=False)], [FAILED]),
    ("a version, the same", [Write(ANN, create=False), Write(ANN, create=False)], ["given", FAILED]),
    ("a version, created", [Write(ANN, create=True)], [FAILED]),
    ("given twice", [Write(ANN, create=True), Write(BEN, create=True)], []),
    ("taken", [Write(ANN, create=True), Write(BEN, create=True)], ["given", TAKEN]),
    ("taken by nobody", [Write(BARE, create=True), Write(BEN, create=True)], ["given", TAKEN]),
    ("taken by itself", [Write(ANN, create=True), Write(ANN, create=False)], ["given", TAKEN]),
    ("nothing is taken", [Write(ANN, create=True), Write(BARE, create=True)], ["given", TAKEN]),
    ("in a transaction", [Write(ANN, create=True), Write(BEN, create=True)], ["given", cancelled(None, TAKEN)]),
    ("of no reason", [Write(ANN, create=True), Write(BEN, create=True)], ["given", cancelled(None, None)]),
    ("of another", [Write(ANN, create=True), Write(BEN, create=True)], ["given", cancelled(FAILED, TAKEN)]),
    ("a family", [Family(CUPS, A, [{"name": "c"}, {"size": "x"}, {"name": "d", "size": 5}])], []),
    ("a family of members", [Family(MEMBERS, ANN, [{"name": "c"}])], []),
    ("a copy of none", [Copy(CUPS, 1, {"size": 2}, create=False)], []),
    ("copies", [Write(A, create=False), Write(B, create=False), Copy(CUPS, 3, {"name": "c"}, create=True)], []),
    ("no copy", [Write(A, create=False), Copy(CUPS, 0, {"size": "x"}, create=True)], []),
    ("no change", [Change(CUPS, 0, {"size": 2}, stale=False)], []),
    ("changed", [Write(A, create=False), Change(CUPS, 0, {"size": 2}, stale=False)], ["given", larger(A, size=2)]),
    ("not changed", [Write(A, create=False), Change(CUPS, 0, {"size": 2}, stale=False)], []),
    *(
        (f"changed by {change!r}", [Write(B, create=False), Change(CUPS, 0, changes, stale=False)], ["given", after])
        for changes, after in (
            ({"size": Add(2)}, larger(B, size=3)),
            ({"size": Add(-1)}, larger(B, size=0)),
            ({"tags": Include({"y"})}, larger(B, tags={"x", "y"})),
            ({"tags": Discard({"x"})}, larger(B, tags=None)),
            ({"tags": Discard({"y"})}, larger(B, tags={"x"})),
            ({"tags": None}, larger(B, tags=None)),
            ({"notes": Append(["n"])}, larger(B, notes=["n"])),
            ({"size": "x"}, B),
        )
        for change in [next(iter(changes.values()))]
    ),
    ("from none", [Write(A, create=False), Change(CUPS, 0, {"tags": Include({"y"})}, stale=False)],
     ["given", larger(A, tags={"y"})]),
    ("a change refused", [Write(A, create=False), Change(CUPS, 0, {"size": 2}, stale=False)], ["given", FAILED]),
    ("a stale one", [Write(A, create=False), Write(larger(A, size=4), create=False),
                     Change(CUPS, 0, {"size": 2}, stale=True)], ["given", "given", FAILED]),
    ("a stale version", [Write(ANN, create=False), Write(ANN.model_copy(update={"version": 2}), create=False),
                         Change(MEMBERS, 0, {"email": "f"}, stale=True)], []),
    ("what is gone", [Write(A, create=False), Erase(CUPS, 0, stale=False), Change(CUPS, 0, {"size": 2}, stale=True)],
     []),
    ("gone, refused", [Write(A, create=False), Erase(CUPS, 0, stale=False), Change(CUPS, 0, {"size": 2}, stale=True)],
     ["given", "given", FAILED]),
    ("a change that takes", [Write(ANN, create=False), Write(BARE, create=False),
                             Change(MEMBERS, 1, {"email": "e"}, stale=False)],
     ["given", "given", BARE.model_copy(update={"email": "e"})]),
    ("a change that is taken", [Write(ANN, create=False), Write(BARE, create=False),
                                Change(MEMBERS, 1, {"email": "e"}, stale=False)], ["given", "given", TAKEN]),
    ("stale, in a transaction", [Write(NEW, create=False), Write(NEW.model_copy(update={"email": "g"}), create=False),
                                 Change(MEMBERS, 0, {"email": "h"}, stale=True)],
     ["given", "given", cancelled(FAILED, TAKEN)]),
    ("not stale, in one", [Write(NEW, create=False), Change(MEMBERS, 0, {"email": "h"}, stale=False)],
     ["given", cancelled(FAILED, TAKEN)]),
    ("erased", [Write(A, create=False), Write(B, create=False), Erase(CUPS, 1, stale=False)], []),
    ("nothing to erase", [Erase(CUPS, 1, stale=False), Erase(CUPS, 1, stale=True)], []),
    ("erased twice", [Write(A, create=False), Erase(CUPS, 0, stale=False), Erase(CUPS, 0, stale=True)], []),
    ("not erased", [Write(A, create=False), Erase(CUPS, 0, stale=False)], ["given", FAILED]),
    ("not erased, of others", [Write(A, create=False), Erase(CUPS, 0, stale=False)], ["given", REFUSED]),
    ("not erased, stale", [Write(A, create=False), Write(larger(A, size=2), create=False), Erase(CUPS, 0, stale=True)],
     ["given", "given", FAILED]),
]  # fmt: skip


def _plain(value: Any) -> str:
    return (
        str(value)
        .replace("{'y', 'x'}", "{'x', 'y'}")
        .replace("Cup(", "(")
        .replace("Member(", "(")
        .replace("version=", "v=")
    )


def test_what_is_made_of_each_outcome() -> None:
    lines: list[str] = []
    for name, steps, outcomes in CASES:
        scripted: Any = Scripted(outcomes)
        model = Model(scripted, RunningCounts(), {})
        lines.append(f"{name}:")
        try:
            for step in steps:
                model.carry_out(step)
        except AssertionError as error:
            lines.append(f"    AssertionError: {error}".replace("\n", "\n    "))
        lines += [f"    {_plain(text)}".replace("\n", "\n    ") for text in model.log]
        lines.append(f"    there: {_plain(list(model.items.values()))}")
        lines.append(f"    before: {_plain(model.before)}")
    assert_agreed("\n".join(lines))


def test_what_should_be_there() -> None:
    rows = [Row(CUPS, each, {}) for each in (A, larger(A, size=2), B)]
    said: list[str] = []
    for there in ([], [rows[0]], [rows[1]], [rows[0], rows[2]]):
        scripted: Any = Scripted([])
        held = Model(scripted, RunningCounts(), {})
        held.carry_out(Write(A, create=False))
        try:
            held.check(World(tuple(there), (), ()))
            said.append("as it should be")
        except AssertionError as error:
            said.append(str(error))
    assert_agreed("\n".join(said))


@pytest.mark.parametrize("name", DESIGNS)
def test_what_the_oracle_answers(name: str) -> None:
    """The right answer to each question, where the fields say it; and the store's is one of those."""
    lines: list[str] = []
    with Clock(NOON):
        design, _ = opened(*DESIGNS[name])
        world = scan(design)
        for pattern in type(design).compiled.reads.values():
            oracle = Oracle(pattern, pattern.options)
            for arguments in list(Asker(pattern).questions(world, 2))[:3]:
                said = " ".join(f"{key}={value}" for key, value in arguments.items())
                try:
                    groups = oracle.groups(world, arguments)
                    text = " | ".join(told(group) for group in groups)
                except UndecidableError:
                    text = f"any of {sorted(told(group) for group in oracle.unordered(world, arguments))}"
                lines.append(f"{pattern.name} {said}\n  = {text}")
        design.close()
    assert_agreed(ascii_only("\n".join(lines)))


class Holds(Design):
    table = Table("holds", entities=[Cup, Member])

    @write("W1")
    def hold(self, cup: Cup, name: str, size: int, other: str = "") -> Writes:
        yield Put(cup)


PICKS: list[dict[str, int]] = [
    {}, {"cup": 1}, {"name": 0, "size": 1}, {"name": 2}, {"cup": 2, "name": 2, "size": 2, "other": 2},
    {"cup": 0, "name": 0, "size": 0, "other": 0}, {"cup": 5, "name": 3, "size": 7, "other": 0},
]  # fmt: skip


def test_where_the_arguments_of_a_call_come_from() -> None:
    """From one item, from items that have a field of that name, or as they were made."""
    lines: list[str] = []
    pattern = Holds.compiled.writes["hold"]
    fresh: dict[str, Any] = {"cup": Cup(name="fresh"), "name": "new", "size": 9, "other": "else"}
    scripted: Any = Scripted([])
    stored = [A, larger(A, name="c", size=5), ANN, B]
    for there in ([], stored[:1], stored):
        model = Model(scripted, RunningCounts(), {})
        for each in there:
            model.carry_out(Write(each, create=False))
        for picks in PICKS:
            given = model._arguments(Call(pattern, picks, fresh, arranged=False))
            lines.append(f"{len(there)} {picks}: {given}")
    assert_agreed("\n".join(lines))
