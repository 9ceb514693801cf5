"""A tenant's items lie among others'.

Where a design serves several tenants, an index key without the tenant puts the items of all of them into the same
partitions: each query of it reads the other tenants' items too, a policy by leading keys can't keep them apart, and
one large tenant slows the others down. Reported is a key whose partition holds neither the tenant nor an id or a
secret's hash, of an entity with a field for its tenant. An id doesn't count where the primary key of an entity names an
item by the tenant and that id, and no entity generates it: two tenants can have the same one. A tenant is known by the
name of its field: ``tenant_id``, ``org_id``, ``workspace_id``.

Begin the partition key with the tenant: ``"TENANT#{tenant_id}#STATUS#{status}"``.

Source: "Using IAM policy conditions for fine-grained access control"; "Multi-tenant SaaS on DynamoDB" in the developer
guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject, is_secret
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.model.stored.stored_entity import CompiledEntity

__all__ = ["RULE"]


TENANTS = ("tenant", "org", "organization", "organisation", "workspace")


def _find(subject: Subject) -> Iterator[Remark]:
    for entity, key in subject.keys:
        tenant = next((name for name in entity.fields if name.removesuffix("_id") in TENANTS), None)
        names = {name for _, template in key.partition for name in template.fields}
        if tenant is None or tenant in names:
            continue
        if any(_is_own(subject, entity, name) and not _is_of_tenant(subject, tenant, name) for name in names):
            continue
        yield Remark(
            f"{entity.name}.{key.name}",
            f"items of all tenants lie in the same partitions of {key.place}: {tenant} isn't in its partition key",
            f'begin the partition key with it, "TENANT#{{{tenant}}}#...", and ask for it',
        )


def _is_own(subject: Subject, entity: CompiledEntity, name: str) -> bool:
    """Whether a field is an id, which belongs to one tenant."""
    return subject.generated(entity, name) or name.endswith("_id") or name == "id" or is_secret(name)


def _is_of_tenant(subject: Subject, tenant: str, name: str) -> bool:
    """Whether an id names an item only together with its tenant."""
    having = [entity for entity in subject.design.entities.values() if name in entity.fields]
    named = any(tenant in entity.key_fields and name == entity.key_fields[-1] for entity in having)
    return named and not any(subject.generated(entity, name) for entity in having)


RULE = Rule("KP212", Severity.WARNING, _find, __name__, __doc__)
