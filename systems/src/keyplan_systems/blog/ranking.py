"""Periodic aggregation of rankings at a bounded rate, including the front page.

``counting`` has the writes. This module decides what to aggregate: viewed posts, the most viewed first, and a limited
number at a time.
"""

from __future__ import annotations

import heapq
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress

from keyplan import now
from keyplan.errors import WriteFailed
from keyplan_systems.blog.counting import (
    FRONT_PAGE_SECONDS,
    RANKING_SECONDS,
    TAG_SECONDS,
    USER_SECONDS,
    Refreshed,
    copies_of,
)
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import FRONT_PAGE_REPLICAS, FrontPage, Post

REMEMBERED_MAX = 10_000
"""Maximum number of posts, tags and authors that wait for aggregation in one process."""
STALE_FACTOR = 6
"""A front page older than this multiple of its interval has no running gatherer."""
COPIED_FACTOR = 3
"""Copies of an unchanged front page can be older by this factor: each costs 11 write units."""

_lock = threading.Lock()


def front_page(blog: Blog, seconds: float = FRONT_PAGE_SECONDS) -> FrontPage:
    """The contents of the front page: one GetItem of one of its copies.

    A gatherer keeps it current. Without one, when it is missing or much older than ``seconds``, one caller at a time
    rebuilds it; others get the old one.
    """
    page = blog.front_page(random.randrange(FRONT_PAGE_REPLICAS))  # noqa: S311 - distributes reads, not a secret
    if page is not None and time.time() - page.refreshed_at.timestamp() < seconds * STALE_FACTOR:
        return page
    if _lock.acquire(blocking=page is None):
        try:
            return blog.refresh_front_page()
        finally:
            _lock.release()
    return page or blog.refresh_front_page()


class _Queue:
    """Names that wait for aggregation, with the number of times they were noted, and the time of their last
    aggregation.
    """

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self.waiting: Counter[str] = Counter()
        self._seconds = seconds
        self._clock = clock
        self._done: dict[str, float] = {}
        self._lock = threading.Lock()

    def note(self, names: Iterable[str]) -> None:
        """Add names to the queue. When it is full, new names are dropped."""
        with self._lock:
            for name in names:
                if name in self.waiting or len(self.waiting) < REMEMBERED_MAX:
                    self.waiting[name] += 1

    def take(self, most: int) -> list[str]:
        """The names to aggregate now, the most noted first, without recently aggregated ones. Called from one thread;
        other threads that add names don't wait for the whole scan.
        """
        moment = self._clock()
        late = moment - self._seconds
        self._done = {name: at for name, at in self._done.items() if at > late}
        with self._lock:
            noted = dict(self.waiting)
        due = heapq.nlargest(most, (name for name in noted if name not in self._done), noted.__getitem__)
        with self._lock:
            for name in due:
                del self.waiting[name]
                self._done[name] = moment
        return due


class Gatherer:
    """Collects viewed posts, and aggregates their rankings: call ``saw`` for each view, from any thread, and ``gather``
    every few seconds from one.

    The rate has two bounds. One post is aggregated at most once in RANKING_SECONDS, by any process: a condition of the
    write. And a call of ``gather`` aggregates ``most`` posts, tags and authors each, the most viewed first; the others
    wait. So neither many views nor many posts increase the cost.

    ``rest`` is called between writes. If threads of the same process answer requests, it waits briefly, because
    otherwise each of them would take twice as long.
    """

    def __init__(
        self,
        blog: Blog,
        *,
        most: int = 50,
        clock: Callable[[], float] = time.monotonic,
        rest: Callable[[], object] = lambda: None,
    ) -> None:
        self.blog = blog
        self.most = most
        self._rest = rest
        self._posts = _Queue(RANKING_SECONDS, clock)
        self._tags = _Queue(TAG_SECONDS, clock)
        self._users = _Queue(USER_SECONDS, clock)
        self._copied: FrontPage | None = None

    def saw(self, post: Post) -> None:
        """Record a view, a like or a rating of a post."""
        self._posts.note([post.post_id])

    def saw_user(self, user_id: str) -> None:
        """Record a view of a user's profile."""
        self._users.note([user_id])

    @property
    def waiting(self) -> int:
        """The number of waiting posts, tags and users."""
        return sum(len(queue.waiting) for queue in (self._posts, self._tags, self._users))

    def gather(self) -> int:
        """Aggregate due rankings; returns the number of changed rankings. Raises the store's errors."""
        changed = 0
        for post_id in self._posts.take(self.most):
            outcome = self._refresh(self.blog.refresh_ranking, self._posts, post_id)
            if outcome == "refreshed":
                changed += 1
                post = self.blog.post(post_id)
                if post is not None:
                    self._tags.note(post.tags)
                    self._users.note([post.user_id])
        for tag in self._tags.take(self.most):
            changed += self._refresh(self.blog.refresh_tag, self._tags, tag) == "refreshed"
        for user_id in self._users.take(self.most):
            changed += self._refresh(self.blog.refresh_user, self._users, user_id) == "refreshed"
        with suppress(WriteFailed):  # another process rebuilt the front page concurrently
            self._refresh_front_page()
        return changed

    def _refresh_front_page(self) -> None:
        """Rebuild the front page if it is due and no other process did."""
        self._rest()
        begun = now()
        page = self.blog.refresh_front_page(copies=False)
        if page.refreshed_at < begun or self._is_copied(page):
            return
        self._copied = page
        for copy in copies_of(page):
            self._rest()
            self.blog.put(copy)

    def _is_copied(self, page: FrontPage) -> bool:
        """Whether the copies are identical and recent enough."""
        if self._copied is None:
            return False
        age = page.refreshed_at - self._copied.refreshed_at
        same = page == self._copied.model_copy(update={"refreshed_at": page.refreshed_at})
        return same and age.total_seconds() < FRONT_PAGE_SECONDS * COPIED_FACTOR

    def _refresh(self, refresh: Callable[[str], Refreshed], queue: _Queue, name: str) -> Refreshed:
        """Aggregate one post, tag or user. If another process did so recently, it is queued again, for later counts."""
        self._rest()
        try:
            outcome = refresh(name)
        except WriteFailed:
            outcome = "too early"
        if outcome == "too early":
            queue.note([name])
        return outcome
