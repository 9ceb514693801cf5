# mypy: disable-error-code="empty-body"
"""Lost updates, missing conditions and non-atomic moves are found, correct designs have no findings, and designs that
follow the advice compile."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import StringConstraints

from keyplan import (
    Add,
    Batch,
    Create,
    Delete,
    Design,
    Entity,
    Field,
    Key,
    Put,
    Table,
    Unique,
    Update,
    Version,
    Writes,
    read,
    write,
)
from keyplan.analysis.check import Finding, check
from tests.check.made_pages import Example


def found(design: type[Design], code: str) -> dict[str, Finding]:
    return {finding.place.partition(".")[2]: finding for finding in check(design).findings if finding.code == code}


class Board(Entity):
    name: str
    cards: list[str] = []  # noqa: RUF012 - pydantic copies it
    marks: dict[str, str] = {}  # noqa: RUF012
    few: Annotated[list[str], Field(max_length=9)] = []  # noqa: RUF012
    stock: Annotated[int, Field(ge=0)] = 0
    balance: int = 0
    status: str = "open"

    primary = Key("BOARD#{name}", "HEAD")


class Counted(Entity):
    name: str
    number: int = 0
    version: Version = 0

    primary = Key("COUNTED#{name}", "HEAD")


class Boards(Design):
    table = Table("boards")

    @read("R1")
    def board(self, name: str) -> Board | None: ...

    @read("R2")
    def counted(self, name: str) -> Counted | None: ...

    @write("W1")
    def add_card(self, board: Board, card: str) -> Writes:
        yield Update(board, cards=[*board.cards, card])

    @write("W2")
    def mark(self, board: Board, key: str, value: str) -> Writes:
        yield Update(board, marks={**board.marks, key: value})

    @write("W3")
    def add_few(self, board: Board, card: str) -> Writes:
        cards = [*board.few, card]
        yield Update(board, few=cards).only_if(few=board.few)

    @write("W4")
    def withdraw(self, name: str, amount: int) -> Writes:
        board = yield from self.board.read(name)
        if board is None or board.balance < amount:
            raise ValueError("not enough")
        yield Update(board).set(balance=Add(-amount))

    @write("W5")
    def withdraw_if(self, name: str, amount: int) -> Writes:
        board = yield from self.board.read(name)
        if board is None or board.balance < amount:
            raise ValueError("not enough")
        update = Update(board).set(balance=Add(-amount))
        update = update.only_if("balance >= :amount", amount=amount)
        yield update

    @write("W6")
    def take(self, board: Board) -> Writes:
        if board.stock > 0:
            yield Update(board).set(stock=Add(-1))

    @write("W7")
    def shut(self, board: Board) -> Writes:
        if board.status == "open":
            yield Update(board, status="closed")

    @write("W8")
    def versioned(self, counted: Counted) -> Writes:
        if counted.number > 3:
            yield Update(counted, number=0)

    @write("W9")
    def rewrite(self, name: str) -> Writes:
        board = yield from self.board.read(name)
        if board is not None:
            yield Put(board.model_copy(update={"status": "closed"}))

    @write("W10")
    def replace(self, name: str) -> Writes:
        yield Put(Board(name=name))

    @write("W11")
    def move(self, old: Board, name: str) -> Writes:
        yield Batch([Delete(old), Put(Board(name=name))])

    @write("W12")
    def make_all(self, names: list[str]) -> Writes:
        for name in names:
            yield Create(Board(name=name))

    @write("W13")
    def make_few(self, names: Annotated[list[str], Field(max_length=20)]) -> Writes:
        for name in names:
            yield Create(Board(name=name))

    @write("W14")
    def import_all(self, names: list[str]) -> Writes:
        yield Batch(Put(Board(name=name)) for name in names)


def test_a_list_or_map_computed_from_a_read_value_is_reported_as_a_lost_update() -> None:
    assert set(found(Boards, "KP308")) == {"add_card", "mark"}
    assert set(found(Boards, "KP103")) == {"add_card", "mark"}


def test_a_write_that_checks_values_that_it_read_and_has_no_condition_is_reported() -> None:
    assert set(found(Boards, "KP313")) == {"withdraw", "shut"}


def test_the_advised_action_for_an_item_that_was_read_is_an_update() -> None:
    remarks = found(Boards, "KP306")
    assert "Create" not in remarks["rewrite"].hint
    assert "yield Update(item" in remarks["rewrite"].hint
    assert "yield Create(Board(...))" in remarks["replace"].hint


def test_a_batch_that_moves_an_item_is_reported_as_not_atomic() -> None:
    assert set(found(Boards, "KP307")) == {"move"}


def test_an_unbounded_loop_in_a_transaction_is_reported() -> None:
    assert set(found(Boards, "KP106")) == {"make_all"}


COLLECTION = """
from typing import NamedTuple

from keyplan import Design, Entity, Key, Table, read


class User(Entity):
    user_id: str

    primary = Key("{users}", "PROFILE")


class Order(Entity):
    user_id: str
    order_id: str

    primary = Key("{orders}", "ORDER#{order_id}")


class Product(Entity):
    product_id: str

    primary = Key("PRODUCT#{product_id}", "HEAD")


class Whole(NamedTuple):
    user: User
    orders: list[Order]


class Shop(Design):
    table = Table("shop")

    @read("S1")
    def whole(self, user_id: str) -> Whole | None: ...

    @read("S2")
    def product(self, product_id: str) -> Product | None: ...
"""


def collection(folder: Path, users: str, orders: str) -> tuple[Finding, ...]:
    """The findings for ``COLLECTION`` with these partition keys of users and orders."""
    code = COLLECTION.replace("{users}", users).replace("{orders}", orders)
    return Example(code, None).report(folder).findings


def test_the_advised_key_prefix_keeps_an_item_collection_together(tmp_path: Path) -> None:
    remarks = [finding for finding in collection(tmp_path, "{user_id}", "{user_id}") if finding.code == "KP208"]
    assert {remark.place for remark in remarks} == {"User.primary", "Order.primary"}
    (advised,) = {remark.hint.partition('"')[2].partition('"')[0] for remark in remarks}
    assert advised == "USER#{user_id}"
    (tmp_path / "after").mkdir()
    codes = {finding.code for finding in collection(tmp_path / "after", advised, advised)}
    assert not codes & {"KP100", "KP208"}


def test_an_item_collection_of_entities_with_different_partition_keys_does_not_compile(tmp_path: Path) -> None:
    """Regression test: KP208 advised different key prefixes for a read of users with their orders."""
    codes = {finding.code for finding in collection(tmp_path, "USER#{user_id}", "ORDER#{user_id}")}
    assert codes == {"KP100"}


class Natural(Entity):
    username: str

    primary = Key("{username}", "PROFILE")


class Other(Entity):
    name: str

    primary = Key("OTHER#{name}", "HEAD")


class NaturalNames(Design):
    table = Table("natural", partition="username")

    @read("R1")
    def one(self, username: str) -> Natural | None: ...

    @read("R2")
    def other(self, name: str) -> Other | None: ...


def test_a_natural_key_attribute_that_is_also_a_field_is_not_reported() -> None:
    assert found(NaturalNames, "KP208") == {}


class Line(Entity):
    order_id: str
    number: int

    primary = Key("ORDER#{order_id}", "LINE#{number:04d}")


class Lines(Design):
    table = Table("lines")

    @read("R1")
    def given(self, order_id: str, limit: int) -> list[Line]: ...

    @read("R2")
    def defaulted(self, order_id: str, limit: int = 5) -> list[Line]: ...

    @read("R3")
    def optional(self, order_id: str, limit: int | None = None) -> list[Line]: ...


def test_a_read_with_a_required_limit_is_not_reported_as_unbounded() -> None:
    assert set(found(Lines, "KP303")) == {"optional"}


Email = Annotated[str, StringConstraints(to_lower=True)]


class User(Entity):
    user_id: str
    email: Email

    primary = Key("USER#{user_id}", "HEAD")
    claim = Unique("EMAIL#{email}")


class Users(Design):
    table = Table("users")

    @read("R1")
    def as_typed(self, email: str) -> User | None: ...

    @read("R2")
    def folded(self, email: Email) -> User | None: ...


def test_a_read_by_a_unique_value_without_the_normalization_of_its_field_is_reported() -> None:
    assert set(found(Users, "KP213")) == {"as_typed"}
    with Users.open(":memory:") as users:
        users.create(User(user_id="1", email="Ada@Example.com"))
        answers: list[Any] = [users.as_typed("Ada@Example.com"), users.folded("Ada@Example.com")]
    assert [answer is not None for answer in answers] == [False, True]
