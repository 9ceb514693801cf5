"""Views of posts, gathered: what readers see is counted without a write for each of them.

Views of those who aren't signed in are added up in this process and written once a second, one write unit a post; who
is signed in counts once, by an impression. A process that dies loses a second of views. A published post that was read
a moment ago is kept for two seconds: whatever a viral post gets, its items are read once in that time by each process.
So is what stands beside it: the author's other posts, the tags that are written about.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Generic, TypeVar

from keyplan.errors import ConditionFailed, KeyplanError
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Post, PostWithContent
from keyplan_systems.blog.ranking import Gatherer

__all__ = ["Views"]

KEPT_SECONDS = 2.0
KEPT_MAX = 200
ANSWERS_MAX = 500
FLUSH_SECONDS = 1.0
GATHER_SECONDS = 2.0
GATHER_MOST = 10
"""Rankings made anew at a time: little and often, so that no request waits for many."""
REST_SECONDS = 0.01
"""How long the thread that writes rests between two writes at most: a request that meets it takes twice as long."""
SPARE_SECONDS = 0.25
"""How much longer it rests at most while requests are being answered: before a write, and in the midst of it, each."""
POSTS_MAX = 10_000
"""Posts whose views are waiting; more than that are dropped, since a count may be late and memory may not run out."""

T = TypeVar("T")

_LOG = logging.getLogger("keyplan.blog")


class _Recent(Generic[T]):
    """What was read at most ``KEPT_SECONDS`` ago, and not more than ``most`` of it."""

    def __init__(self, most: int, clock: Callable[[], float]) -> None:
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()

    def get(self, key: Hashable, read: Callable[[], T], *, keeps: Callable[[T], bool] = lambda _: True) -> T:
        """What is kept under the key; else what ``read`` gives, which is kept where ``keeps`` says so."""
        moment = self._clock()
        with self._lock:
            known = self._kept.get(key)
            if known is not None and moment - known[0] < KEPT_SECONDS:
                return known[1]
        value = read()
        if not keeps(value):
            self.forget(key)
            return value
        with self._lock:
            self._kept[key] = (moment, value)
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return value

    def forget(self, key: Hashable) -> None:
        """It has changed: read it again."""
        with self._lock:
            self._kept.pop(key, None)

    def clear(self) -> None:
        """All of it may have changed."""
        with self._lock:
            self._kept.clear()


def _is_published(content: PostWithContent | None) -> bool:
    return content is not None and content.post.status == "published"


class _Stepwise:
    """The store of a blog in this process, asked for one thing at a time: ``pause`` is called before each."""

    def __init__(self, blog: Blog, pause: Callable[[], object]) -> None:
        self._blog = blog
        self._pause = pause

    def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """The response."""
        self._pause()
        return self._blog.store.transport.call(operation, parameters)

    def call_all(self, requests: Sequence[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
        """The responses, in order."""
        return [self.call(*request) for request in requests]


class Views:
    """Counts views, and keeps what is read most."""

    def __init__(self, blog: Blog, clock: Callable[[], float] = time.monotonic) -> None:
        self.blog = blog
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: Counter[str] = Counter()
        self._posts: _Recent[PostWithContent | None] = _Recent(KEPT_MAX, clock)
        self._answers: _Recent[Any] = _Recent(ANSWERS_MAX, clock)
        self._gatherer = Gatherer(blog, most=GATHER_MOST, rest=self._rest)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_idle: threading.Event | None = None
        self._spare_seconds = 0.0

    def whole_post(self, post_id: str) -> PostWithContent | None:
        """A post with its text; a published one may be two seconds old."""
        return self._posts.get(post_id, partial(self.blog.whole_post, post_id), keeps=_is_published)

    def kept(self, question: str, subject: str, read: Callable[[], T]) -> T:
        """What a question was answered with, at most two seconds ago; else what ``read`` gives now.

        For what pages show beside what they are about: never for who somebody is, or what they may see or do.
        """
        return self._answers.get((question, subject), read)  # type: ignore[no-any-return] # a question has one type

    def forget_lists(self) -> None:
        """What is listed has changed: whatever pages show beside it is read again."""
        self._answers.clear()

    def forget(self, post_id: str) -> None:
        """A post has changed: read it again."""
        self._posts.forget(post_id)

    def answered(self, post: Post) -> None:
        """A reader has liked or rated a post: it is read again, and its ranking is made anew soon."""
        self.forget(post.post_id)
        self._gatherer.saw(post)

    def saw_author(self, user_id: str) -> None:
        """A reader has viewed an author's page: its counts are made anew soon."""
        self._gatherer.saw_user(user_id)

    def saw(self, post: Post, user_id: str | None, *, seen: bool) -> None:
        """A published post has been shown. A user counts once; ``seen`` says that they have."""
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
        """Write the views that are waiting."""
        with self._lock:
            waiting, self._waiting = self._waiting, Counter()
        rest_s = min(REST_SECONDS, FLUSH_SECONDS / 2 / max(1, len(waiting)))
        for post_id, views in waiting.items():
            self._rest(rest_s)
            with suppress(ConditionFailed):  # it was deleted a moment ago
                self.blog.count_view(post_id, views)

    def start(self, is_idle: threading.Event | None = None) -> None:
        """Flush and gather in a thread of their own until ``stop``; rather when the process ``is_idle``."""
        self._is_idle = is_idle
        if is_idle is not None and self.blog.store.local:
            self._gatherer.blog = self.stepwise()
        self._stop.clear()
        self._thread = threading.Thread(target=self._work, name="keyplan-views", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Write what is waiting, and end the thread."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def stepwise(self) -> Blog:
        """The blog for the thread that gathers. A ranking takes some 35 requests, 3 ms and more of the interpreter: a
        page that is asked for meanwhile goes before the next of them, and not behind them all.
        """
        blog = Blog.open(self.blog.store)
        blog.store.transport = _Stepwise(self.blog, self._let_others_go)
        return blog

    def _let_others_go(self) -> None:
        """Wait while requests are being answered, for as long as is left of what this write is to spare them."""
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
        if self._thread is None:  # nobody is to be spared
            return
        self._stop.wait(seconds)
        self._spare_seconds = SPARE_SECONDS
        if self._is_idle is not None and not self._stop.is_set():
            self._is_idle.wait(SPARE_SECONDS)

    def _try(self, action: Callable[[], object]) -> None:
        """A store that doesn't answer costs some views, and never the thread."""
        try:
            action()
        except KeyplanError as error:
            _LOG.warning("views weren't counted: %s", error)
