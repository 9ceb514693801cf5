"""The catalogue's README is correct: stored items, metered units, and recalculated results."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from benchmarks.papers_questions import Catalogue, catalogue_of, question_1, question_2, question_3, shown

import keyplan_systems.papers
from keyplan import Entity
from keyplan_systems.papers import Papers
from keyplan_systems.papers.design import (
    AUTHORS_MAX,
    DRAFT_KEPT,
    TOPICS_MAX,
    Author,
    Membership,
    Paper,
    PaperDetails,
    PaperTopic,
    Reference,
)
from keyplan_systems.papers.sample import DEMO_HASH, sample
from tests.cli.support import json_of, run
from tests.repository.files import ROOT
from tests.systems.measuring import AMONG, add_others, check_rows, rows_of, session_calls, text_of
from tests.systems.papers.test_loader import KRR
from tests.systems.support import silent

README = text_of(keyplan_systems.papers)
NEWEST = datetime(2126, 5, 4, 9, 30, tzinfo=UTC)
"""The time of the sample's newest paper: fixed, as shards depend on it."""
QUESTIONS = README.partition("\n## Open questions\n")[2].partition("\n## ")[0]


@pytest.fixture(params=AMONG)
def papers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Papers]:
    """Return a store with the sample and unrelated papers, for calls of writes."""
    monkeypatch.setattr("keyplan_systems.papers.sample.now", lambda: NEWEST)
    with Papers.open(":memory:") as opened:
        sample(opened, 300, silent)
        add_others(opened, request.param, of_others)
        yield opened


def of_others(number: int) -> Sequence[Entity]:
    """Return the items of a paper of another collection, with an author, a topic and a reference."""
    name, at = f"else-{number}", datetime(2027, 1, 1, tzinfo=UTC) + timedelta(seconds=number)
    return (
        Paper(paper_id=name, title="Elsewhere", collection="elsewhere", status="published", published_at=at),
        Membership(paper_id=name, handle=f"else-{number % 100}", name="Else", published_at=at),
        PaperTopic(paper_id=name, topic="elsewhere", published_at=at),
        Reference(paper_id=name, cited_id=f"else-{number // 2}"),
    )


def calls(papers: Papers) -> dict[str, Callable[[], object]]:
    """Return a call of each pattern, by id, in the order in which they run."""
    new = Paper(paper_id="new", title="A new paper", collection="ethics", topics={"cost", "privacy"}, version="0.1")
    return {
        "A1": lambda: papers.paper("wp-0000"),
        "A1b": lambda: papers.paper_with_authors("wp-0000"),
        "A2": lambda: papers.papers_in_collection("data-and-storage", limit=20),
        "A2b": lambda: papers.published_in_collection("data-and-storage", limit=20),
        "A3": lambda: papers.papers_by_author("ada-almeida", limit=20),
        "A4": lambda: papers.papers_on_topic("cost", limit=20),
        "A5": lambda: papers.author("ada-almeida"),
        "R1": lambda: papers.paper_versions("wp-0000"),
        "R2": lambda: papers.authors(["ada-almeida", "chen-almeida"]),
        "R5": lambda: papers.collections(limit=20),
        "R6": lambda: papers.collection("ethics"),
        "R7": lambda: papers.papers(["wp-0000", "wp-0001"]),
        "W1": lambda: papers.add_author(Author(handle="new", name="New")),
        "R8": papers.newest_papers,
        "R9": lambda: papers.full_text("wp-0000"),
        "R10": lambda: papers.credential("ada-almeida"),
        **session_calls(papers),
        "W3": lambda: papers.add_paper(new, {"ada-almeida": "author", "new": "contributor"}),
        "W4": lambda: papers.new_version("new", "0.2"),
        "W5": lambda: papers.publish("new"),
        "W6": lambda: papers.retopic("new", {"cost", "queues"}),
        "W8": lambda: papers.edit_paper("new", PaperDetails(title="Newer", collection="ethics", volume="3")),
        "W2": lambda: papers.set_text("new", "All of it."),
        "W9": lambda: papers.set_password("ada-almeida", DEMO_HASH, "hash"),
        "W10": lambda: papers.refer("new", "wp-0000"),
        "R3": lambda: papers.references("new"),
        "R4": lambda: papers.cited_by("wp-0000"),
        "W11": lambda: papers.unrefer("new", "wp-0000"),
        "W7": lambda: papers.supersede("new", "wp-0000"),
    }


def test_patterns_cost_the_requests_and_units_listed_in_the_readme(papers: Papers) -> None:
    check_rows(papers, README, "Access patterns", calls(papers))


def test_keys_in_the_readme_equal_those_of_the_design() -> None:
    shown = {tuple(row[:7]) for row in rows_of(README, "Key table")[1:]}
    wanted: set[tuple[str, ...]] = set()
    for entity in Papers.compiled.entities.values():
        texts, *others = [[str(text) for _, text in key.attributes] for key in (entity.primary, *entity.index_keys)]
        indexes = {key.index.name: text for key, text in zip(entity.index_keys, others, strict=True) if key.index}
        wanted.add((entity.name, *texts, *indexes.get("GSI1", ["–", "–"]), *indexes.get("GSI2", ["–", "–"])))
    assert shown == wanted


def test_limits_in_the_readme_equal_those_of_the_design() -> None:
    for said in (f"{AUTHORS_MAX} authors", f"{TOPICS_MAX} topics", f"after {DRAFT_KEPT.days} days"):
        assert said in README, said


def test_costs_in_the_readme_equal_the_output_of_the_cost_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    command = "cost papers --traffic systems/src/keyplan_systems/papers/traffic.toml"
    assert f"keyplan {command}\n" in README
    patterns = json_of(*command.split())["patterns"]
    said = {
        (
            pattern["id"],
            pattern["pattern"],
            ", ".join(request["operation"] for request in pattern["requests"]),
            f"{pattern['read_units']:g}",
            f"{pattern['usd_million_calls']:g}",
            f"{pattern['per_second']:g}",
            f"{pattern['usd_month']:.2f}",
        )
        for pattern in patterns
        if pattern["id"] in {"A1", "A2", "A3", "A4", "A5"}
    }
    assert said == {tuple(row) for row in rows_of(README, "The cost model")[1:]}


@pytest.mark.parametrize("columns", [80, 100, 111, 112, 120])
def test_the_cost_command_shows_the_complete_monthly_price(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    traffic = "systems/src/keyplan_systems/papers/traffic.toml"
    lines = run("cost", "papers", "--traffic", traffic, env={"COLUMNS": str(columns)}).stdout.splitlines()
    (named,) = [line for line in lines if "$/million" in line]
    assert named.rstrip().endswith("$/month")
    (listing,) = [line for line in lines if line.startswith(" A2 ")]
    assert listing.rstrip().endswith("$32.85")


# Open problems


def tables(catalogue: Catalogue) -> list[str]:
    return [
        line for table in (question_1(catalogue), question_2(catalogue), question_3(catalogue)) for line in shown(table)
    ]


def test_open_questions_in_the_readme_show_the_results_for_the_sample() -> None:
    assert "python -m benchmarks.papers_questions --count 1000" in QUESTIONS
    missing = [line for line in tables(catalogue_of(count=1000)) if line not in QUESTIONS]
    assert not missing, "the README is to say:\n" + "\n".join(missing)


@pytest.mark.nightly
def test_open_questions_in_the_readme_show_results_for_a_real_bibliography() -> None:
    if not KRR.is_file():
        pytest.skip(f"{KRR} isn't there")
    catalogue = catalogue_of(KRR)
    busiest = catalogue.authors[catalogue.busiest]
    share = f"{busiest:,} of {catalogue.authors.total():,} memberships"
    for said in (f"{len(catalogue.papers):,} papers", share):
        assert said in QUESTIONS, said
    missing = [line for line in shown(question_1(catalogue)[:2]) if line not in QUESTIONS]
    missing += [line for line in shown(question_2(catalogue)) if line not in QUESTIONS]
    assert not missing, "the README is to say:\n" + "\n".join(missing)


@pytest.mark.parametrize("command", re.findall(r"^keyplan (?:cost|check) .*$", QUESTIONS, re.MULTILINE))
def test_commands_in_the_open_questions_of_the_readme_succeed(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands run in the repository, and the README shows their output."""
    monkeypatch.chdir(ROOT)
    result = run(*command.split()[1:])
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    behind = QUESTIONS.partition(f"{command}\n```\n\n```text\n")[2]  # of a block's last command
    quoted = behind.partition("```")[0]
    for line in quoted.splitlines():
        assert " ".join(line.split()) in said, line


def test_open_questions_in_the_readme_are_shown_with_commands() -> None:
    assert len(re.findall(r"^keyplan (?:cost|check) ", QUESTIONS, re.MULTILINE)) >= 4
    assert (Path(keyplan_systems.papers.__file__).parent / "traffic.toml").is_file()
