"""The command-line interface, with one module per command.

Commands are imported on demand, and expensive modules when a command runs, so that ``--help`` is fast. Invalid input is
reported in a message on standard error, without a traceback.
"""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    from keyplan.cli.group import cli

    cli.main(prog_name="keyplan")
