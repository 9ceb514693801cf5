"""The site's security: cookies, cross-site forms, limits, headers, hosts, sizes, encodings and redirects."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from httpx import Response
from starlette.applications import Starlette

from keyplan import now
from keyplan.web.application import Beside
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Post, User
from keyplan_systems.blog.site.application import site_application
from keyplan_systems.blog.site.settings import Settings
from keyplan_systems.blog.site.site import LIMITS, Site
from keyplan_systems.site.incoming import BODY_BYTES_MAX, local_path
from keyplan_systems.site.sessions import Session
from tests.systems.blog_site.conftest import SECRET, Clock
from tests.systems.blog_site.support import PASSWORD, Visit, text_of
from tests.web.support import TestClient

FORM = {"content-type": "application/x-www-form-urlencoded"}


# Sessions


def set_cookies(response: object) -> dict[str, str]:
    result = [text.lower() for text in response.headers.get_list("set-cookie")]  # type: ignore[attr-defined]
    return {text.partition("=")[0]: text for text in result}


def test_the_session_cookie_is_signed_http_only_and_same_site(ada: User, anybody: Visit) -> None:
    cookies = set_cookies(anybody.send("/sign-in", login="ada", password=PASSWORD))
    cookie = cookies["blog_session"]
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "path=/" in cookie
    assert "domain" not in cookie
    assert "httponly" not in cookies["blog_form_token"]  # scripts of the API's page send it
    assert "samesite=strict" in cookies["blog_form_token"]


def test_cookies_are_secure_over_https(blog: Blog, ada: User) -> None:
    settings = Settings(secret=SECRET, hosts=("blog.example",), origin="https://blog.example")
    visitor = Visit(site_application(Site(blog, settings)), "https://blog.example")
    answer = visitor.send("/sign-in", login="ada", password=PASSWORD)
    assert "secure" in set_cookies(answer)["__host-blog_session"]
    assert "strict-transport-security" in answer.headers
    assert visitor.get("/desk").status_code == 200


def test_signing_in_replaces_the_session_cookie(ada: User, anybody: Visit) -> None:
    planted = anybody.token("/sign-in")
    anybody.client.post("/sign-in", data={"csrf": planted, "login": "ada", "password": PASSWORD})
    assert anybody.client.post("/sign-out", data={"csrf": planted}).status_code == 403


@pytest.mark.parametrize("how", ["changed", "cut", "unsigned", "empty", "long", "foreign", "binary"])
def test_a_forged_session_is_rejected(author: Visit, visit: Callable[[], Visit], how: str) -> None:
    cookie = author.client.cookies["blog_session"]
    forged = {
        "changed": cookie.replace(cookie[30], "x" if cookie[30] != "x" else "y", 1),
        "cut": cookie[:-2],
        "unsigned": cookie.rpartition(".")[0],
        "empty": "",
        "long": cookie * 20,
        "foreign": f"{cookie.rpartition('.')[0]}.{'A' * 43}",
        "binary": "%00%ff.é".encode().decode("latin-1"),
    }[how]
    other = visit()
    answer = other.get("/desk", headers={"cookie": f"blog_session={forged}".encode("latin-1")})
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/sign-in")


def test_a_form_of_an_expired_session_is_rejected_and_its_input_kept(blog: Blog, ada: User, author: Visit) -> None:
    token = author.token("/write")
    (session,) = blog.sessions(ada.user_id)
    blog.put(Session(**{**session.model_dump(), "expires_at": now() - timedelta(seconds=1)}))
    assert author.get("/desk").status_code == 303
    answer = author.client.post("/write", data={"csrf": token, "title": "Long work", "content": "All of it."})
    assert answer.status_code == 403
    assert "All of it." in answer.text  # the input can be copied


def test_the_session_of_a_suspended_user_ends_immediately(blog: Blog, ada: User, author: Visit) -> None:
    blog.set_status(ada.user_id, "suspended")
    assert author.get("/desk").status_code == 303


# Cross-site forms

FORMS = [
    "/sign-in",
    "/sign-up",
    "/sign-up/finish",
    "/sign-out",
    "/contact",
    "/account",
    "/account/password",
    "/account/email",
    "/account/author",
    "/account/sessions",
    "/account/unlink",
    "/account/tokens",
    "/password/forgotten",
    "/password/reset",
    "/email/verify",
    "/account/delete",
    "/write",
    "/write/{post}/delete",
    "/write/preview",
    "/write/{post}",
    "/write/{post}/archive",
    "/posts/keys-and-doors/like",
    "/posts/keys-and-doors/rate",
    "/posts/keys-and-doors/comments",
    "/posts/keys-and-doors/comments/change",
    "/moderation/users/{user}",
    "/inbox",
]


def test_the_cross_site_tests_cover_every_form_of_the_site(served: Starlette) -> None:
    forms = [route.path for route in served.routes if "POST" in route.methods]  # type: ignore[attr-defined]
    assert len(forms) == len(FORMS) + 1  # image upload has no form: its token is in a header


@pytest.mark.parametrize("path", FORMS)
def test_a_form_without_a_token_is_rejected(blog: Blog, moderator: Visit, post: Post, ada: User, path: str) -> None:
    where = path.format(post=post.post_id, user=ada.user_id)
    for body in (b"", b"csrf=", b"csrf=x", b"csrf=" + b"A" * 43, b"csrf=%C3%A9"):
        answer = moderator.client.post(where, content=body, headers=FORM)
        assert answer.status_code == 403
        assert "This form has expired" in answer.text
    assert blog.post(post.post_id) == post


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://["},
        {"origin": ""},
        {"origin": "http://testserver@evil.example"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_a_cross_site_form_is_rejected_even_with_a_token(author: Visit, headers: dict[str, str]) -> None:
    token = author.token("/account")
    answer = author.client.post("/account", data={"csrf": token, "name": "Evil"}, headers=headers)
    assert answer.status_code == 403
    assert author.client.post(
        "/account", data={"csrf": token, "name": "Ada"}, headers={"origin": "http://testserver"}
    ).is_redirect


def test_a_form_token_is_valid_only_in_its_browser(author: Visit, reader: Visit) -> None:
    token = author.token("/account")
    assert reader.client.post("/account", data={"csrf": token, "name": "Evil"}).status_code == 403


# Limits


def test_sign_ins_are_limited_by_ip_address_and_login(ada: User, anybody: Visit, clock: Clock) -> None:
    for _ in range(LIMITS["sign-in"].attempts):
        assert anybody.send("/sign-in", login="ada", password="wrong").status_code == 422
    answer = anybody.send("/sign-in", login="ADA", password=PASSWORD)
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 0
    clock.seconds += LIMITS["sign-in"].seconds
    assert anybody.send("/sign-in", login="ada", password=PASSWORD).status_code == 303


def test_sign_ins_of_one_login_are_limited_across_ip_addresses(site: Site, served: Starlette, ada: User) -> None:
    def send(number: int, login: str) -> int:
        visit = Visit(served)
        visit.client = TestClient(served, client=(f"192.0.2.{number}", 1), follow_redirects=False)
        return visit.send("/sign-in", login=login, password="wrong").status_code

    for _ in range(LIMITS["sign-in to an account"].attempts - 1):
        assert site.limiters["sign-in to an account"].wait_seconds("login ada") == 0
    assert [send(number, "ada") for number in (1, 2, 3)] == [422, 429, 429]
    assert send(1, "rita") == 422


def test_rate_limits_count_an_ipv6_network_as_one_address(served: Starlette, ada: User) -> None:
    statuses: list[int] = []
    for number in range(LIMITS["sign-in"].attempts + 1):
        visit = Visit(served)
        visit.client = TestClient(served, client=(f"2001:db8::{number:x}", 1), follow_redirects=False)
        statuses.append(visit.send("/sign-in", login="ada", password="wrong").status_code)
    assert statuses[-2:] == [422, 429]


def test_previews_of_long_texts_are_rate_limited_in_every_form(author: Visit) -> None:
    token = author.token("/write")

    def status(number: int, path: str = "/write") -> int:
        form = {"csrf": token, "title": "T", "content": f"{number} " * 45_000, "action": "preview"}
        answer: Response = author.client.post(path, data=form)
        return answer.status_code

    assert [status(number) for number in (1, 2, 3)] == [200] * 3
    assert [status(4), status(5, "/write/preview")] == [429] * 2
    assert status(1) == 200  # cached results need no rendering


def test_contact_messages_are_rate_limited_and_their_input_is_kept(anybody: Visit) -> None:
    fields = {"name": "A", "email": "a@example.com", "subject": "S", "text": "Hello there"}
    for _ in range(LIMITS["contact"].attempts):
        assert anybody.send("/contact", **fields).status_code == 303
    answer = anybody.send("/contact", **fields)
    assert answer.status_code == 429
    assert "Hello there" in answer.text


# Headers, hosts, sizes, encodings


@pytest.mark.parametrize("path", ["/", "/nothing", "/static/site.css", "/feed.atom", "/robots.txt", "/desk"])
def test_every_response_has_the_security_headers(anybody: Visit, path: str) -> None:
    headers = anybody.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"


def test_pages_satisfy_the_content_security_policy(author: Visit, moderator: Visit, post: Post) -> None:
    paths = ["/", "/posts/keys-and-doors", "/write", "/account", "/desk", "/search?q=keys", "/tags"]
    for visitor, path in [*((author, path) for path in paths), (moderator, "/moderation"), (moderator, "/inbox")]:
        page = visitor.get(path).text
        assert " style=" not in page
        assert "<style" not in page
        assert " onclick" not in page
        assert page.count("<script") == page.count('<script src="/static/')


def test_personalized_responses_are_not_cached(author: Visit, anybody: Visit, post: Post) -> None:
    assert author.get("/").headers["cache-control"] == "private, no-store"
    assert anybody.get("/").headers["cache-control"] == "private, no-cache"
    assert "set-cookie" not in anybody.get("/posts/keys-and-doors").headers


@pytest.mark.parametrize(
    "host",
    ["evil.example", "testserver.evil.example", "", "testserver:80:80", "testserver:²".encode("latin-1"), "[::1]"],
)
def test_a_request_with_an_unknown_host_is_rejected(anybody: Visit, host: str | bytes) -> None:
    assert anybody.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("path", ["/robots.txt", "/openapi.json"])
@pytest.mark.parametrize("hosts", [("evil.example", "testserver"), ("testserver", "evil.example")])
def test_a_request_with_two_host_headers_is_rejected(beside: Beside, path: str, hosts: tuple[str, str]) -> None:
    headers = [("host", host) for host in hosts]
    assert TestClient(beside).get(path, headers=headers).status_code == 421


def test_behind_a_proxy_forms_are_accepted_only_from_the_public_origin(blog: Blog, ada: User) -> None:
    settings = Settings(secret=SECRET, hosts=("127.0.0.1", "blog.example"), origin="https://blog.example")
    visitor = Visit(site_application(Site(blog, settings)), "https://127.0.0.1:8000")
    form = {"csrf": visitor.token("/sign-in"), "login": "ada", "password": PASSWORD}
    assert visitor.client.post("/sign-in", data=form, headers={"origin": "https://evil.example"}).status_code == 403
    assert visitor.client.post("/sign-in", data=form, headers={"origin": "https://blog.example"}).status_code == 303


def test_a_request_body_over_the_size_limit_is_rejected(author: Visit) -> None:
    big = b"csrf=x&content=" + b"a" * BODY_BYTES_MAX
    assert author.client.post("/write", content=big, headers=FORM).status_code == 413

    def parts() -> object:
        for _ in range(40):
            yield b"a" * 64 * 1024

    assert author.client.post("/write", content=parts(), headers=FORM).status_code == 413


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"csrf=%ff%fe&login=ada", FORM["content-type"], 400),
        (b"csrf=\xff", FORM["content-type"], 400),
        (b"&".join(b"a%d=1" % n for n in range(60)), FORM["content-type"], 400),
        (b'{"login": "ada"}', "application/json", 415),
        (b"--x\r\n\r\n--x--", "multipart/form-data; boundary=x", 415),
        (b"login=ada", "", 415),
        (b"%", FORM["content-type"], 403),
        (b"", FORM["content-type"], 403),
    ],
)
def test_an_undecodable_request_body_is_rejected(anybody: Visit, body: bytes, kind: str, status: int) -> None:
    anybody.get("/sign-in")
    assert anybody.client.post("/sign-in", content=body, headers={"content-type": kind}).status_code == status


@pytest.mark.parametrize("path", ["/search?q=%ff", "/latest?cursor=%ed%a0%80", f"/search?q={'x' * 9000}"])
def test_an_undecodable_url_is_rejected(anybody: Visit, path: str) -> None:
    assert anybody.get(path).status_code in {400, 414}


@pytest.mark.parametrize(
    "path",
    [
        "/posts/%00",
        "/posts/%ff",
        "/posts/" + "x" * 3000,
        "/authors/%E2%80%AE",
        "/tags/%00",
        "/tags/" + "a," * 300,
        "/tags/%2e%2e%2fetc",
        "/search?q=%00",
        "/search?q=%F0%9F%8E%89",
        "/search/tags?prefix=%00",
        "/sitemap-0.xml",
        "/sitemap-99999999999999999999.xml",
        "/sitemap-2026-02-30.xml",
        "/sitemap-9999-12-31.xml",
        "/sitemap-0001-01-01.xml",
        "/sign-in/with/%00",
        "/static/..%2f..%2fsite.py",
        "/latest?cursor=" + "A" * 2000,
    ],
)
def test_random_urls_cause_no_server_error(anybody: Visit, path: str) -> None:
    assert anybody.get(path).status_code in {200, 400, 404}


# Redirects


@pytest.mark.parametrize(
    "target",
    [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/%0d%0aset-cookie:x=y",
        "/\r\nlocation: https://evil.example",
        "///evil.example",
        "/" + "x" * 3000,
        "",
        "http:/evil.example",
        "//[",
    ],
)
def test_redirects_lead_only_to_pages_of_the_site(ada: User, anybody: Visit, target: str) -> None:
    answer = anybody.send("/sign-in", login="ada", password=PASSWORD, next=target)
    assert answer.status_code == 303
    where = answer.headers["location"]
    assert where == local_path(target)
    assert where.startswith("/")
    assert not where.startswith(("//", "/\\"))
    assert "evil.example" not in where


def test_html_in_user_text_is_escaped_on_all_pages(blog: Blog, author: Visit, moderator: Visit, anybody: Visit) -> None:
    bad = "<img src=x onerror=alert(1)>\"'"
    author.send("/account", name=bad, bio=bad)
    author.send("/write", title=bad, content=bad, tags="a", action="publish")
    anybody.send("/contact", name=bad, email="a@example.com", subject=bad, text=bad)
    (post,) = blog.latest_posts()
    pages = ["/", "/latest", f"/posts/{post.slug}", "/authors/ada", "/tags/a", "/feed.atom"]
    for page in pages:
        text = anybody.get(page).text
        assert "onerror=alert" not in text.replace("&lt;img src=x onerror=alert", ""), page
    for page in ("/inbox", "/moderation", "/moderation/posts"):
        assert "<img" not in moderator.get(page).text


def test_pages_require_specific_roles(reader: Visit, author: Visit, anybody: Visit, mona: User, rita: User) -> None:
    for path in ("/moderation", "/moderation/posts", "/inbox"):
        assert reader.get(path).status_code == 404
        assert author.get(path).status_code == 404
        assert anybody.get(path).status_code == 303
    assert reader.get("/write").status_code == 403
    answer = author.send(f"/moderation/users/{rita.user_id}", "/account", status="suspended")
    assert answer.status_code == 404


def test_a_request_to_an_unreachable_store_shows_an_error_page(site: Site, blog: Blog, anybody: Visit) -> None:
    blog.close()
    answer = anybody.get("/latest")
    assert answer.status_code == 503
    assert "Try again later" in text_of(answer)
