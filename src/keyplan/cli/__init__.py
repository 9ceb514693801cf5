"""The command line: ``keyplan serve``, ``call``, ``import``, ``sample``, ``explain``, ``create``. One file a command.

Commands are imported when they are asked for, and what is heavy within them when they run, so that ``--help`` is quick.
Whatever is wrong with what was typed is reported in a message on standard error, never by a traceback.
"""
# ruff: noqa: PLC0415 - what is heavy is imported when the command runs

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """The entry point of ``keyplan``."""
    from keyplan.cli.group import cli

    cli.main(prog_name="keyplan")
