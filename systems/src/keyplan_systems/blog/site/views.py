"""Views of posts, counted without a write per view; and a short cache of published posts.

Anonymous views are summed in this process and written once per second, at one write unit per post. A signed-in user
counts once, by an impression. A process that crashes loses one second of views. Published posts and lists next to them
are cached for two seconds, so that each process reads a viral post at most once in that time.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from keyplan.errors import ConditionFailed, KeyplanError
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Post, PostWithContent
from keyplan_systems.blog.ranking import Gatherer
from keyplan_systems.site.kept import Kept

KEPT_SECONDS = 2.0
KEPT_MAX = 200
LISTS_MAX = 500
FLUSH_SECONDS = 1.0
GATHER_SECONDS = 2.0
GATHER_MOST = 10
"""Rankings per aggregation: few at a time, so that requests don't wait long."""
REST_SECONDS = 0.01
"""Maximum pause of the writing thread between two writes: a concurrent request takes twice as long."""
SPARE_SECONDS = 0.25
"""Maximum additional pause during requests, before and within each write."""
POSTS_MAX = 10_000
"""Maximum number of posts with unwritten views; further views are dropped, to bound memory."""

T = TypeVar("T")

_LOG = logging.getLogger("keyplan.blog")


def _is_published(content: PostWithContent | None) -> bool:
    return content is not None and content.post.status == "published"


class _Stepwise:
    """The transport of a blog's embedded store that calls ``pause`` before each request."""

    def __init__(self, blog: Blog, pause: Callable[[], object]) -> None:
        self._blog = blog
        self._pause = pause

    def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self._pause()
        return self._blog.store.transport.call(operation, parameters)

    def call_all(self, requests: Sequence[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
        return [self.call(*request) for request in requests]


class Views:
    """Counts views, and caches published posts."""

    def __init__(self, blog: Blog, clock: Callable[[], float] = time.monotonic) -> None:
        self.blog = blog
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: Counter[str] = Counter()
        self._posts: Kept[str, PostWithContent | None] = Kept(KEPT_SECONDS, clock, KEPT_MAX)
        self._lists: Kept[tuple[str, str], Any] = Kept(KEPT_SECONDS, clock, LISTS_MAX)
        self._gatherer = Gatherer(blog, most=GATHER_MOST, rest=self._rest)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_idle: threading.Event | None = None
        self._spare_seconds = 0.0

    def whole_post(self, post_id: str) -> PostWithContent | None:
        """A post with its text; a published one may be cached for two seconds."""
        return self._posts.get(post_id, partial(self.blog.whole_post, post_id), keeps=_is_published)

    def kept(self, name: str, subject: str, read: Callable[[], T]) -> T:
        """A cached list, or the result of ``read``. Only for public lists, not for permissions."""
        return self._lists.get((name, subject), read)  # type: ignore[no-any-return] # a name's values have one type

    def forget_lists(self) -> None:
        """Clear the cached lists, after a change of a listed post."""
        self._lists.drop()

    def forget(self, post_id: str) -> None:
        """Remove a changed post from the cache."""
        self._posts.drop(post_id)

    def answered(self, post: Post) -> None:
        """A reader has liked or rated a post: remove it from the cache, and schedule its ranking."""
        self.forget(post.post_id)
        self._gatherer.saw(post)

    def saw_author(self, user_id: str) -> None:
        """A reader has viewed an author's page: schedule its counts."""
        self._gatherer.saw_user(user_id)

    def saw(self, post: Post, user_id: str | None, *, seen: bool) -> None:
        """A published post was shown. ``seen``: the user has been counted already."""
        if user_id is None:
            with self._lock:
                if post.post_id in self._waiting or len(self._waiting) < POSTS_MAX:
                    self._waiting[post.post_id] += 1
        elif not seen:
            self.blog.view_post(post.post_id, user_id)
        else:
            return
        self._gatherer.saw(post)

    def flush(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, Counter()
        rest_s = min(REST_SECONDS, FLUSH_SECONDS / 2 / max(1, len(waiting)))
        for post_id, views in waiting.items():
            self._rest(rest_s)
            with suppress(ConditionFailed):  # the item was deleted concurrently
                self.blog.count_view(post_id, views)

    def start(self, is_idle: threading.Event | None = None) -> None:
        """Write views and aggregate rankings in a thread until ``stop``, preferably while the process ``is_idle``."""
        self._is_idle = is_idle
        if is_idle is not None and self.blog.store.local:
            self._gatherer.blog = self.stepwise()
        self._stop.clear()
        self._thread = threading.Thread(target=self._work, name="keyplan-views", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def stepwise(self) -> Blog:
        """The blog for the aggregating thread. A ranking takes about 35 requests, 3 ms of the interpreter: the thread
        pauses between them for concurrent page requests.
        """
        blog = Blog.open(self.blog.store)
        blog.store.transport = _Stepwise(self.blog, self._yield)
        return blog

    def _yield(self) -> None:
        """Pause during requests, for the remaining pause of this write."""
        if self._is_idle is None or self._spare_seconds <= 0 or self._is_idle.is_set() or self._stop.is_set():
            return
        begun = time.monotonic()
        self._is_idle.wait(self._spare_seconds)
        self._spare_seconds -= time.monotonic() - begun

    def _work(self) -> None:
        gathered = self._clock()
        while not self._stop.wait(FLUSH_SECONDS):
            self._try(self.flush)
            if self._clock() - gathered >= GATHER_SECONDS:
                gathered = self._clock()
                self._try(self._gatherer.gather)
        self._try(self.flush)

    def _rest(self, seconds: float = REST_SECONDS) -> None:
        if self._thread is None:
            return
        self._stop.wait(seconds)
        self._spare_seconds = SPARE_SECONDS
        if self._is_idle is not None and not self._stop.is_set():
            self._is_idle.wait(SPARE_SECONDS)

    def _try(self, action: Callable[[], object]) -> None:
        """If the store fails, views are lost, but the thread continues."""
        try:
            action()
        except KeyplanError as error:
            _LOG.warning("views weren't counted: %s", error)
