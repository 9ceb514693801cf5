"""Invariants of stored items, for tests of the catalogue."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from keyplan_systems.papers import Papers
from tests.systems.support import stored


def plain_items(papers: Papers) -> list[dict[str, Any]]:
    """Return every item with plain Python values."""
    return [{name: next(iter(value.values())) for name, value in item.items()} for item in stored(papers)]


def assert_consistent(papers: Papers) -> None:
    """Check that topics, dates, versions and expiration times in the partition of each paper match the paper."""
    parts: dict[str, list[dict[str, Any]]] = defaultdict(list)
    handles: set[str] = set()
    collections: set[str] = set()
    for item in plain_items(papers):
        if item["PK"].startswith("PAPER#"):
            parts[item["paper_id"]].append(item)
        elif item["PK"] == "COLLECTIONS":
            collections.add(item["collection"])
        elif item["SK"].startswith("AUTHOR#"):
            handles.add(item["handle"])
    for paper_id, items in parts.items():
        (paper,) = [item for item in items if item["SK"].startswith("PAPER#")]
        members = [item for item in items if item["SK"].startswith("AUTHOR#")]
        topics = [item for item in items if item["SK"].startswith("TOPIC#")]
        assert ("GSI3PK" in paper) == (paper["status"] == "published")
        versions = [item for item in items if item["SK"].startswith("VERSION#")]
        superseded = paper["status"] == "superseded"
        assert {item["topic"] for item in topics} == (set() if superseded else set(paper.get("topics", ())))
        assert {item.get("published_at") for item in (*members, *topics)} <= {paper.get("published_at")}, paper_id
        assert {item.get("expires_at") for item in members} <= {paper.get("expires_at")}
        assert [int(item["revision"]) for item in versions] == list(range(1, int(paper["revision"])))
        assert ("GSI1PK" in paper) == ("published_at" in paper)
        assert all(("GSI1PK" in item) == ("published_at" in paper) for item in members)
        assert all(("expires_at" in item) == (item["was"] == "draft") for item in versions)
        assert {item["handle"] for item in members} <= handles
        assert sorted(int(item["position"]) for item in members) == list(range(1, len(members) + 1))
        assert paper["status"] != "published" or paper["collection"] in collections
        assert superseded == ("superseded_by" in paper)
