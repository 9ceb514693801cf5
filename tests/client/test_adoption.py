# mypy: disable-error-code="empty-body"
"""Tables that other programs also write: items whose keys match an entity are read, and all others are skipped."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

import pytest

from keyplan import (
    Check,
    Cursor,
    Delete,
    Design,
    Discriminator,
    Entity,
    Field,
    Index,
    Key,
    Page,
    Table,
    Unique,
    Update,
    read,
    ulid,
)
from keyplan.errors import ConditionFailed, InvalidItemError

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Device(Entity):
    """A device, whose key is a prefix of the keys of its readings."""

    device_id: str = Field(default_factory=ulid)
    name: str = "unnamed"

    primary = Key("DEVICE#{device_id}", "#META")


class Reading(Entity):
    """A reading, all of whose fields are stored in its keys."""

    device_id: str
    at: datetime
    level: int = 0
    room: str | None = None

    primary = Key("DEVICE#{device_id}", "READING#{at}")
    by_room = Key("ROOM#{room}", "{level:03d}#{at}", index=GSI1)


class Both(NamedTuple):
    """A device and its readings."""

    device: Device
    readings: list[Reading]


class Devices(Design):
    table = Table("devices", indexes=[GSI1])

    @read("R1", newest_first=True)
    def readings(self, device_id: str, limit: int = 2, cursor: Cursor | None = None) -> Page[Reading]: ...

    @read("R2", newest_first=True)
    def latest(self, device_id: str) -> Reading | None: ...

    @read("R3")
    def both(self, device_id: str) -> Both | None: ...

    @read("R4")
    def in_room(self, room: str) -> list[Reading]: ...

    @read("R5", scan=True)
    def everything(self, limit: int = 2, cursor: Cursor | None = None) -> Page[Device | Reading]: ...


NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def devices() -> Any:
    with Devices.open(":memory:") as design:
        yield design


def put(devices: Devices, **attributes: Any) -> None:
    item = {name: value if isinstance(value, dict) else {"S": value} for name, value in attributes.items()}
    devices.store.transport.call("PutItem", {"TableName": "devices", "Item": item})


STRANGE = ["READING", "READING#", "READING#yesterday", "READING#2026-03-01", "ZZZ", "#META#2", "READING#a#b", "!"]
# Has the shape of a reading's key, and is no moment.
STRANGE += ["READING#2026-13-45T12:00:00.000000Z"]


def test_items_of_other_entities_are_skipped(devices: Devices) -> None:
    for sort in STRANGE:
        put(devices, pk="DEVICE#d", sk=sort, at={"N": "7"}, device_id={"L": []}, gsi1pk="ROOM#r", gsi1sk=sort)
    device = devices.put(Device(device_id="d"))
    ours = [devices.put(Reading(device_id="d", at=NOON.replace(minute=minute), room="r")) for minute in range(5)]
    first = devices.readings("d")
    second = devices.readings("d", cursor=first.cursor)
    third = devices.readings("d", cursor=second.cursor)
    assert [*first, *second, *third] == ours[::-1]
    assert third.cursor is None
    assert devices.latest("d") == ours[-1]
    assert devices.both("d") == Both(device, ours)
    assert devices.in_room("r") == ours
    result: list[Any] = []
    page = devices.everything()
    while page.cursor is not None:
        result += page.items
        page = devices.everything(cursor=page.cursor)
    result += page.items
    assert sorted(result, key=repr) == sorted([device, *ours], key=repr)


def test_fields_stored_only_in_keys_are_read(devices: Devices) -> None:
    put(
        devices,
        pk="DEVICE#a$c1",
        sk="READING#2026-03-01T12:00:00.000000Z",
        gsi1pk="ROOM#r",
        gsi1sk="042#2026-03-01T12:00:00.000000Z",
    )
    wanted = Reading(device_id="a#1", at=NOON, level=42, room="r")
    assert devices.latest("a#1") == wanted
    assert devices.in_room("r") == [wanted]
    assert devices.get(Reading, device_id="a#1", at=NOON) == wanted


def test_a_value_in_the_key_takes_precedence_over_the_field_default(devices: Devices) -> None:
    put(devices, pk="DEVICE#d", sk="#META")
    assert devices.get(Device, device_id="d") == Device(device_id="d", name="unnamed")


def test_unknown_attributes_of_items_of_other_programs_are_ignored(devices: Devices) -> None:
    put(devices, pk="DEVICE#d", sk="#META", device_id="d", name="n", firmware={"M": {}}, level={"BOOL": True})
    assert devices.get(Device, device_id="d") == Device(device_id="d", name="n")


def test_the_error_for_an_invalid_item_names_its_key_and_field(devices: Devices) -> None:
    put(devices, pk="DEVICE#d", sk="#META", device_id="d", name={"N": "1"})
    with pytest.raises(InvalidItemError) as caught:
        devices.get(Device, device_id="d")
    assert caught.value.place == "Device(pk=DEVICE#d, sk=#META)"
    assert [fault.place for fault in caught.value.errors] == ["Device.name"]
    assert caught.value.hint


class Parcel(Entity):
    """A parcel whose depot and shelf are stored only in an index key, by another program."""

    number: str
    weight: int = 0
    depot: str | None = None
    shelf: str | None = None

    primary = Key("PARCEL#{number}", "#HEAD")
    by_depot = Key("DEPOT#{depot}", "SHELF#{shelf}", index=GSI1)


class Parcels(Design):
    table = Table("parcels", indexes=[GSI1])

    @read("P1")
    def parcel(self, number: str) -> Parcel | None: ...


def test_an_optional_field_is_read_from_an_index_key() -> None:
    """If the field were read as None, putting the item again would delete the value in the key."""
    entity = Parcels.compiled.by_name["Parcel"]
    key = {"pk": {"S": "PARCEL#1"}, "sk": {"S": "#HEAD"}, "number": {"S": "1"}}
    placed = {**key, "gsi1pk": {"S": "DEPOT#Kiel"}, "gsi1sk": {"S": "SHELF#7"}}
    for more in ({}, {"weight": {"N": "3"}}, {"depot": {"S": "Kiel"}}):
        result = entity.from_item({**placed, **more})
        assert (result.depot, result.shelf) == ("Kiel", "7")  # type: ignore[attr-defined]
        assert entity.to_item(result).items() >= placed.items()
    absent = entity.from_item({**key, "weight": {"N": "3"}})
    assert (absent.depot, absent.shelf) == (None, None)  # type: ignore[attr-defined]


class Visit(Entity):
    number: str
    guest: str | None = None
    at: datetime | None = None
    state: Literal["open", "closed"] = "open"
    count: int = 0

    kind = Discriminator("type", "visit")
    primary = Key("VISIT#{number}", "#HEAD")
    by_guest = Key("GUEST#{guest}", "{at}", index=GSI1)


class Visits(Design):
    table = Table("devices", indexes=[GSI1], entities=[Visit])

    @read("V1", scan=True, where={"guest": (None, "Ada")})
    def without_guest(self) -> list[Visit]: ...


@pytest.fixture
def visits() -> Any:
    with Visits.open(":memory:") as design:
        yield design


def put_visit(visits: Any, **attributes: Any) -> None:
    put(visits, pk="VISIT#1", sk="#HEAD", number="1", **{"type": "visit", **attributes})


def test_writes_fail_on_an_item_with_another_discriminator(visits: Visits) -> None:
    """No entity of the design has this discriminator: only other programs know it."""
    put_visit(visits, type="call")
    for action in (Delete(Visit, number="1"), Delete(Visit(number="1")), Check(Visit, number="1")):
        with pytest.raises(
            ConditionFailed, match=r"belongs to another entity: type is {'S': 'call'}, expected {'S': 'visit'}"
        ):
            visits.transact([action])
    with pytest.raises(ConditionFailed):
        visits.delete(Visit, number="1")


def test_a_claim_of_another_item_is_not_reported_as_another_entity() -> None:
    class Member(Entity):
        name: str
        email: str
        kind = Discriminator("type", "member")
        primary = Key("MEMBER#{name}", "#HEAD")
        email_is_unique = Unique("EMAIL#{email}")

    class Club(Design):
        table = Table("club")

        @read("C1")
        def member(self, name: str) -> Member | None: ...

    with Club.open(":memory:") as club:
        stale = club.create(Member(name="ann", email="a"))
        club.update(stale, email="b")
        club.create(Member(name="bob", email="a"))
        with pytest.raises(ConditionFailed) as caught:
            club.delete(stale)
        assert "another entity" not in str(caught.value)


def test_conditions_on_none_match_a_stored_null(visits: Visits) -> None:
    put_visit(visits, guest={"NULL": True}, at={"NULL": True}, state={"NULL": True})
    (visit,) = visits.without_guest()
    assert (visit.guest, visit.at, visit.state) == (None, None, "open")
    visits.transact([Update(visit, count=1).only_if(guest=None)])
    assert visits.update(visit, guest="Ada").guest == "Ada"
    with pytest.raises(ConditionFailed, match=r"guest is .Ada., expected None\n"):
        visits.transact([Update(visit, count=2).only_if(guest=None, at=None)])


@pytest.mark.parametrize(
    ("attributes", "wanted"),
    [
        ({"at": "2026-11-21T11:42:00+02:00"}, "at is stored as .*, expected {'S': '2026-11-21T09:42:00.000000Z'}"),
        ({"gsi1pk": "GUEST#Ada", "gsi1sk": "2026-11-21T09:42:00.000000Z"}, "at is only in a key, expected"),
    ],
)
def test_the_error_of_a_failed_condition_names_an_attribute_in_another_format(
    visits: Visits, attributes: dict[str, Any], wanted: str
) -> None:
    put_visit(visits, **attributes)
    visit = visits.get(Visit, number="1")
    assert visit is not None
    with pytest.raises(ConditionFailed, match=wanted):
        visits.update(visit, guest="Eve")
    assert visits.update(visit, guest="Eve", at=visit.at).at == visit.at
