# mypy: disable-error-code="empty-body"
"""The blog's sign-in as published: a strongly consistent read of an index, which the compiler rejects."""

from __future__ import annotations

from keyplan import Design, Entity, Index, Key, Table, read

USERS_BY_EMAIL = Index("USERS_BY_EMAIL", "user_email_pk")


class User(Entity):
    user_id: str
    email: str

    primary = Key("USER#{user_id}", "META")
    by_email = Key("{email}", index=USERS_BY_EMAIL)


class BlogSignIn(Design):
    """Sign-in."""

    table = Table("blog-dynamodb-table", indexes=[USERS_BY_EMAIL])

    @read("B8", consistent=True)
    def user_by_email(self, email: str) -> User | None: ...
