"""A design with every feature of the map: a junction, an index, a descending number, a claim, and non-Latin names."""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from keyplan import (
    Create,
    Cursor,
    Design,
    Entity,
    Index,
    Key,
    Page,
    Put,
    Range,
    Table,
    Unique,
    Update,
    Writes,
    read,
    write,
)

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Pupil(Entity):
    """A pupil."""

    pupil_id: str
    name: str
    email: str
    year: int = 1

    primary = Key("PUPIL#{pupil_id}", "#PUPIL")
    by_year = Key("YEAR#{year}", "PUPIL#{pupil_id}", index=GSI1)
    email_claim = Unique("EMAIL#{email}")


class Report(Entity):
    """A pupil's report; the newest is first."""

    pupil_id: str
    number: int
    text: str

    primary = Key("PUPIL#{pupil_id}", "REPORT#{number:04d:desc}")


class Course(Entity):
    """A course."""

    course_id: str
    title: str
    room: str | None = None

    primary = Key("COURSE#{course_id}", "#COURSE")
    by_room = Key("ROOM#{room}", "COURSE#{course_id}", index=GSI1)


class Enrolment(Entity):
    """The junction of a pupil and a course."""

    course_id: str
    pupil_id: str

    primary = Key("COURSE#{course_id}", "PUPIL#{pupil_id}")
    by_pupil = Key("PUPIL#{pupil_id}", "COURSE#{course_id}", index=GSI1)


class School(Design):
    """A school: pupils, their reports, courses and enrolments."""

    table = Table("school", indexes=[GSI1])

    @read("Q1")
    def pupil(self, pupil_id: str) -> Pupil | None:
        """One pupil."""
        ...

    @read("Q2", newest_first=True)
    def reports(self, pupil_id: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Report]:
        """A pupil's reports, newest first."""
        ...

    @read("Q3", through=Enrolment)
    def pupils_of_course(self, course_id: str) -> list[Pupil]:
        """The pupils in a course."""
        ...

    @read("Q4")
    def pupils_of_year(self, year: int) -> list[Pupil]:
        """All pupils of a year."""
        ...

    @read("Q5")
    def courses_in_room(self, room: str) -> list[Course]:
        """The courses in a room."""
        ...

    @read("Q6")
    def reports_between(self, pupil_id: str, number: Range[int]) -> list[Report]:
        """A pupil's reports within a range of numbers."""
        ...

    @write("W1")
    def join(self, pupil: Pupil) -> Writes:
        """Add a pupil."""
        yield Create(pupil)

    @write("W2")
    def enrol(self, course_id: str, pupil_id: str) -> Writes:
        """Enrol a pupil in a course and update the pupil's year."""
        pupil = yield from self.pupil.read(pupil_id)
        yield Put(Enrolment(course_id=course_id, pupil_id=pupil_id))
        if pupil is not None:
            yield Update(pupil, year=pupil.year + 1)


def fill(school: School) -> None:
    """Write some items of each entity."""
    for number in range(4):
        school.join(Pupil(pupil_id=f"p{number}", name=f"Ünal 日本 {number}", email=f"p{number}@example.org"))
    for number in range(1, 10):
        school.put(Report(pupil_id="p0", number=number, text="good"))
    for name in ("maths", "art"):
        school.put(Course(course_id=name, title=name.title(), room="12"))
    for pupil in range(3):
        school.put(Enrolment(course_id="maths", pupil_id=f"p{pupil}"))
