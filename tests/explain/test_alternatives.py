# mypy: disable-error-code="empty-body"
"""The explanation of a read lists every key of its entities, with the correct reason why the read uses it or not."""

from __future__ import annotations

import pytest

from keyplan import Design, Entity, Index, Key, Table, Unique, read
from keyplan.analysis.explain.explanation import explain, explain_all
from keyplan.model.compiled.plans import ScanPlan, ThroughPlan
from keyplan.model.compiled.return_types import ShapeKind
from tests.export.designs import NAMES, design
from tests.web.library import Library


def others(pattern: str, cls: type = Library) -> dict[str, str]:
    return {alternative.key: alternative.reason for alternative in explain(cls, pattern).others}


@pytest.mark.parametrize("name", NAMES)
def test_every_unused_key_is_listed_with_a_reason(name: str) -> None:
    compiled = design(name).compiled
    for explanation in explain_all(design(name)):
        if explanation.kind == "write":
            assert explanation.others == ()
            continue
        pattern = compiled.reads[explanation.pattern]
        if isinstance(pattern.plan, ScanPlan | ThroughPlan):
            continue
        result = {other.key for other in explanation.others}
        taken = {key for step in explanation.key.split(" → ") for key in step.split(", ")}
        claims = pattern.shape.kind is ShapeKind.ONE
        known = {
            f"{entity.name}.{key.name}"
            for entity in (compiled.entities[cls] for cls in pattern.shape.entities)
            for key in (*entity.keys, *(entity.claims if claims else ()))
        }
        assert not result & taken
        assert result | taken >= known
        assert all(other.reason for other in explanation.others)


def test_a_key_is_unsuitable_if_parameters_are_missing() -> None:
    assert others("book") == {
        "Book.by_shelf": "the partition key requires shelf",
        "Book.by_price": "the partition key requires kind",
    }


def test_a_key_is_unsuitable_if_its_sort_order_differs() -> None:
    result = others("trending_tags", design("Blog"))
    assert result["PostTag.by_name"] == "the key's order is tag, not rating_sk"


def test_keys_can_be_unused_due_to_consistency_or_because_another_key_is_used() -> None:
    everything = design("Everything")
    reasons = {alternative.reason for explained in explain_all(everything) for alternative in explained.others}
    assert "global indexes don't support strongly consistent reads" in reasons
    assert any(reason.startswith("the key also supports the pattern") for reason in reasons)


def test_the_explanation_of_a_scan_lists_no_alternative_keys() -> None:
    assert others("expensive") == {}
    assert "others" in explain(Library, "expensive").as_json()


BY_RANK, BY_STATE, SHARDED, BY_DUE, OF_JOB = (
    Index(name, f"{name.lower()}_pk", f"{name.lower()}_sk")
    for name in ("BY_RANK", "BY_STATE", "SHARDED", "BY_DUE", "OF_JOB")
)


class Job(Entity):
    """A job with several keys, each of which is unsuitable for some read for a different reason."""

    job_id: str
    team: str
    rank: int
    state: str = "new"
    due: str | None = None

    primary = Key("JOB#{job_id}", "HEAD")
    by_rank = Key("TEAM#{team}", "{rank:04d}#{job_id}", index=BY_RANK)
    by_state = Key("TEAM#{team}", "{state}#{rank:04d}#{job_id}", index=BY_STATE)
    sharded = Key("TEAM#{team}", "{rank:04d}#{job_id}", index=SHARDED, shards=3)
    by_due = Key("TEAM#{team}", "{rank:04d}#{due}", index=BY_DUE)
    of_job = Key("ONE#{job_id}", "{rank:04d}", index=OF_JOB)
    claim = Unique("JOB_CLAIM#{job_id}")


class Part(Entity):
    """A part that shares a partition with its job in one index, but not in the table."""

    part_id: str
    job_id: str

    primary = Key("PART#{part_id}", "HEAD")
    of_job = Key("ONE#{job_id}", "PART#{part_id}", index=OF_JOB)
    again = Key("ONE#{job_id}", "PART#{part_id}", index=BY_DUE)


class Step(Entity):
    """A step with the same sort order in the table and in an index."""

    job_id: str
    number: int

    primary = Key("STEPS#{job_id}", "{number:03d}")
    once_more = Key("STEPS#{job_id}", "{number:03d}", index=OF_JOB)


class Jobs(Design):
    table = Table("jobs", indexes=[BY_RANK, BY_STATE, SHARDED, BY_DUE, OF_JOB])

    @read("J1")
    def job(self, job_id: str) -> Job: ...

    @read("J2", order_by="rank")
    def ranked(self, team: str) -> list[Job]: ...

    @read("J3", order_by="rank", where={"state": "new"})
    def fresh(self, team: str) -> list[Job]: ...

    @read("J4")
    def whole(self, job_id: str) -> list[Job | Part]: ...

    @read("J5", order_by="rank")
    def of_job(self, job_id: str) -> list[Job]: ...

    @read("J6")
    def parts(self, job_id: str) -> list[Part]: ...

    @read("J7")
    def steps(self, job_id: str) -> list[Step]: ...


@pytest.mark.parametrize(
    ("pattern", "taken", "key", "reason"),
    [
        ("job", "Job.primary", "Job.by_rank", "the partition key requires team"),
        ("job", "Job.primary", "Job.of_job", "no parameter sets rank, so the key matches many items"),
        ("job", "Job.primary", "Job.claim", "the key also supports the pattern, with two reads (claim and item)"),
        ("ranked", "Job.by_rank", "Job.by_state", "the key's order is state and rank and job_id, not rank"),
        ("ranked", "Job.by_rank", "Job.sharded", "the key also supports the pattern, with 3 partitions instead of 1"),
        ("ranked", "Job.by_rank", "Job.by_due", "the key doesn't contain items whose due is None"),
        ("fresh", "Job.by_state", "Job.by_rank", "the key would need a filter on state"),
        (
            "whole",
            "Job.of_job, Part.of_job",
            "Job.primary",
            "the key also supports the pattern, but doesn't contain all entities of the result",
        ),
        ("of_job", "Job.of_job", "Job.primary", "the key's order is none, not rank"),
        ("parts", "Part.of_job", "Part.again", "the key also supports the pattern, but the chosen key is preferred"),
        ("steps", "Step.primary", "Step.once_more", "the key also supports the pattern, but the table is preferred"),
    ],
)
def test_every_reason_against_a_key_is_listed(pattern: str, taken: str, key: str, reason: str) -> None:
    assert explain(Jobs, pattern).key == taken
    assert others(pattern, Jobs)[key] == reason
