# mypy: disable-error-code="empty-body"
"""The direction, the key and sets of values as arguments of calls, on every store."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest

from keyplan import CallRecord, Cursor, Design, InvalidItem, Page, Range, Table, Update, read
from keyplan.errors import ArgumentError, ConditionFailed, CursorError, InvalidItemError, UpdateRejected
from keyplan.formatting.results import answer_json
from tests.contract.asking import BY_RANK, BY_START, Asking, Job, Parcel, Step, Ticket, Watch
from tests.contract.stores import Caller, caller_of, check_generated, generated
from tests.contract.test_patterns import paged

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


caller = caller_of(Asking)


def job(number: int, **more: Any) -> Job:
    given = {"team": "t", "rank": 9 - number, "started_at": NOON + timedelta(hours=number)}
    return Job(job_id=str(number), **{**given, **more})


def test_newest_first_argument_of_a_call_selects_the_direction(caller: Caller) -> None:
    jobs = [caller.put(job(number)) for number in range(5)]
    steps = [caller.put(Step(job_id="1", number=number, text="")) for number in range(4)]
    assert paged(caller, "jobs", 2, team="t") == jobs[::-1]
    assert paged(caller, "jobs", 2, team="t", newest_first=False) == jobs
    assert paged(caller, "ranking", 2, team="t", newest_first=True) == jobs
    assert paged(caller, "ranking", 2, team="t", newest_first=False) == jobs[::-1]
    assert [caller.read("first", team="t"), caller.read("first", team="t", newest_first=True)] == [jobs[0], jobs[4]]
    assert caller.read("steps", job_id="1") == steps
    assert caller.read("steps", job_id="1", newest_first=True) == steps[::-1]
    assert caller.read("by_rank", team="t") == jobs[::-1]


def test_merged_partitions_and_junctions_are_read_in_the_given_direction(caller: Caller) -> None:
    jobs = [caller.put(job(number, team="ab"[number % 2])) for number in range(4)]
    for number in (0, 3, 1):
        caller.put(Watch(person="p", job_id=str(number), since=NOON + timedelta(days=number)))
        caller.put(Step(job_id=str(number), number=number, text=""))
    for number in (5, 7):
        caller.put(Step(job_id="3", number=number, text=""))
    assert paged(caller, "of_teams", 1, team=["a", "b"]) == jobs
    assert paged(caller, "of_teams", 3, team=["a", "b"], newest_first=True) == jobs[::-1]
    assert paged(caller, "watched", 2, person="p") == [jobs[3], jobs[1], jobs[0]]
    assert paged(caller, "watched", 1, person="p", newest_first=False) == [jobs[0], jobs[1], jobs[3]]
    newest = [value.number for value in paged(caller, "steps_watched", 2, person="p")]
    oldest = [value.number for value in paged(caller, "steps_watched", 2, person="p", newest_first=False)]
    assert (newest, oldest) == ([7, 5, 3, 1, 0], [0, 1, 3, 5, 7])


def ticket(number: int, **more: Any) -> Ticket:
    return Ticket(ticket_id=str(number), **{"team": "t", "rank": number, "due": date(2026, 3, 1 + number), **more})


def test_item_is_in_an_index_under_one_of_several_mutually_exclusive_keys(caller: Caller) -> None:
    tickets = [caller.put(ticket(number, state=("urgent", "calm", "lost")[number % 3])) for number in range(7)]
    assert caller.read("urgent", team="t") == tickets[::3]
    assert caller.read("urgent", team="t", due=Range(gt=date(2026, 3, 1))) == [tickets[3], tickets[6]]
    assert paged(caller, "calm", 1, team="t") == [tickets[1], tickets[4]]
    assert paged(caller, "calm", 1, team="t", newest_first=True) == [tickets[4], tickets[1]]
    assert [caller.read("how_many_calm", team="t"), caller.read("how_many_somewhere")] == [2, 5]


def test_update_moves_an_item_to_another_index_key(caller: Caller) -> None:
    first, second = caller.put(ticket(1)), caller.put(ticket(2))
    first = caller.update(first, state="closed", closed_on=date(2026, 4, 1))
    assert paged(caller, "calm", 1, team="t") == [second]
    assert paged(caller, "closed", 1, team="t") == [first]
    first = caller.update(first, rank=5)  # a field of a key that doesn't apply
    assert paged(caller, "closed", 1, team="t") == [first]
    assert caller.read("closed_in", team="t", state="closed", closed_on=Range(ge=date(2026, 4, 1))) == [first]
    first = caller.update(first, closed_on=None)
    assert paged(caller, "closed", 1, team="t") == []
    first = caller.update(first, state="urgent")
    assert caller.read("urgent", team="t") == [first]
    assert caller.update(caller.update(first, state="lost"), state="calm") in paged(caller, "calm", 5, team="t")
    with pytest.raises(UpdateRejected):
        caller.update(Ticket, ticket_id="1", state="urgent")


def test_item_created_by_an_update_has_the_matching_index_key(caller: Caller) -> None:
    made = caller.update(
        Update(Ticket, ticket_id="7")
        .set(team="t", state="closed", rank=1, due=date(2026, 1, 1))
        .set(closed_on=date(2026, 1, 2))
        .or_create()
    )
    assert paged(caller, "closed", 1, team="t") == [made]
    again = Update(Ticket, ticket_id="7").set(team="t", state="urgent", rank=1, due=date(2026, 1, 1), closed_on=None)
    assert caller.read("urgent", team="t") == []
    assert caller.update(again.or_create()) in caller.read("urgent", team="t")
    assert paged(caller, "closed", 1, team="t") == []


def test_read_with_two_sets_of_values_returns_items_of_each_combination(caller: Caller) -> None:
    depots = "abc"
    states: tuple[Literal["in", "out", "lost"], ...] = ("in", "out", "lost")
    parcels = [
        caller.put(
            Parcel(parcel_id=str(at // 9), part=at % 9, depot=depots[at % 3], state=states[at // 3 % 3], weight=at)
        )
        for at in range(27)
    ]
    expected = [parcel for parcel in parcels if parcel.depot in "ab" and parcel.state in {"in", "lost"}]
    assert paged(caller, "parcels", 3, depot=["a", "b", "a"], state=["in", "lost"]) == expected
    assert paged(caller, "parcels", 5, depot=["b", "a"], state=["lost", "in"], newest_first=True) == expected[::-1]
    assert paged(caller, "parcels", 5, depot=["a"], state=[]) == []
    parts = caller.read("parts", parcel_id=["2", "0", "7"], part=[1, 0])
    assert [(part.parcel_id, part.part) for part in parts] == [("2", 1), ("2", 0), ("0", 1), ("0", 0)]
    assert caller.read("how_many_parcels", depot=["a", "c"]) == 12
    assert caller.read("are_there", parcel_id=["1", "9", "1"], part=[1, 2]) == 2
    with pytest.raises(ArgumentError, match=r"1,010 combinations of values \(101 of parcel_id") as refusal:
        caller.read("parts", parcel_id=[str(number) for number in range(101)], part=list(range(10)))
    assert refusal.value.place == "parcel_id, part"


def test_invalid_items_are_returned_if_the_return_type_includes_them(caller: Caller) -> None:
    jobs: list[Any] = [caller.put(job(number)) for number in range(4)]
    store = caller.design.store
    item = {"Key": {"pk": {"S": "JOB#1"}, "sk": {"S": "HEAD"}}, "TableName": store.table_name}
    change = {"UpdateExpression": "SET #s = :s", "ExpressionAttributeNames": {"#s": "state"}}
    store.transport.call("UpdateItem", {**item, **change, "ExpressionAttributeValues": {":s": {"S": "asleep"}}})
    with pytest.raises(InvalidItemError) as refusal:
        caller.read("jobs", team="t")
    assert refusal.value.place == "Job(pk=JOB#1, sk=HEAD)"
    (broken,) = caller.read("readable_jobs", job_id=["1"])
    assert isinstance(broken, InvalidItem)
    assert (broken.entity, broken.key) == ("Job", {"pk": "JOB#1", "sk": "HEAD"})
    assert "Job.state" in broken.errors[0]
    jobs[1] = broken
    assert paged(caller, "readable", 2, team="t") == jobs
    assert paged(caller, "readable", 1, team="t", newest_first=True) == jobs[::-1]
    assert caller.read("readable_job", job_id="1") == broken
    assert caller.read("readable_ranking", team="t") == jobs[::-1]
    result = caller.read("all_readable")
    assert (len(result), all(value in result for value in jobs)) == (4, True)
    assert answer_json(caller.read("readable", team="t", limit=2))["items"][1]["key"] == {"pk": "JOB#1", "sk": "HEAD"}


def test_parallel_scan_reads_all_segments(caller: Caller) -> None:
    jobs = [caller.put(job(number, rank=number)) for number in range(30)]
    tickets = [caller.put(ticket(number, state="urgent")) for number in range(9)]
    steps = [caller.put(Step(job_id="1", number=number, text="")) for number in range(7)]
    calls: list[CallRecord] = []
    caller.design.store.on_call = calls.append
    result = caller.read("all_jobs")
    assert sorted(value.job_id for value in result) == sorted(value.job_id for value in jobs)
    assert sorted(call.parameters["Segment"] for call in calls) == [0, 1, 2]
    assert {call.parameters["TotalSegments"] for call in calls} == {3}
    assert sum(call.read_units for call in calls) > 0
    caller.design.store.on_call = None
    assert sorted(value.ticket_id for value in caller.read("all_tickets")) == [value.ticket_id for value in tickets]
    assert caller.read("how_many_in_all") == len(jobs) + len(steps)


def test_parallel_scan_continues_from_its_cursor(caller: Caller) -> None:
    jobs = [caller.put(job(number, rank=number)) for number in range(30)]
    steps = [caller.put(Step(job_id="1", number=number, text="")) for number in range(7)]
    tickets = [caller.put(ticket(number, state="urgent")) for number in range(9)]
    calls: list[CallRecord] = []
    caller.design.store.on_call = calls.append

    def named(element: Any) -> tuple[str, str, int]:
        return type(element).__name__, element.job_id, getattr(element, "number", 0)

    for limit in (1, 5, 36, 37, 400):
        calls.clear()
        pages = [caller.read("jobs_and_steps", limit=limit)]
        assert {call.parameters["Segment"] for call in calls} == {0, 1, 2}
        while pages[-1].cursor is not None:
            pages.append(caller.read("jobs_and_steps", limit=limit, cursor=pages[-1].cursor))
        assert [len(page) for page in pages] == [limit] * (37 // limit) + [37 % limit] * (37 % limit > 0)
        given = [element for page in pages for element in page]
        assert sorted(given, key=named) == sorted([*jobs, *steps], key=named)
    assert sorted(ticket.ticket_id for ticket in paged(caller, "tickets_by_page", 4)) == [
        ticket.ticket_id for ticket in tickets
    ]


def test_cursor_of_a_scan_with_another_number_of_segments_is_rejected() -> None:
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


def test_cursor_of_the_opposite_direction_is_rejected(caller: Caller) -> None:
    for number in range(3):
        caller.put(job(number))
    page = caller.read("jobs", team="t", limit=1, newest_first=False)
    with pytest.raises(CursorError):
        caller.read("jobs", team="t", limit=1, cursor=page.cursor)
    following = caller.read("jobs", team="t", limit=1, newest_first=False, cursor=page.cursor)
    assert [value.job_id for value in following] == ["1"]


@pytest.mark.parametrize(("store", "stores"), generated(12, 6, 6))
def test_reads_with_call_options_match_the_brute_force_results(store: str, stores: int, tmp_path: Path) -> None:
    check_generated(Asking, store, stores, tmp_path)


def test_update_of_a_stale_instance_whose_stored_item_has_another_key_is_rejected(caller: Caller) -> None:
    """The stale ticket is urgent and has a key without ``rank``. The stored ticket is calm and sorted by rank."""
    stale = caller.put(ticket(1, state="urgent"))
    calm = caller.put(ticket(1, state="calm"))
    with pytest.raises(ConditionFailed):
        caller.update(stale, rank=9)
    assert caller.update(calm, rank=9).rank == 9
