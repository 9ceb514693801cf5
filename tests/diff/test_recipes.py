"""Each recipe of ``diff`` migrates items of the old design, so that the new design finds and changes them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import pytest
from pydantic import ValidationError

import keyplan
from keyplan import Append, Update
from keyplan.analysis.diff.changes import Change
from keyplan.analysis.diff.diff_report import difference
from keyplan.errors import ConditionFailed
from tests.diff.shop import compared, loaded
from tests.diff.test_changes import CASES

BEFORE = """
from datetime import datetime
from typing import Annotated, Literal
from pydantic import BaseModel, StringConstraints, computed_field
from keyplan import *

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
GSI2 = Index("GSI2", "team", "gsi2sk")


class Size(BaseModel):
    height: int = 1


class User(Entity):
    user_id: str
    size: Size = Size()
    name: str
    email: str
    team: str = "a"
    note: str | None = None
    words: set[str] = set()
    primary = Key("USER#{user_id}", "HEAD")
    by_name = Key("{name}", "{user_id}", index=GSI1)


class Shop(Design):
    table = Table("users", entities=[User], indexes=[GSI1, GSI2])
"""
FIELD = '    team: str = "a"\n'
BY_NAME = 'by_name = Key("{name}", "{user_id}", index=GSI1)'
READ = "\n    @read('R1')\n    def found(self, "
"""A read by what the change adds; its parameters' defaults are what it is called with."""

CHANGES: dict[str, tuple[dict[str, str], str]] = {
    "a key on a new field with a default": (
        {FIELD: FIELD + '    status: Literal["open", "closed"] = "open"\n',
         BY_NAME: 'by_status = Key("STATUS#{status}", "{user_id}", index=GSI1)'},
        READ + "status: Literal['open'] = 'open') -> list[User]: ...",
    ),
    "a new field with a default in the key of an index": (
        {FIELD: FIELD + '    stars: int = 5\n',
         BY_NAME: 'by_name = Key("{name}", "{stars:03d}#{user_id}", index=GSI1)'},
        READ + "name: str = 'n', stars: int = 5) -> list[User]: ...",
    ),
    "when= on a new field with a default": (
        {FIELD: FIELD + '    is_active: bool = True\n',
         BY_NAME: 'active = Key("ACTIVE#{name}", "{user_id}", index=GSI1, when={"is_active": True})'},
        READ + "name: str = 'n', is_active: Literal[True] = True) -> list[User]: ...",
    ),
    "a native key on an old field with a default": (
        {BY_NAME: 'by_team = Key("{team}", "{user_id}", index=GSI2)'},
        READ + "team: str = 'a') -> list[User]: ...",
    ),
    "a key on a moment that each read makes anew": (
        {FIELD: FIELD + '    made_at: datetime = Field(default_factory=now)\n',
         BY_NAME: 'by_name = Key("{name}", "{made_at}", index=GSI1)'},
        READ + "name: str = 'n') -> list[User]: ...",
    ),
    "a moment that each read makes anew": (
        {FIELD: FIELD + '    made_at: datetime = Field(default_factory=now)\n'},
        READ + "name: str = 'n') -> list[User]: ...",
    ),
    "a version, and a key": (
        {FIELD: FIELD + '    version: Version = 0\n', BY_NAME: 'by_team = Key("TEAM#{team}", "{user_id}", index=GSI1)'},
        READ + "team: str = 'a') -> list[User]: ...",
    ),
    "a key of key fields alone": (
        {BY_NAME: 'by_id = Key("ALL", "{user_id}", index=GSI1)'},
        READ + ") -> list[User]: ...",
    ),
    "a claim": (
        {BY_NAME: BY_NAME + '\n    email_claim = Unique("EMAIL#{email}")'},
        READ + "email: str = 'e') -> User | None: ...",
    ),
    "a claim on a value that each read makes anew": (
        {FIELD: FIELD + '    token: str = Field(default_factory=ulid)\n',
         BY_NAME: BY_NAME + '\n    claim = Unique("TOKEN#{token}")'},
        READ + "token: str = '') -> User | None: ...",
    ),
    "a key beside a claim": (
        {BY_NAME: 'by_id = Key("ALL", "{user_id}", index=GSI1)\n    email_claim = Unique("EMAIL#{email}")'},
        READ + ") -> list[User]: ...",
    ),
    "the code of a computed field": (
        {BY_NAME: 'by_key = Key("{key}", "{user_id}", index=GSI1)\n    @computed_field\n    @property\n'
                  '    def key(self) -> str:\n        return self.name.upper()'},
        READ + "key: str = 'N') -> list[User]: ...",
    ),
    "an alias within a model": (
        {'    height: int = 1': '    height: int = Field(default=1, alias="Height")', BY_NAME: ""},
        READ + "user_id: str = '1') -> User | None: ...",
    ),
    "another primary key": (
        {'"USER#{user_id}"': '"U#{user_id}"'},
        READ + "user_id: str = '1') -> User | None: ...",
    ),
    "another spelling": (
        {"name: str": "name: Annotated[str, StringConstraints(to_upper=True)]"},
        READ + "name: str = 'N') -> list[User]: ...",
    ),
    "another DynamoDB type": (
        {"set[str] = set()": "list[str] = []"},
        READ + "user_id: str = '1') -> User | None: ...",
    ),
    "another claim": (
        {BY_NAME: BY_NAME + '\n    email_claim = Unique("EMAIL#{email}")'},
        READ + "email: str = 'e') -> User | None: ...",
    ),
    "a discriminator": (
        {FIELD: FIELD + '    mark = Discriminator("type", "user")\n', BY_NAME: ""},
        READ + "user_id: str = '1') -> User | None: ...",
    ),
    "another attribute": (
        {"    name: str": '    name: str = Field(alias="Name")', BY_NAME: ""},
        READ + "user_id: str = '1') -> User | None: ...",
    ),
    "another attribute, which an index key contains": (
        {"    name: str": '    name: str = Field(alias="Name")'},
        READ.replace("'R1'", "'R1', where='name = :own', key=User.primary")
        + "user_id: str = '1', own: str = 'n') -> list[User]: ...",
    ),
    "a default instead of None": (
        {"note: str | None = None": 'note: str | None = "?"'},
        READ + "user_id: str = '1') -> User | None: ...",
    ),
    "a map with a default": (
        {FIELD: FIELD + "    counts: dict[str, int] = {}\n"},
        READ + "user_id: str = '1') -> User | None: ...",
    ),
    "another stored form": (
        {"name: str": 'name: Annotated[str, StoredAs("zlib")]', BY_NAME: ""},
        READ + "user_id: str = '1') -> User | None: ...",
    ),
}  # fmt: skip


def changed(replaced: dict[str, str], more: str) -> str:
    text = BEFORE
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    return text + more


@pytest.mark.parametrize("case", CHANGES)
def test_a_migration_recipe_changes_items_as_described(case: str) -> None:
    before = BEFORE
    if case == "the code of a computed field":
        before = changed(*CHANGES[case]).replace("self.name.upper()", "self.name").partition(READ)[0]
    if case == "another claim":
        before = changed(*CHANGES[case]).replace("EMAIL#", "MAIL#").partition(READ)[0]
    old_design, new_design = loaded(before), loaded(changed(*CHANGES[case]))
    entity: Any = new_design.compiled.by_name["User"].cls
    names = {name: getattr(keyplan, name) for name in keyplan.__all__}
    with old_design.open(":memory:") as old:
        old_entity: Any = old_design.compiled.by_name["User"].cls
        old.create(old_entity(user_id="1", name="n", email="e", words={"a"}, size={"height": 2}))
        old.create(old_entity(user_id="2", name="m", email="f", words={"a"}, size={"height": 2}))
        recipes = [
            change.action
            for change in difference(old_design.compiled, new_design.compiled).changes
            if "`" in change.action
        ]
        assert recipes
        new = new_design.open(old.store)
        for recipe in recipes:
            (code,) = re.findall(r"`(.+?)`", recipe)
            for user_id in ("1", "2"):
                reader = old if "old design" in recipe else new
                item = reader.get(old_entity if reader is old else entity, user_id=user_id)
                with suppress(*[ConditionFailed] * ("fails if the item already has it" in recipe)):
                    exec(code, {**names, "design": new, "new": new, "old": old, "User": entity, "item": item})
        read: Any = new_design.compiled.reads["found"]
        first: Any = new.get(entity, user_id="1")
        found: Any = new.call("found", {"token": first.token} if "token" in read.signature.by_name else {})
        users = found if isinstance(found, list) else [found]
        assert "1" in {user.user_id for user in users}
        read_again: list[Any] = [new.get(entity, user_id=user_id) for user_id in ("1", "2")]
        assert [user.size.height for user in read_again] == [2, 2]
        updated: Any = new.update(next(user for user in users if user.user_id == "1"), email="changed")
        assert new.get(entity, user_id="1") == updated
        assert updated.note is None
        assert new.update(updated, words=Append(["b"]) if "list" in str(type(updated.words)) else {"a"})
        if "counts" in entity.model_fields:
            new.update(Update(entity, user_id="2").at(lambda user: user.counts["a"]).add(1))


def test_a_migration_recipe_deletes_the_items_of_a_removed_entity() -> None:
    more = '\n\nclass Note(Entity):\n    note_id: str\n    primary = Key("NOTE#{note_id}", "N")\n'
    old_design = loaded(BEFORE.replace("\n\nclass Shop", more + "\n\nclass Shop").replace("[User]", "[User, Note]"))
    (change,) = difference(old_design.compiled, loaded(BEFORE).compiled).changes
    with old_design.open(":memory:") as old:
        note: Any = old_design.compiled.by_name["Note"].cls
        item = old.put(note(note_id="1"))
        exec(re.findall(r"`(.+?)`", change.action)[0], {"old": old, "item": item})
        assert old.get(note, note_id="1") is None


def test_a_migration_recipe_keeps_items_that_are_invalid_in_the_new_design() -> None:
    claimed = changed({BY_NAME: BY_NAME + '\n    email_claim = Unique("EMAIL#{email}")'}, "")
    old_design = loaded(claimed)
    new_design = loaded(claimed.replace("USER#", "MEMBER#").replace("note: str | None = None", "note: str"))
    (change,) = (
        change
        for change in difference(old_design.compiled, new_design.compiled).changes
        if change.code == "primary-key-changed"
    )
    with old_design.open(":memory:") as old:
        user: Any = old_design.compiled.by_name["User"].cls
        item = old.create(user(user_id="1", name="n", email="e"))
        named = {"old": old, "new": new_design.open(old.store), "User": new_design.compiled.by_name["User"].cls}
        with pytest.raises(ValidationError, match="note"):
            exec(re.findall(r"`(.+?)`", change.action)[0], {**named, "item": item})
        assert old.get(user, user_id="1") == item


def test_every_change_that_has_a_migration_recipe_is_tested() -> None:
    def with_recipe(changes: Iterable[Change]) -> set[str]:
        return {change.code for change in changes if "`" in change.action}

    executed = {"entity-removed", "computed-field-changed", "claim-changed"}
    for replaced, more in CHANGES.values():
        executed |= with_recipe(difference(loaded(BEFORE).compiled, loaded(changed(replaced, more)).compiled).changes)
    assert {code for old, new, _ in CASES for code in with_recipe(compared((old, new)).changes)} <= executed
