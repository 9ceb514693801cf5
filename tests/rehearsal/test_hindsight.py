# mypy: disable-error-code="empty-body"
"""A trial that fails says what the next one needs: states, sums, times, ids of what is there, elements of a list."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel

from keyplan import Create, Delete, Design, Entity, Field, Key, Table, Unique, Update, Writes, now, read, write
from keyplan.analysis.explain.explanation import explain
from keyplan.analysis.rehearsal.account import Accounts
from keyplan.analysis.rehearsal.hindsight import _nearby
from keyplan.errors import Refused
from keyplan_systems.shop.design import Shop
from tests.cost.test_prediction import Compared, check_typical_writes

RUNS_MAX = 12
Place = Annotated[str, Field(min_length=1, max_length=30)]


class Stage(Enum):
    PLANNED = "planned"
    OPEN = "open"
    OVER = "over"


class Spot(BaseModel):
    country: str = "DE"
    height: int = 400


class Trip(Entity):
    trip_id: Place
    stage: Stage = Stage.PLANNED
    price: Decimal = Decimal(10)
    starts: datetime
    ended: datetime | None = Field(default_factory=now)
    seats: Annotated[int, Field(ge=1, le=9)] = 1
    hidden: bool = True
    spot: Spot = Spot()

    primary = Key("TRIP#{trip_id}", "HEAD")


class Seat(Entity):
    trip_id: Place
    seat_id: Place
    state: Literal["free", "held", "sold"] = "free"
    number: Annotated[int, Field(ge=1)] = 1

    primary = Key("TRIP#{trip_id}", "SEAT#{seat_id}")


class Guest(Entity):
    guest_id: Place
    email: Place | None = None
    label: str = ""

    primary = Key("GUEST#{guest_id}", "HEAD")
    by_email = Unique("EMAIL#{email}")


class Trips(Design):
    table = Table("trips")

    @read("T1")
    def trip(self, trip_id: Place) -> Trip | None: ...

    @read("T2")
    def seats(self, trip_id: Place) -> list[Seat]: ...

    def _open(self, trip_id: str) -> Writes[Trip]:
        trip = yield from self.trip.read(trip_id)
        if trip is None or trip.stage is not Stage.OPEN:
            raise Refused("no open trip")
        return trip

    @write("W1")
    def in_a_stage(self, trip_id: Place) -> Writes:
        trip = yield from self._open(trip_id)
        if trip.hidden and not trip.seats > 3:
            raise Refused("hidden")
        if trip.spot.country != "CH" or trip.spot.height < 2000:
            raise Refused("not in the Alps")
        yield Update(trip, stage=Stage.OVER)

    @write("W2")
    def for_a_price(self, trip_id: Place, paid: Decimal) -> Writes:
        trip = yield from self._open(trip_id)
        rest = trip.price * 2 - paid
        if rest > 0:
            raise Refused("too little")
        yield Update(trip, price=paid)

    @write("W3")
    def in_time(self, trip_id: Place) -> Writes:
        trip = yield from self.trip.read(trip_id)
        assert trip is not None
        assert trip.starts > now() + timedelta(days=3)
        if trip.ended is not None:
            raise Refused("it is over")
        yield Update(trip, ended=now())

    @write("W4")
    def one_of_them(self, trip_id: Place, seat_id: Place) -> Writes:
        seats = yield from self.seats.read(trip_id)
        seat = next((seat for seat in seats if seat.seat_id == seat_id and seat.number > 1), None)
        if seat is None:
            raise Refused("no such seat")
        if seat.state not in {"held", "sold"} or seat.state == "sold":
            raise Refused("not held")
        yield Delete(seat)

    @write("W5")
    def some_of_them(self, trip_id: Place, wanted: dict[Place, int]) -> Writes:
        left = Counter[str]()
        for seat in (yield from self.seats.read(trip_id)):
            left[seat.seat_id] += seat.number
        faults = [name for name, number in wanted.items() if number > left[name]]
        if faults:
            raise Refused(", ".join(faults))
        for name in wanted:
            yield Update(Seat, trip_id=trip_id, seat_id=name).set(state="held")

    @write("W6")
    def another_one(self, trip_id: Place, seat_id: Place) -> Writes:
        seats = yield from self.seats.read(trip_id)
        if any(seat.seat_id == seat_id for seat in seats):
            if len(seats) > 2:
                raise Refused("there already")
            return
        yield Create(Seat(trip_id=trip_id, seat_id=seat_id))

    @read("T3")
    def guest(self, guest_id: Place) -> Guest | None: ...

    @read("T4", consistent=True)
    def guest_of(self, email: Place) -> Guest | None: ...

    @write("W7")
    def a_free_value(self, guest_id: Place, email: Place) -> Writes:
        guest = yield from self.guest.read(guest_id)
        other = yield from self.guest_of.read(email)
        if guest is None or (other is not None and other.guest_id != guest_id):
            raise Refused("taken")
        yield Update(guest, email=email)

    @write("W8")
    def beside_it(self, seat_id: Place, trip_id: Place, seat: Seat) -> Writes:
        seats = yield from self.seats.read(trip_id)
        if not any(each.seat_id == seat_id for each in seats):
            raise Refused("no such seat")
        yield Create(seat)

    @write("W9")
    def another_field(self, guest_id: Place, label: str) -> Writes:
        yield Update(Guest, guest_id=guest_id).set(label=label)


class Never(Design):
    table = Table("never", entities=[Trip])

    @read("N1")
    def trip(self, trip_id: Place) -> Trip | None: ...

    @write("N2")
    def never(self, trip_id: Place) -> Writes:
        trip = yield from self.trip.read(trip_id)
        if trip is None or 1 / (trip.seats - trip.seats) < 1:
            raise Refused("not this one")
        yield Delete(trip)

    @write("N3")
    def never_either(self, trip_id: Place) -> Writes:
        if len(trip_id) < 1000:
            raise Refused("a short one")
        yield Delete(Trip, trip_id=trip_id)


ACCOUNTS = Accounts(Trips.compiled, Trips)


@pytest.mark.parametrize("name", Trips.compiled.writes)
def test_a_trial_finds_what_the_body_asks_for(name: str) -> None:
    tried = ACCOUNTS.of(Trips.compiled.writes[name]).tried
    assert tried is not None
    assert tried.failure is None
    assert tried.rehearsal is not None
    assert tried.rehearsal.items
    assert tried.runs <= RUNS_MAX


RUNS: dict[type[Design], dict[str, int]] = {
    Trips: {
        "in_a_stage": 9, "for_a_price": 8, "in_time": 8, "one_of_them": 4, "some_of_them": 4, "another_one": 4,
        "a_free_value": 5, "beside_it": 3,
    },
    Never: {"never": 81, "never_either": 53},
    Shop: {
        "place_order": 3, "order_cart": 20, "pay": 5, "ship": 5, "release": 5, "refund": 6, "settle_refund": 5,
        "request_return": 8, "receive_return": 7, "refuse_return": 5, "list_product": 95, "leave": 5,
    },
}  # fmt: skip
"""How often bodies are run until they go through, where it is more than once."""


@pytest.mark.parametrize("design", RUNS, ids=lambda design: design.__name__)
def test_no_more_is_tried_than_was_before(design: type[Design]) -> None:
    accounts = Accounts(design.compiled, design)
    tried = {name: accounts.of(pattern).tried for name, pattern in design.compiled.writes.items()}
    assert {name: each.runs for name, each in tried.items() if each is not None and each.runs > 1} == RUNS[design]


def test_what_it_finds_goes_through_on_a_store_at_that_cost() -> None:
    compared = Compared()
    check_typical_writes(Trips, compared)
    assert compared.writes.keys() == Trips.compiled.writes.keys()
    tried = ACCOUNTS.of(Trips.compiled.writes["a_free_value"]).tried
    assert tried is not None
    assert tried.rehearsal is not None
    assert tried.rehearsal.mutations[-1].what == "claim by_email"


def test_an_update_is_a_transaction_only_where_it_takes_a_unique_value() -> None:
    assert explain(Trips, "another_field").operation == "UpdateItem"
    assert explain(Trips, "a_free_value").operation == "TransactWriteItems"


@pytest.mark.parametrize(
    ("name", "failure"), [("never", "ZeroDivisionError: division by zero"), ("never_either", "a short one")]
)
def test_what_no_value_helps_fails_as_before(name: str, failure: str) -> None:
    tried = Accounts(Never.compiled, Never).of(Never.compiled.writes[name]).tried
    assert tried is not None
    assert failure in (tried.failure or "")


class Passenger(Entity):
    passenger_id: str
    trip_id: str | None = None
    seat_id: int = 7
    name: str = "Ada"

    primary = Key("PASSENGER#{passenger_id}", "HEAD")


@pytest.mark.parametrize(
    ("name", "value", "tried"),
    [
        ("name", "x", ["Ada", "Joan"]),
        ("nothing", "x", []),
        ("trip_id", "x", ["t1"]),
        ("names", ["a", "b"], [["a"], ["b"], ["p1"], ["t1"], ["p2"]]),
        ("names", {"a"}, [{"a"}, {"p1"}, {"t1"}, {"p2"}]),
        ("numbers", (1, 2), [(1,), (2,)]),
        ("counts", {"a": 3, "b": 2}, [{"a": 3}, {"b": 2}, {"p1": 2}, {"t1": 2}, {"p2": 2}]),
        ("names", [], []),
        ("number", 3, []),
    ],
)
def test_what_is_tried_in_the_place_of_a_value(name: str, value: Any, tried: list[Any]) -> None:
    """Values that are there under its name; of several the single ones, and the ids that are there."""
    there = [Passenger(passenger_id="p1", trip_id="t1"), Passenger(passenger_id="p2", name="Joan")]
    assert _nearby(name, value, there) == tried
