"""Processes that end with the test that started them, including their child processes.

``end`` waits at most ``PATIENCE_S`` for a process, and ``timeout`` in pyproject.toml limits the whole test.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Any

PATIENCE_S = 240
"""How long to wait for what happens within a second on a machine that does nothing else."""


class Process(subprocess.Popen[str]):
    """A program in its own process group. The context manager kills the remaining processes of the group."""

    def __init__(self, command: Sequence[str], **more: Any) -> None:
        super().__init__(command, text=True, start_new_session=True, **more)

    def __exit__(self, *raised: object) -> None:
        self.kill_all()
        with suppress(BrokenPipeError):  # unread input is no longer needed
            super().__exit__(None, None, None)

    def kill_all(self) -> None:
        """Kill the program and its child processes."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def end(self) -> tuple[str, str]:
        """Wait until the program ends, and return its standard output and standard error."""
        return self.communicate(timeout=PATIENCE_S)


def outputs(commands: Sequence[Sequence[str]], *, together: bool = False, **more: Any) -> list[str]:
    """Return the outputs of several programs that run concurrently; each must exit with 0 and an empty standard error.
    With ``together``, each prints "ready" after opening what it needs and waits for a line, so that all start at
    the same time."""
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
