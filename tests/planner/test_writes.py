"""Plans consider the writes of a design: keys that the writes can maintain, and counters that sort an index."""

from __future__ import annotations

import pytest

from keyplan.planner import applied, plan
from tests.planner.support import design, keys_of, refusal

PLAYERS = """
class Player(Entity):
    player_id: Id[str]
    team: str
    league: str
    score: int = Field(default=0, ge=0)

class Zoo(Design):
    table = Table("players")

    @read("P1")
    def of_team(self, team: str) -> list[Player]: ...
"""
BY_KEY = """
    @write("W1")
    def move(self, player_id: str, league: str) -> Writes:
        yield Update(Player, player_id=player_id).set(league=league)
"""


def test_a_read_by_a_field_that_is_updated_without_reading_the_item_is_rejected() -> None:
    by_league = '    @read("P2")\n    def of_league(self, league: str) -> list[Player]: ...\n'
    text = refusal(design(PLAYERS + by_league + BY_KEY))
    assert "Zoo.of_league: Player by league: Zoo.move changes league without reading the item" in text
    assert "update the instance: Update(item, league=...)" in text
    by_instance = BY_KEY.replace("player_id: str", "player: Player").replace("Player, player_id=player_id", "player")
    best = plan(design(PLAYERS + by_league + by_instance))[0]
    assert len(best.indexes) == 2
    assert not any("KP108" in note for note in best.notes)


def test_keys_avoid_fields_that_are_updated_without_reading_the_item() -> None:
    """If the sort key contained the updated field, the write would fail."""
    made = design(PLAYERS + BY_KEY)
    assert keys_of(plan(made)[0])["Player.by_team"] == "TEAM#{team} | PLAYER#{player_id} in GSI1"


@pytest.mark.parametrize(
    ("parameters", "arguments", "key"),
    [
        ("team: str, ", ("red",), "Player.by_team = TEAM#{team} | {score} in GSI1"),
        ("", (), "Player.all_player = PLAYER | {score} in GSI1"),
    ],
)
def test_a_counter_that_an_index_sorts_by_is_a_separate_key_attribute(
    parameters: str, arguments: tuple[str, ...], key: str
) -> None:
    """With a separate attribute, an update by primary key also moves the index entry."""
    made = design(f"""
class Player(Entity):
    player_id: Id[str]
    team: str
    score: int = Field(default=0, ge=0)

class Zoo(Design):
    table = Table("players")

    @read("P1", order_by="-score")
    def best(self, {parameters}limit: int = 20) -> Page[Player]: ...

    @write("P2")
    def point(self, player_id: str) -> Writes:
        yield Update(Player, player_id=player_id).set(score=Add(1))
""")
    best = plan(made)[0]
    place, _, text = key.partition(" = ")
    assert keys_of(best)[place] == text
    assert [[attribute.name for attribute in index.sort] for index in best.indexes] == [["score"]]
    with applied(best) as planned, planned.open(":memory:") as players:
        player = made.uncompiled["Player"]
        for player_id, score in (("a", 2), ("b", 11), ("c", 0)):
            players.put(player(player_id=player_id, team="red"))
            for _ in range(score):
                players.point(player_id)
        assert [(each.player_id, each.score) for each in players.best(*arguments)] == [("b", 11), ("a", 2), ("c", 0)]
