"""Processes that tests start: each is gone when its test is, with all that it started, whatever happened meanwhile.

How long one may take is the affair of the test as a whole (``timeout`` in pyproject.toml): a machine may be busy.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Any

__all__ = ["PATIENCE_S", "Process", "outputs"]

PATIENCE_S = 240
"""How long to wait for what happens within a second on a machine that does nothing else."""


class Process(subprocess.Popen[str]):
    """A program with a process group of its own. As a context manager it kills what is left of the group at the end."""

    def __init__(self, command: Sequence[str], **more: Any) -> None:
        super().__init__(command, text=True, start_new_session=True, **more)

    def __exit__(self, *raised: object) -> None:
        self.kill_all()
        with suppress(BrokenPipeError):  # what it was to read is of no use to it any more
            super().__exit__(None, None, None)

    def kill_all(self) -> None:
        """Kill it and all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def end(self) -> tuple[str, str]:
        """Wait for its end; what it printed, and what it said on standard error."""
        return self.communicate(timeout=PATIENCE_S)


def outputs(commands: Sequence[Sequence[str]], *, together: bool = False, **more: Any) -> list[str]:
    """What several programs print that run at the same time. Each must say nothing on standard error, and end with 0.

    With ``together`` each prints "ready" when it has opened what it needs, and then waits for a line: so they begin
    together.
    """
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with ExitStack() as stack:
        running = [stack.enter_context(Process(command, **pipes, **more)) for command in commands]
        if together:
            for process in running:
                assert process.stdout is not None
                assert process.stdout.readline() == "ready\n", process.end()[1]
            for process in running:
                assert process.stdin is not None
                process.stdin.write("go\n")
                process.stdin.flush()
        ended = [process.end() for process in running]
        result = [(process.returncode, errors) for process, (_, errors) in zip(running, ended, strict=True)]
        assert all(element == (0, "") for element in result), "\n".join(
            f"exit {code}: {errors}" for code, errors in result
        )
        return [printed for printed, _ in ended]
