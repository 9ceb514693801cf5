# mypy: disable-error-code="empty-body"
"""A design with rarely used features: a scan, a filter, a collection, a local index, an invalid write, and markup in
docstrings.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Literal, NamedTuple

from keyplan import (
    Batch,
    Cursor,
    Delete,
    Design,
    Each,
    Entity,
    Index,
    Key,
    Number,
    Page,
    Put,
    Range,
    Table,
    Ttl,
    Unique,
    Update,
    Version,
    Writes,
    read,
    write,
)

State = Literal["open", "seen", "gone"]
BY_DOCTOR = Index("BY_DOCTOR", "doctor_pk", "doctor_sk")
BY_FEE = Index("BY_FEE", "pk", Number("fee"), local=True, projection="KEYS_ONLY")


class Patient(Entity):
    """A patient [of the clinic]."""

    patient: str
    card: str
    revision: Version = 0

    primary = Key("PATIENT#{patient}", "#PATIENT")
    one_card = Unique("CARD#{card}")


class Visit(Entity):
    """A visit."""

    patient: str
    at: datetime
    doctor: str
    state: State = "open"
    fee: Decimal = Decimal(1)
    notes: str = ""
    expires: Ttl | None = None

    primary = Key("PATIENT#{patient}", "VISIT#{at}")
    by_doctor = Key("DOCTOR#{doctor}", "{at}", index=BY_DOCTOR, when={"state": ("open", "seen")}, shards=2)
    by_fee = Key("PATIENT#{patient}", "{fee}", index=BY_FEE)


class Hour(Entity):
    """An available hour. No access pattern reads it."""

    doctor: str
    at: datetime

    primary = Key("HOURS#{doctor}", "{at}")


class File(NamedTuple):
    patient: Patient
    visits: list[Visit]


class Clinic(Design):
    """A clinic: [bold]patients[/bold] and their visits.

    This is not shown.
    """

    table = Table("clinic", indexes=[BY_DOCTOR, BY_FEE], entities=[Patient, Visit, Hour])

    @read("C1", newest_first=True)
    def visits(self, patient: str, at: Range[datetime] | None = None, limit: int = 5) -> list[Visit]:
        """The visits [of a patient], newest first."""
        ...

    @read("C2")
    def waiting(
        self, doctor: str, state: Literal["open", "seen"], limit: int = 10, cursor: Cursor | None = None
    ) -> Page[Visit]:
        """Patients waiting for a doctor."""
        ...

    @read("C3", scan=True, where="contains(notes, :word)")
    def noted(self, word: str) -> Iterator[Visit]:
        """Visits with a word in their notes."""
        ...

    @read("C4")
    def file(self, patient: str) -> File | None:
        """A patient with every visit."""
        ...

    @read("C5", order_by="fee", complete=True)
    def cheapest(self, patient: str, limit: int = 3) -> list[Visit]:
        """The least expensive visits of a patient."""
        ...

    @read("C6")
    def patients(self, patient: Each[str]) -> list[Patient]:
        """Several patients."""
        ...

    @read("C7")
    def by_card(self, card: str) -> Patient | None:
        """The patient with an insurance card."""
        ...

    @read("C8", entity=[Visit])
    def how_many(self, patient: str) -> int:
        """The number of visits."""
        ...

    @write("C9")
    def see(self, visit: Visit, notes: str) -> Writes:
        """Record a visit."""
        if visit.state != "open":
            return
        yield Update(visit, state="seen", notes=notes).only_if(state="open")

    @write("C10")
    def leave(self, patient: str) -> Writes:
        """Delete a patient and all visits."""
        file = yield from self.file.read(patient)
        if file is not None:
            yield Batch(Delete(visit) for visit in file.visits)
            yield Delete(file.patient)

    @write("C11")
    def rename(self, patient: Patient, name: str) -> Writes:
        """Invalid: a primary key can't change."""
        yield Update(patient, patient=name)

    @write("C12")
    def come(self, patient: Patient, visit: Visit) -> Writes:
        """Register a patient with a first visit."""
        yield Put(patient)
        yield Put(visit)
