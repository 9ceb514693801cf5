# mypy: disable-error-code="empty-body"
"""Plans beside the best: what each costs, why it isn't the first; shards where traffic would melt a key; what updates
change.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import pytest

from keyplan import (
    Add,
    Create,
    Cursor,
    Design,
    Entity,
    Field,
    Id,
    Page,
    Table,
    Update,
    Writes,
    now,
    read,
    ulid,
    write,
)
from keyplan.analysis.traffic.traffic_file import Traffic, traffic_from
from keyplan.model.deferral import deferred
from keyplan.planner import Plan, applied, comparison, plan
from keyplan.planner.planning import provisional_design
from keyplan.planner.weighing import Weight, front
from keyplan.testing import verify
from tests.planner.published_examples import VersionControl
from tests.planner.test_planning import imported

State = Literal["queued", "running", "done"]


class Job(Entity):
    job_id: Id[str] = Field(default_factory=ulid)
    owner: str
    ticket: str
    state: State = "queued"
    queued_at: datetime = Field(default_factory=now)
    tries: int = 0


with deferred():

    class Jobs(Design):
        table = Table("jobs")

        @read("J1", where={"state": "queued"}, order_by="queued_at")
        def queued(self, limit: int = 10, cursor: Cursor | None = None) -> Page[Job]: ...

        @read("J2")
        def of_owner(self, owner: str) -> list[Job]: ...

        @read("J3")
        def by_ticket(self, ticket: str) -> Job | None: ...

        @write("J4")
        def add(self, owner: str, ticket: str) -> Writes:
            yield Create(Job(owner=owner, ticket=ticket))


def traffic_of_jobs(a_second: float, hottest: float) -> Traffic:
    patterns = {"add": {"per_second": a_second, "hottest": hottest}, "queued": {"per_second": 5}}
    return traffic_from({"patterns": patterns}, provisional_design(Jobs), source="traffic.toml")


def shards_of(made: Plan) -> dict[str, int]:
    return {key.name: key.shards for key in made.keys}


def test_a_claim_saves_an_index_and_says_what_it_costs() -> None:
    first, *others = plan(Jobs)
    assert (first.weight.indexes, first.weight.copies, first.why) == (3, 0, "")
    claimed = next(element for element in others if element.weight.copies)
    assert (claimed.weight.indexes, claimed.best) == (2, True)
    assert "1 index less, but 1 claim more, whose values become unique" in claimed.why


def test_a_key_that_would_melt_is_spread_over_shards() -> None:
    first, *others = plan(Jobs, traffic_of_jobs(2500, 0.01))
    assert shards_of(first) == {"primary": 1, "by_owner": 1, "by_ticket": 1, "queued": 4}
    assert first.weight.over == 0
    assert first.weight.hottest is not None
    assert (first.weight.hottest.keys, first.weight.hottest.limit) == (("Job.queued",), 1000)
    plain = next(element for element in others if shards_of(element) == {**shards_of(first), "queued": 1})
    assert "Job.queued: 2,500 of 1,000 write units a second would be throttled" in plain.why
    with applied(first) as planned:
        verify(planned, stores=5)
    assert set(shards_of(plan(Jobs, traffic_of_jobs(900, 0.01))[0]).values()) == {1}


def test_plans_side_by_side_are_json() -> None:
    plans = plan(Jobs, traffic_of_jobs(10, 0.01))
    shown = comparison(plans)
    assert json.loads(json.dumps(shown)) == shown
    assert [value["why_not_first"] == "" for value in shown["plans"]] == [True, *[False] * (len(plans) - 1)]
    assert shown["plans"][0]["weight"]["usd_a_month"] > 0
    row = next(value for value in shown["rows"] if value["place"] == "Job.by_ticket")
    assert row["in_plans"][0] == "{ticket} | JOB in GSI2"  # the keys are short where that is cheaper
    assert None in next(value for value in shown["rows"] if value["place"] == "Job.ticket_claim")["in_plans"]


def test_index_keys_of_several_attributes_where_they_are_asked_for() -> None:
    best = plan(VersionControl, attributes=True)[0]
    by_state = next(key for key in best.keys if key.name == "by_owner_and_repository_and_status")
    assert by_state.templates == (
        ("TICKET#OWNER#{owner}", "REPOSITORY#{repository}", "STATUS#{status}"),
        ("{created_at}",),
    )
    assert sorted((len(index.partition), len(index.sort)) for index in best.indexes) == [(1, 1), (2, 1), (3, 1)]
    with applied(best) as planned:
        verify(planned, stores=20)


def test_what_nothing_beats_is_the_front() -> None:
    few, cheap, cool = (Weight(*given, (), 0) for given in ((1, 3.0, None), (2, 2.0, None), (2, 4.0, None)))
    assert front([few, cheap, cool, few]) == [True, True, False, False]


# What updates change


class Player(Entity):
    player_id: Id[str]
    team: str
    league: str
    score: int = 0


def planned_with(write_pattern: Any) -> Plan:
    def of_team(self: Any, team: str) -> list[Player]: ...
    def of_league(self: Any, league: str, team: str) -> list[Player]: ...

    patterns = {
        "of_team": read("P1")(of_team),
        "of_league": read("P2")(of_league),
        "change": write("P3")(write_pattern),
    }
    with deferred():
        design: Any = type("Players", (Design,), {"table": Table("players"), **patterns})
    design.uncompiled = globals()
    return plan(design)[0]


def test_an_index_key_holds_no_field_that_is_changed_without_the_item() -> None:
    def move(self: Any, player_id: str, league: str) -> Writes:
        yield Update(Player, player_id=player_id).set(league=league)

    def rename(self: Any, player: Player, team: str) -> Writes:
        yield Update(player, team=team)

    # a key that both questions share holds team and league, and so does one of its own: what can't work is said
    assert any("(KP108)" in note for note in planned_with(move).notes)
    assert not any("(KP108)" in note for note in planned_with(rename).notes)


class Tune(Entity):
    tune_id: Id[str]
    month: Id[str]
    plays: int = Field(default=0, ge=0, le=10**9)


def test_a_counter_that_orders_an_index_is_added_to_by_its_key_alone() -> None:
    """The index has the number's own attribute, so that the change moves the entry by itself."""

    def most_played(self: Any, month: str, limit: int = 20) -> Page[Tune]: ...
    def play(self: Any, tune_id: str, month: str) -> Writes:
        yield Update(Tune, tune_id=tune_id, month=month).set(plays=Add(1))

    patterns = {"most_played": read("T1", order_by="-plays")(most_played), "play": write("T2")(play)}
    with deferred():
        design: Any = type("Tunes", (Design,), {"table": Table("tunes"), **patterns})
    design.uncompiled = globals()
    best = plan(design)[0]
    assert [[attribute.name for attribute in index.sort] for index in best.indexes] == [["plays"]]
    assert not any("(KP108)" in note for note in best.notes)
    with applied(best) as planned, planned.open(":memory:") as tunes:
        for tune_id, plays in (("a", 2), ("b", 11), ("c", 0)):
            tunes.put(Tune(tune_id=tune_id, month="may"))
            for _ in range(plays):
                tunes.play(tune_id, "may")
        assert [(tune.tune_id, tune.plays) for tune in tunes.most_played("may")] == [("b", 11), ("a", 2), ("c", 0)]


MIRRORED = """
from keyplan import Create, Delete, Design, Entity, Id, Key, Put, Table, Update, Writes, read, write

class Order(Entity):
    order_id: Id[str]
    customer: str
    state: str = "new"

class Orders(Design):
    table = Table("orders")

    @read("O1")
    def order(self, order_id: str) -> Order | None: ...

    @read("O2")
    def of_customer(self, customer: str) -> list[Order]: ...

    @write("W1")
    def place(self, order: Order) -> Writes:
        yield Create(order)

    @write("W2")
    def pay(self, order: Order, state: str) -> Writes:
        yield Update(order, state=state)

    @write("W3")
    def ship(self, order_id: str, state: str) -> Writes:
        yield Update(Order, order_id=order_id).set(state=state)

    @write("W4")
    def sell(self, order: Order, customer: str) -> Writes:
        yield Update(order, customer=customer)

    @write("W5")
    def drop(self, order: Order) -> Writes:
        yield Delete(order)
"""


def test_the_code_of_a_mirror_keeps_it(tmp_path: Path) -> None:
    """Each write with the lines that the plan shows: the mirror then says what the items say."""
    path = tmp_path / "orders.py"
    path.write_text(MIRRORED)
    with deferred():
        design = imported(path).Orders
    (mirror,) = next(made.mirrors for made in plan(design) if made.mirrors)
    head, *parts = mirror.code.split("\n\n# ")
    keyed = MIRRORED.replace('state: str = "new"\n', 'state: str = "new"\n    primary = Key("O#{order_id}", "O")\n', 1)
    for part in sorted(parts, key=lambda part: "before it yields" in part):
        first, *lines = part.splitlines()
        if lines:
            at, name, rest = keyed.partition(f"def {first.partition(',')[0]}(")
            signature, colon, body = rest.partition(":\n        yield")
            own, end, others = f"{colon}{body}".partition("\n\n    @")
            added = "".join(f"\n        {line}" for line in lines)
            own = own.replace(":", f":{added}", 1) if "before it yields" in first else f"{own.rstrip()}{added}"
            keyed = f"{at}{name}{signature}{own}{end}{others}"
    declared, questions = keyed.split("\nclass Orders(Design)")
    key = '    primary = Key("C#{customer}", "M#{order_id}")'
    source = head.replace("    @classmethod", f"{key}\n\n    @classmethod")
    questions = questions.replace("-> list[Order]", "-> list[OrderByCustomer]")
    written = tmp_path / "kept.py"
    written.write_text(f"{declared}\n{source}\nclass Orders(Design){questions}")
    kept = imported(written)
    with kept.Orders.open(":memory:") as orders:
        for number in range(3):
            orders.place(kept.Order(order_id=str(number), customer="a"))
        orders.pay(orders.order("0"), "paid")
        orders.ship("1", "shipped")
        orders.sell(orders.order("1"), "b")
        orders.drop(orders.order("2"))
        held = {each.order_id: (each.customer, each.state) for name in "ab" for each in orders.of_customer(name)}
        assert held == {"0": ("a", "paid"), "1": ("b", "shipped")}


def test_a_mirror_item_saves_an_index_and_says_what_the_writes_must_do() -> None:
    first, *others = plan(Jobs, traffic_of_jobs(100, 0.01))
    mirrored = next(element for element in others if element.mirrors)
    mirror = mirrored.mirrors[0]
    assert (mirrored.weight.indexes, mirrored.best, mirror.questions) == (first.weight.indexes - 1, True, ("of_owner",))
    assert mirror.writes == ("add: Create Job, and Put JobByOwner",)
    assert "    owner: Id[str]\n    job_id: Id[str]\n    ticket: str" in mirror.source
    assert "# add, beside Create Job:\nyield Put(JobByOwner.of(job))" in mirror.code
    # a transaction of two items: 2 units each instead of 1, an index entry less
    assert mirrored.weight.usd - first.weight.usd == pytest.approx(100 * 3600 * 730 * 0.625e-6 * 2, rel=0.01)
    assert "1 mirror item for each item, kept by every write of it" in mirrored.why
    with applied(mirrored) as planned:
        verify(planned, stores=5)
