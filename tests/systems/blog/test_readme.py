"""The blog's README lists the patterns, items and indexes of the design, and its numbers are correct."""

from __future__ import annotations

import math
import re
from pathlib import Path

import keyplan_systems.blog
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import (
    COMBO_TAGS_MAX,
    COUNTER_SHARDS,
    COUNTER_SLOTS,
    FRONT_PAGE_REPLICAS,
    INDEXES,
    READER_SHARDS,
    STATUS_SHARDS,
)
from keyplan_systems.blog.posts import tag_combos
from keyplan_systems.blog.sample import DEMO_PASSWORD, DEMO_USERS

README = (Path(keyplan_systems.blog.__file__).parent / "README.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    return README.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def rows(heading: str) -> list[list[str]]:
    """Return the rows of the tables in a section, as lists of cells."""
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in section(heading).splitlines()
        if line.startswith("| ") and not line.startswith(("| id |", "| entity |", "| index |", "| place |"))
    ]


def test_the_readme_lists_each_pattern_with_its_parameters() -> None:
    listed = {}
    for row in [*rows("Read patterns"), *rows("Write patterns")]:
        match = re.match(r"`(\w+)\(([\w, ]*)\)`", row[1])
        assert match is not None, row
        listed[row[0]] = (match[1], [part for part in match[2].split(", ") if part])
    assert listed == {
        pattern.id: (name, [each.name for each in pattern.signature.parameters])
        for name, pattern in Blog.compiled.patterns.items()
    }


def test_keys_in_the_readme_equal_those_of_the_design() -> None:
    listed = {row[0]: (row[1], row[2]) for row in rows("Keys")}
    for entity in Blog.compiled.entities.values():
        templates = [re.sub(r"\{(\w+)[^}]*\}", r"<\1>", str(template)) for _, template in entity.primary.attributes]
        if entity.primary.shards > 1:
            templates[0] += "#<shard>"
        if entity.name == "PostTagCombo":
            templates[0] = "POST_TAG_COMBO#<tag>#<tag>…"
        assert listed.pop(entity.name) == (f"`{templates[0]}`", f"`{templates[1]}`")
    assert set(listed) == {"claim of a User", "claim of a Credential"}
    assert f"{len(Blog.compiled.entities)} entities" in README


def test_the_readme_lists_each_index_with_its_patterns() -> None:
    listed = {row[0]: row[2].split(", ") for row in rows("Indexes")}
    assert set(listed) == {index.name for index in INDEXES}
    served = {number for numbers in listed.values() for number in numbers}
    on_indexes = {
        pattern.id
        for pattern in Blog.compiled.reads.values()
        if getattr(getattr(pattern.plan, "junction", pattern.plan), "index", None) is not None
    }
    assert served == on_indexes


def test_numbers_in_the_readme_equal_those_of_the_design() -> None:
    text = section("Write sharding for viral posts")
    assert f"{COUNTER_SHARDS['post']} counter partitions, {COUNTER_SLOTS} items each" in text
    assert f"{READER_SHARDS} partitions by reader" in text
    assert f"{COUNTER_SHARDS['post'] * COUNTER_SLOTS} items of the counter" in text
    assert f"POSTS_BY_STATUS_RATING, {STATUS_SHARDS} shards" in text
    assert f"{FRONT_PAGE_REPLICAS} copies" in text
    assert f"the counter of a tag that all these posts have, {COUNTER_SHARDS['tag']} partitions" in text
    assert f"| {math.ceil(10_000 / COUNTER_SHARDS['post'])} | 31 % |" in text
    assert f"A post can have up to {COMBO_TAGS_MAX} tags: {len(tag_combos(tuple('abcde')))} combinations" in README


def test_the_readme_lists_the_demo_users_and_their_password() -> None:
    assert DEMO_PASSWORD in README
    assert all(f"`{username}@example.com`" in README for username, _, _ in DEMO_USERS)
