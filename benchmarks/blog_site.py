"""The blog's site and API under load: the response time of each page and endpoint.

``keyplan serve blog`` runs in one process on the embedded store, with a sample of 100,000 posts and 10,000 people.
Requests are sent at a constant rate of 100 per second, even if earlier ones have no response yet. A request's time
starts when it should have been sent, so a server that falls behind has long times. Posts, tags and authors are random;
popular ones are more frequent.

The whole sequence runs in three rounds, minutes apart. The result is the round with the median p99, because a shared
machine can be slow at times.

``make bench-blog`` writes docs/benchmarks-blog.md. For a quick run, use ``--posts 2000 --rounds 1 --seconds 3``. The
sample is kept in ``.cache/``. Tests assert requests, not seconds (tests/systems/blog_site).
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import platform
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlencode

import apsw
from rich.console import Console
from rich.table import Table

from benchmarks.http_load import Client, Reply
from keyplan_systems.blog import accounts
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Post, User
from keyplan_systems.blog.sample import DEMO_PASSWORD
from keyplan_systems.site.signing import Signer

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "benchmarks-blog.md"
BEGIN, END = "<!-- blog_site: begin -->", "<!-- blog_site: end -->"
KEYPLAN = (sys.executable, "-c", "from keyplan.cli import main; main()")
TARGET_MS = 10.0
WARM_UP_REQUESTS = 50
COMMENTS = 50
"""Comments on the post whose comments are asked for: a page of them."""
KNOWN_MAX = 2000
"""Posts and people that requests are made for."""
PEOPLE = 64
"""People who send requests in turn: one alone would be rejected by the site's rate limits."""


@dataclass
class Known:
    """What is in the store: posts with their slugs and tags, the most popular first; people; a moderator's message."""

    posts: list[Post]
    users: list[User]
    tags: list[str]
    cursor: str
    own: Post
    ids: dict[str, str]
    tokens: list[str]
    """Of people who write: a session each."""
    random: random.Random = field(default_factory=lambda: random.Random(1))

    def post(self) -> Post:
        """Some post; the popular ones more often."""
        return self.posts[min(int(self.random.paretovariate(0.7)) - 1, len(self.posts) - 1)]

    def user(self) -> User:
        return self.random.choice(self.users)

    def tag(self) -> str:
        return self.tags[min(int(self.random.paretovariate(0.9)) - 1, len(self.tags) - 1)]


def known(blog: Blog) -> Known:
    """Read what requests are made for."""
    posts: list[Post] = []
    _prepared(blog)
    page = blog.popular_posts(limit=100)
    while True:
        posts += page.items
        if page.cursor is None or len(posts) >= KNOWN_MAX:
            break
        page = blog.popular_posts(limit=100, cursor=page.cursor)
    users = [one for one in blog.users(sorted({post.user_id for post in posts})) if one.status == "active"]
    latest = blog.latest_posts(limit=10)
    people = {name: blog.user_by_username(name) for name in ("reader", "author", "moderator")}
    ids = {name: one.user_id for name, one in people.items() if one is not None}
    own = next(iter(blog.posts_of_user(ids["author"], "published", limit=1)), posts[0])
    tags = [one.tag for one in blog.trending_tags(limit=200)]
    sessions = accounts.sessions_of(blog, Signer(b"signed again by main"))
    for user in users[:PEOPLE]:
        blog.set_role(user.user_id, "moderator")  # so that each of them can send each request
        blog.view_post(own.post_id, user.user_id)
        blog.view_user(user.user_id, ids["author"])
    tokens = [sessions.open(user, kind="token").rpartition(".")[0] for user in users[:PEOPLE]]
    return Known(posts, users, tags, latest.cursor or "", own, ids, tokens)


def _prepared(blog: Blog) -> None:
    """Fill up the comments of a post."""
    reader = blog.user_by_username("reader")
    assert reader is not None
    post = next(iter(blog.popular_posts(limit=1)))
    for number in range(len(blog.comments(post.post_id, limit=COMMENTS).items), COMMENTS):
        blog.add_comment(post.post_id, reader.user_id, f"Comment {number} has a sentence or two. " * 4)


Make = Callable[[Known], tuple[str, dict[str, object] | None]]


@dataclass(frozen=True)
class Target:
    """What is asked for: as whom, and by which requests (a path, and the JSON of a write)."""

    name: str
    make: Make
    who: str = ""


def page(name: str, make: Callable[[Known], str], who: str = "") -> Target:
    return Target(name, lambda one: (make(one), None), who)


def read(pattern: str, who: str = "", **given: Callable[[Known], object] | object) -> Target:
    """A read of the API; arguments are values, or functions of what is known."""

    def make(one: Known) -> tuple[str, None]:
        values = {name: value(one) if callable(value) else value for name, value in given.items()}
        query = urlencode(values, doseq=True)
        return f"/api/{pattern}" + (f"?{query}" if query else ""), None

    return Target(f"GET /api/{pattern}", make, who)


def write(pattern: str, **given: Callable[[Known], object] | object) -> Target:
    """A write of the API, by somebody else each time."""

    def make(one: Known) -> tuple[str, dict[str, object]]:
        return f"/api/{pattern}", {name: value(one) if callable(value) else value for name, value in given.items()}

    return Target(f"POST /api/{pattern}", make, "somebody")


def two_tags(one: Known) -> list[str]:
    tags = next((post.tags for post in (one.post() for _ in range(50)) if len(post.tags) > 1), ())
    return list(tags[:2]) or [one.tag()]


PAGES = [
    page("/static/site.css (baseline)", lambda _: "/static/site.css"),
    page("/", lambda _: "/"),
    page("/latest", lambda _: "/latest"),
    page("/latest?cursor=…", lambda one: f"/latest?cursor={one.cursor}"),
    page("/popular", lambda _: "/popular"),
    page("/posts/…", lambda one: f"/posts/{quote(one.post().slug)}"),
    page("/posts/… (any)", lambda one: f"/posts/{quote(one.random.choice(one.posts).slug)}"),
    page("/posts/… with 50 comments", lambda one: f"/posts/{quote(one.posts[0].slug)}"),
    page("/authors/…", lambda one: f"/authors/{one.user().username}"),
    page("/tags", lambda _: "/tags"),
    page("/tags/…", lambda one: f"/tags/{quote(one.tag())}"),
    page("/tags/…,…", lambda one: "/tags/" + ",".join(map(quote, two_tags(one)))),
    page("/search?q=…", lambda one: f"/search?q={quote(one.tag())}"),
    page("/search?q=… (two words)", lambda one: f"/search?q={quote(one.post().title[-12:])}"),
    page("/search/tags?prefix=…", lambda one: f"/search/tags?prefix={quote(one.tag()[:2])}"),
    page("/search/tags?posts=…", lambda one: f"/search/tags?posts={quote(one.tag()[:3])}"),
    page("/feed.atom", lambda _: "/feed.atom"),
    page("/robots.txt", lambda _: "/robots.txt"),
    page("/sitemap.xml", lambda _: "/sitemap.xml"),
    page("/sitemap-YYYY.xml", lambda _: "/sitemap-2026.xml"),
    page("/sitemap-YYYY-MM-DD.xml", lambda one: f"/sitemap-{one.random.choice(one.posts).listed_at:%Y-%m-%d}.xml"),
    page("/sign-in", lambda _: "/sign-in"),
    page("/sign-up", lambda _: "/sign-up"),
    page("/contact", lambda _: "/contact"),
    page("/ signed in", lambda _: "/", "reader"),
    page("/posts/… signed in", lambda one: f"/posts/{quote(one.post().slug)}", "reader"),
    page("/desk", lambda _: "/desk?status=published", "author"),
    page("/write", lambda _: "/write", "author"),
    page("/write/…", lambda one: f"/write/{one.own.post_id}", "author"),
    page("/account", lambda _: "/account", "author"),
    page("/moderation", lambda _: "/moderation", "moderator"),
    page("/moderation?order=newest", lambda _: "/moderation?order=newest", "moderator"),
    page("/moderation/posts", lambda _: "/moderation/posts", "moderator"),
    page("/inbox", lambda _: "/inbox?month=2026-11", "moderator"),
]
READS = [
    read("latest_posts"),
    read("popular_posts"),
    read("published_between", limit=10),
    read("posts_by_tags", tags=two_tags),
    read("trending_tags"),
    read("tags_starting", tag=lambda one: one.tag()[:2]),
    read("tag", tag=Known.tag),
    read("tags", tag=lambda one: [one.tag(), one.tag()]),
    read("user_by_username", username=lambda one: one.user().username),
    read("user", user_id=lambda one: one.user().user_id),
    read("users", user_id=lambda one: [one.user().user_id for _ in range(10)]),
    read("front_page", replica=lambda one: one.random.randrange(8)),
    read("post_by_slug", slug=lambda one: one.post().slug),
    read("slug_of", slug=lambda one: one.post().slug),
    read("post", post_id=lambda one: one.post().post_id),
    read("whole_post", post_id=lambda one: one.post().post_id),
    read("posts_of_user", user_id=lambda one: one.user().user_id, status="published"),
    read("post_seen", "somebody", post_id=lambda one: one.own.post_id),
    read("comments", post_id=lambda one: one.posts[0].post_id),
    read("who_saw_post", "somebody", post_id=lambda one: one.own.post_id),
    read("users_by_rating", "somebody", status="active"),
    read("latest_users", "somebody", status="active"),
    read("user_by_email", "somebody", email="author@example.com"),
    read("contact_messages", "somebody", month="2026-11"),
    read("user_viewed", "somebody", viewed_id=lambda one: one.ids["author"]),
]
WRITES = [
    write("view_post", post_id=lambda one: one.post().post_id),
    write("like_post", post_id=lambda one: one.post().post_id),
    write("rate_post", post_id=lambda one: one.post().post_id, stars=lambda one: one.random.randint(1, 5)),
    write("unlike_post", post_id=lambda one: one.post().post_id),
    write("view_user", viewed_id=lambda one: one.user().user_id),
    write("edit_profile", name="Avery Author", bio=lambda one: f"Writes. {one.random.random()}"),
]


@dataclass
class Measured:
    """What a target took, in milliseconds; and how large its answer was."""

    target: Target
    milliseconds: list[float]
    statuses: set[int]
    body_bytes: int
    cpu_ms: float
    """Of the server's process, for one request."""

    def percentile(self, share: float) -> float:
        ordered = sorted(self.milliseconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@dataclass(frozen=True)
class Load:
    """Whom to ask, and how often and how long."""

    client: Client
    pid: int
    rate: float
    seconds: float

    def cpu_ms(self) -> float:
        """The processor time of the server's process so far (proc(5): utime and stime, in ticks)."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


async def measure(load: Load, target: Target, one: Known, headers: dict[str, str]) -> Measured:
    """Ask at a steady rate for some seconds."""
    client, rate = load.client, load.rate
    for _ in range(WARM_UP_REQUESTS):
        await send(client, target, one, headers)
    count = int(rate * load.seconds)
    cpu_before = load.cpu_ms()
    begun = time.perf_counter() + 0.02
    replies: list[Reply] = []
    took: list[float] = []

    async def ask(number: int) -> None:
        due = begun + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        replies.append(await send(client, target, one, headers))
        took.append((time.perf_counter() - due) * 1000)

    await asyncio.gather(*(ask(number) for number in range(count)))
    if any(reply.status == 429 for reply in replies):
        raise RuntimeError(f"{target.name}: the site's rate limits rejected requests")
    size = max(len(reply.body) for reply in replies)
    cpu_ms = (load.cpu_ms() - cpu_before) / count
    return Measured(target, took, {reply.status for reply in replies}, size, cpu_ms)


async def send(client: Client, target: Target, one: Known, headers: dict[str, str]) -> Reply:
    path, body = target.make(one)
    if not target.who:  # many visitors behind a proxy: the limits count each of them
        headers = {**headers, "x-forwarded-for": f"10.{one.random.randrange(256)}.{one.random.randrange(256)}.1"}
    if target.who == "somebody":
        headers = {**headers, "authorization": f"Bearer {one.random.choice(one.tokens)}"}
    if body is None:
        return await client.request("GET", path, headers)
    content = json.dumps(body).encode()
    return await client.request("POST", path, {**headers, "content-type": "application/json"}, content)


async def sign_in(client: Client, login: str) -> dict[str, str]:
    """The headers of somebody who has signed in by the form."""
    shown = await client.request("GET", "/sign-in", {})
    token = re.search(r'name="csrf" value="([^"]+)"', shown.body.decode())
    assert token is not None
    form = urlencode({"csrf": token.group(1), "login": login, "password": DEMO_PASSWORD}).encode()
    headers = {"cookie": shown.cookies(), "content-type": "application/x-www-form-urlencoded"}
    answer = await client.request("POST", "/sign-in", headers, form)
    assert answer.status == 303, answer.body
    csrf = re.search(r"blog_form_token=([^;]+)", answer.cookies())
    return {"cookie": answer.cookies(), "x-csrf-token": csrf.group(1) if csrf else ""}


@dataclass(frozen=True)
class Server:
    """The process that serves the site."""

    port: int
    pid: int


@contextmanager
def served(db: Path) -> Iterator[Server]:
    """The site in a process of its own."""
    command = [*KEYPLAN, "serve", "blog", "--db", str(db), "--port", "0", "--origin", "http://127.0.0.1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            text = ""
            assert process.stdout is not None
            while "Ctrl-C" not in text:
                line = process.stdout.readline()
                assert line, "the server ended"
                text += line
            found = re.search(r"http://127\.0\.0\.1:(\d+)", text)
            assert found is not None, text
            yield Server(int(found.group(1)), process.pid)
        finally:
            process.terminate()


def before_others() -> str:
    """Run this process, and the server that it starts, before all others where that is allowed: what else a machine
    does is no part of what the site takes. Gives how it is said in the facts.

    Not at real-time priority, where a thread may keep its core from the server's other threads for 100 ms.
    """
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    except (AttributeError, PermissionError):
        return "at the usual priority"
    return "at the highest non-real-time priority (nice -20)"


def keep_apart(pid: int) -> None:
    """Let the server have one core, and this process the others, where there are several (docs/serving.md has why)."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), cores[:1])
        os.sched_setaffinity(0, cores[1:])


def sampled(posts: int) -> Path:
    """The store with its sample; made when it is missing, which takes some minutes."""
    db = ROOT / ".cache" / f"bench-blog-{posts}.db"
    db.parent.mkdir(exist_ok=True)
    subprocess.run([*KEYPLAN, "sample", "blog", "--count", str(posts), "--db", str(db)], check=True)
    return db


@dataclass
class Row:
    """A target as it was measured in each round."""

    target: Target
    rounds: list[Measured] = field(default_factory=list[Measured])

    @property
    def median(self) -> Measured:
        """The round whose p99 is the median of all."""
        return sorted(self.rounds, key=lambda one: one.percentile(0.99))[len(self.rounds) // 2]

    @property
    def longest_ms(self) -> float:
        """Of all rounds."""
        return max(max(one.milliseconds) for one in self.rounds)


Group = tuple[str, list[Target]]


async def run(server: Server, one: Known, groups: list[Group], args: argparse.Namespace) -> list[tuple[str, list[Row]]]:
    """Ask for all targets one after the other, as often as there are rounds."""
    client = Client("127.0.0.1", server.port)
    load = Load(client, server.pid, args.rate, args.seconds)
    people = {name: await sign_in(client, name) for name in ("reader", "author", "moderator")}
    found = [(title, [Row(target) for target in targets]) for title, targets in groups]
    for number in range(args.rounds):
        print(f"round {number + 1} of {args.rounds}", flush=True)
        for _, rows in found:
            for row in rows:
                measured = await measure(load, row.target, one, people.get(row.target.who, {}))
                row.rounds.append(measured)
                print(
                    f"{row.target.name:40} p50 {measured.percentile(0.5):6.2f}  p99 {measured.percentile(0.99):6.2f}  "
                    f"max {max(measured.milliseconds):6.2f}  CPU {measured.cpu_ms:5.2f} ms  "
                    f"{measured.body_bytes:7,} bytes  {sorted(measured.statuses)}",
                    flush=True,
                )
    await client.close()
    return found


def table(groups: list[tuple[str, list[Row]]], facts: str) -> str:
    """The results as Markdown."""
    lines: list[str] = []
    for title, rows in groups:
        lines += [
            f"### {title}",
            "",
            "| what | p50 ms | p99 ms | p99 of all rounds | max ms | CPU ms | bytes | |",
            "|---|--:|--:|--:|--:|--:|--:|---|",
        ]
        for row in rows:
            one = row.median
            over = "" if one.percentile(0.99) < TARGET_MS else "over"
            statuses = {status for measured in row.rounds for status in measured.statuses}
            failed = "" if statuses <= {200, 204} else f"status {sorted(statuses)}"
            remarks = " ".join(filter(None, (over, failed)))
            each = " ".join(f"{measured.percentile(0.99):.1f}" for measured in row.rounds)
            lines.append(
                f"| `{one.target.name}` | {one.percentile(0.5):.1f} | {one.percentile(0.99):.1f} | {each} "
                f"| {row.longest_ms:.1f} | {one.cpu_ms:.1f} | {one.body_bytes:,} | {remarks} |"
            )
        lines.append("")
    return "\n".join([*lines, facts, ""])


def facts(args: argparse.Namespace, one: Known) -> str:
    return (
        f"The store has {args.posts:,} posts and {max(12, args.posts // 10):,} people; {len(one.posts):,} posts were "
        f"requested, in {args.rounds} rounds of {args.seconds:g} seconds, at {args.rate:g} requests per second.\n"
        f"CPython {sys.version.split(chr(10))[0].strip()}, SQLite {apsw.sqlite_lib_version()}, "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, one of them for the server, the rest "
        f"for the load generator; both processes run {args.priority}; "
        f"load average before the run {args.load:.1f}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=int, default=100_000)
    parser.add_argument("--rate", type=float, default=100.0, help="requests per second")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each page and endpoint, in each round")
    parser.add_argument("--rounds", type=int, default=3, help="how often all of them are asked for")
    parser.add_argument("--only", default="", help="those whose name has this in it")
    parser.add_argument("--db", type=Path, help="a store with the sample, instead of one in .cache")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    args = parser.parse_args()
    db = args.db or sampled(args.posts)
    args.load = os.getloadavg()[0]
    with Blog.open(db) as blog:
        one = known(blog)
    named = [("Pages", PAGES), ("Reads of the API", READS), ("Writes of the API", WRITES)]
    groups = [(title, [target for target in targets if args.only in target.name]) for title, targets in named]
    args.priority = before_others()
    gc.freeze()  # else looking at all that is known, again and again, stops the load for 30 ms, as if the server had
    with served(db) as server:
        keep_apart(server.pid)
        signer = Signer(db.with_name(f"{db.name}.secret").read_bytes().strip())  # made by the first that serves
        one.tokens = [signer.sign("session", token) for token in one.tokens]
        one.cursor = asyncio.run(first_cursor(server.port))
        results = asyncio.run(run(server, one, groups, args))
    medians = [row.median for _, rows in results for row in rows]
    over = [one.target.name for one in medians if one.percentile(0.99) >= TARGET_MS]
    Console().print(Table(title=f"p99 of {TARGET_MS:g} ms or more: {', '.join(over) or 'none'}"))
    if args.write:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        _, _, after = rest.partition(END)
        made = table(results, facts(args, one))
        PAGE.write_text(f"{before}{BEGIN}\n\n{made}\n{END}{after}", encoding="utf-8")


async def first_cursor(port: int) -> str:
    """The cursor of the second page, as the site signs it."""
    client = Client("127.0.0.1", port)
    shown = await client.request("GET", "/latest", {})
    await client.close()
    found = re.search(r"cursor=([^\"&]+)", shown.body.decode())
    return found.group(1) if found else ""


if __name__ == "__main__":
    main()
