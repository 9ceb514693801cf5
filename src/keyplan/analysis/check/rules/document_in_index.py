"""Whole documents are copied into an index.

An index that projects "ALL" stores every attribute again, the long text of a post or a body too. Each entry is
written at the size of the whole item, and a page of ten cards reads ten bodies that nobody looks at.

Keep the document in an item of its own under the same partition key, as versions beside their metadata; or project
only what lists show. Fields count as documents by their name (``body``, ``content``, ...) unless a ``max_length``
bounds them, or by a size of 1 KB and more in the traffic file.

Source: "Best practices for storing large items"; "Attribute projections" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for entity in subject.design.entities.values():
        indexes = [
            key.index.name for key in entity.index_keys if key.index is not None and key.index.projection == "ALL"
        ]
        documents = {document.name for document in subject.documents(entity)}
        sizes = subject.sizes(entity)
        if not indexes or not documents:
            continue
        lines: list[str] = []
        if sizes is not None:
            held = [field for field in sizes.fields if field.field in documents]
            total = sum(size.size_bytes for size in held)
            parts = " + ".join(f"{size.field} {size.size_bytes:,} bytes ({size.source})" for size in held)
            copied = f"× {len(indexes)} indexes = {total * len(indexes):,} bytes copied"
            lines.append(f"{parts}, of {sizes.item_bytes:,} bytes of the item; {copied}")
        yield Remark(
            entity.name,
            f"{' and '.join(sorted(documents))} is stored again in {', '.join(indexes)}, and read by every list there",
            "keep it in an item of its own under the same partition key, or project only what lists show",
            tuple(lines),
        )


RULE = Rule("KP503", Severity.WARNING, _find, __name__, __doc__)
