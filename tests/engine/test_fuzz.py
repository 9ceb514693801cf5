"""Whatever comes in, the answer is an answer or an error of DynamoDB, and a refused request changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.dynamodb.operations.shapes import Flag, ListOf, MapOf, Real, Shape, Structure, Text, Value, Whole
from keyplan.errors import DynamoDBError
from keyplan.store import Engine
from keyplan.store.operations import ACTIONS
from tests.engine.support import answer, create, put, s
from tests.seeds import examples

names = st.sampled_from(["orders", "ByG", "pk", "sk", "g", "h", "x", "#n", ":v", "ab", "arn:aws:x:table/orders"])
texts = st.one_of(
    names,
    st.sampled_from(
        ["pk = :v", "pk = :v AND sk > :v", "x = :v", "SET x = :v", "REMOVE x", "x, g", "1.5", "HASH", "ALL", "\ud800"]
    ),
    st.sampled_from(
        [
            "SELECT * FROM orders WHERE pk = ? AND sk > '0' OR pk = 'b' ORDER BY sk",
            "SELECT x, g[0] FROM orders.ByG WHERE g IN ['g', ?]",
            "INSERT INTO orders VALUE {'pk': ?, 'sk': '1', 'x': [1, <<'a'>>]}",
            "UPDATE orders SET x = x + ? REMOVE g WHERE pk = 'a' AND sk = '1' RETURNING ALL NEW *",
            "DELETE FROM orders WHERE pk = ? AND sk = ?",
            "EXISTS(SELECT * FROM orders WHERE pk = 'a' AND sk = '1' AND x IS MISSING)",
        ]
    ),
    st.text(max_size=8),
)
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)
values = st.one_of(
    texts.map(s),
    st.sampled_from(
        [{"N": "1"}, {"N": "x"}, {"B": "AA=="}, {"B": "!"}, {"SS": ["a"]}, {"SS": []}, {"M": {}}, {"NULL": True}]
    ),
    st.dictionaries(st.sampled_from(["S", "N", "B", "L", "M", "NS", "BOOL"]), anything, max_size=2),
)


def requests(shape: Shape) -> st.SearchStrategy[Any]:
    """Requests near this shape: mostly of the right form, sometimes of any."""
    match shape:
        case Text(enum=enum) if enum:
            right: st.SearchStrategy[Any] = st.sampled_from(enum)
        case Text():
            right = texts
        case Whole():
            right = st.integers(-1, 5)
        case Real():
            right = st.one_of(st.integers(-1, 2**40), st.floats())
        case Flag():
            right = st.booleans()
        case Value():
            right = values
        case ListOf(of=of):
            right = st.lists(requests(of), max_size=3)
        case MapOf(of=of):
            right = st.dictionaries(names, requests(of), max_size=3)
        case Structure(members=members, required=required):
            right = st.fixed_dictionaries(
                {name: requests(member) for name, member in members.items() if name in required},
                optional={name: requests(member) for name, member in members.items() if name not in required},
            )
    return st.one_of(right, right, right, right, right, right, right, anything)


@pytest.fixture(scope="module")
def shared() -> Engine:
    engine = Engine.open(":memory:")
    create(engine)
    put(engine, "a", "1", g=s("g"))
    return engine


@pytest.mark.parametrize("operation", [name for name in OPERATIONS if name != "DeleteTable"])
def test_any_request_is_answered(shared: Engine, operation: str) -> None:
    shape = OPERATIONS[operation].request

    @settings(max_examples=examples(40, 120), deadline=None)
    @given(request=requests(shape))
    def run(request: Any) -> None:
        answered = answer(shared, operation, request)
        assert answered.get("message") != ""

    run()
    assert shared.check() == []


def test_every_operation_has_its_action() -> None:
    assert ACTIONS.keys() == OPERATIONS.keys()


def test_an_unknown_operation(shared: Engine) -> None:
    with pytest.raises(DynamoDBError) as caught:
        shared.call("Unheard", {})
    assert caught.value.type == "UnknownOperationException"


def test_deep_and_long_input(shared: Engine) -> None:
    deep: Any = s("x")
    for _ in range(5000):
        deep = {"L": [deep]}
    for request in (
        {"TableName": "orders", "Item": {"pk": s("a"), "sk": s("2"), "deep": deep}},
        {"TableName": "orders", "Item": {"pk": s("a"), "sk": s("2")}, "ConditionExpression": "(" * 3000},
        {"TableName": "orders" * 100_000, "Item": {}},
    ):
        with pytest.raises(DynamoDBError):
            shared.call("PutItem", request)
