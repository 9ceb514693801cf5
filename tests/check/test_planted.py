# mypy: disable-error-code="empty-body"
"""Flaws planted in bodies of writes, each beside what is right and looks alike."""

from __future__ import annotations

from typing import Literal

import pytest

from keyplan import Add, Create, Design, Discard, Entity, Key, Table, Tokens, Update, Writes, read, write
from keyplan.check import check


class Exam(Entity):
    exam_id: str
    seats: int = 0
    answers: dict[str, str] = {}  # noqa: RUF012 - pydantic copies it
    marks: dict[Literal["a", "b"], int] = {}  # noqa: RUF012
    applied: Tokens = set()  # noqa: RUF012

    primary = Key("EXAM#{exam_id}", "HEAD")


class Seat(Entity):
    exam_id: str
    student: str

    primary = Key("EXAM#{exam_id}", "SEAT#{student}")


class Exams(Design):
    """Each write has a flaw."""

    table = Table("exams")

    @read("R1")
    def exam(self, exam_id: str) -> Exam: ...

    @read("R2", of=Seat)
    def taken(self, exam_id: str) -> int: ...

    @write("W1")
    def answer(self, exam_id: str, student: str, text: str) -> Writes:
        yield Update(Exam, exam_id=exam_id).at(lambda exam: exam.answers[student]).set(text)

    @write("W2")
    def count(self, exam_id: str, token: str) -> Writes:
        yield Update(Exam, exam_id=exam_id).set(seats=Add(1)).once(token)

    @write("W3")
    def lengthen(self, exam_id: str) -> Writes:
        exam = yield from self.exam.ask(exam_id)
        yield Update(exam).at(lambda exam: exam.answers["a"]).set(exam.answers["a"] + "!")

    @write("W4")
    def enrol(self, exam_id: str, student: str) -> Writes:
        taken = yield from self.taken.ask(exam_id)
        if taken >= 30:
            return
        yield Create(Seat(exam_id=exam_id, student=student))

    @write("W5")
    def enrol_at_once(self, exam_id: str, student: str) -> Writes:
        if (yield from self.taken.ask(exam_id)) < 30:
            yield Create(Seat(exam_id=exam_id, student=student))


class Rightly(Design):
    """The same writes without them."""

    table = Table("rightly")

    @read("R1")
    def exam(self, exam_id: str) -> Exam: ...

    @read("R2", of=Seat)
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
        yield Update(Exam, exam_id=exam_id).set(seats=Add(1), applied=Discard({before})).once(token)

    @write("W3")
    def lengthen(self, exam_id: str) -> Writes:
        exam = yield from self.exam.ask(exam_id)
        yield Update(exam).at(lambda exam: exam.answers["a"]).set(exam.answers["a"] + "!").only_if(answers=exam.answers)

    @write("W4")
    def enrol(self, exam_id: str, student: str) -> Writes:
        if (yield from self.taken.ask(exam_id)) < 30:
            yield Update(Exam, exam_id=exam_id).set(seats=Add(1)).only_if("seats < :most", most=30)
            yield Create(Seat(exam_id=exam_id, student=student))

    @write("W5")
    def as_many_as_counted(self, exam_id: str) -> Writes:
        taken = yield from self.taken.ask(exam_id)
        yield Update(Exam, exam_id=exam_id).set(seats=taken)


@pytest.fixture(scope="module")
def found() -> dict[str, set[str]]:
    result: dict[str, set[str]] = {}
    for design in (Exams, Rightly):
        for finding in check(design).findings:
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
    ],
)
def test_the_flaw_is_found_and_nothing_where_it_isn_t(found: dict[str, set[str]], name: str, code: str) -> None:
    assert code in found[f"Exams.{name}"]
    assert code not in found.get(f"Rightly.{name}", set())


def test_what_is_only_counted_is_no_decision(found: dict[str, set[str]]) -> None:
    assert "KP313" not in found.get("Rightly.as_many_as_counted", set())
