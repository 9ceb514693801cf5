"""The command ``keyplan``. Exit statuses: 0 success; 1 a request was rejected, or a check failed; 2 invalid input;
3 partial import; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from keyplan._version import __version__
from keyplan.errors import is_interrupt

_COMMANDS = {
    "serve": "serve",
    "studio": "studio",
    "call": "call",
    "explain": "explain",
    "plan": "plan",
    "check": "check",
    "cost": "cost",
    "traffic": "traffic",
    "import": "import_data",
    "sample": "sample",
    "create": "create",
    "drift": "drift",
    "diff": "diff",
    "export": "export",
    "import-workbench": "import_workbench",
    "dynamodb": "dynamodb",
}
STOPPED = 130


def _stopped() -> NoReturn:
    click.echo("Stopped.", err=True)
    sys.exit(STOPPED)


class Commands(click.Group):
    """A click group that imports a command when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click defines the signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        module = _COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: click.Command = import_module(f"keyplan.cli.{module}").command
        return command

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        try:
            status = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except click.Abort:
            _stopped()
        except click.ClickException as error:
            if is_interrupt(error):
                _stopped()
            error.show()
            sys.exit(error.exit_code)
        except Exception as error:
            if not is_interrupt(error):
                raise
            _stopped()
        sys.exit(status if isinstance(status, int) else 0)


_EPILOG = """\b
Examples:
  keyplan serve cms --sample 300
  keyplan call cms articles_by_author author_id=ada limit=5
  keyplan explain cms
  keyplan import cms ~/blog/_posts
  keyplan explain designs.py:Shop orders_of_user

NAME is an installed system (such as cms) or a design: module:Class or path/to/file.py:Class.
"""


@click.command(
    cls=Commands, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True
)
@click.version_option(__version__, prog_name="keyplan")
def cli() -> None:
    """Check, price, deploy and serve single-table data models on Amazon DynamoDB, and call their access patterns."""
