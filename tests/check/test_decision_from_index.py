# mypy: disable-error-code="empty-body"
"""KP311 reports writes that create or compute items, without a condition, from the result of an index read."""

from __future__ import annotations

from keyplan import Add, Create, Delete, Design, Entity, Index, Key, Put, Table, Update, Writes, read, write
from keyplan.analysis.check import check
from keyplan.errors import Refused

BY_EMAIL = Index("by-email", "epk", "esk")
BESIDE = Index("beside", "pk", "lsk", local=True)


class User(Entity):
    user_id: str
    email: str
    points: int = 0

    primary = Key("USER#{user_id}", "HEAD")
    by_email = Key("EMAIL#{email}", "{user_id}", index=BY_EMAIL)
    beside = Key("USER#{user_id}", "{email}", index=BESIDE)


class Letter(Entity):
    email: str
    number: int

    primary = Key("LETTER#{email}", "{number:04d}")


class Users(Design):
    table = Table("users", indexes=[BY_EMAIL, BESIDE])

    @read("U1")
    def of_email(self, email: str) -> list[User]: ...

    @read("U2")
    def user(self, user_id: str) -> User | None: ...

    @read("U3", key=User.beside)
    def ordered(self, user_id: str) -> list[User]: ...

    @write("U10")
    def created(self, user: User) -> Writes:
        if (yield from self.of_email.read(user.email)):
            raise Refused("taken")
        yield Create(user)

    @write("U11")
    def replaced(self, user: User) -> Writes:
        if (yield from self.of_email.read(user.email)):
            raise Refused("taken")
        yield Put(user)

    @write("U12")
    def computed(self, email: str) -> Writes:
        for user in (yield from self.of_email.read(email)):
            yield Update(user, points=user.points + 1)

    @write("U13")
    def computed_on_condition(self, email: str) -> Writes:
        for user in (yield from self.of_email.read(email)):
            yield Update(user, points=user.points + 1).only_if(points=user.points)

    @write("U14")
    def added(self, email: str) -> Writes:
        for user in (yield from self.of_email.read(email)):
            yield Update(User, user_id=user.user_id).set(points=Add(1))

    @write("U15")
    def removed(self, email: str) -> Writes:
        for user in (yield from self.of_email.read(email)):
            yield Delete(user)

    @write("U16")
    def written_to(self, email: str) -> Writes:
        users = yield from self.of_email.read(email)
        yield Put(Letter(email=email, number=len(users)))

    @write("U17")
    def by_key(self, user: User) -> Writes:
        if (yield from self.user.read(user.user_id)) is not None:
            raise Refused("taken")
        yield Put(user)

    @write("U18")
    def by_a_local_index(self, user: User) -> Writes:
        if (yield from self.ordered.read(user.user_id)):
            raise Refused("taken")
        yield Put(user)


def test_writes_that_depend_on_index_reads_are_reported() -> None:
    places = {finding.place for finding in check(Users).findings if finding.code == "KP311"}
    assert places == {"Users.created", "Users.replaced", "Users.computed"}
