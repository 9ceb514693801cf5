"""A progress bar on standard error."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from keyplan.cli.show import console
from keyplan.systems import Progress as Report

__all__ = ["progress"]


@contextmanager
def progress(what: str) -> Generator[Report]:
    """Yields a function that reports progress. The bar is drawn only if standard error is a terminal."""
    out = console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task(what, total=None)

        def report(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total)

        yield report
