"""The editor: an article's newest text with preview, and all actions on the article."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from keyplan.errors import ItemExists, ItemTooLarge, Refused
from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.entities import BODY_BYTES_MAX, EXCERPT_MAX, TAGS_MAX, Article, ArticleVersion
from keyplan_systems.cms.settings import Settings
from keyplan_systems.cms.site.desk import SLUG_CHARACTERS_MAX, TITLE_CHARACTERS_MAX, taken_slug
from keyplan_systems.cms.site.people import may_publish, may_write
from keyplan_systems.pages.site import Turn
from keyplan_systems.plain_markdown import plain_markdown
from keyplan_systems.site.incoming import Form
from keyplan_systems.site.markdown import is_rendered, render_markdown, without_title
from keyplan_systems.site.problems import Problem, not_found
from keyplan_systems.words import slug_from

__all__ = ["Editor", "own_article"]

CmsTurn = Turn[Cms]
PREVIEW_CHARACTERS = 5_000
"""A preview of this many characters costs one more attempt."""
PREVIEW_COST_MAX = 20
TAG_CHARACTERS_MAX = 100
EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


def own_article(turn: CmsTurn, *, publishing: bool = False) -> Article:
    """The article in the URL, if the user can edit it, or with ``publishing``, publish it. Raises Problem."""
    article_id = turn.path("article_id")
    article = turn.design.article(article_id) if len(article_id) <= 200 else None
    allowed = may_publish(turn.person) if publishing else article is not None and may_write(turn.person, article)
    if article is None or not allowed:
        raise not_found()
    return article


class Editor:
    """The editor's pages, for the languages in the settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def edit(self, turn: CmsTurn) -> Response:
        """The newest text of an article, for editing."""
        article = own_article(turn)
        whole = turn.design.article_with_latest(article.article_id)
        version = None if whole is None else whole.version
        return self._page(turn, article, _typed(article, version))

    def _page(
        self,
        turn: CmsTurn,
        article: Article,
        form: Form,
        status: int = 200,
        theirs: ArticleVersion | None = None,
        link: str | None = None,
    ) -> Response:
        cms = turn.design
        original_id = article.translation_of or article.article_id
        links = {translation.locale: translation.translation_id for translation in cms.translations(original_id)}
        links[self.settings.main] = original_id
        locales = dict.fromkeys((self.settings.main, *self.settings.locales, *links))
        return turn.page(
            "editor.html",
            status,
            form=form,
            article=article,
            theirs=theirs,
            link=link,
            shown=Markup(_rendered(turn, form)),  # noqa: S704 - it is made safe there
            languages=[(locale, links.get(locale)) for locale in locales],
            language=article.locale or self.settings.main,
            editor=may_publish(turn.person),
            tags=", ".join(sorted(article.tags)),
            tags_max=TAGS_MAX,
        )

    def save(self, turn: CmsTurn) -> Response:
        """Save the text as the next version, unless a newer one was saved meanwhile; optionally publish it."""
        form, article = turn.form, own_article(turn)
        if form["action"] == "preview":
            return self._page(turn, article, form)
        title = form.text("title", "Title", TITLE_CHARACTERS_MAX)
        excerpt = form.text("excerpt", "Summary", EXCERPT_MAX, required=False)
        content = form.text("content", "Text", BODY_BYTES_MAX, required=False, lines=True)
        based_on = form.number("version", "Version")
        publishing = form["action"] == "publish"
        if publishing and not may_publish(turn.person):
            raise not_found()
        if not form or based_on is None:
            return self._page(turn, article, form, 422)
        cms, name = turn.design, article.article_id
        try:
            saved = cms.save_draft(name, content, turn.person.user_id, title, excerpt or None, based_on)
        except ItemTooLarge as error:
            form.fault("content", f"{error.message}; {error.hint}")
            return self._page(turn, article, form, 422)
        except Refused as error:
            if any(fault.place == "based_on" for fault in error.errors):
                return self._conflict(turn, article)
            raise
        if publishing:
            cms.publish_version(name, saved.version)
            return turn.go(f"/articles/{name}", "published")
        return turn.go(f"/articles/{name}", "saved")

    def _conflict(self, turn: CmsTurn, article: Article) -> Response:
        """Both texts: the stored and the submitted one. Nothing was written."""
        theirs = turn.design.article_with_latest(article.article_id)
        if theirs is None or theirs.version is None:
            raise not_found()
        turn.form.typed["version"] = str(theirs.version.version)
        return self._page(turn, theirs.article, turn.form, 409, theirs.version)

    def act(self, turn: CmsTurn) -> Response:
        """The other actions on an article."""
        action = turn.path("action")
        acts: dict[str, Callable[[CmsTurn, Article], Response]] = {
            "describe": self._describe,
            "schedule": _schedule,
            "share": self._share,
            "translate": self._translate,
            "delete": _delete,
        }
        if action in acts:
            return acts[action](turn, own_article(turn, publishing=action in {"schedule", "delete", "describe"}))
        article, cms = own_article(turn, publishing=True), turn.design
        name = article.article_id
        if action == "publish":
            number = turn.form.number("version", "Version")
            if number is None:
                raise Problem(400, "That can't be done", "The form isn't whole.")
            cms.publish_version(name, number)
            return turn.go(f"/articles/{name}", "published")
        if action == "unschedule":
            cms.unschedule(name, "unpublish" if turn.form["what"] == "unpublish" else "publish")
            return turn.go(f"/articles/{name}", "saved")
        simple = {"unpublish": cms.unpublish, "archive": cms.archive, "unarchive": cms.unarchive}
        if action not in simple:
            raise not_found()
        simple[action](name)
        return turn.go(f"/articles/{name}", action)

    def _describe(self, turn: CmsTurn, article: Article) -> Response:
        """Change slug and tags, immediately, also for readers."""
        form, cms = turn.form, turn.design
        slug = slug_from(form.text("slug", "Address", SLUG_CHARACTERS_MAX), "article")
        tags = {text for part in form["tags"].replace("\n", ",").split(",") if (text := " ".join(part.split()))}
        form.labels["tags"] = "Tags"
        if len(tags) > TAGS_MAX or any(len(tag) > TAG_CHARACTERS_MAX for tag in tags):
            form.fault("tags", f"at most {TAGS_MAX}, of {TAG_CHARACTERS_MAX} characters")
        if form and slug != article.slug:
            try:
                article = cms.edit(article.article_id, article.title, slug, article.excerpt)
            except ItemExists:
                taken_slug(turn, slug)
        if not form:
            whole = cms.article_with_latest(article.article_id)
            shown = _typed(article, None if whole is None else whole.version)
            shown.faults, shown.labels = form.faults, form.labels
            return self._page(turn, article, shown, 422)
        if tags != article.tags:
            cms.retag(article.article_id, tags)
        return turn.go(f"/articles/{article.article_id}", "saved")

    def _share(self, turn: CmsTurn, article: Article) -> Response:
        """A preview link to the newest version, valid for three days. Shown once."""
        token = turn.design.share_preview(article.article_id, turn.person.user_id)
        whole = turn.design.article_with_latest(article.article_id)
        form = _typed(article, None if whole is None else whole.version)
        return self._page(turn, article, form, link=f"{turn.site.origin(turn.request)}/preview/{token}")

    def _translate(self, turn: CmsTurn, article: Article) -> Response:
        """Create a translation, as a draft with the same title."""
        locale = turn.form["locale"]
        if locale not in {self.settings.main, *self.settings.locales} or locale == self.settings.main:
            raise not_found()
        made = Article(
            title=article.title, slug=f"{article.slug[:180]}-{locale.lower()}", author_id=turn.person.user_id
        )
        try:
            translation = turn.design.translate(article.article_id, locale, made)
        except ItemExists:
            raise Problem(409, "It is there already", "Somebody else has begun this translation.") from None
        return turn.go(f"/articles/{translation.article_id}", "made")

    def preview(self, turn: CmsTurn) -> Response:
        """The preview of a text, as an HTML fragment."""
        if not {"author"} & set(turn.person.roles):
            raise not_found()
        return HTMLResponse(_rendered(turn, turn.form))


def _typed(article: Article, version: ArticleVersion | None) -> Form:
    """The initial form."""
    title, excerpt = article.title, article.excerpt
    if version is not None:
        title, excerpt = version.title or title, version.excerpt or excerpt
    typed = {"title": title, "excerpt": excerpt or "", "content": "" if version is None else version.body}
    return Form({**typed, "version": str(article.current_version), "slug": article.slug})


def _rendered(turn: CmsTurn, form: Form) -> str:
    """The rendered text of a form. Uncached text costs attempts by its length, because rendering is slow."""
    typed = form["content"][:BODY_BYTES_MAX].replace("\r\n", "\n")
    content = plain_markdown(without_title(typed, form["title"])).text
    if not is_rendered(content):
        turn.limit("preview", turn.person.user_id, cost=min(1 + len(content) / PREVIEW_CHARACTERS, PREVIEW_COST_MAX))
    return render_markdown(content)


def _schedule(turn: CmsTurn, article: Article) -> Response:
    """Schedule the publication of the newest version, or the withdrawal of the article."""
    try:
        at = datetime.fromisoformat(turn.form["at"])
    except ValueError:
        at = EARLIEST
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    if not EARLIEST < at < LATEST:
        raise Problem(422, "When?", "A day and a time are needed, such as 2030-01-04T09:00.", _back(article))
    if at <= datetime.now(UTC):
        raise Problem(422, "That is over", "Choose a time to come; times are in UTC.", _back(article))
    turn.design.schedule(article.article_id, "unpublish" if turn.form["what"] == "unpublish" else "publish", at)
    return turn.go(f"/articles/{article.article_id}", "scheduled")


def _delete(turn: CmsTurn, article: Article) -> Response:
    """Delete an unpublished article, after its title was typed."""
    if article.status == "published":
        raise Problem(409, "It is published", "Take it back first, then delete it.", _back(article))
    if turn.form["confirm"].strip() != article.title.strip():
        raise Problem(422, "Which one?", "Type the article's title to delete it for good.", _back(article))
    turn.design.delete_article(article.article_id)
    return turn.go("/", "deleted")


def _back(article: Article) -> tuple[tuple[str, str], ...]:
    return (("The article", f"/articles/{article.article_id}"),)
