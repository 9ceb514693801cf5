"""With random arguments, every command ends with a result or a message, never with a traceback."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from keyplan.cli.designs import find
from keyplan.cli.group import cli
from tests.seeds import examples

DESIGNS = ["tests.web.library:Library", "tests.bad_input:Things", "papers"]
FILES: dict[str, bytes] = {
    "empty": b"",
    "binary": bytes(range(256)) * 20,
    "deep.json": b"[" * 100_000,
    "object.json": b"{}",
    "list.json": b"[1, 2]",
    "odd.json": b'{"a": "\\ud800", "\\u0000": 1e999}',
    "utf16.json": '{"a": 1}'.encode("utf-16"),
    "model.json": b'{"ModelName": "x", "DataModel": [{"TableName": "t", "KeyAttributes": {}}]}',
    "torn.toml": b"a = [1\n",
    "traffic.toml": b"[patterns]\nbook = 1\n[entities]\nBook = 'a'\n",
    "missing.py": b"import nowhere\n",
    "wrong.py": b"def (\n",
    "raises.py": b"raise SystemExit(3)\n",
    "post.md": b"---\n: x\n---\n",
    "cite.bib": b"@article{a,\n title={x\n",
}
WORDS = [
    "", "x", "-", "--", "0", "-1", "1e999", "9" * 5000, "\udcff", "é", "日本", "a" * 300, "a/b", "/etc/passwd",
    "/nonexistent/x", "folder", "loop", *FILES, "missing:X", "wrong.py:X", "raises.py:X", "missing.py:X",
    "tests.web.library", "tests.web.library:Nope", "tests.web.library:", "keyplan:Design", "json:dumps", "LIBRARY",
    ":memory:", "file.db", "dynamodb://x", "dynamodb+http://", "us-east-1", "eu-nowhere-9", "a=b", "a=", "=",
    "limit=-1", "limit=x", f"limit={10**30}", "isbn=i0", "isbn=\udcff", "cursor=zzz", "git:HEAD", "HEAD", "book",
    "lend", "shelf", "things", "name=a", "number=1", "R1", "KP101", "*", "%s", "[]", "null", "\n",
    "2026-13-45", "<script>",
]  # fmt: skip
SERVING = {"serve", "studio"}


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield each command, with the names that lead to it, except the commands that run until they are stopped."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        if name not in SERVING:
            yield from commands(below, (*path, name))


COMMANDS = dict(commands(cli))


def value(seed: random.Random, parameter: click.Parameter) -> str:
    if isinstance(parameter.type, click.Choice) and seed.random() < 0.8:
        return seed.choice([str(choice) for choice in parameter.type.choices])
    if parameter.name in {"name", "names", "old", "new"} and seed.random() < 0.6:
        return seed.choice(DESIGNS)
    return seed.choice(WORDS)


def line(seed: random.Random, path: tuple[str, ...]) -> list[str]:
    """A command line with random arguments and options."""
    typed = list(path)
    for parameter in COMMANDS[path].params:
        if isinstance(parameter, click.Argument):
            number = seed.randint(0, 3) if parameter.nargs != 1 else seed.choice([1, 1, 1, 1, 0])
            typed += [value(seed, parameter) for _ in range(number)]
        elif seed.random() < 0.2:
            is_flag = isinstance(parameter, click.Option) and parameter.is_flag
            typed += [parameter.opts[-1]] if is_flag else [parameter.opts[-1], value(seed, parameter)]
    return typed


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_commands_with_random_arguments_end_without_a_traceback(path: tuple[str, ...], folder: Path) -> None:
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    seed = random.Random(f"bad lines of {path}")
    for name in DESIGNS:
        find(name)  # imported first by `plan`, the design would stay uncompiled
    refused = 0
    for _ in range(examples(10, 50)):
        typed = line(seed, path)
        ended = CliRunner().invoke(cli, typed, input="", prog_name="keyplan")
        assert isinstance(ended.exception, SystemExit | None), (ascii(typed), ended.exception)
        assert "Traceback" not in ended.output, ascii(typed)
        assert ended.exit_code in {0, 1, 2, 3}, ascii(typed)
        refused += ended.exit_code == 2
    assert refused > 0


@pytest.mark.parametrize(
    "typed", [("dynamodb", "check"), ("import", "papers"), ("import-workbench",), ("check",)], ids=" ".join
)
@pytest.mark.parametrize("path", ["a" * 300, "b/" * 3000, "loop/x", "\udcff"], ids=["name", "path", "loop", "bytes"])
def test_commands_reject_long_circular_and_non_unicode_paths(typed: tuple[str, ...], path: str, folder: Path) -> None:
    (folder / "loop").symlink_to("loop")
    ended = CliRunner().invoke(cli, [*typed, path], prog_name="keyplan")
    assert isinstance(ended.exception, SystemExit)
    assert ended.exit_code in {1, 2}
    assert "Traceback" not in ended.output
