"""Tests of ``keyplan serve``, run as a program."""

from __future__ import annotations

import json
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.cli.support import program, run
from tests.processes import Process


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[tuple[Process, str]]:
    """Run ``keyplan serve`` on a free port, and yield its process and address."""
    with program("serve", "cms", "--port", "0", *arguments, cwd=folder) as started:
        assert started.stdout is not None
        text = ""
        while "Ctrl-C" not in text:
            line = started.stdout.readline()
            assert line, started.stderr.read() if started.stderr else ""
            text += line
        address = re.search(r"http://127\.0\.0\.1:\d+", text)
        assert address is not None
        yield started, address.group()


def test_serve_runs_the_site_and_the_api_with_its_docs_until_ctrl_c(folder: Path) -> None:
    with serving(folder, "--sample", "5") as (started, address):
        assert "Sign in" in urlopen(f"{address}/").read().decode()
        assert "Cms" in urlopen(f"{address}/docs").read().decode()
        assert "/api/article" in json.load(urlopen(f"{address}/openapi.json"))["paths"]
        result = json.load(urlopen(f"{address}/api/published_articles"))["items"]
        article = json.load(urlopen(f"{address}/api/article?article_id={result[0]['article_id']}"))
        assert article["article_id"] == result[0]["article_id"]
        started.send_signal(signal.SIGINT)
        _, text = started.end()
        assert started.returncode == 0
        assert text.splitlines()[-1] == "Stopped."
        assert "Traceback" not in text
    assert (folder / "cms.db").exists()
    assert not (folder / "cms.db-wal").exists()


def test_files_of_a_served_store_are_accessible_only_to_their_owner(folder: Path) -> None:
    before = set(folder.iterdir())
    with serving(folder, "--sample", "5"):
        modes = {
            path.name: oct(path.stat().st_mode & 0o777) for path in set(folder.iterdir()) - before if path.is_file()
        }
    assert {"cms.db", "cms.db-wal", "cms.db-shm", "cms.db.secret"} <= modes.keys()
    assert set(modes.values()) == {"0o600"}


def test_a_store_that_a_command_creates_is_accessible_only_to_its_owner(tmp_path: Path) -> None:
    store = tmp_path / "new.db"
    assert run("sample", "cms", "--count", "1", "--db", str(store)).exit_code == 0
    assert store.stat().st_mode & 0o777 == 0o600


def test_store_files_that_other_users_can_read_are_reported(folder: Path) -> None:
    with serving(folder, "--sample", "5"):
        pass
    (folder / "cms.db").chmod(0o644)
    (folder / "cms.db.secret").chmod(0o640)
    with serving(folder) as (started, _):
        started.send_signal(signal.SIGINT)
        _, text = started.end()
    for name in ("cms.db", "cms.db.secret"):
        assert f"Warning: other users can read {name}. Restrict access with chmod 600 {name}" in text


STORE = (Path(__file__).parent.parent / "planner" / "shop.py").read_text(encoding="utf-8")
SMALL = """from keyplan import Design, Entity, Key, Table, read

class Item(Entity):
    item_id: str
    primary = Key("ITEM#{item_id}", "ITEM")

class Store(Design):
    table = Table("store")

    @read("Q1")
    def item(self, item_id: str) -> Item | None: ...
"""


@pytest.mark.parametrize(
    ("text", "message", "views", "line"),
    [
        (STORE, "invalid design: 3 errors", ["plan"], None),
        ("", "Store in store.py doesn't exist", ["map", "data"], None),
        ("import keyplan\n\nclass Store(keyplan.Design:\n", "SyntaxError", ["map", "data"], 3),
        (SMALL + "1 / 0\n", "ZeroDivisionError", ["map", "data"], SMALL.count("\n") + 1),
    ],
    ids=["no-keys", "empty", "half-written", "failing"],
)
def test_the_studio_opens_an_invalid_design_file_once_it_is_corrected(
    folder: Path, text: str, message: str, views: list[str], line: int | None
) -> None:
    file = folder / "store.py"
    file.write_text(text, encoding="utf-8")
    with program("studio", "store.py:Store", cwd=folder) as started:
        assert started.stdout is not None
        output = started.stdout.readline() + started.stdout.readline()
        assert "store.py:Store can't be opened yet: " in output
        address = re.search(r"(http://127\.0\.0\.1:\d+/studio/)\?token=(\S+)", output)
        assert address is not None, output
        assert ":8000/" not in address[1]  # a free port
        headers = {"X-Keyplan-Token": address[2], "Content-Type": "application/json"}
        start = Request(f"{address[1]}do/start", data=b"{}", headers=headers)
        with urlopen(start) as answer:
            found = json.load(answer)
        assert (found["views"], found["opened"]) == (views, views == ["plan"])
        assert message in (output if found["fault"] is None else found["fault"]["message"])
        assert (found["fault"] or {}).get("line") == line
        assert not (folder / "store.db").exists()
        file.write_text(SMALL, encoding="utf-8")
        with urlopen(start) as answer:
            found = json.load(answer)
        assert (found["fault"], found["opened"]) == (None, True)
        assert {"map", "data", "change", "plan"} <= set(found["views"])
        started.send_signal(signal.SIGINT)
        _, output = started.end()
    assert started.returncode == 0
    assert "Traceback" not in output
    assert (folder / "store.db").exists()


def test_sample_data_is_written_only_to_an_empty_table(folder: Path) -> None:
    for expected in ("", "no sample data is written"):
        with serving(folder, "--sample", "3") as (started, _):
            started.send_signal(signal.SIGTERM)
            _, text = started.end()
            assert expected in text


def test_requests_with_an_unknown_host_header_are_rejected(folder: Path) -> None:
    with serving(folder) as (_, address):
        with pytest.raises(HTTPError) as refused:
            urlopen(Request(f"{address}/openapi.json", headers={"Host": "evil.example"}))
        with refused.value as answer:
            assert answer.code == 421


def test_a_port_in_use_is_an_error(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with program("serve", "cms", "--port", str(port), cwd=folder) as started:
            _, text = started.end()
    assert started.returncode == 1
    assert f"port {port} can't be used" in text
    assert "--port" in text
    assert not (folder / "cms.db").exists()


def test_ctrl_c_stops_a_command_without_a_traceback(folder: Path) -> None:
    with program("sample", "cms", "--count", "100000", cwd=folder) as started:
        while not (folder / "cms.db").exists():
            assert started.poll() is None
        started.send_signal(signal.SIGINT)
        _, text = started.end()
    assert started.returncode == 130
    assert text.strip() == "Stopped."
