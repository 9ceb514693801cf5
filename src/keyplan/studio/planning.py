"""Plans of a design's keys, made beside the studio: in a process of their own, which the page asks after and may stop.

A plan puts keys into the design's classes to compile them, and takes up to a minute of a processor: neither is anything
for the process that serves the open design. The process reads the module anew, as its file is now, or a scratch copy of
it. What it does is in ``planning_process.py``.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any

from keyplan.design.traffic.files import Traffic
from keyplan.plain.answers import json_text
from keyplan.studio.changing import Source

__all__ = ["Planner"]

KEPT_MAX = 8
"""Plans that are kept, by what they were made of."""
SAID_MAX = 2000
"""Characters of what a process that failed has said."""


@dataclass
class _Job:
    """One planning: how far it is, and what came of it."""

    process: subprocess.Popen[str]
    state: str = "running"
    progress: Mapping[str, Any] = field(default_factory=dict[str, Any])
    made: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None

    def ask(self, request: Mapping[str, Any]) -> None:
        """Send what is asked, and read what comes of it in a thread."""
        with suppress(OSError):  # it ended at once: what it said is read
            self._given.write(json_text(request) + "\n")
            self._given.flush()
        threading.Thread(target=self._follow, daemon=True).start()

    def stop(self) -> None:
        """Ask for the best so far."""
        with suppress(OSError):
            self._given.close()

    @property
    def _given(self) -> IO[str]:
        return _there(self.process.stdin)

    def _follow(self) -> None:
        """Read what the process says until it ends."""
        said: list[str] = []
        errors = threading.Thread(target=lambda: said.extend(_there(self.process.stderr)), daemon=True)
        errors.start()
        for line in _there(self.process.stdout):
            answer = json.loads(line)
            self.progress = answer.get("progress", self.progress)
            self.made = answer.get("made", self.made)
            self.error = answer.get("error", self.error)
        self.process.wait()
        errors.join()
        if self.made is None and self.error is None:
            text = "".join(said)[-SAID_MAX:].strip()
            self.error = _fault("the planning ended without a plan", text or None)
        self.state = "done" if self.error is None else "failed"
        self.stop()
        for stream in (self.process.stdout, self.process.stderr):
            _there(stream).close()


def _there(stream: IO[str] | None) -> IO[str]:
    assert stream is not None  # noqa: S101 - each is a pipe
    return stream


def _fault(message: str, hint: str | None = None) -> dict[str, Any]:
    return {"message": message, "hint": hint, "faults": []}


class Planner:
    """The plans of one design, by what they were made of: the module's text, and the options. One is made at a time."""

    def __init__(self, source: Source | None, traffic: Traffic | None = None) -> None:
        self.source = source
        self.traffic = None if traffic is None else _document(traffic)
        self._jobs: dict[str, _Job] = {}
        self._lock = threading.Lock()

    def plan_json(
        self,
        *,
        anew: bool = False,
        attributes: bool = False,
        text: str | None = None,
        known: str | None = None,
        stop: bool = False,
        again: bool = False,
    ) -> dict[str, Any]:
        """The plans, or how far they are. What isn't being made yet is begun; what was being made for others ends.

        ``known`` is what the page has, as ``version``: where that is so still, nothing more is said. ``stop``: the best
        so far will do; ``again``: it is made once more.
        """
        if self.source is None:
            return _failed(None, "the design's class stands in no file, so that no module can be planned")
        try:
            given = self.source.text() if text is None else text
        except OSError as error:
            return _failed(str(self.source.path), f"the file can't be read: {error.strerror}")
        wanted = {"anew": anew, "attributes": attributes, "text": given}
        name = hashlib.sha256(json_text(wanted).encode("utf-8", "replace")).hexdigest()[:16]
        with self._lock:
            job = self._jobs.get(name)
            if stop:
                if job is not None:
                    job.stop()
            elif job is None or (again and job.state != "running"):
                job = self._begun(self.source, name, wanted)
        if job is None:
            return {"version": name, "state": "none", "file": str(self.source.path)}
        if job.state == "running":
            return {"version": name, "state": "running", "file": str(self.source.path), **job.progress}
        if known == name:
            return {"version": name, "state": job.state, "unchanged": True}
        ended = {"made": job.made, "error": job.error}
        return {"version": name, "state": job.state, "file": str(self.source.path), **ended}

    def close(self) -> None:
        """End what is being made."""
        with self._lock:
            for job in self._jobs.values():
                if job.state == "running":
                    job.process.kill()

    def _begun(self, source: Source, name: str, wanted: Mapping[str, Any]) -> _Job:
        for other, job in list(self._jobs.items()):
            if job.state == "running":
                job.process.kill()
                del self._jobs[other]
        while len(self._jobs) >= KEPT_MAX:
            del self._jobs[next(iter(self._jobs))]
        process = subprocess.Popen(
            [sys.executable, "-m", "keyplan.studio.planning_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONIOENCODING": "utf-8"},
            start_new_session=True,  # Ctrl-C in the terminal ends the studio, which closes what it reads from
        )
        job = self._jobs[name] = _Job(process)
        place = {"path": str(source.path), "class_name": source.class_name, "package": source.package}
        job.ask({**wanted, **place, "traffic": self.traffic})
        return job


def _failed(file: str | None, message: str) -> dict[str, Any]:
    return {"version": "", "state": "failed", "file": file, "error": _fault(message)}


def _document(traffic: Traffic) -> dict[str, Any]:
    """A traffic as a file has it: what somebody gave."""
    data = json.loads(json_text({"table": _members(traffic.table)}))
    data["patterns"] = {name: dict(load.given) for name, load in traffic.patterns.items() if load.given}
    data["entities"] = {name: _members(stored) for name, stored in traffic.entities.items()}
    made: dict[str, Any] = json.loads(json_text(data))
    return made


def _members(value: Any) -> dict[str, Any]:
    return {name: each for name, each in vars(value).items() if each is not None}
