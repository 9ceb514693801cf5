"""Which arguments a question is lit with, where nobody gives any: those of the first item that finds several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from keyplan.studio.maps import question_path
from keyplan.studio.sampling import Sample
from keyplan.studio.subject import Subject
from tests.studio.school import Pupil, School

TRIES, FOUND_ENOUGH = 6, 2
"""How many items are tried for arguments, and how many found items are more than enough."""


def pupils_in_years(school: School, sizes: Sequence[int]) -> Sample:
    """So many pupils in each year, from year 11 on; a sample with all of them, year by year."""
    sample = Sample()
    for year, size in enumerate(sizes, 11):
        for number in range(size):
            pupil_id = f"y{year}-{number}"
            school.join(Pupil(pupil_id=pupil_id, name="P", email=f"{pupil_id}@example.org", year=year))
            key = {"pk": {"S": f"PUPIL#{pupil_id}"}, "sk": {"S": "#PUPIL"}}
            parameters = {"TableName": school.store.table_name, "Key": key}
            sample.items.append(school.store.transport.call("GetItem", parameters)["Item"])
    return sample


def year_lit(subject: Subject, sample: Sample) -> int:
    (step, *_) = question_path(subject, "pupils_of_year", None, sample).steps
    return int(step.items[0]["year"]["N"])


@pytest.mark.parametrize(
    ("sizes", "year"),
    [
        ((1, 1, 1), 11),
        ((1, 2, 2), 12),
        ((1, FOUND_ENOUGH, FOUND_ENOUGH + 1, FOUND_ENOUGH + 2), 13),
        ((1,) * (TRIES - 1) + (2,), 10 + TRIES),
        ((1,) * TRIES + (3,), 11),
    ],
)
def test_the_first_that_finds_enough_is_lit(
    school: School, subject: Subject, sizes: tuple[int, ...], year: int
) -> None:
    assert year_lit(subject, pupils_in_years(school, sizes)) == year


def test_elsewhere_one_is_asked_for(school: School, subject: Subject) -> None:
    assert year_lit(replace(subject, local=False), pupils_in_years(school, (1, 3))) == 11


def test_without_items_nothing_is_lit(subject: Subject) -> None:
    assert question_path(subject, "pupils_of_year", None, Sample()).steps == []
