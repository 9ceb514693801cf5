"""A child process runs the module of a design, only on request and within limits, until it is stopped."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan.errors import Refused, RequestError
from keyplan.studio import module_process
from keyplan.studio.actions import Studio, run
from keyplan.studio.changing import source_of
from keyplan.studio.home import Home
from keyplan.studio.module_runs import ModuleRunner
from keyplan.studio.subject import of_design, of_file
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
    """Start a run and return its result. pytest's timeout limits the waiting time."""
    answer = run(studio, task, {"run": True, **given})
    while answer["state"] == "running":
        time.sleep(0.05)
        answer = run(studio, task, {"run": True, **given})
    return answer


def test_a_run_of_an_edited_module_reports_changes_and_the_patch(studio: Studio, school: School) -> None:
    answer = ended(studio, "change", text=ADDED)
    assert (answer["state"], answer["error"], answer["same"]) == ("done", None, False)
    assert [change["code"] for change in answer["changes"]] == ["pattern-added"]
    assert "+    def course" in answer["patch"]
    assert "course" not in type(school).compiled.patterns
    unchanged = {"version": answer["version"], "state": "done", "unchanged": True}
    assert run(studio, "change", {"text": ADDED, "version": answer["version"]}) == unchanged


@pytest.mark.parametrize("task", ["change", "plan"])
def test_an_edited_module_runs_only_on_request(studio: Studio, tmp_path: Path, task: str) -> None:
    mark = tmp_path / "ran"
    text = f"open({str(mark)!r}, 'w').close()\n"
    for _ in range(3):
        answer = run(studio, task, {"text": text})
        assert (answer["state"], answer["text"]) == ("none", text)
    assert not mark.exists()
    assert ended(studio, task, text=text)["state"] == "failed"
    assert mark.exists()


@pytest.mark.parametrize("task", ["change", "plan"])
def test_a_read_only_studio_never_runs_an_edited_module(school: School, tmp_path: Path, task: str) -> None:
    mark = tmp_path / "ran"
    studio = Studio(of_design(school, writable=False), executes=False)
    assert not {"change", "plan"} & {*run(studio, "start", {})["views"]}
    with pytest.raises(RequestError, match="can't run"):
        run(studio, task, {"run": True, "text": f"open({str(mark)!r}, 'w').close()"})
    assert not mark.exists()


def test_a_read_only_studio_writes_no_file(tmp_path: Path) -> None:
    home: Home[Studio] = Home(lambda name, _: Studio(of_file(name)), writable=False)
    with pytest.raises(Refused, match="read-only"):
        run(Studio(of_file("Studio"), home=home), "open", {"path": str(tmp_path / "design.py")})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("task", ["change", "plan"])
def test_an_endless_loop_in_a_module_can_be_stopped(studio: Studio, task: str) -> None:
    assert run(studio, task, {"run": True, "text": LOOP})["state"] == "running"
    run(studio, task, {"stop": True, "text": LOOP})
    answer = ended(studio, task, text=LOOP)
    assert (answer["state"], "stopped" in answer["error"]["message"]) == ("failed", True)


def test_a_new_run_stops_the_previous_one(studio: Studio) -> None:
    first = run(studio, "change", {"run": True, "text": LOOP})
    assert ended(studio, "change", text=TEXT)["same"] is True
    assert run(studio, "change", {"text": LOOP, "version": first["version"]})["unchanged"] is True


def test_the_cpu_time_and_memory_of_a_run_are_limited(studio: Studio) -> None:
    lower = "from keyplan.studio.module_process import limit\nlimit(1, 1 << 30)\n"
    answer = ended(studio, "change", text=lower + LOOP)
    assert "CPU time" in answer["error"]["message"]
    answer = ended(studio, "change", text=lower + "x = bytearray(2 << 30)\n")
    assert "memory" in answer["error"]["message"]
    limits = "import resource\nraise SystemExit(resource.getrlimit(resource.RLIMIT_CPU)[0])\n"
    answer = ended(studio, "change", text=limits)
    assert answer["error"]["message"] == f"SystemExit: {module_process.CPU_SECONDS['change']}"


def test_the_error_output_of_a_module_that_exits_is_reported(studio: Studio) -> None:
    dying = "import os, sys\nprint('long ' * 500, 'dying', file=sys.stderr, flush=True)\nos._exit(3)\n"
    answer = ended(studio, "plan", text=dying)
    assert (answer["state"], answer["error"]["hint"][-6:]) == ("failed", " dying")


def test_processes_started_by_a_module_end_with_the_run(studio: Studio, tmp_path: Path) -> None:
    """Processes that the module starts don't prevent the run from ending, either."""
    mark = tmp_path / "pid"
    text = f"import subprocess as s\np = s.Popen(['sleep', '600'])\nopen({str(mark)!r}, 'w').write(str(p.pid))\n"
    assert "no design" in ended(studio, "change", text=text)["error"]["message"]
    path = Path(f"/proc/{mark.read_text()}/stat")
    while path.exists() and path.read_text().split()[2] != "Z":  # pytest's timeout is the limit
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import os\nos.write(3, b'x' * (1 << 26))\nos._exit(0)", "result is too large"),
        ("import os\nos.write(3, b'[1]\\n')\nos._exit(0)", "no valid result"),
        ("raise ValueError('x' * (1 << 27))", "ValueError: xxx"),
    ],
)
def test_oversized_and_malformed_results_of_a_run_are_reported(studio: Studio, text: str, message: str) -> None:
    error = ended(studio, "change", text=text)["error"]
    assert message in error["message"]
    assert len(error["message"]) < 10_000


def test_a_missing_design_file_is_reported(tmp_path: Path) -> None:
    assert SOURCE is not None
    runner = ModuleRunner(type(SOURCE)(tmp_path / "gone.py", "School", None), opened="")
    assert runner.answer("plan", {})["error"]["message"] == "the file can't be read: No such file or directory"
