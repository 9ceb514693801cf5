# mypy: disable-error-code="empty-body"
"""Known flaws in the bodies of writes, each next to a correct variant that looks similar."""

from __future__ import annotations

from collections.abc import Generator
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import StringConstraints

from keyplan import (
    Add,
    Batch,
    Create,
    Delete,
    Design,
    Entity,
    IdempotencyTokens,
    Key,
    Put,
    Range,
    SetRemove,
    Table,
    Ttl,
    Unique,
    Update,
    Writes,
    read,
    write,
)
from keyplan.analysis.check import Report, check
from keyplan.errors import ItemNotFound


class Exam(Entity):
    exam_id: str
    seats: int = 0
    note: str = ""
    answers: dict[str, str] = {}  # noqa: RUF012 - pydantic copies it
    marks: dict[Literal["a", "b"], int] = {}  # noqa: RUF012
    applied: IdempotencyTokens = set()  # noqa: RUF012

    primary = Key("EXAM#{exam_id}", "HEAD")


class Seat(Entity):
    exam_id: str
    student: str

    primary = Key("EXAM#{exam_id}", "SEAT#{student}")


def raised(exam: Exam, by: int) -> int:
    """A helper that computes a value from the item."""
    return exam.seats + by


def widened(exam: Exam, by: int) -> Update[Exam]:
    """A helper that returns an action."""
    return Update(exam, seats=raised(exam, by))


class Exams(Design):
    """A design in which each write has a flaw."""

    table = Table("exams")

    @read("R1")
    def exam(self, exam_id: str) -> Exam: ...

    @read("R2", entity=Seat)
    def taken(self, exam_id: str) -> int: ...

    @read("R3", items=30)
    def seats(self, exam_id: str) -> list[Seat]: ...

    @write("W1")
    def answer(self, exam_id: str, student: str, text: str) -> Writes:
        yield Update(Exam, exam_id=exam_id).at(lambda exam: exam.answers[student]).set(text)

    @write("W2")
    def count(self, exam_id: str, token: str) -> Writes:
        yield Update(Exam, exam_id=exam_id).set(seats=Add(1)).idempotent(token)

    @write("W3")
    def lengthen(self, exam_id: str) -> Writes:
        exam = yield from self.exam.read(exam_id)
        yield Update(exam).at(lambda exam: exam.answers["a"]).set(exam.answers["a"] + "!")

    @write("W4")
    def enrol(self, exam_id: str, student: str) -> Writes:
        taken = yield from self.taken.read(exam_id)
        if taken >= 30:
            return
        yield Create(Seat(exam_id=exam_id, student=student))

    @write("W5")
    def enrol_at_once(self, exam_id: str, student: str) -> Writes:
        if (yield from self.taken.read(exam_id)) < 30:
            yield Create(Seat(exam_id=exam_id, student=student))

    @write("W6")
    def widen(self, exam_id: str, by: int) -> Writes:
        exam = yield from self.exam.read(exam_id)
        yield widened(exam, by)

    @write("W7")
    def enrol_by_length(self, exam_id: str, student: str) -> Writes:
        there = yield from self.seats.read(exam_id)
        if sum(1 for _ in there) >= 30:
            return
        yield Create(Seat(exam_id=exam_id, student=student))

    @write("W8")
    def take_what_is_there(self, exam_id: str, wanted: int) -> Writes:
        exam = yield from self.exam.read(exam_id)
        left = min(exam.seats, wanted)
        yield Update(Exam, exam_id=exam_id).set(seats=Add(-left))

    @write("W9")
    def fill_in(self, exam_id: str, student: str) -> Writes:
        exam = yield from self.exam.read(exam_id)
        answers = dict(exam.answers)
        answers.setdefault(student, "")
        yield Update(exam, answers=answers).only_if(answers=exam.answers)

    @write("W10")
    def remark(self, exam_id: str, text: str) -> Writes:
        exam = yield from self.exam.read(exam_id)
        yield Update(exam, note=f"{exam.note} {text}").only_if(note=exam.note)

    @write("W11")
    def count_once(self, exam_id: str, token: str) -> Writes:
        del token
        yield Update(Exam, exam_id=exam_id).set(seats=Add(1)).idempotent(f"seat of {exam_id}")

    @write("W12")
    def leave(self, exam_id: str, student: str) -> Writes:
        yield Delete(Seat, exam_id=exam_id, student=student)
        yield Update(Exam, exam_id=exam_id).set(seats=Add(-1))

    @write("W13")
    def enrol_all(self, exam_id: str, students: set[str]) -> Writes:
        for student in sorted(students):
            yield from self._seated(exam_id, student)

    def _seated(self, exam_id: str, student: str) -> Generator[Any, Any, None]:
        yield Create(Seat(exam_id=exam_id, student=student))

    @write("W14")
    def enrol_nobody(self, exam_id: str) -> Writes:
        yield Create(Seat(exam_id=exam_id, student=""))


class Rightly(Design):
    """A design with correct variants of the same writes."""

    table = Table("rightly")

    @read("R1")
    def exam(self, exam_id: str) -> Exam: ...

    @read("R2", entity=Seat)
    def taken(self, exam_id: str) -> int: ...

    @write("W1")
    def answer(self, exam_id: str, student: Literal["a", "b"], text: str) -> Writes:
        yield (
            Update(Exam, exam_id=exam_id)
            .at(lambda exam: exam.answers["a"])
            .set(text)
            .at(lambda exam: exam.marks[student])
            .set(1)
        )

    @write("W2")
    def count(self, exam_id: str, token: str, before: str) -> Writes:
        yield Update(Exam, exam_id=exam_id).set(seats=Add(1), applied=SetRemove({before})).idempotent(token)

    @write("W3")
    def lengthen(self, exam_id: str) -> Writes:
        exam = yield from self.exam.read(exam_id)
        yield Update(exam).at(lambda exam: exam.answers["a"]).set(exam.answers["a"] + "!").only_if(answers=exam.answers)

    @write("W4")
    def enrol(self, exam_id: str, student: str) -> Writes:
        if (yield from self.taken.read(exam_id)) < 30:
            yield Update(Exam, exam_id=exam_id).set(seats=Add(1)).only_if("seats < :most", most=30)
            yield Create(Seat(exam_id=exam_id, student=student))

    @write("W5")
    def as_many_as_counted(self, exam_id: str) -> Writes:
        taken = yield from self.taken.read(exam_id)
        yield Update(Exam, exam_id=exam_id).set(seats=taken)

    @write("W6")
    def widen(self, exam_id: str, by: int) -> Writes:
        exam = yield from self.exam.read(exam_id)
        yield widened(exam, by).only_if(seats=exam.seats)

    @write("W7")
    def enrol_by_length(self, exam_id: str, student: str) -> Writes:
        yield Update(Exam, exam_id=exam_id).set(seats=Add(1)).only_if("seats < :most", most=30)
        yield Create(Seat(exam_id=exam_id, student=student))

    @write("W8")
    def take_what_is_there(self, exam_id: str, wanted: int) -> Writes:
        exam = yield from self.exam.read(exam_id)
        left = min(exam.seats, wanted)
        yield Update(Exam, exam_id=exam_id).set(seats=Add(-left)).only_if(seats=exam.seats)

    @write("W9")
    def fill_in(self, exam_id: str, student: str) -> Writes:
        exam = yield from self.exam.read(exam_id)
        answers = dict(exam.answers)
        answers["first"] = student
        yield Update(exam, answers=answers).only_if(answers=exam.answers)

    @write("W10")
    def remark(self, exam_id: str, text: str) -> Writes:
        exam = yield from self.exam.read(exam_id)
        yield Update(exam, note=f"{exam.seats} {text}").only_if(note=exam.note)

    @write("W11")
    def count_once(self, exam_id: str, token: str) -> Writes:
        yield Update(Exam, exam_id=exam_id).set(seats=Add(1)).idempotent(f"seat of {exam_id}: {token}")

    @write("W12")
    def leave(self, exam_id: str, student: str) -> Writes:
        yield Delete(Seat, exam_id=exam_id, student=student).if_missing(ItemNotFound("nobody sits there"))
        yield Update(Exam, exam_id=exam_id).set(seats=Add(-1))

    @write("W13")
    def enrol_all(self, exam_id: str, students: set[str]) -> Writes:
        yield Batch([Put(Seat(exam_id=exam_id, student=student)) for student in sorted(students)])

    @write("W14")
    def enrol_nobody(self, exam_id: str) -> Writes:
        yield Create(Seat(exam_id=exam_id, student="nobody"))


@pytest.fixture(scope="module")
def reports() -> list[Report]:
    return [check(design) for design in (Exams, Rightly)]


@pytest.fixture(scope="module")
def found(reports: list[Report]) -> dict[str, set[str]]:
    result: dict[str, set[str]] = {}
    for report in reports:
        for finding in report.findings:
            result.setdefault(finding.place, set()).add(finding.code)
    return result


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("answer", "KP103"),
        ("count", "KP103"),
        ("lengthen", "KP308"),
        ("enrol", "KP313"),
        ("enrol_at_once", "KP313"),
        ("widen", "KP308"),
        ("enrol_by_length", "KP313"),
        ("take_what_is_there", "KP308"),
        ("fill_in", "KP103"),
        ("remark", "KP103"),
        ("count_once", "KP319"),
        ("leave", "KP320"),
        ("enrol_all", "KP106"),
        ("enrol_nobody", "KP108"),
    ],
)
def test_each_flaw_is_found_only_in_the_flawed_write(found: dict[str, set[str]], name: str, code: str) -> None:
    assert code in found[f"Exams.{name}"]
    assert code not in found.get(f"Rightly.{name}", set())


def test_a_write_that_only_stores_a_count_is_not_reported(found: dict[str, set[str]]) -> None:
    assert "KP313" not in found.get("Rightly.as_many_as_counted", set())


class Rank(Enum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Member(Entity):
    club: str
    email: str
    rank: Rank
    until: Ttl
    letter: Annotated[str, StringConstraints(max_length=500_000)] = ""

    primary = Key("CLUB#{club}", "{rank}#{email}")
    email_claim = Unique("EMAIL#{email}")


def tidy(text: str) -> str:
    """A helper that strips a string and folds its case."""
    return text.strip().casefold()


class Club(Design):
    """A design with flaws in its entities and reads."""

    table = Table("club")

    @read("C1", items=10)
    def ranked(self, club: str, rank: Range[Rank]) -> list[Member]: ...

    @write("C2")
    def join(self, member: Member, email: str) -> Writes:
        yield Create(member.model_copy(update={"email": tidy(email)}))


def test_flaws_of_entities_and_reads_are_found() -> None:
    result = {(finding.code, finding.place) for finding in check(Club).findings}
    assert result >= {
        ("KP103", "Member.letter"),  # the maximum length exceeds the item size limit
        ("KP213", "Member.email"),  # folded by a helper, not by its type
        ("KP215", "Club.ranked"),  # a range of strings instead of ranks
        ("KP315", "Member.email_claim"),  # the unique claim of an expired item remains
    }
