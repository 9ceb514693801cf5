"""A post of several authors on the site and in the API: where it stands, and who may read its draft."""

from __future__ import annotations

from collections.abc import Callable

from keyplan.web.beside import Beside
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Post, User
from keyplan_systems.blog.site.site import Site
from tests.systems.blog_site.support import Visit, make_post, make_user, text_of
from tests.systems.blog_site.test_api import Api


def test_a_post_stands_on_the_pages_of_all_its_authors(
    blog: Blog, site: Site, beside: Beside, ada: User, rita: User, mona: User, post: Post, visit: Callable[[], Visit]
) -> None:
    ben = make_user(blog, "ben")
    own = make_post(blog, ben, "Bread", "Flour.")
    blog.name_co_authors(post.post_id, (ben.user_id,))
    page = text_of(visit().get("/authors/ben"))
    assert "1 post · 1 with others" in page
    assert page.index("Bread") < page.index("Keys and doors")
    assert "Ada Example" in page
    feed = visit().get("/authors/ben/feed.atom").text
    assert [text in feed for text in ("Bread", "Keys and doors", "<name>Ada Example</name>")] == [True] * 3
    # a draft is its authors' and nobody else's
    draft = make_post(blog, ada, "Half a thought", "It isn't", publish=False)
    blog.name_co_authors(draft.post_id, (ben.user_id,))
    as_ben = visit().sign_in("ben")
    desk = as_ben.get("/desk?status=with-others").text
    assert ["Half a thought" in desk, "Keys and doors" in desk, "Bread" in desk] == [True, True, False]
    assert [text in desk for text in ('href="/posts/half-a-thought"', f"/write/{post.post_id}")] == [True, False]
    shown = as_ben.get("/posts/half-a-thought")
    assert (shown.status_code, "only its authors and the moderators" in shown.text) == (200, True)
    assert as_ben.get(f"/write/{draft.post_id}").status_code == 404
    assert visit().get("/posts/half-a-thought").status_code == 404
    assert visit().sign_in("rita").get("/posts/half-a-thought").status_code == 404
    api = [Api(site, beside, user) for user in (None, ben, rita, mona)]
    for status, answers in (("published", [200] * 4), ("unpublished", [403, 200, 403, 200])):
        asked = [each.read("co_authored_posts", user_id=ben.user_id, status=status) for each in api]
        assert [answer[0] for answer in asked] == answers
    assert [each.read("post", post_id=draft.post_id)[0] for each in api] == [404, 200, 404, 200]
    # what its author may not show, nobody's page shows
    blog.set_status(ada.user_id, "suspended")
    page = visit().get("/authors/ben").text
    assert ["Bread" in page, "Keys and doors" in page] == [True, False]
    assert own.slug == "bread"
