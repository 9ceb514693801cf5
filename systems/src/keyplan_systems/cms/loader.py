"""Import of a folder of Markdown posts from site generators.

A post becomes an article with tags; its git history, if there is one, becomes versions. Importing the folder again
updates articles without duplicates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from keyplan import Create, Delete, Put
from keyplan.errors import ErrorDetail, ItemExists, KeyplanError, Refused, RequestError, StoreError
from keyplan.systems import LoadReport, Progress
from keyplan_systems.cms.articles import changed
from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.entities import EXCERPT_MAX, TAGS_MAX, Article, ArticleSlug, ArticleVersion, TagArticle
from keyplan_systems.cms.history import History, HistoryError, Revision
from keyplan_systems.cms.placing import check_body, former_slugs, moved, new_version, tagged, word_count
from keyplan_systems.frontmatter import FrontMatterError
from keyplan_systems.grouped_faults import GroupedFaults
from keyplan_systems.linking import Links, SiteFolder
from keyplan_systems.markdown_parsing import first_paragraph
from keyplan_systems.paging import pages_of
from keyplan_systems.plain_markdown import plain_markdown
from keyplan_systems.posts import Post, fault_of, find_posts, read_post, shown, stable_id

UNKNOWN = "unknown"
"""The author of a post without one."""
STEP_ACTIONS = 100
"""Actions per transaction: those of an article and its lists, and two per version."""
STEP_BYTES = 3_000_000
"""Total size of bodies per transaction in bytes, within DynamoDB's 4 MB."""


def load(design: Cms, folder: Path, progress: Progress) -> LoadReport:
    """Load all posts in a folder. A post that can't be loaded is an error with its file and line.

    ``loaded`` counts the articles that match their files, including unchanged ones. Raises RequestError for a missing
    folder, StoreError if the store isn't writable.
    """
    paths, faults = find_posts(folder)
    report = LoadReport(errors=faults)
    histories, site, groups = _Histories(folder, report), SiteFolder(folder), GroupedFaults()
    report.errors.extend(site.defaults())
    progress(0, len(paths))
    for number, path in enumerate(paths, 1):
        post = _load_one(design, folder, path, histories, report)
        if post is not None:
            report.loaded += 1
            _report_losses(post, site, groups, report)
        progress(number, len(paths))
    groups.report_to(report)
    return report


class _Histories:
    """The folder's git history. If git fails, this is reported once, and the import continues without history."""

    def __init__(self, folder: Path, report: LoadReport) -> None:
        self._report = report
        self._place = shown(str(folder))
        self._history: History | None = None
        try:
            self._history = History.of(folder)
        except HistoryError as error:
            self._failed(error)

    def revisions(self, path: str) -> list[Revision]:
        try:
            return [] if self._history is None else self._history.revisions(path)
        except HistoryError as error:
            self._failed(error)
            return []

    def former(self, path: str) -> list[str]:
        return [] if self._history is None else self._history.former(path)

    def _failed(self, error: HistoryError) -> None:
        message = f"the git history can't be read: {error}"
        self._report.errors.append(
            ErrorDetail(self._place, message, "the remaining posts are loaded with one version each")
        )
        self._history = None


def _load_one(design: Cms, folder: Path, path: Path, histories: _Histories, report: LoadReport) -> Post | None:
    """Load one post and return it; report an error and return None if it can't be loaded."""
    place = shown(path.relative_to(folder).as_posix())
    try:
        post = read_post(folder, path)
        revisions = histories.revisions(post.path)
        article_id = _known_id(design, post, histories.former(post.path))
    except FrontMatterError as error:
        report.errors.append(fault_of(place, error))
        return None
    try:
        check_body(post.body, place)
        _take_in(design, post, article_id, _complete(post, revisions, report), report)
    except FrontMatterError as error:
        report.errors.append(fault_of(place, error))
    except StoreError:
        raise
    except KeyplanError as error:
        report.errors.append(ErrorDetail(place, error.message, error.hint, error.code))
    else:
        return post
    return None


def _report_losses(post: Post, site: SiteFolder, groups: GroupedFaults, report: LoadReport) -> None:
    """Report content that an article doesn't support, and text that only its own site supports. The text isn't changed,
    because the text of each commit is a version.
    """
    groups.add("additional authors, ignored", post.path, Counter(post.authors[1:]), "an article has one author")
    groups.add("former URLs, ignored", post.path, Counter(post.aliases), "redirect these URLs on your site")
    if post.excerpt is not None and len(post.excerpt) > EXCERPT_MAX:
        groups.add("excerpts, truncated", post.path, {"excerpt": 1}, f"use at most {EXCERPT_MAX:,} characters")
    links = Links(site, {}, {}, lambda _: None)
    plain = plain_markdown(post.body, partial(links.address, post.path))
    for kind, names in plain.removed.items():
        groups.add(f"{kind}, not rendered", post.path, names, "the text isn't changed; pages show a placeholder")
    groups.add("links within the original site, unchanged", post.path, links.lost, "edit the links")
    for message, hint in post.said:
        groups.add(message, post.path, {post.slug: 1}, hint)
    for name in post.not_taken():
        report.counts[f"fields ignored: {name[:60]}"] += 1


def _complete(post: Post, revisions: Sequence[Revision], report: LoadReport) -> list[Revision]:
    """The versions of a post; the last one is the file's current content."""
    result: list[Revision] = []
    for revision in revisions:
        try:
            check_body(revision.body, post.path)
            result.append(revision)
        except RequestError as error:
            message = f"the version of {revision.moment:%Y-%m-%d %H:%M} is skipped: {error.message}"
            report.errors.append(ErrorDetail(post.path, message, error.hint, error.code))
    if not result or result[-1].body != post.body:
        moment = post.modified if result else post.date or post.modified
        result.append(Revision(post.body, None, moment))
    return result


def _article_of(post: Post, revisions: Sequence[Revision]) -> Article:
    """The article of a post, without versions. Raises FrontMatterError for invalid values."""
    tags = dict.fromkeys((*post.tags, *post.categories))
    if len(tags) > TAGS_MAX:
        raise FrontMatterError(f"{len(tags)} tags and categories: an article can have at most {TAGS_MAX}")
    created = post.date or revisions[0].moment
    excerpt = post.excerpt or first_paragraph(plain_markdown(post.body).text)
    if excerpt is not None and len(excerpt) > EXCERPT_MAX:
        excerpt = f"{excerpt[: EXCERPT_MAX - 1].rstrip()}…"
    author = next((text for text in (*post.authors, revisions[0].author) if text), UNKNOWN)
    try:
        return Article(
            article_id=stable_id(post.path, post.date),
            title=post.title,
            slug=post.slug,
            excerpt=excerpt,
            status="draft" if post.draft else "published",
            author_id=author,
            published_at=None if post.draft else created,
            tags=set(tags),
            created_at=created,
            updated_at=max(created, revisions[-1].moment),
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        message = f"{name}: {first['msg'][:1].lower()}{first['msg'][1:]}"
        raise FrontMatterError(message) from None


def _known_id(design: Cms, post: Post, former: Sequence[str]) -> str:
    """The article's id: derived from the file, or from a former name under which it was loaded."""
    own = stable_id(post.path, post.date)
    if former and design.get(Article, article_id=own) is None:
        for name in former:
            earlier = stable_id(name, post.date)
            if design.get(Article, article_id=earlier) is not None:
                return earlier
    return own


def _take_in(design: Cms, post: Post, article_id: str, revisions: Sequence[Revision], report: LoadReport) -> None:
    """Create or update the article of a post with its tags and versions."""
    wanted = _article_of(post, revisions).model_copy(update={"article_id": article_id})
    slug = _free_slug(design, wanted)
    if slug != wanted.slug:
        message = f"another article has the slug {wanted.slug!r}; this article gets {slug!r}"
        report.fault(ErrorDetail(shown(post.path), message, "set a unique slug in the front matter"))
        wanted = wanted.model_copy(update={"slug": slug})
    before = design.get(Article, article_id=wanted.article_id, consistent=True)
    if before is None:
        before, revisions = _create(design, wanted, revisions)
    else:
        unknown = _unknown(design, before, revisions)
        # The version of an uncommitted text has the file's modification time, regardless of the post's date.
        revisions = [revision if revision.author else replace(revision, moment=post.modified) for revision in unknown]
        changes = _changes(before, wanted)
        if (changes or revisions) and before.status == "archived":
            raise Refused(
                f"article {before.article_id} is archived, so changes to its file aren't loaded",
                hint="unarchive or delete the article, or remove the file",
            )
        if changes:
            before = _update(design, before, wanted, changes)
    for step in _steps(revisions, STEP_ACTIONS - 3):
        before = _append(design, before, step)


def _free_slug(design: Cms, wanted: Article) -> str:
    """The file's slug; if another article has it, with the date or a part of the id appended."""
    for slug in (wanted.slug, f"{wanted.slug}-{wanted.created_at:%Y-%m-%d}"):
        holder = design.get(ArticleSlug, slug=slug, consistent=True)
        if holder is None or holder.article_id == wanted.article_id:
            return slug
    return f"{wanted.slug}-{wanted.article_id[-8:].lower()}"


def _create(design: Cms, wanted: Article, revisions: Sequence[Revision]) -> tuple[Article, Sequence[Revision]]:
    """Write a new article with its lists and first versions in one transaction; returns the remaining versions."""
    around = [*tagged(wanted, wanted.created_at), *moved(None, wanted)]
    first = next(_steps(revisions, STEP_ACTIONS - 2 - len(around)))
    article = wanted.model_copy(
        update={"current_version": len(first), "updated_at": max(wanted.created_at, first[-1].moment)}
    )
    actions: list[Put | Create | Delete] = [
        Create(article),
        Create(ArticleSlug(slug=article.slug, article_id=article.article_id)),
        *around,
    ]
    actions.extend(element for version in _versions(article, first, after=0) for element in new_version(version))
    try:
        design.transact(actions)
    except ItemExists:
        if design.get(Article, article_id=article.article_id, consistent=True) is not None:
            raise  # another process is loading the same folder
        design.delete_article(article.article_id)  # versions remain from an interrupted deletion
        design.transact(actions)
    return article, revisions[len(first) :]


def _unknown(design: Cms, before: Article, revisions: Sequence[Revision]) -> Sequence[Revision]:
    """The versions after the previous import.

    The newest stored version that is also a version of the file marks the previous import; versions published in the
    CMS since then stay, as long as the file doesn't change again.
    """
    for page in pages_of(partial(design.article_versions, before.article_id, limit=10)):
        for stored in page:
            same = [number for number, revision in enumerate(revisions) if revision.body == stored.body]
            exact = [number for number in same if revisions[number].moment == stored.created_at]
            if same:
                return revisions[(exact or same)[-1] + 1 :]
    return revisions[-1:]


def _changes(before: Article, wanted: Article) -> dict[str, Any]:
    """The fields in which an article differs from its file. The file wins, but a published article isn't
    unpublished.
    """
    names = ("title", "slug", "excerpt", "author_id", "tags")
    changes = {name: getattr(wanted, name) for name in names if getattr(wanted, name) != getattr(before, name)}
    if before.status == "draft" and before.published_at is None and wanted.status == "published":
        changes |= {"status": "published", "published_at": wanted.published_at}
    return changes


def _update(design: Cms, before: Article, wanted: Article, changes: dict[str, Any]) -> Article:
    """Write an article's changed metadata, slug and tags in one transaction."""
    stamp, article_id = max(before.updated_at, wanted.updated_at), before.article_id
    former, given_up = former_slugs(before, wanted.slug)
    if "slug" in changes:
        changes["former_slugs"] = former
    after, actions = changed(before, stamp, **changes)
    if "slug" in changes and wanted.slug not in (before.former_slugs or ()):
        actions.append(Create(ArticleSlug(slug=wanted.slug, article_id=article_id)))
    actions += [Delete(ArticleSlug, slug=slug) for slug in given_up]
    actions += [
        Put(TagArticle(tag=tag, article_id=article_id, tagged_at=stamp)) for tag in sorted(after.tags - before.tags)
    ]
    actions += [Delete(TagArticle, tag=tag, article_id=article_id) for tag in sorted(before.tags - after.tags)]
    design.transact(actions)
    return after


def _append(design: Cms, before: Article, step: Sequence[Revision]) -> Article:
    """Write the next versions and update the article in one transaction.

    A published article shows the newest version, like its file.
    """
    newest = before.current_version + len(step)
    moment = max(before.updated_at, step[-1].moment)
    after, actions = changed(before, moment, current_version=newest, published_version=None)
    versions = _versions(before, step, after=before.current_version)
    design.transact([*actions, *(element for version in versions for element in new_version(version))])
    return after


def _versions(article: Article, revisions: Sequence[Revision], *, after: int) -> Iterator[ArticleVersion]:
    for number, revision in enumerate(revisions, after + 1):
        yield ArticleVersion(
            article_id=article.article_id,
            version=number,
            body=revision.body,
            word_count=word_count(revision.body),
            created_by=revision.author or article.author_id,
            created_at=revision.moment,
        )


def _steps(revisions: Sequence[Revision], actions: int) -> Iterator[Sequence[Revision]]:
    """The versions in parts for one transaction each, with room for ``actions`` actions."""
    start, size = 0, 0
    for number, revision in enumerate(revisions):
        more = len(revision.body.encode("utf-8"))
        if number > start and (2 * (number - start + 1) > actions or size + more > STEP_BYTES):
            yield revisions[start:number]
            start, size = number, 0
        size += more
    if start < len(revisions):
        yield revisions[start:]
