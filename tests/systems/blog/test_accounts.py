"""Users register, sign in with passwords or external identities, and have sessions. Invalid input is rejected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from argon2 import PasswordHasher

from keyplan.errors import ConditionFailed, ItemNotFound, Refused, UniqueValueTaken
from keyplan.testing.stored_world import scan
from keyplan_systems.blog import accounts
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Credential, ProviderUser, User
from keyplan_systems.site import passwords
from keyplan_systems.site.sessions import Sessions
from keyplan_systems.site.signing import Signer
from tests.systems.blog.support import check_books, items_of, new_user, recorded

PASSWORD = "seven quiet lamps"


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make password hashing fast. The test of hashing parameters restores the default parameters."""
    monkeypatch.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    passwords._nobodys_hash.cache_clear()


@pytest.fixture
def uma(blog: Blog) -> User:
    return accounts.register(blog, email="Uma@Example.com ", username="Uma", name=" Uma  N. ", password=PASSWORD)


def places(call: Callable[[], Any]) -> list[str]:
    """Return the field names in the errors of a rejected call."""
    with pytest.raises(Refused) as raised:
        call()
    return [fault.place for fault in raised.value.errors]


# Registration


def test_a_registered_user_signs_in_by_email_and_by_username(blog: Blog, uma: User) -> None:
    assert (uma.username, uma.name, uma.role, uma.status) == ("uma", "Uma N.", "reader", "active")
    for login in ("uma@example.com", " UMA@example.COM", "uma", "Uma"):
        assert accounts.sign_in(blog, login, PASSWORD) == uma
    check_books(blog)


def test_sign_in_uses_strongly_consistent_reads(blog: Blog, uma: User) -> None:
    requests = recorded(blog)
    accounts.sign_in(blog, "uma@example.com", PASSWORD)
    accounts.sign_in(blog, "uma", PASSWORD)
    assert requests.operations == ["GetItem"] * 7
    assert all(parameters["ConsistentRead"] for _, parameters, _ in requests.made)


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ({"email": "uma@example.com"}, ["email"]),
        ({"username": "UMA"}, ["username"]),
        ({"email": "UMA@example.com", "username": "uma"}, ["email", "username"]),
        ({"email": "no address"}, ["email"]),
        ({"email": "a@b"}, ["email"]),
        ({"email": f"{'x' * 250}@example.com"}, ["email"]),
        ({"email": "a@example.com\nbcc: b@example.com"}, ["email"]),
        ({"username": "ab"}, ["username"]),
        ({"username": "a--b"}, ["username"]),
        ({"username": "-ab"}, ["username"]),
        ({"username": "a" * 41}, ["username"]),
        ({"username": "ümläut"}, ["username"]),
        ({"username": "a/../b"}, ["username"]),
        ({"name": ""}, ["name"]),
        ({"name": "x" * 81}, ["name"]),
        ({"name": "a\x00b"}, ["name"]),
        ({"name": "half \ud800"}, ["name"]),
        ({"password": "short"}, ["password"]),
        ({"password": "x" * 201}, ["password"]),
        ({"password": "aaaaaaaaaaaa"}, ["password"]),
        ({"password": "other@example.com"}, ["password"]),
        ({"password": None}, ["password"]),
        ({"password": "half of it: \udfff"}, ["password"]),
        ({"email": "", "username": "", "name": "", "password": ""}, ["email", "username", "name", "password"]),
    ],
)
def test_errors_of_invalid_registrations_name_the_field(
    blog: Blog, uma: User, fields: dict[str, Any], refused: list[str]
) -> None:
    before = scan(blog).size
    given = {"email": "other@example.com", "username": "other", "name": "Other", "password": PASSWORD, **fields}
    assert places(lambda: accounts.register(blog, **given)) == refused
    assert scan(blog).size == before


def test_public_profiles_contain_no_email_address_and_no_password_hash(blog: Blog, uma: User) -> None:
    assert {"email", "password_hash"}.isdisjoint(User.model_fields)
    for name, pattern in Blog.compiled.patterns.items():
        assert "Credential" not in str(pattern.signature.result), name
    credential = blog.get(Credential, user_id=uma.user_id)
    assert credential is not None
    assert str(credential.password_hash).startswith("$argon2id$")
    items = [row.item for row in scan(blog).rows]
    assert PASSWORD not in str(items)


def test_an_unknown_login_and_a_wrong_password_raise_the_same_error(blog: Blog, uma: User) -> None:
    result = []
    for login, password in [
        ("uma", "wrong password"),
        ("nobody", PASSWORD),
        ("nobody@example.com", PASSWORD),
        ("", ""),
        ("uma", ""),
        ("uma", "x" * 10_000),
        ("\ud800", PASSWORD),
        ("x" * 3000, PASSWORD),
        ("a" * 2000 + "@b", PASSWORD),
    ]:
        with pytest.raises(Refused) as error:
            accounts.sign_in(blog, login, password)
        result.append(str(error.value))
    assert len(set(result)) == 1


def test_sign_in_with_an_unknown_login_also_computes_a_hash(blog: Blog, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []
    fits = passwords.password_fits

    def noted(hashed: str | None, text: str) -> bool:
        asked.append(hashed)
        return fits(hashed, text)

    monkeypatch.setattr(accounts, "password_fits", noted)
    with pytest.raises(Refused):
        accounts.sign_in(blog, "nobody", PASSWORD)
    assert asked == [None]
    assert not passwords.password_fits("no hash at all", PASSWORD)


def test_old_password_hashes_are_replaced_at_sign_in(blog: Blog, uma: User, monkeypatch: pytest.MonkeyPatch) -> None:
    old = blog.get(Credential, user_id=uma.user_id)
    monkeypatch.setattr(passwords, "_hasher", PasswordHasher())
    assert old is not None
    assert old.password_hash is not None
    assert passwords.needs_rehash(old.password_hash)
    accounts.sign_in(blog, "uma", PASSWORD)
    new = blog.get(Credential, user_id=uma.user_id)
    assert new is not None
    assert new.password_hash is not None
    assert "m=65536,t=3,p=4" in new.password_hash
    assert not passwords.needs_rehash(new.password_hash)
    accounts.sign_in(blog, "uma", PASSWORD)


def test_registering_a_credential_with_another_user_id_or_a_used_email_is_rejected(blog: Blog, uma: User) -> None:
    user = User(username="other", name="Other")
    with pytest.raises(Refused):
        blog.register(user, Credential(user_id=uma.user_id, email="x@example.com"))
    with pytest.raises(UniqueValueTaken):
        blog.register(user, Credential(user_id=user.user_id, email="uma@example.com"))
    assert blog.user(user.user_id) is None


# Sessions: tests/systems/sites/test_sessions.py tests those of all systems


@pytest.fixture
def sessions(blog: Blog) -> Sessions[User]:
    return accounts.sessions_of(blog, Signer(b"a secret of the tests"))


def test_a_session_is_checked_with_two_consistent_reads(blog: Blog, uma: User, sessions: Sessions[User]) -> None:
    token = sessions.open(uma, label="Firefox")
    requests = recorded(blog)
    signed_in = sessions.of(token)
    assert requests.operations == ["GetItem", "GetItem"]
    assert all(made[1]["ConsistentRead"] for made in requests.made)
    assert signed_in is not None
    assert (signed_in.person, signed_in.session.label) == (uma, "Firefox")


def test_a_suspension_ends_all_sessions(blog: Blog, uma: User, sessions: Sessions[User]) -> None:
    token = sessions.open(uma)
    assert blog.set_status(uma.user_id, "suspended").status == "suspended"
    assert blog.set_status(uma.user_id, "suspended").status == "suspended"
    assert sessions.of(token) is None
    with pytest.raises(Refused, match="suspended"):
        accounts.sign_in(blog, "uma", PASSWORD)
    assert places(lambda: accounts.sign_in(blog, "uma", "wrong password")) == ["password"]
    late = sessions.open(uma)  # by a sign-in that read the user earlier
    blog.set_status(uma.user_id, "active")
    assert (sessions.of(token), sessions.of(late)) == (None, None)
    assert accounts.sign_in(blog, "uma", PASSWORD).user_id == uma.user_id
    with pytest.raises(ItemNotFound):
        blog.set_status("nobody", "active")


# Changes


def test_changing_the_password_ends_the_sessions_of_the_user(blog: Blog, uma: User, sessions: Sessions[User]) -> None:
    token = sessions.open(uma)
    change = accounts.change_password
    assert places(lambda: change(blog, uma.user_id, "wrong", "another good one")) == ["old"]
    assert places(lambda: change(blog, uma.user_id, PASSWORD, "short")) == ["new"]
    change(blog, uma.user_id, PASSWORD, "another good one")
    assert sessions.of(token) is None
    assert accounts.sign_in(blog, "uma", "another good one").user_id == uma.user_id
    with pytest.raises(Refused):
        accounts.sign_in(blog, "uma", PASSWORD)
    with pytest.raises(ItemNotFound):
        change(blog, "nobody", "x", "another good one")


def test_changing_the_email_address_releases_the_old_address(blog: Blog, uma: User, eve: User) -> None:
    change, check = accounts.change_email, accounts.check_email_change
    assert places(lambda: check(blog, uma.user_id, "wrong", "none")) == ["email", "password"]
    check(blog, uma.user_id, PASSWORD, "eve@example.com")  # the error doesn't name the owner
    assert places(lambda: change(blog, uma.user_id, "eve@example.com")) == ["email"]
    change(blog, uma.user_id, "Uma@example.org")
    change(blog, uma.user_id, "uma@example.org")
    assert accounts.sign_in(blog, "uma@example.org", PASSWORD).user_id == uma.user_id
    assert blog.user_by_email("uma@example.com") is None
    new_user(blog, "uma-two")
    accounts.change_email(blog, eve.user_id, "uma@example.com")
    check_books(blog)


def test_the_profile_the_role_and_the_status_of_a_user_can_be_updated(blog: Blog, uma: User) -> None:
    blog.edit_profile(uma.user_id, "U.", "About me")
    blog.set_role(uma.user_id, "moderator")
    user = blog.user(uma.user_id)
    assert user is not None
    assert (user.name, user.bio, user.role) == ("U.", "About me", "moderator")
    blog.set_status(uma.user_id, "suspended")
    with pytest.raises(ConditionFailed):
        blog.edit_profile(uma.user_id, "V.", "")
    assert [user.name for user in blog.latest_users("suspended")] == ["U."]
    check_books(blog)


# External identities


def test_a_user_with_an_external_identity_registers_and_signs_in(blog: Blog) -> None:
    user = accounts.register(
        blog, email="ola@example.com", username="ola", name="Ola", provider="github", external_id="#7"
    )
    assert blog.user_by_provider("github", "#7") == user
    assert blog.user_by_provider("github", "8") is None
    assert places(lambda: accounts.sign_in(blog, "ola", PASSWORD)) == ["password"]
    taken: dict[str, Any] = {
        "email": "pam@example.com",
        "username": "pam",
        "name": "Pam",
        "provider": "github",
        "external_id": "#7",
    }
    assert places(lambda: accounts.register(blog, **taken)) == ["provider"]
    both = {**taken, "email": "ola@example.com"}
    assert places(lambda: accounts.register(blog, **both)) == ["email", "provider"]
    assert places(lambda: accounts.unlink(blog, user.user_id, "github", "#7")) == ["provider"]
    accounts.change_password(blog, user.user_id, "", PASSWORD)
    assert accounts.unlink(blog, user.user_id, "github", "#7")
    assert not accounts.unlink(blog, user.user_id, "github", "#7")
    assert blog.user_by_provider("github", "#7") is None
    check_books(blog)


def test_an_external_identity_is_linked_only_once(blog: Blog, uma: User, eve: User) -> None:
    linked = blog.link_provider(uma.user_id, "github", "1")
    assert blog.link_provider(uma.user_id, "github", "1") == linked
    with pytest.raises(Refused):
        blog.link_provider(eve.user_id, "github", "1")
    with pytest.raises(ItemNotFound):
        blog.link_provider("nobody", "github", "2")
    credential = blog.get(Credential, user_id=uma.user_id)
    assert credential is not None
    assert credential.providers == {"github:1"}
    assert not accounts.unlink(blog, eve.user_id, "github", "1")
    assert items_of(blog, ProviderUser) == [linked]
