"""A value of an index key attribute must be a valid key in every write, even if the entity has no key on the index."""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from keyplan import (
    Binary,
    Create,
    Design,
    Entity,
    Field,
    IfNotExists,
    Index,
    Key,
    Put,
    Table,
    Update,
    Writes,
    read,
    write,
)
from keyplan.errors import KeyFieldError

BY_MAP = Index("BY_MAP", "map", "opened")
BY_PICTURE = Index("BY_PICTURE", Binary("picture"), "day")


class Game(Entity):
    """A game, which is in the index BY_MAP while the game is open."""

    game_id: str
    map: str
    opened: str | None = None

    primary = Key("GAME#{game_id}", "META")
    open_by_map = Key("{map}", "{opened}", index=BY_MAP)


class Player(Entity):
    """A player, who has no index key, but fields that are stored under the names of index key attributes."""

    game_id: str
    name: str
    map: str = "Green Grasslands"
    picture: bytes = b"png"
    day: str = Field(default="1", alias="day")

    primary = Key("GAME#{game_id}", "PLAYER#{name}")


class Guest(Entity, extra="allow"):
    """A guest, whose unknown attributes are kept."""

    name: str

    primary = Key("GUEST#{name}", "META")


class Portrait(Entity):
    """A portrait, which is in the index BY_PICTURE."""

    name: str
    picture: bytes
    day: str

    primary = Key("PORTRAIT#{name}", "META")
    by_picture = Key("{picture}", "{day}", index=BY_PICTURE)


class Royale(Design):
    table = Table("royale", indexes=[BY_MAP, BY_PICTURE], entities=[Guest, Portrait])

    @read("R1")
    def game(self, game_id: str) -> Game: ...

    @read("R2")
    def player(self, game_id: str, name: str) -> Player: ...

    @write("W1")
    def move(self, game: Game, map: str) -> Writes[None]:  # noqa: A002 - the document's name
        yield Update(game, map=map)

    @write("W2")
    def rename(self, game_id: str, name: str, map: str) -> Writes[None]:  # noqa: A002
        yield Update(Player, game_id=game_id, name=name).set(map=map)

    @write("W3")
    def begin(self, game_id: str, name: str, map: str) -> Writes[None]:  # noqa: A002
        yield Update(Player, game_id=game_id, name=name).set(map=IfNotExists(map)).or_create()

    @write("W4")
    def draw(self, player: Player, picture: bytes) -> Writes[None]:
        yield Update(player, picture=picture)

    @write("W5")
    def both(self, first: Player, second: Player) -> Writes[None]:
        yield Create(first)
        yield Put(second)


@pytest.fixture
def royale() -> Iterator[Royale]:
    with Royale.open(":memory:") as design:
        yield design


UNFIT: tuple[tuple[Entity, str, str], ...] = (
    (Game(game_id="1", map=""), "Game.map", "the value is empty, but the key attribute map of BY_MAP can't be empty"),
    (
        Player(game_id="1", name="a", map=""),
        "Player.map",
        "the value is empty, but the key attribute map of BY_MAP can't be empty",
    ),
    (
        Player(game_id="1", name="a", picture=b""),
        "Player.picture",
        "the value is empty, but the key attribute picture of BY_PICTURE can't be empty",
    ),
    (
        Player(game_id="1", name="a", map="é" * 1024 + "x"),
        "Player.map",
        "the value is 2049 bytes long, but the key attribute map of BY_MAP allows at most 2048",
    ),
    (
        Player(game_id="1", name="a", picture=b"x" * 2049),
        "Player.picture",
        "the value is 2049 bytes long, but the key attribute picture of BY_PICTURE allows at most 2048",
    ),
    (
        Player(game_id="1", name="a", day="x" * 1025),
        "Player.day",
        "the value is 1025 bytes long, but the key attribute day of BY_PICTURE allows at most 1024",
    ),
    (
        Guest.model_validate({"name": "a", "map": ""}),
        "Guest.map",
        "the value is empty, but the key attribute map of BY_MAP can't be empty",
    ),
    (
        Guest.model_validate({"name": "a", "map": 5}),
        "Guest.map",
        "the value is stored as N, but the key attribute map of BY_MAP is of type S",
    ),
)


@pytest.mark.parametrize(("item", "place", "message"), UNFIT)
def test_invalid_index_key_values_send_no_request(royale: Royale, item: Entity, place: str, message: str) -> None:
    for attempt in (royale.put, royale.create):
        with pytest.raises(KeyFieldError) as caught:
            attempt(item)
        assert (caught.value.code, caught.value.place, caught.value.message) == ("KeyFieldError", place, message)
        assert caught.value.hint is not None


@pytest.mark.parametrize(
    "item",
    [
        Player(game_id="1", name="a", map="é" * 1024, picture=b"x" * 2048, day="x" * 1024),
        Portrait(name="a", picture=b"x" * 2048, day="x" * 1024),
        Guest.model_validate({"name": "a", "map": "x", "level": 5}),
    ],
)
def test_index_key_values_of_the_maximum_size_are_accepted(royale: Royale, item: Entity) -> None:
    royale.put(item)


@pytest.mark.parametrize("unfit", ["", "x" * 2049])
def test_updates_reject_invalid_index_key_values(royale: Royale, unfit: str) -> None:
    royale.put(Game(game_id="1", map="Dirty Desert"))
    royale.put(Player(game_id="1", name="a"))
    changes: tuple[Callable[[], object], ...] = (
        lambda: royale.move(royale.game("1"), unfit),
        lambda: royale.rename("1", "a", unfit),
        lambda: royale.begin("1", "b", unfit),
        lambda: royale.draw(royale.player("1", "a"), unfit.encode()),
        lambda: royale.both(Player(game_id="2", name="a"), Player(game_id="2", name="b", map=unfit)),
    )
    for change in changes:
        with pytest.raises(KeyFieldError, match=r"of BY_(MAP|PICTURE)"):
            change()
    royale.rename("1", "a", "x" * 2048)
    assert royale.player("1", "a").map == "x" * 2048
    royale.draw(royale.player("1", "a"), b"x" * 2048)


def test_a_binary_partition_key_over_2048_bytes_is_rejected(royale: Royale) -> None:
    royale.put(Portrait(name="a", picture=b"x" * 2048, day="1"))
    with pytest.raises(KeyFieldError, match="would be 2049 bytes long"):
        royale.put(Portrait(name="a", picture=b"x" * 2049, day="1"))
