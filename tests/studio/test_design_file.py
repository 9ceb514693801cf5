"""The studio opens a design's file again after each save, in one thread at a time."""

from __future__ import annotations

import threading
from pathlib import Path

from keyplan.errors import UnknownDesign
from keyplan.studio.design_file import DesignFile


def test_opening_a_slow_design_file_does_not_block_requests(tmp_path: Path) -> None:
    path = tmp_path / "design.py"
    path.write_text("1", encoding="utf-8")
    started, finish = threading.Event(), threading.Event()

    def open_file() -> str:
        started.set()
        assert finish.wait(30)
        return "opened"

    file = DesignFile(path, open_file)
    assert file.attempt() is None
    path.write_text("while True: pass", encoding="utf-8")
    results: list[str | None] = []
    thread = threading.Thread(target=lambda: results.append(file.attempt()))
    thread.start()
    assert started.wait(30)
    path.write_text("changed again", encoding="utf-8")
    assert file.attempt() is None
    finish.set()
    thread.join()
    assert results == ["opened"]
    assert file.attempt() == "opened"


def test_the_error_of_a_design_file_is_shown_until_it_can_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "design.py"
    path.write_text("1", encoding="utf-8")

    def open_file() -> str:
        if path.read_text(encoding="utf-8") == "faulty":
            raise UnknownDesign("no design", place=f"{path}:1")
        return "opened"

    file = DesignFile(path, open_file)
    path.write_text("faulty", encoding="utf-8")
    assert file.attempt() is None
    shown = file.as_json()
    assert shown is not None
    assert (shown["message"], shown["line"]) == ("no design", 1)
    path.write_text("valid again", encoding="utf-8")
    assert file.attempt() == "opened"
    assert file.as_json() is None
