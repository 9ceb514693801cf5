"""A user's program that is run with the installed wheel: a design, reads, writes and an asynchronous call.

The program imports only public names, and nothing from the tests.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import keyplan
from keyplan import Cursor, Design, Entity, Field, Index, Key, Page, Put, Table, Update, Writes, now, read, ulid, write
from keyplan.errors import DesignError, ItemNotFound

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Article(Entity):
    """An article, read by ID and by author."""

    article_id: str = Field(default_factory=ulid)
    author_id: str
    title: str

    primary = Key("ARTICLE#{article_id}", "#META")
    by_author = Key("AUTHOR#{author_id}", "ARTICLE#{article_id}", index=GSI1)


class Magazine(Design):
    """A design with two reads and a write."""

    table = Table("magazine", indexes=[GSI1])

    @read("M1")
    def article(self, article_id: str) -> Article:
        """Get an article."""
        ...

    @read("M2", newest_first=True)
    def articles_by_author(self, author_id: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Article]:
        """List an author's articles."""
        ...

    @write("M3")
    def rename(self, article: Article, title: str) -> Writes:
        """Change a title, and write a copy with another author."""
        yield Update(article, title=title)
        yield Put(Article(author_id="archive", title=title))


def main() -> None:
    """Open the design, and use its reads and writes."""
    assert "site-packages" in str(keyplan.__file__), "the installed wheel is what is tested"
    assert (Path(keyplan.__file__).parent / "py.typed").is_file()
    with Magazine.open("magazine.db") as magazine:
        for number in range(3):
            magazine.put(Article(article_id=f"a{number}", author_id="ada", title=f"No. {number}"))
        page = magazine.articles_by_author("ada", limit=2)
        assert [each.article_id for each in page] == ["a2", "a1"]
        magazine.rename(magazine.article("a1"), "New")
        assert asyncio.run(magazine.article.aio("a1")).title == "New"
        try:
            magazine.article("none")
            raise AssertionError
        except ItemNotFound as error:
            code = error.code
    assert code == "ItemNotFound"
    try:

        class Wrong(Design):
            table = Table("wrong", indexes=[GSI1])

            @read("W1")
            def titled(self, title: str) -> Article | None: ...

        raise AssertionError(Wrong)
    except DesignError as error:
        message = str(error)
    assert "titled" in message
    print(f"keyplan {keyplan.__version__} on Python {sys.version.split()[0]}, {now():%Y}")


if __name__ == "__main__":
    main()
