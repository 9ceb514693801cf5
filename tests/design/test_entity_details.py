"""What a compiled entity says of itself and of items, case by case: labels, keys on an index, which change writes a key
by itself, the largest item, names of other kinds, what isn't in its form.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Annotated, Any, Literal

import pytest
from pydantic import ConfigDict, Field, computed_field

from keyplan import Discriminator, Entity, IdempotencyTokens, Index, Key, Number, StoredAs, Ttl, Unique, Version, View
from keyplan.errors import ArgumentError, InvalidItemError, ItemTooLarge, RequestError
from keyplan.model.stored.stored_entity import CompiledEntity, error_details_of, reject_unknown
from keyplan.model.stored.stored_views import asking_for, seen_as, shrunk
from tests.design.items import compiled, slowly

BY_STATE, BY_SCORE = Index("BY_STATE", "spk", "ssk"), Index("BY_SCORE", "game", Number("score"))
BY_PAIR, BY_PLACE = Index("BY_PAIR", "ppk", Number("psk")), Index("BY_PLACE", "place", Number("bonus"))
BY_LEVEL = Index("BY_LEVEL", "level", "lsk")
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Play(Entity):
    play_id: str
    game: str = "chess"
    score: int = 0
    other: int = Field(default=1, alias="another")
    state: str = "new"
    place: str | None = None
    bonus: int | None = None
    seen: datetime = NOON
    until: Ttl | None = None
    version: Version = 1
    tokens: IdempotencyTokens = Field(default_factory=set)

    primary = Key("PLAY#{play_id}", "HEAD")
    named = Unique("GAME#{game}#{state}", "HEAD")
    new = Key("NEW", "{play_id}", index=BY_STATE, when={"state": "new"})
    old = Key("OLD", "{seen}", index=BY_STATE, when={"state": ["old", "older"]})
    by_score = Key("{game}", "{score}", index=BY_SCORE)
    by_pair = Key("PAIR#{game}", "{other}", index=BY_PAIR)
    by_place = Key("{place}", "{bonus}", index=BY_PLACE)


INDEXES = (BY_STATE, BY_SCORE, BY_PAIR, BY_PLACE)


@pytest.fixture(scope="module")
def play() -> CompiledEntity:
    return compiled(Play, *INDEXES)


def test_the_fields_that_have_a_task(play: CompiledEntity) -> None:
    names = [None if field is None else field.name for field in (play.version, play.tokens, play.ttl)]
    assert names == ["version", "tokens", "until"]
    assert (play.key_fields, play.slots) == (("play_id",), {})
    assert play.fixed_fields == {"play_id"}


def test_the_key_on_an_index(play: CompiledEntity) -> None:
    new, old = (play.to_item(Play(play_id="a", state=state)) for state in ("new", "old"))
    names = [getattr(play.key_on("BY_STATE", item), "name", None) for item in (new, old, {}, None)]
    assert names == ["new", "old", "new", "new"]
    assert getattr(play.key_on("BY_SCORE", {}), "name", None) == "by_score"
    assert play.key_on("NONE", new) is None
    assert [key.name for key in play.keys_on("BY_STATE")] == ["new", "old"]
    assert {key.name for key in play.siblings} == {"new", "old"}


def test_which_change_writes_a_key_by_itself(play: CompiledEntity) -> None:
    written = {
        (key.name, name) for key in (*play.keys, *play.claims) for name in play.fields if play.writes_itself(key, name)
    }
    assert written == {("by_score", "score")}


def labelled(**labels: str) -> CompiledEntity:
    named = {f"label_{attribute}": Discriminator(attribute, value) for attribute, value in labels.items()}
    parts = {"__annotations__": {"a": str}, "primary": Key("A#{a}", "HEAD"), "__module__": __name__, **named}
    return compiled(type("Labelled", (Entity,), parts))


def test_what_labels_tell_apart() -> None:
    kinds = [labelled(), labelled(t="a"), labelled(t="b"), labelled(u="a"), labelled(t="a", u="b")]
    told = [[each.is_told_from(other) for other in kinds] for each in kinds]
    assert told == [
        [False, False, False, False, False],
        [False, False, True, False, False],
        [False, True, False, False, True],
        [False, False, False, False, True],
        [False, False, True, True, False],
    ]
    item = labelled(t="a").to_item(labelled(t="a").cls(a="x"))  # type: ignore[call-arg]
    assert [each.matches(item) for each in kinds] == [True, True, False, False, False]
    assert [each.is_labelled(item) for each in kinds] == [True, True, False, False, False]


class Seen(View[Play]):
    play_id: str
    game: str


def test_a_view_is_of_the_same_entity(play: CompiledEntity) -> None:
    seen = seen_as(play, Seen)
    assert seen == play
    assert hash(seen) == hash(play)
    assert play != compiled(Play, *INDEXES)
    assert play != "Play"
    assert seen.asked == ("play_id", "game")
    assert play.asked is None
    more = asking_for(seen, "score")
    assert (more.asked, seen.asked) == (("play_id", "game", "score"), ("play_id", "game"))
    assert asking_for(seen, "game") is seen
    assert asking_for(play, "game") is play
    instance = Play(play_id="a")
    assert shrunk(instance, None) is instance
    assert shrunk(instance, Seen) == Seen.model_construct(play_id="a", game="chess")
    assert seen.gives is Seen


class Wide(Entity):
    wide_id: str
    body: str = ""
    more: str = ""

    primary = Key("W#{wide_id}", "HEAD")


def test_the_largest_item() -> None:
    entity = compiled(Wide)
    own = sum(len(name) + len(value["S"]) for name, value in entity.to_item(Wide(wide_id="a", more="m")).items())
    room = 409_600 - own
    assert len(entity.to_item(Wide(wide_id="a", body="x" * room, more="m"))["body"]["S"]) == room
    with pytest.raises(ItemTooLarge) as caught:
        entity.to_item(Wide(wide_id="a", body="x" * (room + 1), more="m"))
    assert caught.value.place == "Wide.body"
    assert "the item is 409,601 bytes; DynamoDB allows 409,600" in caught.value.message
    assert f"the largest attribute is body ({room + 1:,} bytes)" in str(caught.value.hint)


class Strict(Entity):
    """Its items are read as JSON, its fields under other names."""

    model_config = ConfigDict(strict=True, validate_by_name=False, validate_by_alias=True)

    strict_id: str = Field(alias="id")
    on: date = Field(alias="day")
    packed: Annotated[dict[str, int] | None, StoredAs("json")] = Field(default=None, alias="p")
    text: Annotated[str, StoredAs("gzip")] = Field(default="", alias="t")
    number: int = Field(default=0, alias="n")
    level: Literal["low", "high"] = "low"

    primary = Key("S#{strict_id}", "HEAD")
    by_level = Key("{level:rank}", "{strict_id}", index=BY_LEVEL)


def test_what_is_strict_is_read_as_json_under_its_names() -> None:
    entity = compiled(Strict, BY_LEVEL)
    assert entity.reads_by_json
    instance = Strict(id="a", day=date(2026, 1, 2), p={"a": 1}, n=3, t="a text", level="high")
    item = entity.to_item(instance)
    assert item["p"] == {"S": '{"a":1}'} or item["p"] == {"S": '{"a": 1}'}
    assert entity.from_item(item) == instance
    assert entity.checked(instance) == instance
    assert entity.checked(instance.model_copy(update={"number": 4})).number == 4  # type: ignore[attr-defined]
    with pytest.raises(ArgumentError) as caught:
        entity.checked(instance.model_copy(update={"number": "4"}))
    assert [fault.place for fault in caught.value.errors] == ["Strict.number"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"p": {"S": "{"}}, ["packed"]),
        ({"p": {"N": "1"}}, ["packed"]),
        ({"p": {"S": '{"a": "x"}'}}, ["packed.a"]),
        ({"p": {"S": "[1]"}}, ["packed"]),
        ({"t": {"S": "x"}}, ["text"]),
        ({"t": {"B": "eHg="}}, ["text"]),
        ({"n": {"S": "x"}}, ["number"]),
        ({"day": {"S": "never"}}, ["on"]),
    ],
)
def test_what_is_not_in_its_form_is_told(changes: dict[str, Any], said: list[str]) -> None:
    entity = compiled(Strict, BY_LEVEL)
    item = {**entity.to_item(Strict(id="a", day=date(2026, 1, 2), p={"a": 1})), **changes}
    with pytest.raises(InvalidItemError) as caught:
        entity.from_item(item)
    places = [fault.place.removeprefix("Strict.") for fault in caught.value.errors]
    assert set(said) <= set(places)
    assert caught.value.place == "Strict(pk=S#a, sk=HEAD)"


def test_faults_say_what_is_missing_and_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="3 validation errors") as caught:
        Play.model_validate({"score": "x", "tokens": [[1]], "seen": NOON})
    texts = [str(fault) for fault in error_details_of(caught.value, "Play")]  # type: ignore[arg-type]
    assert texts[0] == "Play.play_id: field required"
    assert texts[1].startswith("Play.score: input should be a valid integer")
    assert texts[1].endswith("; given: 'x'")
    assert texts[2].startswith("Play.tokens[0]: ")


class Zoned(Entity):
    zoned_id: str
    at: datetime
    number: int = 0

    primary = Key("Z#{zoned_id}", "HEAD")
    by_day = Key("DAY#{day}", "{zoned_id}", index=BY_STATE)

    @computed_field
    def day(self) -> str:
        return self.at.date().isoformat()


def test_what_is_computed_of_a_moment_is_so_in_utc() -> None:
    entity = compiled(Zoned, BY_STATE)
    late = datetime(2026, 1, 2, 0, 30, tzinfo=timezone(timedelta(hours=2)))
    instance = Zoned(zoned_id="a", at=late)
    assert entity.to_item(instance)["spk"] == {"S": "DAY#2026-01-01"}
    assert instance.at is late
    assert entity.field_values(instance)["day"] == "2026-01-01"


class Others(Entity):
    model_config = ConfigDict(extra="allow")

    others_id: str
    state: str | None = None

    primary = Key("O#{others_id}", "HEAD")
    by_state = Key("STATE#{state}", "{others_id}", index=BY_STATE)


@pytest.mark.parametrize("read", ["quickly", "slowly"])
def test_what_only_a_key_says_is_read_of_it(read: str) -> None:
    entity = compiled(Others, BY_STATE)
    item = {**entity.to_item(Others(others_id="a", state="new", note="x"))}  # type: ignore[call-arg]
    reader = entity.from_item if read == "quickly" else (lambda item: slowly(entity, item))
    assert reader(item) == Others(others_id="a", state="new", note="x")  # type: ignore[call-arg]
    del item["state"]
    assert reader(item) == Others(others_id="a", state="new", note="x")  # type: ignore[call-arg]
    del item["spk"], item["ssk"]
    assert reader(item) == Others(others_id="a", note="x")  # type: ignore[call-arg]
    with pytest.raises(ArgumentError, match="holds a key"):
        entity.to_item(Others(others_id="a", pk="x"))  # type: ignore[call-arg]


def test_names_that_there_are_none_of() -> None:

    reject_unknown(Wide, {"a": 1, "b": 2}, {"a": 1})
    with pytest.raises(RequestError) as caught:
        reject_unknown(Wide, {"a": 1, "b": 2}, {"c": 1, "a": 1, "d": 1})
    assert (caught.value.message, caught.value.hint) == ("Wide has no field 'c', 'd'", "its fields are a, b")
