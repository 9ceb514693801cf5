"""Runs a design's module in a child process with limited CPU time and memory, for the Change and Plan views. The server
process never executes the module after the design is open.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any

from keyplan.analysis.traffic.traffic_file import Traffic
from keyplan.formatting.results import json_text
from keyplan.studio.changing import Source

KEPT_MAX = 8
"""Maximum number of cached results, by task, source code and options."""
LINE_MAX = 32_000_000
"""Maximum number of characters of a result."""
OUTPUT_MAX = 2000
"""Maximum number of reported characters of a failed process's error output."""
STOP_SECONDS = 10
"""Time that a stopped process has to return the best plan so far, before it is killed."""


@dataclass
class _Job:
    """A child process, its progress, and its result or error."""

    task: str
    process: subprocess.Popen[str]
    state: str = "running"
    progress: Mapping[str, Any] = field(default_factory=dict[str, Any])
    result: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def start(self, request: Mapping[str, Any]) -> None:
        with suppress(OSError):  # the process has already ended, and its output shows why
            self._input.write(json_text(request) + "\n")
            self._input.flush()
        threading.Thread(target=self._follow, daemon=True).start()

    def stop(self) -> None:
        """Request the best result so far, and kill the process if it doesn't end in time."""
        with suppress(OSError):
            self._input.close()
        timer = threading.Timer(STOP_SECONDS, self.kill)
        timer.daemon = True
        timer.start()

    def kill(self) -> None:
        if self.state != "running":
            return
        if os.name == "posix":
            with suppress(ProcessLookupError, PermissionError):  # the process group has ended
                os.killpg(self.process.pid, signal.SIGKILL)
        else:
            self.process.kill()

    @property
    def _input(self) -> IO[str]:
        return _pipe(self.process.stdin)

    def _follow(self) -> None:
        output: list[str] = []
        errors = threading.Thread(target=lambda: output.append(_tail(_pipe(self.process.stderr))), daemon=True)
        errors.start()
        while line := _pipe(self.process.stdout).readline(LINE_MAX):
            answer = _parsed(line)
            if "progress" in answer:
                self.progress = answer["progress"]
            else:
                self.result = answer
                break
        if self.result:
            self.kill()  # the module's threads would keep the process running
        status = self.process.wait()
        self.kill()
        errors.join(STOP_SECONDS)
        if not self.result:
            self.result = {"error": _ended(status, "".join(output).strip())}
        self.state = "failed" if self.result.get("error") else "done"
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(OSError):
                _pipe(stream).close()


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None  # noqa: S101 - all streams are pipes
    return stream


def _parsed(line: str) -> dict[str, Any]:
    if not line.endswith("\n"):
        return {"error": _error("the module's result is too large")}
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        answer = None
    return answer if isinstance(answer, dict) else {"error": _error("the module's process returned no valid result")}


def _tail(stream: IO[str]) -> str:
    kept = ""
    while part := stream.read(OUTPUT_MAX):
        kept = (kept + part)[-OUTPUT_MAX:]
    return kept


def _ended(status: int, output: str) -> dict[str, Any]:
    if status == -signal.SIGXCPU:
        return _error("the module exceeded its CPU time limit and was stopped", "look for an endless loop")
    if status == -signal.SIGKILL:
        return _error("the module's process was killed")
    return _error("the module's process ended without a result", output or None)


def _error(message: str, hint: str | None = None) -> dict[str, Any]:
    return {"message": message, "hint": hint, "line": None, "errors": []}


class ModuleRunner:
    """Runs a module, with at most one process per task. ``opened`` is the source code of the open design."""

    def __init__(self, source: Source, traffic: Traffic | None = None, *, opened: str | None = None) -> None:
        self.source = source
        self.opened = source.text() if opened is None else opened
        self.traffic = None if traffic is None else _document(traffic)
        self._jobs: dict[str, _Job] = {}
        self._lock = threading.Lock()

    def answer(
        self,
        task: str,
        options: Mapping[str, Any],
        *,
        text: str | None = None,
        known: str | None = None,
        run: bool = True,
        stop: bool = False,
        again: bool = False,
    ) -> dict[str, Any]:
        """The result or progress of a task (``change`` or ``plan``) for ``text``, or for the current file (None). The
        ``state`` is ``none``, ``running``, ``done`` or ``failed``. ``run`` allows a new process, which replaces the
        task's running process; ``stop`` requests the best result so far; ``again`` repeats a finished task. If the
        result's version is ``known``, the response contains ``unchanged`` instead of the result.
        """
        try:
            text = self.source.text() if text is None else text
        except OSError as error:
            message = f"the file can't be read: {error.strerror}"
            return {"version": "", "state": "failed", "file": str(self.source.path), "error": _error(message)}
        wanted = {"task": task, **options, "text": text}
        name = hashlib.sha256(json_text(wanted).encode("utf-8", "replace")).hexdigest()[:16]
        with self._lock:
            job = self._jobs.get(name)
            if stop:
                if job is not None and job.state == "running":
                    job.stop()
            elif run and (job is None or (again and job.state != "running")):
                job = self._start(name, wanted)
        state = "none" if job is None else job.state
        answer = {"version": name, "state": state, "file": str(self.source.path), "text": text}
        if job is not None and state == "running":
            return {**answer, **job.progress}
        if known == name:
            return {"version": name, "state": state, "unchanged": True}
        return {**answer, "error": None, **({} if job is None else job.result)}

    def close(self) -> None:
        with self._lock:
            for job in self._jobs.values():
                if job.state == "running":
                    job.kill()

    def _start(self, name: str, wanted: Mapping[str, Any]) -> _Job:
        for other, job in list(self._jobs.items()):
            if job.state == "running" and job.task == wanted["task"]:
                job.kill()
                del self._jobs[other]
        while len(self._jobs) >= KEPT_MAX:
            self._jobs.pop(next(iter(self._jobs))).kill()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "keyplan.studio.module_process"],  # -P: no imports from the working folder
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONIOENCODING": "utf-8"},
            start_new_session=True,  # Ctrl-C in the terminal ends the studio, which closes the process's input
        )
        job = self._jobs[name] = _Job(wanted["task"], process)
        place = {"path": str(self.source.path), "class_name": self.source.class_name, "package": self.source.package}
        job.start({**wanted, **place, "traffic": self.traffic, "opened": self.opened})
        return job


def _document(traffic: Traffic) -> dict[str, Any]:
    data = json.loads(json_text({"table": _members(traffic.table)}))
    data["patterns"] = {name: dict(load.given) for name, load in traffic.patterns.items() if load.given}
    data["entities"] = {name: _members(stored) for name, stored in traffic.entities.items()}
    made: dict[str, Any] = json.loads(json_text(data))
    return made


def _members(value: Any) -> dict[str, Any]:
    return {name: each for name, each in vars(value).items() if each is not None}
