"""Tests of caching, attributes of bound expressions, ReturnValues, and errors of parentheses and nesting."""

from __future__ import annotations

import pytest

from keyplan.dynamodb.expressions import (
    RESERVED_WORDS,
    ExpressionFault,
    Placeholders,
    bind_condition,
    bind_projection,
    bind_update,
    parse_condition,
    parse_update,
)
from keyplan.dynamodb.values import Item

X: Item = {":x": {"S": "x"}}


def test_parsed_expressions_are_cached() -> None:
    assert parse_condition("a = :once") is parse_condition("a = :once")


def test_bound_expressions_list_their_attributes() -> None:
    given = Placeholders({"#n": "name"}, X)
    condition = bind_condition("#n.a = :x AND (size(b[0]) > c OR NOT d IN (e, :x))", given)
    assert condition.attributes == {"name", "b", "c", "d", "e"}
    assert bind_projection("#n.a, b", given).attributes == {"name", "b"}
    assert bind_update("SET #n.a = :x REMOVE b[1]", given).attributes == {"name", "b"}


def test_unused_placeholders_are_reported() -> None:
    given = Placeholders({"#a": "a", "#b": "b"}, {":x": {"S": "x"}, ":y": {"S": "y"}})
    bind_condition("#a = :x", given)
    with pytest.raises(ExpressionFault, match=r"ExpressionAttributeNames unused in expressions: keys: \{#b\}"):
        given.check_unused()
    bind_projection("#b", given)
    with pytest.raises(ExpressionFault, match=r"ExpressionAttributeValues unused in expressions: keys: \{:y\}"):
        given.check_unused()
    bind_condition("b <> :y", given, "FilterExpression")
    given.check_unused()


def test_syntax_errors_name_the_kind_of_expression() -> None:
    with pytest.raises(ExpressionFault) as caught:
        bind_condition("a", Placeholders())
    assert caught.value.message == 'Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "a"'


ITEM: Item = {"a": {"S": "old"}, "l": {"L": [{"N": "1"}, {"N": "2"}]}, "m": {"M": {"x": {"S": "y"}, "z": {"S": "z"}}}}


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("SET a = :x", {"a": {"S": "old"}}, {"a": {"S": "x"}}),
        ("SET b = :x", {}, {"b": {"S": "x"}}),
        ("REMOVE a SET m.x = :x", {"a": {"S": "old"}, "m": {"M": {"x": {"S": "y"}}}}, {"m": {"M": {"x": {"S": "x"}}}}),
        ("SET l[1] = :x", {"l": {"L": [{"N": "2"}]}}, {"l": {"L": [{"S": "x"}]}}),
        ("SET m.q = :x", {}, {"m": {"M": {"q": {"S": "x"}}}}),
    ],
)  # fmt: skip
def test_an_update_returns_the_attributes_that_it_changes(text: str, old: Item, new: Item) -> None:
    update = bind_update(text, Placeholders(None, X if ":x" in text else None))
    assert update.touched(ITEM) == old
    assert update.touched(update.apply(ITEM)) == new
    assert update.touched(None) == {}


def test_number_sets_are_updated_by_numeric_value() -> None:
    update = bind_update("DELETE s :x ADD t :x", Placeholders(None, {":x": {"NS": ["10", "9.0"]}}))
    assert update.apply({"s": {"NS": ["9", "11"]}, "t": {"NS": ["9"]}}) == {
        "s": {"NS": ["11"]},
        "t": {"NS": ["9", "10"]},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(" * 2000 + "a<b" + ")" * 2000, "The expression has redundant parentheses;"),
        ("a<b " + "or (a<b " * 400 + ")" * 400, "The expression contains too many operators; operator count: 301"),
        ("a < " + "f(" * 1300 + "b" + ")" * 1300, "Invalid function name; function: f"),
        ("a < " + "size(" * 600 + "b" + ")" * 600, "The expression contains too many operators; operator count: 301"),
        ("(" * 4096, 'Syntax error; token: "<EOF>", near: "("'),
    ],
)
def test_deeply_nested_conditions_are_rejected(text: str, message: str) -> None:
    with pytest.raises(ExpressionFault) as caught:
        parse_condition(text)
    assert caught.value.message == message


REDUNDANT = "The expression has redundant parentheses;"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a BETWEEN ((b.c)).d AND c", REDUNDANT),
        ("a = ((b)) AND = c", REDUNDANT),
        ("((a = b)) c", REDUNDANT),
        ("((a)) = = b", REDUNDANT),
        ("a IN (((b)), c", REDUNDANT),
        ("a = ((b", 'Syntax error; token: "<EOF>", near: "b"'),
        ("((a.x)).y = b", 'Syntax error; token: ".", near: ").y"'),
        ("contains(((a)), b", 'Syntax error; token: "<EOF>", near: "b"'),
        ("contains(((a)), b) c", REDUNDANT),
        ("(NOT a = b AND (contains(a, b))) =", 'Syntax error; token: "=", near: ") ="'),
        # And unmatched closing ones.
        ("a) = b", 'Syntax error; token: ")", near: "a) ="'),
        ("size(a)) > b", 'Syntax error; token: ")", near: ")) >"'),
        ("(a)) = b", 'Syntax error; token: ")", near: ")) ="'),
        ("a = b)", 'Syntax error; token: ")", near: "b)"'),
    ],
)
def test_redundant_parentheses_in_a_condition_are_rejected(text: str, message: str) -> None:
    with pytest.raises(ExpressionFault) as caught:
        parse_condition(text)
    assert caught.value.message == message


@pytest.mark.parametrize("text", ["SET a = ((b)), REMOVE", "SET a = ((b + c)).d", "SET a = b - ((c)) d"])
def test_redundant_parentheses_in_an_update_are_rejected(text: str) -> None:
    with pytest.raises(ExpressionFault) as caught:
        parse_update(text)
    assert caught.value.message == REDUNDANT


@pytest.mark.parametrize("text", ["SET a = if_not_exists(b.c, b.c)", "SET a = if_not_exists(b.#c, b.c) + :x"])
def test_if_not_exists_with_two_equal_paths_is_rejected(text: str) -> None:
    """The expected message was found in the log of a production system."""
    names = {"#c": "c"} if "#c" in text else None
    with pytest.raises(ExpressionFault, match="operator: if_not_exists, first operand: \\[b, c\\]"):
        bind_update(text, Placeholders(names, X if ":x" in text else None))


def test_there_are_573_reserved_words() -> None:
    assert len(RESERVED_WORDS) == 573
    assert {"NAME", "STATUS", "SIZE", "ZONE", "ABORT", "TTL", "DATA"} <= RESERVED_WORDS
    assert all(word == word.upper() for word in RESERVED_WORDS)
