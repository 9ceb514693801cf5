"""What the storage promises, in a file and in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from keyplan.store.storage import connections
from keyplan.store.storage import table_reads as tables
from keyplan.store.storage.key_layouts import Bounds, Entry, IndexLayout, StaleTableError, TableLayout, segment_of
from keyplan.store.storage.sql import page_values
from keyplan.store.storage.sqlite import Storage
from keyplan.store.storage.storage_transactions import Reader, Writer
from keyplan.store.storage.table_reads import StoredTable

ALL_BYTES = 10**9
LAYOUT = TableLayout(
    0, 1, "S", "S", (IndexLayout(1, ("S",), ("S",), sized=False), IndexLayout(2, ("S", "N"), (), sized=True))
)


@pytest.fixture
def table(storage: Storage) -> StoredTable:
    layout = storage.write(lambda writer: writer.create_table("t", "{}", LAYOUT))
    return storage.table(layout)


def fill(storage: Storage, table: StoredTable, *keys: tuple[str, str], entry: str | None = None) -> None:
    def work(writer: Writer) -> None:
        for key in keys:
            row = writer.insert(table, *key, 10, f"{key}".encode())
            if entry is not None:
                writer.add_entry(table, 1, Entry((entry, key[1][:1]), None), key, row)

    storage.write(work)


def bodies(rows: list[tuple[int, bytes]]) -> list[bytes]:
    return [body for _, body in rows]


def test_what_is_written_is_read(storage: Storage, table: StoredTable) -> None:
    fill(storage, table, ("a", "1"))
    assert table.get("a", "1") == (10, b"('a', '1')")
    assert table.get("a", "2") is None


def test_replace_and_remove(storage: Storage, table: StoredTable) -> None:
    fill(storage, table, ("a", "1"))

    def work(writer: Writer) -> None:
        result = writer.find(table, "a", "1")
        assert result is not None
        writer.replace(table, result[0], 20, b"new")

    storage.write(work)
    assert table.get("a", "1") == (20, b"new")

    def remove(writer: Writer) -> None:
        result = writer.find(table, "a", "1")
        assert result is not None
        writer.remove(table, result[0])

    storage.write(remove)
    assert table.get("a", "1") is None


def test_a_write_that_raises_leaves_nothing(storage: Storage, table: StoredTable) -> None:
    class Stop(BaseException):
        pass

    def work(writer: Writer) -> None:
        writer.insert(table, "a", "1", 1, b"x")
        raise Stop

    with pytest.raises(Stop):
        storage.write(work)
    assert table.get("a", "1") is None
    fill(storage, table, ("a", "1"))
    assert table.get("a", "1") is not None


def test_a_page_ends_at_its_limit_or_size(storage: Storage, table: StoredTable) -> None:
    fill(storage, table, *(("a", str(number)) for number in range(5)))
    everything, more = table.page(None, Bounds(("a",)), None, ALL_BYTES)
    assert (len(everything), more) == (5, False)
    assert table.page(None, Bounds(("a",)), 3, ALL_BYTES) == (everything[:3], True)
    assert table.page(None, Bounds(("a",)), 5, ALL_BYTES) == (everything, True)
    assert table.page(None, Bounds(("a",)), 6, ALL_BYTES) == (everything, False)
    assert table.page(None, Bounds(("a",)), None, 11) == (everything[:2], True)
    assert table.page(None, Bounds(("a",)), 4, 11) == (everything[:2], True)
    assert table.page(None, Bounds(("a",)), 40, 11) == (everything[:2], True)


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        (Bounds(("a",), low=(">", "1")), "23"),
        (Bounds(("a",), low=(">=", "1")), "123"),
        (Bounds(("a",), high=("<", "2")), "01"),
        (Bounds(("a",), high=("<=", "2")), "012"),
        (Bounds(("a",), low=(">=", "1"), high=("<", "3")), "12"),
        (Bounds(("a",), equal=("2",)), "2"),
        (Bounds(("a",), after=("a", "1")), "23"),
        (Bounds(("a",), after=("a", "11")), "23"),
        (Bounds(("a",), after=("a", "1"), forward=False), "0"),
        (Bounds(("a",), low=(">", "0"), after=("a", "2"), forward=False), "1"),
        (Bounds(("a",), high=("<", "3"), after=("a", "1")), "2"),
        (Bounds(("a",), equal=("2",), after=("a", "2")), ""),
        (Bounds(("a",), forward=False), "3210"),
        (Bounds(("none",)), ""),
    ],
)
def test_bounds_of_a_partition(storage: Storage, table: StoredTable, bounds: Bounds, expected: str) -> None:
    fill(storage, table, *(("a", str(number)) for number in range(4)), ("b", "1"))
    rows, _ = table.page(None, bounds, None, ALL_BYTES)
    assert bodies(rows) == [f"('a', '{number}')".encode() for number in expected]


def test_entries_with_equal_keys_are_all_reached_whatever_the_page(storage: Storage, table: StoredTable) -> None:
    keys = [(partition, f"s{number}") for partition in "cab" for number in range(3)]
    fill(storage, table, *keys, entry="e")
    for forward in (True, False):
        seen: list[bytes] = []
        after: tuple[str | bytes, ...] | None = None
        while True:
            rows, more = table.page(1, Bounds(("e",), after=after, forward=forward), 2, ALL_BYTES)
            seen += bodies(rows)
            if not more:
                break
            partition, sort = eval(rows[-1][1])
            after = ("e", sort[:1], partition, sort)
        expected = [f"{key}".encode() for key in sorted(keys, reverse=not forward)]
        assert seen == expected


def test_a_page_goes_on_after_an_entry_that_is_gone(storage: Storage, table: StoredTable) -> None:
    fill(storage, table, ("a", "s1"), ("b", "s1"), ("c", "s1"), entry="e")

    def remove(writer: Writer) -> None:
        result = writer.find(table, "b", "s1")
        assert result is not None
        writer.remove(table, result[0])
        writer.remove_entry(table, 1, Entry(("e", "s"), None), ("b", "s1"))

    storage.write(remove)
    rows, _ = table.page(1, Bounds(("e",), after=("e", "s", "b", "s1")), None, ALL_BYTES)
    assert bodies(rows) == [b"('c', 's1')"]


def test_sized_entries_give_their_own_size(storage: Storage, table: StoredTable) -> None:
    def work(writer: Writer) -> None:
        row = writer.insert(table, "a", "1", 100, b"x")
        writer.add_entry(table, 2, Entry(("p", "N"), 7), ("a", "1"), row)

    storage.write(work)
    assert table.page(2, Bounds(("p", "N")), None, ALL_BYTES) == ([(7, b"x")], False)
    storage.write(lambda writer: writer.resize_entry(table, 2, Entry(("p", "N"), 9), ("a", "1")))
    assert table.page(2, Bounds(("p", "N")), None, ALL_BYTES) == ([(9, b"x")], False)
    assert table.count(2, 10) == (1, 9)
    assert table.count(None, 10) == (1, 100)
    assert table.count(None, 0) is None


def test_segments_divide_everything(storage: Storage, table: StoredTable) -> None:
    keys = [(f"p{number}", "s") for number in range(40)]
    fill(storage, table, *keys)
    seen = []
    for segment in range(3):
        rows, _ = table.page(None, Bounds(segment=(segment, 3)), None, ALL_BYTES)
        assert all(segment_of(eval(body)[0], 3) == segment for body in bodies(rows))
        seen += bodies(rows)
    assert sorted(seen) == sorted(f"{key}".encode() for key in keys)


def test_a_snapshot_stays(storage: Storage, table: StoredTable) -> None:
    fill(storage, table, ("a", "1"))

    def work(reader: Reader) -> tuple[object, object]:
        return reader.get(table, "a", "1"), reader.get(table, "a", "2")

    assert storage.read(work) == ((10, b"('a', '1')"), None)


def test_a_table_whose_form_changed_is_stale(storage: Storage, table: StoredTable) -> None:
    fill(storage, table, ("a", "1"))
    layout = TableLayout(table.layout.id, 2, "S", "S", (IndexLayout(3, ("S",), (), sized=False),))
    storage.write(lambda writer: writer.change_indexes(table, layout, "{}"))
    with pytest.raises(StaleTableError):
        table.get("a", "1")
    with pytest.raises(StaleTableError):
        table.page(None, Bounds(), None, ALL_BYTES)
    with pytest.raises(StaleTableError):
        storage.write(lambda writer: writer.insert(table, "b", "1", 1, b"x"))
    changed = storage.table(layout)
    assert changed.get("a", "1") == (10, b"('a', '1')")
    assert changed.page(3, Bounds(), None, ALL_BYTES) == ([], False)
    (record,) = storage.tables()
    assert (record.name, record.generation) == ("t", 2)


def test_a_dropped_table_is_gone(storage: Storage, table: StoredTable) -> None:
    storage.write(lambda writer: writer.drop_table(table))
    assert storage.tables() == []
    with pytest.raises(StaleTableError):
        table.get("a", "1")
    again = storage.write(lambda writer: writer.create_table("t", "{}", LAYOUT))
    assert again.id != table.layout.id


def test_tokens_are_kept_for_a_while(storage: Storage) -> None:
    storage.write(lambda writer: writer.keep_token("t", b"digest", b"answer", 100.0, 0.0))
    assert storage.write(lambda writer: writer.token("t", 100.0)) == (b"digest", b"answer")
    assert storage.write(lambda writer: writer.token("t", 101.0)) is None
    storage.write(lambda writer: writer.keep_token("u", b"d", b"a", 200.0, 150.0))
    assert storage.write(lambda writer: writer.token("t", 0.0)) is None


def test_blobs_sort_as_bytes(storage: Storage) -> None:
    layout = storage.write(lambda writer: writer.create_table("b", "{}", TableLayout(0, 1, "B", "B", ())))
    table = storage.table(layout)
    keys = [b"\x00", b"\xff", b"\x00\xff", b"\x7f", b"\x80"]
    storage.write(lambda writer: [writer.insert(table, b"p", key, 1, key) for key in keys])
    rows, _ = table.page(None, Bounds((b"p",)), None, ALL_BYTES)
    assert bodies(rows) == sorted(keys)


@pytest.mark.parametrize("index", [None, 1])
@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize(
    "bounds",
    [
        Bounds(("a",)),
        Bounds(("a",), equal=("b",)),
        Bounds(("a",), low=(">", "b"), high=("<", "c")),
        Bounds(("a",), after=("a", "b", "c", "d")),
        Bounds(("a",), low=(">", "b"), high=("<", "c"), after=("a", "b", "c", "d")),
        Bounds(after=("a", "b", "c", "d")),
        Bounds(),
    ],
)
def test_a_page_is_read_in_the_order_of_an_index(
    storage: Storage, table: StoredTable, index: int | None, forward: bool, bounds: Bounds
) -> None:
    """Nothing is sorted, and what lies outside the bounds isn't walked over, however large the table is."""
    after = bounds.after if bounds.after is None or index is not None else bounds.after[:2]
    asked = replace(bounds, forward=forward, after=after)
    text, values = table.texts.page(index, asked), page_values(asked, 10)
    connection = storage.pool.take()
    steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {text}", tuple(values))]
    storage.pool.give(connection)
    assert not any("TEMP B-TREE" in step for step in steps), steps
    assert steps[0].startswith("SEARCH" if bounds != Bounds() else "SCAN"), steps
    if index is not None:
        assert len(steps) == 2
        assert "INTEGER PRIMARY KEY" in steps[1], steps
    if after is not None:
        sought = ">" if forward else "<"
        assert f"sk){sought}(" in steps[0] or f"sk{sought}?" in steps[0], steps


def test_a_sound_store_has_no_faults(storage: Storage, table: StoredTable) -> None:
    assert list(storage.faults()) == []


@pytest.mark.parametrize("index", [None, 1])
@pytest.mark.parametrize("count", [0, 1, 6, 7, 8, 50])
def test_a_segment_in_memory_is_looked_at_in_pieces(
    monkeypatch: pytest.MonkeyPatch, index: int | None, count: int
) -> None:
    """Its pages are those that one statement gives, and others have the connection in between."""
    storage = Storage.memory()
    table = storage.table(storage.write(lambda writer: writer.create_table("t", "{}", LAYOUT)))
    fill(storage, table, *((f"p{number % 11}", f"{number:02}") for number in range(count)), entry="x")
    monkeypatch.setattr(tables, "PIECE_ROWS", 6)
    looked_at = [0]
    pool = storage.pool
    take, looked = pool.take, segment_of

    def taking() -> apsw.Connection:
        looked_at.append(0)
        return take()

    def looking(partition: str | bytes, total: int) -> int:
        looked_at[-1] += 1
        return looked(partition, total)

    monkeypatch.setattr(pool, "take", taking)
    monkeypatch.setattr(connections, "segment_of", looking)
    connection = take()
    pool.give(connection)
    for total, bytes_max, limit in ((3, ALL_BYTES, None), (3, 25, None), (3, ALL_BYTES, 2), (1, 30, 4), (1000, 10, 1)):
        for segment in range(min(total, 4)):
            bounds = Bounds(segment=(segment, total))
            whole = table.page_of(connection, index, bounds, limit, bytes_max)
            looked_at[:] = [0]
            assert table.page(index, bounds, limit, bytes_max) == whole
            assert max(looked_at) <= 7
    storage.close()


def test_a_connection_that_still_reads_is_discarded(tmp_path: Path) -> None:
    storage = Storage.file(str(tmp_path / "store.db"))
    connection = storage.pool.take()
    rows = connection.execute("SELECT name FROM sqlite_schema; SELECT 1")
    assert next(rows)
    storage.pool.discard(connection)
    with pytest.raises(apsw.CursorClosedError):
        next(rows)
    storage.close()
