"""Import of a folder of Markdown posts, as Jekyll, Hugo and Zola keep them.

Authors become users without a password. Importing the folder again updates the posts of changed files; posts of
unchanged files, including edits in the blog, stay.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import quote, unquote

import orjson
from pydantic import ValidationError

from keyplan import now
from keyplan.errors import ErrorDetail, KeyplanError, StoreError, WriteFailed
from keyplan.systems import LoadReport, Progress
from keyplan_systems.blog.accounts import IMPORTED_DOMAIN
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import (
    ADDRESS_MAX,
    CO_AUTHORS_MAX,
    COMBO_TAGS_MAX,
    Credential,
    Post,
    PostWithContent,
    User,
)
from keyplan_systems.blog.files import files_of
from keyplan_systems.blog.former_urls import former_addresses
from keyplan_systems.blog.searching import rebuild
from keyplan_systems.frontmatter import FrontMatterError
from keyplan_systems.grouped_faults import GroupedFaults
from keyplan_systems.linking import LINKED_BYTES_MAX, Links, SiteFolder
from keyplan_systems.plain_markdown import plain_markdown
from keyplan_systems.posts import Post as PostFile
from keyplan_systems.posts import fault_of, find_posts, is_pattern, read_post, shown, stable_id
from keyplan_systems.site.files import KINDS, name_of
from keyplan_systems.site.markdown import looked_at
from keyplan_systems.site.searching import refill_beside
from keyplan_systems.words import EXCERPT_MAX, address_key, excerpt_from, slug_from, tag_from

UNKNOWN = "Unknown author"
"""The author of a post without one."""
USERNAME_MAX = 40


def load(design: Blog, folder: Path, progress: Progress, /) -> LoadReport:
    """Import all posts in a folder.

    Files that can't be imported are errors in the report; changed or removed content is one error per kind. ``loaded``
    counts the posts that match their files, including unchanged ones. Raises RequestError for a missing folder,
    StoreError if the store isn't writable.
    """
    paths, faults = find_posts(folder)
    report = LoadReport(errors=faults)
    work = _Import(design, folder, report)
    work.survey(paths)
    report.errors.extend(work.site.defaults())
    progress(0, len(paths))
    for number, path in enumerate(paths, 1):
        work.load(path)
        progress(number, len(paths))
    work.check_anchors()
    work.groups.report_to(report)
    with suppress(WriteFailed):  # another process writes the front page concurrently
        design.refresh_front_page(force=True)
    refill_beside(design.store.url, partial(rebuild, design))
    return report


class _Import:
    """One import of a folder: its site, and the URLs of its posts."""

    def __init__(self, design: Blog, folder: Path, report: LoadReport) -> None:
        self.design = design
        self.folder = folder
        self.report = report
        self.groups = GroupedFaults()
        self.site = SiteFolder(folder)
        self.files = files_of(design)
        self.users: dict[str, User] = {}
        self.slugs: dict[str, str] = {}
        self.loaded: set[str] = set()
        self.former: dict[str, list[str]] = {}
        self.links = Links(self.site, {}, {}, self._keep)
        self.ids: dict[str, set[str]] = {}
        """The link targets within each post, by URL."""
        self.anchored: dict[str, list[str]] = {}
        """The links of each file to targets within posts."""

    def survey(self, paths: list[Path]) -> None:
        """Determine the new and former URLs of all posts before links are rewritten."""
        taken: set[str] = set()
        known: dict[str, str] = {}
        for path in paths:
            try:
                post = read_post(self.folder, path)
            except FrontMatterError:
                continue  # the error is reported when the post is loaded
            slug = self._free_slug(stable_id(post.path, post.date), post, taken)
            taken.add(slug)
            self.slugs[post.path] = slug
            former = dict.fromkeys(map(address_key, former_addresses(post, self.site)))
            self.former[post.path] = [text for text in former if 1 < len(text) <= ADDRESS_MAX]
            for key in (*self.former[post.path], Path(post.path).stem):
                known.setdefault(key, post_address(slug))
        addresses = {path: post_address(slug) for path, slug in self.slugs.items()}
        self.links = Links(self.site, addresses, known, self._keep, self.former)

    def load(self, path: Path) -> None:
        """Load one post, and report lost content."""
        place = shown(path.relative_to(self.folder).as_posix())
        try:
            post = read_post(self.folder, path)
        except FrontMatterError as error:
            self.report.fault(fault_of(place, error))
            return
        try:
            self._take_in(post)
        except FrontMatterError as error:
            self.report.fault(fault_of(place, error))
        except StoreError:
            raise
        except KeyplanError as error:
            self.report.fault(ErrorDetail(place, error.message, error.hint, error.code))
        else:
            self.report.loaded += 1

    def check_anchors(self) -> None:
        """Report links to missing targets within posts, after all posts are loaded; site generators create some
        targets.
        """
        for path, links in self.anchored.items():
            lost: Counter[str] = Counter()
            for link in links:
                address, _, anchor = link.partition("#")
                ids = self.ids.get(address or post_address(self.slugs[path]))
                if ids is not None and unquote(anchor) not in {*ids, "", "top"}:
                    lost[unquote(link)[:200]] += 1
            self.groups.add("links to missing headings", path, lost, "add the id to the heading: ## Title {#id}")

    # Converting the text of a file

    def _text(self, file: PostFile) -> str:
        """The text in standard Markdown, with links to new URLs."""
        self.links.lost.clear()
        plain = plain_markdown(file.body, partial(self.links.address, file.path))
        look = looked_at(plain.text)
        for kind, names in plain.removed.items():
            self.groups.add(f"{kind}, not rendered", file.path, names, "use Markdown instead")
        self.groups.add("HTML that isn't displayed", file.path, look.left_out, "use Markdown instead of HTML")
        self.groups.add("links to missing targets, unchanged", file.path, self.links.lost, "change or remove the links")
        self.ids[post_address(self.slugs[file.path])] = look.ids
        self.anchored[file.path] = [link for link in look.links if "#" in link]
        return plain.text

    def _keep(self, path: Path) -> str | None:
        """Store a file and return its URL; None for an unsupported kind."""
        ending = {"jpeg": "jpg"}.get(path.suffix.lower().lstrip("."), path.suffix.lower().lstrip("."))
        if ending not in KINDS or path.stat().st_size > LINKED_BYTES_MAX:
            return None
        content = path.read_bytes()
        name = name_of(content, ending)
        self.files.put(name, content)
        return f"/files/{name}"

    # Storing the post

    def _take_in(self, file: PostFile) -> None:
        """Create or update the post of a file. Raises FrontMatterError for invalid values."""
        names = file.authors or (UNKNOWN,)
        author, *others = (_author(self.design, key, self.site.people.get(key, key), self.users) for key in names)
        is_draft = file.draft or file.date is None
        made = file.date or file.modified  # only drafts use the modification time of the file
        text = self._text(file)
        post_id = stable_id(file.path, file.date)
        wanted = _post(
            post_id=post_id,
            user_id=author.user_id,
            co_authors=self._co_authors(file, author, others),
            title=file.title,
            slug=self.slugs[file.path],
            excerpt=self._excerpt(file, text),
            tags=self._tags(file),
            created_at=made,
        )
        before = self._write(file, wanted, text)
        # A post that was unpublished in the blog stays unpublished. A post with a future date isn't published yet.
        if not is_draft and made <= now() and (before is None or before.post.published_at is None):
            self.design.publish_as_of(post_id, made)
        self.loaded.add(post_id)
        self.report.counts["drafts" if is_draft else "posts"] += 1
        if file.date is None:
            self.groups.add("posts without a date, imported as drafts", file.path, {file.slug: 1}, "add a date")
        for message, hint in file.said:
            self.groups.add(message, file.path, {file.slug: 1}, hint)
        if not is_draft and made > now():
            self.report.counts["drafts, because their date is in the future"] += 1
        for name in file.not_taken():
            self.report.counts[f"fields not imported: {name[:60]}"] += 1
        if file.permalink is not None and is_pattern(file.permalink):
            patterns = {file.permalink[:60]: 1}
            self.groups.add("URL patterns, not evaluated", file.path, patterns, "write each URL, or use redirect_from")
        if others:
            self.report.counts["posts with several authors"] += 1
        for path in self.former[file.path]:
            if path != address_key(post_address(wanted.slug)):
                led = self.design.redirect(path)
                if led is not None and led.post_id != post_id and led.post_id in self.loaded:
                    message = f"{path} is also the former URL of another file; the URL redirects to this post"
                    self.report.fault(ErrorDetail(file.path, message, "remove the URL from one of the files"))
                if led is None or led.post_id != post_id:
                    self.design.lead(path, post_id)
                self.report.counts["redirects of former URLs"] += 1

    def _write(self, file: PostFile, wanted: Post, text: str) -> PostWithContent | None:
        digest = _digest(file, wanted, text)
        before = self.design.whole_post(wanted.post_id)
        if before is None:
            self.design.create_post(wanted, text, digest)
        elif before.content.imported != digest:
            self.design.edit_post(
                wanted.post_id,
                before.content.version,
                wanted.title,
                text,
                wanted.slug,
                wanted.tags,
                wanted.user_id,
                excerpt=wanted.excerpt,
                imported=digest,
            )
            self.design.name_co_authors(wanted.post_id, wanted.co_authors)
        return before

    def _co_authors(self, file: PostFile, author: User, others: list[User]) -> tuple[str, ...]:
        """The co-authors of a post; those beyond the maximum are reported."""
        users = {user.user_id: user for user in others if user.user_id != author.user_id}
        left_out = [user.name for user in list(users.values())[CO_AUTHORS_MAX:]]
        if left_out:
            message = f"{len(users)} co-authors: only {CO_AUTHORS_MAX} are imported, without {', '.join(left_out)}"
            self.report.fault(ErrorDetail(file.path, message, "name the omitted authors in the text"))
        return tuple(users)[:CO_AUTHORS_MAX]

    def _excerpt(self, file: PostFile, text: str) -> str:
        excerpt = file.excerpt or excerpt_from(text)
        if len(excerpt) <= EXCERPT_MAX:
            return excerpt
        self.groups.add("excerpts, truncated", file.path, {file.slug: 1}, f"use at most {EXCERPT_MAX} characters")
        return f"{excerpt[: EXCERPT_MAX - 1].rstrip()}…"

    def _tags(self, file: PostFile) -> tuple[str, ...]:
        """The valid tags of a post; others are reported."""
        named = {text: tag_from(text) for text in (*file.tags, *file.categories)}
        empty = Counter(text for text, tag in named.items() if not tag)
        self.groups.add("tags without letters or digits, skipped", file.path, empty, "rename them")
        tags = tuple(dict.fromkeys(filter(None, named.values())))
        if len(tags) > COMBO_TAGS_MAX:
            left_out = ", ".join(tags[COMBO_TAGS_MAX:])
            message = f"{len(tags)} tags: only {COMBO_TAGS_MAX} are imported, without {left_out}"
            self.report.fault(ErrorDetail(file.path, message, "put the most important tags first"))
        return tags[:COMBO_TAGS_MAX]

    def _free_slug(self, post_id: str, file: PostFile, taken: set[str]) -> str:
        """The post's slug; if another post has it, with the date or a part of the post's id appended."""
        for slug in _slugs(post_id, file):
            there = self.design.slug_of(slug)
            if slug not in taken and (there is None or there.post_id == post_id):
                return slug
        return post_id.lower()


def post_address(slug: str) -> str:
    return f"/posts/{quote(slug, safe='')}"


def _post(**fields: object) -> Post:
    try:
        return Post.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        message = f"{name}: {first['msg'][:1].lower()}{first['msg'][1:]}"
        raise FrontMatterError(message) from None


def _slugs(post_id: str, file: PostFile) -> Iterator[str]:
    slug = slug_from(file.slug)
    yield slug
    if file.date is not None:
        yield f"{slug}-{file.date:%Y-%m-%d}"
    yield f"{slug}-{post_id[-8:].lower()}"


def _digest(file: PostFile, wanted: Post, text: str) -> str:
    """A digest of everything that the post takes from its file, to detect changes."""
    said = [text, wanted.title, wanted.slug, wanted.excerpt, wanted.tags, wanted.user_id, file.draft]
    if wanted.co_authors:
        said.append(wanted.co_authors)
    return hashlib.blake2b(orjson.dumps(said), digest_size=16).hexdigest()


# Authors


def _author(design: Blog, key: str, name: str, users: dict[str, User]) -> User:
    """The user of an author's key: an existing user with that username, or a new one."""
    username = _username(key)
    user = users.get(username) or design.user_to_sign_in(username)
    if user is None:
        user = User(username=username, name=name[:80], role="author")
        # The domain is reserved (RFC 2606) and receives no email
        credential = Credential(user_id=user.user_id, email=f"{username}@{IMPORTED_DOMAIN}")
        design.register(user, credential)
    users[username] = user
    return user


def _username(name: str) -> str:
    """An author's name as a username; a part of its hash is added if it has other letters than a–z, or is too short."""
    slug = slug_from(name.partition("@")[0], otherwise="author")[:USERNAME_MAX].strip("-")
    if slug.isascii() and len(slug) >= 3:
        return slug
    plain = "".join(letter for letter in slug if letter.isascii()).strip("-")[:20] or "author"
    return f"{plain}-{hashlib.blake2b(name.encode(), digest_size=4).hexdigest()}"
