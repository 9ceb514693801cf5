"""A plugin of pytest that notes, of each test, which blocks of the library ran, and how much CPU time it took:
``-p tests.mutants.recording``, on a tree of ``marking.py``.
"""

from __future__ import annotations

import base64
import json
import mmap
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.marking import HITS

__all__ = ["RECORD"]

RECORD = "KEYPLAN_RECORD"
"""The environment variable that names the file to write."""


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Recording(Path(os.environ[HITS]), Path(os.environ[RECORD])))


class _Recording:
    """What ran since the last look belongs to the test, or to the import of a test module, that just ended."""

    def __init__(self, marks: Path, to: Path) -> None:
        with marks.open("r+b") as file:
            self._marks = mmap.mmap(file.fileno(), 0)
        self._none = bytes(len(self._marks))
        self._to = to
        self._files: dict[str, str] = {}
        self._tests: dict[str, tuple[float, str]] = {}

    def _take(self) -> str:
        packed = base64.b85encode(zlib.compress(self._marks[:], 1)).decode()
        self._marks[:] = self._none
        return packed

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        if not isinstance(collector, pytest.Module):
            return (yield)
        self._take()
        try:
            return (yield)
        finally:
            self._files[collector.nodeid] = self._take()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._marks[:] = self._none
        before = _cpu_s()
        try:
            return (yield)
        finally:
            self._tests[item.nodeid] = round(_cpu_s() - before, 4), self._take()

    def pytest_sessionfinish(self) -> None:
        whole: dict[str, Any] = {"files": self._files, "tests": self._tests}
        self._to.write_text(json.dumps(whole), encoding="utf-8")


def _cpu_s() -> float:
    """The CPU time of this process and of those that it started and that ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
