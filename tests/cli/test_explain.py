"""Tests of ``keyplan explain``. Explanations are tested in ``tests/explain``."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from rich.console import Console

from keyplan.cli.explain import _show_pattern
from keyplan.cli.explained import explained
from keyplan_systems.cms import Cms
from tests.cli.support import LIBRARY, json_of, run


@pytest.mark.parametrize("name", ["cms", LIBRARY])
def test_a_design_is_shown_as_a_table_of_access_patterns(name: str) -> None:
    shown = run("explain", name)
    assert shown.exit_code == 0
    flat = " ".join(shown.output.split())
    for value in json_of("explain", name):
        assert value["id"] in shown.output
        assert value["proof"].split()[0] in flat
    assert "GetItem" in shown.output


def test_a_design_without_a_docstring_has_no_description(folder: Path) -> None:
    """The docstring of the base class isn't used as the description of the design."""
    text = """
from keyplan import Design, Entity, Key, Table, read

class Note(Entity):
    name: str
    primary = Key("NOTE#{name}", "META")

class Plain(Design):
    table = Table("notes")

    @read("N1")
    def note(self, name: str) -> Note | None: ...

class Told(Plain):
    \"\"\"What is noted.\"\"\"

class Further(Told):
    table = Table("further-notes")
"""
    (folder / "notes.py").write_text(text)
    assert "A single-table design" not in run("explain", "notes.py:Plain").output
    assert "A single-table design" not in run("cost", "notes.py:Plain").output
    assert all("What is noted." in run("explain", f"notes.py:{name}").output for name in ("Told", "Further"))


def test_without_arguments_the_explanation_shows_parameter_names() -> None:
    shown = run("explain", "cms", "articles_by_author").output
    assert 'gsi1pk = AUTHOR#{author_id}, begins_with(gsi1sk, "ARTICLE#")' in shown
    assert "Query" in shown
    start = shown.index("{\n")
    assert json.loads(shown[start:])["IndexName"] == "GSI1"


def test_with_arguments_the_explanation_shows_the_actual_request() -> None:
    result = json_of("explain", "cms", "articles_by_author", "author_id=c#", "limit=3")
    assert result["symbolic"] is False
    (request,) = result["requests"]
    assert request["parameters"]["ExpressionAttributeValues"][":p0"] == {"S": "AUTHOR#c$c"}
    assert request["parameters"]["Limit"] == 4


def test_markup_in_notes_and_docstrings_is_shown_verbatim() -> None:
    result = explained(Cms, "article", None)
    said: dict[str, Any] = {name: f"[bold]{name}[0][/bold]" for name in ("note", "proof", "doc")}
    noted = replace(result, explanation=replace(result.explanation, **said))
    out = Console(file=io.StringIO(), width=80)
    _show_pattern(out, noted)
    shown = cast("io.StringIO", out.file).getvalue()
    assert all(text in shown for text in said.values())


def test_a_request_can_be_copied_from_a_narrow_terminal() -> None:
    """The JSON of the request isn't wrapped."""
    out = Console(file=io.StringIO(), width=40)
    _show_pattern(out, explained(Cms, "article", {"article_id": "word " * 20}))
    shown = cast("io.StringIO", out.file).getvalue()
    assert json.loads(shown[shown.index("{\n") :])["Key"]["pk"] == {"S": f"ARTICLE#{'word ' * 20}"}


def test_explain_creates_no_store(folder: Path) -> None:
    assert run("explain", "cms", "article", "article_id=1").exit_code == 0
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("pattern", list(Cms.compiled.patterns))
def test_every_access_pattern_of_the_cms_is_explained(pattern: str) -> None:
    shown = run("explain", "cms", pattern)
    assert shown.exit_code == 0
    assert json_of("explain", "cms", pattern)["pattern"] == pattern


def test_a_long_list_of_requests_is_truncated_in_text_but_not_in_json() -> None:
    arguments = [f"shelf={number}" for number in range(9)]
    assert "and 5 more" in run("explain", LIBRARY, "on_shelves", *arguments).output
    assert len(json_of("explain", LIBRARY, "on_shelves", *arguments)["requests"]) == 9


def test_unknown_patterns_and_parameters_are_reported() -> None:
    result = run("explain", "cms", "article", "id=1")
    assert result.exit_code == 2
    assert "id: unknown parameter" in result.stderr
    assert run("explain", "cms", "articl").exit_code == 2


def test_an_explanation_shows_the_cost_and_why_other_keys_are_unsuitable() -> None:
    shown = run("explain", "cms", "articles_by_author").output
    assert "1 request, 1.5 read units" in shown
    assert "not Article.primary" in shown
    assert "the partition key requires article_id" in shown
    result = json_of("explain", "cms", "articles_by_author")
    assert (result["takes"]["requests"], result["takes"]["read_units"]) == (1, 1.5)
    assert result["takes"]["arithmetic"]
    (other,) = result["others"]
    assert (other["key"], other["place"]) == ("Article.primary", "the table")


def test_the_markdown_of_a_design_is_a_table_of_access_patterns() -> None:
    lines = run("explain", "cms", "--markdown").output.splitlines()
    assert lines[0] == "| id | question | operation | on | key condition | a call takes |"
    assert len(lines) == 2 + len(Cms.compiled.patterns)
    assert "1 request, 1 read unit" in lines[2]


def test_markdown_of_a_pattern_is_a_section_with_its_requests() -> None:
    text = run("explain", "cms", "articles_by_author", "author_id=ada", "--markdown").output
    assert text.startswith("### AP5 `articles_by_author(")
    assert "| `Article.primary` | the table | the partition key requires article\\_id |" in text
    block = text.partition("```json\n")[2].partition("```")[0]
    assert json.loads(block)["ExpressionAttributeValues"][":p0"] == {"S": "AUTHOR#ada"}


@pytest.mark.parametrize("pattern", list(Cms.compiled.patterns))
def test_every_pattern_is_explained_in_markdown(pattern: str) -> None:
    assert run("explain", "cms", pattern, "--markdown").output.startswith("### ")


def test_the_markdown_and_json_options_are_mutually_exclusive() -> None:
    result = run("explain", "cms", "--markdown", "--json")
    assert result.exit_code == 2
    assert "mutually exclusive" in result.output
