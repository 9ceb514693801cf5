"""Limits of the nesting, operators and size of expressions, and the attributes of bound expressions."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

from keyplan.dynamodb.expressions import (
    ExpressionFault,
    Placeholders,
    UpdateFault,
    bind_condition,
    bind_key_condition,
    bind_projection,
    bind_update,
    check_key_condition,
    parse_condition,
    parse_update,
    project_attributes,
)
from keyplan.dynamodb.values import AttributeValue

X: dict[str, AttributeValue] = {":x": {"S": "x"}}
TOO_MANY = "The expression contains too many operators; operator count: 301"


def test_attribute_names_with_dots_are_projected_as_whole_attributes() -> None:
    bound = project_attributes(["a", "b.c"])
    assert (bound.paths, bound.attributes, bound.nested) == ((("a",), ("b.c",)), frozenset({"a", "b.c"}), frozenset())
    assert bound.project({"a": {"S": "x"}, "b": {"M": {"c": {"S": "y"}}}}) == {"a": {"S": "x"}}
    assert bound.project({"b.c": {"S": "x"}}) == {"b.c": {"S": "x"}}


@pytest.mark.parametrize("count", [150, 151])
def test_conditions_with_more_than_300_operators_are_rejected(count: int) -> None:
    """Operators of key conditions count, too. The limit is checked before other errors."""
    text = " AND ".join(["a=:x"] * count)
    given = Placeholders(None, X)
    operators = 2 * count - 1
    if operators <= 300:
        assert bind_condition(text, given).operators == operators
        assert bind_condition(f"NOT {text}", given).operators == operators + 1 == 300
        with pytest.raises(ExpressionFault, match="one condition per key"):
            check_key_condition(text, given)
        return
    for kind in ("ConditionExpression", "FilterExpression"):
        with pytest.raises(ExpressionFault) as caught:
            bind_condition(text, given, kind)
        assert caught.value.message == f"Invalid {kind}: {TOO_MANY}"
    for check in (
        lambda: check_key_condition(text, given),
        lambda: bind_key_condition(text, given, partition=["a"], types={"a": "S"}),
    ):
        with pytest.raises(ExpressionFault) as caught:
            check()
        assert caught.value.message == f"Invalid KeyConditionExpression: {TOO_MANY}"


@pytest.mark.parametrize("count", [300, 301])
def test_actions_of_updates_are_not_operators(count: int) -> None:
    for action in ("SET ", "REMOVE "):
        parse_update(action + ",".join(f"a{number}{'=:x' * (action == 'SET ')}" for number in range(count)))
    with pytest.raises(ExpressionFault, match="operator count: 301") if count > 300 else nullcontext():
        parse_update("SET " + ",".join(f"a{number}=:x+:x" for number in range(count)))


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("foreign", ["", "ä"])
def test_conditions_with_more_than_4096_bytes_are_rejected(more: int, foreign: str) -> None:
    """The error for a key condition doesn't report the size. Characters outside the grammar count, too."""
    text = "a = :x".ljust(4096 + more - len(foreign.encode())) + foreign
    syntax = 'Syntax error; token: "ä"' if foreign else ""
    for key in (True, False):
        message = f"Expression size has exceeded the maximum allowed size;{'' if key else ' expression size: 4097'}"
        expected = message if more else syntax
        with pytest.raises(ExpressionFault) if expected else nullcontext() as caught:
            (check_key_condition if key else bind_condition)(text, Placeholders(None, X))
        if caught is not None:
            kind = "KeyConditionExpression" if key else "ConditionExpression"
            assert caught.value.message.startswith(f"Invalid {kind}: {expected}")
            assert not more or caught.value.message.endswith(message)


@pytest.mark.parametrize(("bind", "text"), [(bind_projection, "a"), (bind_update, "REMOVE a")])
def test_projections_and_updates_with_more_than_4096_bytes_are_rejected(bind: Any, text: str) -> None:
    bind(text.ljust(4096), Placeholders())
    with pytest.raises(ExpressionFault) as caught:
        bind(text.ljust(4097), Placeholders())
    assert caught.value.message.endswith("Expression: Expression size has exceeded the maximum allowed size;")


@pytest.mark.parametrize("depth", [149, 150, 151])
def test_operands_nested_more_than_150_levels_are_rejected(depth: int) -> None:
    text = "SET a = " + "if_not_exists(b," * depth + "c" + ")" * depth
    if depth <= 150:
        assert bind_update(text, Placeholders()).apply({"c": {"S": "x"}})["a"] == {"S": "x"}
    else:
        with pytest.raises(ExpressionFault) as caught:
            parse_update(text)
        assert caught.value.message == TOO_MANY


@pytest.mark.parametrize("depth", [298, 299, 300])
def test_parentheses_nested_300_levels_are_rejected(depth: int) -> None:
    text = "NOT (" * depth + "a=b" + ")" * depth
    if depth < 300:
        assert bind_condition(text, Placeholders()).operators == depth + 1
        return
    with pytest.raises(ExpressionFault) as caught:
        parse_condition(text)
    assert caught.value.message == TOO_MANY


def nested(depth: int, width: int = 1) -> Any:
    value: AttributeValue = {"S": "x"}
    for _ in range(depth):
        value = {"L": [value] * width}
    return value


@pytest.mark.parametrize("path", ["a", "a.b", "a[0]", "a.b.c", "a[0].b[5]"])
def test_updates_that_nest_an_item_more_than_32_levels_are_rejected(path: str) -> None:
    """An item can have 31 levels of lists and maps, and a scalar."""
    item: dict[str, Any] = {"a": {"M": {"b": {"M": {}}}} if "[0]" not in path else {"L": [{"M": {"b": {"L": []}}}]}}
    above = path.replace("[", ".[").count(".")
    for depth in (0, 1, 30 - above, 31 - above):
        assert bind_update(f"SET {path} = :v", Placeholders(None, {":v": nested(depth)})).apply(item)
    for depth in (32 - above, 31):
        if above:
            with pytest.raises(UpdateFault, match="Nesting Levels have exceeded supported limits"):
                bind_update(f"SET {path} = :v", Placeholders(None, {":v": nested(depth)})).apply(item)


def test_values_set_beyond_the_end_of_a_list_are_appended_in_index_order() -> None:
    values: dict[str, AttributeValue] = {f":{n}": {"N": str(n)} for n in range(5)}
    update = bind_update(
        "SET a[12] = :1, a[3] = :2, b.l[9] = :3, a[2] = :0, b.l[10] = :4 REMOVE a[0], b.l[0]",
        Placeholders(None, values),
    )
    item: dict[str, Any] = {"a": {"L": [{"S": "x"}, {"S": "y"}]}, "b": {"M": {"l": {"L": [{"S": "z"}]}}}}
    after = update.apply(item)
    assert after["a"] == {"L": [{"S": "y"}, {"N": "0"}, {"N": "2"}, {"N": "1"}]}
    assert after["b"] == {"M": {"l": {"L": [{"N": "3"}, {"N": "4"}]}}}
