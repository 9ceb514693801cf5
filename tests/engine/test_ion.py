"""Amazon Ion: an export can be read again, the format of the documentation is read, and invalid files are rejected."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan.dynamodb.values import check_item
from keyplan.store.transfer.bucket_folder import S3Error
from keyplan.store.transfer.item_formats import Csv, UnreadableError, read_records, write_record

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
"""The example of "Amazon S3 import formats for DynamoDB"."""

numbers = st.builds(
    lambda digits, exponent, sign: f"{sign}{digits}e{exponent}",
    st.integers(1, 10**38 - 1),
    st.integers(-125, 87),
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


def records(data: Any) -> list[dict[str, Any]]:
    found: list[Any] = list(read_records(io.BytesIO(data) if isinstance(data, bytes) else data, "ION", Csv({})))
    if found and isinstance(found[-1], UnreadableError):
        raise found[-1]
    return found


@given(st.dictionaries(texts.filter(bool), values, max_size=4))
def test_item_exported_as_ion_is_read_back_unchanged(item: dict[str, Any]) -> None:
    normal = check_item(item)
    line = write_record({"Item": normal}, "ION")
    assert line.count(b"\n") == 1
    assert [check_item(record["Item"]) for record in records(line + line)] == [normal, normal]


def test_ion_example_of_the_documentation_is_read() -> None:
    (record,) = records(BOOK.encode())
    assert check_item(record["Item"]) == {
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
        ("{a: // a comment\n 1 /* } */}", {"N": "1"}),
        ("{'a': '''long ''' \n'''string'''}", {"S": "long string"}),
        (r'{"a": "\u00e9\x41\n\\\"\U0001F600"}', {"S": 'éA\n\\"😀'}),
        ("{a: null.string}", {"NULL": True}),
        ("{a: -1_000.50d-2}", {"N": "-10.0050"}),
        ("{a: 2.5e0}", {"N": "2.5"}),
        ("{a: [true, {b: 12,},],}", {"L": [{"BOOL": True}, {"M": {"b": {"N": "12"}}}]}),
        ("{a: {{ AA\n== }}}", {"B": "AA=="}),
        ("{a: {}}", {"M": {}}),
    ],
)
def test_ion_values_are_converted_to_dynamodb_values(text: str, value: dict[str, Any]) -> None:
    assert records(f"{{Item: {text}}}".encode()) == [{"Item": {"a": value}}]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "{",
            "{a",
            "{a:",
            "{a:1",
            '{a:"x',
            "{a:'''x",
            "{a:[1",
            "{a:{b:1}",
            "{a 1}",
            "{a:1;}",
            "{a:12x}",
            "}",
            "{a: [}]}",
        ),
        *("[1]", "a", "{a:2020-01-01T}", "{a:symbol}", "{a:(1 2)}", '{a:{{"clob"}}}', "{a:nan}", "{a:+inf}"),
        *("{a:x::1}", "{a:$dynamodb_SS::[1]}", "{a:$dynamodb_SS::1}", "{a:1,a:2}", "{a:$99}", '{a:"x\ny"}'),
        *("{a:1d99999999999999999999}", "{a:" + "9" * 100_000 + "}", "{a:" + "[" * 500_000, "a::" * 100_000 + "1"),
    ],
    ids=lambda text: text[:20],
)
def test_malformed_ion_is_rejected(text: str) -> None:
    with pytest.raises(UnreadableError, match=r"isn't|digits"):
        records(f"{{Item: {{}}}}\n{text}\n{{Item: {{}}}}".encode())


class Endless(io.RawIOBase):
    """A file that repeats its content endlessly."""

    def __init__(self, start: bytes, again: bytes, bytes_max: int = 10_000_000) -> None:
        self.left, self.bytes_max = start, bytes_max
        self.again = again * (8192 // len(again))
        self.read_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        assert self.read_bytes < self.bytes_max
        data, self.left = (self.left or self.again)[: len(buffer)], b""
        buffer[: len(data)] = data
        self.read_bytes += len(data)
        return len(data)


@pytest.mark.parametrize("again", [b'"x",', b"1,", b" ", b"/* */", b"{'x':1},", b"x"])
def test_unterminated_ion_record_is_rejected(again: bytes) -> None:
    with pytest.raises(UnreadableError):
        records(Endless(b"{Item:{a:[" + (b'"' if again == b"x" else b""), again))


def test_truncated_gzip_file_is_reported() -> None:
    packed = gzip.compress(b"".join(b'{Item:{pk:"%d"}}\n' % number for number in range(9000)), mtime=0)
    with gzip.open(io.BytesIO(packed[:-2000])) as file, pytest.raises(UnreadableError, match="can't be read"):
        records(file)


def test_error_contains_the_name_of_the_missing_ion_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "amazon.ion.simpleion", None)
    for use in (lambda: records(BOOK.encode()), lambda: write_record({"Item": {}}, "ION")):
        with pytest.raises(S3Error, match=r"keyplan\[ion\]"):
            use()
