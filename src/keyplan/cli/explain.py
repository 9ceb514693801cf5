"""``keyplan explain``: print the requests of access patterns, their keys, and the cost of a typical call."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from keyplan.cli.options import echo_json, json_option, name_argument, reports_errors

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from keyplan.analysis.explain.explanation import Explanation
    from keyplan.cli.explained import Explained


_REQUESTS_MAX = 4


@click.command(
    "explain",
    short_help="Show the key, the exact request and the cost of each access pattern.",
    epilog="""\b
Examples:
  keyplan explain cms
  keyplan explain cms articles_by_author
  keyplan explain cms articles_by_author author_id=ada limit=5
  keyplan explain designs.py:Shop --json
  keyplan explain designs.py:Shop --markdown >> README.md
""",
)
@name_argument
@click.argument("pattern", metavar="[PATTERN]", required=False)
@click.argument("arguments", metavar="[NAME=VALUE]...", nargs=-1)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown.")
@json_option
@reports_errors
def command(name: str, pattern: str | None, arguments: tuple[str, ...], *, as_markdown: bool, as_json: bool) -> None:
    """Explain all access patterns of the design NAME, or only PATTERN.

    With PATTERN, show its signature, the key that supports it, why other keys don't support it, the exact request, and
    the cost of a typical call. To show the requests for specific values, pass arguments.
    """
    from keyplan.cli.designs import find
    from keyplan.cli.explained import design_markdown, explained, explained_all, pattern_markdown
    from keyplan.cli.show import console, typed_arguments
    from keyplan.errors import RequestError

    if as_markdown and as_json:
        raise RequestError("--markdown and --json are mutually exclusive", hint="choose one")
    design = find(name).design
    if pattern is None:
        result = explained_all(design)
        if as_json:
            echo_json([each.as_json() for each in result], indent=2)
        elif as_markdown:
            click.echo(design_markdown(result), nl=False)
        else:
            _show_design(console(), design.compiled.doc, result)
        return
    known = design.compiled.pattern(pattern)
    given = typed_arguments(known.signature, arguments) if arguments else None
    pattern_explained = explained(design, pattern, given)
    if as_json:
        echo_json(pattern_explained.as_json(), indent=2)
    elif as_markdown:
        click.echo(pattern_markdown(pattern_explained), nl=False)
    else:
        _show_pattern(console(), pattern_explained)


def _show_design(out: Console, doc: str, result: list[Explained]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    if doc:
        out.print(doc.partition("\n\n")[0], markup=False)
        out.print()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("Id")
    table.add_column("Access pattern, and why it needs no scan", overflow="fold")
    table.add_column("Request", overflow="fold")
    for each in result:
        explanation = each.explanation
        name, _, rest = explanation.signature.partition("(")
        pattern = Text.assemble((name, "bold"), f"({rest}", "\n", (explanation.proof, "dim"))
        where = f" on {explanation.index}" if explanation.index else ""
        request = Text.assemble((explanation.operation, "bold"), where)
        for step in explanation.key_condition.split(" → ") if explanation.key_condition else ():
            request.append(f"\n{step}")
        table.add_row(_id(explanation), pattern, request.append(f"\n{each.takes}", "dim"))
        table.add_row("", "", "")
    out.print(table)


def _id(explanation: Explanation) -> Text:
    from rich.text import Text

    return Text(explanation.id, style="bold cyan" if explanation.kind == "read" else "bold yellow")


def _show_pattern(out: Console, result: Explained) -> None:
    from rich.table import Table
    from rich.text import Text

    from keyplan.cli.options import printable

    explanation = result.explanation
    out.print(Text.assemble(_id(explanation), "  ", explanation.signature))
    if explanation.doc:
        out.print(explanation.doc, style="dim", markup=False)
    facts = (
        ("operation", explanation.operation),
        ("index", explanation.index),
        ("key", explanation.key),
        ("condition", explanation.key_condition),
        ("filter", explanation.filter),
        ("order", explanation.direction),
        ("limit", None if explanation.limit is None else f"{explanation.limit} items"),
        ("consistency", explanation.consistency if explanation.kind == "read" else None),
        ("reads first", ", ".join(explanation.asks)),
        ("takes", "\n".join([result.takes, *result.arithmetic, *result.estimate.notes])),
    )
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in facts:
        if text:
            grid.add_row(name, Text(text))
    out.print()
    out.print(grid)
    out.print()
    out.print(explanation.proof, markup=False)
    if explanation.note:
        out.print(explanation.note, markup=False)
    if explanation.others:
        out.print()
        others = Table.grid(padding=(0, 2))
        for other in explanation.others:
            others.add_row(Text(f"not {other.key}", style="dim"), Text(printable(other.reason), style="dim"))
        out.print(others)
    _show_requests(out, explanation)


def _show_requests(out: Console, explanation: Explanation) -> None:
    from rich.highlighter import JSONHighlighter
    from rich.text import Text

    from keyplan.cli.options import printable
    from keyplan.formatting.results import pretty

    highlight = JSONHighlighter()
    for request in explanation.requests[:_REQUESTS_MAX]:
        out.print()
        out.print(Text(request.operation, style="bold"))
        out.print(highlight(Text(printable(pretty(request.parameters)))), soft_wrap=True)
    rest = len(explanation.requests) - _REQUESTS_MAX
    if rest > 0:
        out.print()
        out.print(Text(f"and {rest} more request{'' if rest == 1 else 's'} (--json shows all)", style="dim"))
