"""Draw random samples of the project's text for an editorial review.

    python -m website.sample_text errors --count 100 --seed 7

One unit is a sentence, a heading, a table cell, an option's description, an error message or a test's name. The same
corpus, count and seed print the same units while the text is unchanged. Mark each unit that a technical writer would
not publish, by the rules in CONTRIBUTING.md.
"""

import argparse
import ast
import random
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

import click

from keyplan.cli.group import cli

ROOT = Path(__file__).resolve().parents[1]
Text: TypeAlias = tuple[str, str]  # where it is, and a unit

_SENTENCE_END = re.compile(r"(?<=[.!?:]) +(?=[A-Z`*\"'])")
_CODE_BLOCK = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_PROSE = re.compile(r"[A-Za-z{`\"'][^<>\\]*")
_WORD = re.compile(r"[A-Za-z]['a-z]+[.,:;]?")
_SQL = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|WHERE|FROM)\b")


def sentences(text: str) -> Iterator[str]:
    """Sentences of one or several paragraphs."""
    for paragraph in re.split(r"\n\s*\n", text):
        for sentence in _SENTENCE_END.split(" ".join(paragraph.split())):
            if len(sentence.split()) > 1:
                yield sentence


def markdown(path: Path) -> Iterator[Text]:
    """Headings, table cells and sentences of a page. Code blocks are omitted."""
    name, paragraph = str(path.relative_to(ROOT)), list[str]()
    for line in [*_CODE_BLOCK.sub("", path.read_text()).splitlines(), ""]:
        stripped = line.strip()
        if not stripped or stripped.startswith(("#", "|", "- ", "* ", ">", "<!--")):
            yield from ((name, each) for each in sentences(" ".join(paragraph)))
            paragraph = []
        if stripped.startswith("|"):
            yield from ((name, cell.strip()) for cell in stripped.strip("|").split("|") if len(cell.split()) > 1)
        elif stripped.startswith("#"):
            yield name, stripped
        elif not stripped.startswith("<!--"):
            paragraph.append(stripped.removeprefix("- "))


def python_files(*folders: str) -> Iterator[Path]:
    """The Python files of folders."""
    for folder in folders:
        path = ROOT / folder
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def docstrings(path: Path, public: bool) -> Iterator[Text]:
    """Sentences of docstrings: of modules, classes and functions, or of public ones only."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name = getattr(node, "name", "")
            if (text := ast.get_docstring(node)) and not (public and name.startswith("_")):
                prose = re.sub(r"^ {4,}.*$", "", text, flags=re.MULTILINE)
                yield from ((f"{path.relative_to(ROOT)} {name}", each) for each in sentences(prose))


def _literal(node: ast.expr) -> str | None:
    """The text of a string, with `{...}` where an f-string has a value."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "{...}"
            for part in node.values
        )
    return None


def messages(path: Path) -> Iterator[Text]:
    """Strings of three words or more that aren't docstrings, markup, drawings or SQL: errors, hints, labels."""
    tree = ast.parse(path.read_text())
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr) or id(node) in inner | statements:
            continue
        text = " ".join((_literal(node) or "").split())
        words = [word for word in text.split() if _WORD.fullmatch(word)]
        if len(words) > 2 and _PROSE.fullmatch(text) and not _SQL.search(text):
            yield f"{path.relative_to(ROOT)}:{node.lineno}", text


def comments(path: Path) -> Iterator[Text]:
    """Comments, with those on consecutive lines as one."""
    block, last = "", -2
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT and len(token.string.split()) > 3:
                if token.start[0] != last + 1 and block:
                    yield f"{path.relative_to(ROOT)}:{last}", block
                    block = ""
                block, last = f"{block} {token.string.lstrip('# ')}".strip(), token.start[0]
    if block:
        yield f"{path.relative_to(ROOT)}:{last}", block


def names_of_tests(path: Path) -> Iterator[Text]:
    """Names of test functions, as sentences."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield str(path.relative_to(ROOT)), node.name.removeprefix("test_").replace("_", " ")


def interface_texts(path: Path) -> Iterator[Text]:
    """Texts of HTML templates and scripts: between tags, and in strings of four words or more."""
    text = path.read_text()
    found = re.findall(r">([^<>{}]*[A-Za-z][^<>{}]*)<", text) if path.suffix == ".html" else []
    found += re.findall(r"""(?:title|placeholder|aria-label)="([^"{}]+)\"""", text)
    if path.suffix == ".js":
        found += [each for each in re.findall(r"""["'`]([A-Z][^"'`<>\n]+)["'`]""", text) if len(each.split()) > 3]
    yield from ((str(path.relative_to(ROOT)), " ".join(each.split())) for each in found if len(each.split()) > 1)


def _each(reader: Callable[[Path], Iterable[Text]], paths: Iterable[Path]) -> list[Text]:
    return [unit for path in paths for unit in reader(path)]


def _files(pattern: str) -> list[Path]:
    return sorted(ROOT.glob(pattern))


def _has_no_sample_prose(path: Path) -> bool:
    return path.parent.name != "essays" and path.stem not in {"sample", "texts"}


CORPORA: dict[str, Callable[[], list[Text]]] = {
    "readme": lambda: _each(markdown, [ROOT / "README.md"]),
    "help": lambda: _each(messages, python_files("src/keyplan/cli")) + _help(),
    "guides": lambda: _each(markdown, [*_files("docs/*.md"), *_files("docs/cookbook/*.md")]),
    "rules": lambda: _each(markdown, _files("docs/rules/*.md")),
    "decisions": lambda: _each(markdown, _files("docs/decisions/*.md")),
    "errors": lambda: _each(messages, python_files("src/keyplan")),
    "site-errors": lambda: _each(messages, filter(_has_no_sample_prose, python_files("systems/src"))),
    "docstrings": lambda: _each(lambda path: docstrings(path, public=True), python_files("src/keyplan")),
    "comments": lambda: _each(comments, python_files("src", "systems/src")),
    "interface": lambda: _each(interface_texts, [*_files("src/**/*.html"), *_files("src/**/static/*.js")]),
    "sites": lambda: _each(interface_texts, _files("systems/src/**/*.html")),
    "tests": lambda: _each(names_of_tests, python_files("tests")),
    "test-docstrings": lambda: _each(lambda path: docstrings(path, public=False), python_files("tests")),
}


def _help() -> list[Text]:
    """Sentences and option descriptions of `--help`."""

    def units(command: click.Command) -> Iterator[Text]:
        name = f"--help {command.name}"
        yield from ((name, each) for each in sentences(command.help or ""))
        for option in command.params:
            yield from ((f"{name} {option.name}", each) for each in sentences(getattr(option, "help", None) or ""))
        if isinstance(command, click.Group):
            context = click.Context(command)
            for sub in filter(None, (command.get_command(context, each) for each in command.list_commands(context))):
                yield from units(sub)

    return list(units(cli))


def draw() -> None:
    """Draw and print a sample, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", help=f"{', '.join(CORPORA)}, or a Markdown file")
    parser.add_argument("--count", type=int, default=100, help="units to draw")
    parser.add_argument("--seed", type=int, required=True, help="seed of the random draw")
    parser.add_argument("--under", default="", help="only units of files whose path contains this")
    options = parser.parse_args()
    if options.corpus in CORPORA:
        units = CORPORA[options.corpus]()
    elif options.corpus.endswith(".md"):
        units = list(markdown(ROOT / options.corpus))
    else:
        parser.error(f"no corpus is named {options.corpus!r}")
    units = [unit for unit in units if options.under in unit[0]]
    drawn = random.Random(options.seed).sample(units, min(options.count, len(units)))  # noqa: S311 - it draws text
    print(f"{options.corpus}: {len(drawn)} of {len(units)} units, seed {options.seed}")
    for number, (where, text) in enumerate(drawn, 1):
        print(f"{number:3} {where} | {text}")


if __name__ == "__main__":
    draw()
