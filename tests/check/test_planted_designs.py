# mypy: disable-error-code="empty-body"
"""Planted flaws, two independent designs for each, and their correct twins: found in each, and not in the twin."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import StringConstraints, computed_field

from keyplan import (
    Add,
    Create,
    Delete,
    Design,
    Entity,
    Field,
    Index,
    Key,
    Put,
    Table,
    Ttl,
    Unique,
    Update,
    Writes,
    now,
    read,
    ulid,
    write,
)
from keyplan.analysis.check import check
from keyplan.analysis.traffic import traffic_from
from keyplan.cli.designs import find

G = Index("GSI1", "gpk", "gsk")
Folded = Annotated[str, StringConstraints(to_lower=True)]


# An index read that decides between two writes: KP311


class Waiting(Entity):
    course: str
    member: str
    since: datetime = Field(default_factory=now)
    status: Literal["waiting", "placed"] = "waiting"
    primary = Key("MEMBER#{member}", "WAIT#{course}")
    queue = Key("QUEUE#{course}", "{since}", index=G, when={"status": "waiting"})


class Course(Entity):
    course: str
    free: int = Field(default=0, ge=0)
    waiting: int = 0
    primary = Key("COURSE#{course}", "HEAD")


class Waitlist(Design):
    table = Table("waitlist", indexes=[G], entities=[Course])

    @read("R1", where={"status": "waiting"})
    def first(self, course: str, limit: int = 1) -> list[Waiting]: ...

    @write("W1")
    def leave(self, course: str) -> Writes:
        queue = yield from self.first.read(course)
        if queue:
            yield Update(queue[0], status="placed").only_if(status="waiting")
        else:
            yield Update(Course, course=course).set(free=Add(1))


class WaitlistCounted(Design):
    table = Table("waitlist", indexes=[G], entities=[Course])

    @read("R1", where={"status": "waiting"})
    def first(self, course: str, limit: int = 1) -> list[Waiting]: ...

    @write("W1")
    def leave(self, course: str) -> Writes:
        queue = yield from self.first.read(course)
        if queue:
            yield Update(queue[0], status="placed").only_if(status="waiting")
        else:
            yield Update(Course, course=course).set(free=Add(1)).only_if(waiting=0)


class Device(Entity):
    device_id: str
    serial: str
    seen: int = 0
    primary = Key("DEVICE#{device_id}", "HEAD")
    by_serial = Key("SERIAL#{serial}", "DEVICE", index=G)


class Devices(Design):
    table = Table("devices", indexes=[G])

    @read("R1")
    def of_serial(self, serial: str) -> Device | None: ...

    @write("W1")
    def seen(self, device_id: str, serial: str) -> Writes:
        device = yield from self.of_serial.read(serial)
        if device is None:
            yield Put(Device(device_id=device_id, serial=serial))
        else:
            yield Update(device, seen=Add(1))


class DevicesByKey(Design):
    table = Table("devices", indexes=[G])

    @read("R1")
    def device(self, device_id: str) -> Device | None: ...

    @read("R2")
    def of_serial(self, serial: str) -> list[Device]: ...

    @write("W1")
    def seen(self, device_id: str, serial: str) -> Writes:
        device = yield from self.device.read(device_id)
        if device is None:
            yield Create(Device(device_id=device_id, serial=serial))
        else:
            yield Update(device, seen=Add(1))


# A counter in one item at 4,000 writes/s: KP501


class Total(Entity):
    count: int = 0
    primary = Key("TOTAL", "HEAD")


class Counted(Design):
    table = Table("counted", entities=[Total])

    @read("R1")
    def total(self) -> Total | None: ...

    @write("W1", per_second=4000)
    def hit(self) -> Writes:
        yield Update(Total).set(count=Add(1)).or_create()


class Shard(Entity):
    shard: int = Field(ge=0, lt=16)
    count: int = 0
    primary = Key("TOTAL#{shard}", "HEAD")


class CountedApart(Design):
    table = Table("counted", entities=[Shard])

    @read("R1")
    def shard(self, shard: int) -> Shard | None: ...

    @write("W1", per_second=4000)
    def hit(self, shard: int) -> Writes:
        yield Update(Shard, shard=shard).set(count=Add(1)).or_create()


class Visits(Entity):
    page: Literal["home"] = "home"
    visits: int = 0
    primary = Key("VISITS#{page}", "HEAD")


class OnePage(Design):
    table = Table("pages", entities=[Visits])

    @read("R1")
    def visits(self, page: Literal["home"]) -> Visits | None: ...

    @write("W1", per_second=4000)
    def visit(self, page: Literal["home"]) -> Writes:
        yield Update(Visits, page=page).set(visits=Add(1)).or_create()


class PageVisits(Entity):
    page: str
    visits: int = 0
    primary = Key("VISITS#{page}", "HEAD")


class ManyPages(Design):
    table = Table("pages", entities=[PageVisits])

    @read("R1")
    def visits(self, page: str) -> PageVisits | None: ...

    @write("W1", per_second=4000)
    def visit(self, page: str) -> Writes:
        yield Update(PageVisits, page=page).set(visits=Add(1)).or_create()


# A day as text in a partition at 4,000 writes/s: KP203


class Click(Entity):
    day: str
    click_id: str = Field(default_factory=ulid)
    primary = Key("DAY#{day}", "{click_id}")


class Clicks(Design):
    table = Table("clicks")

    @read("R1")
    def of_day(self, day: str, limit: int = 10) -> list[Click]: ...

    @write("W1", per_second=4000)
    def click(self, day: str) -> Writes:
        yield Put(Click(day=day))


class UserClick(Entity):
    user_id: str
    day: str
    click_id: str = Field(default_factory=ulid)
    primary = Key("USER#{user_id}#DAY#{day}", "{click_id}")


class UserClicks(Design):
    table = Table("clicks")

    @read("R1")
    def of_day(self, user_id: str, day: str, limit: int = 10) -> list[UserClick]: ...

    @write("W1", per_second=4000)
    def click(self, user_id: str, day: str) -> Writes:
        yield Put(UserClick(user_id=user_id, day=day))


class Sample(Entity):
    sensor: str
    hour: str
    at: datetime
    primary = Key("SENSOR#{sensor}", "{at}")
    by_hour = Key("{hour}", "{at}", index=G)


class Samples(Design):
    table = Table("samples", indexes=[G])

    @read("R1")
    def of_hour(self, hour: str, limit: int = 10) -> list[Sample]: ...

    @write("W1", per_second=4000)
    def keep(self, sensor: str, hour: str, at: datetime) -> Writes:
        yield Put(Sample(sensor=sensor, hour=hour, at=at))


class SampleSpread(Entity):
    sensor: str
    hour: str
    at: datetime
    primary = Key("SENSOR#{sensor}", "{at}")
    by_hour = Key("{hour}", "{at}", index=G, shards=16)


class SamplesSpread(Design):
    table = Table("samples", indexes=[G])

    @read("R1")
    def of_hour(self, hour: str, limit: int = 10) -> list[SampleSpread]: ...

    @write("W1", per_second=4000)
    def keep(self, sensor: str, hour: str, at: datetime) -> Writes:
        yield Put(SampleSpread(sensor=sensor, hour=hour, at=at))


# Unique without case folding: KP213; money as float, a version as text: KP211


class Account(Entity):
    account_id: str
    email: str
    balance: float = 0.0
    primary = Key("ACCOUNT#{account_id}", "HEAD")
    by_email = Unique("EMAIL#{email}")


class AccountFolded(Entity):
    account_id: str
    email: Folded
    balance: Decimal = Decimal(0)
    primary = Key("ACCOUNT#{account_id}", "HEAD")
    by_email = Unique("EMAIL#{email}")


class Player(Entity):
    player_id: str
    username: str
    primary = Key("PLAYER#{player_id}", "HEAD")
    by_name = Unique("NAME#{username}")


class PlayerFolded(Entity):
    player_id: str
    username: Folded
    primary = Key("PLAYER#{player_id}", "HEAD")
    by_name = Unique("NAME#{username}")


class Invoice(Entity):
    invoice_id: str
    total_price: float
    rate: float = 0.1
    primary = Key("INVOICE#{invoice_id}", "HEAD")


class InvoiceExact(Entity):
    invoice_id: str
    total_price: int
    rate: float = 0.1
    primary = Key("INVOICE#{invoice_id}", "HEAD")


class Release(Entity):
    package: str
    version: str
    primary = Key("PACKAGE#{package}", "VERSION#{version}")


class ReleaseNumbered(Entity):
    package: str
    version: int
    primary = Key("PACKAGE#{package}", "VERSION#{version:08d}")


class Firmware(Entity):
    model: str
    firmware_version: str
    primary = Key("MODEL#{model}", "{firmware_version}")


class FirmwareParts(Entity):
    model: str
    major: int
    minor: int
    primary = Key("MODEL#{model}", "{major:04d}#{minor:04d}")


def design(entity: type[Entity], *others: type[Entity]) -> type[Design]:
    """A design of these entities, without patterns."""
    table = Table("things", indexes=[G], entities=[entity, *others])
    return type(f"Of{entity.__name__}", (Design,), {"table": table})


# A stock that can go negative, a state changed from any state: KP313


class Stock(Entity):
    sku: str
    units: int = 0
    state: Literal["new", "active", "retired"] = "new"
    primary = Key("SKU#{sku}", "HEAD")


class StockBounded(Entity):
    sku: str
    units: Annotated[int, Field(ge=0)] = 0
    state: Literal["new", "active", "retired"] = "new"
    primary = Key("SKU#{sku}", "HEAD")


class Shop(Design):
    table = Table("shop", entities=[Stock])

    @write("W1")
    def sell(self, sku: str, quantity: int) -> Writes:
        yield Update(Stock, sku=sku).set(units=Add(-quantity))

    @write("W2")
    def retire(self, sku: str) -> Writes:
        yield Update(Stock, sku=sku).set(state="retired")


class ShopBounded(Design):
    table = Table("shop", entities=[StockBounded])

    @write("W1")
    def sell(self, sku: str, quantity: int) -> Writes:
        yield Update(StockBounded, sku=sku).set(units=Add(-quantity))

    @write("W2")
    def retire(self, sku: str) -> Writes:
        yield Update(StockBounded, sku=sku).set(state="retired").only_if(state="active")


class Purse(Entity):
    user_id: str
    credit: int = 0
    status: Literal["open", "frozen", "closed"] = "open"
    primary = Key("PURSE#{user_id}", "HEAD")


class Purses(Design):
    table = Table("purses", entities=[Purse])

    @read("R1")
    def purse(self, user_id: str) -> Purse | None: ...

    @write("W1")
    def pay(self, user_id: str, price: int) -> Writes:
        yield Update(Purse, user_id=user_id).set(credit=Add(-price))

    @write("W2")
    def end(self, purse: Purse) -> Writes:
        yield Update(purse, status="closed")


class PursesGuarded(Design):
    table = Table("purses", entities=[Purse])

    @write("W1")
    def pay(self, user_id: str, price: int) -> Writes:
        yield Update(Purse, user_id=user_id).set(credit=Add(-price)).only_if("credit >= :price", price=price)

    @write("W2")
    def end(self, purse: Purse) -> Writes:
        yield Update(purse, status="closed").only_if(status=purse.status)


# Expiry of records that must be kept: KP602; few values as free text in an index: KP202


class AuditEntry(Entity):
    subject: str
    at: datetime
    expires: Ttl
    primary = Key("SUBJECT#{subject}", "{at}")


class AuditKept(Entity):
    subject: str
    at: datetime
    primary = Key("SUBJECT#{subject}", "{at}")


class LedgerLine(Entity):
    account: str
    number: int
    gone_at: Ttl
    primary = Key("ACCOUNT#{account}", "{number:08d}")


class LedgerKept(Entity):
    account: str
    number: int
    primary = Key("ACCOUNT#{account}", "{number:08d}")


class Customer(Entity):
    customer_id: str
    country: str
    joined: date
    primary = Key("CUSTOMER#{customer_id}", "HEAD")
    by_country = Key("COUNTRY#{country}", "{joined}#{customer_id}", index=G)


class CustomerSpread(Entity):
    customer_id: str
    country: str
    joined: date
    primary = Key("CUSTOMER#{customer_id}", "HEAD")
    by_country = Key("COUNTRY#{country}", "{joined}#{customer_id}", index=G, shards=8)


class Listing(Entity):
    listing_id: str
    category: str
    price: int
    primary = Key("LISTING#{listing_id}", "HEAD")
    by_category = Key("{category}", "{price:08d}", index=G)


class ListingOfShop(Entity):
    listing_id: str
    shop_id: str
    category: str
    price: int
    primary = Key("LISTING#{listing_id}", "HEAD")
    by_category = Key("SHOP#{shop_id}#{category}", "{price:08d}", index=G)


# Advice that was wrong: correct designs alone


class Session(Entity):
    token_hash: str
    tenant_id: str
    primary = Key("SESSION#{token_hash}", "HEAD")


class Address(Entity):
    address_id: str
    city: str
    state: str
    primary = Key("ADDRESS#{address_id}", "HEAD")
    by_place = Key("STATE#{state}", "{city}", index=G, shards=4)


class LatestPosition(Entity):
    vehicle_id: str
    at: datetime
    place: str
    primary = Key("VEHICLE#{vehicle_id}", "HEAD")


class Positions(Design):
    table = Table("positions", entities=[LatestPosition])

    @read("R1")
    def position(self, vehicle_id: str) -> LatestPosition | None: ...

    @write("W1")
    def report(self, vehicle_id: str, at: datetime, place: str) -> Writes:
        yield Put(LatestPosition(vehicle_id=vehicle_id, at=at, place=place))


# A tenant missing in an index key, where an id names an item within its tenant only: KP212


class Team(Entity):
    tenant_id: str
    team_id: str
    primary = Key("TENANT#{tenant_id}", "TEAM#{team_id}")


class Ticket(Entity):
    tenant_id: str
    ticket_id: str = Field(default_factory=ulid)
    team_id: str
    primary = Key("TENANT#{tenant_id}", "TICKET#{ticket_id}")
    by_team = Key("TEAM#{team_id}", "{ticket_id}", index=G)


class TicketOfTenant(Entity):
    tenant_id: str
    ticket_id: str = Field(default_factory=ulid)
    team_id: str
    primary = Key("TENANT#{tenant_id}", "TICKET#{ticket_id}")
    by_team = Key("TENANT#{tenant_id}#TEAM#{team_id}", "{ticket_id}", index=G)


class Folder(Entity):
    workspace: str
    folder_id: str
    primary = Key("{workspace}", "FOLDER#{folder_id}")


class FolderMade(Entity):
    workspace: str
    folder_id: str = Field(default_factory=ulid)
    primary = Key("{workspace}", "FOLDER#{folder_id}")


class Document(Entity):
    workspace: str
    folder_id: str
    title: str
    primary = Key("{workspace}", "DOCUMENT#{title}")
    by_folder = Key("IN#{folder_id}", "{title}", index=G)


# An id that is counted up and names the partition: KP308 where it is counted by reading, KP501 where often


class Counter(Entity):
    name: str
    last: int = 0
    primary = Key("COUNTER#{name}", "HEAD")


class Bill(Entity):
    number: int
    primary = Key("BILL#{number}", "HEAD")


class Bills(Design):
    table = Table("bills", entities=[Bill])

    @read("R1")
    def counter(self, name: str) -> Counter: ...

    @read("R2")
    def bill(self, number: int) -> Bill | None: ...

    @write("W1")
    def add(self) -> Writes:
        counter = yield from self.counter.read("bills")
        yield Update(counter, last=counter.last + 1)
        yield Put(Bill(number=counter.last + 1))


class BillsExpected(Bills):
    table = Table("bills", entities=[Bill])

    @write("W1")
    def add(self) -> Writes:
        counter = yield from self.counter.read("bills")
        yield Update(counter, last=counter.last + 1).only_if(last=counter.last)
        yield Create(Bill(number=counter.last + 1))


class Sequence(Entity):
    last: int = 0
    primary = Key("SEQUENCE", "HEAD")


class Parcel(Entity):
    number: int
    primary = Key("PARCEL#{number}", "HEAD")


class ParcelMade(Entity):
    parcel_id: str = Field(default_factory=ulid)
    primary = Key("PARCEL#{parcel_id}", "HEAD")


class Parcels(Design):
    table = Table("parcels", entities=[Parcel, Sequence])

    @read("R1")
    def sequence(self) -> Sequence: ...

    @write("W1", per_second=2000)
    def send(self) -> Writes:
        sequence = yield from self.sequence.read()
        yield Update(sequence, last=Add(1)).only_if(last=sequence.last)
        yield Create(Parcel(number=sequence.last + 1))


class ParcelsMade(Design):
    table = Table("parcels", entities=[ParcelMade])

    @write("W1", per_second=2000)
    def send(self) -> Writes:
        yield Create(ParcelMade())


# Items that remain after the one they belong to is deleted: KP321


class Order(Entity):
    order_id: str = Field(default_factory=ulid)
    primary = Key("ORDER#{order_id}", "HEAD")


class Line(Entity):
    order_id: str
    line: int
    primary = Key("ORDER#{order_id}", "LINE#{line:04d}")


class Orders(Design):
    table = Table("orders", entities=[Order])

    @read("R1")
    def lines(self, order_id: str, limit: int = 100) -> list[Line]: ...

    @write("W1")
    def cancel(self, order_id: str) -> Writes:
        yield Delete(Order, order_id=order_id)


class OrdersWhole(Design):
    table = Table("orders", entities=[Order])

    @read("R1")
    def lines(self, order_id: str, limit: int = 100) -> list[Line]: ...

    @write("W1")
    def cancel(self, order_id: str) -> Writes:
        for line in (yield from self.lines.read(order_id, limit=99)):
            yield Delete(line)
        yield Delete(Order, order_id=order_id)


class Thread(Entity):
    thread_id: str
    title: str
    primary = Key("{thread_id}", "HEAD")


class Reply(Entity):
    thread_id: str
    reply_id: str = Field(default_factory=ulid)
    primary = Key("{thread_id}", "REPLY#{reply_id}")


class Threads(Design):
    table = Table("threads")

    @read("R1")
    def thread(self, thread_id: str) -> Thread | None: ...

    @read("R2", newest_first=True)
    def replies(self, thread_id: str, limit: int = 20) -> list[Reply]: ...

    @write("W1")
    def end(self, thread: Thread) -> Writes:
        yield Delete(thread)


class ReplyGone(Entity):
    thread_id: str
    reply_id: str = Field(default_factory=ulid)
    expires: Ttl
    primary = Key("{thread_id}", "REPLY#{reply_id}")


class ThreadsExpiring(Design):
    table = Table("threads")

    @read("R1")
    def thread(self, thread_id: str) -> Thread | None: ...

    @read("R2", newest_first=True)
    def replies(self, thread_id: str, limit: int = 20) -> list[ReplyGone]: ...

    @write("W1")
    def end(self, thread: Thread) -> Writes:
        yield Delete(thread)


class Basket(Entity):
    user_id: str
    total: int = 0
    primary = Key("USER#{user_id}", "BASKET")


class Purchase(Entity):
    user_id: str
    purchase_id: str = Field(default_factory=ulid)
    primary = Key("USER#{user_id}", "PURCHASE#{purchase_id}")


class Checkout(Design):
    """A basket is in its user's partition, and a purchase isn't the basket's."""

    table = Table("checkout", entities=[Basket])

    @read("R1", newest_first=True)
    def purchases(self, user_id: str, limit: int = 20) -> list[Purchase]: ...

    @write("W1")
    def buy(self, user_id: str) -> Writes:
        yield Create(Purchase(user_id=user_id))
        yield Delete(Basket, user_id=user_id)


# A local day beside moments in UTC: KP216


class Entry(Entity):
    user_id: str
    day: date = Field(default_factory=date.today)
    at: datetime = Field(default_factory=now)
    primary = Key("USER#{user_id}#{day}", "{at}")


class EntryInUtc(Entity):
    user_id: str
    at: datetime = Field(default_factory=now)
    primary = Key("USER#{user_id}#{day}", "{at}")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def day(self) -> date:
        return self.at.date()


class Meal(Entity):
    user_id: str
    day: date
    at: datetime = Field(default_factory=now)
    primary = Key("USER#{user_id}", "{day}#{at}")


class Meals(Design):
    table = Table("meals", entities=[Meal])

    @write("W1")
    def eat(self, user_id: str) -> Writes:
        today = date.today()  # noqa: DTZ011 - the flaw
        yield Create(Meal(user_id=user_id, day=today))


class MealsInUtc(Design):
    table = Table("meals", entities=[Meal])

    @write("W1")
    def eat(self, user_id: str) -> Writes:
        yield Create(Meal(user_id=user_id, day=now().date()))


class Shift(Entity):
    user_id: str
    day: date = Field(default_factory=lambda: datetime.now().date())  # noqa: DTZ005 - the flaw
    primary = Key("USER#{user_id}", "{day}")


class ShiftInUtc(Entity):
    user_id: str
    day: date = Field(default_factory=lambda: datetime.now(UTC).date())
    primary = Key("USER#{user_id}", "{day}")


def found(cls: type[Design]) -> set[str]:
    return {finding.code for finding in check(cls).findings}


FLAWS: list[tuple[str, type[Design], type[Design]]] = [
    ("KP311", Waitlist, WaitlistCounted),
    ("KP311", Devices, DevicesByKey),
    ("KP501", Counted, CountedApart),
    ("KP501", OnePage, ManyPages),
    ("KP203", Clicks, UserClicks),
    ("KP203", Samples, SamplesSpread),
    ("KP213", design(Account), design(AccountFolded)),
    ("KP213", design(Player), design(PlayerFolded)),
    ("KP211", design(Account), design(AccountFolded)),
    ("KP211", design(Invoice), design(InvoiceExact)),
    ("KP211", design(Release), design(ReleaseNumbered)),
    ("KP211", design(Firmware), design(FirmwareParts)),
    ("KP313", Shop, ShopBounded),
    ("KP313", Purses, PursesGuarded),
    ("KP602", design(AuditEntry), design(AuditKept)),
    ("KP602", design(LedgerLine), design(LedgerKept)),
    ("KP202", design(Customer), design(CustomerSpread)),
    ("KP202", design(Listing), design(ListingOfShop)),
    ("KP212", design(Ticket, Team), design(TicketOfTenant, Team)),
    ("KP212", design(Document, Folder), design(Document, FolderMade)),
    ("KP308", Bills, BillsExpected),
    ("KP501", Parcels, ParcelsMade),
    ("KP321", Orders, OrdersWhole),
    ("KP321", Threads, ThreadsExpiring),
    ("KP216", design(Entry), design(EntryInUtc)),
    ("KP216", design(Shift), design(ShiftInUtc)),
    ("KP216", Meals, MealsInUtc),
]


@pytest.mark.parametrize(("code", "flawed", "correct"), FLAWS, ids=lambda value: getattr(value, "__name__", value))
def test_a_flaw_is_found_and_not_in_its_twin(code: str, flawed: type[Design], correct: type[Design]) -> None:
    assert code in found(flawed)
    assert code not in found(correct)


@pytest.mark.parametrize("cls", [Shop, Purses])
def test_each_unexpected_change_is_found(cls: type[Design]) -> None:
    places = {finding.place for finding in check(cls).findings if finding.code == "KP313"}
    assert places == {pattern.place for pattern in cls.compiled.writes.values()}


@pytest.mark.parametrize(
    ("code", "cls"),
    [("KP212", design(Session)), ("KP211", design(Address)), ("KP306", Positions), ("KP321", Checkout)],
)
def test_a_correct_design_gets_no_wrong_advice(code: str, cls: type[Design]) -> None:
    assert code not in found(cls)


MODULE = """
from keyplan import Design, Entity, Key, Table, read

class Shelf(Entity):
    shelf: str
    primary = Key("SHELF#{{shelf}}", "HEAD")

class {name}(Entity):
    shelf: str
    name: str
    primary = Key("SHELF#{{shelf}}", "NAME#{{name}}")

class Library(Design):
    table = Table("library", entities=[{entities}])

    @read("R1")
    def shelf(self, shelf: str) -> Shelf | None: ...

    @read("R2")
    def of_shelf(self, shelf: str, limit: int = 10) -> list[{read}]: ...
"""


@pytest.mark.parametrize(
    ("name", "entities", "read_", "unread"),
    [
        ("Book", "", "Shelf", {"Book"}),
        ("Loan", "Loan", "Shelf", {"Loan"}),
        ("Tape", "", "Tape", set()),
        ("Disc", "Disc", "Disc", set()),
    ],
)
def test_an_entity_that_no_pattern_names_is_found(
    tmp_path: Path, name: str, entities: str, read_: str, unread: set[str]
) -> None:
    path = tmp_path / "library.py"
    path.write_text(MODULE.format(name=name, entities=entities, read=read_), encoding="utf-8")
    findings = check(find(str(path)).design).findings
    assert {finding.place for finding in findings if finding.code == "KP310"} == unread


@pytest.mark.parametrize(("rate", "advice"), [(4800, "shards=8 is enough"), (8000, "set shards=12")])
def test_shards_are_advised_beyond_those_that_a_key_has(rate: int, advice: str) -> None:
    class Event(Entity):
        kind: Literal["x"] = "x"
        event_id: str = Field(default_factory=ulid)
        primary = Key("EVENTS#{kind}", "{event_id}", shards=8)

    class Events(Design):
        table = Table("events")

        @read("R1")
        def events(self, kind: Literal["x"], limit: int = 10) -> list[Event]: ...

        @write("W1")
        def add(self) -> Writes:
            yield Put(Event())

    traffic = traffic_from({"patterns": {"add": {"per_second": rate}}}, Events.compiled)
    hints = [finding.hint for finding in check(Events, traffic).findings if finding.code == "KP501"]
    assert any(advice in hint for hint in hints), hints
