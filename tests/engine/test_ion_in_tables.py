"""Amazon Ion's text, a table of cases: what is read and refused, where a value may end, how items are written."""

from __future__ import annotations

from typing import Any

from keyplan.engine.s3 import ion
from tests.agreed import assert_agreed
from tests.engine.support import n, s


def said(text: str) -> str:
    try:
        return f"{ion.read_struct(text)}"
    except ion.IonError as error:
        return f"{type(error).__name__}: {error}"


VALUES = (
    '""', '"a\\"b"', '"a', '"a\nb"', "'''a'''", "'''a''' '''b'''", "'''a\nb'''", "'''a", "1", "-1.5", "+2", "1.", "1d2",
    "1.d2", "1_000", "1e-5", "0x10", "12-3", "1:2", "1_", "-", "--1", "1d400", "true", "false", "null", "null.int",
    "null.", "null.5", "nan", "nul", "{{AA ==}}", "{{", "{{A}", "{}", "{a:1}", "{a:1,}", "{a:1 b:2}", "{a 1}", "{a",
    "{",
    "{a:", "{a:1", "{'a b':1,\"c\":2,'''d''':3}", "{a:1,a:2}", "{5:1}", "{'a:1}", "[]", "[1,2]", "[1 2]", "[1", "[1,",
    "[", "$dynamodb_SS::[\"a\"]", "$dynamodb_NS::[1,2.]", "$dynamodb_BS::[{{AA==}}]", "$dynamodb_SS::[1]",
    "$dynamodb_SS::\"a\"", "'$dynamodb_SS'::[\"a\"]", "other::[1]", "$dynamodb_SS ::", "'a'", "'a", "/* c */ 5 // d\n",
    "5 /* c", "\"\\x41\\u0042\\U00000043\\n\\t\\0\\e\\\\\"", "\"\\U00110000\"", "\"a\\\nb\"", "\"\\ud83d\\ude00\"", "?",
    "'''a''' /* c */ '''b'''", "2007-01-01T",
)  # fmt: skip


def test_what_text_of_ion_says() -> None:
    lines = [f"{value!r}: {said('{v:' + value + '}')}" for value in VALUES]
    for text in (
        "",
        "$ion_1_0",
        "$ion_1_0 {}",
        " {} ",
        "{} {}",
        "5",
        "{}5",
        "// c",
        "/* c */ $ion_1_0 // d\n",
        "$ion_1_0 5",
    ):
        lines.append(f"{text!r}: {said(text)}, {ion.is_blank(text)}")  # noqa: PERF401
    for depth in (ion.DEPTH_MAX - 1, ion.DEPTH_MAX, ion.DEPTH_MAX + 1):
        for opened, closed in (("[", "]"), ("{a:", "}"), ("$dynamodb_SS::", "")):
            told = said(f"{{v:{opened * depth}5{closed * depth}}}")
            lines.append(f"{depth} {opened}: {told[:40]}")
    assert_agreed("\n".join(lines))


def test_where_a_value_of_ion_may_end() -> None:
    texts = (
        ["{a:1}"], ["{", "}"], ["[", "{", "}", "]"], ['{a:"}', '"}'], ['{a:"}"', "}"], ["{a:'}'", "}"], ["{a:'''}",
        "'''", "}"],
        ["{a:{{}", "}}", "}"], ["{ // }", "}"], ["{ /* }", "*/ }"], ["{}}", "{"], ["]", "["], ["{a:\"\\\"}\"", "}"],
        ["{a:\"x", "}"], ["5"], [""], ["{a:{{AA}}}"], ["{a:1} {"], ["{a:1}{b:1}"],
    )  # fmt: skip
    lines = []
    for text in texts:
        brackets = ion.Brackets()
        lines.append(f"{text}: {[brackets.may_end(line + chr(10)) for line in text]}")
    assert_agreed("\n".join(lines))


def test_how_items_are_written_as_ion() -> None:
    values: tuple[dict[str, Any], ...] = (
        *(s(text) for text in ("", "a", 'a"b', "a'b", "a\\b", "a\nb", "\x00\x7f\xa0\xad", "é", "\u200b", "\U0001f600")),
        *(n(text) for text in ("0", "5", "-5", "1.5", "-0.05", "1E+3", "1E-19", "1E-20", "-1.5E-21", "120", "1.20E+5")),
        {"B": "AA=="},
        {"BOOL": True},
        {"BOOL": False},
        {"NULL": True},
        {"L": [n(1), s("a")]},
        {"M": {"a": n(1), "null": n(2), "a b": n(3), "1": n(4), "": n(5), "it's": n(6), "$x": n(7), "a1": n(8)}},
        {"SS": ["a", "b"]},
        {"NS": ["1", "2.5"]},
        {"BS": ["AA=="]},
    )
    assert_agreed("\n".join(ion.write_struct({"v": value}) for value in values))
