"""Search finds posts by ranked words and prefixes. Writes update the search index, which contains no drafts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Post, User
from keyplan_systems.blog.searching import found_posts, rebuild, search_of
from keyplan_systems.blog.site.site import Site
from keyplan_systems.site import searching
from keyplan_systems.site.searching import Document, Search, search_beside
from tests.systems.blog_site.support import Visit, make_post, text_of


def test_matches_in_titles_and_tags_rank_before_matches_in_texts(site: Site, blog: Blog, ada: User) -> None:
    texts = [("Of doors", "A lantern hangs there."), ("Lantern", "Light."), ("Three", "Nothing."), ("Four", "x")]
    tags: list[tuple[str, ...]] = [(), (), ("lantern",), ()]
    posts = [make_post(blog, ada, title, text, tag) for (title, text), tag in zip(texts, tags, strict=True)]
    rebuild(blog, site.search)
    result = [post.title for post in found_posts(blog, site.search, "lantern", 10)]
    assert result == ["Lantern", "Three", "Of doors"]
    assert [post.title for post in found_posts(blog, site.search, "ada three", 10)] == ["Three"]
    assert [post.title for post in found_posts(blog, site.search, "LANT", 10)] == result
    assert found_posts(blog, site.search, "lantern zzz", 10) == []
    assert len(posts) == 4


def test_writes_update_the_search_index(author: Visit, anybody: Visit, blog: Blog, ada: User) -> None:
    page = "/search?q=heliotrope"
    author.send("/write", title="On heliotrope", content="Blue.", tags="", action="save")
    assert "On heliotrope" not in anybody.get(page).text
    (draft,) = blog.posts_of_user(ada.user_id, "unpublished")
    author.send(f"/write/{draft.post_id}/publish", "/desk")
    assert "On heliotrope" in anybody.get(page).text
    suggested = anybody.get("/search/tags?prefix=helio&posts=helio").json()
    assert suggested == {"tags": [], "posts": [{"title": "On heliotrope", "path": "/posts/on-heliotrope"}]}
    author.send(f"/write/{draft.post_id}/unpublish", "/desk")
    assert "No post contains all of these words." in text_of(anybody.get(page))


def test_search_shows_ten_posts_and_more_on_request(anybody: Visit, site: Site, blog: Blog, ada: User) -> None:
    for number in range(11):
        make_post(blog, ada, f"Heliotrope {number}", "Blue.", ())
    rebuild(blog, site.search)
    first = anybody.get("/search?q=heliotrope").text
    assert (first.count("<article"), "q=heliotrope&amp;more=yes" in first) == (10, True)
    whole = anybody.get("/search?q=heliotrope&more=yes").text
    assert (whole.count("<article"), "more=yes" in whole) == (11, False)


def test_search_with_an_outdated_index_shows_no_drafts(site: Site, blog: Blog, post: Post) -> None:
    rebuild(blog, site.search)
    blog.unpublish(post.post_id)  # by another process with its own index
    assert site.search.find("keys", 5) == [post.post_id]
    assert found_posts(blog, site.search, "keys", 5) == []


def test_a_search_index_file_is_shared_by_processes_and_rebuilt(tmp_path: Path) -> None:
    with Blog.open(tmp_path / "blog.db") as blog:
        first, second = search_of(blog), search_of(blog)
        first.put(Document("1", "Title", "", "", "Some *text*"))
        assert second.find("title", 5) == ["1"]
        assert rebuild(blog, second) == 0
        assert first.is_empty()
        first.close()
        second.close()
    assert (tmp_path / "blog.search").exists()


def test_a_search_for_a_common_word_prefers_title_matches_and_new_posts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "RANKED_MAX", 3)
    search = Search(None)
    texts = [
        ("Old", "lantern lantern"),
        ("Lantern", "old"),
        *[("Old", "lantern"), ("New", "lantern"), ("New", "x lantern")],
    ]
    search.replace_all(
        [Document("first", "None", "", "", "x")]
        + [Document(str(number), title, "", "", text) for number, (title, text) in enumerate(texts)]
    )
    assert set(search.find("lantern", 5)) == {"1", "2", "3", "4"}
    assert search.find("lantern", 2)[0] == "1"
    search.close()


def test_removed_documents_and_replaced_texts_are_not_found() -> None:
    search = Search(None)
    search.replace_all(Document(str(number), "Lantern", "", "", "lantern") for number in range(3))
    search.put(Document("0", "Torch", "", "", "no more"))
    search.remove("1")
    search.put(Document("3", "Other", "", "", "a lantern"))
    assert search.find("lantern", 9) == ["2", "3"]
    search.replace_all([])
    assert search.is_empty()
    assert search.find("lantern", 5) == []
    search.close()


def test_a_search_index_file_of_another_format_is_rebuilt(tmp_path: Path) -> None:
    """Four threads open the file at the same time, as several processes of a site may do."""
    place = tmp_path / "blog.search"
    old = apsw.Connection(str(place))
    old.execute("CREATE TABLE ids (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE)")
    old.execute("CREATE VIRTUAL TABLE documents USING fts5(title, tags, authors, text)")
    old.execute("INSERT INTO ids VALUES (1, 'old'); INSERT INTO documents (rowid, title) VALUES (1, 'Lantern')")
    old.close()
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(lambda _: Search(place), range(4)))
    assert [each.find("lantern", 5) for each in opened] == [[]] * 4
    opened[0].put(Document("new", "Lantern", "", "", ""))
    assert [each.find("lantern", 5) for each in opened] == [["new"]] * 4
    again = search_beside(str(tmp_path / "blog.db"), lambda search: search.put(Document("more", "Lantern", "", "", "")))
    assert again.find("lantern", 5) == ["new"]
    for each in (*opened, again):
        each.close()


def test_matches_of_rare_and_complete_words_rank_higher() -> None:
    search = Search(None)
    texts = ["the the the old sea", "the sea sea", "the old", "the seaside", "the x", "a x"]
    search.replace_all(Document(str(number), "", "", "", text) for number, text in enumerate(texts))
    assert search.find("the sea", 5) == ["1", "0", "3"]
    assert search.find("seas", 5) == ["3"]
    assert search.find("s", 5) == []  # a single letter is a word
    search.put(Document("7", "", "", "", "日本語"))
    assert search.find("日", 5) == ["7"]  # and here may start one
    search.close()


def test_search_results_are_cached_until_a_write(tmp_path: Path) -> None:
    search, other = Search(tmp_path / "a.search"), Search(tmp_path / "a.search")
    search.put(Document("1", "the sea", "", "", ""))
    statements: list[str] = []
    search._connection.trace_v2(  # pyright: ignore[reportPrivateUsage]
        apsw.SQLITE_TRACE_STMT, lambda event: statements.append(str(event["sql"]))
    )

    def asked(query: str, limit: int = 5) -> tuple[list[str], bool]:
        statements.clear()
        ids = list(search.find(query, limit))
        return ids, any("MATCH" in statement for statement in statements)

    assert [asked("sea"), asked("sea"), asked("sea", 4)] == [(["1"], True), (["1"], False), (["1"], True)]
    other.put(Document("2", "a sea", "", "", ""))  # by another process
    assert [asked("sea"), asked("sea")] == [(["2", "1"], True), (["2", "1"], False)]
    search.remove("1")
    assert [asked("sea"), asked("sea")] == [(["2"], True), (["2"], False)]
    search.close()
    other.close()


@pytest.mark.parametrize(
    "query",
    ['"', "AND", "title:x", "a*b", "NEAR(a b)", "-x", "^a", "''", "(", "\x00", "é" * 300, "_ a", "\U0001e4d0 a"],
)
def test_queries_with_search_operators_raise_no_error(query: str) -> None:
    search = Search(None)
    search.put(Document("1", "and near title x a b", "", "", ""))
    search.find(query, 5)
    search.close()


@given(st.text(max_size=50))
def test_random_search_queries_raise_no_error(query: str) -> None:
    search = Search(None)
    search.put(Document("1", query.replace("\x00", ""), "", "", ""))
    assert set(search.find(query, 5)) <= {"1"}
    search.close()


def test_tags_with_symbols_have_readable_addresses(anybody: Visit, blog: Blog, ada: User) -> None:
    make_post(blog, ada, "Sharp", "x", ("c#",))
    assert 'href="/tags/c-sharp"' in anybody.get("/posts/sharp").text
    for path in ("/tags/c-sharp", "/tags/c%23"):
        assert "Sharp" in anybody.get(path).text
