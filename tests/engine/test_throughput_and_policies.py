"""Rules of throughput, throttling, shards, policies and files of items: each with cases on both sides of its bounds."""

from __future__ import annotations

import csv
import io

import pytest

from keyplan.store.simulation import throttling as throttle
from keyplan.store.transfer import item_formats as formats


def test_units_come_at_a_rate() -> None:
    bucket = throttle.Bucket(2.0, 5.0, 100.0, 0.0)
    told = []
    for now_s, paid in ((100.0, 0), (100.5, 1), (100.5, 0), (101.0, 3), (101.5, 0), (102.0, 0), (101.0, 0), (200.0, 9)):
        told.append((bucket.has_any(now_s), bucket.balance))
        bucket.balance -= paid
    assert told == [
        (False, 0.0),
        (True, 1.0),
        (False, 0.0),
        (True, 1.0),
        (False, -1.0),
        (False, 0.0),
        (False, 0.0),
        (True, 5.0),
    ]
    assert throttle.Bucket(2.0, 5.0, 100.0).balance == 5.0


def test_a_file_is_read_whole_and_left_open() -> None:
    before = csv.field_size_limit(131_072)
    try:
        file = io.BytesIO(f"a\n{'x' * 140_000}\n".encode())
        items = list(formats.read_records(file, "CSV", formats.Csv({})))
        assert [len(fields["Item"]["a"]["S"]) for fields in items] == [140_000]
        assert not file.closed
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize("name", ["ZstdError", "OtherError"])
def test_what_an_unpacker_may_raise(name: str) -> None:
    error: type[Exception] = type(name, (Exception,), {})

    class Packed(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            raise error("broken")

    expected = formats.UnreadableError if name == "ZstdError" else error
    with pytest.raises(expected, match="broken"):
        list(formats.read_records(Packed(), "DYNAMODB_JSON", formats.Csv({})))
