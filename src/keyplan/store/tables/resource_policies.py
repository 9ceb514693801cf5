"""Resource-based policies: stored with a revision and returned, but not enforced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from keyplan.dynamodb.limits import POLICY_BYTES_MAX
from keyplan.dynamodb.service_errors import PolicyNotFoundException, ValidationException, one_or_more

NO_POLICY = "NO_POLICY"
"""The expected revision of a resource without a policy."""

_MEMBERS = ("Effect", "Principal", "Action", "Resource")


def canonical_policy(text: str) -> str:
    """The policy document of a table or its stream, without white space.

    Raises:
        ValidationException: it is too large, or isn't a policy.
    """
    if len(text.encode()) > POLICY_BYTES_MAX:
        raise one_or_more(f"Maximum policy size of {POLICY_BYTES_MAX} bytes exceeded")
    try:
        document: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        document = None
    if not isinstance(document, dict):
        raise _invalid("This policy contains invalid Json")
    statements = document.get("Statement")
    statements = statements if isinstance(statements, list) else [statements]
    for statement in statements or [None]:
        if not isinstance(statement, dict):
            raise _invalid("Missing required field Statement")
        for member in _MEMBERS:
            if member not in statement and f"Not{member}" not in statement:
                raise _invalid(f"Missing required field {member}")
    return orjson.dumps(document).decode()


def _invalid(reason: str) -> ValidationException:
    return one_or_more(f"Invalid policy document: {reason}")


def check_revision(kept: Mapping[str, str] | None, expected: str | None, table: str) -> None:
    """Reject a change that expects another revision. Raises PolicyNotFoundException."""
    if expected is None:
        return
    if expected == NO_POLICY:
        if kept is not None:
            raise policy_not_found(
                f"Requested policy update expecting none to be present for table {table}, "
                f"but a policy exists with revision id {kept['RevisionId']}."
            )
        return
    if kept is None:
        raise policy_not_found(
            f"Requested update for policy with revision id {expected}, but table {table} has no associated policy."
        )
    if kept["RevisionId"] != expected:
        raise policy_not_found(
            f"Requested update for policy with revision id {expected}, "
            f"but the policy associated to target table {table} has revision id {kept['RevisionId']}."
        )


def policy_not_found(detail: str) -> PolicyNotFoundException:
    """The error for a missing policy or another revision."""
    return PolicyNotFoundException(f"Resource-based policy not found for the provided ResourceArn: {detail}")


def new_revision(kept: Mapping[str, str] | None, now_s: float) -> str:
    """The revision of a change: its time in milliseconds, and always greater than the previous one."""
    now_ms = int(now_s * 1000)
    return str(now_ms if kept is None else max(now_ms, int(kept["RevisionId"]) + 1))
