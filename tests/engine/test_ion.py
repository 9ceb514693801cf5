"""Amazon Ion's text: what is written is read again, and what the documentation shows is read."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan.dynamodb.values import check_item
from keyplan.store.transfer import ion
from keyplan.store.transfer import item_formats as formats
from keyplan.store.transfer.ion import DEPTH_MAX, IonEndError, IonError, read_struct, write_struct

BOOK = """$ion_1_0 {
    Item:{
        Authors:$dynamodb_SS::["Author1","Author2"],
        Dimensions:"8.5 x 11.0 x 1.5",
        ISBN:"333-3333333333",
        Id:103.,
        InPublication:false,
        PageCount:6d2,
        Price:2d3,
        ProductCategory:"Book",
        Title:"Book 103 Title"
    }
}"""
"""As "Amazon S3 import formats for DynamoDB" shows it."""

numbers = st.builds(
    lambda digits, exponent, sign: f"{sign}{digits}e{exponent}",
    st.integers(1, 10**30),
    st.integers(-90, 90),
    st.sampled_from(["", "-"]),
)
texts = st.text(st.characters(blacklist_categories=["Cs"]), max_size=8)
scalars = st.one_of(
    texts.map(lambda text: {"S": text}),
    numbers.map(lambda text: {"N": text}),
    st.sampled_from([{"B": "AAEC"}, {"B": ""}, {"BOOL": True}, {"BOOL": False}, {"NULL": True}, {"N": "0"}]),
    st.lists(texts, min_size=1, max_size=3, unique=True).map(lambda members: {"SS": members}),
    st.sampled_from([{"NS": ["1", "2.5"]}, {"BS": ["AA==", "AQ=="]}]),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda members: {"L": members}),
        st.dictionaries(texts.filter(bool), inner, max_size=3).map(lambda members: {"M": members}),
    ),
    max_leaves=6,
)


@given(st.dictionaries(texts.filter(bool), values, max_size=4))
def test_what_is_written_is_read_again(item: dict[str, Any]) -> None:
    normal = check_item(item)
    line = write_struct({"Item": {"M": normal}})
    assert "\n" not in line
    assert check_item(read_struct(line)["Item"]["M"]) == normal
    assert [check_item(record["Item"]) for record in records(f"{line}\n{line}\n")] == [normal, normal]


def test_what_the_documentation_shows() -> None:
    assert check_item(read_struct(BOOK)["Item"]["M"]) == {
        "Authors": {"SS": ["Author1", "Author2"]},
        "Dimensions": {"S": "8.5 x 11.0 x 1.5"},
        "ISBN": {"S": "333-3333333333"},
        "Id": {"N": "103"},
        "InPublication": {"BOOL": False},
        "PageCount": {"N": "600"},
        "Price": {"N": "2000"},
        "ProductCategory": {"S": "Book"},
        "Title": {"S": "Book 103 Title"},
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a: // a comment\n 1 /* another */}", {"N": "1"}),
        ("{'a': '''long ''' \n'''string'''}", {"S": "long string"}),
        (r'{"a": "\u00e9\x41\n\\\"\U0001F600"}', {"S": 'éA\n\\"😀'}),
        ("{a: null.string}", {"NULL": True}),
        ("{a: -1_000.5d-2}", {"N": "-1000.5e-2"}),
        ("{a: [true, {b: 1e3,},],}", {"L": [{"BOOL": True}, {"M": {"b": {"N": "1e3"}}}]}),
        ("{a: {{ AA\n== }}}", {"B": "AA=="}),
        ("{a: {}}", {"M": {}}),
    ],
)
def test_the_rest_of_the_grammar(text: str, value: dict[str, Any]) -> None:
    assert read_struct(text) == {"a": value}


@pytest.mark.parametrize("text", ["", "$ion_1_0", "{", "{a", "{a:", "{a:1", '{a:"x', "{a:'''x", "{a:[1", "{a:{b:1}"])
def test_text_that_ends_too_soon(text: str) -> None:
    with pytest.raises(IonEndError):
        read_struct(text)


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        "{a:1} {b:2}",
        "{a:2020-01-01T}",
        "{a:symbol}",
        "{a:x::1}",
        "{a:$dynamodb_SS::[1]}",
        "{a:$dynamodb_SS::1}",
        "{a 1}",
        "{a:1,a:2}",
        "{a:1;}",
        '{a:"x\ny"}',
        "{a:\\}",
        '{a:"\\UFFFFFFFF"}',
        "{a:" + "[" * 100 + "]" * 100 + "}",
        "{a:1x}",
        "{a:+}",
        "{a:-x}",
        "{a:1e99999999999999999999}",
    ],
)
def test_what_is_no_item(text: str) -> None:
    with pytest.raises(IonError) as caught:
        read_struct(text)
    assert not isinstance(caught.value, IonEndError)


@pytest.mark.parametrize("behind", ["x", "-", ":", "e5_", "é", "-01-01"])
def test_what_follows_a_number_ends_it_or_it_is_none(behind: str) -> None:
    """A moment (``2020-01-01``) begins as a number does, and so does a mistyped word."""
    with pytest.raises(IonError, match="what begins as a number at character 3 is none"):
        read_struct(f"{{a:12{behind}}}")
    for end in (",", " ", "\n", "]", "/**/"):
        assert read_struct(f"{{a:[12{end}{']' * (end != ']')}}}") == {"a": {"L": [{"N": "12"}]}}


# --- items on several lines


def records(text: str) -> list[dict[str, Any]]:
    return list(formats.read_records(io.BytesIO(text.encode()), "ION", formats.Csv({})))


LINES = """/* What {stands} here
isn't read } */
{Item: {pk: "}", 'a}': "{", // }}} "
  b: '''{
  } it's \\''' }''' '''
  }''', c: {{
    AA//
    BB== }}, d: [{}, {x: [
  ]}], "e\\
}": 1 }
}
$ion_1_0 {Item: {pk: "2"}} // {
{
"""


def test_brackets_in_strings_blobs_and_comments_close_nothing() -> None:
    text = LINES + "  Item: { }\n}\n"
    first, second, third = records(text)
    assert first["Item"] == {
        "pk": {"S": "}"},
        "a}": {"S": "{"},
        "b": {"S": "{\n  } it's ''' }\n  }"},
        "c": {"B": "AA//BB=="},
        "d": {"L": [{"M": {}}, {"M": {"x": {"L": []}}}]},
        "e}": {"N": "1"},
    }
    assert (second, third) == ({"Item": {"pk": {"S": "2"}}}, {"Item": {}})


@pytest.mark.parametrize("text", ['{a: "x\n"}', "{a: 'x\n' }", "{a: [}\n]}", "{a: 1]\n", "}\n{}", "{a: {{ }x }} }\n"])
def test_what_closes_wrongly_ends_the_object(text: str) -> None:
    with pytest.raises(formats.UnreadableError):
        records(text + "{Item: {}}\n")


@pytest.mark.parametrize("line", ["a%x: {b: 1},\n", "'a%x}': {{AA}},\n", "// } %x\n", "/* { %x\n} */\n"])
def test_a_long_item_is_read_once(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """Whatever closes in its lines: to read it with each of them would take hours."""
    read: list[int] = []

    def read_struct(text: str) -> dict[str, Any]:
        read.append(len(text))
        return ion.read_struct(text)

    monkeypatch.setattr(formats, "ion", SimpleNamespace(**{**vars(ion), "read_struct": read_struct}))
    text = "{Item: {\n" + "".join(line % number for number in range(300)) + "}}\n"
    assert len(records(text + text)) == 2
    assert read == [len(text), len(text)]


@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ("{a:", "}")])
def test_how_deep_values_may_nest(begin: str, end: str) -> None:
    read_struct("{a:" + begin * (DEPTH_MAX - 1) + "1" + end * (DEPTH_MAX - 1) + "}")
    with pytest.raises(IonError, match="deeper than 64 levels"):
        read_struct("{a:" + begin * DEPTH_MAX + "1" + end * DEPTH_MAX + "}")
