"""Background jobs of the CMS: scheduled publication, and delivery to webhooks.

Several processes can run them at once, and each can crash at any point: a scheduled action is executed once, because it
is removed from the article, and an event of a crashed process is retried after a minute. The site runs them every 15
seconds; without the site, run ``python -m keyplan_systems.cms.keeping STORE [SETTINGS]`` periodically.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from keyplan import now
from keyplan.errors import ConditionFailed, KeyplanError, Refused
from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.entities import Event
from keyplan_systems.cms.settings import read_settings
from keyplan_systems.cms.webhooks import Send, Webhook, post, request_of
from keyplan_systems.paging import pages_of

__all__ = ["ATTEMPTS_MAX", "deliver", "publish_due"]

_LOG = logging.getLogger("keyplan.cms")
LEASE = timedelta(seconds=60)
"""How long a process holds an event: longer than a webhook's timeout."""
ATTEMPTS_MAX = 12
FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(hours=6)


def publish_due(cms: Cms, moment: datetime | None = None) -> int:
    """Execute scheduled actions that are due; returns the number of changed articles."""
    until = moment or now()
    changed = 0
    for page in pages_of(cms.due_articles):
        for due in page:
            if due.at > until:
                return changed  # the list is in time order
            try:
                changed += cms.carry_out(due.article_id, due.action, due.at) is not None
            except (ConditionFailed, Refused) as error:
                _LOG.warning("article %s couldn't be changed, and is due again: %s", due.article_id, error)
    return changed


def deliver(cms: Cms, hooks: Sequence[Webhook], moment: datetime | None = None, send: Send = post) -> int:
    """Deliver waiting events; returns the number of events that all their webhooks accepted."""
    until = moment or now()
    done = 0
    for page in pages_of(cms.waiting_events):
        for event in page:
            if event.next_at > until:
                return done
            done += _delivered(cms, event, hooks, until, send)
    return done


def _delivered(cms: Cms, event: Event, hooks: Sequence[Webhook], moment: datetime, send: Send) -> bool:
    """Deliver one event, unless another process holds it; returns whether all webhooks have accepted it."""
    try:
        taken = cms.take_event(event, moment + LEASE)
    except ConditionFailed:
        return False  # another process delivers it
    delivered, refusals = set(taken.delivered), list[str]()
    for hook in hooks:
        if taken.kind not in hook.events or hook.name in delivered:
            continue
        refusal = send(hook.url, *request_of(hook, taken, moment))
        if refusal is None:
            delivered.add(hook.name)
        else:
            refusals.append(f"{hook.name}: {refusal}")
    try:
        if not refusals:
            cms.settle_event(taken, delivered)
        elif taken.attempts >= ATTEMPTS_MAX:
            cms.give_up_event(taken, delivered, "; ".join(refusals))
            _LOG.warning("event %s is given up: %s", taken.event_id, "; ".join(refusals))
        else:
            pause = min(FIRST_PAUSE * 2 ** (taken.attempts - 1), LONGEST_PAUSE)
            cms.postpone_event(taken, moment + pause, delivered, "; ".join(refusals))
    except ConditionFailed:
        return False  # the lease expired, and another process continued
    return not refusals


def main() -> int:
    """Run the jobs once on the store in the command line."""
    if not 2 <= len(sys.argv) <= 3:
        sys.stderr.write("python -m keyplan_systems.cms.keeping STORE [SETTINGS]\n")
        return 2
    try:
        hooks = read_settings(Path(sys.argv[2])).webhooks if len(sys.argv) == 3 else ()
        with Cms.open(sys.argv[1], create=False) as cms:
            changed, done = publish_due(cms), deliver(cms, hooks)
    except KeyplanError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"Changed {changed} articles, delivered {done} events.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
