"""Scheduled work is done exactly once; events are delivered, signed, retried, and abandoned after a limit."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from keyplan import now
from keyplan.errors import ConditionFailed, RequestError
from keyplan_systems.cms import Article, Cms
from keyplan_systems.cms.keeping import ATTEMPTS_MAX, LEASE, deliver, publish_due
from keyplan_systems.cms.settings import read_settings
from keyplan_systems.cms.webhooks import Webhook, post
from tests.systems.cms.support import stored
from tests.systems.cms.test_publishing import FRIDAY, assert_lists_agree, events, there
from tests.systems.support import in_processes

HOOK = Webhook("site", "http://127.0.0.1:1/hook", "a secret of the tests")
OTHER = Webhook("search", "http://127.0.0.1:2/hook", "another secret, also", ("article.published",))

DUE = """
import sys
from datetime import datetime
from keyplan_systems.cms import Cms
from keyplan_systems.cms.keeping import publish_due
with Cms.open(sys.argv[1], create=False) as cms:
    print("ready", flush=True)
    sys.stdin.readline()
    print(publish_due(cms, datetime.fromisoformat(sys.argv[2])))
"""


def planned(cms: Cms, count: int) -> list[str]:
    """Articles scheduled on a Friday, a second apart."""
    names: list[str] = []
    for number in range(count):
        made = cms.create_article(Article(title=f"T{number}", slug=f"t{number}", author_id="u_01", tags={"aws"}))
        cms.save_draft(made.article_id, "text", "u_01")
        cms.schedule(made.article_id, "publish", FRIDAY + timedelta(seconds=number))
        names.append(made.article_id)
    return names


def test_scheduled_work_is_done_in_order(cms: Cms) -> None:
    names = planned(cms, 4)
    assert publish_due(cms, FRIDAY - timedelta(seconds=1)) == 0
    assert publish_due(cms, FRIDAY + timedelta(seconds=1)) == 2
    assert [there(cms, name).status for name in names] == ["published", "published", "draft", "draft"]
    assert publish_due(cms, FRIDAY + timedelta(days=1)) == 2
    assert publish_due(cms, FRIDAY + timedelta(days=1)) == 0
    assert_lists_agree(cms)


def test_threads_do_scheduled_work_once(tmp_path: Path) -> None:
    with Cms.open(tmp_path / "cms.db") as cms, ThreadPoolExecutor(6) as pool:
        planned(cms, 8)
        done = list(pool.map(lambda _: publish_due(cms, FRIDAY + timedelta(days=1)), range(6)))
        assert sum(done) == 8
        assert events(cms) == [("article.published", 1)] * 8
        assert_lists_agree(cms)


def test_processes_do_scheduled_work_once(tmp_path: Path) -> None:
    file = tmp_path / "cms.db"
    with Cms.open(file) as cms:
        planned(cms, 12)
    moment = (FRIDAY + timedelta(days=1)).isoformat()
    printed = in_processes(DUE, [(str(file), moment)] * 4)
    with Cms.open(file, create=False) as cms:
        assert sum(map(int, printed)) == 12
        assert events(cms) == [("article.published", 1)] * 12
        assert_lists_agree(cms)


# Webhooks


class Listener:
    """Receives events and responds as configured."""

    def __init__(self) -> None:
        self.answers: dict[str, list[str | None]] = {}
        self.taken: list[tuple[str, str]] = []

    def __call__(self, url: str, body: bytes, headers: Mapping[str, str]) -> str | None:
        waiting = self.answers.get(url, [])
        answer = waiting.pop(0) if waiting else None
        if answer is None:
            self.taken.append((url, json.loads(body)["kind"]))
        return answer


@pytest.fixture
def published(cms: Cms, article: Article) -> Cms:
    cms.publish(article.article_id, "text", "u_01")
    return cms


def state(cms: Cms) -> str:
    (item,) = [item for item in stored(cms) if item["pk"]["S"].startswith("EVENT#")]
    return str(item["state"]["S"])


def test_each_webhook_receives_an_event_once(published: Cms) -> None:
    listener = Listener()
    assert deliver(published, [HOOK, OTHER], send=listener) == 1
    assert listener.taken == [(HOOK.url, "article.published"), (OTHER.url, "article.published")]
    assert deliver(published, [HOOK, OTHER], send=listener) == 0
    assert state(published) == "delivered"
    assert published.waiting_events().items == []


def test_webhooks_receive_only_selected_events(published: Cms, article: Article) -> None:
    published.edit(article.article_id, "New", "keys")
    listener = Listener()
    assert deliver(published, [OTHER], send=listener) == 2
    assert listener.taken == [(OTHER.url, "article.published")]


def test_only_failed_deliveries_are_retried(published: Cms) -> None:
    listener = Listener()
    listener.answers[HOOK.url] = ["answered 502", "TimeoutError: timed out"]
    moment = now()
    assert deliver(published, [HOOK, OTHER], moment, listener) == 0
    assert deliver(published, [HOOK, OTHER], moment, listener) == 0  # not before its time
    (event,) = published.waiting_events()
    assert (event.attempts, event.delivered, event.told) == (1, {"search"}, "site: answered 502")
    moment = event.next_at
    assert deliver(published, [HOOK, OTHER], moment, listener) == 0
    (again,) = published.waiting_events()
    assert again.next_at - moment == timedelta(seconds=60)  # twice the previous pause
    assert deliver(published, [HOOK, OTHER], again.next_at, listener) == 1
    assert listener.taken == [(OTHER.url, "article.published"), (HOOK.url, "article.published")]


def test_delivery_is_abandoned_after_the_maximum_attempts(published: Cms) -> None:
    listener = Listener()
    listener.answers[HOOK.url] = ["answered 500"] * (ATTEMPTS_MAX + 5)
    moment = now()
    for _ in range(ATTEMPTS_MAX):
        assert state(published) == "waiting"
        assert deliver(published, [HOOK], moment, listener) == 0
        moment += timedelta(days=1)
    assert state(published) == "failed"
    assert deliver(published, [HOOK], moment, listener) == 0
    assert len(listener.answers[HOOK.url]) == 5


def test_two_processes_deliver_once(published: Cms) -> None:
    (event,) = published.waiting_events()
    moment = now()
    taken = published.take_event(event, moment + LEASE)
    with pytest.raises(ConditionFailed):
        published.take_event(event, moment + LEASE)
    listener = Listener()
    assert deliver(published, [HOOK], moment, listener) == 0
    assert listener.taken == []
    # After a minute, another process takes over from one that died
    assert deliver(published, [HOOK], moment + LEASE, listener) == 1
    with pytest.raises(ConditionFailed):
        published.settle_event(taken, {"site"})


@pytest.fixture
def server() -> Iterator[tuple[str, list[tuple[str, bytes, dict[str, str]]]]]:
    """A local server that redirects from /elsewhere and accepts everything else."""
    seen: list[tuple[str, bytes, dict[str, str]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((self.path, body, dict(self.headers)))
            self.send_response(302 if self.path == "/elsewhere" else 204)
            self.send_header("Location", "/hook")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            """Log nothing."""

    served = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{served.server_port}", seen
    served.shutdown()
    thread.join()
    served.server_close()


def test_deliveries_are_signed(published: Cms, server: tuple[str, list[tuple[str, bytes, dict[str, str]]]]) -> None:
    address, seen = server
    hook = Webhook("site", f"{address}/hook?of=cms", "a secret of the tests")
    assert deliver(published, [hook]) == 1
    ((path, body, headers),) = seen
    assert path == "/hook?of=cms"
    event = json.loads(body)
    assert (event["kind"], event["slug"], event["version"], event["id"]) == (
        "article.published",
        "keys",
        1,
        headers["Keyplan-Event"],
    )
    stamp, _, proof = headers["Keyplan-Signature"].partition(",v1=")
    seconds = stamp.removeprefix("t=")
    assert hmac.new(b"a secret of the tests", f"{seconds}.".encode() + body, hashlib.sha256).hexdigest() == proof
    assert abs(int(seconds) - datetime.now(UTC).timestamp()) < 600


def test_redirects_are_not_followed(server: tuple[str, list[tuple[str, bytes, dict[str, str]]]]) -> None:
    address, seen = server
    assert post(f"{address}/elsewhere", b"{}", {}) == "answered 302"
    assert len(seen) == 1
    text = post("http://127.0.0.1:1/", b"{}", {})
    assert text is not None
    assert "refused" in text.lower()


# Settings

GOOD = """
title = "Our desk"
locales = ["de", "pt-BR"]

[[webhooks]]
name = "site"
url = "https://example.com/hooks/cms"
secret_env = "KEYPLAN_TEST_HOOK"
events = ["article.published"]
"""
BAD = """
title = 1
locales = ["english"]
colour = "red"

[[webhooks]]
name = "a"
url = "ftp://example.com"
secret = "short"
more = 1

[[webhooks]]
name = "a"
url = "http://user:pass@example.com"
secret = "long enough to be one"
events = ["article.born"]
"""


def test_invalid_webhook_settings_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYPLAN_TEST_HOOK", "long enough to be one")
    (tmp_path / "good.toml").write_text(GOOD)
    settings = read_settings(tmp_path / "good.toml")
    assert (settings.title, settings.locales, settings.main) == ("Our desk", ("de", "pt-BR"), "en")
    (hook,) = settings.webhooks
    assert (hook.url, hook.events) == ("https://example.com/hooks/cms", ("article.published",))
    assert "long enough" not in repr(hook)
    (tmp_path / "bad.toml").write_text(BAD)
    with pytest.raises(RequestError) as caught:
        read_settings(tmp_path / "bad.toml")
    assert [fault.place for fault in caught.value.errors] == [
        *("title", "locales", "colour", "webhooks[0].more", "webhooks[0].url", "webhooks[0].secret"),
        *("webhooks[1].url", "webhooks[1].events", "webhooks"),
    ]
    for text in ("[[", "\xff"):
        (tmp_path / "no.toml").write_text(text, encoding="latin-1")
        with pytest.raises(RequestError):
            read_settings(tmp_path / "no.toml")
