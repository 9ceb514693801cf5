# mypy: disable-error-code="empty-body"
"""The direction, the key and several sets of values as a call gives them, on every store."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest

from keyplan import CallRecord, Cursor, Design, InvalidItem, Page, Range, Table, Update, read
from keyplan.errors import ArgumentError, ConditionFailed, CursorError, InvalidItemError, UpdateRejected
from keyplan.formatting.results import answer_json
from keyplan.testing import verify
from tests.contract.asking import BY_RANK, BY_START, Asking, Job, Parcel, Step, Ticket, Watch
from tests.contract.stores import CALLERS, OPENERS, WAYS, Caller
from tests.contract.test_patterns import paged

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(params=WAYS)
def asking(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Caller]:
    """The design on an empty store."""
    store, way = request.param
    caller = CALLERS[way](OPENERS[store](Asking, tmp_path))
    yield caller
    caller.close()


def job(number: int, **more: Any) -> Job:
    given = {"team": "t", "rank": 9 - number, "started_at": NOON + timedelta(hours=number)}
    return Job(job_id=str(number), **{**given, **more})


def test_a_call_says_the_direction(asking: Caller) -> None:
    jobs = [asking.put(job(number)) for number in range(5)]
    steps = [asking.put(Step(job_id="1", number=number, text="")) for number in range(4)]
    assert paged(asking, "jobs", 2, team="t") == jobs[::-1]
    assert paged(asking, "jobs", 2, team="t", newest_first=False) == jobs
    assert paged(asking, "ranking", 2, team="t", newest_first=True) == jobs
    assert paged(asking, "ranking", 2, team="t", newest_first=False) == jobs[::-1]
    assert [asking.read("first", team="t"), asking.read("first", team="t", newest_first=True)] == [jobs[0], jobs[4]]
    assert asking.read("steps", job_id="1") == steps
    assert asking.read("steps", job_id="1", newest_first=True) == steps[::-1]
    assert asking.read("by_rank", team="t") == jobs[::-1]


def test_partitions_and_junctions_follow_the_direction(asking: Caller) -> None:
    jobs = [asking.put(job(number, team="ab"[number % 2])) for number in range(4)]
    for number in (0, 3, 1):
        asking.put(Watch(person="p", job_id=str(number), since=NOON + timedelta(days=number)))
        asking.put(Step(job_id=str(number), number=number, text=""))
    for number in (5, 7):
        asking.put(Step(job_id="3", number=number, text=""))
    assert paged(asking, "of_teams", 1, team=["a", "b"]) == jobs
    assert paged(asking, "of_teams", 3, team=["a", "b"], newest_first=True) == jobs[::-1]
    assert paged(asking, "watched", 2, person="p") == [jobs[3], jobs[1], jobs[0]]
    assert paged(asking, "watched", 1, person="p", newest_first=False) == [jobs[0], jobs[1], jobs[3]]
    newest = [value.number for value in paged(asking, "steps_watched", 2, person="p")]
    oldest = [value.number for value in paged(asking, "steps_watched", 2, person="p", newest_first=False)]
    assert (newest, oldest) == ([7, 5, 3, 1, 0], [0, 1, 3, 5, 7])


def ticket(number: int, **more: Any) -> Ticket:
    return Ticket(ticket_id=str(number), **{"team": "t", "rank": number, "due": date(2026, 3, 1 + number), **more})


def test_one_index_holds_an_item_under_one_of_several_keys(asking: Caller) -> None:
    tickets = [asking.put(ticket(number, state=("urgent", "calm", "lost")[number % 3])) for number in range(7)]
    assert asking.read("urgent", team="t") == tickets[::3]
    assert asking.read("urgent", team="t", due=Range(gt=date(2026, 3, 1))) == [tickets[3], tickets[6]]
    assert paged(asking, "calm", 1, team="t") == [tickets[1], tickets[4]]
    assert paged(asking, "calm", 1, team="t", newest_first=True) == [tickets[4], tickets[1]]
    assert [asking.read("how_many_calm", team="t"), asking.read("how_many_somewhere")] == [2, 5]


def test_an_update_moves_an_item_to_its_other_key(asking: Caller) -> None:
    first, second = asking.put(ticket(1)), asking.put(ticket(2))
    first = asking.update(first, state="closed", closed_on=date(2026, 4, 1))
    assert paged(asking, "calm", 1, team="t") == [second]
    assert paged(asking, "closed", 1, team="t") == [first]
    first = asking.update(first, rank=5)  # of a key under which it doesn't stand
    assert paged(asking, "closed", 1, team="t") == [first]
    assert asking.read("closed_in", team="t", state="closed", closed_on=Range(ge=date(2026, 4, 1))) == [first]
    first = asking.update(first, closed_on=None)
    assert paged(asking, "closed", 1, team="t") == []
    first = asking.update(first, state="urgent")
    assert asking.read("urgent", team="t") == [first]
    assert asking.update(asking.update(first, state="lost"), state="calm") in paged(asking, "calm", 5, team="t")
    with pytest.raises(UpdateRejected):
        asking.update(Ticket, ticket_id="1", state="urgent")


def test_an_item_that_an_update_makes_stands_under_its_key(asking: Caller) -> None:
    made = asking.update(
        Update(Ticket, ticket_id="7")
        .set(team="t", state="closed", rank=1, due=date(2026, 1, 1))
        .set(closed_on=date(2026, 1, 2))
        .or_create()
    )
    assert paged(asking, "closed", 1, team="t") == [made]
    again = Update(Ticket, ticket_id="7").set(team="t", state="urgent", rank=1, due=date(2026, 1, 1), closed_on=None)
    assert asking.read("urgent", team="t") == []
    assert asking.update(again.or_create()) in asking.read("urgent", team="t")
    assert paged(asking, "closed", 1, team="t") == []


def test_each_combination_of_two_sets_of_values(asking: Caller) -> None:
    depots = "abc"
    states: tuple[Literal["in", "out", "lost"], ...] = ("in", "out", "lost")
    parcels = [
        asking.put(
            Parcel(parcel_id=str(at // 9), part=at % 9, depot=depots[at % 3], state=states[at // 3 % 3], weight=at)
        )
        for at in range(27)
    ]
    wanted = [parcel for parcel in parcels if parcel.depot in "ab" and parcel.state in {"in", "lost"}]
    assert paged(asking, "parcels", 3, depot=["a", "b", "a"], state=["in", "lost"]) == wanted
    assert paged(asking, "parcels", 5, depot=["b", "a"], state=["lost", "in"], newest_first=True) == wanted[::-1]
    assert paged(asking, "parcels", 5, depot=["a"], state=[]) == []
    parts = asking.read("parts", parcel_id=["2", "0", "7"], part=[1, 0])
    assert [(part.parcel_id, part.part) for part in parts] == [("2", 1), ("2", 0), ("0", 1), ("0", 0)]
    assert asking.read("how_many_parcels", depot=["a", "c"]) == 12
    assert asking.read("are_there", parcel_id=["1", "9", "1"], part=[1, 2]) == 2
    with pytest.raises(ArgumentError, match="101 of parcel_id × 10 of part are 1,010 combinations") as refusal:
        asking.read("parts", parcel_id=[str(number) for number in range(101)], part=list(range(10)))
    assert refusal.value.place == "parcel_id, part"


def test_what_cant_be_read_is_given_in_its_place_where_the_type_takes_it(asking: Caller) -> None:
    jobs: list[Any] = [asking.put(job(number)) for number in range(4)]
    store = asking.design.store
    item = {"Key": {"pk": {"S": "JOB#1"}, "sk": {"S": "HEAD"}}, "TableName": store.table_name}
    change = {"UpdateExpression": "SET #s = :s", "ExpressionAttributeNames": {"#s": "state"}}
    store.transport.call("UpdateItem", {**item, **change, "ExpressionAttributeValues": {":s": {"S": "asleep"}}})
    with pytest.raises(InvalidItemError) as refusal:
        asking.read("jobs", team="t")
    assert refusal.value.place == "Job(pk=JOB#1, sk=HEAD)"
    (broken,) = asking.read("readable_jobs", job_id=["1"])
    assert isinstance(broken, InvalidItem)
    assert (broken.entity, broken.key) == ("Job", {"pk": "JOB#1", "sk": "HEAD"})
    assert "Job.state" in broken.errors[0]
    jobs[1] = broken
    assert paged(asking, "readable", 2, team="t") == jobs
    assert paged(asking, "readable", 1, team="t", newest_first=True) == jobs[::-1]
    assert asking.read("readable_job", job_id="1") == broken
    assert asking.read("readable_ranking", team="t") == jobs[::-1]
    result = asking.read("all_readable")
    assert (len(result), all(value in result for value in jobs)) == (4, True)
    assert answer_json(asking.read("readable", team="t", limit=2))["items"][1]["key"] == {"pk": "JOB#1", "sk": "HEAD"}


def test_jobs_read_everything_in_segments(asking: Caller) -> None:
    jobs = [asking.put(job(number, rank=number)) for number in range(30)]
    tickets = [asking.put(ticket(number, state="urgent")) for number in range(9)]
    steps = [asking.put(Step(job_id="1", number=number, text="")) for number in range(7)]
    calls: list[CallRecord] = []
    asking.design.store.on_call = calls.append
    result = asking.read("all_jobs")
    assert sorted(value.job_id for value in result) == sorted(value.job_id for value in jobs)
    assert sorted(call.parameters["Segment"] for call in calls) == [0, 1, 2]
    assert {call.parameters["TotalSegments"] for call in calls} == {3}
    assert sum(call.read_units for call in calls) > 0
    asking.design.store.on_call = None
    assert sorted(value.ticket_id for value in asking.read("all_tickets")) == [value.ticket_id for value in tickets]
    assert asking.read("how_many_in_all") == len(jobs) + len(steps)


def test_a_job_in_segments_goes_on_where_it_was_stopped(asking: Caller) -> None:
    jobs = [asking.put(job(number, rank=number)) for number in range(30)]
    steps = [asking.put(Step(job_id="1", number=number, text="")) for number in range(7)]
    tickets = [asking.put(ticket(number, state="urgent")) for number in range(9)]
    calls: list[CallRecord] = []
    asking.design.store.on_call = calls.append

    def named(element: Any) -> tuple[str, str, int]:
        return type(element).__name__, element.job_id, getattr(element, "number", 0)

    for limit in (1, 5, 36, 37, 400):
        calls.clear()
        pages = [asking.read("jobs_and_steps", limit=limit)]
        assert {call.parameters["Segment"] for call in calls} == {0, 1, 2}
        while pages[-1].cursor is not None:
            pages.append(asking.read("jobs_and_steps", limit=limit, cursor=pages[-1].cursor))
        assert [len(page) for page in pages] == [limit] * (37 // limit) + [37 % limit] * (37 % limit > 0)
        given = [element for page in pages for element in page]
        assert sorted(given, key=named) == sorted([*jobs, *steps], key=named)
    assert sorted(ticket.ticket_id for ticket in paged(asking, "tickets_by_page", 4)) == [
        ticket.ticket_id for ticket in tickets
    ]


def test_a_place_in_segments_is_one_of_so_many_segments() -> None:
    def open_test_store(segments: int) -> Any:
        class Jobs(Design):
            table = Table("jobs", indexes=[BY_START, BY_RANK])

            @read("J1", scan=True, segments=segments)
            def jobs(self, limit: int = 2, cursor: Cursor | None = None) -> Page[Job]: ...

        return Jobs.open(":memory:")

    with open_test_store(2) as two, open_test_store(3) as three:
        for number in range(5):
            two.put(job(number))
        cursor = two.jobs().cursor
        assert len(two.jobs(cursor=cursor)) == 2
        with pytest.raises(CursorError):
            three.jobs(cursor=cursor)
        with pytest.raises(CursorError):
            two.jobs(cursor=cursor[:-4] + "AAAA")


def test_a_cursor_holds_its_direction(asking: Caller) -> None:
    for number in range(3):
        asking.put(job(number))
    page = asking.read("jobs", team="t", limit=1, newest_first=False)
    with pytest.raises(CursorError):
        asking.read("jobs", team="t", limit=1, cursor=page.cursor)
    following = asking.read("jobs", team="t", limit=1, newest_first=False, cursor=page.cursor)
    assert [value.job_id for value in following] == ["1"]


@pytest.mark.parametrize(
    ("store", "stores"),
    [
        ("memory", 12),
        pytest.param("server", 6, marks=pytest.mark.nightly),
        pytest.param("dynamodb-local", 4, marks=pytest.mark.nightly),
    ],
)
def test_generated_stores(store: str, stores: int, tmp_path: Path) -> None:
    """Every pattern against brute force, on each kind of store."""
    folders = (tmp_path / str(number) for number in itertools.count())
    verify(Asking, stores=stores, seed=1, open=lambda: OPENERS[store](Asking, next(folders)))


def test_a_change_of_what_is_stale_is_refused_where_another_key_is_the_items(asking: Caller) -> None:
    """Its instance is urgent, whose key has no ``rank``; what is stored is calm, and ordered by it."""
    stale = asking.put(ticket(1, state="urgent"))
    calm = asking.put(ticket(1, state="calm"))
    with pytest.raises(ConditionFailed):
        asking.update(stale, rank=9)
    assert asking.update(calm, rank=9).rank == 9
