"""Edge lists of graphs are imported: real, invalid and large files."""

from __future__ import annotations

import json
import os
import tracemalloc
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keyplan.errors import RequestError, StoreError
from keyplan.systems import FAULTS_KEPT, LoadReport
from keyplan_systems.social import Social, limits
from keyplan_systems.social import loader as loading
from keyplan_systems.social.bulk import add_posts
from keyplan_systems.social.entities import Following, Post, Subscription, TimelineEntry
from keyplan_systems.social.loader import load
from tests.cli.support import run
from tests.systems.social.support import assert_whole, everything
from tests.systems.support import all_pages, silent, stored

FACEBOOK = Path(__file__).parents[4] / "shared" / "data" / "facebook_combined.txt"


@pytest.fixture
def network(tmp_path: Path) -> Path:
    path = tmp_path / "edges.txt"
    path.write_text("# Undirected graph\n# FromNodeId\tToNodeId\n0 1\n0\t2\n\n1,2\n2 3\n")
    return path


def write(folder: Path, name: str, *lines: object) -> Path:
    path = folder / name
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def places(report: LoadReport) -> list[str]:
    return [f"{fault.place.rpartition(':')[2]}: {fault.message}" for fault in report.errors]


@pytest.fixture
def empty() -> Social:
    return Social.open(":memory:")


# Edges


def test_an_undirected_edge_of_a_graph_is_imported_as_two_follows(empty: Social, network: Path) -> None:
    assert load(empty, network, silent) == LoadReport(4)
    assert [element.followed_id for element in empty.following("2")] == ["0", "1", "3"]
    assert [follower.follower_id for follower in empty.followers("2")] == ["0", "1", "3"]
    user = empty.profile("2")
    assert user is not None
    assert (user.name, user.handle, user.followers, user.following) == ("User 2", "user2", 3, 3)
    assert_whole(empty)


def test_a_directed_edge_of_a_graph_is_imported_as_one_follow(empty: Social, tmp_path: Path) -> None:
    path = write(
        tmp_path, "wiki.txt", "# Directed graph (each unordered pair of nodes is saved once): wiki.txt", "30 1"
    )
    assert load(empty, path, silent).loaded == 1
    assert [element.followed_id for element in empty.following("30")] == ["1"]
    assert empty.following("1").items == []
    assert_whole(empty)


def test_importing_a_graph_again_changes_nothing(empty: Social, network: Path) -> None:
    load(empty, network, silent)
    before = stored(empty)
    assert load(empty, network, silent) == LoadReport(4)
    assert stored(empty) == before
    network.write_text(network.read_text() + "3 0\n4 0\n")
    assert load(empty, network, silent).loaded == 6
    assert_whole(empty)
    empty.unfollow("0", "1")
    load(empty, network, silent)
    assert empty.follows("0", "1") is not None
    assert_whole(empty)


def test_invalid_edges_are_reported_with_their_line_numbers(empty: Social, tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    lines = ["nd nw", "0 1", "1", "1 2 3 4 5", "a 2", "-1 2", "3 3", "1 2 x", "1 2 0.5 1082040961", "9" * 21 + " 1"]
    path.write_bytes("\n".join(lines).encode() + b"\n\xff\xfe 1\n" + b"7" * 100_001 + b" 1\n5 6\n\xef\xbb\xbf0 4\n2 0")
    report = load(empty, path, silent)
    assert places(report) == [
        "1: 'nd' isn't a user number",
        "3: the line has 1 of 2 to 4 columns",
        "4: the line has 5 of 2 to 4 columns",
        "5: 'a' isn't a user number",
        "6: '-1' isn't a user number",
        "7: user 3 follows themselves",
        "8: 'x' isn't a number",
        f"10: '{'9' * 21}' isn't a user number",
        "11: the line isn't UTF-8 and is skipped",
        "12: the line is longer than 100,000 bytes and is skipped",
        "14: '\\ufeff0' isn't a user number",
    ]
    assert report.loaded == 4
    assert empty.follows("6", "5") is not None
    assert empty.follows("2", "0") is not None
    assert_whole(empty)


def test_an_imported_user_with_many_follows_gets_a_timeline(empty: Social, tmp_path: Path, small: None) -> None:
    edges = write(tmp_path, "star.txt", "# Directed graph", *(f"0 {number}" for number in range(1, 60)))
    assert load(empty, tmp_path, silent).loaded == 59
    newest = datetime(2026, 5, 4, 9, tzinfo=UTC)
    add_posts(
        empty,
        [
            Post(user_id=str(number), text="hi", created_at=newest + timedelta(minutes=number))
            for number in range(1, 60)
        ],
    )
    assert len(everything(empty)[Subscription]) == 58
    assert len(everything(empty)[TimelineEntry]) == 58
    assert [page.user_id for page in all_pages(empty.feed, "0")] == [str(number) for number in range(59, 0, -1)]
    assert_whole(empty)
    edges.write_text("# Directed graph\n5 1\n5 2\n5 3\n")  # follows of authors with posts
    load(empty, edges, silent)
    assert [post.user_id for post in empty.feed("5")] == ["3", "2", "1"]
    assert_whole(empty)


def test_counters_of_a_popular_user_are_sharded_during_import(
    empty: Social, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyplan_systems.social.bulk.USER_SPREAD_AT", 20)
    monkeypatch.setattr("keyplan_systems.social.design.USER_SPREAD_AT", 20)
    path = write(tmp_path, "star.txt", "# Directed graph", *(f"{number} 0" for number in range(1, 40)))
    load(empty, path, silent)
    star = empty.profile("0")
    assert star is not None
    assert star.shards == limits.SHARDS
    assert empty.gather("0") == 39
    assert_whole(empty)


def test_importing_a_large_file_takes_limited_memory_and_reports_progress(
    empty: Social, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "EDGES_STEP", 50)
    path = tmp_path / "long.txt"
    with path.open("w") as file:
        for number in range(60_000):
            file.write("1 2\n" if number % 1000 == 0 else "no edge, and that at some length " * 6 + "\n")
    result: list[tuple[int, int | None]] = []
    tracemalloc.start()
    try:
        report = load(empty, path, lambda done, total: result.append((done, total)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (report.loaded, len(report.errors), report.more_faults) == (60, FAULTS_KEPT, 59_940 - FAULTS_KEPT)
    assert peak < path.stat().st_size / 4
    assert result[0] == (0, 60_000)
    assert result[-1] == (60_000, 60_000)
    assert [done for done, _ in result] == sorted(done for done, _ in result)


def test_unreadable_and_compressed_files_raise_an_error(empty: Social, tmp_path: Path) -> None:
    assert load(empty, tmp_path, silent) == LoadReport()
    with pytest.raises(RequestError, match="can't be read"):
        load(empty, tmp_path / "none.txt", silent)
    assert load(empty, write(tmp_path, "empty.txt"), silent) == LoadReport()
    with pytest.raises(RequestError, match="compressed"):
        load(empty, tmp_path / "edges.txt.gz", silent)


def test_a_failing_store_is_not_reported_as_a_file_error(
    empty: Social, network: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """StoreError is a subclass of OSError, like file errors."""

    def full(*arguments: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(loading, "add_users", full)
    with pytest.raises(StoreError, match="the disk is full"):
        load(empty, network, silent)


# The command, and a real graph


def test_the_cli_imports_files_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, network: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KEYPLAN_DB", raising=False)
    result = run("import", "social", "edges.txt")
    assert (result.exit_code, result.stdout) == (0, "Imported 4 into social.db.\n")
    write(tmp_path, "more.csv", "4,5", "no")
    result = run("import", "social", str(tmp_path))
    assert result.exit_code == 3
    assert result.stdout == "Imported 5 into social.db; 1 error, listed above.\n"
    assert "more.csv:2" in result.stderr


@pytest.mark.skipif(not FACEBOOK.exists(), reason="needs ../shared/data/facebook_combined.txt")
def test_a_real_graph_is_imported_completely(empty: Social, tmp_path: Path) -> None:
    """Without KEYPLAN_WHOLE_GRAPH, only the first line and the edges between the first 400 users are imported."""
    people = 1 << 30 if os.environ.get("KEYPLAN_WHOLE_GRAPH") else 400
    kept: list[str] = []
    with FACEBOOK.open() as file:
        for line in file:
            columns = line.split()
            if not columns[0].isdecimal() or max(map(int, columns)) < people:
                kept.append(line)
    path = tmp_path / "facebook_combined.txt"
    path.write_text("".join(kept))
    report = load(empty, path, silent)
    assert report.loaded == len(kept) - 1
    assert places(report) == ["1: 'nd' isn't a user number"]
    edges = {tuple(line.split()) for line in kept[1:]}
    links = {(value.user_id, value.followed_id) for value in everything(empty)[Following]}
    assert links == edges | {(other, text) for text, other in edges}
    assert_whole(empty)
    zero = empty.profile("0")
    assert zero is not None
    assert zero.followers == zero.following == sum("0" in edge for edge in edges)
