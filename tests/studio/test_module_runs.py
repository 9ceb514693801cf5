"""The module of a design runs in a child process: only on demand, within limits, and it can be stopped."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan.errors import RequestError
from keyplan.studio import module_process
from keyplan.studio.actions import Studio, run
from keyplan.studio.changing import source_of
from keyplan.studio.module_runs import ModuleRunner
from keyplan.studio.subject import of_design
from tests.studio.school import School

SOURCE = source_of(School)
assert SOURCE is not None
TEXT = SOURCE.text()
ADDED = TEXT.replace(
    '    @read("Q1")', '    @read("Q9")\n    def course(self, course_id: str) -> Course: ...\n\n    @read("Q1")'
)
LOOP = "while True:\n    try:\n        pass\n    except BaseException:\n        pass\n"


@pytest.fixture
def studio(school: School) -> Iterator[Studio]:
    opened = Studio(of_design(school))
    yield opened
    assert opened.runner is not None
    opened.runner.close()


def ended(studio: Studio, task: str, **given: Any) -> dict[str, Any]:
    """The result of the run; pytest's timeout limits it."""
    answer = run(studio, task, {"run": True, **given})
    while answer["state"] == "running":
        time.sleep(0.05)
        answer = run(studio, task, {"run": True, **given})
    return answer


def test_change_reports_its_effects_and_the_patch(studio: Studio, school: School) -> None:
    answer = ended(studio, "change", text=ADDED)
    assert (answer["state"], answer["error"], answer["same"]) == ("done", None, False)
    assert [change["code"] for change in answer["changes"]] == ["pattern-added"]
    assert "+    def course" in answer["patch"]
    assert "course" not in type(school).compiled.patterns
    unchanged = {"version": answer["version"], "state": "done", "unchanged": True}
    assert run(studio, "change", {"text": ADDED, "version": answer["version"]}) == unchanged


@pytest.mark.parametrize("task", ["change", "plan"])
def test_text_runs_only_on_demand(studio: Studio, tmp_path: Path, task: str) -> None:
    mark = tmp_path / "ran"
    text = f"open({str(mark)!r}, 'w').close()\n"
    for _ in range(3):
        answer = run(studio, task, {"text": text})
        assert (answer["state"], answer["text"]) == ("none", text)
    assert not mark.exists()
    assert ended(studio, task, text=text)["state"] == "failed"
    assert mark.exists()


@pytest.mark.parametrize("task", ["change", "plan"])
def test_read_only_studio_never_runs_text(school: School, tmp_path: Path, task: str) -> None:
    mark = tmp_path / "ran"
    studio = Studio(of_design(school, writable=False), executes=False)
    assert not {"change", "plan"} & {*run(studio, "start", {})["views"]}
    with pytest.raises(RequestError, match="doesn't run"):
        run(studio, task, {"run": True, "text": f"open({str(mark)!r}, 'w').close()"})
    assert not mark.exists()


@pytest.mark.parametrize("task", ["change", "plan"])
def test_endless_loop_is_stopped(studio: Studio, task: str) -> None:
    assert run(studio, task, {"run": True, "text": LOOP})["state"] == "running"
    run(studio, task, {"stop": True, "text": LOOP})
    answer = ended(studio, task, text=LOOP)
    assert (answer["state"], "stopped" in answer["error"]["message"]) == ("failed", True)


def test_a_new_run_stops_the_previous_one(studio: Studio) -> None:
    first = run(studio, "change", {"run": True, "text": LOOP})
    assert ended(studio, "change", text=TEXT)["same"] is True
    assert run(studio, "change", {"text": LOOP, "version": first["version"]})["unchanged"] is True


def test_cpu_time_and_memory_are_limited(studio: Studio) -> None:
    lower = "from keyplan.studio.module_process import limit\nlimit(1, 1 << 30)\n"
    answer = ended(studio, "change", text=lower + LOOP)
    assert "CPU time" in answer["error"]["message"]
    answer = ended(studio, "change", text=lower + "x = bytearray(2 << 30)\n")
    assert "memory" in answer["error"]["message"]
    limits = "import resource\nraise SystemExit(resource.getrlimit(resource.RLIMIT_CPU)[0])\n"
    answer = ended(studio, "change", text=limits)
    assert answer["error"]["message"] == f"SystemExit: {module_process.CPU_SECONDS['change']}"


def test_dying_process_reports_its_output(studio: Studio) -> None:
    dying = "import os, sys\nprint('long ' * 500, 'dying', file=sys.stderr, flush=True)\nos._exit(3)\n"
    answer = ended(studio, "plan", text=dying)
    assert (answer["state"], answer["error"]["hint"][-6:]) == ("failed", " dying")


def test_missing_file_is_reported(tmp_path: Path) -> None:
    assert SOURCE is not None
    runner = ModuleRunner(type(SOURCE)(tmp_path / "gone.py", "School", None), opened="")
    assert runner.answer("plan", {})["error"]["message"] == "the file can't be read: No such file or directory"
