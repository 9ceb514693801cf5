"""The editor: an article's newest text with preview, and all actions on the article."""

from __future__ import annotations

from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from keyplan.errors import ItemExists, ItemTooLarge, Refused
from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.entities import BODY_BYTES_MAX, EXCERPT_MAX, TAGS_MAX, Article, ArticleVersion
from keyplan_systems.cms.site.desk import SLUG_CHARACTERS_MAX, TITLE_CHARACTERS_MAX, taken_slug
from keyplan_systems.cms.site.people import may_publish, may_write
from keyplan_systems.pages.site import Turn
from keyplan_systems.plain_markdown import plain_markdown
from keyplan_systems.site.incoming import Form
from keyplan_systems.site.markdown import is_rendered, render_markdown, without_title
from keyplan_systems.site.problems import Problem, not_found
from keyplan_systems.words import slug_from

CmsTurn = Turn[Cms]
PREVIEW_CHARACTERS = 5_000
"""A preview of this many characters costs one more attempt."""
PREVIEW_COST_MAX = 20
TAG_CHARACTERS_MAX = 100


def own_article(turn: CmsTurn, *, publishing: bool = False) -> Article:
    """The article in the URL, if the user can edit it, or with ``publishing``, publish it. Raises Problem."""
    article_id = turn.path("article_id")
    article = turn.design.article(article_id) if len(article_id) <= 200 else None
    allowed = may_publish(turn.person) if publishing else article is not None and may_write(turn.person, article)
    if article is None or not allowed:
        raise not_found()
    return article


def edit(turn: CmsTurn) -> Response:
    article = own_article(turn)
    return _page(turn, article, _stored(turn, article))


def _page(
    turn: CmsTurn,
    article: Article,
    form: Form,
    status: int = 200,
    theirs: ArticleVersion | None = None,
    link: str | None = None,
) -> Response:
    return turn.page(
        "editor.html",
        status,
        form=form,
        article=article,
        theirs=theirs,
        link=link,
        shown=Markup(_rendered(turn, form)),  # noqa: S704 - `render_markdown` returns safe HTML
        editor=may_publish(turn.person),
        tags=", ".join(sorted(article.tags)),
        tags_max=TAGS_MAX,
    )


def save(turn: CmsTurn) -> Response:
    """Save the text as the next version, unless a newer one was saved meanwhile; optionally publish it."""
    form, article = turn.form, own_article(turn)
    if form["action"] == "preview":
        return _page(turn, article, form)
    title = form.text("title", "Title", TITLE_CHARACTERS_MAX)
    excerpt = form.text("excerpt", "Summary", EXCERPT_MAX, required=False)
    content = form.text("content", "Text", BODY_BYTES_MAX, required=False, lines=True)
    based_on = form.number("version", "Version")
    publishing = form["action"] == "publish"
    if publishing and not may_publish(turn.person):
        raise not_found()
    if not form or based_on is None:
        return _page(turn, article, form, 422)
    cms, name = turn.design, article.article_id
    try:
        saved = cms.save_draft(name, content, turn.person.user_id, title, excerpt or None, based_on)
    except ItemTooLarge as error:
        form.fault("content", f"{error.message}; {error.hint}")
        return _page(turn, article, form, 422)
    except Refused as error:
        if any(fault.place == "based_on" for fault in error.errors):
            return _conflict(turn, article)
        raise
    if publishing:
        cms.publish_version(name, saved.version)
        return turn.go(f"/articles/{name}", "publish")
    return turn.go(f"/articles/{name}", "saved")


def _conflict(turn: CmsTurn, article: Article) -> Response:
    """The page of a conflict, with the stored and the submitted text. Nothing was written."""
    theirs = turn.design.article_with_latest(article.article_id)
    if theirs is None or theirs.version is None:
        raise not_found()
    turn.form.typed["version"] = str(theirs.version.version)
    return _page(turn, theirs.article, turn.form, 409, theirs.version)


def act(turn: CmsTurn) -> Response:
    """Any other action on an article. Authors can only share their own; the rest is for editors."""
    action = turn.path("action")
    article = own_article(turn, publishing=action != "share")
    name, cms = article.article_id, turn.design
    match action:
        case "share":
            return _share(turn, article)
        case "describe":
            return _describe(turn, article)
        case "delete":
            return _delete(turn, article)
        case "publish":
            number = turn.form.number("version", "Version")
            if number is None:
                raise Problem(400, "Invalid form", "The version number is missing or invalid. Reload the page.")
            cms.publish_version(name, number)
        case "unpublish":
            cms.unpublish(name)
        case "archive":
            cms.archive(name)
        case "unarchive":
            cms.unarchive(name)
        case _:
            raise not_found()
    return turn.go(f"/articles/{name}", action)


def _describe(turn: CmsTurn, article: Article) -> Response:
    form, cms = turn.form, turn.design
    slug = slug_from(form.text("slug", "Slug", SLUG_CHARACTERS_MAX), "article")
    tags = {text for part in form["tags"].replace("\n", ",").split(",") if (text := " ".join(part.split()))}
    form.labels["tags"] = "Tags"
    if len(tags) > TAGS_MAX or any(len(tag) > TAG_CHARACTERS_MAX for tag in tags):
        form.fault("tags", f"enter at most {TAGS_MAX} tags of up to {TAG_CHARACTERS_MAX} characters each")
    if form and slug != article.slug:
        try:
            article = cms.edit(article.article_id, article.title, slug, article.excerpt)
        except ItemExists:
            taken_slug(turn, slug)
    if not form:
        shown = _stored(turn, article)
        shown.faults, shown.labels = form.faults, form.labels
        return _page(turn, article, shown, 422)
    if tags != article.tags:
        cms.retag(article.article_id, tags)
    return turn.go(f"/articles/{article.article_id}", "saved")


def _share(turn: CmsTurn, article: Article) -> Response:
    """A preview link to the newest version, valid for three days. Shown once."""
    token = turn.design.share_preview(article.article_id, turn.person.user_id)
    link = f"{turn.site.origin(turn.request)}/preview/{token}"
    return _page(turn, article, _stored(turn, article), link=link)


def preview(turn: CmsTurn) -> Response:
    """The preview of a text, as an HTML fragment."""
    return HTMLResponse(_rendered(turn, turn.form))


def _stored(turn: CmsTurn, article: Article) -> Form:
    whole = turn.design.article_with_latest(article.article_id)
    title, excerpt, content = article.title, article.excerpt, ""
    if whole is not None and (version := whole.version) is not None:
        title, excerpt, content = version.title or title, version.excerpt or excerpt, version.body
    return Form(
        {
            "title": title,
            "excerpt": excerpt or "",
            "content": content,
            "version": str(article.current_version),
            "slug": article.slug,
        }
    )


def _rendered(turn: CmsTurn, form: Form) -> str:
    """The rendered text of a form. Text that isn't cached costs attempts by its length, because rendering is slow."""
    typed = form["content"][:BODY_BYTES_MAX].replace("\r\n", "\n")
    content = plain_markdown(without_title(typed, form["title"])).text
    if not is_rendered(content):
        turn.limit("preview", turn.person.user_id, cost=min(1 + len(content) / PREVIEW_CHARACTERS, PREVIEW_COST_MAX))
    return render_markdown(content)


def _delete(turn: CmsTurn, article: Article) -> Response:
    """Delete an unpublished article, after its title was typed."""
    back = (("Back to the article", f"/articles/{article.article_id}"),)
    if article.status == "published":
        raise Problem(409, "This article is published", "Unpublish the article before you delete it.", back)
    if turn.form["confirm"].strip() != article.title.strip():
        raise Problem(422, "The title doesn't match", "To delete the article permanently, type its title.", back)
    turn.design.delete_article(article.article_id)
    return turn.go("/", "deleted")
