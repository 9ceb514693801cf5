# mypy: disable-error-code="empty-body"
"""Updates of nested parts of fields, IfNotExists, and writes in the transaction of another write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

import pytest
from pydantic import BaseModel
from pydantic import Field as Limited

from keyplan import Add, Design, Entity, Field, IfNotExists, Index, Key, StoredAs, Table, Update, Writes, read, write
from keyplan.errors import ArgumentError, ConditionFailed, UpdateRejected

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Place(BaseModel):
    city: str
    zip: Annotated[int, Limited(ge=0)] = 0
    floor: int | None = None


class Line(BaseModel):
    product: str
    count: int = 1


class User(Entity):
    user_id: str
    name: str = ""
    address: Place
    home: Place | None = None
    settings: dict[str, str] = Field(default_factory=dict)
    counts: dict[str, int] = Field(default_factory=dict)
    notes: dict[str, list[str]] = Field(default_factory=dict)
    lines: list[Line] = Field(default_factory=list)
    region: str = "eu"
    packed: Annotated[dict[str, int], StoredAs("json")] = Field(default_factory=dict)

    primary = Key("USER#{user_id}", "HEAD")
    by_region = Key("REGION#{region}", "{user_id}", index=GSI1)


class Visit(Entity):
    page: str
    hits: int = 0
    first_seen: datetime
    site: str
    kind: str | None = None

    primary = Key("PAGE#{page}", "HEAD")
    by_site = Key("SITE#{site}", "{page}", index=GSI1)
    by_kind = Key("KIND#{kind}", "{page}", index=Index("GSI2", "gsi2pk", "gsi2sk"))


class App(Design):
    table = Table("app", indexes=[GSI1, Visit.by_kind.index or GSI1])

    @read("A1")
    def user(self, user_id: str) -> User | None: ...

    @read("A2")
    def pages(self, site: str) -> list[Visit]: ...

    @write("A3")
    def move(self, user: User, city: str) -> Writes:
        yield Update(user).at(lambda user: user.address.city).set(city)

    @write("A4")
    def hit(self, page: str, at: datetime) -> Writes[Visit]:
        return (
            yield from Update(Visit, page=page).set(hits=Add(1), first_seen=IfNotExists(at), site="main").or_create()
        )

    @write("A5")
    def move_and_hit(self, user: User, city: str, at: datetime) -> Writes:
        yield from self.move.in_transaction(user, city)
        yield Update(Visit, page=user.user_id).set(hits=Add(1), first_seen=IfNotExists(at), site="main").or_create()


@pytest.fixture
def app() -> Iterator[App]:
    with App.open(":memory:") as opened:
        yield opened


@pytest.fixture
def user(app: App) -> User:
    return app.put(
        User(
            user_id="1",
            address=Place(city="Porto", zip=4000, floor=3),
            settings={"theme": "dark", "a.b#": "x"},
            lines=[Line(product="tea"), Line(product="ink", count=2)],
        )
    )


CHANGES: dict[str, tuple[Callable[[Update[User]], Update[User]], dict[str, Any]]] = {
    "a field of a model": (
        lambda update: update.at(lambda user: user.address.city).set("Faro"),
        {"address": Place(city="Faro", zip=4000, floor=3)},
    ),
    "a number": (
        lambda update: update.at(lambda user: user.address.zip).add(1),
        {"address": Place(city="Porto", zip=4001, floor=3)},
    ),
    "a field is taken away": (
        lambda update: update.at(lambda user: user.address.floor).remove(),
        {"address": Place(city="Porto", zip=4000)},
    ),
    "a map key": (
        lambda update: update.at(lambda user: user.settings["size"]).set("10"),
        {"settings": {"theme": "dark", "a.b#": "x", "size": "10"}},
    ),
    "a key with odd letters": (
        lambda update: update.at(lambda user: user.settings["a.b#"]).remove(),
        {"settings": {"theme": "dark"}},
    ),
    "a number that begins": (lambda update: update.at(lambda user: user.counts["x"]).add(2), {"counts": {"x": 2}}),
    "a list that begins": (
        lambda update: update.at(lambda user: user.notes["x"]).append(["a", "b"]),
        {"notes": {"x": ["a", "b"]}},
    ),
    "within an element": (
        lambda update: update.at(lambda user: user.lines[1].count).add(5),
        {"lines": [Line(product="tea"), Line(product="ink", count=7)]},
    ),
    "an element": (
        lambda update: update.at(lambda user: user.lines[0]).set(Line(product="pen")),
        {"lines": [Line(product="pen"), Line(product="ink", count=2)]},
    ),
    "an element is taken away": (
        lambda update: update.at(lambda user: user.lines[0]).remove(),
        {"lines": [Line(product="ink", count=2)]},
    ),
    "several": (
        lambda update: (
            update.at(lambda user: user.address.city)
            .set("Faro")
            .at(lambda user: user.address.zip)
            .add(-1)
            .at(lambda user: user.settings["theme"])
            .set("light")
            .set(name="Ada")
        ),
        {"address": Place(city="Faro", zip=3999, floor=3), "settings": {"theme": "light", "a.b#": "x"}, "name": "Ada"},
    ),
    "a whole field": (lambda update: update.at(lambda user: user.name).set("Ada"), {"name": "Ada"}),
}


@pytest.mark.parametrize("by_class", [False, True], ids=["instance", "class"])
@pytest.mark.parametrize("name", CHANGES)
def test_updates_change_list_elements_and_nested_members(app: App, user: User, name: str, by_class: bool) -> None:
    make, wanted = CHANGES[name]
    update: Update[User] = Update(User, user_id="1") if by_class else Update(user)
    after = app.update(make(update))
    assert after == user.model_copy(update=wanted) == app.user("1")


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda update: update.at(lambda user: user.home.city).set("Faro"), ConditionFailed),
        (lambda update: update.at(lambda user: user.lines[7].count).set(1), ConditionFailed),
        (lambda update: update.at(lambda user: user.lines[7]).set(Line(product="a")), ConditionFailed),
        (lambda update: update.at(lambda user: user.address.town).set("Faro"), UpdateRejected),
        (lambda update: update.at(lambda user: user.addres.city).set("Faro"), Exception),
        (lambda update: update.at(lambda user: user.address.city).set(7), ArgumentError),
        (lambda update: update.at(lambda user: user.address.zip).set(-1), ArgumentError),
        (lambda update: update.at(lambda user: user.address.zip).add(-4001), ConditionFailed),
        (lambda update: update.at(lambda user: user.address.city).remove(), UpdateRejected),
        (lambda update: update.at(lambda user: user.packed["a"]).set(1), UpdateRejected),
        (
            lambda update: (
                update.at(lambda user: user.address.city).set("a").at(lambda user: user.address.city).set("b")
            ),
            UpdateRejected,
        ),
        (lambda update: update.set(address=Place(city="a")).at(lambda user: user.address.city).set("b"), ArgumentError),
        (lambda update: update.at(lambda user: "city").set("a"), ArgumentError),
        (lambda update: update.at(lambda user: user.lines[-1]).set(Line(product="a")), ArgumentError),
        (lambda update: update.at(lambda user: user.lines[2**31]).set(Line(product="a")), ArgumentError),
        (lambda update: update.at(lambda user: user.counts["a"]).set(1).or_create(), UpdateRejected),
    ],
)
def test_invalid_changes_of_nested_parts_are_rejected(
    app: App, user: User, change: Callable[[Update[Any]], Update[Any]], error: type[Exception]
) -> None:
    with pytest.raises(error):
        app.update(change(Update(User, user_id="1")))
    assert app.user("1") == user


def test_if_not_exists_updates_keep_index_keys_correct(app: App) -> None:
    first, later = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    assert app.hit("a", first) == Visit(page="a", hits=1, first_seen=first, site="main")
    assert asyncio.run(app.hit.aio("a", later)) == Visit(page="a", hits=2, first_seen=first, site="main")
    assert [(page.page, page.hits) for page in app.pages("main")] == [("a", 2)]
    with pytest.raises(UpdateRejected, match="by_site"):
        app.update(Update(Visit, page="b").set(hits=Add(1), first_seen=later, site=IfNotExists("x")).or_create())
    with pytest.raises(ArgumentError):
        app.update(Update(Visit, page="a").set(first_seen=IfNotExists("yesterday")))


def test_a_write_runs_in_the_transaction_of_another_write(app: App, user: User) -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    app.move_and_hit(user, "Faro", moment)
    result = app.user("1")
    assert result is not None
    assert (result.address.city, [page.page for page in app.pages("main")]) == ("Faro", ["1"])
    app.delete(result)
    with pytest.raises(ConditionFailed):
        app.move_and_hit(user, "Lagos", moment)
    assert [page.hits for page in app.pages("main")] == [1]


@pytest.mark.parametrize("key", ["", "\ud800", "x" * 65_536])
def test_invalid_map_keys_are_rejected(app: App, user: User, key: str) -> None:
    """A stored map can have invalid keys, but DynamoDB expressions can't refer to them."""
    with pytest.raises(ArgumentError, match=r"User\.settings") as caught:
        app.transact([Update(user).at(lambda user: user.settings[key]).set("dark")])
    assert "a map key" in caught.value.message
