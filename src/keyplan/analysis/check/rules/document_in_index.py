"""Large attribute projected into an index.

An index with projection "ALL" stores a copy of every attribute, including the body of a post. Each index write is
charged for the size of the whole item, and a query for a list of 10 posts reads 10 bodies that the list doesn't show.
The rule reports fields with a name such as ``body`` or ``content`` and without ``max_length``, and fields of 1 KB or
more in the traffic file.

Store the document in a separate item under the same partition key, or project only the attributes that lists show.

See "Best practices for storing large items and attributes in DynamoDB" and "Attribute projections" in the Developer
Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    for entity in subject.design.entities.values():
        indexes = [key.place for key in entity.index_keys if key.index is not None and key.index.projection == "ALL"]
        documents = {document.name for document in subject.documents(entity)}
        sizes = subject.sizes(entity)
        if not indexes or not documents:
            continue
        lines: list[str] = []
        if sizes is not None:
            held = [field for field in sizes.fields if field.field in documents]
            total = sum(size.size_bytes for size in held)
            parts = " + ".join(f"{size.field} {size.size_bytes:,} bytes ({size.source})" for size in held)
            copied = f"copied to indexes: {total:,} × {len(indexes)} = {total * len(indexes):,} bytes"
            lines.append(f"{parts} of {sizes.item_bytes:,} bytes per item; {copied}")
        message = f"entries of {', '.join(indexes)} contain {' and '.join(sorted(documents))}, which every query reads"
        hint = "store the document in a separate item, or project only attributes that queries need"
        yield Remark(entity.name, message, hint, tuple(lines))


RULE = Rule("KP503", Severity.WARNING, _find, __name__, __doc__)
