"""For each known flaw, the check finds it in two independent designs, and no longer finds it after the correction."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from keyplan import Design
from keyplan.analysis.check import check
from keyplan.analysis.traffic import traffic_from
from keyplan.cli.designs import find
from tests.diff.shop import loaded

HEAD = """
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import StringConstraints, computed_field

from keyplan import *

G = Index("GSI1", "gpk", "gsk")
Folded = Annotated[str, StringConstraints(to_lower=True)]
"""


def designed(text: str) -> type[Design]:
    """A design built from a string: its entities, then ``---``, then its access patterns."""
    entities, _, patterns = text.partition("---\n")
    names = ", ".join(re.findall(r"^class (\w+)\(Entity\)", entities, re.MULTILINE))
    table = f'    table = Table("things", indexes=[G], entities=[{names}])\n'
    return loaded(f"{HEAD}\n{entities}\nclass Shop(Design):\n{table}{textwrap.indent(patterns, '    ')}")


def found(text: str) -> set[str]:
    return {finding.code for finding in check(designed(text)).findings}


STOCK = """
class Stock(Entity):
    sku: str
    units: int = 0
    state: Literal["new", "active", "retired"] = "new"
    primary = Key("SKU#{sku}", "HEAD")
---
@write("W1")
def sell(self, sku: str, quantity: int) -> Writes:
    yield Update(Stock, sku=sku).set(units=Add(-quantity))

@write("W2")
def retire(self, sku: str) -> Writes:
    yield Update(Stock, sku=sku).set(state="retired")
"""
PURSE = """
class Purse(Entity):
    user_id: str
    credit: int = 0
    status: Literal["open", "frozen", "closed"] = "open"
    primary = Key("PURSE#{user_id}", "HEAD")
---
@write("W1")
def pay(self, user_id: str, price: int) -> Writes:
    yield Update(Purse, user_id=user_id).set(credit=Add(-price))

@write("W2")
def end(self, purse: Purse) -> Writes:
    yield Update(purse, status="closed")
"""
ACCOUNT = """
class Account(Entity):
    account_id: str
    email: str
    balance: float = 0.0
    primary = Key("ACCOUNT#{account_id}", "HEAD")
    by_email = Unique("EMAIL#{email}")
"""
ACCOUNT_CORRECTED = {"email: str": "email: Folded", "balance: float = 0.0": "balance: Decimal = Decimal(0)"}

FLAWS: dict[str, tuple[str, str, dict[str, str]]] = {
    "waitlist: an index read that decides between two writes": (
        "KP311",
        """
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
---
@read("R1", where={"status": "waiting"})
def first(self, course: str, limit: int = 1) -> list[Waiting]: ...

@write("W1")
def leave(self, course: str) -> Writes:
    queue = yield from self.first.read(course)
    if queue:
        yield Update(queue[0], status="placed").only_if(status="waiting")
    else:
        yield Update(Course, course=course).set(free=Add(1))
""",
        {".set(free=Add(1))": ".set(free=Add(1)).only_if(waiting=0)"},
    ),
    "devices: an index read that decides between two writes": (
        "KP311",
        """
class Device(Entity):
    device_id: str
    serial: str
    seen: int = 0
    primary = Key("DEVICE#{device_id}", "HEAD")
    by_serial = Key("SERIAL#{serial}", "DEVICE", index=G)
---
@read("R1")
def device(self, device_id: str) -> Device | None: ...

@read("R2")
def of_serial(self, serial: str) -> Device | None: ...

@write("W1")
def seen(self, device_id: str, serial: str) -> Writes:
    device = yield from self.of_serial.read(serial)
    if device is None:
        yield Create(Device(device_id=device_id, serial=serial))
    else:
        yield Update(device, seen=Add(1))
""",
        {"self.of_serial.read(serial)": "self.device.read(device_id)"},
    ),
    "a counter in one item": (
        "KP501",
        """
class Total(Entity):
    shard: int = Field(ge=0, lt=16)
    count: int = 0
    primary = Key("TOTAL", "HEAD#{shard:02d}")
---
@read("R1")
def total(self, shard: int) -> Total | None: ...

@write("W1", per_second=4000)
def hit(self, shard: int) -> Writes:
    yield Update(Total, shard=shard).set(count=Add(1)).or_create()
""",
        {'"TOTAL", "HEAD#{shard:02d}"': '"TOTAL#{shard}", "HEAD"'},
    ),
    "a counter per page, of one page": (
        "KP501",
        """
class Visits(Entity):
    page: Literal["home"]
    visits: int = 0
    primary = Key("VISITS#{page}", "HEAD")
---
@read("R1")
def visits(self, page: Literal["home"]) -> Visits | None: ...

@write("W1", per_second=4000)
def visit(self, page: Literal["home"]) -> Writes:
    yield Update(Visits, page=page).set(visits=Add(1)).or_create()
""",
        {'Literal["home"]': "str"},
    ),
    "clicks: a day as the partition": (
        "KP203",
        """
class Click(Entity):
    user_id: str
    day: str
    click_id: str = Field(default_factory=ulid)
    primary = Key("DAY#{day}", "{click_id}")
---
@read("R1")
def of_day(self, day: str, limit: int = 10) -> list[Click]: ...

@write("W1", per_second=4000)
def click(self, user_id: str, day: str) -> Writes:
    yield Put(Click(user_id=user_id, day=day))
""",
        {'"DAY#{day}"': '"USER#{user_id}#DAY#{day}"', "of_day(self, day": "of_day(self, user_id: str, day"},
    ),
    "samples: an hour as an index partition": (
        "KP203",
        """
class Sample(Entity):
    sensor: str
    hour: str
    at: datetime
    primary = Key("SENSOR#{sensor}", "{at}")
    by_hour = Key("{hour}", "{at}", index=G)
---
@read("R1")
def of_hour(self, hour: str, limit: int = 10) -> list[Sample]: ...

@write("W1", per_second=4000)
def keep(self, sensor: str, hour: str, at: datetime) -> Writes:
    yield Put(Sample(sensor=sensor, hour=hour, at=at))
""",
        {"index=G": "index=G, shards=16"},
    ),
    "a unique email without case folding": ("KP213", ACCOUNT, ACCOUNT_CORRECTED),
    "a unique user name without case folding": (
        "KP213",
        """
class Player(Entity):
    player_id: str
    username: str
    primary = Key("PLAYER#{player_id}", "HEAD")
    by_name = Unique("NAME#{username}")
""",
        {"username: str": "username: Folded"},
    ),
    "a balance as float": ("KP211", ACCOUNT, ACCOUNT_CORRECTED),
    "a price as float": (
        "KP211",
        """
class Invoice(Entity):
    invoice_id: str
    total_price: float
    rate: float = 0.1
    primary = Key("INVOICE#{invoice_id}", "HEAD")
""",
        {"total_price: float": "total_price: int"},
    ),
    "a release version as text": (
        "KP211",
        """
class Release(Entity):
    package: str
    version: str
    primary = Key("PACKAGE#{package}", "VERSION#{version}")
""",
        {"version: str": "version: int", "{version}": "{version:08d}"},
    ),
    "a firmware version as text": (
        "KP211",
        """
class Firmware(Entity):
    model: str
    firmware_version: str
    primary = Key("MODEL#{model}", "{firmware_version}")
""",
        {"firmware_version: str": "major: int\n    minor: int", "{firmware_version}": "{major:04d}#{minor:04d}"},
    ),
    "a stock that can be negative, a state changed from any state": (
        "KP313",
        STOCK,
        {
            "units: int = 0": "units: int = Field(default=0, ge=0)",
            'set(state="retired")': 'set(state="retired").only_if(state="active")',
        },
    ),
    "a credit that can be negative, a status changed from any status": (
        "KP313",
        PURSE,
        {
            "credit=Add(-price))": 'credit=Add(-price)).only_if("credit >= :price", price=price)',
            'status="closed")\n': 'status="closed").only_if(status=purse.status)\n',
        },
    ),
    "expiry of audit entries": (
        "KP602",
        """
class AuditEntry(Entity):
    subject: str
    at: datetime
    expires: Ttl
    primary = Key("SUBJECT#{subject}", "{at}")
""",
        {"    expires: Ttl\n": ""},
    ),
    "expiry of ledger lines": (
        "KP602",
        """
class LedgerLine(Entity):
    account: str
    number: int
    gone_at: Ttl
    primary = Key("ACCOUNT#{account}", "{number:08d}")
""",
        {"    gone_at: Ttl\n": ""},
    ),
    "a country as text as an index partition": (
        "KP202",
        """
class Customer(Entity):
    customer_id: str
    country: str
    joined: date
    primary = Key("CUSTOMER#{customer_id}", "HEAD")
    by_country = Key("COUNTRY#{country}", "{joined}#{customer_id}", index=G)
""",
        {"index=G": "index=G, shards=8"},
    ),
    "a category as text as an index partition": (
        "KP202",
        """
class Listing(Entity):
    listing_id: str
    shop_id: str
    category: str
    price: int
    primary = Key("LISTING#{listing_id}", "HEAD")
    by_category = Key("{category}", "{price:08d}", index=G)
""",
        {'"{category}"': '"SHOP#{shop_id}#{category}"'},
    ),
    "a tenant missing in an index key": (
        "KP212",
        """
class Ticket(Entity):
    tenant_id: str
    ticket_id: str = Field(default_factory=ulid)
    team_id: str
    primary = Key("TENANT#{tenant_id}", "TICKET#{ticket_id}")
    by_team = Key("TEAM#{team_id}", "{ticket_id}", index=G)

class Team(Entity):
    tenant_id: str
    team_id: str
    primary = Key("TENANT#{tenant_id}", "TEAM#{team_id}")
""",
        {'Key("TEAM#{team_id}", "{ticket_id}"': 'Key("TENANT#{tenant_id}#TEAM#{team_id}", "{ticket_id}"'},
    ),
    "an id within a workspace as an index partition": (
        "KP212",
        """
class Document(Entity):
    workspace: str
    folder_id: str
    title: str
    primary = Key("{workspace}", "DOCUMENT#{title}")
    by_folder = Key("IN#{folder_id}", "{title}", index=G)

class Folder(Entity):
    workspace: str
    folder_id: str = Field()
    primary = Key("{workspace}", "FOLDER#{folder_id}")
""",
        {"Field()": "Field(default_factory=ulid)"},
    ),
    "bills: an id counted by reading": (
        "KP308",
        """
class Counter(Entity):
    name: str
    last: int = 0
    primary = Key("COUNTER#{name}", "HEAD")

class Bill(Entity):
    number: int
    primary = Key("BILL#{number}", "HEAD")
---
@read("R1")
def counter(self, name: str) -> Counter: ...

@read("R2")
def bill(self, number: int) -> Bill | None: ...

@write("W1")
def add(self) -> Writes:
    counter = yield from self.counter.read("bills")
    yield Update(counter, last=counter.last + 1)
    yield Put(Bill(number=counter.last + 1))
""",
        {"last=counter.last + 1)": "last=counter.last + 1).only_if(last=counter.last)", "yield Put": "yield Create"},
    ),
    "parcels: an id counted often": (
        "KP501",
        """
class Sequence(Entity):
    last: int = 0
    primary = Key("SEQUENCE", "HEAD")

class Parcel(Entity):
    parcel_id: str = Field(default_factory=ulid)
    primary = Key("PARCEL#{parcel_id}", "HEAD")
---
@read("R1")
def sequence(self) -> Sequence: ...

@write("W1", per_second=2000)
def send(self) -> Writes:
    sequence = yield from self.sequence.read()
    yield Update(sequence, last=Add(1)).only_if(last=sequence.last)
    yield Create(Parcel(parcel_id=str(sequence.last + 1)))
""",
        {
            "    sequence = yield from self.sequence.read()\n": "",
            "    yield Update(sequence, last=Add(1)).only_if(last=sequence.last)\n": "",
            "Parcel(parcel_id=str(sequence.last + 1))": "Parcel()",
        },
    ),
    "orders: lines that remain": (
        "KP321",
        """
class Order(Entity):
    order_id: str = Field(default_factory=ulid)
    primary = Key("ORDER#{order_id}", "HEAD")

class Line(Entity):
    order_id: str
    line: int
    primary = Key("ORDER#{order_id}", "LINE#{line:04d}")
---
@read("R1")
def lines(self, order_id: str, limit: int = 100) -> list[Line]: ...

@write("W1")
def cancel(self, order_id: str) -> Writes:
    yield Delete(Order, order_id=order_id)
""",
        {
            "    yield Delete(Order": "    for line in (yield from self.lines.read(order_id, limit=99)):\n"
            "        yield Delete(line)\n    yield Delete(Order"
        },
    ),
    "threads: replies that remain": (
        "KP321",
        """
class Thread(Entity):
    thread_id: str
    title: str
    primary = Key("{thread_id}", "HEAD")

class Reply(Entity):
    thread_id: str
    reply_id: str = Field(default_factory=ulid)
    primary = Key("{thread_id}", "REPLY#{reply_id}")
---
@read("R1")
def thread(self, thread_id: str) -> Thread | None: ...

@read("R2", newest_first=True)
def replies(self, thread_id: str, limit: int = 20) -> list[Reply]: ...

@write("W1")
def end(self, thread: Thread) -> Writes:
    yield Delete(thread)
""",
        {'    primary = Key("{thread_id}", "REPLY': '    expires: Ttl\n    primary = Key("{thread_id}", "REPLY'},
    ),
    "entries: a local day beside UTC": (
        "KP216",
        """
class Entry(Entity):
    user_id: str
    day: date = Field(default_factory=date.today)
    at: datetime = Field(default_factory=now)
    primary = Key("USER#{user_id}#{day}", "{at}")
""",
        {
            "    day: date = Field(default_factory=date.today)\n": "    @computed_field\n    @property\n"
            "    def day(self) -> date:\n        return self.at.date()\n\n"
        },
    ),
    "shifts: a local day": (
        "KP216",
        """
class Shift(Entity):
    user_id: str
    day: date = Field(default_factory=lambda: datetime.now().date())
    primary = Key("USER#{user_id}", "{day}")
""",
        {"datetime.now()": "datetime.now(UTC)"},
    ),
    "meals: a local day in a write": (
        "KP216",
        """
class Meal(Entity):
    user_id: str
    day: date
    at: datetime = Field(default_factory=now)
    primary = Key("USER#{user_id}", "{day}#{at}")
---
@write("W1")
def eat(self, user_id: str) -> Writes:
    today = date.today()
    yield Create(Meal(user_id=user_id, day=today))
""",
        {"date.today()": "now().date()"},
    ),
}


@pytest.mark.parametrize(("code", "text", "correction"), FLAWS.values(), ids=FLAWS)
def test_each_design_flaw_is_reported_until_it_is_corrected(code: str, text: str, correction: dict[str, str]) -> None:
    assert code in found(text)
    for old, new in correction.items():
        assert old in text, old
        text = text.replace(old, new)
    assert code not in found(text)


@pytest.mark.parametrize("text", [STOCK, PURSE])
def test_each_write_without_a_condition_is_reported(text: str) -> None:
    design = designed(text)
    places = {finding.place for finding in check(design).findings if finding.code == "KP313"}
    assert places == {pattern.place for pattern in design.compiled.writes.values()}


CORRECT = {
    "KP212": """
class Session(Entity):
    token_hash: str
    tenant_id: str
    primary = Key("SESSION#{token_hash}", "HEAD")
""",
    "KP211": """
class Address(Entity):
    address_id: str
    city: str
    state: str
    primary = Key("ADDRESS#{address_id}", "HEAD")
    by_place = Key("STATE#{state}", "{city}", index=G, shards=4)
""",
    "KP306": """
class LatestPosition(Entity):
    vehicle_id: str
    at: datetime
    place: str
    primary = Key("VEHICLE#{vehicle_id}", "HEAD")
---
@read("R1")
def position(self, vehicle_id: str) -> LatestPosition | None: ...

@write("W1")
def report(self, vehicle_id: str, at: datetime, place: str) -> Writes:
    yield Put(LatestPosition(vehicle_id=vehicle_id, at=at, place=place))
""",
    "KP321": """
class Basket(Entity):
    user_id: str
    total: int = 0
    primary = Key("USER#{user_id}", "BASKET")

class Purchase(Entity):
    user_id: str
    purchase_id: str = Field(default_factory=ulid)
    primary = Key("USER#{user_id}", "PURCHASE#{purchase_id}")
---
@read("R1", newest_first=True)
def purchases(self, user_id: str, limit: int = 20) -> list[Purchase]: ...

@write("W1")
def buy(self, user_id: str) -> Writes:
    yield Create(Purchase(user_id=user_id))
    yield Delete(Basket, user_id=user_id)
""",
}


@pytest.mark.parametrize("code", CORRECT)
def test_a_correct_design_has_no_false_finding(code: str) -> None:
    assert code not in found(CORRECT[code])


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
def test_an_entity_that_no_access_pattern_reads_is_reported(
    tmp_path: Path, name: str, entities: str, read_: str, unread: set[str]
) -> None:
    path = tmp_path / "library.py"
    path.write_text(MODULE.format(name=name, entities=entities, read=read_), encoding="utf-8")
    findings = check(find(str(path)).design).findings
    assert {finding.place for finding in findings if finding.code == "KP310"} == unread


EVENTS = """
class Event(Entity):
    kind: Literal["x"] = "x"
    event_id: str = Field(default_factory=ulid)
    primary = Key("EVENTS#{kind}", "{event_id}", shards=8)
---
@read("R1")
def events(self, kind: Literal["x"], limit: int = 10) -> list[Event]: ...

@write("W1")
def add(self) -> Writes:
    yield Put(Event())
"""


@pytest.mark.parametrize(("rate", "advice"), [(4800, "shards=8 is enough"), (8000, "set shards=12")])
def test_the_advised_number_of_shards_is_higher_than_the_current_number(rate: int, advice: str) -> None:
    design = designed(EVENTS)
    traffic = traffic_from({"patterns": {"add": {"per_second": rate}}}, design.compiled)
    hints = [finding.hint for finding in check(design, traffic).findings if finding.code == "KP501"]
    assert any(advice in hint for hint in hints), hints


@pytest.mark.parametrize(("consistent", "units"), [(False, "125"), (True, "250")])
def test_the_cost_of_a_scan_depends_on_its_consistency(consistent: bool, units: str) -> None:
    read = f'\n@read("R1", scan=True, consistent={consistent})\ndef all_stock(self) -> list[Stock]: ...\n'
    design = designed(STOCK + read)
    traffic = traffic_from({"entities": {"Stock": {"count": 1000, "item_bytes": 1024}}}, design.compiled)
    (line,) = next(each.arithmetic for each in check(design, traffic).findings if each.code == "KP301")
    half = "" if consistent else " × 0.5"
    assert line == f"1,024,000 bytes stored ÷ 4,096{half} = {units} read units per call"
