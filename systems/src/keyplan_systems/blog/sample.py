"""The blog's sample: people, and their posts with tags, readers and popularity.

The first ten posts are essays with images, comments and several authors (``essays``); the others are combined from
sentences (``keyplan_systems.texts``).

Post number n is the same in every sample of any size, and there is one user per ten posts, at least twelve. Existing
items stay, so sampling again changes nothing. Three users can sign in with DEMO_PASSWORD: reader@example.com,
author@example.com and moderator@example.com (or by username).

All counters are consistent, as if the blog's writes had created the items: a block's posts are written in one
transaction with the counters of their authors and tags, after the items that belong to them. An interrupted sample
continues when it runs again.
"""

from __future__ import annotations

import random
from collections import Counter as Tally
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache, partial

from keyplan import Add, Create, Put, Update, now
from keyplan.errors import RequestError, WriteFailed
from keyplan.systems import Progress
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import (
    Comment,
    ContactMessage,
    Counter,
    CounterKind,
    Credential,
    Post,
    PostContent,
    PostImpression,
    PostSlug,
    PostStatus,
    PostTag,
    PostTagCombo,
    Role,
    Upload,
    User,
)
from keyplan_systems.blog.essays import ESSAYS, Essay, picture
from keyplan_systems.blog.files import files_of
from keyplan_systems.blog.posts import tag_combos
from keyplan_systems.blog.scoring import PUBLISHED_POINTS, heated, points_of
from keyplan_systems.blog.searching import rebuild
from keyplan_systems.blog.texts import BIOS, FIRST_NAMES, LAST_NAMES, MESSAGES, title_of
from keyplan_systems.posts import stable_id
from keyplan_systems.sampling import in_steps, shifted, zipf
from keyplan_systems.site.files import name_of
from keyplan_systems.site.searching import refill_beside
from keyplan_systems.texts import SUBJECTS, Subject, manuscript
from keyplan_systems.words import excerpt_from, slug_from, tag_from, word_count

DEMO_PASSWORD = "keyplan demo 2026"  # noqa: S105 - the sample's password, which the documentation publishes
DEMO_HASH = "$argon2id$v=19$m=65536,t=3,p=4$a2V5cGxhbidzIHNhbXBsZQ$f5dfII1xonlIyA2f2YhP6adUiSoi3wQIOyiFKm0bj8w"
"""Its hash: a fixed one, as hashing takes time."""
DEMO_USERS: Sequence[tuple[str, str, Role]] = (
    ("reader", "Robin Reader", "reader"),
    ("author", "Avery Author", "author"),
    ("moderator", "Morgan Moderator", "moderator"),
)
NEWEST = datetime(2026, 11, 20, 18, 30, tzinfo=UTC)
"""When post 0 was created, before its sample is moved to today; each further post is some hours older."""
LATER = timedelta(days=1)
"""How long after a post its last comments are."""
FIRST_JOINED = timedelta(days=4000)
"""How long before the newest post the first user joined."""
USERS_MIN = 12
AUTHORS_SHARE = 5
"""One in this many users writes posts, in addition to the first twelve."""
BLOCK = 28
"""Posts per transaction: two actions each, and two for each author and tag, up to 100."""
BLOCK_AUTHORS = 6
BLOCK_TAGS = 15
USERS_AT_ONCE = 25
READERS_MAX = 40
ATTEMPTS = 10
GENERAL_TAGS = ("howto", "notes", "beginners", "opinion", "weekend")


def sample(design: Blog, count: int, progress: Progress) -> int:
    """Write sample posts 0 to ``count``, and a tenth as many users; returns the number of new posts."""
    first = design.user(sample_user(0).user_id)
    offset = (now() - LATER if first is None else first.created_at + FIRST_JOINED) - NEWEST
    people = users_for(count)
    total = count + people
    progress(0, total)
    for start in range(0, people, USERS_AT_ONCE):
        _write_users(design, range(start, min(start + USERS_AT_ONCE, people)), offset)
        progress(start, total)
    _write_messages(design, offset)
    _write_pictures(design, count, offset)

    def write(numbers: range) -> int:
        return _write_block(design, [whole_post(number).shifted(offset) for number in numbers])

    written = in_steps(count, BLOCK, write, lambda done, _: progress(people + done, total))
    with suppress(WriteFailed):  # another process writes the front page concurrently
        design.refresh_front_page(force=True)
    refill_beside(design.store.url, partial(rebuild, design))
    return written


def users_for(count: int) -> int:
    """The number of users of a sample of ``count`` posts."""
    return max(USERS_MIN, count // 10)


# People


@lru_cache(maxsize=20_000)
def sample_user(number: int) -> User:
    chance = random.Random(f"keyplan blog user {number}")  # noqa: S311 - reproducible sample data
    if number < len(DEMO_USERS):
        username, name, role = DEMO_USERS[number]
    else:
        username, name = _person(number - len(DEMO_USERS))
        role = "author" if number < USERS_MIN or number % AUTHORS_SHARE == 0 else "reader"
    made = NEWEST - FIRST_JOINED + timedelta(minutes=37 * number)
    return User(
        user_id=stable_id(f"sample/user/{number}", made),
        username=username,
        name=name,
        bio=chance.choice(BIOS),
        role=role,
        status="suspended" if role == "reader" and number >= USERS_MIN and chance.random() < 0.03 else "active",
        created_at=made,
    )


def _person(place: int) -> tuple[str, str]:
    """A unique username, and a name."""
    turn, first = divmod(place, len(FIRST_NAMES))
    name = f"{FIRST_NAMES[first]} {LAST_NAMES[(turn + place) % len(LAST_NAMES)]}"
    again = turn // len(LAST_NAMES)
    return slug_from(name) + (f"-{again + 1}" if again else ""), name


def _write_users(design: Blog, numbers: range, offset: timedelta) -> None:
    """Write missing users. Raises UniqueValueTaken if another user has one of their names."""
    people = [shifted(sample_user(number), offset) for number in numbers]
    there = design.get_many(User, [{"user_id": person.user_id} for person in people], consistent=True)
    actions: list[Create] = []
    for user, result in zip(people, there, strict=True):
        if result is None:
            hashed = DEMO_HASH if any(user.username == element[0] for element in DEMO_USERS) else None
            credential = Credential(
                user_id=user.user_id,
                email=f"{user.username}@example.com",
                password_hash=hashed,
                changed_at=user.created_at,
            )
            actions += [Create(user), Create(credential)]
    if actions:
        design.transact(actions)


def _write_messages(design: Blog, offset: timedelta) -> None:
    messages: list[ContactMessage] = []
    for number, (subject, text) in enumerate(MESSAGES):
        at = NEWEST - timedelta(hours=19 * number, minutes=7 * number)
        username, name = _person(number * 5)
        messages.append(
            ContactMessage(
                message_id=stable_id(f"sample/message/{number}", at),
                name=name,
                email=f"{username}@example.com",
                subject=subject,
                text=text,
                handled=number > 4,
                at=at + offset,
            )
        )
    keys = [{"month": message.month, "at": message.at, "message_id": message.message_id} for message in messages]
    there = design.get_many(ContactMessage, keys, consistent=True)
    design.batch(
        Put(message) for message, contact_message in zip(messages, there, strict=True) if contact_message is None
    )


def _write_pictures(design: Blog, count: int, offset: timedelta) -> None:
    """Store missing images of the essays; none for a store without a location for files."""
    places = files_of(design)
    for number, written in enumerate(ESSAYS[:count]):
        author = sample_user(written.author).user_id
        noted = {upload.name for upload in design.uploads_of(author)} if written.pictures else set[str]()
        for drawing in written.pictures:
            name, content = _picture_name(drawing), picture(drawing)
            try:
                places.put(name, content)
            except RequestError:
                return
            if name not in noted:
                design.put(Upload(user_id=author, name=name, at=NEWEST - _age(number) + offset))


@cache
def _picture_name(drawing: str) -> str:
    return name_of(picture(drawing), "svg")


# Posts


@dataclass(frozen=True)
class WholePost:
    """A post with all of its items, as the blog's writes would have created them."""

    post: Post
    content: PostContent
    readers: list[PostImpression]
    comments: list[Comment]

    def shifted(self, offset: timedelta) -> WholePost:
        return WholePost(
            shifted(self.post, offset),
            shifted(self.content, offset),
            [shifted(reader, offset) for reader in self.readers],
            [shifted(comment, offset) for comment in self.comments],
        )

    @property
    def slug(self) -> PostSlug:
        return PostSlug(slug=self.post.slug, post_id=self.post.post_id, since=self.post.created_at)

    @property
    def counter(self) -> Counter:
        post = self.post
        return Counter(
            kind="post",
            subject=post.post_id,
            shard=0,
            slot=0,
            views=post.views,
            likes=post.likes,
            ratings=post.ratings,
            stars=post.stars,
            comments=post.comments,
        )

    @property
    def combos(self) -> list[PostTagCombo]:
        post = self.post
        if post.status != "published" or post.published_at is None:
            return []
        return [
            PostTagCombo(tags=tags, published_at=post.published_at, post_id=post.post_id)
            for tags in tag_combos(post.tags)
        ]


def whole_post(number: int) -> WholePost:
    """Sample post ``number``."""
    chance = random.Random(f"keyplan blog post {number}")  # noqa: S311 - reproducible sample data
    made = NEWEST - _age(number) - timedelta(minutes=chance.randrange(50))
    post_id = stable_id(f"sample/post/{number}", made)
    if number < len(ESSAYS):
        return _essay_post(post_id, made, ESSAYS[number], chance)
    title, subject, again = title_of(number)
    author = sample_user(chance.choice(_block(number // BLOCK)[0])).user_id
    status: PostStatus = chance.choices(("published", "unpublished", "archived"), weights=(88, 8, 4))[0]
    out = made + timedelta(minutes=chance.randrange(5, 40)) if status != "unpublished" else None
    text = manuscript(chance, subject, number, chance.choice((1, 2, 3, 3, 4, 6)))
    content = text.bodies[-1].partition("\n\n")[2]  # omits the title, which the text starts with
    readers = [] if out is None else _readers(chance, post_id, out, users_for(number))
    post = Post(
        post_id=post_id,
        user_id=author,
        slug=slug_from(title) + (f"-{again + 1}" if again else ""),
        title=title,
        excerpt=excerpt_from(content),
        status=status,
        tags=_tags(chance, subject, _block(number // BLOCK)[1]),
        views=0 if out is None else min(2_000_000, int(25 * (1 - chance.random()) ** -0.95)),
        created_at=made,
        updated_at=out or made,
        published_at=out,
    )
    return _counted(post, content, readers, [])


def _essay_post(post_id: str, made: datetime, written: Essay, chance: random.Random) -> WholePost:
    out = made + timedelta(minutes=20)
    content = written.with_pictures(lambda name: f"/files/{_picture_name(name)}")
    readers = _readers(chance, post_id, out, USERS_MIN, most=USERS_MIN)
    post = Post(
        post_id=post_id,
        user_id=sample_user(written.author).user_id,
        co_authors=tuple(sample_user(beside).user_id for beside in written.beside),
        slug=slug_from(written.title),
        title=written.title,
        excerpt=written.excerpt or excerpt_from(content),
        status="published",
        tags=written.tags,
        views=written.views,
        created_at=made,
        updated_at=out,
        published_at=out,
    )
    return _counted(post, content, readers, _comments(post_id, written, out))


def _counted(post: Post, content: str, readers: list[PostImpression], comments: list[Comment]) -> WholePost:
    """A post with its counts and points. ``views`` in ``post`` are those of readers without an account."""
    rated = [reader.stars for reader in readers if reader.stars is not None]
    counts = {
        "words": word_count(content),
        "views": post.views + len(readers),
        "likes": sum(reader.liked for reader in readers),
        "ratings": len(rated),
        "stars": sum(rated),
        "comments": len(comments),
    }
    after = post.model_copy(update=counts)
    text = PostContent(post_id=post.post_id, content=content, edited_at=post.created_at, edited_by=post.user_id)
    return WholePost(after.model_copy(update={"rating": points_of(after)}), text, readers, comments)


def _comments(post_id: str, written: Essay, out: datetime) -> list[Comment]:
    """The comments of an essay, with their numbers as ids, so that they are the same in every sample."""
    result: list[Comment] = []
    for place, (user, text, replies_to) in enumerate(written.comments):
        result.append(
            Comment(
                post_id=post_id,
                thread_id=f"{place if replies_to is None else replies_to:04d}",
                comment_id=f"{place:04d}",
                user_id=sample_user(user).user_id,
                text=text,
                at=out + timedelta(minutes=47 * (place + 1)),
            )
        )
    return result


def _age(number: int) -> timedelta:
    """The age of post ``number`` relative to NEWEST: a few posts a day, and many more in large samples."""
    return timedelta(hours=5 * min(number, 2000) + max(0, number - 2000))


@lru_cache(maxsize=64)
def _block(block: int) -> tuple[list[int], frozenset[str]]:
    """The authors' numbers of a block of posts, busy ones more often; and the block's possible tags."""
    chance = random.Random(f"keyplan blog block {block}")  # noqa: S311 - reproducible sample data
    if block == 0:  # block 0 has only the essays' authors and tags
        named = {
            *(tag_from(subject.tags[0]) for subject in SUBJECTS),
            *(tag for written in ESSAYS for tag in written.tags),
        }
        return sorted({written.author for written in ESSAYS}), frozenset(named)
    users = users_for(block * BLOCK)
    authors = [1, *range(3, USERS_MIN), *range(15, users, AUTHORS_SHARE)]
    chosen = chance.choices(authors, zipf(len(authors)), k=BLOCK_AUTHORS)
    first = [subject.tags[0] for subject in SUBJECTS]
    others = sorted({tag for subject in SUBJECTS for tag in subject.tags[1:]} | {*GENERAL_TAGS})
    tags = {tag_from(tag) for tag in (*first, *chance.sample(others, BLOCK_TAGS - len(first)))}
    return chosen, frozenset(tags)


def _tags(chance: random.Random, subject: Subject, allowed: frozenset[str]) -> tuple[str, ...]:
    """The subject's first tag, and some of its others and of the general ones."""
    own = [tag_from(tag) for tag in (*subject.tags[1:], *GENERAL_TAGS)]
    more = [tag for tag in own if tag in allowed]
    chosen = {tag_from(subject.tags[0]), *chance.sample(more, min(len(more), chance.randrange(4)))}
    return tuple(sorted(chosen)[:5])


def _readers(
    chance: random.Random, post_id: str, out: datetime, users: int, most: int | None = None
) -> list[PostImpression]:
    """Some users who saw, liked or rated a post: few for most posts, many for some; ``most`` for an essay."""
    count = most or min(READERS_MAX, users, int(0.6 * (1 - chance.random()) ** -0.8))
    impressions: list[PostImpression] = []
    for number in sorted(chance.sample(range(users), count)):
        stars = chance.choice((None, None, None, 3, 4, 4, 5, 5))
        at = out + timedelta(minutes=chance.randrange(9000))
        reader = sample_user(number).user_id
        impressions.append(
            PostImpression(post_id=post_id, user_id=reader, at=at, liked=chance.random() < 0.4, stars=stars)
        )
    return impressions


# Writing a block of posts


def _write_block(design: Blog, wholes: Sequence[WholePost]) -> int:
    """Write missing posts: first the items that belong to them, then the posts with their authors' and tags' counters
    in one transaction. Retries after concurrent changes.
    """
    for attempt in range(ATTEMPTS):
        keys = [{"post_id": post.post.post_id} for post in wholes]
        there = design.get_many(Post, keys, consistent=True)
        new = [post for post, result in zip(wholes, there, strict=True) if result is None]
        if not new:
            return 0
        new = _with_free_slugs(design, new)
        design.batch(
            Put(item) for post in new for item in (post.slug, post.counter, *post.combos, *post.readers, *post.comments)
        )
        try:
            design.transact(_block_actions(design, new))
        except WriteFailed:
            if attempt == ATTEMPTS - 1:
                raise
        else:
            return len(new)
    return 0


def _with_free_slugs(design: Blog, wholes: list[WholePost]) -> list[WholePost]:
    """The posts with free slugs: a part of the post's id is appended to a taken one."""
    there = design.get_many(PostSlug, [{"slug": post.post.slug} for post in wholes], consistent=True)
    return [
        post
        if slug is None or slug.post_id == post.post.post_id
        else replace(
            post, post=post.post.model_copy(update={"slug": f"{post.post.slug}-{post.post.post_id[-6:].lower()}"})
        )
        for post, slug in zip(wholes, there, strict=True)
    ]


def _block_actions(design: Blog, wholes: Sequence[WholePost]) -> list[Create | Update]:
    posts = [post.post for post in wholes]
    actions: list[Create | Update] = [Create(item) for post in wholes for item in (post.post, post.content)]
    for user in design.users(sorted({post.user_id for post in posts})):
        own = [post for post in posts if post.user_id == user.user_id]
        by_status = Tally(post.status for post in own)
        points = sum(post.rating for post in own)
        actions.append(
            Update(
                user,
                drafts=Add(by_status["unpublished"]),
                published=Add(by_status["published"]),
                archived=Add(by_status["archived"]),
                rating=user.rating + points,
            ).only_if(rating=user.rating)
        )
        if own:
            actions.append(_added("user", user.user_id, points=points))
    public = [post for post in posts if post.status == "published"]
    names = sorted({tag for post in public for tag in post.tags})
    there = {tag.tag: tag for tag in design.tags(names)} if names else {}
    for place, name in enumerate(names):
        # Distinct milliseconds, so that tags with equal points have the same order in every store
        begun = timedelta(milliseconds=place)
        actions += _tag_actions(name, [post for post in public if name in post.tags], there.get(name), begun)
    return actions


def _tag_actions(name: str, posts: Sequence[Post], tag: PostTag | None, begun: timedelta) -> list[Create | Update]:
    rating = 0 if tag is None else tag.rating
    for post in posts:
        rating = heated(rating, post.rating + PUBLISHED_POINTS, post.listed_at)
    points = sum(element.rating for element in posts)
    counts = _added("tag", name, points=points)
    if tag is None:
        first = min(element.listed_at for element in posts) + begun
        return [Create(PostTag(tag=name, posts=len(posts), rating=rating, counted=points, created_at=first)), counts]
    update = Update(tag, posts=Add(len(posts)), rating=rating, counted=Add(points))
    return [update.only_if(rating=tag.rating, counted=tag.counted), counts]


def _added(kind: CounterKind, subject: str, **counts: int) -> Update:
    added = {name: Add(count) for name, count in counts.items()}
    return Update(Counter, kind=kind, subject=subject, shard=0, slot=0).set(**added).or_create()
