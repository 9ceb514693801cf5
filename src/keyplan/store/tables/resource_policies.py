"""Resource-based policies, which are stored in the service's canonical form, with a revision.

A policy is stored and returned, but not enforced. The form and the messages are the service's: no white space, members
in a fixed order, a list of one action or resource as a single value, an account as the ARN of its root.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from keyplan.dynamodb import service_errors
from keyplan.dynamodb.limits import POLICY_BYTES_MAX

NO_POLICY = "NO_POLICY"
"""The expected revision of a resource without a policy."""

_ORDER = ("Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction", "Resource", "NotResource", "Condition")
_ACCOUNT = re.compile(r"\d{12}")
_EFFECTS = {"allow": "Allow", "deny": "Deny"}
_DEFAULT_VERSION = "2008-10-17"
_STREAM_ACTIONS = frozenset(
    {"dynamodb:describestream", "dynamodb:getrecords", "dynamodb:getsharditerator", "dynamodb:liststreams"}
)


def canonical_policy(text: str, *, of_stream: bool = False) -> str:
    if len(text.encode()) > POLICY_BYTES_MAX:
        raise service_errors.one_or_more(f"Maximum policy size of {POLICY_BYTES_MAX} bytes exceeded")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise _invalid("This policy contains invalid Json") from None
    if document is None:
        raise _invalid("This text appears not to be a policy")
    if not isinstance(document, dict):
        raise _invalid("This policy contains invalid Json")
    if not document:
        # The error names the position at which a member was expected.
        raise _invalid(f"Syntax error at position (1,{len(text.rstrip()) + 1})")
    statements: Any = document.get("Statement")
    if isinstance(statements, dict):
        statements = [statements]
    if statements == []:
        raise _invalid("Could not parse the policy: Statement is empty!")
    if not isinstance(statements, list):
        raise _invalid("Missing required field Statement")
    made = [_statement(statement, text) for statement in statements]
    sids = [statement["Sid"] for statement in made if "Sid" in statement]
    if len(set(sids)) < len(sids):
        raise _invalid("The Statement Ids in the policy are not unique")
    actions = [each for statement in made for each in _listed(statement.get("Action", []))]
    foreign = [each for each in actions if isinstance(each, str) and each.lower() in _STREAM_ACTIONS]
    if foreign and not of_stream:
        names = ", ".join(f'"{each}"' for each in foreign)
        raise _invalid(f"The following action names are invalid: {names}")
    if any(statement.get("Effect") == "Allow" and _is_of_everybody(statement) for statement in made):
        raise service_errors.ValidationException(
            "Resource-based policy grants unbounded access in one or more elements. Please revise the policy to "
            "ensure least-privilege form of access"
        )
    shown = {"Version": document.get("Version", _DEFAULT_VERSION)}
    if "Id" in document:
        shown["Id"] = document["Id"]
    return json.dumps({**shown, "Statement": made}, separators=(",", ":"), ensure_ascii=False)


def check_lockout(policy: str) -> None:
    """Reject a policy that prevents all further changes. Raises AccessDeniedException."""
    for statement in json.loads(policy)["Statement"]:
        actions = [str(each).lower() for each in _listed(statement.get("Action", []))]
        if (
            statement["Effect"] == "Deny"
            and _is_of_everybody(statement)
            and any(fnmatchcase("dynamodb:putresourcepolicy", action.replace("[", "[[]")) for action in actions)
        ):
            raise service_errors.AccessDeniedException(
                "The new resource policy will not allow you to update the resource policy in the future."
            )


def _is_of_everybody(statement: Mapping[str, Any]) -> bool:
    principal = statement.get("Principal")
    if isinstance(principal, dict):
        principal = principal.get("AWS")
    return "*" in _listed(principal) and "Condition" not in statement


def _statement(statement: Any, text: str) -> dict[str, Any]:
    if not isinstance(statement, dict):
        raise _invalid("This policy contains invalid Json")
    for member in ("Effect", "Principal", "Action", "Resource"):
        if member not in statement and f"Not{member}" not in statement:
            raise _invalid(f"Missing required field {member}")
    effect = _EFFECTS.get(str(statement["Effect"]).lower()) if "Effect" in statement else None
    if effect is None:
        raise _invalid(f"Invalid effect: {statement.get('Effect')}")
    made: dict[str, Any] = {}
    for member in _ORDER:
        if member not in statement:
            continue
        value = statement[member]
        if member == "Effect":
            value = effect
        elif member.endswith("Principal"):
            value = _principal(value, text)
        elif member.endswith(("Action", "Resource")):
            value = _scalar(value)
        elif member == "Condition":
            value = _condition(value)
        elif member == "Sid" and not isinstance(value, str):
            raise _invalid("This policy contains invalid Json")
        made[member] = value
    return made


def _principal(value: Any, text: str) -> Any:
    if isinstance(value, str) and value != "*":
        begin = re.search(r'Principal"\s*:\s*(?="(?!\*"))', text)
        before = text[: begin.end() if begin else 0]
        raise _invalid(
            f"Syntax error at position ({before.count(chr(10)) + 1},{len(before.rpartition(chr(10))[2]) + 1})"
        )
    if not isinstance(value, dict):
        return value
    return {kind: _scalar(list(dict.fromkeys(_root(each) for each in _listed(names)))) for kind, names in value.items()}


def _root(principal: Any) -> Any:
    if isinstance(principal, str) and _ACCOUNT.fullmatch(principal):
        return f"arn:aws:iam::{principal}:root"
    return principal


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _scalar(value: Any) -> Any:
    """A list with one member as that member. Longer lists stay, including duplicates."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _condition(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {
        operator: {key: _scalar(each) for key, each in keys.items()} if isinstance(keys, dict) else keys
        for operator, keys in value.items()
    }


def _invalid(reason: str) -> service_errors.ValidationException:
    return service_errors.one_or_more(f"Invalid policy document: {reason}")


def check_revision(kept: Mapping[str, str] | None, expected: str | None, table: str) -> None:
    """Reject a change whose expected revision isn't the current one. Raises PolicyNotFoundException."""
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


def policy_not_found(detail: str) -> service_errors.PolicyNotFoundException:
    return service_errors.PolicyNotFoundException(
        f"Resource-based policy not found for the provided ResourceArn: {detail}"
    )


def new_revision(kept: Mapping[str, str] | None, now_s: float) -> str:
    """The revision of a change: its time in milliseconds, increased if necessary to exceed the previous revision."""
    now_ms = int(now_s * 1000)
    return str(now_ms if kept is None else max(now_ms, int(kept["RevisionId"]) + 1))
