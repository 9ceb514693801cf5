"""Shapes that belong to this test, and what is said of values that don't fit them, in each wording: agreed upon."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from keyplan.dynamodb import limits
from keyplan.dynamodb.operations import shapes
from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.dynamodb.operations.shape_errors import Wording, check_types, explain, wording_for
from keyplan.dynamodb.operations.shapes import (
    Flag,
    ListOf,
    MapOf,
    Real,
    Shape,
    Text,
    Value,
    Whole,
    compile_check,
    in_order,
    member_names,
    named,
    structure,
)
from keyplan.dynamodb.service_errors import CountFault, SerializationException, ValidationException

PLAIN = "[a-z]+"
NAME = Text(3, 5, PLAIN)
TABLE = Text(3, 5, PLAIN, arn=True, never_empty=True)
ARN = "arn:aws:dynamodb:eu-west-1:000000000000:"
SHAPES: dict[str, Shape] = {
    "a text": Text(),
    "a text of some length": Text(2, 4),
    "a text of a pattern": NAME,
    "a text whose length is told first": Text(3, 5, PLAIN, length_first=True),
    "a text whose length is told in words": Text(3, 5, length_told="It is too short or too long"),
    "a text that is never empty": Text(3, 5, PLAIN, never_empty=True),
    "a text told by name": Text(3, 5, PLAIN, named="both"),
    "a table": TABLE,
    "one of two": Text(enum=("ONE", "TWO")),
    "one of two, told in words": Text(enum=("ONE", "TWO"), told="It is neither"),
    "one of two, told first": Text(enum=("ONE", "TWO"), told="It is neither", first=True),
    "an integer": Whole(),
    "an integer of 32 bits": Whole(bits=32),
    "an integer of some": Whole(2, 4),
    "an integer told by name": Whole(2, 4, named="both"),
    "a number": Real(),
    "a flag": Flag(),
    "a value": Value(),
    "a list": ListOf(Text(2)),
    "a list of some": ListOf(Text(2), 1, 2),
    "a list told by name": ListOf(Text(2), 1, 2, named="both"),
    "a list whose length is told by name": ListOf(Text(2), 1, 2, named="max"),
    "a list of values": ListOf(Value(), 1, 2),
    "a list of flags": ListOf(Flag(), 2),
    "a map": MapOf(Whole(2)),
    "a map of some": MapOf(Whole(2), 1, 2),
    "a map told by name": MapOf(Whole(2), 1, 2, named="both"),
    "a map of values": MapOf(Value(), 1, 2),
    "a map of tables": MapOf(Whole(2), 1, 2, key=NAME),
    "a map of tables, told last": MapOf(Whole(2), 1, 2, key=NAME, keys_last=True),
    "a map, shown as JSON": MapOf(Whole(2), 1, 2, echoed_as_json=True),
    "a map of lists": MapOf(ListOf(Whole(2), 1, 2), 1),
    "a map of structures": MapOf(structure({"A": Whole(2)}, B=ListOf(Flag(), 1)), 1),
    "a structure": structure({"A": Whole(2)}, B=Flag(), C=Value()),
    "a structure with a name": named("Some", structure({"A": ListOf(Text(2), 2)}, B=Flag())),
    "a list of structures": ListOf(named("PutRequest", structure({"A": Value()}, B=Text(2))), 2),
}
VALUES: tuple[Any, ...] = (
    *(None, "", "x", "ab", "abc", "abcde", "abcdef", "ABC", "ONE", "one"),
    *(f"{ARN}table/ab", f"{ARN}table/abc", f"{ARN}table/abcdef", f"{ARN}index/abc", f"{ARN}table", "arn:table/abc"),
    *(0, 1, 2, 4, 5, -1, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64),
    *(1.0, 1.9, 2.5, -2.5, 4.9, 2.0**31, 2.0**63, 1e300, True, False),
    *([], ["ab"], ["x"], ["ab", "abc"], ["ab", "x", "abc"], [None], [1], [True, False], [True], [{"S": "ab"}], [[]]),
    *({}, {"abc": 2}, {"abc": 1}, {"ab": 2}, {"abc": 1.9, "b": 3.5}, {"abc": 2, "abcd": 3, "abcde": 4}, {"abc": None}),
    *({"abc": [2]}, {"abc": [1, 2, 3], "abd": []}, {"abc": {"A": 2}}, {"abc": {"A": 1, "B": []}}, {"abc": {}}),
    *({"abc": True}, {"abc": {"S": "ab"}}, {"abc": {"A": 2.9, "B": [True, None]}}),
    *({"A": 2}, {"A": 1, "B": True, "C": {"S": "a"}}, {"B": False}, {"A": None}, {"A": 2, "B": "x"}, {"A": 2, "D": 1}),
    *({"A": ["ab"], "B": True}, {"A": ["ab", "abc"]}, {"A": []}, [{"A": {"N": "1"}, "B": "x"}], [{"B": "ab"}, {}]),
)


def said(shape: Shape, value: Any, wording: Wording) -> str:
    """What is wrong with a request of this one member."""
    try:
        explain(structure({"Given": shape}), {"Given": value}, wording)
    except (ValidationException, SerializationException) as error:
        return error.message
    return ""


def copied(value: Any) -> Any:
    return json.loads(json.dumps(value))


def test_what_is_said_of_each_value_of_each_shape() -> None:
    for name, shape in SHAPES.items():
        check = compile_check(shape)
        for value in VALUES:
            is_right = check(copied(value))
            assert is_right in {True, False}
            words = {wording: said(shape, copied(value), wording) for wording in ("older", "current", "enveloped")}
            if "NULL" not in member_names(shape):  # attribute values are checked elsewhere
                assert not (is_right and words["older"]), (name, value)


@pytest.mark.parametrize("wording", get_args(Wording))
def test_several_faults_are_listed_in_the_order_of_members(wording: Wording) -> None:
    shape = in_order(
        structure({"Aa": NAME, "Bb": Whole(2)}, Cc=ListOf(NAME, 1), Dd=SHAPES["one of two, told first"]), "Cc"
    )
    assert list(shape.members) == ["Cc", "Aa", "Bb", "Dd"]
    with pytest.raises(ValidationException) as caught:
        explain(shape, {"Aa": "A", "Bb": 1, "Cc": ["B"], "Dd": "three"}, wording)
    first = {
        "older": "6 validation errors detected: Value '[B]' at 'cc.1.member'",
        "current": "It is neither",
        "enveloped": "1 validation error detected: It is neither",
    }
    assert caught.value.message.startswith(first[wording].replace("'[B]'", "'B'"))


@pytest.mark.parametrize("count", [9, 10, 11])
def test_ten_faults_are_listed(count: int) -> None:
    with pytest.raises(ValidationException) as caught:
        explain(
            structure({f"A{number}": Whole(2) for number in range(count)}), {f"A{number}": 1 for number in range(count)}
        )
    assert caught.value.message.count("failed to satisfy") == min(count, 10)
    assert caught.value.message.startswith(f"{min(count, 10)} validation errors detected: ")


CONTENTS: tuple[Any, ...] = (
    *(None, "", "x", "QUI=", 1, 1.5, 1e300, 2.0**64, 2.0**63, 2**64, True),
    *([], [None], ["x"], ["QUI="], [1], ["QUI=", 1], [True], [[]], [{}], {}, {"S": "x"}, {"a": {"S": 5}}, [{"S": 5}]),
)


def of_types(value: Any) -> str:
    try:
        check_types(Value(), copied(value))
    except SerializationException as error:
        return error.message
    return ""


def test_what_is_said_of_each_content_of_each_type() -> None:
    """Whatever stands beside it."""
    for tag in ("S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M", "X"):
        for content in CONTENTS:
            message = of_types({tag: content})
            besides: tuple[dict[str, Any], ...] = ({"M": None}, {"X": 5}, {"S": "x", "B": None}, {"L": []})
            for beside in besides:
                if tag not in beside:
                    assert of_types({**beside, tag: content}) == of_types({tag: content, **beside}) == message
                    assert of_types({"L": [beside, None, {tag: content}]}) == message
                    assert of_types({"M": {"a": beside, "b": None, "c": {tag: content}, "d": beside}}) == message


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", ""),
        ("AAAA", ""),
        ("AAA=", ""),
        ("AA==", ""),
        ("A===", "Invalid last non-pad Base64 character dectected"),
        ("====", "Invalid last non-pad Base64 character dectected"),
        ("AAAA====", "Invalid last non-pad Base64 character dectected"),
        ("AA=A", "Invalid Base64 character: '='"),
        ("A=AA====", "Invalid Base64 character: '='"),
        ("AAA!", "Invalid Base64 character: '!'"),
        ("AAAä", "Invalid Base64 character: 'ä'"),
        ("AAA", "Base64 encoded length is expected a multiple of 4 bytes but found: 3"),
        ("!", "Base64 encoded length is expected a multiple of 4 bytes but found: 1"),
    ],
)
@pytest.mark.parametrize("tag", ["B", "BS"])
def test_base64(text: str, fault: str, tag: str) -> None:
    value = {tag: text} if tag == "B" else {tag: ["AAAA", text]}
    if not fault:
        check_types(Value(), value)
        return
    with pytest.raises(SerializationException) as caught:
        check_types(Value(), value)
    assert caught.value.message == fault


@pytest.mark.parametrize("wording", get_args(Wording))
@pytest.mark.parametrize("depth", [1, 125, 126, 127, 128, 129, 300])
def test_what_nests_very_deep_is_told_in_the_older_words(wording: Wording, depth: int) -> None:
    """The request itself is the first level."""
    for begin, end in (([], list), ({}, lambda inner: {"a": inner})):
        request: Any = begin
        for level in range(depth - 1):
            request = [request, 5, []] if end is list else {"a": request, "b": level}
        assert wording_for(wording, request) == ("older" if depth > 127 else wording)


def test_what_is_known_to_be_right_is_looked_at_once_and_not_all_of_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []
    faults = shapes.text_faults

    def counted(shape: Text, value: str) -> Any:
        looked_at.append(value)
        return faults(shape, value)

    monkeypatch.setattr(shapes, "text_faults", counted)
    monkeypatch.setattr(shapes, "_MEMO_MAX", 2)
    check = compile_check(Text(2))
    for values, expected in (
        (["ab", "ab", "x", "x", "cd", "ab", "cd"], ["ab", "x", "x", "cd"]),
        (["ef", "ef", "ab", "ab", "ef", "cd"], ["ef", "ab", "cd"]),
    ):
        looked_at.clear()
        assert [check(value) for value in values] == [value != "x" for value in values]
        assert looked_at == expected


def test_the_names_of_members() -> None:
    shape = structure({"A": ListOf(structure(B=Whole(), C=MapOf(structure(D=Flag()))))}, E=Text())
    assert list(member_names(shape)) == ["A", "E", "B", "C", "D"]
    assert list(member_names(MapOf(Value()))) == ["S", "N", "B", "SS", "NS", "BS", "M", "L", "NULL", "BOOL"]
    assert list(member_names(Real())) == []


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if operation.legacy])
def test_old_parameters_are_counted_each_by_itself(name: str) -> None:
    operation = OPERATIONS[name]
    maps = [each for each in operation.legacy if isinstance(operation.request.members.get(each), MapOf)]
    others = {each: "x" for each in operation.legacy if each not in maps}
    for member in maps:
        for count in (limits.OLD_MEMBERS_MAX, limits.OLD_MEMBERS_MAX + 1):
            given: dict[str, Any] = {f"a{number}": {} for number in range(count - 10)}
            given |= {"a0": {"AttributeValueList": None}, "b": {"AttributeValueList": [1] * 9}}
            request = {**others, **{each: {} for each in maps}, member: given}
            if count == limits.OLD_MEMBERS_MAX:
                operation.check_old_count(request)
                continue
            with pytest.raises(
                CountFault, match=f"Value at '{member}' failed .* less than or equal to {limits.OLD_MEMBERS_MAX}"
            ):
                operation.check_old_count(request)


def test_attribute_values_are_repeated_with_all_that_they_may_have() -> None:
    given: list[Any] = [{"SS": ["a"]}, {"NULL": True}, {"BOOL": False, "S": "x"}, {"M": {"k": {"N": "1"}}}]
    with pytest.raises(ValidationException) as caught:
        explain(structure({"Given": ListOf(Value(), 1, 3)}), {"Given": given})
    for shown in ('sS=["a"], nS=null', "nULL=true", "s=x, n=null", "bOOL=false)", 'm={"k":{"N":"1"}}'):
        assert shown in caught.value.message
