# mypy: disable-error-code="empty-body"
"""``attempts=`` retries a write only if an item that it read has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from keyplan import (
    Add,
    Check,
    Create,
    Cursor,
    Design,
    Entity,
    Index,
    Key,
    Page,
    Put,
    Table,
    Unique,
    Update,
    Version,
    Writes,
    read,
    write,
)
from keyplan.errors import ConditionFailed, ItemExists, ItemNotFound, UniqueValueTaken, WriteFailed
from tests.client.support import record

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
KEYS = Index("KEYS", "gsi2pk", "gsi2sk", projection="KEYS_ONLY")


class Member(Entity):
    member_id: str
    name: str
    status: str = "new"
    n: int = 0

    primary = Key("MEMBER#{member_id}", "HEAD")
    one_name = Unique("NAME#{name}")
    by_status = Key("STATUS#{status}", "{member_id}", index=GSI1)


class Line(Entity):
    book: str
    number: int

    primary = Key("BOOK#{book}", "LINE#{number:06d}")
    by_number = Key("LINES", "{number:06d}#{book}", index=GSI1)


class Club(Design):
    """A design with writes that fail for different reasons."""

    table = Table("club", indexes=[GSI1])

    @read("R1")
    def member(self, member_id: str) -> Member | None: ...

    @read("R2")
    def named(self, name: str) -> Member | None: ...

    @read("R3")
    def lines(self, book: str) -> list[Line]: ...

    @read("R4", newest_first=True)
    def newest(self, limit: int = 1, cursor: Cursor | None = None) -> Page[Line]: ...

    @read("R5")
    def line(self, book: str, number: int) -> Line | None: ...

    @write("W1", attempts=10)
    def join(self, member_id: str, name: str) -> Writes:
        yield Create(Member(member_id=member_id, name=name))

    @write("W2", attempts=10)
    def note(self, book: str, number: int) -> Writes:
        yield Create(Line(book=book, number=number))

    @write("W3", attempts=10)
    def note_for(self, member_id: str, book: str) -> Writes:
        yield Check(Member, member_id=member_id).only_if(status="active")
        lines = yield from self.lines.read(book)
        yield Create(Line(book=book, number=len(lines)))

    @write("W4", attempts=10)
    def promote(self, member: Member) -> Writes:
        yield Update(member, n=member.n + 1).only_if(n=member.n)

    @write("W5", attempts=10)
    def count(self, member_id: str) -> Writes[int]:
        member = yield from self.member.read(member_id)
        if member is None:
            raise LookupError(member_id)
        yield Update(member, n=member.n + 1).only_if(n=member.n)
        return member.n + 1

    @write("W6", attempts=10)
    def impossible(self, member_id: str) -> Writes:
        member = yield from self.member.read(member_id)
        yield Update(Member, member_id=member_id).set(n=1 if member is None else 2).only_if(n=99)

    @write("W7", attempts=10)
    def append(self, book: str) -> Writes[int]:
        lines = yield from self.lines.read(book)
        yield Create(Line(book=book, number=len(lines)))
        return len(lines)

    @write("W8", attempts=10)
    def free_name(self, member_id: str) -> Writes[str]:
        for number in range(100):
            name = f"name-{number}"
            if (yield from self.named.read(name)) is None:
                yield Create(Member(member_id=member_id, name=name))
                return name
        raise LookupError

    @write("W9", attempts=10)
    def count_finally(self, member_id: str) -> Writes:
        member = yield from self.member.read(member_id)
        yield Update(Member, member_id=member_id).set(n=5).only_if(n=0 if member is None else member.n).final()

    @write("W14", attempts=10)
    def raise_n(self, member_id: str, *, also: bool) -> Writes:
        missing = ItemNotFound(f"there is no member {member_id!r}", place="here")
        yield Update(Member, member_id=member_id).set(n=Add(1)).only_if("n < :most", most=3).if_missing(missing)
        if also:
            yield Check(Member, member_id="ann").only_if(n=0)

    @write("W10", attempts=10)
    def make(self, member_id: str) -> Writes:
        if (yield from self.member.read(member_id)) is None:
            yield Create(Member(member_id=member_id, name=member_id))

    @write("W11", attempts=10)
    def add_known(self, book: str, number: int) -> Writes:
        yield from self.lines.read(book)
        yield Create(Line(book=book, number=number))

    @write("W12", attempts=10)
    def next_of_all(self, book: str) -> Writes[int]:
        last = next(iter((yield from self.newest.read())), None)
        number = 0 if last is None else last.number + 1
        yield Create(Line(book=book, number=number))
        return number

    @write("W15", attempts=10)
    def begin(self, book: str) -> Writes[int]:
        if (yield from self.line.read(book, 0)) is None:
            lines = yield from self.lines.read(book)
            yield Create(Line(book=book, number=0))
            return len(lines)
        return -1

    @write("W13", attempts=10)
    def gives_up(self, member_id: str) -> Writes:
        member = yield from self.member.read(member_id)
        if member is None or member.n < 2:
            raise ConditionFailed("not yet")
        yield Update(member, status="ready")


@pytest.fixture
def club(monkeypatch: pytest.MonkeyPatch) -> Iterator[Club]:
    monkeypatch.setattr("keyplan.client.conversations.time.sleep", lambda seconds: None)
    with Club.open(":memory:") as design:
        yield design


def _writes(requests: Any) -> int:
    return sum(
        operation in {"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"} for operation in requests.operations
    )


FAILS: dict[str, tuple[type[WriteFailed], Callable[[Club], Any]]] = {
    "a value that is taken": (UniqueValueTaken, lambda club: club.join("2", "ada")),
    "an item that is there": (ItemExists, lambda club: club.note("b", 0)),
    "both": (ItemExists, lambda club: club.join("1", "ada")),
    "a check of what was not read": (ConditionFailed, lambda club: club.note_for("1", "new")),
    "a stale argument": (ConditionFailed, lambda club: club.promote(Member(member_id="1", name="ada", n=7))),
    "what reading already contradicts": (ConditionFailed, lambda club: club.impossible("1")),
    "an update of what reading said is missing": (ConditionFailed, lambda club: club.impossible("nobody")),
}


@pytest.mark.parametrize("what", list(FAILS))
def test_writes_that_fail_permanently_are_not_retried(club: Club, what: str) -> None:
    club.create(Member(member_id="1", name="ada"))
    club.create(Line(book="b", number=0))
    error, call = FAILS[what]
    requests = record(club)
    with pytest.raises(error):
        call(club)
    assert _writes(requests) == 1


def _meanwhile(club: Club, *steps: Callable[[], Any]) -> Any:
    """Let another client write just before each of the next write requests."""
    requests = record(club)
    left = list(steps)

    def before(operation: str, _: dict[str, Any]) -> None:
        if operation in {"PutItem", "UpdateItem", "TransactWriteItems"} and left:
            step, requests.before = left.pop(0), lambda *_: None
            step()
            requests.before = before

    requests.before = before
    return requests


@pytest.mark.parametrize("also", [False, True], ids=["one request", "a transaction"])
def test_a_missing_item_raises_the_error_set_for_the_action(club: Club, *, also: bool) -> None:
    club.create(Member(member_id="ann", name="ann", n=int(not also)))
    requests = record(club)
    with pytest.raises(ItemNotFound, match="there is no member 'nobody'"):
        club.raise_n("nobody", also=also)
    assert requests.operations == ["TransactWriteItems" if also else "UpdateItem"]
    club.create(Member(member_id="bob", name="bob", n=3))
    with pytest.raises(ConditionFailed):  # it is there, and not as expected
        club.raise_n("bob", also=also)


def test_a_write_is_retried_if_its_item_changed_after_the_read(club: Club) -> None:
    club.create(Member(member_id="1", name="ada"))
    other = Club(club.store)
    _meanwhile(club, *[lambda: other.update(Member, member_id="1", n=Add(10))] * 3)
    assert club.count("1") == 31


def test_a_write_is_retried_if_its_item_was_created_after_the_read(club: Club) -> None:
    requests = _meanwhile(club, lambda: Club(club.store).create(Member(member_id="1", name="1")))
    club.make("1")
    assert requests.operations.count("GetItem") == 2


def test_a_write_is_retried_if_a_list_that_it_read_has_grown(club: Club) -> None:
    other = Club(club.store)
    steps = [lambda n=n: other.create(Line(book="b", number=n)) for n in range(4)]
    _meanwhile(club, *steps)
    assert club.append("b") == 4
    _meanwhile(club, lambda: other.create(Line(book="b", number=5)))
    assert club.next_of_all("b") == 6


def test_a_write_is_retried_if_two_reads_return_different_states_of_an_item(club: Club) -> None:
    requests = record(club)

    def before(operation: str, _: dict[str, Any]) -> None:
        if operation == "Query":
            requests.before = lambda *_: None
            Club(club.store).create(Line(book="b", number=0))

    requests.before = before
    assert club.begin("b") == -1
    assert requests.operations.count("GetItem") == 2


def test_a_write_is_retried_if_a_unique_value_was_taken_after_the_read(club: Club) -> None:
    other = Club(club.store)
    _meanwhile(club, lambda: other.create(Member(member_id="x", name="name-0")))
    assert club.free_name("1") == "name-1"


def test_a_failed_create_of_an_item_that_was_already_read_is_not_retried(club: Club) -> None:
    club.create(Line(book="b", number=0))
    requests = record(club)
    with pytest.raises(ItemExists):
        club.add_known("b", 0)
    assert _writes(requests) == 1  # it was read, and is as it was read


def test_a_write_is_not_retried_if_the_failed_action_is_marked_as_final(club: Club) -> None:
    club.create(Member(member_id="1", name="ada"))
    requests = _meanwhile(club, lambda: Club(club.store).update(Member, member_id="1", n=3))
    with pytest.raises(ConditionFailed):
        club.count_finally("1")
    assert requests.operations.count("GetItem") == 1


def test_a_write_that_raises_an_error_is_retried_if_the_item_that_it_read_changed(club: Club) -> None:
    club.create(Member(member_id="1", name="ada"))
    requests = record(club)
    reads = [0]

    def before(operation: str, _: dict[str, Any]) -> None:
        reads[0] += operation == "GetItem"
        if operation == "GetItem" and reads[0] > 1:
            requests.before = lambda *_: None
            Club(club.store).update(Member, member_id="1", n=Add(1))
            requests.before = before

    requests.before = before
    club.gives_up("1")
    assert reads[0] == 3


class Task(Entity):
    name: str
    n: int = 0
    state: str = "open"
    version: Version = 0

    primary = Key("TASK#{name}", "HEAD")


class Tasks(Design):
    """A design whose write reads random items and has conditions on random items."""

    table = Table("tasks")

    @read("R1")
    def task(self, name: str) -> Task | None: ...

    @write("W1", attempts=6)
    def work(self, reads: list[str], actions: list[Any]) -> Writes:
        for name in reads:
            yield from self.task.read(name)
        for action in actions:  # noqa: UP028 - it takes values, which a list would not
            yield action


def test_a_write_that_puts_an_outdated_version_is_not_retried(club: Club) -> None:
    with Tasks.open(":memory:") as tasks:
        task = tasks.put(Task(name="a"))
        tasks.put(task)
        requests = record(tasks)
        with pytest.raises(ConditionFailed):
            tasks.work([], [Put(task)])
        assert _writes(requests) == 1


@pytest.mark.parametrize("kept", [False, True])
def test_a_write_that_raises_an_error_after_its_actions_is_not_retried(kept: bool) -> None:
    """The error doesn't depend on the result of an action."""
    runs = 0

    class Raising(Design):
        table = Table("club", indexes=[GSI1])

        @write("W1")
        def fail(self, line: Line) -> Writes:
            nonlocal runs
            runs += 1
            if runs > 3:
                pytest.fail("it is run again and again")
            left = yield Put(line)
            also = [left] if kept else []
            raise WriteFailed("no", place=f"{len(also)}")

    with Raising.open(":memory:") as design:
        with pytest.raises(WriteFailed, match="no"):
            design.fail(Line(book="b", number=1))
        assert (runs, design.get(Line, book="b", number=1)) == (1, None)
