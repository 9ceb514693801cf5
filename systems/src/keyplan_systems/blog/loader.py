"""Loading a folder of Markdown posts into the blog: Jekyll's, Hugo's, or any with front matter.

A post's author becomes a user, who has no password and so can't sign in. The same folder can be loaded again: a file
that has changed changes its post, one that hasn't leaves it as it is, edits made in the blog included. What a file
says is read by ``keyplan_systems.posts``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import orjson
from pydantic import ValidationError

from keyplan import now
from keyplan.errors import Fault, KeyplanError, StoreError, WriteFailed
from keyplan.systems import LoadReport, Progress
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import COMBO_TAGS_MAX, Credential, Post, User
from keyplan_systems.frontmatter import FrontMatterError
from keyplan_systems.posts import Post as PostFile
from keyplan_systems.posts import fault_of, find_posts, read_post, shown, stable_id
from keyplan_systems.words import EXCERPT_MAX, excerpt_from, slug_from, tag_from

__all__ = ["load"]

NOBODY = "Unknown author"
"""The author of a post that names none."""
USERNAME_MAX = 40


def load(design: Blog, folder: Path, progress: Progress, /) -> LoadReport:
    """Load every post below a folder. A post that can't be loaded, or not with all its tags, is a fault with its file.

    ``loaded`` counts the posts that now stand as their files say, those that already did included. Raises RequestError
    for a folder that isn't there and for YAML without PyYAML, StoreError when the store can't be written.
    """
    paths, faults = find_posts(folder)
    report = LoadReport(faults=faults)
    users: dict[str, User] = {}
    progress(0, len(paths))
    for number, path in enumerate(paths, 1):
        _load_one(design, folder, path, users, report)
        progress(number, len(paths))
    with suppress(WriteFailed):  # somebody else makes it at the same moment
        design.refresh_front_page(force=True)
    return report


def _load_one(design: Blog, folder: Path, path: Path, users: dict[str, User], report: LoadReport) -> None:
    place = shown(path.relative_to(folder).as_posix())
    try:
        found = read_post(folder, path)  # a RequestError of it, that PyYAML is missing, is every file's: it goes out
    except FrontMatterError as error:
        report.fault(fault_of(place, error))
        return
    try:
        _take_in(design, found, _author(design, found, users), report)
    except FrontMatterError as error:
        report.fault(fault_of(place, error))
    except StoreError:
        raise
    except KeyplanError as error:
        report.fault(Fault(place, error.message, error.hint, error.code))
    else:
        report.loaded += 1


# Authors


def _author(design: Blog, found: PostFile, users: dict[str, User]) -> User:
    """The user who is a post's author: the one who has that username, or a new one."""
    name = next(iter(found.authors), NOBODY)
    username = _username(name)
    user = users.get(username) or design.user_to_sign_in(username)
    if user is None:
        user = User(username=username, name=name[:80], role="author")
        # Nobody reads mail there, and no name of the Internet ends so (RFC 2606).
        credential = Credential(user_id=user.user_id, email=f"{username}@imported.invalid")
        try:
            design.register(user, credential)
        except WriteFailed:  # somebody else imports the same author
            other = design.user_to_sign_in(username)
            if other is None:
                raise
            user = other
    users[username] = user
    return user


def _username(name: str) -> str:
    """An author's name as a username; one that isn't written in a–z, or is too short, gets some of its hash."""
    slug = slug_from(name.partition("@")[0], otherwise="author")[:USERNAME_MAX].strip("-")
    if slug.isascii() and len(slug) >= 3:
        return slug
    plain = "".join(letter for letter in slug if letter.isascii()).strip("-")[:20] or "author"
    return f"{plain}-{hashlib.blake2b(name.encode(), digest_size=4).hexdigest()}"


# Posts


def _take_in(design: Blog, found: PostFile, author: User, report: LoadReport) -> None:
    """Bring the post of a file to what the file says. Raises FrontMatterError for what no post can hold."""
    post_id = stable_id(found.path, found.date)
    made = found.date or found.modified
    tags = tuple(dict.fromkeys(filter(None, map(tag_from, (*found.tags, *found.categories)))))
    if len(tags) > COMBO_TAGS_MAX:
        left_out = ", ".join(tags[COMBO_TAGS_MAX:])
        message = f"{len(tags)} tags: the post has the first {COMBO_TAGS_MAX}, without {left_out}"
        report.fault(Fault(f"{found.path}:{found.lines.get('tags', 1)}", message, "put the most important tags first"))
    excerpt = found.excerpt or excerpt_from(found.body)
    wanted = _post(
        found,
        post_id=post_id,
        user_id=author.user_id,
        title=found.title,
        slug=_free_slug(design, post_id, found),
        excerpt=excerpt if len(excerpt) <= EXCERPT_MAX else f"{excerpt[: EXCERPT_MAX - 1].rstrip()}…",
        tags=tags[:COMBO_TAGS_MAX],
        created_at=made,
    )
    digest = _digest(found, wanted)
    before = design.whole_post(post_id)
    if before is None:
        design.create_post(wanted, found.body, digest)
    elif before.content.imported != digest:
        design.edit_post(
            post_id,
            before.content.version,
            wanted.title,
            found.body,
            wanted.slug,
            wanted.tags,
            author.user_id,
            excerpt=wanted.excerpt,
            imported=digest,
        )
    # What was published once, and taken back in the blog, stays so. A post of the future waits, as in Jekyll and Hugo.
    if not found.draft and made <= now() and (before is None or before.post.published_at is None):
        design.publish_as_of(post_id, made)


def _post(found: PostFile, **fields: object) -> Post:
    try:
        return Post.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        message = f"{name}: {first['msg'][:1].lower()}{first['msg'][1:]}"
        raise FrontMatterError(message, line=found.lines.get(name)) from None


def _free_slug(design: Blog, post_id: str, found: PostFile) -> str:
    """The post's slug; where another post has it, with the date behind it, or a part of the post's id."""
    for slug in _slugs(post_id, found):
        there = design.slug_of(slug)
        if there is None or there.post_id == post_id:
            return slug
    return post_id.lower()


def _slugs(post_id: str, found: PostFile) -> Iterator[str]:
    slug = slug_from(found.slug)
    yield slug
    if found.date is not None:
        yield f"{slug}-{found.date:%Y-%m-%d}"
    yield f"{slug}-{post_id[-8:].lower()}"


def _digest(found: PostFile, wanted: Post) -> str:
    """What tells whether a file has changed: of its text, and of all that the post takes from its front matter."""
    said = [found.body, wanted.title, wanted.slug, wanted.excerpt, wanted.tags, wanted.user_id, found.draft]
    return hashlib.blake2b(orjson.dumps(said), digest_size=16).hexdigest()
