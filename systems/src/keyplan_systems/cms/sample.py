"""The sample of the CMS: articles by several authors, with tags, versions and every status.

Article number n is the same in every sample of any size. Existing items stay, so sampling again changes nothing.
``keyplan_systems.texts`` has the articles.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from keyplan import Entity, Put, now
from keyplan.errors import ItemExists, UniqueValueTaken
from keyplan.systems import Progress
from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.entities import (
    Article,
    ArticleSlug,
    ArticleVersion,
    Credential,
    Founded,
    Member,
    Role,
    Status,
    TagArticle,
)
from keyplan_systems.cms.placing import card_of, moved, word_count
from keyplan_systems.posts import stable_id
from keyplan_systems.sampling import drawn, in_steps, not_there, shifted, zipf
from keyplan_systems.texts import SUBJECTS, Subject, manuscript

AUTHORS = tuple(f"u_{number:02d}" for number in range(1, 13))
"""Number of authors of the first articles."""
STEADY = 1000
"""From this number of articles on, more authors join."""
ARTICLES_AN_AUTHOR = 500
NEWEST = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
"""When article 0 was created, before its sample is moved to today; each further article is some hours older."""
LATER = timedelta(days=40)
"""How long after an article its last version is."""
FIRST_JOINED = timedelta(days=900)
"""How long before the newest article the first author joined."""
HOURS_BETWEEN = 17
HOURS_IN_ALL = 40 * 365 * 24
GENERAL_TAGS = ("howto", "notes", "beginners", "opinion", "checklist")
STEP = 50
"""Articles per step."""


@dataclass(frozen=True)
class Whole:
    """An article with all of its items."""

    article: Article
    versions: list[ArticleVersion]
    tags: list[TagArticle]

    def shifted(self, offset: timedelta) -> Whole:
        versions = [shifted(version, offset) for version in self.versions]
        return Whole(shifted(self.article, offset), versions, [shifted(tag, offset) for tag in self.tags])


def sample(design: Cms, count: int, progress: Progress) -> int:
    """Write sample articles 0 to ``count``; returns the number of new ones.

    An article's other items are written first: after an interruption, the next sample finds the article missing and
    writes it completely.
    """
    first = design.member(AUTHORS[0])
    offset = (now() - LATER if first is None else first.joined_at + FIRST_JOINED) - NEWEST

    def write(numbers: range) -> int:
        wholes = [whole_article(number).shifted(offset) for number in numbers]
        new = _with_free_slugs(design, not_there(design, wholes, lambda whole: whole.article, "article_id"))
        design.batch(Put(item) for whole in new for item in _around(whole))
        design.batch(Put(whole.article) for whole in new)
        return len(new)

    progress(0, count)
    _people(design, count, offset)
    return in_steps(count, STEP, write, progress)


def _with_free_slugs(design: Cms, wholes: Sequence[Whole]) -> list[Whole]:
    """Append a part of the id to a slug that another article has."""
    holders = design.get_many(ArticleSlug, [{"slug": whole.article.slug} for whole in wholes])
    result: list[Whole] = []
    for whole, holder in zip(wholes, holders, strict=True):
        article = whole.article
        if holder is not None and holder.article_id != article.article_id:
            slug = f"{article.slug}-{article.article_id[-8:].lower()}"
            article = article.model_copy(update={"slug": slug})
        result.append(Whole(article, whole.versions, whole.tags))
    return result


def _around(whole: Whole) -> Iterator[Entity]:
    yield from whole.versions
    yield from (card_of(version) for version in whole.versions)
    yield from whole.tags
    yield ArticleSlug(slug=whole.article.slug, article_id=whole.article.article_id)
    yield from (action.item for action in moved(None, whole.article) if isinstance(action, Put))


NAMES = (
    *("Ines Marlow", "Tobias Renn", "Ada Brook", "Priya Nair", "Jonas Feld", "Mara Quist"),
    *("Owen Castle", "Lena Hoff", "Yusuf Kaya", "Clara Voss", "Emil Strand", "Noor Haddad"),
)
DEMO_USERS: tuple[tuple[str, Role], ...] = (("editor", "editor"), ("author", "author"), ("admin", "admin"))
"""Users who can sign in to the sample's site, as ``editor@example.com`` and so on: the first three authors."""
DEMO_PASSWORD = "draft and final"  # noqa: S105 - the sample's password, which the documentation publishes
DEMO_HASH = "$argon2id$v=19$m=65536,t=3,p=4$zt/FePcyrFMegNknDTJh0w$JGCb7yVglKxQMc4sF4uY7AaFFYmPYsmEar/pzCsvksw"
"""Its hash, which is constant."""


def authors(count: int) -> tuple[str, ...]:
    """The ids of all authors of a sample, the most productive first."""
    return (*AUTHORS, *map(_author_id, range(len(AUTHORS), _authors_there(count))))


def _author_id(number: int) -> str:
    return f"u_{number + 1:02d}"


def _authors_there(count: int) -> int:
    return len(AUTHORS) + max(0, count - STEADY) // ARTICLES_AN_AUTHOR


def _name(number: int) -> str:
    """The name of an author: from the list, then combinations of first and last names."""
    first, last = NAMES[number % len(NAMES)], NAMES[(number + number // len(NAMES)) % len(NAMES)]
    return f"{first.partition(' ')[0]} {last.partition(' ')[2]}"


def _people(design: Cms, count: int, offset: timedelta) -> None:
    """Write the authors as members; those who can sign in have a password, unless they changed it."""
    for number, member_id in enumerate(authors(count)):
        login, role = DEMO_USERS[number] if number < len(DEMO_USERS) else (member_id, "author")
        if design.member(member_id) is not None:
            continue
        joined_at = NEWEST - FIRST_JOINED + timedelta(days=number) + offset
        member = Member(
            member_id=member_id, email=f"{login}@example.com", name=_name(number), role=role, joined_at=joined_at
        )
        try:
            design.create(member)
        except (ItemExists, UniqueValueTaken):
            continue  # a real member already has this email address
        if number < len(DEMO_USERS):
            design.put(Credential(member_id=member_id, password_hash=DEMO_HASH))
        if role == "admin" and design.founded("cms") is None:
            design.put(Founded(member_id=member_id))


def whole_article(number: int) -> Whole:
    chance = random.Random(f"keyplan cms {number}")  # noqa: S311 - reproducible sample data
    made = NEWEST - timedelta(hours=number * HOURS_BETWEEN % HOURS_IN_ALL, minutes=chance.randrange(600))
    subject = chance.choices(SUBJECTS, weights=(9, 5, 4))[0]
    status: Status = chance.choices(("published", "draft", "archived"), weights=(83, 10, 7))[0]
    drafts = chance.choice((0, 1, 1, 2, 3)) if status == "draft" else chance.choices(range(1, 7), zipf(6))[0]
    text = manuscript(chance, subject, number, drafts)
    author = _author_id(drawn(chance, _authors_there(number)))
    article_id = stable_id(f"sample/{number}", made)
    versions = _versions(chance, article_id, author, made, text.bodies)
    moments = [made, *(version.created_at for version in versions)]
    first_published = min(len(versions), chance.choice((1, 1, 1, 2)))
    if status == "archived":
        moments.append(moments[-1] + timedelta(days=chance.randrange(1, 20)))
    article = Article(
        article_id=article_id,
        title=text.title,
        slug=_slug(text.title, number),
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


def _slug(title: str, number: int) -> str:
    """A title as a slug. Titles repeat, so all but the first article have their number appended."""
    plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    return f"{plain}-{number}" if number else plain


def _versions(
    chance: random.Random, article_id: str, author: str, made: datetime, bodies: Sequence[str]
) -> list[ArticleVersion]:
    versions: list[ArticleVersion] = []
    moment = made
    for number, body in enumerate(bodies, 1):
        moment += timedelta(minutes=chance.randrange(20, 9000))
        editor = chance.choice(AUTHORS) if number > 1 and chance.random() < 0.2 else author
        versions.append(
            ArticleVersion(
                article_id=article_id,
                version=number,
                body=body,
                word_count=word_count(body),
                created_by=editor,
                created_at=moment,
            )
        )
    return versions


def _tags(chance: random.Random, subject: Subject) -> set[str]:
    """The subject's first tag, and some others (Zipf-distributed)."""
    more = (*subject.tags[1:], *GENERAL_TAGS)
    return {subject.tags[0], *chance.choices(more, zipf(len(more)), k=chance.randrange(1, 6))}
