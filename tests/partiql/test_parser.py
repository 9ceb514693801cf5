"""PartiQL statements are parsed to trees or rejected. No input crashes the parser or takes more than linear time."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan.dynamodb.partiql import Delete, Exists, Insert, Lowering, Select, StatementFault, Update, parse, syntax
from keyplan.dynamodb.partiql.tokens import tokenize
from tests.executed_lines import growth

STATEMENT_CHARACTERS_MAX = 8192
WORDS = (
    *("SELECT", "INSERT", "UPDATE", "DELETE", "FROM", "INTO", "VALUE", "SET", "REMOVE", "WHERE", "AND", "OR", "NOT"),
    *("IN", "BETWEEN", "IS", "MISSING", "NULL", "ORDER", "BY", "ASC", "DESC", "RETURNING", "ALL", "OLD", "NEW"),
    *("EXISTS", "orders", "pk", "a.b", '"x"', "'y'", "1", "-2.5e3", "?", "*", "(", ")", "[", "]", "{", "}", "<<"),
    *(">>", ",", ".", ":", ";", "=", "<>", "<", ">=", "+", "-", "size", "begins_with", "set_add", "true", "/*", "*/"),
    *("--", "\n"),
)
texts = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join),
    st.text(max_size=60),
    st.text(alphabet="'\"()[]{}<>,.?*-/ a1\n", max_size=60),
)


@given(text=texts)
def test_any_text_is_parsed_to_a_statement_or_rejected(text: str) -> None:
    with contextlib.suppress(StatementFault):
        assert isinstance(parse(text), (Select, Exists, Insert, Update, Delete))


@pytest.mark.parametrize(
    "piece",
    [
        *("(", "[", "{'a':", "<<", "NOT ", "a.", "a[0]", "f(", "((", " ", "/**/", "--\n", "/*", "''", '""', "-", "- "),
        *("a=1 AND ", "a=1 OR ", "a IS NULL ", "a=b=", "1+", "?,", "a IN (", "EXISTS(", "a BETWEEN b AND ", "1e1"),
        *("CAST(", "FROM a ", "SET a=1 ", "x,", "'a':1,"),
    ],
)
@pytest.mark.parametrize(
    "beginning",
    [
        "",
        "SELECT * FROM a WHERE ",
        "SELECT ",
        "INSERT INTO a VALUE {'x':",
        "UPDATE a SET x=",
        "EXISTS(SELECT * FROM a WHERE ",
    ],
)
def test_parsing_takes_linear_time(beginning: str, piece: str) -> None:
    def text(characters: int) -> str:
        return beginning + piece * (characters // len(piece))

    for end in ("", "#", ")"):
        _parse_and_lower(text(STATEMENT_CHARACTERS_MAX - len(beginning) - 1) + end)
    assert growth(_parse_and_lower, text(1_000), text(2_000), StatementFault) is None


def _parse_and_lower(text: str) -> None:
    """Parse a statement, and if it is valid, make expressions of it."""
    with contextlib.suppress(StatementFault):
        statement = parse(text)
        lowering = Lowering([{"S": "x"}] * statement.parameters)
        if isinstance(statement, Select) and statement.where is not None:
            lowering.condition(statement.where)
        elif isinstance(statement, Update):
            lowering.update(statement.changes)


def test_nodes_of_a_parsed_statement_have_a_line_and_a_column() -> None:
    select = parse("SELECT *\nFROM a\n  WHERE f(x)")
    assert isinstance(select, Select)
    assert isinstance(select.where, syntax.Call)
    assert str(select.where.place) == "3:9:1"


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("select * from a where b = 1", "SELECT * FROM a WHERE b = 1"),
        ("SELECT * FROM a WHERE b != 1", "SELECT * FROM a WHERE b<>1"),
        ("SELECT * FROM a WHERE NOT NOT b IS NULL;", "SELECT * FROM a WHERE b IS NULL"),
        ("SELECT * FROM a WHERE (b IS NULL)", "SELECT * FROM a WHERE b IS NULL"),
        ("SELECT * FROM a WHERE b IN (1, 2)", "SELECT * FROM a WHERE b IN [1, 2]"),
        ('SELECT "b" FROM "a"', "SELECT b FROM a"),
        ("SELECT b FROM a ORDER BY c ASC", "SELECT b FROM a ORDER BY c"),
        ("FROM a WHERE b = 1 SET c = 2", "UPDATE a SET c = 2 WHERE b = 1"),
    ],
)
def test_equivalent_statements_have_equal_trees(text: str, other: str) -> None:
    assert _without_places(parse(text)) == _without_places(parse(other))


def _without_places(tree: object) -> str:
    text = repr(tree)
    while (begin := text.find("Place(")) >= 0:
        text = text[:begin] + text[text.index(")", begin) + 1 :]
    return text


def test_operator_precedence_is_not_before_and_before_or() -> None:
    select = parse("SELECT * FROM t WHERE a = 1 OR b = 2 AND NOT c = 3")
    assert isinstance(select, Select)
    assert isinstance(select.where, syntax.Or)
    assert isinstance(select.where.conditions[1], syntax.And)
    assert isinstance(select.where.conditions[1].conditions[1], syntax.Not)


def test_the_parameters_of_a_statement_are_counted() -> None:
    assert parse("INSERT INTO a VALUE {'x': ?, 'y': [?, ?]}").parameters == 3
    assert parse("UPDATE a SET x = ? WHERE y = '?' AND z = ?").parameters == 2


def test_a_statement_is_split_into_tokens() -> None:
    tokens = ["a", ".", 'b"c', "it's", "1.5e3", "<>", ""]
    assert [token.text for token in tokenize("a.\"b\"\"c\" 'it''s' 1.5e3 <> -- end")] == tokens


@pytest.mark.parametrize(
    ("number", "is_one"),
    [
        ("1e2147483647", True),
        ("1e2147483648", False),
        ("1e-2147483647", True),
        ("1e-2147483648", False),
        ("0.1e2147483647", True),
        ("0.1e-2147483646", True),
        ("0.1e-2147483647", False),
        ("1e00000000001", True),
        ("1e9999999999", False),
        ("1e12345678901", False),
        ("1e+0", True),
    ],
)
def test_numbers_whose_exponent_or_scale_exceeds_32_bits_are_rejected(number: str, is_one: bool) -> None:
    """An exponent of -2^31 results in a scale of 2^31, which exceeds the 32-bit integers of Java."""
    if is_one:
        assert [token.kind for token in tokenize(number)] == ["number", "end"]
    else:
        with pytest.raises(StatementFault):
            tokenize(number)


@pytest.mark.parametrize(("begin", "inner", "end"), [("(", "a = 1", ")"), ("NOT (", "a = 1", ")"), ("[", "1", "]")])
def test_expressions_nested_more_than_64_levels_are_rejected(begin: str, inner: str, end: str) -> None:
    def statement(depth: int) -> str:
        text = begin * depth + inner + end * depth
        return f"SELECT * FROM t WHERE {f'a = {text}' if inner == '1' else text}"

    parse(statement(64))
    with pytest.raises(StatementFault, match="nested too deeply"):
        parse(statement(65))


@pytest.mark.parametrize(
    ("begin", "inner", "end"),
    [("f(", "a", ")"), ("(", "a", ")"), ("[", "a", "]"), ("{'a': ", "b", "}"), ("<<", "1", ">>")],
)
@pytest.mark.parametrize("other", ["f(a)", "(a)", "[a]", "[]", "f()", "1 + 2", "<<1>>", "{'a': 1}"])
def test_the_nesting_limit_applies_to_each_operand_separately(begin: str, inner: str, end: str, other: str) -> None:
    def statement(depth: int) -> str:
        others = " AND ".join([f"a = {other}"] * 40)
        return f"SELECT * FROM t WHERE {others} AND a = {begin * depth}{inner}{end * depth}"

    parse(statement(64))
    with pytest.raises(StatementFault, match="nested too deeply"):
        parse(statement(65))


@pytest.mark.parametrize("digits", ["9" * 11, "9" * 5000])
@pytest.mark.parametrize("sign", ["", "-", "+"])
def test_an_exponent_with_many_digits_is_rejected(digits: str, sign: str) -> None:
    with pytest.raises(StatementFault):
        parse(f"SELECT * FROM t WHERE a = 1e{sign}{digits}")
