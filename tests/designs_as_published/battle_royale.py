# mypy: disable-error-code="empty-body"
"""Players and games of the DynamoDB labs: a sparse index lists the open games of one or all maps, and an inverted index
the games of a player. Source: "Modeling game player data with Amazon DynamoDB" (LGME) of amazon-dynamodb-labs.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from keyplan import Add, Create, Cursor, Design, Entity, Index, Key, Page, Table, Update, Writes, now, read, write

OPEN_GAMES = Index("OpenGamesIndex", "map", "open_timestamp")
INVERTED = Index("InvertedIndex", "SK", "PK")

PLAYERS_MAX = 50


class User(Entity):
    username: str
    real_name: str = ""
    email: str = ""

    primary = Key("USER#{username}", "#METADATA#{username}")


class Game(Entity):
    """A game on a map. A game is open while it has an opening time."""

    game_id: str
    map: str
    creator: str
    create_time: datetime
    people: int = 0
    open_timestamp: datetime | None = None

    primary = Key("GAME#{game_id}", "#METADATA#{game_id}")
    open_by_map = Key("{map}", "{open_timestamp}", index=OPEN_GAMES)


class UserGameMapping(Entity):
    """The participation of a player in a game."""

    game_id: str
    username: str
    place: int | None = None

    primary = Key("GAME#{game_id}", "USER#{username}")
    of_user = Key("USER#{username}", "GAME#{game_id}", index=INVERTED)


class GameWithPlayers(NamedTuple):
    """A game and its players."""

    game: Game
    players: list[UserGameMapping]


class BattleRoyale(Design):
    table = Table("battle-royale", partition="PK", sort="SK", indexes=[OPEN_GAMES, INVERTED])

    @write("Create user profile")
    def create_user(self, user: User) -> Writes:
        yield Create(user)

    @write("Create game")
    def create_game(self, game: Game) -> Writes:
        yield Create(game)

    @write("Join game")
    def join(self, game_id: str, username: str) -> Writes:
        yield Create(UserGameMapping(game_id=game_id, username=username))
        yield Update(Game, game_id=game_id).set(people=Add(1)).only_if("people < :most", most=PLAYERS_MAX)

    @write("Start game")
    def start(self, game: Game) -> Writes:
        yield Update(game, open_timestamp=None).only_if("people <= :most", most=PLAYERS_MAX)

    @write("Open game")
    def open_game(self, game: Game) -> Writes:
        yield Update(game, open_timestamp=now())

    @read("Get user profile")
    def user(self, username: str) -> User | None: ...

    @read("Find open games", scan_index=OPEN_GAMES)
    def open_games(self, limit: int = 10, cursor: Cursor | None = None) -> Page[Game]: ...

    @read("Find open games by map", newest_first=True)
    def open_games_of_map(
        self,
        map: str,  # noqa: A002 - the published name
        limit: int = 10,
        cursor: Cursor | None = None,
    ) -> Page[Game]: ...

    @read("View game")
    def game(self, game_id: str) -> GameWithPlayers | None: ...

    @read("Find past games for user")
    def games_of(self, username: str) -> list[UserGameMapping]: ...
