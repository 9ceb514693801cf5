"""Fields declared with Field(repr=False) are masked in responses and exports of the studio, and an import doesn't
change them.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from keyplan import Design, Entity, Field, Key, Put, Table, Update, Writes, read, write
from keyplan.studio.actions import Studio, run
from keyplan.studio.exported import page_file, svg_file
from keyplan.studio.subject import of_design

SECRET = "tr0ub4dor"


class Account(Entity):
    """An account with a password hash."""

    name: str
    hash: str = Field(repr=False)
    city: str = ""

    primary = Key("ACCOUNT#{name}", "#")


class Accounts(Design):
    """A design of accounts."""

    table = Table("accounts")

    @read("A1")
    def account(self, name: str) -> Account: ...

    @write("A2")
    def move(self, name: str, city: str) -> Writes:
        account = yield from self.account.read(name)
        yield Update(account, city=city).only_if(hash=account.hash)


@pytest.fixture
def accounts() -> Iterator[Accounts]:
    with Accounts.open(":memory:", secret="s") as opened:
        opened.put(Account(name="ada", hash=SECRET, city="Rome"))
        yield opened


KEY = {"pk": {"S": "ACCOUNT#ada"}, "sk": {"S": "#"}}
ADA = {"name": "ada"}
CHANGE = {"do": "change", "key": KEY, "fields": {"city": "Oslo"}, "was": {"city": "Rome"}}


@pytest.mark.parametrize(
    ("action", "given"),
    [
        ("map", {}),
        ("map", {"question": "account", "arguments": ADA}),
        ("run", {"question": "account", "arguments": ADA}),
        ("run", {"question": "move", "arguments": {**ADA, "city": "Oslo"}}),
        ("run", {"question": "move", "arguments": {**ADA, "city": "Oslo"}, "send": True}),
        ("data", {}),
        ("data", {"entity": "Account"}),
        ("take", {"entity": "Account", "form": "jsonl"}),
        ("take", {"entity": "Account", "form": "csv"}),
        ("take", {"form": "jsonl"}),
        ("take", {"form": "csv"}),
        ("edit", {"edits": [CHANGE]}),
        ("edit", {"edits": [{"do": "delete", "key": KEY}], "save": True}),
    ],
)
def test_no_studio_response_contains_masked_fields(accounts: Accounts, action: str, given: dict[str, Any]) -> None:
    studio = Studio(of_design(accounts))
    answer = run(studio, action, given)
    assert SECRET not in json.dumps(answer)
    for name in list(studio.seen):
        assert SECRET not in json.dumps(run(studio, "item", {"item": name})) or action == "edit"


def test_no_export_and_no_repr_contains_masked_fields(accounts: Accounts) -> None:
    subject = of_design(accounts)
    account = accounts.account("ada")
    assert SECRET not in svg_file(subject) + page_file(subject)
    assert SECRET not in f"{account!r} {Put(account)!r} {Update(account, city='Oslo')!r}"


@pytest.mark.parametrize(("form", "entity"), [("jsonl", "Account"), ("csv", "Account"), ("jsonl", None)])
def test_importing_an_export_keeps_masked_fields(accounts: Accounts, form: str, entity: str | None) -> None:
    studio = Studio(of_design(accounts))
    text = run(studio, "take", {"form": form, "entity": entity})["text"]
    assert run(studio, "bring", {"form": form, "entity": entity, "text": text})["edits"] == []
    (edit,) = run(studio, "bring", {"form": form, "entity": entity, "text": text.replace("Rome", "Oslo")})["edits"]
    run(studio, "edit", {"edits": [edit], "save": True})
    assert accounts.account("ada") == Account(name="ada", hash=SECRET, city="Oslo")


def test_importing_a_row_with_an_invalid_value_changes_only_that_field(accounts: Accounts) -> None:
    studio = Studio(of_design(accounts))
    row = json.dumps({"name": "ada", "hash": SECRET, "city": 7})
    (edit,) = run(studio, "bring", {"form": "jsonl", "entity": "Account", "text": row})["edits"]
    assert (edit["do"], edit["fields"]) == ("change", {"city": 7})
