"""The API next to the site: permissions, the user id in writes, and robustness."""

from __future__ import annotations

from typing import Any

import pytest
from starlette import concurrency
from starlette.concurrency import run_in_threadpool

from keyplan.web import api as endpoints
from keyplan.web.application import Beside
from keyplan_systems.blog.access import WHO
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import CONTENT_BYTES_MAX, Post, User
from keyplan_systems.blog.site.policy import BlogPolicy
from keyplan_systems.blog.site.site import Site
from keyplan_systems.site.limits import Limit, RateLimiter
from tests.systems.blog_site.support import Visit, make_post


class Api:
    """A client of the API that has a token or is anonymous."""

    def __init__(self, site: Site, served: Beside, user: User | None) -> None:
        self.visit = Visit(served)
        if user is not None:
            token = site.visitors.sessions.open(user, kind="token")
            self.visit.client.headers["authorization"] = f"Bearer {token}"

    def read(self, pattern: str, **given: Any) -> tuple[int, Any]:
        answer = self.visit.client.get(f"/api/{pattern}", params=given)
        return answer.status_code, answer.json()

    def write(self, pattern: str, **given: Any) -> tuple[int, Any]:
        answer = self.visit.client.post(f"/api/{pattern}", json=given)
        return answer.status_code, answer.json() if answer.content else None


@pytest.fixture
def nobody(site: Site, beside: Beside) -> Api:
    return Api(site, beside, None)


@pytest.fixture
def as_ada(site: Site, beside: Beside, ada: User) -> Api:
    return Api(site, beside, ada)


@pytest.fixture
def as_rita(site: Site, beside: Beside, rita: User) -> Api:
    return Api(site, beside, rita)


@pytest.fixture
def as_mona(site: Site, beside: Beside, mona: User) -> Api:
    return Api(site, beside, mona)


def test_the_access_policy_sets_only_existing_parameters_of_patterns() -> None:
    for name in BlogPolicy.patterns:
        filled = BlogPolicy.filled(None, name)  # type: ignore[arg-type]
        assert set(filled) <= {parameter.name for parameter in Blog.compiled.patterns[name].signature.parameters}


def test_one_server_serves_the_pages_of_the_site_and_the_api(nobody: Api, post: Post) -> None:
    assert "Marginalia" in nobody.visit.get("/").text
    assert "Access patterns" in nobody.visit.get("/docs").text
    paths = nobody.visit.get("/openapi.json").json()["paths"]
    assert "/api/latest_posts" in paths
    assert nobody.visit.get("/static/page.css").status_code == 200
    assert nobody.visit.get("/static/site.css").status_code == 200
    assert nobody.visit.get("/nothing").headers["content-type"].startswith("text/html")
    assert nobody.visit.get("/api/nothing").json()["error"]["code"] == "UnknownPattern"


def test_the_api_does_not_expose_credential_and_session_patterns(as_mona: Api) -> None:
    client = as_mona.visit.client
    paths, page = as_mona.visit.get("/openapi.json").json()["paths"], as_mona.visit.get("/docs").text
    names = [name for name in Blog.compiled.patterns if name not in WHO]
    assert len(names) > 20
    for name in names:
        assert client.get(f"/api/{name}").status_code == 404, name
        assert client.post(f"/api/{name}", json={}).status_code == 404, name
        assert client.post(f"/try/{name}", json={}).status_code == 404, name
        assert f"/api/{name}" not in paths
        assert f'data-pattern="{name}"' not in page


def test_the_api_requires_authentication_for_private_patterns(nobody: Api) -> None:
    names = [name for name, who in WHO.items() if who != "anyone"]
    assert len(names) > 20
    for name in names:
        method = "GET" if name in Blog.compiled.reads else "POST"
        for base in ("api", "try"):
            answer = nobody.visit.client.request(method, f"/{base}/{name}", json=None if method == "GET" else {})
            status = answer.status_code if base == "api" else answer.json()["status"]
            assert status == 401, (base, name)


@pytest.mark.parametrize("name", sorted(name for name, who in WHO.items() if who == "moderator"))
def test_authors_cannot_call_moderator_patterns(as_ada: Api, name: str) -> None:
    arguments: dict[str, Any] = {"status": "active", "month": "2026-11", "email": "ada@example.com"}
    arguments |= {"at": "2026-11-01T00:00:00Z", "message_id": "1", "user_id": "1", "role": "reader", "post_id": "1"}
    arguments |= {"thread_id": "1", "comment_id": "1"}
    names = {parameter.name for parameter in Blog.compiled.patterns[name].signature.parameters}
    given = {key: value for key, value in arguments.items() if key in names}
    statuses = {"latest_comments": "shown", "moderate_comment": "hidden"}
    if name in statuses:
        given["status"] = statuses[name]
    call = as_ada.read if name in Blog.compiled.reads else as_ada.write
    status, result = call(name, **given)
    assert (status, result["error"]["code"]) == (403, "AccessDenied")


def test_the_api_shows_drafts_only_to_their_author(
    nobody: Api, as_ada: Api, as_rita: Api, as_mona: Api, draft: Post
) -> None:
    for asked in ({"name": "post", "post_id": draft.post_id}, {"name": "post_by_slug", "slug": draft.slug}):
        name = asked.pop("name")
        assert nobody.read(name, **asked)[0] == 404
        assert as_rita.read(name, **asked)[0] == 404
        assert as_ada.read(name, **asked)[0] == 200
        assert as_mona.read(name, **asked)[0] == 200
    assert nobody.read("whole_post", post_id=draft.post_id)[0] == 404
    listed = {"user_id": draft.user_id, "status": "unpublished"}
    assert nobody.read("posts_of_user", **listed)[0] == 403
    assert as_rita.read("posts_of_user", **listed)[0] == 403
    assert len(as_ada.read("posts_of_user", **listed)[1]["items"]) == 1
    assert as_rita.write("like_post", post_id=draft.post_id)[0] == 404
    assert as_rita.write("publish", post_id=draft.post_id)[0] in {403, 404}
    shown = nobody.visit.get("/try/post", params={"post_id": draft.post_id}).json()
    assert shown["status"] == 404
    assert "answer" not in shown
    assert shown["requests"] == []
    assert nobody.read("slug_of", slug=draft.slug)[0] == 404
    assert as_rita.read("slug_of", slug=draft.slug)[0] == 404
    assert as_ada.read("slug_of", slug=draft.slug)[0] == 200
    assert nobody.visit.get("/try/post_by_slug", params={"slug": draft.slug}).json()["requests"] == []


def test_api_writes_set_the_user_id_of_the_caller(as_ada: Api, as_rita: Api, ada: User, rita: User, blog: Blog) -> None:
    post = {"slug": "by-api", "title": "By API", "tags": ["keys"], "user_id": ada.user_id, "rating": 10**6}
    status, made = as_ada.write("create_post", post=post, content="Text.")
    assert status == 200, made
    assert made["post"]["rating"] == 0
    stolen = {**post, "slug": "other", "user_id": rita.user_id}
    assert as_ada.write("create_post", post=stolen, content="Text.")[0] == 403
    assert as_rita.write("create_post", post={**post, "user_id": rita.user_id}, content="x")[0] == 403  # reads only
    post_id = made["post"]["post_id"]
    assert as_ada.write("publish", post_id=post_id)[0] == 200
    assert as_rita.write("like_post", post_id=post_id)[0] == 200
    seen = blog.post_seen(post_id, rita.user_id)
    assert seen is not None
    assert seen.liked
    status, result = as_rita.write("like_post", post_id=post_id, user_id=ada.user_id)
    assert (status, result["error"]["errors"][0]["message"]) == (400, "is set by the server")
    status, result = as_rita.read("post_seen", post_id=post_id, user_id=ada.user_id)
    assert status == 400


def test_the_api_reads_posts_by_slug(as_ada: Api, ada: User) -> None:
    for slug in ("a/b", "..", "A", "a b", "é%2f"):
        given = {"slug": slug, "title": "T", "user_id": ada.user_id}
        assert as_ada.write("create_post", post=given, content="x")[0] in {400, 409}, slug


def test_moderators_cannot_suspend_each_other(as_mona: Api, mona: User, rita: User) -> None:
    assert as_mona.write("set_status", user_id=mona.user_id, status="suspended")[0] == 403
    assert as_mona.write("set_role", user_id=mona.user_id, role="reader")[0] == 403  # nor with another pattern
    assert as_mona.write("set_role", user_id=rita.user_id, role="author")[0] == 204
    assert as_mona.write("set_status", user_id=rita.user_id, status="suspended")[0] == 200


def test_the_api_rejects_invisible_text(as_ada: Api, as_rita: Api, ada: User, blog: Blog, draft: Post) -> None:
    given = {"slug": "s", "title": "T", "user_id": ada.user_id, "tags": []}
    edit = {"post_id": draft.post_id, "version": 1, "title": "T", "content": "x", "slug": "s", "tags": []}
    for wrong in ({"tags": ["a,b"]}, {"tags": [".."]}, {"tags": [" "]}, {"title": "a\0b"}, {"title": "\u202ea"}):
        for pattern, body in (
            ("create_post", {"post": {**given, **wrong}, "content": "x"}),
            ("edit_post", {**edit, **wrong}),
        ):
            status, result = as_ada.write(pattern, **body)
            assert (status in {400, 409}, result["error"]["errors"][0]["place"]) == (True, next(iter(wrong))), wrong
    long = "x" * (CONTENT_BYTES_MAX + 1)
    assert as_ada.write("create_post", post=given, content=long)[1]["error"]["code"] == "ItemTooLarge"
    assert as_ada.write("edit_post", **{**edit, "content": long})[1]["error"]["code"] == "ItemTooLarge"
    for name, bio in (("\u200b", ""), ("\u202eA", ""), ("A\nB", ""), ("A", "\0")):
        assert as_rita.write("edit_profile", name=name, bio=bio)[0] == 400
    assert as_rita.write("edit_profile", name="Rita", bio="Two\nlines")[0] == 204
    assert blog.whole_post(draft.post_id).content.version == 1  # type: ignore[union-attr]


def test_only_moderators_can_read_deleted_users(as_rita: Api, as_mona: Api, nobody: Api, ada: User, blog: Blog) -> None:
    blog.set_status(ada.user_id, "deleted")
    for api, status, count in ((nobody, 404, 0), (as_rita, 404, 0), (as_mona, 200, 1)):
        assert api.read("user", user_id=ada.user_id)[0] == status
        assert api.read("user_by_username", username="ada")[0] == status
        assert len(api.read("users", user_id=ada.user_id)[1]["items"]) == count


def test_api_responses_are_not_cached(nobody: Api, as_ada: Api, draft: Post) -> None:
    asked = {"params": {"post_id": draft.post_id}}
    for visit, path in ((as_ada.visit, "/api/post"), (nobody.visit, "/api/post"), (as_ada.visit, "/try/post")):
        assert visit.get(path, **asked).headers["cache-control"] == "no-store"


def test_an_api_call_runs_in_one_thread(nobody: Api, as_ada: Api, post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[str] = []

    async def counted(job: Any, *given: Any) -> Any:
        jobs.append(job.__name__)
        return await run_in_threadpool(job, *given)

    for module in (endpoints, concurrency):  # of a write and of a read
        monkeypatch.setattr(module, "run_in_threadpool", counted)
    for asked in (nobody, as_ada):
        for pattern, given in (
            ("tags_starting", {"tag": "k"}),
            ("latest_posts", {}),
            ("post", {"post_id": post.post_id}),
        ):
            jobs.clear()
            assert asked.read(pattern, **given)[0] == 200
            assert len(jobs) == 1
    jobs.clear()
    assert as_ada.write("like_post", post_id=post.post_id)[0] == 200
    assert len(jobs) == 1


def test_the_api_rejects_changes_to_posts_of_other_authors(
    as_ada: Api, as_mona: Api, blog: Blog, visit: Any, post: Post
) -> None:
    from tests.systems.blog_site.support import make_user  # noqa: PLC0415

    other = make_post(blog, make_user(blog, "olga"), "Hers")
    edit = {"post_id": other.post_id, "version": 1, "title": "Mine", "content": "x", "slug": "hers", "tags": []}
    assert as_ada.write("edit_post", **edit)[0] == 403
    for action in ("publish", "unpublish", "archive", "restore"):
        assert as_ada.write(action, post_id=other.post_id)[0] == 403
    assert as_mona.write("edit_post", **edit)[0] == 403
    assert as_mona.write("unpublish", post_id=other.post_id)[0] == 200


def test_a_write_with_a_session_cookie_requires_its_form_token(beside: Beside, rita: User, post: Post) -> None:
    visit = Visit(beside).sign_in("rita")
    body = {"post_id": post.post_id}
    assert visit.client.post("/api/like_post", json=body).status_code == 403
    assert visit.client.post("/api/like_post", json=body, headers={"x-csrf-token": "x"}).status_code == 403
    token = visit.client.cookies["blog_form_token"]
    assert visit.client.post("/api/like_post", json=body, headers={"x-csrf-token": token}).status_code == 200
    assert visit.get("/api/post_seen", params=body).json()["liked"] is True


@pytest.mark.parametrize("claim", ["", "Bearer", "Bearer x", "Basic YTpi", "Bearer " + "x" * 5000, "bearer é"])
def test_the_api_rejects_an_invalid_token(nobody: Api, claim: str) -> None:
    answer = nobody.visit.get("/api/latest_posts", headers={"authorization": claim.encode("latin-1")})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "AccessDenied")


def test_an_api_token_is_invalid_after_its_session_ends(as_ada: Api, blog: Blog, ada: User) -> None:
    assert as_ada.read("who_saw_post", post_id="x")[0] == 404
    blog.end_sessions(ada.user_id)
    assert as_ada.read("latest_posts")[0] == 403


def test_examples_on_the_api_pages_contain_no_stored_values(nobody: Api, ada: User) -> None:
    assert nobody.visit.get("/examples.json").json() == {}


def test_the_api_returns_no_email_address_and_no_password_hash(as_ada: Api, nobody: Api, post: Post, ada: User) -> None:
    for name, given in (
        ("user_by_username", {"username": "ada"}),
        ("user", {"user_id": ada.user_id}),
        ("users", {"user_id": ada.user_id}),
        ("front_page", {"replica": 0}),
        ("latest_posts", {}),
    ):
        text = str(nobody.read(name, **given))
        assert "example.com" not in text
        assert "hash" not in text


def test_api_writes_share_the_rate_limits_of_forms(site: Site, as_ada: Api, as_rita: Api, post: Post) -> None:
    for action in ("write", "respond"):
        site.limiters[action] = RateLimiter(Limit(attempts=2, seconds=600), site.settings.clock)
    begun = {"user_id": post.user_id, "slug": "s", "title": "T"}
    made = [as_ada.write("create_post", post={**begun, "slug": f"s-{number}"}, content="x") for number in range(3)]
    assert [status for status, _ in made] == [200, 200, 429]
    assert made[-1][1]["error"]["code"] == "TooManyRequests"
    liked = [as_rita.visit.client.post("/api/like_post", json={"post_id": post.post_id}) for _ in range(3)]
    assert [value.status_code for value in liked] == [200, 200, 429]
    assert int(liked[-1].headers["retry-after"]) > 0
    assert as_ada.read("latest_posts")[0] == 200


def test_previews_are_rate_limited_by_their_rendering_time(site: Site, blog: Blog, ada: User, author: Visit) -> None:
    site.limiters["preview"] = RateLimiter(Limit(attempts=4, seconds=600), site.settings.clock)
    drafts = [make_post(blog, ada, f"T{number}", f"{number} ![" * 2_000, publish=False) for number in range(3)]
    statuses = [author.get(f"/write/{draft.post_id}").status_code for draft in drafts]
    assert statuses == [200, 429, 429]
    assert author.get(f"/write/{drafts[0].post_id}").status_code == 200


def test_large_previews_are_limited_to_two_per_30_seconds(blog: Blog, ada: User, author: Visit) -> None:
    drafts = [make_post(blog, ada, f"T{number}", f"{number} " + "![" * 49_000, publish=False) for number in range(8)]
    statuses = [author.get(f"/write/{draft.post_id}").status_code for draft in drafts for _ in range(5)]
    assert statuses == [200] * 10 + [429] * 30  # results are cached
