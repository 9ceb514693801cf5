"""Tenant missing from a partition key.

In a multi-tenant design, a partition key without the tenant stores the items of all tenants in the same partitions.
Each query reads items of other tenants, an IAM policy with ``dynamodb:LeadingKeys`` can't separate the tenants, and one
large tenant slows down the others.

An entity has a tenant if it has a field such as ``tenant_id``, ``org_id`` or ``workspace_id``. The rule reports a key
of an entity with a tenant if the partition key contains no tenant, no id and no secret. An id that is unique only
within a tenant doesn't count as an id, unless it's generated.

Start the partition key with the tenant, as in ``"TENANT#{tenant_id}#STATUS#{status}"``.

See "Using IAM policy conditions for fine-grained access control" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.check_subject import fields_in, is_secret
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.stored.stored_entity import CompiledEntity

TENANTS = ("tenant", "org", "organization", "organisation", "workspace")


def _find(subject: Subject) -> Remarks:
    for entity, key in subject.keys:
        tenant = next((name for name in entity.fields if name.removesuffix("_id") in TENANTS), None)
        names = fields_in(key.partition)
        if tenant is None or tenant in names:
            continue
        if any(_is_own(subject, entity, name) and not _is_of_tenant(subject, tenant, name) for name in names):
            continue
        message = f"items of all tenants share the partitions of {key.place}: {tenant} isn't in the partition key"
        hint = f'start the partition key with the tenant, "TENANT#{{{tenant}}}#...", and add {tenant} to the patterns'
        yield Remark(f"{entity.name}.{key.name}", message, hint)


def _is_own(subject: Subject, entity: CompiledEntity, name: str) -> bool:
    """Whether a field is an id or a secret, which belongs to one tenant."""
    return subject.generated(entity, name) or name.endswith("_id") or name == "id" or is_secret(name)


def _is_of_tenant(subject: Subject, tenant: str, name: str) -> bool:
    """Whether an id is unique only within a tenant."""
    having = [entity for entity in subject.design.entities.values() if name in entity.fields]
    named = any(tenant in entity.key_fields and name == entity.key_fields[-1] for entity in having)
    return named and not any(subject.generated(entity, name) for entity in having)


RULE = Rule("KP212", Severity.WARNING, _find, __name__, __doc__)
