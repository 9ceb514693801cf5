"""Writes of authors: create, edit, publish and archive posts.

Each is one transaction over the post, its text, its slug, its author's counters, its tags and their combinations.
"""

from __future__ import annotations

from datetime import datetime
from itertools import combinations

from keyplan import Add, Batch, Check, Create, Delete, Example, Put, Update, Writes, now, write
from keyplan.errors import ConditionFailed, ErrorDetail, ItemNotFound, ItemTooLarge, Refused
from keyplan_systems.blog.counting import counted
from keyplan_systems.blog.entities import (
    CONTENT_BYTES_MAX,
    CoAuthors,
    Excerpt,
    Post,
    PostAddress,
    PostContent,
    PostSlug,
    PostStatus,
    PostTag,
    PostTagCombo,
    PostTags,
    PostWithContent,
    Redirect,
    Slug,
    Title,
    User,
)
from keyplan_systems.blog.reads import Reads
from keyplan_systems.blog.scoring import PUBLISHED_POINTS, heated
from keyplan_systems.words import excerpt_from, word_count

_COUNTERS: dict[PostStatus, str] = {"unpublished": "drafts", "published": "published", "archived": "archived"}
"""The author's counter for each status."""


class PostWrites(Reads):
    """Writes of authors."""

    @write("W2", attempts=10, example=Example().missing("post"))
    def create_post(self, post: Post, content: str, imported: str | None = None) -> Writes[PostWithContent]:
        """Create an unpublished post with its text. The slug must be free, and the author active.

        Counts and publication times in ``post`` are ignored. Raises Refused for a taken ``slug``, an inactive author,
        or an existing id; ItemNotFound for a missing author or co-author; ItemTooLarge.
        """
        check_content(content, "Blog.create_post.content")
        if post.status != "unpublished":
            raise Refused("a new post must be unpublished", place="Blog.create_post", hint="publish it afterwards")
        yield from self._active(post.user_id, "Blog.create_post")
        if (yield from self.post.read(post.post_id)) is not None:
            raise Refused(f"post {post.post_id!r} already exists", place="Blog.create_post", hint="edit it")
        yield from self._take_slug(post.slug, post.post_id)
        created = yield from Create(_begun(post, content))
        written = yield from Create(
            PostContent(
                post_id=post.post_id,
                content=content,
                edited_at=created.created_at,
                edited_by=post.user_id,
                imported=imported,
            )
        )
        yield Update(User, user_id=post.user_id).set(drafts=Add(1)).only_if(status="active")
        return PostWithContent(created, written)

    @write("W3", attempts=30)
    def edit_post(
        self,
        post_id: str,
        version: int,
        title: Title,
        content: str,
        slug: Slug,
        tags: PostTags,
        edited_by: str,
        excerpt: Excerpt = "",
        imported: str | None = None,
    ) -> Writes[PostWithContent]:
        """Edit all of a post: title, text, slug, tags and excerpt (empty: the text's first paragraph).

        ``version`` is that of the edited text. If the text has changed since, the edit raises Refused, at ``version``,
        and overwrites nothing. The post's old slug stays, and redirects. Raises Refused for another post's slug, at
        ``slug``, and for an archived post; ItemNotFound, ItemTooLarge.
        """
        check_content(content, "Blog.edit_post.content")
        post_with_content = yield from self.whole_post.read(post_id)
        if post_with_content is None:
            raise ItemNotFound(f"there is no post {post_id!r}", place="Blog.edit_post")
        post, before = post_with_content
        if before.version != version:
            raise _stale(before, version)
        if post.status == "archived":
            raise Refused("an archived post can't be edited", place="Blog.edit_post", hint="restore the post first")
        if slug != post.slug:
            yield from self._take_slug(slug, post_id)
            yield Put(PostAddress(post_id=post_id, address=f"slug:{post.slug}"))
        moment = now()
        text = yield from Update(
            before, content=content, edited_at=moment, edited_by=edited_by, imported=imported or before.imported
        )
        yield (
            edit := Update(
                post,
                title=title,
                slug=slug,
                tags=tags,
                excerpt=excerpt or excerpt_from(content),
                words=word_count(content),
                updated_at=moment,
            ).only_if(status=post.status, slug=post.slug, tags=post.tags)
        )
        if post.status == "published" and post.published_at is not None:
            yield from self._retag(post_id, post.published_at, post.tags, tags)
        return PostWithContent(_after(post, edit), text)

    @write("W4", attempts=30)
    def publish(self, post_id: str) -> Writes[Post]:
        """Publish an unpublished post: it appears in lists and under its tags, and its author's counters change.

        A post keeps the date of its first publication. Raises ItemNotFound; Refused for an archived post, and for an
        inactive author.
        """
        return (yield from self._published(post_id, now()))

    @write("W4b", attempts=30)
    def publish_as_of(self, post_id: str, published_at: datetime) -> Writes[Post]:
        """Publish a post with its original date, for imports. Raises as ``publish``."""
        return (yield from self._published(post_id, published_at))

    def _published(self, post_id: str, moment: datetime) -> Writes[Post]:
        post = yield from self._post(post_id)
        if post.status == "published":
            return post
        if post.status == "archived":
            raise Refused("an archived post can't be published", place="Blog.publish", hint="restore the post first")
        yield from self._active(post.user_id, "Blog.publish")
        after = yield from self._moved(post, "published", published_at=post.published_at or moment)
        yield from self._retag(post_id, post.published_at or moment, (), post.tags)
        return after

    @write("W5", attempts=30, example=Example().found(Post, status="published"))
    def unpublish(self, post_id: str) -> Writes[Post]:
        """Unpublish a post: it becomes a draft. Raises ItemNotFound; Refused for an archived one."""
        post = yield from self._post(post_id)
        if post.status == "archived":
            raise Refused("an archived post can't be unpublished", place="Blog.unpublish", hint="restore the post")
        if post.status == "unpublished":
            return post
        return (yield from self._withdrawn(post, "unpublished"))

    @write("W6", attempts=30)
    def archive(self, post_id: str) -> Writes[Post]:
        """Archive a post: only its author's archive lists it, and it can't be edited. Raises ItemNotFound."""
        post = yield from self._post(post_id)
        if post.status == "archived":
            return post
        return (yield from self._withdrawn(post, "archived"))

    @write("W7", attempts=30, example=Example().found(Post, status="archived"))
    def restore(self, post_id: str) -> Writes[Post]:
        """Restore an archived post as a draft. Raises ItemNotFound."""
        post = yield from self._post(post_id)
        if post.status != "archived":
            return post
        return (yield from self._moved(post, "unpublished", published_at=post.published_at))

    @write("W37", attempts=30)
    def delete_post(self, post_id: str) -> Writes[bool]:
        """Delete an unpublished post with its text and slugs; ``removing`` deletes other references first. Returns
        whether it existed. Raises Refused for a published post.
        """
        post_with_content = yield from self.whole_post.read(post_id)
        if post_with_content is None:
            return False
        post, content = post_with_content
        if post.status == "published":
            raise Refused("a published post can't be deleted", place="Blog.delete_post", hint="archive the post first")
        addresses = yield from self.addresses_of.read(post_id)
        yield Delete(post).only_if(status=post.status, slug=post.slug, updated_at=post.updated_at)
        yield Delete(content)
        yield Delete(PostSlug, slug=post.slug)
        yield Update(User, user_id=post.user_id).set(**{_COUNTERS[post.status]: Add(-1)})
        if post.rating:
            yield counted("user", post.user_id, {"points": -post.rating})
        old = [address.address.removeprefix("slug:") for address in addresses if address.address.startswith("slug:")]
        yield Batch(
            [
                *(Delete(PostSlug, slug=slug) for slug in old if slug != post.slug),
                *(Delete(address) for address in addresses),
            ]
        )
        return True

    @write("W40")
    def name_co_authors(self, post_id: str, co_authors: CoAuthors) -> Writes:
        """Set the co-authors named in a post's byline, for imports. Raises ItemNotFound."""
        missing = ItemNotFound(f"there is no post {post_id!r}", place="Blog.post")
        yield Update(Post, post_id=post_id).set(co_authors=co_authors).if_missing(missing)

    @write("W31")
    def lead(self, path: str, post_id: str) -> Writes:
        """Redirect a URL from elsewhere to a post, for imports. Raises ItemNotFound."""
        missing = ItemNotFound(f"there is no post {post_id!r}", place="Blog.lead")
        yield Check(Post, post_id=post_id).if_missing(missing)
        yield Put(Redirect(path=path, post_id=post_id))
        yield Put(PostAddress(post_id=post_id, address=path))

    def _post(self, post_id: str) -> Writes[Post]:
        post = yield from self.post.read(post_id)
        if post is None:
            raise ItemNotFound(f"there is no post {post_id!r}", place="Blog.post")
        return post

    def _active(self, user_id: str, place: str) -> Writes:
        """Require that the user is active. Raises ItemNotFound and Refused."""
        user = yield from self.user.read(user_id)
        if user is None:
            raise ItemNotFound(f"there is no user {user_id!r}", place=place)
        if user.status != "active":
            raise Refused(f"the author is {user.status}", place=place)

    def _take_slug(self, slug: str, post_id: str) -> Writes:
        """Assign a slug to a post, unless it has it already. Raises Refused if another post has it."""
        post_slug = yield from self.slug_of.read(slug)
        if post_slug is None:
            yield Create(PostSlug(slug=slug, post_id=post_id))
        elif post_slug.post_id != post_id:
            raise Refused(
                f"the slug {slug!r} belongs to another post",
                place="Blog",
                hint="choose another",
                errors=[ErrorDetail("slug", "the slug belongs to another post", "choose another slug")],
            )

    def _moved(self, post: Post, status: PostStatus, published_at: datetime | None) -> Writes[Post]:
        """Change a post's status, and its author's counters."""
        yield (
            move := Update(post, status=status, published_at=published_at, updated_at=now()).only_if(
                status=post.status, tags=post.tags, published_at=post.published_at
            )
        )
        after = _after(post, move)
        counters = {_COUNTERS[post.status]: Add(-1), _COUNTERS[status]: Add(1)}
        count = Update(User, user_id=post.user_id).set(**counters)
        yield count.only_if(status="active") if status == "published" else count
        return after

    def _withdrawn(self, post: Post, status: PostStatus) -> Writes[Post]:
        after = yield from self._moved(post, status, published_at=post.published_at)
        if post.status == "published" and post.published_at is not None:
            yield from self._retag(post.post_id, post.published_at, post.tags, ())
        return after

    def _retag(self, post_id: str, published_at: datetime, old: tuple[str, ...], new: tuple[str, ...]) -> Writes:
        changed = sorted({*old} ^ {*new})
        if not changed:
            return
        there = {tag.tag: tag for tag in (yield from self.tags.read(changed))}
        for name in changed:
            tag = there.get(name)
            if name not in new:
                if tag is None or tag.posts < 1:  # the post was unpublished since the read
                    raise ConditionFailed(f"the tag {name!r} was changed by another request", place="Blog.tags")
                yield Update(tag, posts=Add(-1))
                continue
            moment = now()
            if tag is None:
                rating = heated(0, PUBLISHED_POINTS, moment)
                yield Create(PostTag(tag=name, posts=1, rating=rating, created_at=moment))
            else:
                rating = heated(tag.rating, PUBLISHED_POINTS, moment)
                yield Update(tag, posts=Add(1), rating=rating).only_if(rating=tag.rating)
        before, after = tag_combos(old), tag_combos(new)
        for combo in before:
            if combo not in after:
                yield Delete(PostTagCombo, tags=combo, published_at=published_at, post_id=post_id)
        for combo in after:
            if combo not in before:
                yield Put(PostTagCombo(tags=combo, published_at=published_at, post_id=post_id))


def _after(post: Post, edit: Update[Post]) -> Post:
    """The post as it was read, with the changes of the edit. Its counters can be outdated."""
    return post.model_copy(update={**edit.changes})


def tag_combos(tags: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Every combination of a post's tags: 2ⁿ−1 for n tags."""
    chosen = sorted(set(tags))
    return [combo for size in range(1, len(chosen) + 1) for combo in combinations(chosen, size)]


def check_content(content: str, place: str) -> None:
    """Raises ItemTooLarge for content that exceeds the maximum size, before anything is sent."""
    size = len(content.encode("utf-8", "surrogatepass"))
    if size > CONTENT_BYTES_MAX:
        raise ItemTooLarge(
            f"the text has {size:,} bytes; the maximum is {CONTENT_BYTES_MAX:,}",
            place=place,
            hint="divide the text into several posts",
        )


def _begun(post: Post, content: str) -> Post:
    return post.model_copy(
        update={
            "excerpt": post.excerpt or excerpt_from(content),
            "words": word_count(content),
            "views": 0,
            "likes": 0,
            "ratings": 0,
            "stars": 0,
            "rating": 0,
            "ranked_at": None,
            "published_at": None,
            "updated_at": post.created_at,
        }
    )


def _stale(before: PostContent, version: int) -> Refused:
    return Refused(
        f"the post has changed: its version is {before.version}, but the edit is based on {version}",
        place="Blog.edit_post",
        hint="read the post again and repeat the edit",
        errors=[
            ErrorDetail(
                "version",
                f"the current version is {before.version}, edited by {before.edited_by}",
                "edit the current text",
            )
        ],
    )
