"""Users join, sign in and out, and change passwords, email addresses, sessions, tokens and external identities."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from httpx import Response

from keyplan.web.application import Beside
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Credential, User
from keyplan_systems.blog.site.site import Site
from tests.systems.blog_site.conftest import Clock
from tests.systems.blog_site.support import PASSWORD, Visit, text_of
from tests.systems.mailbox import Box
from tests.systems.support import stored

NEW = {"name": "Bea", "username": "bea", "email": "bea@example.com", "writes": "yes"}


def follow(visit: Visit, box: Box, **fields: str) -> Response:
    """Complete the registration by the link in the last email."""
    letter = box.letters[-1]
    fields = {"username": "bea", "password": PASSWORD, **fields}
    return visit.send("/sign-up/finish", letter.link, token=letter.token, **fields)


def test_joining_by_the_emailed_link_signs_the_user_in(blog: Blog, anybody: Visit, box: Box) -> None:
    assert "An email with a link was sent to bea@example.com" in text_of(anybody.send("/sign-up", **NEW))
    assert [letter.to for letter in box.letters] == ["bea@example.com"]
    assert blog.user_by_username("bea") is None  # nothing is stored before that
    answer = follow(anybody, box)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?done=author-requested")
    user = blog.user_by_username("bea")
    assert user is not None
    assert user.role == "reader"
    credential = blog.get(Credential, user_id=user.user_id)
    assert credential is not None
    link = box.letters[-1]
    assert anybody.get(link.link).status_code == 410
    again = anybody.send("/sign-up/finish", "/contact", token=link.token, username="bea-2", password=PASSWORD)
    assert again.status_code == 410


def test_joining_does_not_reveal_registered_email_addresses(ada: User, anybody: Visit, box: Box) -> None:
    answers = [anybody.send("/sign-up", **{**NEW, "email": email}) for email in ("Ada@example.com", "new@example.com")]
    assert {answer.status_code for answer in answers} == {200}
    assert len({re.sub("(?i)(ada|new)@example.com", "", text_of(answer)) for answer in answers}) == 1
    reminder, invitation = box.letters
    assert "already has an account" in reminder.text
    assert "token=" not in reminder.text
    assert "token=" in invitation.text


@pytest.mark.parametrize("change", ["over", "forged", "another purpose"])
def test_an_expired_or_forged_join_link_is_rejected(
    anybody: Visit, box: Box, clock: Clock, site: Site, change: str
) -> None:
    anybody.send("/sign-up", **NEW)
    token = box.letters[-1].token
    match change:
        case "over":
            clock.seconds += 24 * 3600 + 1
        case "forged":
            token = token[:-2]
        case _:
            token = site.signer.sign("session", token.rpartition(".")[0])
    assert anybody.get(f"/sign-up/finish?token={token}").status_code == 410
    answer = anybody.send("/sign-up/finish", "/contact", token=token, username="bea", password=PASSWORD)
    assert answer.status_code == 410


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("username", "Ada", "this username is taken"),
        ("password", "short", "at least 10 characters"),
        ("password", "x" * 300, "at most 256 characters"),
        ("password", "aaaaaaaaaaaa", "the password is too easy to guess"),
    ],
)
def test_errors_of_the_last_registration_step_are_reported(
    blog: Blog, ada: User, anybody: Visit, box: Box, field: str, value: str, told: str
) -> None:
    anybody.send("/sign-up", **NEW)
    answer = follow(anybody, box, **{field: value})
    assert answer.status_code == 422
    assert told in answer.text.split(f'id="{field}-fault">')[1].split("</p>")[0]
    assert blog.user_by_username("bea") is None


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("email", "", "this field is required"),
        ("email", "nobody", "invalid email address"),
        ("email", "a" * 300 + "@example.com", "at most 254 characters"),
        ("username", "x", "3 to 40"),
        ("username", "Ada", "this username is taken"),
        ("username", "a b", "3 to 40"),
        ("username", "moderátor", "3 to 40"),
        ("name", " ", "this field is required"),
        ("name", "x" * 81, "at most 80 characters"),
        ("name", "a\u0007b", "control character"),
    ],
)
def test_errors_are_shown_next_to_their_field_and_input_is_kept(
    ada: User, anybody: Visit, box: Box, field: str, value: str, told: str
) -> None:
    fields = {**NEW, field: value}
    answer = anybody.send("/sign-up", **fields)
    assert answer.status_code == 422
    fault = answer.text.split(f'id="{field}-fault">')[1].split("</p>")[0]
    assert told in fault
    assert 'aria-invalid="true"' in answer.text
    kept = "Bea" if field != "name" else "bea@example.com"
    assert f'value="{kept}"' in answer.text
    assert box.letters == []


def test_only_one_of_several_concurrent_uses_of_a_join_link_succeeds(visit: Callable[[], Visit], box: Box) -> None:
    visitors = [visit() for _ in range(4)]
    visitors[0].send("/sign-up", **NEW)
    letter = box.letters[0]
    tokens = [visitor.token(letter.link) for visitor in visitors]
    statuses: list[int] = []

    def join(visit: Visit, csrf: str) -> None:
        fields = {"csrf": csrf, "token": letter.token, "username": "bea", "password": PASSWORD}
        statuses.append(visit.client.post("/sign-up/finish", data=fields).status_code)

    threads = [threading.Thread(target=join, args=pair) for pair in zip(visitors, tokens, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [303, 410, 410, 410]


@pytest.mark.parametrize("login", ["ada", "ADA", "ada@example.com", " Ada@Example.com "])
def test_a_user_signs_in_by_username_or_email_address(ada: User, anybody: Visit, login: str) -> None:
    answer = anybody.send("/sign-in", login=login, password=PASSWORD, next="/desk")
    assert answer.headers["location"] == "/desk"
    assert "Ada Example" in anybody.get("/").text


@pytest.mark.parametrize(("login", "password"), [("ada", "wrong"), ("nobody", PASSWORD), ("ada\x00", PASSWORD)])
def test_a_wrong_password_and_an_unknown_login_have_the_same_message(
    ada: User, anybody: Visit, login: str, password: str
) -> None:
    answer = anybody.send("/sign-in", login=login, password=password)
    assert answer.status_code == 422
    text = text_of(answer)
    assert "the email, username or password is wrong" in text or "control character" in text


def test_a_private_page_redirects_to_the_sign_in_page_and_back(ada: User, anybody: Visit) -> None:
    answer = anybody.get("/desk?status=published")
    where = answer.headers["location"]
    assert where == "/sign-in?next=%2Fdesk%3Fstatus%3Dpublished"
    back = anybody.send("/sign-in", where, login="ada", password=PASSWORD, next="/desk?status=published")
    assert back.headers["location"] == "/desk?status=published"


def test_changing_the_password_signs_other_devices_out(
    visit: Callable[[], Visit], blog: Blog, ada: User, author: Visit
) -> None:
    other = visit().sign_in("ada")
    wrong = author.send("/account/password", "/account", old="wrong", new="another good password")
    assert wrong.status_code == 422
    assert "the password is wrong" in wrong.text
    done = author.send("/account/password", "/account", old=PASSWORD, new="another good password")
    assert done.headers["location"] == "/account?done=password"
    assert author.get("/account").status_code == 200
    assert other.get("/account").status_code == 303
    assert visit().sign_in("ada", "another good password").get("/account").status_code == 200


def test_changing_the_email_address_requires_the_password(author: Visit, box: Box) -> None:
    def change(email: str, password: str) -> str:
        return text_of(author.send("/account/email", "/account", email=email, password=password))

    assert "the password is wrong" in change("ada@example.org", "wrong")
    assert "invalid email address" in change("nobody", PASSWORD)
    assert box.letters == []


def test_the_profile_is_updated_and_its_text_is_escaped(author: Visit, anybody: Visit) -> None:
    author.send("/account", name="<b>Ada</b>", bio="Writes.\r\n<script>alert(1)</script>")
    page = anybody.get("/authors/ada").text
    assert "&lt;b&gt;Ada&lt;/b&gt;" in page
    assert "<script>alert" not in page
    assert author.send("/account", name="Ada", bio="x" * 501).status_code == 422


def test_sessions_are_listed_and_can_be_ended(visit: Callable[[], Visit], blog: Blog, ada: User, author: Visit) -> None:
    other = visit().sign_in("ada")
    page = author.get("/account").text
    ids = [session.session_id for session in blog.sessions(ada.user_id)]
    shown = next(id_ for id_ in ids if f'value="{id_}"' in page)
    assert author.send("/account/sessions", "/account", session=shown).status_code == 303
    assert other.get("/account").status_code == 303
    assert author.get("/account").status_code == 200


def test_sessions_of_other_users_cannot_be_ended(blog: Blog, ada: User, author: Visit, reader: Visit) -> None:
    (theirs,) = blog.sessions(ada.user_id)
    reader.send("/account/sessions", "/account", session=theirs.session_id)
    assert len(blog.sessions(ada.user_id)) == 1


def test_an_api_token_is_shown_once_and_authenticates_api_calls(author: Visit, beside: Beside) -> None:
    anybody = Visit(beside)
    page = author.send("/account/tokens", "/account", label="my script")
    token = page.text.split('class="token">')[1].split("<")[0]
    assert "my script" in page.text
    assert token not in author.get("/account").text
    response = anybody.get("/api/latest_users?status=active", headers={"authorization": f"Bearer {token}"})
    assert response.status_code == 403  # authenticated, but not a moderator
    assert anybody.client.post("/api/end_sessions", headers={"authorization": f"Bearer {token}"}, json={}).is_success


def test_passwords_and_session_secrets_are_not_stored_in_plain_text(blog: Blog, ada: User, author: Visit) -> None:
    cookie = author.client.cookies["blog_session"]
    signature = cookie.strip('"').split(".")[2]
    everything = str(stored(blog))
    assert PASSWORD not in everything
    assert signature not in everything


# External identities


def come_back(visitor: Visit, start: str, **answer: str) -> str:
    """Sign in at the offline identity provider, and return the callback URL."""
    there = visitor.get(start).headers["location"]
    state = parse_qs(urlsplit(there).query)["state"][0]
    assert "Demo identity" in visitor.get(there).text
    query = "&".join(f"{name}={value}" for name, value in {"state": state, **answer}.items())
    return f"/sign-in/with/offline/callback?{query}"


def test_a_user_with_an_external_identity_joins_and_signs_in_again(
    visit: Callable[[], Visit], blog: Blog, anybody: Visit, box: Box
) -> None:
    page = anybody.get(come_back(anybody, "/sign-in/with/offline", code="42", name="Bea", email="bea@example.com"))
    assert "One more step" in page.text
    identity = page.text.split('name="identity" value="')[1].split('"')[0]
    token = page.text.split('name="csrf" value="')[-1].split('"')[0]
    fields = {"csrf": token, "identity": identity, "name": "Bea", "username": "bea", "email": "bea@example.com"}
    assert anybody.client.post("/sign-up", data=fields).status_code == 200
    assert "password" not in text_of(anybody.get(box.letters[-1].link)).lower()
    assert follow(anybody, box, password="").status_code == 303
    user = blog.user_by_provider("offline", "42")
    assert user is not None
    assert user.username == "bea"
    credential = blog.get(Credential, user_id=user.user_id)
    assert credential is not None
    assert credential.password_hash is None
    again = visit()
    answer = again.get(come_back(again, "/sign-in/with/offline?next=/tags", code="42"))
    assert (answer.status_code, answer.headers["location"]) == (303, "/tags")
    assert "Bea" in again.get("/").text


def test_an_external_identity_is_linked_to_an_account(
    visit: Callable[[], Visit], blog: Blog, ada: User, author: Visit, reader: Visit
) -> None:
    assert (
        author.get(come_back(author, "/sign-in/with/offline", code="7")).headers["location"] == "/account?done=linked"
    )
    user = blog.user_by_provider("offline", "7")
    assert user is not None
    assert user.user_id == ada.user_id
    assert reader.get(come_back(reader, "/sign-in/with/offline", code="7")).status_code == 409


def test_the_only_external_identity_of_a_user_without_a_password_cannot_be_unlinked(
    visit: Callable[[], Visit], blog: Blog, author: Visit, anybody: Visit, box: Box
) -> None:
    author.get(come_back(author, "/sign-in/with/offline", code="7"))
    assert "Unlink" in author.get("/account").text
    assert author.send("/account/unlink", "/account", provider="offline").headers["location"].endswith("unlinked")
    assert blog.user_by_provider("offline", "7") is None
    assert "Unlink" not in author.get("/account").text
    page = anybody.get(come_back(anybody, "/sign-in/with/offline", code="8")).text
    identity = page.split('name="identity" value="')[1].split('"')[0]
    token = page.split('name="csrf" value="')[-1].split('"')[0]
    anybody.client.post("/sign-up", data={**NEW, "csrf": token, "identity": identity})
    follow(anybody, box)
    refused = anybody.send("/account/unlink", "/account", provider="offline")
    assert refused.status_code == 409
    assert "only way to sign in" in text_of(refused)
    assert blog.user_by_provider("offline", "8") is not None
    assert "Set the password" in text_of(anybody.get("/account"))  # now there is another sign-in method
    assert anybody.send("/account/password", "/account", new="several quiet lamps").is_redirect
    assert anybody.send("/account/password", "/account", new="another quiet lamp").status_code == 422
    assert anybody.send("/account/unlink", "/account", provider="offline").is_redirect
    assert blog.user_by_provider("offline", "8") is None


def test_a_sign_in_callback_expires_and_is_rejected_in_another_browser(
    visit: Callable[[], Visit], clock: Clock, anybody: Visit
) -> None:
    callback = come_back(anybody, "/sign-in/with/offline", code="42")
    assert visit().get(callback).status_code == 400
    assert anybody.get(callback.replace("state=", "state=x")).status_code == 400
    clock.seconds += 601
    assert anybody.get(callback).status_code == 400
    assert anybody.get("/sign-in/with/other").status_code == 404


def test_a_forged_external_identity_is_rejected(blog: Blog, anybody: Visit) -> None:
    forged = b'{"provider":"offline","id":"42","email":null,"name":"x","at":1800000000}'.hex() + ".x"
    answer = anybody.send("/sign-up", **NEW, identity=forged)
    assert answer.status_code == 400
    assert blog.user_by_provider("offline", "42") is None


def test_a_suspended_user_cannot_sign_in_with_an_external_identity(
    visit: Callable[[], Visit], blog: Blog, ada: User, author: Visit
) -> None:
    author.get(come_back(author, "/sign-in/with/offline", code="7"))
    blog.set_status(ada.user_id, "suspended")
    again = visit()
    assert again.get(come_back(again, "/sign-in/with/offline", code="7")).status_code == 403
