"""Keeping rankings fresh at a bounded rate: the gatherer, and the front page that it keeps.

What one refreshing writes is in ``counting.py``. Here is decided when it is worth it: posts that were viewed, the most
viewed first, and only so many at a time.
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

__all__ = ["Gatherer", "front_page"]

REMEMBERED_MAX = 10_000
"""Posts (and tags, and authors) that wait to be refreshed in one process."""
STALE_FACTOR = 6
"""A front page so many times older than it should be isn't gathered by anybody."""
COPIED_FACTOR = 3
"""Copies of a front page on which nothing has changed are so many times older at most: each costs 11 write units."""

_lock = threading.Lock()


def front_page(blog: Blog, seconds: float = FRONT_PAGE_SECONDS) -> FrontPage:
    """What the front page shows: one GetItem of one of its copies.

    A gatherer keeps it fresh. Where none does, so that it is several times older than ``seconds``, or missing, the
    caller makes it anew; one at a time does, the others get the old one.
    """
    page = blog.front_page(random.randrange(FRONT_PAGE_REPLICAS))  # noqa: S311 - to spread reads, not a secret
    if page is not None and time.time() - page.refreshed_at.timestamp() < seconds * STALE_FACTOR:
        return page
    if _lock.acquire(blocking=page is None):
        try:
            return blog.refresh_front_page()
        finally:
            _lock.release()
    return page or blog.refresh_front_page()


class _Queue:
    """Names that wait to be refreshed, with how often they were noted; and when each was refreshed last."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self.waiting: Counter[str] = Counter()
        self._seconds = seconds
        self._clock = clock
        self._done: dict[str, float] = {}
        self._lock = threading.Lock()

    def note(self, names: Iterable[str]) -> None:
        """Let names wait. When very many do, others are not noted."""
        with self._lock:
            for name in names:
                if name in self.waiting or len(self.waiting) < REMEMBERED_MAX:
                    self.waiting[name] += 1

    def take(self, most: int) -> list[str]:
        """The names to refresh now, the most noted first: those that this process didn't refresh of late. Called from
        one thread; who notes a name meanwhile doesn't wait until all of them are looked through.
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
    """Remembers which posts were viewed, and refreshes their rankings: call ``saw`` for each view, from any thread, and
    ``gather`` every few seconds from one.

    The rate of refreshes has two bounds. One post is refreshed at most once in RANKING_SECONDS, by whatever process:
    that is a condition of the write. And a call of ``gather`` refreshes ``most`` posts, tags and authors each, the most
    viewed first; the others wait. So a crowd costs no more than a few, and a long tail neither.

    ``rest`` is called between one write and the next. Where threads of the same process answer requests it waits a
    little: each of them would else take twice as long until all is written.
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
        """Note a view, a like or a rating of a post."""
        self._posts.note([post.post_id])

    def saw_user(self, user_id: str) -> None:
        """Note a view of a user's profile."""
        self._users.note([user_id])

    @property
    def waiting(self) -> int:
        """How many posts, tags and users wait to be refreshed."""
        return sum(len(queue.waiting) for queue in (self._posts, self._tags, self._users))

    def gather(self) -> int:
        """Refresh what is due: gives how many rankings changed. Raises what the store raises."""
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
        with suppress(WriteFailed):  # another process made it at the same moment
            self._refresh_front_page()
        return changed

    def _refresh_front_page(self) -> None:
        """Make the front page anew, where it is time and no other process did."""
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
        """Whether the copies show the same, and are young enough for those who read them."""
        if self._copied is None:
            return False
        age = page.refreshed_at - self._copied.refreshed_at
        same = page == self._copied.model_copy(update={"refreshed_at": page.refreshed_at})
        return same and age.total_seconds() < FRONT_PAGE_SECONDS * COPIED_FACTOR

    def _refresh(self, refresh: Callable[[str], Refreshed], queue: _Queue, name: str) -> Refreshed:
        """Refresh one. What another process has refreshed a moment ago waits again, for what was counted since."""
        self._rest()
        try:
            outcome = refresh(name)
        except WriteFailed:
            outcome = "too early"
        if outcome == "too early":
            queue.note([name])
        return outcome
