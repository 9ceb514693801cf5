# mypy: disable-error-code="empty-body"
"""Names that Python, pydantic or Keyplan use are accepted as names of fields, keys, entities, patterns and parameters,
or rejected with an error at the name.
"""

from __future__ import annotations

import asyncio
import builtins
import keyword
import warnings
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from pydantic import AliasChoices, BaseModel

from keyplan import (
    Create,
    Cursor,
    Design,
    Entity,
    Field,
    Index,
    Key,
    Number,
    Page,
    Table,
    Through,
    Ttl,
    Unique,
    Update,
    Writes,
    read,
    write,
)
from keyplan.analysis.check import check
from keyplan.analysis.cost.estimate import estimate
from keyplan.analysis.explain.explanation import explain_all
from keyplan.dynamodb.expressions import RESERVED_WORDS
from keyplan.errors import DesignError
from keyplan.testing import verify
from keyplan.web import app
from tests.design.refused import told
from tests.web.support import TestClient

OURS = """
    p0 s0 w0 u0 e0 k0 pk sk gsi1pk gsi1sk claim owner claim_of limit cursor cls name value values key keys entity item
    items result args kwargs arguments table silence primary index store compiled aio asked target action instance
    function pattern runner condition text prefix shard each source size_bytes extra strict mode open secret create
    strategy model consistent type schema fields config default alias loc ctx input number at day status data json id
    x_ a__b é größe _private _store _answers _verbs
"""
ROOMS = frozenset(OURS.split())
NAMES = sorted(
    name
    for name in {
        *OURS.split(), *keyword.softkwlist, *dir(BaseModel), *dir(Entity), *dir(Design), *dir(dict), *dir(tuple),
        *dir(str), *(text for text in dir(builtins) if text.islower()),
        *sorted(text.lower() for text in RESERVED_WORDS)[::12],
    }
    if name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")
)  # fmt: skip
GSI = Index("GSI1", "gsi1pk", "gsi1sk")
PAGE: Any = Page
WRITES: Any = Writes


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Suppress pydantic's warnings about fields that hide its deprecated methods, since the names are allowed."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Field name .* shadows an attribute")
        yield


def functions(code: str, **scope: Any) -> dict[str, Any]:
    """Run source code, and return its namespace. ``scope`` contains names that the code can use."""
    result: dict[str, Any] = {"Create": Create, "Update": Update, **scope}
    exec(code, result)
    return result


def thing(**body: Any) -> type[Any]:
    annotations = {"owner": str, "number": int, **body.pop("annotations", {})}
    body = {"number": 0, "primary": Key("OWNER#{owner}", "HEAD"), **body}
    return type("Thing", (Entity,), {"__annotations__": annotations, "__module__": __name__, **body})


def design(**patterns: Any) -> type[Design]:
    return type("D", (Design,), {"table": Table("names", indexes=[GSI]), **patterns})


def every_room(cls: type[Design], name: str) -> None:
    """Run explain, check and cost on a design, but only for names that Keyplan itself uses."""
    if name in ROOMS:
        explain_all(cls)
        check(cls)
        estimate(cls)


def field_called(name: str) -> None:
    if name in {"limit", "cursor", "owner", "number"}:
        return
    entity = thing(
        annotations={name: str},
        primary=Key("OWNER#{owner}", f"N#{{{name}}}"),
        by_it=Key(f"IT#{{{name}}}", "{owner}", index=GSI),
        claim=Unique(f"U#{{{name}}}"),
    )
    made = functions(
        f"def one(self, owner, {name}): ...\n"
        f"def many(self, {name}, limit=3, cursor=None): ...\n"
        "def filtered(self, number): ...\n"
        "def make(self, thing):\n    yield Create(thing)\n    return thing\n"
        f"def change(self, thing):\n    yield Update(thing).set(number=3).only_if({name}=thing.{name})\n"
    )
    made["one"].__annotations__ = {"owner": str, name: str, "return": entity | None}
    made["many"].__annotations__ = {name: str, "limit": int, "cursor": Cursor | None, "return": PAGE[entity]}
    made["filtered"].__annotations__ = {"number": int, "return": list[entity]}  # type: ignore[valid-type]
    made["make"].__annotations__ = {"thing": entity, "return": WRITES[entity]}
    made["change"].__annotations__ = {"thing": entity, "return": Writes}
    cls = design(
        one=read("R1")(made["one"]),
        many=read("R2")(made["many"]),
        filtered=read("R3", scan=True, where="number >= :number")(made["filtered"]),
        make=write("W1")(made["make"]),
        change=write("W2")(made["change"]),
    )
    with cls.open(":memory:") as store:
        item = entity(**{"owner": "o", name: "v", "number": 1})
        store.call("make", {"thing": item.model_dump(mode="json")})
        assert store.call("one", {"owner": "o", name: "v"}) == item
        assert list(store.call("many", {name: "v"})) == [item]
        assert store.call("filtered", {"number": 1}) == [item]
        change: Any = store.change  # type: ignore[attr-defined]
        change(item)
        named: dict[str, Any] = {"owner": "o", name: "v"}
        after: Any = store.get(entity, **named)
        assert after.number == 3
        store.update(after, number=4)
    every_room(cls, name)


def key_called(name: str) -> None:
    if name in {"owner", "number"}:
        return
    entity = _with_key(name)
    cls = design(one=read("R1")(_one(entity)))
    with cls.open(":memory:") as store:
        item = store.put(entity(owner="o"))
        assert store.call("one", {"owner": "o"}) == item
    every_room(cls, name)


def _with_key(name: str) -> type[Any]:
    body: dict[str, Any] = {"__annotations__": {"owner": str, "number": int}, "number": 0, "__module__": __name__}
    return type("Thing", (Entity,), {**body, name: Key("OWNER#{owner}", "HEAD")})


def _one(entity: type[Any]) -> Any:
    value = functions("def one(self, owner): ...")["one"]
    value.__annotations__ = {"owner": str, "return": entity | None}
    return value


def pattern_called(name: str) -> None:
    entity = thing()
    value = functions(f"def {name}(self, owner): ...")[name]
    value.__annotations__ = {"owner": str, "return": entity | None}
    cls = design(**{name: read("R1")(value)})
    with cls.open(":memory:") as store:
        item = store.put(entity(owner="o"))
        assert getattr(store, name)("o") == item == store.call(name, {"owner": "o"})
        assert asyncio.run(getattr(store, name).aio("o")) == item
        store.delete(store.update(item, number=1))
    every_room(cls, name)
    make = functions(f"def {name}(self, thing):\n    yield Create(thing)")[name]
    make.__annotations__ = {"thing": entity, "return": Writes}
    cls = design(**{name: write("W1")(make)})
    with cls.open(":memory:") as store:
        getattr(store, name)(entity(owner="o"))
        assert store.get(entity, owner="o") is not None
    every_room(cls, name)


def parameter_called(name: str) -> None:
    if name in {"self", "limit", "cursor"}:
        return
    entity = thing(primary=Key("OWNER#{owner}", "N#{number:04d}"))
    made = functions(
        f"def least(self, {name}): ...\ndef make(self, {name}):\n    yield Create({name})\n    return {name}"
    )
    made["least"].__annotations__ = {name: int, "return": list[entity]}  # type: ignore[valid-type]
    made["make"].__annotations__ = {name: entity, "return": WRITES[entity]}
    cls = design(least=read("R1", scan=True, where=f"number >= :{name}")(made["least"]), make=write("W1")(made["make"]))
    with cls.open(":memory:") as store:
        item = entity(owner="o", number=3)
        opened: Any = store
        opened.make(**{name: item})
        assert opened.least(**{name: 3}) == opened.least(3) == store.call("least", {name: 3}) == [item]
    every_room(cls, name)


def entity_called(name: str) -> None:
    body = {"owner": str, "number": int}
    entity: Any = type(name, (Entity,), {"__annotations__": body, "number": 0, "__module__": __name__,
                                         "primary": Key("OWNER#{owner}", "HEAD")})  # fmt: skip
    cls = design(one=read("R1")(_one(entity)))
    with cls.open(":memory:") as store:
        assert store.put(entity(owner="o")) == store.call("one", {"owner": "o"})
    every_room(cls, name)


@pytest.mark.parametrize(
    "use",
    [
        field_called,
        *(
            pytest.param(use, marks=pytest.mark.nightly)
            for use in (key_called, pattern_called, parameter_called, entity_called)
        ),
    ],
)
def test_every_reserved_name_works_or_is_rejected_with_an_error_at_that_name(use: Any) -> None:
    refused = {name: error for name in NAMES if (error := refusal_of(use, name)) is not None}
    for name, error in refused.items():
        assert error.errors or name == "table", error
        assert all(name in str(fault) or "Thing" in str(fault) for fault in error.errors), error
    assert len(refused) < 0.15 * len(NAMES), [*refused]
    assert use is not entity_called or not refused


def refusal_of(use: Any, name: str) -> DesignError | None:
    """Return the error that rejects a name, or None if the name is accepted."""
    if name == "model_config":
        return None  # pydantic rejects it when the entity class is created
    try:
        use(name)
    except DesignError as error:
        return error
    return None


def test_the_rest_api_serves_patterns_and_parameters_with_any_name() -> None:
    entity = thing()
    patterns: dict[str, Any] = {}
    for number, name in enumerate(NAMES):
        if (
            hasattr(Design, name)
            or name.startswith("_")
            or name in {"aio", "compiled", "table", "limit", "cursor", "self"}
        ):
            continue
        function = functions(f"def {name}(self, {name}): ...")[name]
        function.__annotations__ = {name: int, "return": list[entity]}  # type: ignore[valid-type]
        if not name.isascii():
            continue
        patterns[name] = read(f"R{number}", scan=True, where=f"number >= :{name}")(function)
    cls = design(**patterns)
    with cls.open(":memory:") as store:
        store.put(entity(owner="o", number=3))
        with TestClient(app(store), base_url="http://127.0.0.1") as client:
            for name in patterns:
                answer = client.get(f"/api/{name}", params={name: "3"})
                assert answer.status_code == 200, (name, answer.text)
                assert len(answer.json()) == 1, (name, answer.text)


class Same(Entity):
    same_id: str
    primary = Key("SAME#{same_id}", "HEAD")


Other: type[Any] = type("Same", (Entity,), {"__annotations__": {"other_id": str}, "__module__": "elsewhere",
                                            "primary": Key("OTHER#{other_id}", "HEAD")})  # fmt: skip


class Twice(Entity):
    twice_id: str
    first: str = Field(alias="x", default="")
    x_: str = Field(alias="x", default="")
    primary = Key("TWICE#{twice_id}", "HEAD")


class Crossed(Entity):
    id: str = Field(alias="ID")
    other: str = Field(alias="id", default="")
    third: str = Field(validation_alias=AliasChoices("tre", "other"), default="")
    primary = Key("CROSSED#{id}", "HEAD")


class Typed(Entity):
    typed_id: str
    year: str
    ends: Ttl | None = Field(None, alias="by")
    begins: datetime | None = None
    primary = Key("TYPED#{typed_id}", "HEAD")


class Part(BaseModel):
    n: int


class Nested(Entity):
    nested_id: str
    year: Part
    primary = Key("NESTED#{nested_id}", "HEAD")


def test_duplicate_names_and_conflicting_key_types_are_rejected() -> None:
    by_year = Index("YEARS", Number("year"), "by")
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("same", indexes=[by_year], entities=[Same, Other, Twice, Crossed, Typed, Nested])

    told(error, "Same: two entities have the same name: .*Same and elsewhere.Same", "rename")
    told(error, r"Twice.x_: first is also stored in x", "aliases")
    told(error, r"Crossed.other: the alias id is also a field name: Crossed\(id=...\) would be ambiguous", "rename")
    told(error, r"Crossed.third: the alias other is also a field name", "rename")
    told(error, r"Typed.year: .*key attribute of type N, but str is stored as S", "alias")
    told(error, r"Typed.ends: .*key attribute of type S", "stored as N")
    told(error, r"Nested.year: .*key attribute of type N, but Part is stored as M", "alias")


def test_fields_can_have_the_names_of_method_parameters() -> None:
    assert Through(Same, entity="entity", self="self").fields == {"entity": "entity", "self": "self"}
    assert Update(Same, same_id="1").set(self=1).changes == {"self": 1}


class Sure(Entity):
    consistent: str
    entity: str
    primary = Key("SURE#{consistent}", "{entity}")


class Surely(Design):
    table = Table("sure", entities=[Sure])


def test_crud_methods_accept_key_fields_named_like_their_options() -> None:
    with Surely.open(":memory:") as surely:
        item = surely.put(Sure(consistent="a", entity="b"))
        key: dict[str, Any] = {"consistent": "a", "entity": "b"}
        assert surely.get(Sure, **key) == item
        surely.delete(Sure, **key)
    verify(Surely, stores=3, seed=1)
