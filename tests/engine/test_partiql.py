"""PartiQL statements. Error messages are those recorded or documented for DynamoDB (decision 0031)."""

from __future__ import annotations

# ruff: noqa: E501 - some of DynamoDB's messages and statements are long
from collections.abc import Iterator
from typing import Any

import pytest

from keyplan.store import Engine
from keyplan.store.statements import statement_plans as statements
from tests.engine.support import answer, create, index, n, s

BAD = "Statement wasn't well formed, can't be processed: "
SEVERAL = 'Unsupported operation: Inserting multiple items in a single statement is not supported, use "INSERT INTO tableName VALUE item" instead'
KEYED = "WHERE pk='a' AND sk='1'"
ITEM: dict[str, Any] = {
    "pk": s("a"),
    "sk": s("1"),
    "text": s("hello"),
    "number": n(5),
    "yes": {"BOOL": True},
    "nothing": {"NULL": True},
    "numbers": {"NS": ["1", "2"]},
    "list": {"L": [n(5), s("x")]},
    "map": {"M": {"inner": {"M": {"deep": n(7)}}}},
    "g": s("g1"),
    "h": s("1"),
}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:") as engine:
        create(engine)
        engine.call("PutItem", {"TableName": "orders", "Item": ITEM})
        for number in range(2, 6):
            item = {"pk": s("a"), "sk": s(str(number)), "number": n(number), "g": s("g1"), "h": s(str(number))}
            engine.call("PutItem", {"TableName": "orders", "Item": item})
        for number in range(3):
            engine.call("PutItem", {"TableName": "orders", "Item": {"pk": s("b"), "sk": s(str(number))}})
        yield engine
        assert engine.check() == []


def run(engine: Engine, statement: str, *parameters: Any, **more: Any) -> dict[str, Any]:
    given = {"Parameters": list(parameters)} if parameters else {}
    return answer(engine, "ExecuteStatement", {"Statement": statement, **given, **more})


def error_message(engine: Engine, statement: str, *parameters: Any, **more: Any) -> str:
    answered = run(engine, statement, *parameters, **more)
    assert answered.get("error") == "ValidationException", answered
    return str(answered["message"])


def sorts(answered: dict[str, Any]) -> list[str]:
    return [item["sk"]["S"] for item in answered["Items"]]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT", BAD + "Unexpected term"),
        ("SELECT * FROM", BAD + "Unexpected term"),
        ("SELECT * FROM orders extra words", BAD + "Unexpected token after expression"),
        ("SELECT * FROM orders WHERE pk =", BAD + "Missing right-hand side expression of infix operator"),
        ("SELECT * FROM orders WHERE pk = 'a' AND", BAD + "Missing right-hand side expression of infix operator"),
        ("SELECT * FROM orders WHERE AND pk = 'a'", BAD + "Unexpected operator"),
        ("SELECT * FROM orders WHERE WHERE", BAD + "Unexpected keyword"),
        ("SELECT * FROM orders WHERE pk IS nonsense", BAD + "Expected type name"),
        ("SELECT * FROM 'orders'", "Unexpected from source"),
        ("SELECT * FROM (SELECT * FROM orders)", BAD + "Unexpected keyword"),
        ("SELECT * FROM orders, others", "Only select from a single table or index is supported."),
        ("SELECT * FROM orders LEFT JOIN others", "Only select from a single table or index is supported."),
        ("SELECT * FROM orders[0]", "Invalid list expression in source."),
        ("SELECT * FROM orders GROUP BY pk", "Unsupported clause: GROUP BY"),
        ("SELECT DISTINCT pk FROM orders", "Unsupported token in expression: DISTINCT"),
        ("SELECT VALUE pk FROM orders", "Select projection doesn't support value or pivot keywords"),
        ("SELECT pk p FROM orders", "Aliasing is not supported"),
        ("SELECT map.size FROM orders", BAD + "Invalid path dot component"),
        ("SELECT * FROM orders WHERE date = 'x'", BAD + "Unexpected keyword"),
        ("SELECT upper(pk) FROM orders", "Unexpected path component at 1:8:5"),
        ("SELECT * FROM orders WHERE upper(pk) = 'x'", "Unrecognized function: upper at 1:28:5"),
        ("UPDATE orders SET count = 1 WHERE pk = 'a'", BAD + "Expected identifier for simple path"),
        ("UPDATE orders REMOVE 'x' WHERE pk = 'a'", BAD + "Expected identifier for simple path"),
        ("UPDATE orders REMOVE x, y WHERE pk = 'a' AND sk = '1'", BAD + "Unexpected token after expression"),
        ("SLECT * FROM orders WHERE pk = 'a'", BAD + "Expected data manipulation"),
        ("SELECT map.inner FROM orders", BAD + "Invalid path dot component"),
        ("SELECT * FROM orders WHERE pk = 'open", BAD),
        ('SELECT * FROM "open', BAD),
        ("SELECT # FROM orders", BAD),
        ("SELECT * FROM orders /* open", BAD),
        ("SELECT * FROM orders WHERE number = 1e9999999999", BAD),
        ("SELECT * FROM orders AS o", "Aliasing is not supported"),
        ("SELECT pk AS p FROM orders", "Aliasing is not supported"),
        ("x IS NULL", "Unsupported operation: IsType"),
        ("SELECT * FROM orders LIMIT 5", "Unsupported clause: LIMIT at 1:28:1"),
        ("SELECT * FROM orders WHERE EXISTS(ss)", "Unrecognized function: exists at 1:28:6"),
        ("SELECT * FROM orders WHERE nofun(pk, 'a')", "Unrecognized function: nofun at 1:28:5"),
        ("SELECT COUNT(*) FROM orders", "Unexpected path component at 1:8:5"),
        ("SELECT pk, map.pk FROM orders", "Duplicate identifiers in select clause: pk"),
        ("SELECT * FROM orders WHERE pk", "WHERE clause must contain an expression that resolves to a boolean"),
        ("SELECT * FROM orders WHERE NOT pk", "The argument to NOT must be a Type or Expression"),
        ("SELECT * FROM orders WHERE pk='a' AND sk", "The arguments to AND/OR must be Expressions"),
        ("SELECT * FROM orders WHERE pk = missing", "MISSING must be compared using IS operator"),
        ("SELECT * FROM orders WHERE number + 1 = 2", "Unsupported operator in Condition Expression. Operator: +"),
        ("SELECT * FROM orders WHERE pk IN 5", "IN operator must have a left hand argument of type Variable Reference and right hand argument of type Seq with at least one member"),
        ("SELECT * FROM orders WHERE attribute_exists('x')", "Operator or function requires a document path; operator or function: attribute_exists"),
        ("SELECT * FROM nowhere WHERE number < true", "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"),
        ("SELECT * FROM a.b.c", "A path may contain at most 2 components in the FROM clause"),
        ('SELECT * FROM orders.""', "Path component cannot be an empty string"),
        ("SELECT * FROM orders.none", "The table does not have the specified index"),
        ("SELECT * FROM orders ORDER BY sk", "Must have WHERE clause in the statement when using ORDER BY clause."),
        ("SELECT * FROM orders WHERE number = 1 ORDER BY sk", "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."),
        ("SELECT * FROM orders WHERE pk = 'a' ORDER BY number", "Attribute number in ORDER BY clause must be part of the primary key"),
        ("SELECT * FROM orders WHERE pk = 1", "One or more parameter values were invalid: Condition parameter type does not match schema type"),
        ("SELECT * FROM orders WHERE pk = ''", "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk"),
        ("SELECT * FROM orders WHERE pk = 'a' AND sk > '1' OR pk = 'a' AND sk < '3'", "Overlapping conditions with range keys are not supported in where clause"),
        ("SELECT * FROM orders WHERE pk = ?", "Number of parameters in request and statement don't match."),
        ('INSERT INTO orders."ByG" VALUE {}', "FROM clause may only contain a single table name in data manipulation statements at 1:13:6"),
        ("INSERT INTO orders AS o VALUE {}", BAD + "Unexpected keyword"),
        ("INSERT INTO orders o VALUE {}", BAD + "Unexpected token after expression"),
        ("INSERT INTO orders {'pk': 'n', 'sk': '1'}", SEVERAL),
        ("INSERT INTO orders <<{'pk': 'n', 'sk': '1'}>>", SEVERAL),
        ("INSERT INTO orders VALUES ('n', '1')", SEVERAL),
        ("INSERT INTO orders (pk, sk) VALUES ('n', '1')", BAD + "Unexpected token after expression"),
        ("INSERT INTO orders (key, sk) VALUES ('n', '1')", BAD + "Unexpected keyword"),
        ("INSERT INTO orders VALUE {} AT 1", "AT is not supported in insert statements. at 1:1:6"),
        ("INSERT INTO orders VALUE {pk: 'n'}", "Tuple keys must be of type String. Actual type: VariableReference under root at 1:27:2"),
        ("INSERT INTO orders VALUE 5", "Unsupported format in item expression. Please use struct format {...} to express item values for insert statement. at 1:26:1"),
        ("INSERT INTO orders VALUE {'pk': 'z', 'sk': '1', 'x': -0.0}", "Negative zero decimal is not supported under key root at 1:55:3"),
        ("INSERT INTO orders VALUE {'x': <<>>}", "Empty bags are not supported"),
        ("INSERT INTO orders VALUE {'x': 1, 'x': 2}", "Duplicate keys in tuple. Key: x under root at 1:35:3"),
        ("INSERT INTO orders VALUE {'x': y}", "Unsupported data type: y under key root at 1:32:1"),
        ("INSERT INTO orders VALUE {'x': missing}", "Unsupported data type: MISSING under key root at 1:32:7"),
        ("INSERT INTO orders VALUE {'pk': 'a', 'sk': 'b', 'x': [1, {'y': 1e200}]}", "Number overflow. Attempting to store a number with magnitude larger than supported range under root[1].y"),
        ("INSERT INTO orders VALUE {'pk': 'z', 'sk': '1'} RETURNING ALL OLD *", "RETURNING is not supported in INSERT"),
        ("INSERT INTO orders VALUE {'pk': 'z'}", "One or more parameter values were invalid: Missing the key sk in the item"),
        ("UPDATE orders.\"ByG\" SET number = 1 WHERE g = 'g1'", "This operation is not supported on an index"),
        ("UPDATE nowhere.\"ByG\" SET x = 1 WHERE pk = 'a'", "This operation is not supported on an index"),
        ("DELETE FROM nowhere.\"ByG\" WHERE pk = 'a'", "This operation is not supported on an index"),
        ("UPDATE orders SET number = 1 WHERE pk = 'a'", "Where clause does not contain a mandatory equality on all key attributes"),
        ("DELETE FROM orders WHERE pk = 'a' AND sk > '0'", "Where clause does not contain a mandatory equality on all key attributes"),
        (f"UPDATE orders SET pk = 'x' {KEYED}", "One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key"),
        (f"UPDATE orders SET numbers = set_add(numbers) {KEYED}", "SET_ADD must have exactly two arguments at 1:29:7"),
        (f"UPDATE orders SET numbers = set_add(text, <<1>>) {KEYED}", "The first argument to SET_ADD must equal the assignment value at 1:29:7"),
        (f"UPDATE orders SET numbers = set_delete(numbers, 1) {KEYED}", "The second argument to SET_DELETE must be a value with type SET at 1:40:7"),
        (f"UPDATE orders SET number = number * 2 {KEYED}", "Unsupported operator in Update Expression. Operator: *"),
        (f"DELETE FROM orders {KEYED} RETURNING MODIFIED OLD *", "Invalid returning clause: RETURNING MODIFIED OLD *. Only RETURNING ALL OLD * is allowed in DELETE statements."),
        (f"UPDATE orders SET x = 1 {KEYED} RETURNING ALL NEW x", "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause"),
        (f"UPDATE orders SET x = 1 {KEYED} RETURNING ALL NEW *, ALL OLD *", "Invalid syntax with multiple returning elements in RETURNING clause"),
        (f"EXISTS(SELECT * FROM orders {KEYED})", "EXISTS can only be used in ExecuteTransaction write requests."),
    ],
)  # fmt: skip
def test_invalid_statements_are_rejected(engine: Engine, statement: str, message: str) -> None:
    assert error_message(engine, statement) == message


@pytest.mark.parametrize("source", ["orders", "none", "orders.ByG"])
def test_invalid_partiql_condition_is_reported_before_a_missing_table_or_index(engine: Engine, source: str) -> None:
    statement = f"DELETE FROM {source} WHERE pk = 'a' AND begins_with(text, 5)"
    fault = "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N"
    assert error_message(engine, statement) == fault


def test_select_from_a_missing_table_is_rejected(engine: Engine) -> None:
    assert run(engine, "SELECT * FROM nowhere")["error"] == "ResourceNotFoundException"


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("pk = 'a'", "12345"),
        ("'a' = pk AND sk > '3'", "45"),
        ("pk = 'a' AND sk BETWEEN '2' AND '4'", "234"),
        ("pk = 'a' AND sk > '1' AND sk <= '4' AND number <> 3", "24"),
        ("pk = 'a' AND begins_with(sk, '3')", "3"),
        ("pk = 'a' AND begins_with(sk, '3') = true", "3"),
        ("pk = 'a' AND sk IN ['1', '5', '7']", "15"),
        ("pk = 'a' AND sk IN ['1', '3', '5'] AND sk > '2'", "35"),
        ("pk = 'a' AND sk = '3' AND sk > '1'", "3"),
        ("pk = 'a' AND sk > '1' AND sk = '3'", "3"),
        ("pk = 'a' AND (sk = '1' OR sk = '5')", "15"),
        ("pk IN ['a', 'b'] AND number IS MISSING", "012"),
        ("pk = 'b' AND sk = '0' OR pk = 'a' AND sk = '1'", "10"),
        ("pk = 'a' AND sk = '1' OR pk = 'a' AND sk <> '3'", "1245"),
        ("pk = 'a' AND sk = '1' OR pk = 'a' AND NOT sk = '3'", "1245"),
        ("pk = 'a' AND number > -0 AND sk < '3'", "12"),
        ("number IN (2, 3) AND NOT sk = '3'", "2"),
        ("number BETWEEN 2 AND 3", "23"),
        ("NOT (number >= 2)", "012"),
        ("text = 'hello'", "1"),
        ("contains(text, 'ell')", "1"),
        ("contains(list, 5) AND size(list) = 2", "1"),
        ('list[1] = \'x\' AND "map"."inner".deep = 7', "1"),
        ("text IS STRING AND number IS NUMERIC AND yes IS BOOLEAN AND nothing IS NULL", "1"),
        ("numbers IS BAG AND list IS LIST AND map IS TUPLE", "1"),
        ("attribute_type(text, 'S') AND attribute_exists(g)", "1"),
        ("text IS NOT MISSING", "1"),
        ("yes = true -- a comment", "1"),
        ("text >= 'h' /* and */ OR pk = 'none'", "1"),
        ("number IN <<2, 3>>", "23"),
        ("list = (5, 'x')", "1"),
        ("map['inner'].\"deep\" = 7", "1"),
        ("text IS CHAR OR number IS DECIMAL AND text IS MISSING", "12345"),
    ],
)
def test_select_returns_items_that_match_the_condition(engine: Engine, where: str, text: str) -> None:
    assert "".join(sorts(run(engine, f"SELECT * FROM orders WHERE {where}"))) == text


def test_select_returns_projected_attributes(engine: Engine) -> None:
    shown = run(engine, f'SELECT pk, "map"."inner".deep, list[1], numbers, none FROM "orders" {KEYED};')
    assert shown == {"Items": [{"pk": s("a"), "deep": n(7), "list[1]": s("x"), "numbers": {"NS": ["1", "2"]}}]}
    assert run(engine, f"SELECT none FROM orders {KEYED}") == {"Items": [{}]}


GETS: list[tuple[str, list[Any]]] = [
    ("SELECT * FROM orders WHERE pk = ? AND sk = ?", [s("a"), s("1")]),
    ('select * from "orders" where sk = ? and pk = ?', [s("1"), s("a")]),
    ("SELECT * FROM orders WHERE pk = 'a' AND sk = ?", [s("2")]),
    ("SELECT number, map.\"inner\".deep, list[1] FROM orders WHERE pk = 'a' AND sk = '1'", []),
    ("SELECT nowhere FROM orders WHERE pk = ? AND sk = ?", [s("a"), s("1")]),
    ("SELECT * FROM orders WHERE pk = ? AND sk = ?", [s("ä€😀"), s("none")]),
]


@pytest.mark.parametrize(("statement", "parameters"), GETS)
def test_select_by_primary_key_runs_one_sql_statement(engine: Engine, statement: str, parameters: list[Any]) -> None:
    """The result equals that of the general code path, which runs if ReturnConsumedCapacity is set."""
    before = engine.statements
    answered = run(engine, statement, *parameters)
    assert engine.statements - before == 1
    assert answered == {"Items": run(engine, statement, *parameters, ReturnConsumedCapacity="TOTAL")["Items"]}


@pytest.mark.parametrize(
    ("statement", "parameters"),
    [
        ("SELECT * FROM orders WHERE pk = ? AND sk = ?", [s("a")]),
        ("SELECT * FROM orders WHERE pk = ? AND sk = ?", [s("a"), s("1"), s("2")]),
        ("SELECT * FROM orders WHERE pk = ? AND sk = ?", [s("a"), n(1)]),
        ("SELECT * FROM orders WHERE pk = ? AND sk = ?", [s("a"), s("")]),
        ("SELECT * FROM orders WHERE pk = ? AND sk = ?", [s("a"), {"S": 1}]),
        ("SELECT * FROM orders WHERE pk = ? AND sk = ?", [s("a"), {}]),
        ("SELECT * FROM orders WHERE pk = ? AND sk = ?", [s("a"), None]),
        ("SELECT * FROM orders WHERE pk = ? AND sk = ?", [s("a"), s("x" * 1025)]),
        ("SELECT * FROM orders WHERE pk = ? AND number = ?", [s("a"), n(5)]),
        ("SELECT * FROM orders WHERE pk = ? AND g = 'g1' AND sk = ?", [s("a"), s("1")]),
        ("SELECT * FROM orders WHERE pk = ?", [s("a")]),
        ("SELECT * FROM nowhere WHERE pk = ? AND sk = ?", [s("a"), s("1")]),
    ],
)
def test_select_returns_the_same_result_with_and_without_consumed_capacity(
    engine: Engine, statement: str, parameters: list[Any]
) -> None:
    more = {"ReturnConsumedCapacity": "TOTAL"}
    usual = run(engine, statement, *parameters, **more)
    usual.pop("ConsumedCapacity", None)
    assert run(engine, statement, *parameters) == usual


PLANNED: list[tuple[str, list[Any]]] = [
    ("SELECT * FROM orders WHERE pk = ?", [s("a")]),
    ("SELECT * FROM orders WHERE pk = ? AND sk = ? AND number = ?", [s("a"), s("1"), n("5.0")]),
    ("SELECT sk, number FROM orders WHERE pk = ? AND begins_with(sk, ?) AND number > 4", [s("a"), s("1")]),
    ("SELECT sk FROM orders WHERE pk = ? AND sk BETWEEN ? AND ?", [s("a"), s("2"), s("4")]),
    ("SELECT sk FROM orders WHERE pk = ? AND sk > ? AND sk <= ? ORDER BY sk DESC", [s("a"), s("1"), s("4")]),
    ("SELECT sk FROM orders WHERE pk IN [?, ?] AND (number IS MISSING OR number = ?)", [s("a"), s("b"), n(3)]),
    ("SELECT sk FROM orders WHERE ? < number", [n(3)]),
]
REJECTED: list[tuple[str, list[Any]]] = [
    ("SELECT sk FROM orders WHERE pk = ? AND sk BETWEEN ? AND ?", [s("a"), s("4"), s("2")]),
    ("SELECT * FROM orders WHERE pk = ? AND begins_with(sk, ?)", [s("a"), n(1)]),
    ("SELECT * FROM orders WHERE pk = ? AND number BETWEEN ? AND ?", [s("a"), n(2), n(1)]),
    ("SELECT * FROM orders WHERE pk = ? AND sk = ?", [s("a"), s("")]),
    ("SELECT none, none FROM orders WHERE begins_with(sk, ?)", [n(1)]),
    ("SELECT * FROM orders WHERE pk = ? AND list = [?]", [s("a"), n(1)]),
]


@pytest.mark.parametrize(("statement", "parameters"), PLANNED + REJECTED)
def test_partiql_statement_with_a_cached_plan_returns_the_same_result(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, statement: str, parameters: list[Any]
) -> None:
    def answers() -> list[Any]:
        return [run(engine, statement, *parameters, **more) for more in ({}, {"ReturnConsumedCapacity": "INDEXES"})]

    result = answers()
    monkeypatch.setattr(statements, "plan_of", lambda _: None)
    assert result == answers()


def test_select_by_primary_key_detects_that_its_table_was_recreated(engine: Engine) -> None:
    statement = "SELECT * FROM orders WHERE pk = 'a' AND sk = '1'"
    assert run(engine, statement) == {"Items": [ITEM]}
    engine.call("DeleteTable", {"TableName": "orders"})
    assert run(engine, statement)["error"] == "ResourceNotFoundException"
    create(engine)
    assert run(engine, statement) == {"Items": []}
    assert run(engine, statement, Limit=1) == {"Items": []}


def test_order_by_sorts_partitions_and_sort_keys(engine: Engine) -> None:
    assert sorts(run(engine, "SELECT * FROM orders WHERE pk='a' ORDER BY sk DESC")) == list("54321")
    assert sorts(run(engine, "SELECT * FROM orders WHERE pk IN ['a','b'] ORDER BY pk DESC, sk ASC")) == list("01212345")


def test_select_returns_pages_and_validates_next_tokens(engine: Engine) -> None:
    statement = "SELECT sk FROM orders WHERE pk IN [?, 'a', 'none'] AND sk <> '1'"
    request: dict[str, Any] = {"Statement": statement, "Parameters": [s("b")]}
    result: list[str] = []
    pages = 0
    token: str | None = None
    while pages == 0 or token is not None:
        page = engine.call("ExecuteStatement", {**request, "Limit": 2, **({"NextToken": token} if token else {})})
        assert len(page["Items"]) <= 2
        result += sorts(page)
        token = page.get("NextToken")
        pages += 1
    assert result == list("234502")
    assert pages == 5
    first = engine.call("ExecuteStatement", {**request, "Limit": 2})["NextToken"]
    assert error_message(engine, statement, s("c"), NextToken=first) == "NextToken does not match request"
    assert error_message(engine, "SELECT * FROM orders", NextToken=first) == "NextToken does not match request"
    assert error_message(engine, "SELECT * FROM orders", NextToken="x") == "Invalid NextToken"
    assert error_message(engine, "SELECT * FROM orders", NextToken="bnVsbA==") == "Invalid NextToken"


def test_select_with_an_in_condition_reads_ten_partitions_per_page(engine: Engine) -> None:
    """The Developer Guide documents this limit of ten partitions. A statement with more than 50 partition keys is rejected."""
    for number in range(51):
        engine.call("PutItem", {"TableName": "orders", "Item": {"pk": s(f"p{number:02}"), "sk": s("1")}})
    listed = [f"'p{number:02}'" for number in range(51)]
    statement = f"SELECT * FROM orders WHERE pk IN [{', '.join(listed[:25])}]"
    sizes: list[int] = []
    page: dict[str, Any] = {}
    while not sizes or "NextToken" in page:
        more = {"NextToken": page["NextToken"]} if sizes else {}
        page = run(engine, statement, **more)
        sizes.append(len(page["Items"]))
    assert sizes == [10, 10, 5]
    assert len(run(engine, f"SELECT * FROM orders WHERE pk IN [{', '.join(listed[:50])}]")["Items"]) == 10
    too_many = "Too many decomposed read operations for a given query."
    assert error_message(engine, f"SELECT * FROM orders WHERE pk IN [{', '.join(listed)}]") == too_many
    assert error_message(engine, f"SELECT * FROM orders WHERE pk = {' OR pk = '.join(listed)}") == too_many


@pytest.mark.parametrize("consistent", [True, False])
def test_partiql_page_of_several_partitions_ends_at_1_mb(engine: Engine, consistent: bool) -> None:
    listed = [f"p{number}" for number in range(9)]
    for pk in listed:
        engine.call("PutItem", {"TableName": "orders", "Item": {"pk": s(pk), "sk": s("1"), "x": s("x" * 300_000)}})
    statement = f"SELECT pk FROM orders WHERE pk IN [{', '.join(map(repr, listed))}]"
    first = run(engine, statement, ConsistentRead=consistent)
    assert [item["pk"]["S"] for item in first["Items"]] == listed[:4]
    second = run(engine, statement, ConsistentRead=consistent, NextToken=first["NextToken"])
    assert [item["pk"]["S"] for item in second["Items"]] == listed[4:8]


def test_partiql_statements_return_consumed_capacity(engine: Engine) -> None:
    element = run(engine, "SELECT * FROM orders WHERE pk='a'", ReturnConsumedCapacity="INDEXES", ConsistentRead=True)
    assert element["ConsumedCapacity"] == {"TableName": "orders", "CapacityUnits": 1.0, "Table": {"CapacityUnits": 1.0}}
    two = run(engine, "SELECT * FROM orders WHERE pk IN ['a','b']", ReturnConsumedCapacity="TOTAL")
    assert two["ConsumedCapacity"] == {"TableName": "orders", "CapacityUnits": 1.0}
    insert = "INSERT INTO orders VALUE {'pk': 'c', 'sk': '1'}"
    written = run(engine, insert, ReturnConsumedCapacity="TOTAL")
    assert written == {"Items": [], "ConsumedCapacity": {"TableName": "orders", "CapacityUnits": 1.0}}


def test_select_without_partition_key_scans_the_table(engine: Engine) -> None:
    for number in range(10):
        item = {"pk": s(f"p{number}"), "sk": s("1"), "big": s("x" * 4096)}
        engine.call("PutItem", {"TableName": "orders", "Item": item})
    keyed = run(engine, "SELECT * FROM orders WHERE pk='p1' AND sk='1'", ReturnConsumedCapacity="TOTAL")
    whole = run(engine, "SELECT * FROM orders WHERE sk='1' AND big='y'", ReturnConsumedCapacity="TOTAL")
    assert keyed["ConsumedCapacity"]["CapacityUnits"] == 1.0
    assert whole["ConsumedCapacity"]["CapacityUnits"] > 5.0
    assert whole["Items"] == []


def test_select_from_an_index_can_be_sorted_by_its_sort_key(engine: Engine) -> None:
    result = run(engine, "SELECT sk FROM \"orders\".\"ByG\" WHERE g = 'g1' AND h > '2' ORDER BY h DESC")
    assert sorts(result) == list("543")
    message = error_message(engine, "SELECT * FROM orders.ByG WHERE g='g1'", ConsistentRead=True)
    assert message == "Strongly consistent read is not supported on Global Secondary Indexes"


@pytest.mark.parametrize(
    ("selection", "answered"),
    [
        ("* FROM part.ByH WHERE pk = 'a'", [["h", "kept", "pk", "sk"]]),
        ("other, kept FROM part.ByH WHERE pk = 'a'", [["kept", "other"]]),
        ("kept FROM part.ByH WHERE pk = 'a' AND kept = 'k'", [["kept"]]),
        ("kept FROM part.ByH WHERE kept = 'k'", [["kept"]]),
        ("kept FROM part.ByH WHERE other = 'o'", []),
        ("* FROM part.ByG WHERE g = 'g1'", [["g", "h", "kept", "pk", "sk"]]),
        ("kept FROM part.ByG WHERE g = 'g1' AND kept = 'k'", [["kept"]]),
        ("kept FROM part.ByG WHERE other = 'o' AND kept = 'k'", []),
        ("kept FROM part.ByH WHERE pk = 'a' AND other = 'o' AND another = 'x' AND kept = 'k'", "Secondary index ByH does not project one or more filter attributes: [other, another]"),
        ("kept FROM part.ByG WHERE g = 'g1' AND other = 'o'", "Secondary index ByG does not project one or more filter attributes: [other]"),
        ("other, kept, another FROM part.ByG", "Global secondary index ByG does not project [other, another]"),
    ],
)  # fmt: skip
def test_unprojected_attributes_are_fetched_by_local_and_rejected_by_global_indexes(
    engine: Engine, selection: str, answered: list[list[str]] | str
) -> None:
    """A filter on an unprojected attribute is rejected if the partition key is given, and otherwise matches no item."""
    projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["kept"]}
    create(
        engine,
        "part",
        GlobalSecondaryIndexes=[index("ByG", "g", "h") | {"Projection": projection}],
        LocalSecondaryIndexes=[index("ByH", "pk", "h") | {"Projection": projection}],
    )
    item = {name: s(value) for name, value in (("pk", "a"), ("sk", "1"), ("g", "g1"), ("h", "1"), ("kept", "k"))}
    engine.call("PutItem", {"TableName": "part", "Item": item | {"other": s("o"), "another": s("x")}})
    if isinstance(answered, str):
        assert error_message(engine, f"SELECT {selection}") == f"One or more parameter values were invalid: {answered}"
    else:
        assert [sorted(item) for item in run(engine, f"SELECT {selection}")["Items"]] == answered


def test_partiql_insert_creates_an_item_and_rejects_a_duplicate(engine: Engine) -> None:
    statement = (
        "INSERT INTO orders VALUE {'pk': 'n', 'sk': ?, 'it''s': -1.50, 'list': [1, 'x', {'y': true}], 'null': null, "
        "'texts': <<'a', 'b'>>, 'numbers': <<1, 2.0>>}"
    )
    assert run(engine, statement, s("1")) == {"Items": []}
    assert run(engine, statement, s("1"))["error"] == "DuplicateItemException"
    assert run(engine, "SELECT * FROM orders WHERE pk='n'")["Items"] == [
        {
            "pk": s("n"),
            "sk": s("1"),
            "it's": n("-1.5"),
            "list": {"L": [n(1), s("x"), {"M": {"y": {"BOOL": True}}}]},
            "null": {"NULL": True},
            "texts": {"SS": ["a", "b"]},
            "numbers": {"NS": ["1", "2"]},
        }
    ]


def test_partiql_update_changes_attributes_and_returns_them(engine: Engine) -> None:
    statement = (
        "UPDATE orders SET number = number + 1 - ? SET list = list_append(list, ['end']) "
        "SET numbers = set_add(numbers, <<3>>) SET fresh = if_not_exists(fresh, 'new') "
        f'REMOVE text REMOVE map."inner".deep {KEYED} AND yes = true RETURNING MODIFIED NEW *'
    )
    assert run(engine, statement, n(3)) == {
        "Items": [
            {
                "number": n(3),
                "list": {"L": [n(5), s("x"), s("end")]},
                "numbers": {"NS": ["1", "2", "3"]},
                "fresh": s("new"),
            }
        ]
    }
    old = run(engine, f"UPDATE orders SET numbers = set_delete(numbers, <<1, 2, 3>>) {KEYED} RETURNING ALL OLD *")
    assert old["Items"][0]["numbers"] == {"NS": ["1", "2", "3"]}
    new = run(engine, f"FROM orders {KEYED} SET number = 0 RETURNING ALL NEW *")
    assert new["Items"][0]["number"] == n(0)
    assert "numbers" not in new["Items"][0]


def test_failed_conditions_of_partiql_writes_are_reported(engine: Engine) -> None:
    for statement in (
        "UPDATE orders SET x = 1 WHERE pk = 'none' AND sk = '1'",
        f"UPDATE orders SET x = 1 {KEYED} AND number = 6",
        f"DELETE FROM orders {KEYED} AND number = 6",
    ):
        assert run(engine, statement)["error"] == "ConditionalCheckFailedException"
    failed = run(engine, f"DELETE FROM orders {KEYED} AND x = 1", ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert failed["Item"] == ITEM


def test_partiql_delete_returns_the_old_item(engine: Engine) -> None:
    assert run(engine, f"DELETE FROM orders {KEYED} AND number = 5 RETURNING ALL OLD *") == {"Items": [ITEM]}
    assert run(engine, f"DELETE FROM orders {KEYED} RETURNING ALL OLD *") == {"Items": []}
    assert run(engine, f"DELETE FROM orders {KEYED}") == {"Items": []}
    # As the developer guide says, no condition is checked if the item doesn't exist.
    assert run(engine, f"DELETE FROM orders {KEYED} AND number = 5") == {"Items": []}


def test_select_that_scans_the_table_is_logged(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "keyplan.statements")
    create(engine, "scanned-table")
    for statement in ("WHERE pk = 'a'", "WHERE sk = '1'", ""):
        run(engine, f'SELECT * FROM "scanned-table" {statement}')
    assert caplog.messages == ["a SELECT without the partition key is a scan of scanned-table"]
