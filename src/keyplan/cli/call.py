"""``keyplan call``: call one access pattern."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

import click

from keyplan.cli.options import db_option, echo_json, json_option, name_argument, reports_errors


@click.command(
    "call",
    short_help="Call one access pattern.",
    epilog="""\b
Examples:
  keyplan call cms article article_id=01KA…
  keyplan call cms articles_by_author author_id=ada limit=5 --json
  keyplan call cms retag article_id=01KA… tags=python tags=dynamodb
  keyplan call cms create_article article:='{"title": "Hello", "slug": "hello", "author_id": "ada"}'
  keyplan call blog.py:Blog posts created_at.ge=2026-01-01T00:00:00Z
""",
)
@name_argument
@click.argument("pattern", metavar="PATTERN")
@click.argument("arguments", metavar="[NAME=VALUE]...", nargs=-1)
@db_option
@json_option
@reports_errors
def command(name: str, pattern: str, arguments: tuple[str, ...], db: str | None, *, as_json: bool) -> None:
    """Call the access pattern PATTERN of the design NAME.

    Values are strings, which are converted to the types in the pattern's signature. To pass JSON, use name:=JSON. For
    the bounds of a range, use name.ge, name.gt, name.le and name.lt. To pass a list, repeat the name for each element.
    """
    from keyplan.cli.designs import find
    from keyplan.cli.show import console, show_answer, typed_arguments
    from keyplan.formatting.results import answer_json, plain
    from keyplan.model.compiled.return_types import ShapeKind

    result = find(name)
    compiled = result.design.compiled
    known = compiled.pattern(pattern)
    given = typed_arguments(known.signature, arguments)
    read = compiled.reads.get(pattern)
    with result.open(db, create=False) as design:
        if as_json and read is not None and read.shape.kind is ShapeKind.ITERATOR:
            for item in design.stream(pattern, (), known.signature.bind((), given, strict=False)):
                echo_json(plain(item))
            return
        answer = answer_json(design.call(pattern, given))
    if as_json:
        echo_json(answer)
    elif answer is None and read is None:
        console().print("Done.")
    else:
        show_answer(console(), answer)
