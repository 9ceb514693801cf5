"""Concurrent writers of one paper, in processes and on every store, lose, duplicate or damage no item."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from keyplan_systems.papers import Papers
from keyplan_systems.papers.design import Author, Paper
from tests.systems.papers.support import assert_consistent
from tests.systems.support import STORES, in_processes, open_on

SHARED = [text for text in STORES if text != "memory"]
PROCESSES = 4
PROGRAM = """
import json, sys
from keyplan.errors import ItemExists, Refused
from keyplan_systems.papers import Papers
from keyplan_systems.papers.design import Paper
url, number = sys.argv[1], int(sys.argv[2])
done = []
def attempt(name, call):
    try:
        call()
        done.append(name)
    except (ItemExists, Refused):
        pass
with Papers.open(url, create=False) as papers:
    print("ready", flush=True)
    sys.stdin.readline()
    attempt("add", lambda: papers.add_paper(Paper(paper_id="new", title="N", collection="c"), {"jon": "author"}))
    for step in range(6):
        attempt("version", lambda: papers.new_version("p", "0.%d" % (10 * step + number + 1)))
        attempt("topics", lambda: papers.retopic("p", {"t%d" % number, "s%d" % step}))
    attempt("publish", lambda: papers.publish("p"))
    attempt("version", lambda: papers.new_version("p", "1.%d" % number))
    attempt("supersede", lambda: papers.supersede("q", "p"))
    print(json.dumps(done))
"""


@pytest.fixture(params=SHARED)
def papers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Papers]:
    with open_on(Papers, request.param, tmp_path) as opened:
        opened.add_author(Author(handle="jon", name="Jon"))
        for paper_id in ("p", "q"):
            paper = Paper(paper_id=paper_id, title="T", collection="c", version="0.0", topics={"t"})
            opened.add_paper(paper, {"jon": "author"})
        yield opened


def test_concurrent_writers_in_processes_keep_papers_consistent(papers: Papers) -> None:
    said = in_processes(PROGRAM, [[papers.store.url, str(number)] for number in range(PROCESSES)])
    done = [load for text in said for load in json.loads(text)]
    for once in ("add", "publish", "supersede"):
        assert done.count(once) == 1
    assert done.count("topics") == PROCESSES * 6
    paper = papers.paper("p")
    assert paper is not None
    assert paper.status == "published"
    assert paper.revision == 1 + done.count("version")
    versions = papers.paper_versions("p", limit=100).items
    names = [[int(part) for part in version.version.split(".")] for version in reversed(versions)]
    assert names == sorted(names)
    assert len(versions) == done.count("version")
    assert_consistent(papers)
