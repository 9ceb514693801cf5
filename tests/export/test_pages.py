"""The exported Markdown pages and Mermaid flowcharts are complete and escaped."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from keyplan.analysis.explain.explanation import explain_all
from keyplan.formats.markdown import Row, design_page
from keyplan.formats.mermaid import flowchart
from tests.export.designs import NAMES, design


def rows(name: str) -> list[Row]:
    return [
        Row(
            explanation.id,
            explanation.signature,
            explanation.operation,
            explanation.index,
            (explanation.key_condition,),
        )
        for explanation in explain_all(design(name))
    ]


def page(name: str) -> str:
    return design_page(design(name).compiled, rows(name))


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_a_row_for_each_entity_index_and_pattern(name: str) -> None:
    compiled = design(name).compiled
    tables: list[list[int]] = []
    for token in MarkdownIt().enable("table").parse(page(name)):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append(0)
        elif token.type in {"td_open", "th_open"}:
            tables[-1][-1] += 1
    keys = sum(len(entity.keys) + len(entity.claims) for entity in compiled.entities.values())
    indexes = [len(compiled.table.indexes)] if compiled.table.indexes else []
    assert [len(table) - 1 for table in tables] == [keys, *indexes, len(compiled.patterns)]
    for table in tables:
        assert len(set(table)) == 1


def test_special_characters_are_escaped_in_markdown() -> None:
    """Pipes, tags and backticks in a design are shown as plain text."""
    text = MarkdownIt("commonmark", {"html": True}).enable("table").render(page("Odd"))
    assert "<code>$&quot;%&lt;N&gt;|`#{yes}</code>" in text
    assert "<td>O|1</td>" in text
    assert "<N>" not in text


NODE = re.compile(r' +(\w+)(?:\["[^"]*"\]|\[\("[^"]*"\)\])')
ARROW = re.compile(r'  (\w+) -->\|"[^"]*"\| (\w+)')


@pytest.mark.parametrize("name", NAMES)
def test_the_flowchart_has_a_node_per_entity_claim_and_index_and_an_arrow_per_key(name: str) -> None:
    compiled = design(name).compiled
    lines = flowchart(compiled).splitlines()
    assert lines[0] == "flowchart LR"
    nodes = [match.group(1) for line in lines if (match := NODE.fullmatch(line))]
    claims = sum(len(entity.claims) for entity in compiled.entities.values())
    assert len(nodes) == len(compiled.entities) + claims + len(compiled.table.indexes)
    assert len(set(nodes)) == len(nodes)
    arrows = [match.groups() for line in lines if (match := ARROW.fullmatch(line))]
    assert len(arrows) == sum(len(entity.index_keys) for entity in compiled.entities.values())
    assert {end for arrow in arrows for end in arrow} <= set(nodes)
    subgraphs = [line for line in lines if re.fullmatch(r' *subgraph \w+\["[^"]*"\]', line)]
    assert sum(line.strip() == "end" for line in lines) == len(subgraphs)
    rest = set(lines[1:]) - {line for line in lines if NODE.fullmatch(line) or ARROW.fullmatch(line)} - set(subgraphs)
    assert {line.strip() for line in rest} <= {"end", "direction TB"}


def test_the_page_describes_discriminators_case_folding_and_shards() -> None:
    """These features of other libraries' tables change keys, but aren't in key templates."""
    rows = {line.split(" | ")[0]: line for line in page("Words").splitlines() if line.startswith("| **")}
    assert rows["| **Task**"].endswith("all; the key is in lower case; in each `__edb_e__` is `task` |")
    assert rows["| **Counter**"].endswith("all, in 10 shards |")
    assert "| one claim per value; the key is in lower case |" in page("Words")
    assert 'entity_Task["Task (__edb_e__ = task)<br/>$task_1"]' in flowchart(design("Words").compiled)


def test_mermaid_syntax_is_escaped() -> None:
    text = flowchart(design("Odd").compiled)
    assert "$#quot;%#lt;N#gt;|#96;#35;{yes}" in text
    assert 'index_odd_name_2[("odd-name.2<br/>a, b, c, d<br/>O|1")]' in text
