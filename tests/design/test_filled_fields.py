# mypy: disable-error-code="empty-body"
"""Which items have a field: the combinations of shares, what no share can be said of, and the values that follow."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, computed_field

from keyplan import Design, Entity, Index, Key, Table
from keyplan.analysis.traffic.field_shares import CHOSEN, EXACT_MAX, combinations, unshared
from keyplan.analysis.traffic.typical_items import Typical

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
GSI2 = Index("GSI2", "gsi2pk", "gsi2sk")
GSI3 = Index("GSI3", "gsi3pk", "gsi3sk")


class Parcel(Entity):
    parcel_id: str
    state: str = "new"
    size: str = "small"
    depot: str | None = None
    note: str = ""
    sender: str = Field(examples=["Ada", "Grace Hopper", "Joan"])

    primary = Key("PARCEL#{parcel_id}", "HEAD")
    moving = Key("MOVING", "{parcel_id}", index=GSI1, when={"state": "moving"})
    large = Key("LARGE", "{parcel_id}", index=GSI2, when={"size": ("large", "huge"), "state": ("lost", "moving")})
    by_initial = Key("INITIAL#{initial}", "{parcel_id}", index=GSI3)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def initial(self) -> str | None:
        """Of the sender."""
        return self.sender[:1] or None


class Parcels(Design):
    table = Table("parcels", indexes=[GSI1, GSI2, GSI3], entities=[Parcel])


ENTITY = Parcels.compiled.by_name["Parcel"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("size", None),
        ("depot", None),
        ("initial", "initial is computed: say it of what it is computed from"),
        ("state", "several keys hold items by different values of state: one share can't be of all"),
        ("note", "each Parcel has note: it isn't optional, and stands in no key's when="),
        ("parcel_id", "each Parcel has parcel_id: it isn't optional, and stands in no key's when="),
    ],
)
def test_of_what_a_share_can_be_said(name: str, why: str | None) -> None:
    assert unshared(ENTITY, name) == why


def places(shares: list[float]) -> list[tuple[tuple[str, str], float]]:
    return [(("Parcel", f"f{number}"), share) for number, share in enumerate(shares)]


def mean(made: list[tuple[float, Mapping[tuple[str, str], bool]]], place: tuple[str, str]) -> float:
    return math.fsum(weight for weight, filling in made if filling[place])


SHARES = st.sampled_from([0.0, 1.0]) | st.floats(0.01, 0.99)


@given(st.lists(SHARES, max_size=EXACT_MAX))
def test_of_few_fields_every_combination_has_its_weight(shares: list[float]) -> None:
    made = combinations(places(shares))
    assert len(made) == 2 ** sum(0 < share < 1 for share in shares)
    assert math.fsum(weight for weight, _ in made) == pytest.approx(1)
    assert len({tuple(filling.items()) for _, filling in made}) == len(made)
    for place, share in places(shares):
        assert mean(made, place) == pytest.approx(share)
    for weight, filling in made:
        factors = (share if filling[place] else 1 - share for place, share in places(shares))
        assert weight == pytest.approx(math.prod(factors))


@given(st.lists(st.floats(0.05, 0.95), min_size=EXACT_MAX + 1, max_size=EXACT_MAX + 4), st.lists(SHARES, max_size=2))
def test_of_many_fields_some_combinations_are_chosen_evenly(shares: list[float], more: list[float]) -> None:
    made = combinations(places([*shares, *(float(round(share)) for share in more)]))
    assert [weight for weight, _ in made] == [1 / CHOSEN] * CHOSEN
    for place, share in places([*shares, *(float(round(share)) for share in more)]):
        assert mean(made, place) == pytest.approx(share, abs=0 if share in {0, 1} else 1.5 / CHOSEN)


@pytest.mark.parametrize(
    ("filling", "expected"),
    [
        ({}, {"depot": True, "size": "small"}),
        ({"depot": False}, {"depot": False}),
        ({"depot": True, "size": True}, {"depot": True, "size": "large"}),
        ({"size": False}, {"size": "small"}),
    ],
)
def test_a_typical_item_has_what_it_is_filled_with(filling: dict[str, bool], expected: dict[str, Any]) -> None:
    made = Typical(Parcels.compiled, {}, {("Parcel", name): there for name, there in filling.items()})
    parcel: Any = made.instance(ENTITY)
    for name, value in expected.items():
        assert (getattr(parcel, name) is not None if isinstance(value, bool) else getattr(parcel, name)) == value


def test_examples_are_taken_by_turns() -> None:
    made = Typical(Parcels.compiled, {})
    senders = [made.instance(ENTITY, serial=serial).sender for serial in range(4)]  # type: ignore[attr-defined]
    assert senders == ["Ada", "Grace Hopper", "Joan", "Ada"]
