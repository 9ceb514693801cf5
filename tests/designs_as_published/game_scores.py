# mypy: disable-error-code="empty-body"
"""Game scores as published in the developer guide: a leaderboard in a keys-only index. Source: "Using global
secondary indexes in DynamoDB", the scenario of GameTitleIndex.
"""

from __future__ import annotations

from datetime import datetime

from keyplan import Cursor, Design, Entity, Field, Index, Key, Number, Page, Put, Table, View, Writes, read, write

GAME_TITLES = Index("GameTitleIndex", "GameTitle", Number("TopScore"), projection="KEYS_ONLY")


class GameScore(Entity):
    """The scores of a user in a game."""

    user_id: str = Field(alias="UserId")
    game_title: str = Field(alias="GameTitle")
    top_score: int = Field(alias="TopScore", ge=0)
    top_score_at: datetime = Field(alias="TopScoreDateTime")
    wins: int = Field(alias="Wins", ge=0)
    losses: int = Field(alias="Losses", ge=0)

    primary = Key("{user_id}", "{game_title}")
    by_score = Key("{game_title}", "{top_score}", index=GAME_TITLES)


class TopScore(View[GameScore]):
    """An entry of the leaderboard, whose fields are all in the index keys."""

    user_id: str
    top_score: int


class GameScores(Design):
    table = Table("GameScores", partition="UserId", sort="GameTitle", indexes=[GAME_TITLES])

    @write("put")
    def score(self, score: GameScore) -> Writes:
        yield Put(score)

    @read("of a user")
    def score_of(self, user_id: str, game_title: str) -> GameScore | None: ...

    @read("the top score ever recorded of a game", newest_first=True)
    def top_score(self, game_title: str) -> TopScore | None: ...

    @read("which users had the highest scores", newest_first=True)
    def top_scores(self, game_title: str, limit: int = 10, cursor: Cursor | None = None) -> Page[TopScore]: ...

    @read("the ratio of wins to losses of the best", newest_first=True, complete=True)
    def best_players(self, game_title: str, limit: int = 10, cursor: Cursor | None = None) -> Page[GameScore]: ...

    @read("how many play it", entity=GameScore)
    def players(self, game_title: str) -> int: ...

    @read("whether a user plays it", entity=GameScore)
    def plays(self, user_id: str, game_title: str) -> bool: ...
