"""Emails reset passwords and confirm addresses. Emailed links work once. Registered addresses aren't disclosed."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

import pytest

from keyplan.errors import ConditionFailed, RequestError
from keyplan_systems.blog import accounts
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Credential, User
from keyplan_systems.blog.site.site import Site
from keyplan_systems.site.mail import LoggedMail, SmtpMail, mail_of
from tests.systems.blog_site.conftest import Clock
from tests.systems.blog_site.support import PASSWORD, Visit, make_user, text_of
from tests.systems.mailbox import Box

NEW_PASSWORD = "another quiet sentence"


def credential(blog: Blog, user: User) -> Credential:
    result = blog.get(Credential, user_id=user.user_id, consistent=True)
    assert result is not None
    return result


def forget(visit: Visit, email: str) -> str:
    answer = visit.send("/password/forgotten", email=email)
    assert answer.status_code == 303
    return answer.headers["location"]


def test_a_password_reset_link_works_once(ada: User, author: Visit, visit: Callable[[], Visit], box: Box) -> None:
    anybody = visit()
    forget(anybody, "Ada@example.com")
    (letter,) = box.letters
    assert letter.to == "ada@example.com"
    assert anybody.get(letter.link).status_code == 200
    short = anybody.send("/password/reset", letter.link, token=letter.token, new="short")
    assert (short.status_code, "at least 10 characters" in text_of(short)) == (422, True)
    done = anybody.send("/password/reset", letter.link, token=letter.token, new=NEW_PASSWORD)
    assert done.headers["location"] == "/sign-in?done=reset"
    assert author.get("/desk").status_code == 303  # all sessions have ended
    visit().sign_in("ada", NEW_PASSWORD)
    assert anybody.get(letter.link).status_code == 410
    again = anybody.send("/password/reset", "/sign-in", token=letter.token, new="a third quiet sentence")
    assert again.status_code == 410
    visit().sign_in("ada", NEW_PASSWORD)


def test_an_outdated_reset_link_is_rejected(blog: Blog, ada: User, anybody: Visit, box: Box, site: Site) -> None:
    forget(anybody, "ada@example.com")
    known = site.mailing.may_reset(box.letters[-1].token)
    assert known is not None
    assert site.mailing.reset(box.letters[-1].token, NEW_PASSWORD)
    with pytest.raises(ConditionFailed):
        accounts.reset_password(blog, known.user, known.credential, "a third quiet sentence")
    assert accounts.sign_in(blog, "ada", NEW_PASSWORD).user_id == ada.user_id


def test_password_reset_does_not_reveal_registered_emails(blog: Blog, ada: User, anybody: Visit, box: Box) -> None:
    blog.set_status(make_user(blog, "sus").user_id, "suspended")
    answers = {forget(anybody, email) for email in ("ada@example.com", "nobody@example.com", "sus@example.com")}
    assert answers == {"/sign-in?done=sent"}
    assert [letter.to for letter in box.letters] == ["ada@example.com"]
    assert anybody.send("/password/forgotten", email="no address").status_code == 422


@pytest.mark.parametrize("change", ["over", "forged", "cut", "email", "address token"])
def test_expired_forged_and_unrelated_email_links_are_rejected(
    blog: Blog, ada: User, anybody: Visit, box: Box, clock: Clock, site: Site, change: str
) -> None:
    forget(anybody, "ada@example.com")
    token = box.letters[-1].token
    match change:
        case "over":
            clock.seconds += 3601
        case "forged":
            token = token.replace(".", ".1", 1)
        case "cut":
            token = token[:-3]
        case "email":
            blog.update(credential(blog, ada), email="elsewhere@example.com")
        case _:
            site.mailing.address_asked(ada, "ada@example.org", "http://testserver")
            token = box.letters[-1].token
    assert anybody.get(f"/password/reset?token={token}").status_code == 410
    assert anybody.send("/password/reset", "/sign-in", token=token, new=NEW_PASSWORD).status_code == 410


def test_emails_to_one_address_are_rate_limited(ada: User, anybody: Visit, box: Box) -> None:
    statuses = [anybody.send("/password/forgotten", email="ada@example.com").status_code for _ in range(6)]
    assert statuses == [303] * 5 + [429]
    assert len(box.letters) == 5


def test_the_emailed_link_changes_the_email_address(blog: Blog, ada: User, rita: User, author: Visit, box: Box) -> None:
    def ask(email: str) -> str:
        return author.send("/account/email", "/account", email=email, password=PASSWORD).headers["location"]

    # the message doesn't reveal whether the address is registered
    assert {ask("Ada@example.org"), ask("rita@example.com")} == {"/account?done=email"}
    link, reminder = box.letters
    assert (link.to, reminder.to) == ("ada@example.org", "rita@example.com")
    assert "token=" not in reminder.text
    assert credential(blog, ada).email == "ada@example.com"
    for address in ("rita@example.com", "eve@example.org", ""):
        wrong = author.send("/email/verify", link.link, token=link.token, address=address)
        assert wrong.status_code == 410
    fields = {"token": link.token, "address": "ada@example.org"}
    assert author.send("/email/verify", link.link, **fields).headers["location"] == "/account?done=verified"
    assert credential(blog, ada).email == "ada@example.org"
    assert box.letters[2].to == "ada@example.com"  # the old address is notified
    assert author.send("/email/verify", link.link, **fields).status_code == 410


def test_emails_are_logged_if_no_mail_server_is_set(caplog: pytest.LogCaptureFixture) -> None:
    mail = mail_of(None, None)
    assert isinstance(mail, LoggedMail)
    mail.send("a@example.com", "Subject", "Text with a link")
    assert "Text with a link" in caplog.text


@pytest.mark.parametrize(
    ("smtp", "sender", "place"),
    [
        ("mail.example.com", "a@b.c", "smtp"),
        ("smtp://", "a@b.c", "smtp"),
        ("smtp://host:port", "a@b.c", "smtp"),
        ("smtp://host", None, "mail_from"),
        ("smtp://host", "nobody", "mail_from"),
    ],
)
def test_invalid_mail_settings_are_rejected(smtp: str, sender: str | None, place: str) -> None:
    with pytest.raises(RequestError) as error:
        mail_of(smtp, sender)
    assert error.value.place == place


def serve_once(listener: socket.socket, said: list[str]) -> None:
    """Receive one email, as an SMTP server without TLS does."""
    connection, _ = listener.accept()
    with connection, connection.makefile("rwb") as lines:
        lines.write(b"220 here\r\n")
        lines.flush()
        within = False
        while line := lines.readline():
            text = line.decode().rstrip("\r\n")
            said.append(text)
            within = text != "." if within else text.upper() == "DATA"
            if within and text.upper() != "DATA":
                continue
            over = text.upper() == "QUIT"
            lines.write(b"354 go on\r\n" if within else b"221 bye\r\n" if over else b"250 good\r\n")
            lines.flush()
            if over:
                return


def test_emails_are_sent_by_smtp_and_a_password_is_sent_only_over_tls(caplog: pytest.LogCaptureFixture) -> None:
    said: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve_once, args=(listener, said))
        thread.start()
        mail = mail_of(f"smtp://127.0.0.1:{listener.getsockname()[1]}", "blog@example.com")
        mail.send("ada@example.com", "Grüße", "Zeile\n.\n")
        thread.join()
        assert "rcpt TO:<ada@example.com>" in said
        assert "From: blog@example.com" in said
        again: list[str] = []
        thread = threading.Thread(target=serve_once, args=(listener, again))
        thread.start()
        SmtpMail("127.0.0.1", listener.getsockname()[1], "b@c.d", user="u", password="secret").send("a@b.c", "S", "T")
        thread.join()
    assert not any("AUTH" in line for line in again)
    assert "STARTTLS extension not supported" in caplog.text
    SmtpMail("127.0.0.1", 1, "b@c.d").send("a@b.c\r\nBcc: x@y.z", "S", "T")
    assert "wasn't sent" in caplog.text
