"""A post of several authors on the site and in the API: where it stands, who may read its draft, and how its author
asks the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from keyplan.web.application import Beside
from keyplan_systems.blog import accounts
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Post, User
from keyplan_systems.blog.site.site import LIMITS, Site
from tests.systems.blog_site.conftest import Clock
from tests.systems.blog_site.support import Visit, make_post, make_user, text_of
from tests.systems.blog_site.test_api import Api
from tests.systems.letters import Box


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
    assert [text in desk for text in ('href="/posts/half-a-thought"', f'/write/{post.post_id}"')] == [True, False]
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


def test_an_author_asks_others_who_agree_decline_and_leave(
    blog: Blog, ada: User, rita: User, post: Post, author: Visit, reader: Visit, visit: Callable[[], Visit]
) -> None:
    make_user(blog, "ben")
    make_user(blog, "cleo")
    as_ben, as_cleo = visit().sign_in("ben"), visit().sign_in("cleo")

    def name(page: str, *people: str, **fields: str) -> str:
        given = {"title": "Half a thought", "content": "It isn’t.", "slug": "half", "co_authors": " ".join(people)}
        answer = author.send(page, page, **given, **version_of(page), **fields)
        return answer.headers["location"].partition("?")[0] if answer.status_code == 303 else text_of(answer)

    def version_of(page: str) -> dict[str, str]:
        match = re.search(r'name="version" value="(\d+)"', author.get(page).text)
        return {} if match is None else {"version": match[1]}

    wrong = (("nobody", "nobody here is called nobody"), ("rita", "rita only reads here"), ("\x00x", "is called \x00x"))
    for names, said in wrong:
        assert said in name("/write", names)
    assert "at most 20 co-authors" in name("/write", *(f"name-{number}" for number in range(40)))
    place = name("/write", "@Ben,", "cleo", "ada")
    editor = author.get(place).text
    assert ["Asked so far: ben cleo." in editor, 'value="ben cleo"' in editor] == [True, True]
    # who was asked reads the draft and decides; nobody else knows
    (draft,) = [value for value in blog.posts_of_user(ada.user_id, "unpublished") if value.slug == "half"]
    assert "Ada Example would like to name you as an author of Half a thought" in text_of(as_ben.get("/desk"))
    assert [each.get("/posts/half").status_code for each in (as_ben, reader, visit())] == [200, 404, 404]
    for action in ("agree", "leave"):
        assert author.send(f"/write/{post.post_id}/{action}", "/desk").status_code == 404
        assert as_ben.client.post(f"/write/{draft.post_id}/{action}", data={"csrf": "x"}).status_code == 403
    name(place, "ben", "cleo", action="publish", asked="ben cleo")
    assert "Ben Example" not in text_of(visit().get("/posts/half"))
    for _ in range(2):  # a second press changes nothing
        answer = as_ben.send(f"/write/{draft.post_id}/agree", "/desk")
        assert answer.headers["location"] == "/desk?status=with-others&done=named"
    as_cleo.send(f"/write/{draft.post_id}/agree", "/desk")
    assert "Ada Example, Ben Example and Cleo Example" in text_of(visit().get("/posts/half")).replace(" ,", ",")
    # one leaves, the other is taken off
    assert "Take my name off Half a thought" in text_of(as_ben.get("/desk?status=with-others"))
    as_ben.send(f"/write/{draft.post_id}/leave", "/desk?status=with-others")
    assert as_ben.client.get("/desk").text.count("would like to name you") == 0
    assert name(place, asked="") == place
    assert text_of(visit().get("/posts/half")).count("Example") == text_of(visit().get("/posts/half")).count(
        "Ada Example"
    )
    # a form from before there was such a field takes nobody off
    blog.name_co_authors(draft.post_id, (rita.user_id,))
    author.send(place, place, title="Half a thought", content="It isn’t.", slug="half", **version_of(place))
    assert [value.co_authors for value in blog.posts([draft.post_id])] == [(rita.user_id,)]


def test_who_is_asked_hears_of_it_by_mail_at_a_confirmed_address(
    blog: Blog, author: Visit, box: Box, clock: Clock
) -> None:
    """Once a day by one author, however often the question is taken back; and nobody hears of it twice for a post."""
    for name in ("ben", "cleo", "dora"):
        user = make_user(blog, name)
        if name != "cleo":
            accounts.verify_email(blog, user.user_id, f"{name}@example.com")

    def save(page: str, names: str, **fields: str) -> str:
        given = {
            "title": "Half a <b>thought</b>",
            "content": "It isn’t.",
            "slug": "half",
            "co_authors": names,
            **fields,
        }
        match = re.search(r'name="version" value="(\d+)"', author.get(page).text)
        answer = author.send(page, page, **given, **({} if match is None else {"version": match[1]}))
        assert answer.status_code == 303
        return str(answer.headers["location"].partition("?")[0])

    place = save("/write", "ben cleo")
    (letter,) = box.letters
    assert (letter.to, letter.subject) == ("ben@example.com", "Ada Example asks you at Marginalia")
    assert "name you as an author of “Half a <b>thought</b>” at Marginalia" in letter.text
    assert letter.link == "/desk"
    save(place, "ben cleo", asked="ben cleo")
    save(place, "", asked="ben cleo")
    save(place, "ben", asked="")
    assert len(box.letters) == 1
    save(place, "ben dora", asked="ben")
    assert [letter.to for letter in box.letters] == ["ben@example.com", "dora@example.com"]
    clock.seconds += LIMITS["ask"].seconds + 1
    save(place, "dora", asked="ben dora")
    save(place, "dora ben", asked="dora")
    assert [letter.to for letter in box.letters][2:] == ["ben@example.com"]
