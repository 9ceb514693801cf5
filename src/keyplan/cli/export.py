"""``keyplan export``: export a design as a template, request, policy, model or diagram."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from keyplan.cli.options import json_option, name_argument, reports_errors

if TYPE_CHECKING:
    from keyplan.cli.designs import Found
    from keyplan.errors import ErrorDetail
    from keyplan.formats.registry import Exported, Inputs
    from keyplan.session.design import Design


T = TypeVar("T")

_FORMATS = ("cloudformation", "terraform", "create-table", "iam", "workbench", "markdown", "mermaid")
_PICTURES = ("html", "svg")
"""Formats that the studio draws, with items of a store or sample data."""
_CLASSES = ("standard", "infrequent-access")
_VIEWS = ("keys", "new", "old", "new-and-old")
_SAMPLE_DEFAULT = 10
_STORED_MAX = 1000

_TABLE = {"table_name", "billing", "read_units", "write_units"}
_OPTIONS = {
    **dict.fromkeys(
        ("cloudformation", "terraform", "create-table"),
        _TABLE | {"table_class", "deletion_protection", "recovery", "stream", "tag"},
    ),
    "iam": {"table_name", "region", "account"},
    "workbench": _TABLE | {"sample", "db"},
    "markdown": set[str](),
    "mermaid": set[str](),
    **{key: {"sample", "db"} for key in _PICTURES},
}
"""The options that each format supports."""


@click.command(
    "export",
    short_help="Export a design: CloudFormation, Terraform, IAM, NoSQL Workbench, Markdown, diagrams.",
    epilog="""\b
Examples:
  keyplan export cms --to cloudformation > cms.yaml
  keyplan export cms --to terraform --table-name cms-prod --point-in-time-recovery --deletion-protection
  keyplan export cms --to create-table -o requests/
  keyplan export cms --to iam --region eu-west-1 --account 123456789012
  keyplan export cms --to workbench --sample 20 -o cms.json
  keyplan export designs.py:Shop --to markdown
  keyplan export cms --to html --sample 40 -o cms.html
  keyplan export designs.py:Shop --to svg --db shop.db -o shop.svg
""",
)
@name_argument
@click.option("--to", "to", type=click.Choice([*_FORMATS, *_PICTURES]), required=True, help="Export format.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to FILE; for create-table, write one file per request to FOLDER/.  [default: standard output]",
)
@click.option(
    "--table-name", metavar="NAME", help="Table name.  [default: as in the design; in CloudFormation, <stack>-<stage>]"
)
@click.option("--billing", type=click.Choice(["on-demand", "provisioned"]), default="on-demand", show_default=True)
@click.option(
    "--read-units", type=int, metavar="N", help="Provisioned read capacity units of the table and of each index."
)
@click.option(
    "--write-units", type=int, metavar="N", help="Provisioned write capacity units of the table and of each index."
)
@click.option("--table-class", type=click.Choice(_CLASSES), default="standard", show_default=True)
@click.option(
    "--deletion-protection",
    is_flag=True,
    help="Enable deletion protection, and retain the table when its stack is deleted.",
)
@click.option(
    "--point-in-time-recovery", "recovery", is_flag=True, help="Enable point-in-time recovery (continuous backups)."
)
@click.option("--stream", type=click.Choice(_VIEWS), help="Enable a stream with this view type.")
@click.option("--tag", multiple=True, metavar="NAME=VALUE", help="Tag the table with NAME=VALUE. Repeatable.")
@click.option("--region", default="*", metavar="REGION", help="IAM: region in the table's ARN.  [default: any]")
@click.option("--account", default="*", metavar="DIGITS", help="IAM: account ID in the table's ARN.  [default: any]")
@click.option(
    "--sample",
    type=click.IntRange(min=0),
    default=_SAMPLE_DEFAULT,
    show_default=True,
    metavar="N",
    help="Workbench, html, svg: number of sample items of the system's main entity (blog: posts; shop: orders).",
)
@click.option("--db", metavar="FILE|URL", help="Workbench, html, svg: use this store's items instead of sample data.")
@json_option
@reports_errors
def command(name: str, to: str, output: str | None, *, as_json: bool, **given: Any) -> None:
    """Export a design in the format of another tool. A store is opened only with --db.

    The format cloudformation writes YAML, or JSON with --json; terraform writes HCL, or Terraform JSON with --json; iam
    writes a least-privilege policy; html writes the studio's map, access patterns and findings; svg writes the map.
    """
    from keyplan.cli.designs import find
    from keyplan.formats.registry import export

    result = find(name)
    source = click.get_current_context().get_parameter_source
    typed = {text for text in given if source(text) is click.core.ParameterSource.COMMANDLINE}
    inputs = _inputs(result, to, given, typed)
    exported = _pictured(result, to, given) if to in _PICTURES else export(to, inputs, as_json=as_json)
    _write(exported, output)
    for note in exported.notes:
        click.echo(note, err=True)


def _pictured(result: Found, to: str, given: Mapping[str, Any]) -> Exported:
    """The studio's page or map, with the items of a store, sample data, or only the key templates."""
    from keyplan.formats.registry import Exported
    from keyplan.studio.exported import page_file, svg_file
    from keyplan.studio.subject import of_design

    with _with_items(result, given) as design:
        return Exported((page_file if to == "html" else svg_file)(of_design(design)))


@contextmanager
def _with_items(result: Found, given: Mapping[str, Any]) -> Generator[Design]:
    """The design opened on the given store, or in memory with sample data."""
    if given["db"] is not None:
        with result.open(given["db"], create=False) as design:
            yield design
        return
    with result.design.open(":memory:") as design:
        if result.system is not None and given["sample"]:
            result.system.sample(design, given["sample"], lambda _done, _total: None)
        yield design


def _inputs(result: Found, to: str, given: Mapping[str, Any], typed: set[str]) -> Inputs:
    from keyplan.cli.explained import explained_all, row_of
    from keyplan.errors import ErrorDetail, RequestError
    from keyplan.formats.deployment_options import Deployment, tags_of
    from keyplan.formats.iam import Place
    from keyplan.formats.registry import Inputs

    faults = [
        ErrorDetail(f"--{name.replace('_', '-')}", f"isn't supported by the format {to}", "omit the option")
        for name in given
        if name in typed - _OPTIONS[to]
    ]
    tags = _made(lambda: tags_of(given["tag"]), faults)
    members = (*_TABLE, "table_class", "deletion_protection", "recovery", "stream")
    deployment = _made(lambda: Deployment(**{name: given[name] for name in members}, tags=tags or {}), faults)
    place = _made(lambda: Place(region=given["region"], account=given["account"]), faults)
    if faults or deployment is None or place is None:
        raise RequestError("invalid options", errors=faults)
    return Inputs(
        design=result.design.compiled,
        deployment=deployment,
        place=place,
        items=_items(result, given) if to == "workbench" else (),
        rows=[row_of(element) for element in explained_all(result.design)] if to == "markdown" else (),
        writes=_writes(result) if to == "iam" else {},
    )


def _made(make: Callable[[], T], faults: list[ErrorDetail]) -> T | None:
    """The result of ``make``; None after a RequestError, whose errors are appended to ``faults``."""
    from keyplan.errors import RequestError

    try:
        return make()
    except RequestError as error:
        faults.extend(error.errors)
        return None


def _writes(result: Found) -> dict[str, tuple[str, ...]]:
    from keyplan.analysis.write_analysis.analysis import WriteAnalyzer

    analyzer = WriteAnalyzer(result.design.compiled, result.design)
    analyses = {name: analyzer.analysis(write) for name, write in result.design.compiled.writes.items()}
    unknown = [name for name, analysis in analyses.items() if not analysis.rights_known]
    if unknown:
        click.echo(f"The policy may lack permissions for {', '.join(unknown)}, whose code can't be analyzed.", err=True)
    return {name: analysis.rights for name, analysis in analyses.items()}


def _items(result: Found, given: Mapping[str, Any]) -> list[Any]:
    found: list[Any] = []
    most = None if given["db"] is None else _STORED_MAX
    with _with_items(result, given) as design:
        request = {"TableName": design.store.table_name}
        while most is None or len(found) < most:
            answer = design.store.transport.call("Scan", request)
            found += answer["Items"]
            if "LastEvaluatedKey" not in answer:
                break
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
    return found[:most]


def _write(exported: Exported, output: str | None) -> None:
    from keyplan.cli.options import write_output, write_text
    from keyplan.errors import RequestError

    path = Path(output or "").expanduser()
    # Path.is_dir raises an error for names that are too long.
    if output is None or not exported.parts or not (output.endswith("/") or os.path.isdir(path)):  # noqa: PTH112
        write_output(exported.text, output)
        return
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RequestError(f"{path} can't be created: {error.strerror or error}", hint="choose another path") from None
    for name, text in exported.parts.items():
        write_text(path / name, text)
    click.echo(f"Wrote {', '.join(exported.parts)} to {path}.")
