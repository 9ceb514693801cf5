"""Printed expressions can be parsed; conditions agree with a naive evaluator; updates change only their paths."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from hypothesis import given, settings

from keyplan.dynamodb.expressions import (
    ExpressionFault,
    Placeholders,
    bind_condition,
    bind_projection,
    bind_update,
    parse_condition,
    parse_projection,
    parse_update,
    to_text,
    tree,
)
from keyplan.dynamodb.values import check_item, check_value
from tests.expressions import naive
from tests.expressions.strategies import (
    conditions,
    fitting_given_values,
    fitting_items,
    fitting_updates,
    given_values,
    items,
    paths,
    updates,
)
from tests.seeds import examples


def used(text: str, values: dict[str, Any]) -> dict[str, Any] | None:
    """The values whose placeholders an expression contains, or None."""
    names = set(re.findall(r":\w+", text))
    return {key: value for key, value in values.items() if key in names} or None


def _parsed_or_none(parse: Any, text: str) -> Any:
    try:
        return parse(text)
    except ExpressionFault as error:
        # A generated tree may violate rules of names and numbers, but never the grammar.
        if "Syntax error" in error.message or "redundant" in error.message:
            raise
        return None


@given(conditions)
def test_a_printed_condition_is_parsed_to_the_same_tree(condition: tree.Condition) -> None:
    assert _parsed_or_none(parse_condition, to_text(condition)) in (condition, None)


@given(updates)
def test_a_printed_update_is_parsed_to_the_same_tree(update: tree.Update) -> None:
    assert _parsed_or_none(parse_update, to_text(update)) in (update, None)


@given(paths)
def test_a_printed_path_is_parsed_to_the_same_tree(path: tree.Path) -> None:
    assert parse_projection(to_text(path)) == tree.Projection((path,))


@settings(max_examples=examples(100, 1000))
@given(conditions, items, given_values)
def test_conditions_agree_with_a_naive_evaluator(
    condition: tree.Condition, item: dict[str, Any], values: dict[str, Any]
) -> None:
    text = to_text(condition)
    try:
        bound = bind_condition(text, Placeholders(None, used(text, values)))
    except ExpressionFault:
        return  # rejected for its types or for comparing a path to itself; the recorded cases cover these
    assert bound.matches(check_item(item)) == naive.holds(condition, item, values)


@given(items, given_values)
def test_operators_agree_on_whether_values_are_equal(item: dict[str, Any], values: dict[str, Any]) -> None:
    for name, stored in item.items():
        for key, value in values.items():
            equal = naive.plain(stored) == naive.plain(value)
            for text in (f"{name} = {key}", f"{key} = {name}", f"{name} IN ({key})", f"NOT {name} <> {key}"):
                bound = bind_condition(text, Placeholders(None, {key: value}))
                assert bound.matches(check_item(item)) is equal, text


@given(fitting_updates(), fitting_items, fitting_given_values)
def test_an_update_changes_only_its_paths(update: tree.Update, item: dict[str, Any], values: dict[str, Any]) -> None:
    text = to_text(update)
    before = check_item(item)
    kept = copy.deepcopy(before)
    try:
        bound = bind_update(text, Placeholders(None, used(text, values)))
        after = bound.apply(before)
    except ExpressionFault:
        assert before == kept
        return
    assert before == kept
    untouched = {name for name in {*before, *after} if name not in bound.attributes}
    assert {name: after.get(name) for name in untouched} == {name: before.get(name) for name in untouched}
    assert check_item(after) == after


@given(fitting_updates(), fitting_items, fitting_given_values)
def test_set_actions_store_their_values(update: tree.Update, item: dict[str, Any], values: dict[str, Any]) -> None:
    text = to_text(update)
    try:
        after = bind_update(text, Placeholders(None, used(text, values))).apply(check_item(item))
    except ExpressionFault:
        return
    for action in update.actions:
        if len(action.path.parts) == 1:
            name = str(action.path.parts[0])
            if isinstance(action, tree.Remove):
                assert name not in after
            elif isinstance(action, tree.Set) and isinstance(action.value, tree.Value):
                assert after[name] == check_value(values[action.value.name])


@given(items)
def test_a_projection_of_all_attributes_returns_the_whole_item(item: dict[str, Any]) -> None:
    if item:
        projection = bind_projection(", ".join(item), Placeholders())
        assert projection.project(item) == item


@pytest.mark.parametrize(
    "text",
    [
        "NOT " * 1023 + "a=:x",
        "(" * 4000,
        "(" * 2000 + "a=:x" + ")" * 2000,
        "size(" * 800,
        "size(" * 600 + "a" + ")" * 600 + "=:x",
        "a = " + "(" * 2000 + ":x" + ")" * 2000,
        "NOT (" * 700 + "a=:x" + ")" * 596,
        "(" * 400 + "a=:x" + " AND a=:x)" * 365,
        "a" + "[0]" * 1300 + "=:x",
    ],
)
def test_deeply_nested_expressions_are_rejected(text: str) -> None:
    with pytest.raises(ExpressionFault):
        bind_condition(text[:4096], Placeholders(None, {":x": {"S": "x"}}))


def test_expressions_nested_up_to_the_limit_are_evaluated() -> None:
    text = "(" * 148 + "a=:x" + " AND a=:x)" * 148 + " AND a=:x"
    bound = bind_condition(text, Placeholders(None, {":x": {"S": "x"}}))
    assert bound.matches({"a": {"S": "x"}})
    assert not bound.matches({"a": {"S": "y"}})
    nots = "NOT (" * 298 + "a=:x" + ")" * 298
    assert bind_condition(nots, Placeholders(None, {":x": {"S": "x"}})).matches({"a": {"S": "x"}})
    assert to_text(parse_condition(text)) == text.replace("=", " = ")
