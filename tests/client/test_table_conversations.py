"""A table's conversations with a store, step by step: what is asked, how long is waited, and where a table differs."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from keyplan.client import tables
from keyplan.client.conversations import Conversation, Pause, Request
from keyplan.errors import DynamoDBError, KeyplanError, StoreError
from tests.agreed import assert_agreed

READY = {"TableStatus": "ACTIVE", "KeySchema": [], "AttributeDefinitions": []}
MISSING = DynamoDBError("no such table", type="ResourceNotFoundException")
THERE = DynamoDBError("it is there", type="ResourceInUseException")
DENIED = DynamoDBError("you may not", type="AccessDeniedException")
NO_EXPIRY = {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}


class Clock:
    """A clock that only pauses move."""

    def __init__(self) -> None:
        self.now = 50.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(tables, "time", made)
    return made


def talk(conversation: Conversation[Any], answers: list[Any], clock: Clock | None = None) -> str:
    """What is asked and answered, in lines; the last answer is given again and again."""
    lines: list[str] = []
    left = list(answers)
    try:
        step: Any = next(conversation)
        while True:
            if isinstance(step, Pause):
                if not lines or lines[-1] != f"pause {step.seconds}":
                    lines.append(f"pause {step.seconds}")
                if clock is not None:
                    clock.now += step.seconds
                step = conversation.send(None)
                continue
            assert isinstance(step, Request)
            asked = f"{step.operation} {step.parameters}"
            if len(left) > 1 or asked not in lines:
                lines.append(asked)
            answer = left.pop(0) if len(left) > 1 else left[0]
            step = conversation.throw(answer) if isinstance(answer, Exception) else conversation.send(answer)
    except StopIteration as ended:
        lines.append(f"gives {ended.value}")
    except KeyplanError as error:
        lines.append(f"{type(error).__name__}: {error.message} ({error.hint})")
    return "\n".join(lines)


def described(**members: Any) -> dict[str, Any]:
    return {"Table": {**READY, **members}}


def test_describing() -> None:
    answers: list[Any] = [described(), MISSING, DENIED, {"Table": {"TableStatus": "ACTIVE"}}, {"Table": 1}]
    assert_agreed("\n\n".join(talk(tables.describe_table("notes"), [answer]) for answer in answers))


def test_waiting(clock: Clock) -> None:
    """Until the table and its indexes are there; ten minutes at most."""
    index, ready = {"IndexStatus": "CREATING"}, {"IndexStatus": "ACTIVE"}
    cases: list[list[Any]] = [
        [described()],
        [MISSING, described()],
        [described(TableStatus="CREATING"), described(GlobalSecondaryIndexes=[ready, index]), described()],
        [described(GlobalSecondaryIndexes=[ready, {}])],
        [described(TableStatus="UPDATING"), described(TableStatus="DELETING")],
        [described(GlobalSecondaryIndexes=[ready, {"IndexStatus": "DELETING"}])],
        [described(TableStatus="CREATING")],
        [DENIED],
    ]
    texts: list[str] = []
    for answers in cases:
        clock.now = 50.0
        texts.append(f"{talk(tables.until_ready('notes'), answers, clock)}\nafter {clock.now - 50} s")
    texts.append(talk(tables.until_ready("notes", READY), [described()]))
    texts.append(talk(tables.until_ready("notes", {**READY, "TableStatus": "CREATING"}), [described()]))
    assert_agreed("\n\n".join(texts))


def test_making() -> None:
    """Another process may be quicker; expiry is set where it isn't."""
    wanted = {"TableName": "notes", "KeySchema": [1]}
    made = {"TableDescription": READY}
    on = {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLING", "AttributeName": "gone"}}
    other = {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "other"}}
    ending = {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLING", "AttributeName": "gone"}}
    cases: list[tuple[str | None, list[Any]]] = [
        (None, [made]),
        (None, [THERE, described(TableStatus="CREATING"), described()]),
        (None, [DENIED]),
        *(("gone", [made, ttl, {}]) for ttl in (on, other, ending, NO_EXPIRY)),
    ]
    texts = [talk(tables.create_table(wanted, attribute), answers) for attribute, answers in cases]
    texts += [talk(tables.expire_items("notes", "gone"), [ttl, {}]) for ttl in (on, other)]
    assert_agreed("\n\n".join(texts))


def key(*names: str) -> list[dict[str, str]]:
    kinds = zip(names, ("HASH", "RANGE"), strict=False)
    return [{"AttributeName": name, "KeyType": kind} for name, kind in kinds]


def index(name: str, *names: str, projection: str | list[str] = "ALL", **members: Any) -> dict[str, Any]:
    projected: dict[str, Any] = {"ProjectionType": projection if isinstance(projection, str) else "INCLUDE"}
    if not isinstance(projection, str):
        projected["NonKeyAttributes"] = projection
    return {"IndexName": name, "KeySchema": key(*names), "Projection": projected, **members}


WANTED: dict[str, Any] = {
    "TableName": "notes",
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "a", "b", "c")],
    "KeySchema": key("pk", "sk"),
    "GlobalSecondaryIndexes": [index("A", "a", "sk"), index("B", "b", projection=["z", "y"]), index("C", "c")],
    "LocalSecondaryIndexes": [index("L", "pk", "a", projection="KEYS_ONLY")],
}


def test_adding_indexes() -> None:
    """One after the other; of a provisioned table each is provisioned as the table is."""
    provisioned = {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4, "NumberOfDecreasesToday": 0}
    on_demand = {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}
    there = [index("B", "b")]
    cases: list[dict[str, Any]] = [
        {},
        {"GlobalSecondaryIndexes": there},
        {"GlobalSecondaryIndexes": there, "ProvisionedThroughput": provisioned},
        {"GlobalSecondaryIndexes": there, "ProvisionedThroughput": on_demand},
        {"GlobalSecondaryIndexes": WANTED["GlobalSecondaryIndexes"]},
    ]
    answers = [{}, described(TableStatus="UPDATING"), described(), {}, described(), {}, described()]
    texts = [talk(tables.add_indexes(WANTED, result), answers) for result in cases]
    assert talk(tables.add_indexes({"TableName": "notes"}, {}), []) == "gives []"
    assert_agreed("\n\n".join(texts))


def changed(**members: Any) -> dict[str, Any]:
    return {**deepcopy(WANTED), **members}


def variants() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "as it is", changed()
    yield (
        "another type",
        changed(
            AttributeDefinitions=[
                {"AttributeName": "pk", "AttributeType": "N"},
                {"AttributeName": "sk", "AttributeType": "S"},
            ]
        ),
    )
    yield "another key", changed(KeySchema=key("pk"))
    indexes = WANTED["GlobalSecondaryIndexes"]
    yield "no indexes", changed(GlobalSecondaryIndexes=[], LocalSecondaryIndexes=[])
    yield "one too many", changed(GlobalSecondaryIndexes=[*indexes, index("D", "d")])
    yield (
        "a local one too many",
        changed(LocalSecondaryIndexes=[*WANTED["LocalSecondaryIndexes"], index("M", "pk", "b")]),
    )
    yield (
        "a local one for a global one",
        changed(
            GlobalSecondaryIndexes=indexes[1:], LocalSecondaryIndexes=[*WANTED["LocalSecondaryIndexes"], indexes[0]]
        ),
    )
    for other in (
        index("B", "b"),
        index("B", "b", projection="KEYS_ONLY"),
        index("B", "b", projection=["y", "z"]),
        index("B", "b", projection=["y", "z", "x"]),
        index("B", "b", projection=["y"]),
        index("B", "b", projection=["y", "x"]),
        index("B", "b", "sk", projection=["y", "z"]),
        index("B", "b", projection=["y", "z"], IndexStatus="CREATING"),
        index("B", "b", projection=["y", "z"], IndexStatus="ACTIVE"),
        {"IndexName": "B", "KeySchema": key("b")},
    ):
        yield f"another index {other}", changed(GlobalSecondaryIndexes=[indexes[0], other, indexes[2]])
    for text in ("KEYS_ONLY", ["x"]):
        other = index("A", "a", "sk", projection=text)
        yield f"less than all: {text}", changed(GlobalSecondaryIndexes=[other, *indexes[1:]])
    yield "more than keys", changed(LocalSecondaryIndexes=[index("L", "pk", "a", projection=["x"])])


def test_where_a_table_differs() -> None:
    """Each difference with what helps, and whether it is serious; what adding indexes doesn't mend."""
    lines: list[str] = []
    for name, result in variants():
        found = list(tables.differences(WANTED, result))
        lines += [name, *(f"  {one.fault}{'' if one.serious else ' (not serious)'}" for one in found)]
        lines.append(f"  unmended: {[one.place for one in tables.unmended(WANTED, result)]}")
    bare = {name: value for name, value in WANTED.items() if not name.endswith("Indexes")}
    assert list(tables.differences(bare, bare)) == tables.unmended(bare, bare) == []
    assert [one.place for one in tables.differences(bare, WANTED)] == ["index A", "index B", "index C", "index L"]
    assert_agreed("\n".join(lines))


def test_drift() -> None:
    """With the expiry; serious ones first."""
    lines: list[str] = []
    by = {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "gone"}}
    less = changed(GlobalSecondaryIndexes=[*WANTED["GlobalSecondaryIndexes"][1:], index("D", "d")])
    states: list[dict[str, Any]] = [NO_EXPIRY, by, {"TimeToLiveDescription": {}}]
    for attribute in (None, "gone", "other"):
        for state in states:
            for result in (WANTED, less):
                conversation = tables.drift(WANTED, result, attribute)
                assert isinstance(next(conversation), Request)
                with pytest.raises(StopIteration) as ended:
                    conversation.send(state)
                found = ended.value.value
                lines.append(f"{attribute}, {state['TimeToLiveDescription']}:")
                lines += [f"  {one.fault}{'' if one.serious else ' (not serious)'}" for one in found]
    assert_agreed("\n".join(lines))


def test_the_error_of_a_table_that_differs() -> None:
    less = changed(LocalSecondaryIndexes=[])
    error = tables.mismatch(tables.differences(WANTED, less), "here", "notes", "Notes.open")
    assert isinstance(error, StoreError)
    assert_agreed(str(error))
