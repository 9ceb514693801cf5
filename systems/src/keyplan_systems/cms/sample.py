"""The sample of the CMS: articles by several authors, with tags, versions and every status.

Article number n is the same in every sample, whatever its size. What is there already is left as it is, so sampling
again changes nothing, not even what was edited since. The texts are in ``keyplan_systems.texts``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from keyplan import Put
from keyplan.systems import Progress
from keyplan_systems.cms.design import Article, ArticleVersion, Cms, Status, TagArticle, word_count
from keyplan_systems.posts import stable_id
from keyplan_systems.sampling import in_steps, not_there, zipf
from keyplan_systems.texts import SUBJECTS, Subject, manuscript

__all__ = ["AUTHORS", "Whole", "sample", "whole_article"]

AUTHORS = tuple(f"u_{number:02d}" for number in range(1, 13))
NEWEST = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
"""When article 0 was made; each further one was made some hours earlier."""
HOURS_BETWEEN = 17
HOURS_IN_ALL = 40 * 365 * 24
GENERAL_TAGS = ("howto", "notes", "beginners", "opinion", "checklist")
STEP = 50
"""Articles written at a time."""


@dataclass(frozen=True)
class Whole:
    """An article with everything that belongs to it."""

    article: Article
    versions: list[ArticleVersion]
    tags: list[TagArticle]


def sample(design: Cms, count: int, progress: Progress) -> int:
    """Write sample articles 0 to ``count``; gives how many weren't there yet.

    An article's versions and tags go before it: if the sample is interrupted, the next one finds it missing and writes
    it whole.
    """

    def write(numbers: range) -> int:
        wholes = [whole_article(number) for number in numbers]
        new = not_there(design, wholes, lambda whole: whole.article, "article_id")
        design.batch(Put(item) for whole in new for item in (*whole.versions, *whole.tags))
        design.batch(Put(whole.article) for whole in new)
        return len(new)

    progress(0, count)
    return in_steps(count, STEP, write, progress)


def whole_article(number: int) -> Whole:
    """Sample article ``number``, as the CMS's own writes would have left it."""
    chance = random.Random(f"keyplan cms {number}")  # noqa: S311 - a sample, and the same one each time
    made = NEWEST - timedelta(hours=number * HOURS_BETWEEN % HOURS_IN_ALL, minutes=chance.randrange(600))
    subject = chance.choices(SUBJECTS, weights=(9, 5, 4, 2))[0]
    status: Status = chance.choices(("published", "draft", "archived"), weights=(83, 10, 7))[0]
    drafts = chance.choice((0, 1, 1, 2, 3)) if status == "draft" else chance.choices(range(1, 7), zipf(6))[0]
    text = manuscript(chance, subject, number, drafts)
    author = chance.choices(AUTHORS, zipf(len(AUTHORS)))[0]
    article_id = stable_id(f"sample/{number}", made)
    versions = _versions(chance, article_id, author, made, text.bodies)
    moments = [made, *(version.created_at for version in versions)]
    first_published = min(len(versions), chance.choice((1, 1, 1, 2)))
    if status == "archived":
        moments.append(moments[-1] + timedelta(days=chance.randrange(1, 20)))
    article = Article(
        article_id=article_id,
        title=text.title,
        slug=re.sub(r"[^a-z0-9]+", "-", text.title.lower()).strip("-"),
        excerpt=text.excerpt,
        status=status,
        author_id=author,
        published_at=None if status == "draft" else moments[first_published],
        current_version=len(versions),
        tags=_tags(chance, subject),
        created_at=made,
        updated_at=moments[-1],
    )
    tags = [TagArticle(tag=tag, article_id=article_id, tagged_at=made) for tag in sorted(article.tags)]
    return Whole(article, versions, tags)


def _versions(
    chance: random.Random, article_id: str, author: str, made: datetime, bodies: Sequence[str]
) -> list[ArticleVersion]:
    found: list[ArticleVersion] = []
    moment = made
    for number, body in enumerate(bodies, 1):
        moment += timedelta(minutes=chance.randrange(20, 9000))
        editor = chance.choice(AUTHORS) if number > 1 and chance.random() < 0.2 else author
        found.append(
            ArticleVersion(
                article_id=article_id,
                version=number,
                body=body,
                word_count=word_count(body),
                created_by=editor,
                created_at=moment,
            )
        )
    return found


def _tags(chance: random.Random, subject: Subject) -> set[str]:
    """The subject's first tag, and some others: the earlier in its list, the likelier (Zipf)."""
    more = (*subject.tags[1:], *GENERAL_TAGS)
    return {subject.tags[0], *chance.choices(more, zipf(len(more)), k=chance.randrange(1, 6))}
