# mypy: disable-error-code="empty-body"
"""Arguments of ``Prefix`` parameters are strings, and other values are rejected."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan import Design, Entity, Key, Prefix, Table, read
from keyplan.errors import ArgumentError


@pytest.mark.parametrize("prefix", ["a", "", 5])
def test_a_prefix_argument_must_be_a_string(prefix: Any) -> None:
    class Named(Entity):
        shelf: str
        name: str

        primary = Key("SHELF#{shelf}", "{name}")

    class Names(Design):
        table = Table("names", entities=[Named])

        @read("R1")
        def beginning(self, shelf: str, name: Prefix) -> list[Named]: ...

    signature = Names.compiled.reads["beginning"].signature
    if isinstance(prefix, str):
        assert signature.bind(["a", prefix], {}) == {"shelf": "a", "name": prefix}
    else:
        with pytest.raises(ArgumentError, match="name: input should be a valid string; given: 5"):
            signature.bind(["a", prefix], {})
