"""A stored value of any field type is read back equal in type and value, or the design or ``verify`` rejects the type.

The types are those in pydantic's documentation and combinations of them; the values are random.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import random
import re
import string
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, Optional, TypeVar
from uuid import UUID

import pydantic
import pytest
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    PlainSerializer,
    RootModel,
    Strict,
    TypeAdapter,
)
from pydantic import dataclasses as pydantic_dataclasses
from typing_extensions import TypeAliasType, TypedDict

from keyplan import Design, Entity, Key, Table, Ttl, Update
from keyplan.errors import ArgumentError, ConditionFailed, DesignError
from keyplan.testing import verify

T = TypeVar("T")


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"


class Rank(enum.IntEnum):
    LOW = 1
    HIGH = 20


class Share(enum.Enum):
    HALF = 0.5
    WHOLE = 1.0


class Day(enum.Enum):
    FIRST = date(2026, 1, 1)


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


class Point(NamedTuple):
    x: int
    y: float


@dataclasses.dataclass
class Parcel:
    grams: int
    seal: bytes
    due: timedelta


@pydantic_dataclasses.dataclass
class Checked:
    at: time
    parts: list[Decimal]


class Options(TypedDict, total=False):
    size: int
    weights: list[float]


class Address(BaseModel):
    street: str
    number: int | None = None
    seal: bytes = b""
    price: Decimal = Decimal(1)


class Opening(BaseModel):
    model_config = ConfigDict(extra="forbid")
    begins: time
    lasts: timedelta
    site: pydantic.HttpUrl | None = None

    @pydantic.computed_field  # type: ignore[prop-decorator]
    @property
    def seconds(self) -> float:
        return self.lasts.total_seconds()


class Joined(BaseModel):
    tags: list[str]

    @pydantic.field_validator("tags", mode="before")
    @classmethod
    def split(cls, value: Any) -> Any:
        return value.split(",") if isinstance(value, str) else value

    @pydantic.field_serializer("tags")
    def join(self, value: list[str]) -> str:
        return ",".join(value)


class Whole(BaseModel):
    low: int
    high: int

    @pydantic.model_validator(mode="before")
    @classmethod
    def split(cls, value: Any) -> Any:
        return dict(zip(("low", "high"), map(int, value.split("-")), strict=True)) if isinstance(value, str) else value

    @pydantic.model_serializer
    def join(self) -> str:
        return f"{self.low}-{self.high}"


class Named(BaseModel):
    inner: int = pydantic.Field(alias="innerName")


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    bark: float


class Box(BaseModel, Generic[T]):
    held: T


class Ints(RootModel[list[int]]):
    pass


class Spans(RootModel[dict[str, timedelta]]):
    pass


class Node(BaseModel):
    value: int
    children: list[Node] = []


class Text(str):
    __slots__ = ()


class Opaque:
    pass


Id = NewType("Id", int)
Marked = TypeAliasType("Marked", Annotated[int, pydantic.Field(ge=0)])
Tree = TypeAliasType("Tree", "dict[str, Tree] | list[Tree] | str | int | float | bool | None")
Cents = Annotated[
    Decimal,
    PlainSerializer(lambda value: int(value * 100)),
    BeforeValidator(lambda value: Decimal(value) / 100 if isinstance(value, int) else value),
]

SECONDS = (0, 1, 86_399, 1_000_000_000, 4_102_444_799)


def texts(seed: random.Random) -> str:
    return "".join(seed.choices(string.ascii_letters + "#$é漢😀 \n", k=seed.randint(0, 9)))


def moments(seed: random.Random) -> datetime:
    zone = seed.choice([UTC, timezone(timedelta(hours=5, minutes=30))])
    return datetime.fromtimestamp(seed.choice(SECONDS), zone).replace(microsecond=seed.choice([0, 1, 999_999, 120_000]))


def floats(seed: random.Random) -> float:
    return seed.choice([0.0, -1.5, 0.1 + 0.2, 1e-7, 1e22, 3.0, seed.uniform(-1e6, 1e6)])


def numbers(seed: random.Random) -> int:
    return seed.choice([0, 1, -1, 2**53 + 1, 10**30, seed.randint(-999, 999)])


def decimals(seed: random.Random) -> Decimal:
    return Decimal(numbers(seed)).scaleb(-seed.randint(0, 5))


def some(kind: Callable[[random.Random], Any], most: int = 3) -> Callable[[random.Random], list[Any]]:
    return lambda seed: [kind(seed) for _ in range(seed.randint(0, most))]


def json_values(seed: random.Random, depth: int = 3) -> Any:
    kind = seed.randrange(7 if depth else 5)
    match kind:
        case 5:
            return [json_values(seed, depth - 1) for _ in range(seed.randint(0, 3))]
        case 6:
            return {f"k{texts(seed)}": json_values(seed, depth - 1) for _ in range(seed.randint(0, 3))}
        case _:
            return [None, True, texts(seed), numbers(seed), floats(seed)][kind]


def spans(seed: random.Random) -> timedelta:
    return timedelta(days=seed.randint(-400, 400), seconds=seed.randint(0, 86399), microseconds=seed.choice([0, 1, 7]))


def times(seed: random.Random) -> time:
    return time(seed.randrange(24), seed.randrange(60), seed.randrange(60), seed.choice([0, 1, 500_000]))


def addresses(seed: random.Random) -> Address:
    return Address(street=texts(seed), number=seed.choice([None, 4]), seal=seed.randbytes(3), price=decimals(seed))


def openings(seed: random.Random) -> Opening:
    site = seed.choice([None, pydantic.HttpUrl("https://example.com/a?b=c")])
    return Opening(begins=times(seed), lasts=spans(seed), site=site)


Factory = Callable[[random.Random], Any]
COME_BACK: dict[str, tuple[Any, Factory]] = {
    "str": (str, texts),
    "int": (int, numbers),
    "float": (float, floats),
    "Decimal": (Decimal, decimals),
    "bool": (bool, lambda seed: seed.random() < 0.5),
    "bytes": (bytes, lambda seed: seed.randbytes(seed.randint(0, 5))),
    "datetime": (datetime, moments),
    "AwareDatetime": (pydantic.AwareDatetime, moments),
    "NaiveDatetime": (pydantic.NaiveDatetime, lambda seed: moments(seed).replace(tzinfo=None)),
    "date": (date, lambda seed: moments(seed).date()),
    "time": (time, times),
    "timedelta": (timedelta, spans),
    "UUID": (UUID, lambda seed: UUID(int=seed.getrandbits(128))),
    "Color": (Color, lambda seed: seed.choice(list(Color))),
    "Rank": (Rank, lambda seed: seed.choice(list(Rank))),
    "Share": (Share, lambda seed: seed.choice(list(Share))),
    "Rights": (Rights, lambda seed: seed.choice(list(Rights))),
    "Literal": (Literal["a", 1, True], lambda seed: seed.choice(["a", 1])),
    "IPv4Address": (IPv4Address, lambda seed: IPv4Address(seed.getrandbits(32))),
    "IPv6Address": (IPv6Address, lambda seed: IPv6Address(seed.getrandbits(128))),
    "IPv4Network": (IPv4Network, lambda seed: IPv4Network((seed.getrandbits(8) << 24, 8))),
    "IPv6Network": (IPv6Network, lambda seed: IPv6Network((seed.getrandbits(8) << 120, 8))),
    "IPv4Interface": (IPv4Interface, lambda seed: IPv4Interface((seed.getrandbits(32), 9))),
    "IPvAnyAddress": (pydantic.IPvAnyAddress, lambda seed: IPv6Address(seed.getrandbits(128))),
    "HttpUrl": (pydantic.HttpUrl, lambda seed: pydantic.HttpUrl(f"https://example.com/{seed.randint(0, 9)}?q=é")),
    "AnyUrl": (pydantic.AnyUrl, lambda seed: pydantic.AnyUrl(f"ftp://u:p@example.com/{seed.randint(0, 9)}")),
    "PostgresDsn": (pydantic.PostgresDsn, lambda _: pydantic.PostgresDsn("postgres://u@example.com/a")),
    "Path": (Path, lambda seed: Path("a") / str(seed.randint(0, 9))),
    "PurePosixPath": (PurePosixPath, lambda seed: PurePosixPath("a") / str(seed.randint(0, 9))),
    "Pattern": (re.Pattern[str], lambda _: re.compile("^a+b*$")),
    "ByteSize": (pydantic.ByteSize, lambda seed: pydantic.ByteSize(seed.randint(0, 9999))),
    "complex": (complex, lambda seed: complex(seed.randint(0, 9), 2.5)),
    "Fraction": (Fraction, lambda seed: Fraction(seed.randint(1, 9), 7)),
    "JsonValue": (pydantic.JsonValue, json_values),
    "Any": (Any, json_values),
    "dict[str, Any]": (dict[str, Any], lambda seed: {f"k{texts(seed)}": json_values(seed)}),
    "list[Any]": (list[Any], some(json_values)),
    "list": (list, some(json_values)),
    "Tree": (Tree, json_values),
    "set[str]": (set[str], lambda seed: set(some(texts)(seed))),
    "set[float]": (set[float], lambda seed: set(some(floats)(seed))),
    "set[datetime]": (set[datetime], lambda seed: set(some(moments)(seed))),
    "set[bool]": (set[bool], lambda seed: {seed.random() < 0.5}),
    "set[tuple]": (set[tuple[int, str]], lambda seed: {(numbers(seed), texts(seed))}),
    "set[frozenset]": (set[frozenset[int]], lambda seed: {frozenset(some(numbers)(seed))}),
    "set[timedelta]": (set[timedelta], lambda seed: set(some(spans)(seed))),
    "frozenset[Color]": (frozenset[Color], lambda _: frozenset(Color)),
    "tuple": (tuple[int, str, timedelta], lambda seed: (numbers(seed), texts(seed), spans(seed))),
    "tuple of any length": (tuple[Decimal, ...], lambda seed: tuple(some(decimals)(seed))),
    "deque": (deque[int], lambda seed: deque(some(numbers)(seed))),
    "Sequence": (Sequence[int], some(numbers)),
    "Mapping": (Mapping[str, float], lambda seed: {f"k{texts(seed)}": floats(seed)}),
    "OrderedDict": (collections.OrderedDict[str, int], lambda seed: collections.OrderedDict(b=1, a=numbers(seed))),
    "Counter": (collections.Counter[str], lambda _: collections.Counter("abca")),
    "dict[int, str]": (dict[int, str], lambda seed: {numbers(seed): texts(seed)}),
    "dict[date, int]": (dict[date, int], lambda seed: {moments(seed).date(): 1}),
    "dict[bool, int]": (dict[bool, int], lambda seed: {seed.random() < 0.5: 1}),
    "dict[float, int]": (dict[float, int], lambda seed: {floats(seed): 1}),
    "dict[Color, timedelta]": (dict[Color, timedelta], lambda seed: {Color.RED: spans(seed)}),
    "NamedTuple": (Point, lambda seed: Point(numbers(seed), floats(seed))),
    "dataclass": (Parcel, lambda seed: Parcel(numbers(seed), seed.randbytes(4), spans(seed))),
    "pydantic's dataclass": (Checked, lambda seed: Checked(times(seed), some(decimals)(seed))),
    "TypedDict": (Options, lambda seed: Options(size=numbers(seed), weights=some(floats)(seed))),
    "Address": (Address, addresses),
    "list[Address]": (list[Address], some(addresses)),
    "Opening": (Opening, openings),
    "dict[str, Opening]": (dict[str, Opening], lambda seed: {f"k{texts(seed)}": openings(seed)}),
    "field_serializer within": (Joined, lambda _: Joined(tags=["a", "b"])),
    "model_serializer within": (Whole, lambda seed: Whole(low=seed.randint(0, 9), high=10)),
    "alias within": (Named, lambda seed: Named(innerName=numbers(seed))),
    "extra within": (Open, lambda seed: Open.model_validate({"a": 1, "b": texts(seed), "c": [1, 2.5]})),
    "told by kind": (Annotated[Cat | Dog, Discriminator("kind")], lambda _: Dog(bark=2.5)),
    "undiscriminated": (list[Cat | Dog], lambda _: [Cat(lives=7), Dog(bark=2.5)]),
    "generic": (Box[timedelta], lambda seed: Box[timedelta](held=spans(seed))),
    "root": (Ints, lambda seed: Ints(some(numbers)(seed))),
    "root of spans": (Spans, lambda seed: Spans({"a": spans(seed)})),
    "recursive": (Node, lambda seed: Node(value=1, children=[Node(value=numbers(seed))])),
    "alias": (Marked, lambda seed: abs(numbers(seed))),
    "NewType": (Id, numbers),
    "Optional": (Optional[timedelta], lambda seed: seed.choice([None, spans(seed)])),  # noqa: UP045 - as older code has it
    "list[int | None]": (list[int | None], lambda _: [1, None]),
    "int | str": (int | str, lambda seed: seed.choice([numbers(seed), texts(seed)])),
    "int | float": (int | float, lambda seed: seed.choice([numbers(seed), 2.5])),
    "cents": (Cents, lambda seed: Decimal(seed.randint(-999, 999)) / 100),
    "strict datetime": (Annotated[datetime, Strict()], moments),
    "strict set": (Annotated[set[str], Strict()], lambda seed: {"a", texts(seed)}),
    "strict bytes": (pydantic.StrictBytes, lambda seed: seed.randbytes(4)),
    "strict span": (Annotated[timedelta, Strict()], spans),
}  # fmt: skip

REFUSED: dict[str, Any] = {
    "SecretStr": pydantic.SecretStr,
    "SecretBytes": pydantic.SecretBytes,
    "Secret": pydantic.Secret[date],
    "list[SecretStr]": list[pydantic.SecretStr],
    "Base64Bytes": pydantic.Base64Bytes,
    "Json": pydantic.Json[list[int]],
    "subclass of str": Text,
    "class of no type": Opaque,
    "callable": Callable[[], int],
}
FOUND_BY_VERIFY: dict[str, Any] = {
    "masked": Annotated[str, PlainSerializer(lambda _: "***")],
    "unreadable": Annotated[int, PlainSerializer(lambda value: f"<{value}>")],
    "seconds only": Annotated[datetime, PlainSerializer(lambda value: value.isoformat(timespec="seconds"))],
    "enum of days": Day,
    "datetime | str": datetime | str,
    "UUID | str": UUID | str,
    "bytes | str": bytes | str,
    "map by pairs": dict[tuple[int, int], str],
}


def design_of(annotation: Any, **config: Any) -> type[Design]:
    """Return a design of one entity with a field of the given type."""
    body = {
        "__annotations__": {"name": str, "value": annotation, "until": Ttl | None},
        "__module__": __name__,
        "until": None,
        "model_config": {"arbitrary_types_allowed": True, **config},
        "primary": Key("ITEM#{name}", "HEAD"),
    }
    item: Any = type("Item", (Entity,), body)
    return type("Items", (Design,), {"table": Table("items", entities=[item])})


@pytest.mark.parametrize("strict", [False, True], ids=["lax", "strict"])
@pytest.mark.parametrize("name", list(COME_BACK))
def test_values_of_each_field_type_round_trip(name: str, strict: bool) -> None:
    annotation, make = COME_BACK[name]
    if strict and name == "complex":
        pytest.skip("pydantic reads no text as a complex number")
    cls = design_of(annotation, strict=strict) if strict else design_of(annotation)
    entity: Any = next(iter(cls.compiled.entities))
    seed = random.Random(name)
    with cls.open(":memory:") as items:
        for number in range(25):
            given = entity(name=str(number), value=make(seed))
            written = items.put(given)
            result: Any = items.get(entity, name=str(number))
            assert result == given == written
            assert _shape(result.value) == _shape(given.value)
            again: Any = items.update(result, value=result.value, until=moments(seed))
            assert (again.value, _shape(again.value)) == (result.value, _shape(result.value))
            if result.value is not None:
                items.update(Update(result, value=make(seed)).only_if(value=given.value))
            with pytest.raises(ConditionFailed):
                items.update(Update(entity, name="missing").set(value=given.value).only_if(value=given.value))


def _shape(value: Any) -> Any:
    """Return the types of a value and its elements. Ints and floats have the same type, as in JSON."""
    if isinstance(value, bool):
        return bool
    if type(value) in {int, float}:
        return "number"
    if isinstance(value, Mapping):
        return type(value), {name: _shape(element) for name, element in value.items()}
    if isinstance(value, list | tuple | deque):
        return type(value), [_shape(element) for element in value]
    if isinstance(value, BaseModel):
        return type(value), {name: _shape(element) for name, element in value}
    return type(value)


@pytest.mark.parametrize("name", list(REFUSED))
def test_a_type_that_never_round_trips_is_rejected(name: str) -> None:
    with pytest.raises(DesignError) as caught:
        design_of(REFUSED[name])
    (fault,) = caught.value.errors
    assert fault.place == "Item.value"
    assert fault.hint


@pytest.mark.parametrize("name", list(FOUND_BY_VERIFY))
def test_verify_reports_fields_whose_values_do_not_round_trip(name: str) -> None:
    with pytest.raises(AssertionError, match="value"):
        verify(design_of(FOUND_BY_VERIFY[name]), stores=10)


@pytest.mark.parametrize(
    "value", [Decimal("2.5"), {1, 2}, b"a", (1, 2), {"a": datetime.now(UTC)}, float("nan"), Opaque()]
)
def test_a_value_of_type_any_that_would_change_is_rejected(value: Any) -> None:
    cls = design_of(Any)
    entity: Any = next(iter(cls.compiled.entities))
    with cls.open(":memory:") as items, pytest.raises(ArgumentError):
        items.put(entity(name="a", value=value))


class Loose(Entity):
    """An entity that keeps unknown attributes."""

    model_config = ConfigDict(extra="allow")
    name: str
    n: int = 0

    primary = Key("LOOSE#{name}", "HEAD")


class Looses(Design):
    table = Table("looses", entities=[Loose])


def test_unknown_attributes_are_kept_if_the_entity_allows_extra_fields() -> None:
    with Looses.open(":memory:") as looses:
        given = Loose(name="a", more=[1, {"b": 2.5}], said="x")  # type: ignore[call-arg]
        assert looses.put(given) == given == looses.get(Loose, name="a")
        after = looses.update(given, n=5)
        assert after.__pydantic_extra__ == given.__pydantic_extra__
        assert looses.get(Loose, name="a") == after
        wrong: Any
        for wrong in ({"pk": "x"}, {"more": (1, 2)}, {"more": timedelta(1)}):
            with pytest.raises(ArgumentError):
                looses.put(Loose(name="b", **wrong))


def test_an_entity_with_a_model_serializer_is_rejected() -> None:
    class Odd(Entity):
        name: str

        primary = Key("ODD#{name}", "HEAD")

        @pydantic.model_serializer
        def odd(self) -> dict[str, str]:
            return {}

    with pytest.raises(DesignError, match="stored field by field"):
        type("Odds", (Design,), {"table": Table("odds", entities=[Odd])})


def test_pydantic_field_serializers_are_applied_to_stored_values() -> None:
    class Tagged(Entity):
        name: str
        tags: list[str]

        primary = Key("TAGGED#{name}", "HEAD")

        @pydantic.field_validator("tags", mode="before")
        @classmethod
        def split(cls, value: Any) -> Any:
            return value.split(",") if isinstance(value, str) else value

        @pydantic.field_serializer("tags")
        def join(self, value: list[str]) -> str:
            return ",".join(value)

    cls: Any = type("Taggeds", (Design,), {"table": Table("taggeds", entities=[Tagged])})
    with cls.open(":memory:") as result:
        result.put(Tagged(name="a", tags=["x", "y"]))
        (item,) = result.store.transport.call("Scan", {"TableName": "taggeds"})["Items"]
        assert item["tags"] == {"S": "x,y"}
        assert result.get(Tagged, name="a") == Tagged(name="a", tags=["x", "y"])


def test_every_tested_field_type_is_valid_in_pydantic() -> None:
    for name, (annotation, make) in COME_BACK.items():
        config = None if _configured(annotation) else ConfigDict(arbitrary_types_allowed=True)
        TypeAdapter(annotation, config=config).validate_python(make(random.Random(name)))


def _configured(annotation: Any) -> bool:
    return any(hasattr(annotation, name) for name in ("model_config", "__dataclass_fields__", "__total__"))
