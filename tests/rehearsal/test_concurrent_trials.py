"""Dry runs in several threads at a time, as the studio makes them, leave the process as it was."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from keyplan.analysis.cost.estimate import estimate
from tests.studio.school import School


def test_threads_restore_the_output_and_may_open_files_again() -> None:
    before, interval = (sys.stdout, sys.stderr), sys.getswitchinterval()
    sys.setswitchinterval(0.00001)

    def trial(_number: int) -> int:
        failures = len(estimate(School).failures)
        Path(__file__).read_bytes()
        return failures

    try:
        with ThreadPoolExecutor(8) as threads:
            assert set(threads.map(trial, range(200))) == {0}
    finally:
        sys.setswitchinterval(interval)
    now, (sys.stdout, sys.stderr) = (sys.stdout, sys.stderr), before
    assert now == before
