"""What each action asks of a store, and what is said when it fails; how batches and transactions go on by steps."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from keyplan import Add, Append, Check, Create, Delete, Entity, Include, Put, Update
from keyplan.client import batches, transactions
from keyplan.client.batches import batch_get, batch_write
from keyplan.client.conversations import Pause
from keyplan.client.target import Target
from keyplan.client.transactions import Refusal, pause_before_retry, send
from keyplan.client.writes import Operation, WriteCompiler
from keyplan.design.declared.actions import Action
from keyplan.errors import DynamoDBError, ItemNotFound, KeyplanError
from keyplan.testing import Clock
from keyplan.values import item_size
from tests.agreed import assert_agreed
from tests.contract.design import Blob, Comment, Event, Everything, Line, Mark, Order, Post, User
from tests.transports.calls import Note, Notes

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANN = User(user_id="1", email="a@x", nickname="ann", version=4)
BARE = User(user_id="2", email="b@x")
POST = Post(user_id="1", post_id="p", created_at=NOON, status="published", category="c", tags={"b", "a"}, score=7)
BLOB = Blob(name="b", checksum=b"\x00\xff", parts=["x"], sizes={"a": 1})
LINE = Line(order_id="o", number=3, sku="s")
NOTE = Note(book="b", number=1)

ACTIONS: list[Callable[[], Action]] = [
    lambda: Create(ANN),
    lambda: Create(BARE),
    lambda: Put(POST),
    lambda: Put(ANN),
    lambda: Put(LINE).only_if(amount=1),
    lambda: Put(LINE).only_if("amount < :most OR attribute_not_exists(sku)", most=5),
    lambda: Update(ANN, name="Ann"),
    lambda: Update(ANN, email="c@x"),
    lambda: Update(ANN, email="c@x", nickname=None, rating=1).only_if(name="Nobody"),
    lambda: Update(BARE, nickname="ben"),
    lambda: Update(User, user_id="1").set(name="x"),
    lambda: Update(User, user_id="1").set(email="x"),
    lambda: Update(POST, title="t", tags={"c"}),
    lambda: Update(POST, status="draft"),
    lambda: Update(POST, category=None),
    lambda: Update(POST, score=Add(2)),
    lambda: Update(POST, tags=Include({"d"})),
    lambda: Update(Post, user_id="1", post_id="p", created_at=NOON).set(title="t"),
    lambda: Update(Post, user_id="1", post_id="p", created_at=NOON).set(score=3),
    lambda: Update(BLOB, parts=Append(["y"]), sizes={}),
    lambda: Update(Blob, name="b").at(lambda blob: blob.sizes["a"]).set(2),
    lambda: Update(Blob, name="b").at(lambda blob: blob.sizes["a"]).add(2).at(lambda blob: blob.parts[0]).remove(),
    lambda: Update(LINE, amount=2),
    lambda: Update(Line, order_id="o", number=3).set(amount=Add(1)).only_if("amount >= :n", n=1),
    lambda: Update(LINE, number=4),
    lambda: Update(LINE, amounts=4),
    lambda: Update(LINE, amount="x"),
    lambda: Update(LINE),
    lambda: Update(NOTE, views=Add(1)).once("t1"),
    lambda: Update(Note, book="b", number=1).set(views=Add(1)).once("t2"),
    lambda: Update(Mark, group="g").set(text="t").or_create(),
    lambda: Delete(ANN),
    lambda: Delete(LINE),
    lambda: Delete(LINE).only_if(sku="s"),
    lambda: Delete(Line, order_id="o", number=3),
    lambda: Delete(User, user_id="1"),
    lambda: Delete(Line, order_id="o"),
    lambda: Check(ANN).only_if(name="Nobody"),
    lambda: Check(LINE),
    lambda: Check(Line, order_id="o", number=3).only_if("attribute_exists(sku)"),
    lambda: Create(Event(day=NOON.date(), at=NOON, event_id="e", expires=NOON)),
    lambda: Create(Order(order_id="o", user_id="u", placed_at=NOON)),
    lambda: Create(Comment(post_id="p", path=("a", "b"))),
    lambda: Update(LINE, amount=2).final(),
    lambda: Update(LINE, amount=2).if_missing(ItemNotFound("gone")),
]  # fmt: skip


def compiler() -> WriteCompiler:
    entities: dict[type[Entity], Any] = {**Everything.compiled.entities, **Notes.compiled.entities}
    return WriteCompiler(entities, Target("everything", Everything.table))


def plainly(value: Any) -> str:
    text = json.dumps(value, default=_told)
    return re.sub(r'"([A-Za-z]+)":', r"\1:", text)


def _told(value: Any) -> Any:
    return sorted(value) if isinstance(value, set | frozenset) else f"{type(value).__name__} {value!r}"


def error_text(error: KeyplanError) -> str:
    return f"{type(error).__name__}: {error}".replace("\n", "\n      ")


def test_what_actions_ask() -> None:
    lines: list[str] = []
    with Clock(NOON):
        for number, make in enumerate(ACTIONS):
            try:
                compiled = compiler().compile(make())
            except KeyplanError as error:
                lines.append(f"{number} {error_text(error)}")
                continue
            lines.append(f"{number} returned={compiled.returned} {compiled.certain()!r}")
            for operation in compiled.operations:
                lines.append(f"   {operation.description} {operation.kind} {plainly(operation.parameters)}")
                told = f"{operation.role} final={operation.final} missing={operation.missing!r} token={operation.token}"
                lines.append(f"      {told} key={plainly(operation.key)} expects {plainly(dict(operation.expected))}")
    assert_agreed(re.sub(r"\{'(\w)', '(\w)'\}", "{...}", "\n".join(lines)))


class Middle:
    """What is drawn lies in the middle."""

    def uniform(self, low: float, high: float) -> float:
        return (low + high) / 2


@pytest.fixture
def midway(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "random", Middle())
    monkeypatch.setattr(transactions, "random", Middle())


def steps(conversation: Any, answers: Iterator[Any], shown: Callable[[Any], str]) -> list[str]:
    """What a conversation asks; each answer is one, or an error."""
    lines: list[str] = []
    try:
        step = next(conversation)
        while True:
            if isinstance(step, Pause):
                lines.append(f"pause {step.seconds:g}")
                step = conversation.send(None)
                continue
            lines.append(shown(step))
            answer = next(answers)
            if callable(answer):
                answer = answer(step)
            step = conversation.throw(answer) if isinstance(answer, Exception) else conversation.send(answer)
    except StopIteration as end:
        lines.append(f"gives {plainly(end.value)[:300]}")
    except KeyplanError as error:
        lines.append(error_text(error))
    return lines


def sizes(requests: Any) -> str:
    counts = [len(keys_of(request)) for request in requests]
    return f"{requests[0].operation} of {', '.join(map(str, counts))}"


def keys_of(request: Any) -> list[Any]:
    ((_, asked),) = request.parameters["RequestItems"].items()
    return list(asked["Keys"] if isinstance(asked, dict) else asked)


def taking(number: int, member: str = "UnprocessedItems") -> Callable[[Any], Any]:
    """So many of each request are taken."""

    def answer(requests: Any) -> list[dict[str, Any]]:
        result: list[dict[str, Any]] = []
        for request in requests:
            rest = keys_of(request)[number:]
            left: Any = {"Keys": rest} if member == "UnprocessedKeys" else rest
            result.append({member: {"t": left}} if rest else {})
        return result

    return answer


THROTTLED = DynamoDBError("slow down", type="ProvisionedThroughputExceededException")


@pytest.mark.usefixtures("midway")
def test_how_batches_go_on() -> None:
    """Until all is taken, with growing pauses; thirty seconds of nothing end it."""
    writes = [{"PutRequest": {"Item": {"pk": {"S": str(number)}}}} for number in range(26)]
    many = [{"PutRequest": {"Item": {"pk": {"S": str(number)}}}} for number in range(25 * 45)]
    keys = [{"pk": {"S": str(number)}} for number in range(101)]
    nothing, all_of_it = taking(0), taking(100)
    cases: list[tuple[Any, list[Any]]] = [
        (batch_write("t", []), []),
        (batch_write("t", writes[:25]), [all_of_it]),
        (batch_write("t", writes), [taking(24), nothing, taking(1), taking(1)]),
        (batch_write("t", writes), [nothing] * 60),
        (batch_write("t", writes), [*[nothing] * 17, taking(24), *[nothing] * 60]),
        (batch_write("t", many), [THROTTLED, *[all_of_it] * 12]),
        (batch_write("t", many), [all_of_it, THROTTLED, *[all_of_it] * 12]),
        (batch_write("t", writes), [DynamoDBError("no", type="ValidationException")]),
        (batch_get("t", [], consistent=False), []),
        (batch_get("t", [*keys, keys[0]], consistent=True), [taking(99, "UnprocessedKeys"), all_of_it]),
        (batch_get("t", keys[:1] * 2, consistent=False), [[{"Responses": {"t": [keys[0]]}}]]),
    ]
    assert_agreed("\n\n".join("\n".join(steps(asked, iter(answers), sizes)) for asked, answers in cases))


def operations(*actions: Action) -> list[Operation]:
    return [operation for action in actions for operation in compiler().compile(action).operations]


def cancelled(*reasons: Any) -> DynamoDBError:
    listed = [reason if isinstance(reason, dict) else {"Code": reason, "Message": "m"} for reason in reasons]
    return DynamoDBError("cancelled", type="TransactionCanceledException", fields={"CancellationReasons": listed})


def failed(item: Any = None) -> dict[str, Any]:
    return {"Code": "ConditionalCheckFailed", "Message": "m", **({} if item is None else {"Item": item})}


def condition(item: Any = None) -> DynamoDBError:
    return DynamoDBError("no", type="ConditionalCheckFailedException", fields={} if item is None else {"Item": item})


def item_of(instance: Any, **other: Any) -> dict[str, Any]:
    return {**operations(Put(instance))[0].parameters["Item"], **other}


def sent(made: Sequence[Operation], answers: Sequence[Any], returned: str | None = None) -> str:
    refusals: list[Refusal] = []

    def shown(step: Any) -> str:
        assert step.parameters.get("ClientRequestToken", "x" * 36)
        extra = {name: value for name, value in step.parameters.items() if name == "ReturnValues"}
        return f"{step.operation} of {len(step.parameters.get('TransactItems', '1'))} {extra or ''}".rstrip()

    lines = steps(send(made, "Here", returned=returned, refusals=refusals), iter(answers), shown)
    told = [f"{refusal.operation.description} {plainly(refusal.item)[:60]}" for refusal in refusals]
    return "\n".join([*lines, *(f"refused: {text}" for text in told)])


@pytest.mark.usefixtures("midway")
def test_what_is_said_of_what_failed() -> None:
    """One request, and a transaction; by what stands there."""
    conflict, none, throttled = "TransactionConflict", "None", "ThrottlingError"
    expecting = Update(LINE, amount=2).only_if(sku="s", amount=1)
    other = item_of(LINE, sku={"S": "other"}, amount={"N": "5"})
    odd = item_of(LINE, sku={"N": "1"}, amount={"S": "x"})
    less = {name: value for name, value in item_of(LINE).items() if name != "sku"}
    once, done = Update(NOTE, views=Add(1)).once("t"), {"applied": {"SS": ["a", "t"]}}
    gone = Update(LINE, amount=2).if_missing(ItemNotFound("gone"))
    two: list[Action] = [Update(LINE, amount=2).only_if(sku="s"), Delete(POST).only_if(title="", tags={"b", "a"})]
    tagged = item_of(POST, tags={"SS": ["z", "y"]})
    cases: list[tuple[Sequence[Action], Sequence[Any]]] = [
        ([], []),
        *(([expecting], [condition(item)]) for item in (None, other, odd, less, item_of(LINE))),
        ([expecting], [DynamoDBError("busy", type="ThrottlingException")]),
        ([Create(LINE)], [condition(item_of(LINE))]),
        ([Create(LINE)], [condition()]),
        ([Create(LINE).only_if(amount=1)], [condition()]),
        *(([once], [condition(item)]) for item in (done, {"applied": {"SS": ["a"]}}, None)),
        *(([gone], [condition(item)]) for item in (None, item_of(LINE))),
        *((two, [cancelled(*reasons)]) for reasons in (
            (failed(other), none), (none, failed(tagged)), (failed(), failed(tagged)), (failed(other), throttled),
            (throttled, throttled), (none, none), (), (failed(other),), (conflict, failed(tagged)),
        )),
        (two, [cancelled(conflict, none), cancelled(none, conflict), {"Done": 1}]),
        (two, [cancelled(conflict, none)] * 8),
        (two, [DynamoDBError("busy", type="TransactionInProgressException")] * 8),
        (two, [DynamoDBError("no", type="ValidationException")]),
        ([gone, Put(POST)], [cancelled(failed(), none)]),
        ([gone, Put(POST)], [cancelled(failed(item_of(LINE)), none)]),
        ([once, Put(POST)], [cancelled(failed(done), none)]),
        ([once, Put(POST)], [cancelled(failed({}), none)]),
        ([once, Update(Note(book="b", number=2), views=Add(1)).once("u")], [cancelled(failed(done), none)]),
        ([Create(ANN)], [cancelled(failed(item_of(LINE)), failed(), failed())]),
        ([Create(ANN)], [cancelled(none, failed(), none)]),
        ([Create(ANN)], [cancelled(none, failed(), failed())]),
        ([Create(ANN), Create(LINE)], [cancelled(failed(item_of(LINE)), none, none, none)]),
        ([Create(ANN), Create(LINE)], [cancelled(failed(item_of(LINE)), none, none, failed(item_of(LINE)))]),
        ([Create(ANN), Create(LINE)], [cancelled(none, failed(), none, failed(item_of(LINE)))]),
    ]  # fmt: skip
    texts = [sent(operations(*actions), answers) for actions, answers in cases]
    texts.append(sent(operations(expecting), [{"Attributes": {}}], "ALL_OLD"))
    texts.append(sent(operations(*two), [{}], "ALL_OLD"))
    assert_agreed("\n\n".join(texts))


@pytest.mark.usefixtures("midway")
def test_how_large_transactions_may_be() -> None:
    lines = [f"{attempt}: {pause_before_retry(attempt).seconds:g}" for attempt in (0, 1, 2, 7, 8, 9, 50)]
    lines.append(sent(operations(*(Check(Line(order_id="o", number=number, sku="s")) for number in range(101))), []))
    lines.append(sent(operations(*(Check(Line(order_id="o", number=number, sku="s")) for number in range(100))), [{}]))
    for over in (-1, 0, 1):
        blobs = [Blob(name=f"{number:02}", checksum=b"x", parts=["x" * 390_000]) for number in range(11)]
        bytes_left = 4_194_304 - sum(item_size(item_of(blob)) for blob in blobs[:10])
        blobs[10].parts[0] = "x" * (390_000 + bytes_left - item_size(item_of(blobs[10])) + over)
        lines.append(f"{over}: {sent(operations(*map(Put, blobs), Delete(LINE)), [{}])}")
    lines.append(sent(operations(Put(LINE), Put(LINE)), []))
    assert_agreed("\n".join(lines))
