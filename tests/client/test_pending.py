"""A value that only the store knows: whatever is done with it is noticed, also by code that can't raise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from keyplan.client.write_attempts import Pending, Touched

USES: dict[str, Callable[[Any], object]] = {
    "an attribute": lambda value: value.name,
    "comparison": lambda value: value == 1,
    "truth": bool,
    "text": str,
    "iteration": list,
    "an item": lambda value: value["a"],
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_what_is_done_with_it_ends_there(use: Callable[[Any], object]) -> None:
    pending = Pending()
    with pytest.raises(Touched):
        use(pending.hand_out())
    assert pending.touched


def test_keeping_it_is_no_use_of_it() -> None:
    pending = Pending()
    kept = [pending.hand_out()]
    assert pending.kept
    assert not pending.touched
    kept.clear()
    assert not pending.kept


def test_validators_notice_it_without_a_word_on_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """They ask for its class where an exception could only be printed."""

    class Holder(BaseModel):
        values: Mapping[str, str]

    said: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    pending = Pending()
    value = pending.hand_out()
    assert not isinstance(value, Mapping)
    with pytest.raises((Touched, ValidationError)):
        Holder(values=value)
    with pytest.raises((Touched, ValidationError)):
        Holder.model_validate(value)
    assert pending.touched
    assert said == []
