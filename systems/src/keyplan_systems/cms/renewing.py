# mypy: disable-error-code="empty-body"
"""Migrate a table of the CMS that is older than unique slugs, status lists, lists for readers and version cards:
creates them from the stored articles and versions.

It can run several times, and while others write: concurrently changed articles are skipped or retried. Run
``python -m keyplan_systems.cms.renewing cms.db``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial

from keyplan import Check, Create, Cursor, Design, Page, Put, Table, Update, read
from keyplan.errors import ConditionFailed, KeyplanError
from keyplan_systems.cms.articles import pinned
from keyplan_systems.cms.design import SILENCE
from keyplan_systems.cms.entities import GSI1, Article, ArticleSlug
from keyplan_systems.cms.members import MemberWrites
from keyplan_systems.cms.placing import card_of, moved
from keyplan_systems.paging import pages_of

__all__ = ["Renewing", "renew"]

_SILENCE = {**SILENCE, "KP301 every_article": "a renewal reads everything once"}


class Renewing(MemberWrites, Design, ignore=_SILENCE):
    """The CMS's table, with an additional read pattern for the migration."""

    table = Table("cms", indexes=[GSI1])

    @read("N1", scan=True)
    def every_article(self, limit: int = 100, cursor: Cursor | None = None) -> Page[Article]:
        """All articles, in no order."""
        ...


def renew(design: Renewing, told: Callable[[str], None]) -> int:
    """Create the missing items of every article; returns their number. Choices are reported."""
    count = 0
    for page in pages_of(design.every_article):
        for article in page:
            count += 1
            _renew_one(design, article, told)
    return count


def _renew_one(design: Renewing, article: Article, told: Callable[[str], None]) -> None:
    for _ in range(10):
        current = design.get(Article, article_id=article.article_id, consistent=True)
        if current is None:
            return  # deleted concurrently
        try:
            _place(design, current, told)
            break
        except ConditionFailed:
            continue  # written concurrently
    design.batch(_cards(design, article.article_id))


def _place(design: Renewing, article: Article, told: Callable[[str], None]) -> None:
    """Write the slug and the list items of one article in one transaction, if it is unchanged."""
    holder = design.get(ArticleSlug, slug=article.slug, consistent=True)
    after = article
    actions: list[Update[Article] | Check[Article] | Put | Create] = []
    if holder is not None and holder.article_id != article.article_id:
        after = article.model_copy(update={"slug": f"{article.slug}-{article.article_id[-8:].lower()}"})
        actions.append(Update(article, slug=after.slug).only_if(**pinned(article)))
        told(f"{article.article_id}: another article has the slug {article.slug!r}; this one has {after.slug!r} now")
        holder = design.get(ArticleSlug, slug=after.slug, consistent=True)
    else:
        actions.append(Check(article).only_if(**pinned(article)))
    if holder is None:
        actions.append(Create(ArticleSlug(slug=after.slug, article_id=article.article_id)))
    actions += [element for element in moved(None, after) if isinstance(element, Put)]
    design.transact(actions)


def _cards(design: Renewing, article_id: str) -> Iterator[Put]:
    for page in pages_of(partial(design.article_versions, article_id, limit=25)):
        yield from (Put(card_of(version)) for version in page)


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main() -> int:
    """Migrate the store in the command line."""
    if len(sys.argv) != 2:
        sys.stderr.write("python -m keyplan_systems.cms.renewing STORE\n")
        return 2
    try:
        with Renewing.open(sys.argv[1], create=False) as design:
            count = renew(design, _print)
    except KeyplanError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    _print(f"Renewed {count} articles.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
