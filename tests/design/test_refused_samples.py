"""A field whose values wouldn't come back is found out by samples, whatever its name and what stands beside it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, BeforeValidator, PlainSerializer

from keyplan import Design, Entity, Field, Key, Table, Ttl
from keyplan.errors import DesignError

Shouted = Annotated[str, PlainSerializer(lambda value: f"{value}!")]


class Part(BaseModel):
    """Its texts are others when they are stored."""

    text: Shouted = "a"


REFUSED: dict[str, tuple[Any, str]] = {
    "a serializer": (Shouted, "read back as"),
    "within a list": (list[Shouted], "read back as"),
    "within a model": (Part, "read back as"),
    "or none": (Shouted | None, "read back as"),
}
BESIDE: dict[str, dict[str, Any]] = {
    "nothing": {},
    "what is needed": {"other": int, "when": datetime, "kind": Literal["a", "b"]},
    "what is needed by another name": {"other": (int, Field(alias="o"))},
    "what needn't be there": {"other": (int, 3), "expires": (Ttl | None, None)},
}


def _designed(kind: Any, beside: dict[str, Any], *, alias: str | None) -> type[Design]:
    members: dict[str, Any] = {"__module__": __name__, "primary": Key("ITEM#{name}", "HEAD")}
    members["__annotations__"] = {"name": str, "value": kind}
    if alias is not None:
        members["value"] = Field(alias=alias)
    for name, value in beside.items():
        annotation, *default = value if isinstance(value, tuple) else (value,)
        members["__annotations__"][name] = annotation
        members.update((name, each) for each in default)
    table = Table("items", entities=[type("Item", (Entity,), members)])
    return type("Items", (Design,), {"table": table, "__module__": __name__})


@pytest.mark.parametrize("alias", [None, "v"])
@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str, beside: str, alias: str | None) -> None:
    kind, words = REFUSED[name]
    with pytest.raises(DesignError) as caught:
        _designed(kind, BESIDE[beside], alias=alias)
    (fault,) = caught.value.faults
    assert fault.place == "Item.value"
    assert words in fault.message
    assert fault.hint is not None


@pytest.mark.parametrize("alias", [None, "v"])
@pytest.mark.parametrize("beside", BESIDE)
def test_what_comes_back_is_taken(beside: str, alias: str | None) -> None:
    kept = Annotated[str, PlainSerializer(lambda value: f"{value}!"), BeforeValidator(lambda value: value.rstrip("!"))]
    assert _designed(kept, BESIDE[beside], alias=alias).compiled.by_name["Item"]
