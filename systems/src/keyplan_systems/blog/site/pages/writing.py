"""An author's desk and the editor: drafts, preview, saving and publishing.

A post that changed since it was opened isn't overwritten: both versions are shown, and the author decides. Others'
drafts are not found.
"""

from __future__ import annotations

from typing import Literal

from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from keyplan.errors import ItemExists, ItemTooLarge, Refused, UniqueValueTaken
from keyplan_systems.blog import accounts, removing
from keyplan_systems.blog.entities import CONTENT_BYTES_MAX, Post, PostWithContent
from keyplan_systems.blog.site.cards import cards
from keyplan_systems.blog.site.rendering import post_path
from keyplan_systems.blog.site.site import Turn
from keyplan_systems.site.incoming import Form
from keyplan_systems.site.markdown import is_rendered, render_markdown, without_title
from keyplan_systems.site.problems import not_found
from keyplan_systems.words import excerpt_from, numbered, shows_something, slug_from, tag_from

TITLE_CHARACTERS_MAX = 200
SLUG_CHARACTERS_MAX = 100
PREVIEW_CHARACTERS = 5_000
"""A preview of this many characters costs one more attempt."""
TAGS_MAX = 5
DESK_PAGE = 20

Status = Literal["unpublished", "published", "archived"]
STATUSES: dict[str, Status] = {"unpublished": "unpublished", "published": "published", "archived": "archived"}


def desk(turn: Turn) -> Response:
    user, status = turn.user, STATUSES.get(turn.query.get("status", ""), "unpublished")
    page = turn.blog.posts_of_user(user.user_id, status, limit=DESK_PAGE, cursor=turn.cursor)
    return turn.page(
        "desk.html",
        status=status,
        cards=cards(page.items, {user.user_id: (user.name, user.username)}),
        cursor=page.cursor,
        first=turn.cursor is not None,
        path=f"/desk?status={status}",
        counts={"unpublished": user.drafts, "published": user.published, "archived": user.archived},
    )


def new_form(turn: Turn) -> Response:
    return _editor(turn, Form(), None)


def _editor(
    turn: Turn, form: Form, post: Post | None, status: int = 200, theirs: PostWithContent | None = None
) -> Response:
    return turn.page(
        "editor.html",
        status,
        form=form,
        post=post,
        theirs=theirs,
        shown=Markup(_rendered(turn, form)),  # noqa: S704 - `render_markdown` returns safe HTML
        tags_max=TAGS_MAX,
    )


def _fields(form: Form) -> tuple[str, str, str, tuple[str, ...]]:
    """Title, content, slug and tags of the form, with errors."""
    title = form.text("title", "Title", TITLE_CHARACTERS_MAX)
    content = form.text("content", "Text", CONTENT_BYTES_MAX, required=False, lines=True)
    slug = form.text("slug", "Address", SLUG_CHARACTERS_MAX, required=False)
    if slug and slug_from(slug) != slug:
        form.fault("slug", f"use letters, digits and hyphens, such as {slug_from(slug) or 'my-post'}")
    form.labels["tags"] = "Tags"
    tags = tuple(dict.fromkeys(filter(None, map(tag_from, form["tags"].replace(",", " ").split()))))
    if len(tags) > TAGS_MAX:
        form.fault("tags", f"enter at most {TAGS_MAX} tags; the form has {len(tags)}")
    return title, content, slug or slug_from(title), tags


def create(turn: Turn) -> Response:
    """Save a new post as a draft; optionally publish or preview it."""
    form = turn.form
    if form["action"] == "preview":
        return _editor(turn, form, None)
    title, content, slug, tags = _fields(form)
    if not form:
        return _editor(turn, form, None, 422)
    turn.limit("write", turn.user.user_id)
    if form["action"] == "publish" and not shows_something(content):
        form.fault("content", "a published post must contain text")
        return _editor(turn, form, None, 422)
    try:
        post = Post(user_id=turn.user.user_id, slug=slug, title=title, excerpt=excerpt_from(content), tags=tags)
        made = _created(turn, post, content, numbers=not form["slug"].strip())
    except (ValueError, Refused, ItemExists, UniqueValueTaken) as error:
        _told(form, error)
        return _editor(turn, form, None, 422)
    if form["action"] == "publish":
        return _publish(turn, made, form)
    return turn.go(f"/write/{made.post.post_id}", "saved")


def _created(turn: Turn, post: Post, content: str, *, numbers: bool) -> PostWithContent:
    """A new post. If its slug is taken and was generated, a number is appended."""
    for slug in numbered(post.slug):
        try:
            return turn.blog.create_post(post.model_copy(update={"slug": slug}), content)
        except (ItemExists, UniqueValueTaken, Refused) as error:
            taken = not isinstance(error, Refused) or turn.blog.slug_of(slug) is not None
            if not (numbers and taken):
                raise
    raise ItemExists("there are too many posts with this title: choose another title", place="Blog.create_post")


def _told(form: Form, error: Exception) -> None:
    if isinstance(error, ItemExists | UniqueValueTaken):
        form.fault("slug", "another post has this address; choose another address")
    elif isinstance(error, ItemTooLarge):
        form.fault("content", f"{error.message}; {error.hint}")
    elif isinstance(error, Refused):
        form.take(error, ("title", "content", "slug", "tags"))
    else:
        form.fault("", str(error))


def _publish(turn: Turn, saved: PostWithContent, form: Form) -> Response:
    try:
        published = turn.blog.publish(saved.post.post_id)
    except Refused as error:
        form.take(error, ("title", "content", "tags"))
        form.typed["version"] = str(saved.content.version)
        return _editor(turn, form, saved.post, 422)
    turn.site.changed(published, listed=True)
    return turn.go(post_path(published.slug), "published")


def _own(turn: Turn, *, moderators: bool = False) -> PostWithContent:
    """The post in the URL, if the user may edit it; otherwise not found."""
    post_id = turn.path("post_id")
    content = turn.blog.whole_post(post_id) if len(post_id) <= 64 else None
    if content is None:
        raise not_found()
    if not (_is_editor(turn, content.post) or (moderators and turn.visitor.moderator)):
        raise not_found()
    return content


def _is_editor(turn: Turn, post: Post) -> bool:
    """Whether the user can edit a post: its author, or a moderator for an unclaimed imported author."""
    mine = post.user_id == turn.user.user_id
    return mine or (turn.visitor.moderator and accounts.is_unclaimed(turn.blog, post.user_id))


def edit_form(turn: Turn) -> Response:
    content = _own(turn)
    return _editor(turn, _typed(content), content.post)


def _typed(content: PostWithContent) -> Form:
    post = content.post
    return Form(
        {
            "title": post.title,
            "content": content.content.content,
            "slug": post.slug,
            "tags": " ".join(post.tags),
            "version": str(content.content.version),
        }
    )


def save(turn: Turn) -> Response:
    """Save a post unless it changed since it was opened; optionally publish it."""
    form = turn.form
    post_with_content = _own(turn)
    if form["action"] == "preview":
        return _editor(turn, form, post_with_content.post)
    title, content, slug, tags = _fields(form)
    version = form.number("version", "Version")
    shown = form["action"] == "publish" or post_with_content.post.status == "published"
    if shown and not shows_something(content):
        form.fault("content", "a published post must contain text")
    if not form or version is None:
        return _editor(turn, form, post_with_content.post, 422)
    turn.limit("write", turn.user.user_id)
    try:
        saved = turn.blog.edit_post(
            post_with_content.post.post_id,
            version,
            title,
            content,
            slug,
            tags,
            excerpt=excerpt_from(content),
            edited_by=turn.user.user_id,
        )
    except (ValueError, Refused, ItemExists, UniqueValueTaken) as error:
        if isinstance(error, Refused) and any(fault.place.endswith("version") for fault in error.errors):
            return _conflict(turn, form)
        _told(form, error)
        return _editor(turn, form, post_with_content.post, 422)
    turn.site.changed(saved.post, listed=saved.post.status == "published")
    if form["action"] == "publish":
        return _publish(turn, saved, form)
    return turn.go(f"/write/{saved.post.post_id}", "saved")


def _conflict(turn: Turn, form: Form) -> Response:
    """The page of a conflict, with the stored and the submitted text. Nothing was written."""
    theirs = _own(turn)
    form.typed["version"] = str(theirs.content.version)
    return _editor(turn, form, theirs.post, 409, theirs)


def act(turn: Turn) -> Response:
    """Publish, unpublish, archive or restore a post. Moderators can unpublish any post."""
    action = turn.path("action")
    content = _own(turn, moderators=action == "unpublish")
    actions = {
        "publish": (turn.blog.publish, "published"),
        "unpublish": (turn.blog.unpublish, "unpublished"),
        "archive": (turn.blog.archive, "archived"),
        "restore": (turn.blog.restore, "restored"),
    }
    if action not in actions:
        raise not_found()
    do, done = actions[action]
    turn.limit("write", turn.user.user_id)
    changed = do(content.post.post_id)
    turn.site.changed(changed, listed="published" in {content.post.status, changed.status})
    if not _is_editor(turn, content.post):
        return turn.go("/moderation/posts", done)
    return turn.go(f"/desk?status={changed.status}", done)


def delete(turn: Turn) -> Response:
    """Delete the user's post, after its title was typed."""
    content = _own(turn)
    if turn.form["title"].strip() != content.post.title:
        turn.form.fault("title", "type the post's title to confirm")
        return turn.page("delete_post.html", 422, form=turn.form, post=content.post)
    turn.limit("write", turn.user.user_id)
    removing.delete_post(turn.blog, content.post.post_id)
    turn.site.changed(content.post, listed=content.post.status == "published")
    return turn.go("/desk", "deleted")


def delete_form(turn: Turn) -> Response:
    return turn.page("delete_post.html", form=Form(), post=_own(turn).post)


def preview(turn: Turn) -> Response:
    return HTMLResponse(_rendered(turn, turn.form))


def _rendered(turn: Turn, form: Form) -> str:
    """The rendered text of a form. Text that isn't cached costs attempts by its length, because rendering is slow."""
    content = without_title(form["content"][:CONTENT_BYTES_MAX].replace("\r\n", "\n"), form["title"])
    if not is_rendered(content):
        turn.limit("preview", turn.user.user_id, cost=1 + len(content) / PREVIEW_CHARACTERS)
    return render_markdown(content)
