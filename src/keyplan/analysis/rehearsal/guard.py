"""A run that is cut off: a write's body that is tried may not reach the world outside.

Bodies are their author's code, and they are run to learn what they do. What goes beyond the process (a file, a socket,
another process, a thread) and what waits is refused while one runs, by Python's audit events; what it prints goes
nowhere. What stays within the process (a counter in a module) can't be refused: ``docs/cost.md`` says so.
"""

from __future__ import annotations

import _thread
import inspect
import io
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from types import FrameType

__all__ = ["OutsideError", "cut_off"]


class OutsideError(Exception):
    """A body that is tried reaches for the world outside. ``what`` it does, in words."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: not while a write is tried")
        self.what = what


_REFUSED = {
    "open": "opens a file",
    "os.system": "starts a process",
    "os.exec": "starts a process",
    "os.fork": "starts a process",
    "os.forkpty": "starts a process",
    "os.posix_spawn": "starts a process",
    "os.spawn": "starts a process",
    "os.startfile": "starts a process",
    "os.kill": "signals a process",
    "os.remove": "removes a file",
    "os.rename": "renames a file",
    "os.link": "makes a file",
    "os.symlink": "makes a file",
    "os.truncate": "changes a file",
    "os.chmod": "changes a file",
    "os.chown": "changes a file",
    "os.mkdir": "makes a folder",
    "os.rmdir": "removes a folder",
    "os.putenv": "changes the environment",
    "os.unsetenv": "changes the environment",
    "pty.spawn": "starts a process",
    "sqlite3.connect": "opens a database",
    "subprocess.Popen": "starts a process",
    "time.sleep": "sleeps",
    "urllib.Request": "makes a request over the network",
    "webbrowser.open": "opens a browser",
    "_thread.start_new_thread": "starts a thread",
    "_thread.start_joinable_thread": "starts a thread",
}
_CALLED: dict[object, str] = {time.sleep: "time.sleep", _thread.start_new_thread: "_thread.start_new_thread"}
_GROUPS = {
    "socket.": "opens a socket",
    "shutil.": "copies or removes files",
    "tempfile.": "makes a file",
    "ftplib.": "makes a request over the network",
    "imaplib.": "makes a request over the network",
    "smtplib.": "makes a request over the network",
}
_OF_PYTHON = ("importlib", "linecache", "tokenize", "zipimport", "zoneinfo")
"""Modules that read files of Python's own: what is imported late, where a line stands, time zones."""

_running: dict[int, tuple[list[str], FrameType | None]] = {}
"""By thread, what the body that it runs has reached for; and the frame that runs it."""
_output = threading.RLock()
"""Held while ``sys.stdout`` and ``sys.stderr`` are replaced: two threads at a time would restore each other's."""


@contextmanager
def cut_off() -> Generator[list[str], None, None]:
    """Refuse what reaches outside while a body runs: OutsideError is raised there. Gives what was refused, for a body
    that goes on regardless.
    """
    _hook()
    thread = threading.get_ident()
    before = _running.get(thread)
    result: list[str] = []
    _running[thread] = result, _runner()
    profile = sys.getprofile()
    replaced = profile is None or callable(profile)  # else it is a profiler in C, and couldn't be put back
    if replaced:
        sys.setprofile(_profile)
    try:
        with _output, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            yield result
    finally:
        if replaced:
            sys.setprofile(profile)
        if before is None:
            del _running[thread]
        else:
            _running[thread] = before


@cache
def _hook() -> None:
    """Listen to audit events, from the first trial of the process on. A hook can't be taken away again."""
    sys.addaudithook(_audit)


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    del arguments
    if not _running:
        return
    what = _REFUSED.get(event) or next((text for start, text in _GROUPS.items() if event.startswith(start)), None)
    if what is None:
        return
    running = _running.get(threading.get_ident())
    if running is None or _is_allowed(inspect.currentframe(), running[1]):
        return
    running[0].append(what)
    raise OutsideError(what)


def _runner() -> FrameType | None:
    """The frame of who runs the body: behind this function, the guard, and its context manager."""
    frame = inspect.currentframe()
    for _ in range(3):
        frame = None if frame is None else frame.f_back
    return frame


def _profile(frame: FrameType, event: str, called: object) -> None:
    """Refuse to sleep and to start threads, by whatever name: these are audit events from Python 3.13 on only."""
    del frame
    if event == "c_call" and called in _CALLED:
        _audit(_CALLED[called], ())


def _is_allowed(frame: FrameType | None, runner: FrameType | None) -> bool:
    """Whether Python itself does it, or code that the runner doesn't call."""
    while frame is not None and frame is not runner:
        name = str(frame.f_globals.get("__name__", ""))
        if name.partition(".")[0] in _OF_PYTHON or frame.f_code.co_filename.startswith("<frozen"):
            return True
        frame = frame.f_back
    return frame is not runner
